"""The skills of a web site, by well-known discovery.

The index is read first, and of the skills only those that are wanted. A digest is verified before a file is
written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace

from skillc.errors import Diagnostic, warning
from skillc.install.discover import choose_by_name
from skillc.install.origin import Candidate, Download, Origin
from skillc.install.web import Web
from skillc.remotes import SiteIndex, SiteRemote
from skillc.text import count_of

Report = Callable[[Diagnostic], None]


@contextmanager
def open_site(origin: Origin, folder: str, names: Sequence[str], report: Report) -> Iterator[Download | None]:
    """Give the skills of a site; None where it has no index."""
    web = Web(origin)
    site = SiteRemote(web.session)
    with web.errors():
        address, index = _find_index(site, report)
    if index is None:
        yield None
        return
    choice = choose_by_name(
        origin, {e.name: e for e in index.entries}, names or ([origin.ref] if origin.ref else [])
    )
    by_name = {entry.name: entry for entry in choice}
    addresses: dict[str, str] = {}

    def complete(candidates: Sequence[Candidate]) -> None:
        with web.errors(), copy(site.session) as session:
            for candidate in candidates:
                if not os.path.isdir(candidate.folder):
                    entry = by_name[candidate.name]
                    addresses[candidate.folder] = SiteRemote(session).fetch_entry(entry, candidate.folder)

    candidates = [
        Candidate(e.name, os.path.join(folder, e.name), "", e.description, digest=e.digest, resolved=e.url)
        for e in choice
    ]
    yield Download(
        replace(origin, ref=""), folder, tuple(candidates), "", address, complete, addresses=addresses
    )


def _find_index(site: SiteRemote, report: Report) -> tuple[str, SiteIndex | None]:
    """Return the index and its address; None where there is none."""
    for address, answer in site.indexes():
        index: SiteIndex = answer.value
        if index.other_schema is not None:
            report(warning("W082", address, index.other_schema))
            continue
        if index.omissions:
            entries = count_of(index.omissions, "entry that breaks", "entries that break")
            report(warning("W080", address, f"{entries} the format"))
        return address, index
    return "", None
