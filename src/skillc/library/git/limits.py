"""Bounds on a conversation: how long a server may be silent, how long it may talk, and how much."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from skillc.library.git.errors import FetchFailed

MAX_GREETING = 64 << 20  # bytes before the files come: the list of refs
PATIENCE = 10  # an operation may take so many time-outs, as long as something comes in each


class Watch:
    """Ends an operation when nothing comes for `seconds`, or when it takes far longer as a whole.

    A blocked read can't be interrupted from within, so a thread cuts the connection under it.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.expired = False
        self._last = self._start = time.monotonic()
        self._cuts: list[Callable[[], None]] = []
        self._releases: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, name="skillc-git-watch", daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        for release in self._releases:
            release()

    def fed(self) -> None:
        """Something has come."""
        self._last = time.monotonic()

    def guard(self, cut: Callable[[], None], release: Callable[[], None]) -> None:
        """`cut` ends a connection that hangs, `release` what is left of it in the end."""
        with self._lock:
            self._releases.append(release)
            if not self.expired:
                self._cuts.append(cut)
                return
        cut()

    def complaint(self) -> str:
        """Why it was ended."""
        if time.monotonic() >= self._start + PATIENCE * self.seconds:
            return f"not done in {PATIENCE * self.seconds:g} s"
        return f"no answer in {self.seconds:g} s"

    def _look(self) -> None:
        while not self._done.wait(max(0.0, self._deadline() - time.monotonic())):
            if time.monotonic() >= self._deadline():
                with self._lock:
                    self.expired = True
                for cut in self._cuts:
                    cut()
                return

    def _deadline(self) -> float:
        return min(self._last + self.seconds, self._start + PATIENCE * self.seconds)


class Greeting:
    """Bounds what a server says before the files come; of those there is another limit."""

    def __init__(self) -> None:
        self._heard = 0
        self.over = False

    def heard(self, count: int) -> None:
        self._heard += count
        if not self.over and self._heard > MAX_GREETING:
            raise FetchFailed("the server sends no end of refs")
