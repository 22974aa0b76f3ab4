"""Count what is being downloaded, for a person who waits; nothing is shown or kept here.

The counts are of this process: what a command has received so far, and the downloads that are under way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from skillc.text import cut, one_line, size_of

MAX_REMARK = 60  # characters of what a server says
SHOWN_FROM = 10_000  # bytes; less says nothing to a person


class Download:
    """A download under way. `total` is 0 if the server does not say how much there is to come."""

    __slots__ = ("objects", "received", "remark", "total")

    def __init__(self, total: int = 0) -> None:
        self.total = total
        self.received = 0
        self.objects = 0  # of git's pack, as it says at its start
        self.remark = ""  # a line of the server's own, such as 'Counting objects: 120'

    def add(self, count: int) -> None:
        self.received += count


class Traffic:
    """The downloads of this process. A signal handler reads it: no lock; a count has one writer."""

    def __init__(self) -> None:
        self._downloads: list[Download] = []
        self._received = 0  # by downloads that are over

    @contextmanager
    def follow(self, total: int = 0) -> Iterator[Download]:
        """Count a download until the end of the block."""
        download = Download(total)
        self._downloads.append(download)
        try:
            yield download
        finally:
            self._downloads.remove(download)
            self._received += download.received

    def describe(self) -> str:
        """Return how much has come: `3.2 MB of 10.4 MB`, or `3.2 MB`; empty for little."""
        downloads = self._downloads.copy()
        received = self._received + sum(download.received for download in downloads)
        last = downloads[-1] if downloads else Download()
        if last.remark and not last.objects:
            return cut(one_line(last.remark).strip(), MAX_REMARK)
        if received < SHOWN_FROM:
            return ""
        if len(downloads) == 1 and last.total > last.received >= SHOWN_FROM:
            return f"{size_of(last.received)} of {size_of(last.total)}"
        objects = f", {last.objects:,} objects" if last.objects else ""
        return f"{size_of(received)}{objects}"


_traffic = Traffic()
follow_download = _traffic.follow
describe_downloads = _traffic.describe
