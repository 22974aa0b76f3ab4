"""The skills of a web site, by well-known discovery.

The index is read first, and of the skills only those that are wanted. A digest is verified before a file is
written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from skillc.errors import Diagnostic, warning
from skillc.install.discover import choose_by_name
from skillc.install.origin import Candidate, Download, Origin
from skillc.install.web import Web
from skillc.remotes import Failure, SiteIndex, index_addresses, read_index, write_entry
from skillc.text import count_of

Report = Callable[[Diagnostic], None]


@contextmanager
def open_site(origin: Origin, folder: str, names: Sequence[str], report: Report) -> Iterator[Download | None]:
    """Give the skills of a site; None where it has no index."""
    web = Web(origin)
    address, index = _find_index(web, report)
    if index is None:
        yield None
        return
    choice = choose_by_name(
        origin, {e.name: e for e in index.entries}, names or ([origin.ref] if origin.ref else [])
    )
    by_name = {entry.name: entry for entry in choice}
    addresses: dict[str, str] = {}

    def complete(candidates: Sequence[Candidate]) -> None:
        for candidate in candidates:
            if not os.path.isdir(candidate.folder):
                try:
                    entry = by_name[candidate.name]
                    addresses[candidate.folder] = write_entry(entry, candidate.folder, web.get_file)
                except Failure as error:
                    raise web.failure(str(error)) from None

    candidates = [
        Candidate(e.name, os.path.join(folder, e.name), "", e.description, digest=e.digest, resolved=e.url)
        for e in choice
    ]
    yield Download(
        replace(origin, ref=""), folder, tuple(candidates), "", address, complete, addresses=addresses
    )


def _find_index(web: Web, report: Report) -> tuple[str, SiteIndex | None]:
    """Return the index and its address; None where there is none."""
    for address in index_addresses(web.origin.url):
        index = read_index(web.get_json(address), address)
        if index is None:
            continue
        if index.other_schema is not None:
            report(warning("W082", address, index.other_schema))
            continue
        if index.omissions:
            entries = count_of(index.omissions, "entry that breaks", "entries that break")
            report(warning("W080", address, f"{entries} the format"))
        return address, index
    return "", None
