"""A source of the skills of a web site that has an index of them (well-known discovery).

    source = WellKnownSkillSource("https://skills.example.com")
    skills = await source.list()

The index is cached, revalidated and served stale as the list of an HTTP server is [D28]. A skill is
downloaded when it is first used, as a folder, verified by the digest that the index has for it. In the older
form there are no digests.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from skillc.errors import RepositoryUnavailable
from skillc.library import source as base
from skillc.library.http.source import UNKNOWN, Resource
from skillc.library.site.folders import FolderListing, FolderSource
from skillc.remotes import Entry, index_addresses, read_index, write_entry
from skillc.skills import SkillId
from skillc.text import count_of, utf8_text

MAX_INDEX = 16 << 20  # bytes

SiteListing = FolderListing[Entry]


class WellKnownSkillSource(FolderSource[Entry]):
    """The skills of a site, whose `url` is that of the site or of its index; http is for loopback alone."""

    kind = "well-known"

    def __repr__(self) -> str:
        return f"WellKnownSkillSource({self.base_url!r}, name={self.name!r})"

    async def _list(self) -> SiteListing:
        """Return the index: of the address that had it last, else of the first that has one."""
        for address in dict.fromkeys((self._list_path, *index_addresses(self.base_url))):
            if "://" in address:
                read = partial(_read_listing, address)
                resource = Resource(address, read, MAX_INDEX, absent=None, statuses=UNKNOWN, is_optional=True)
                listing: SiteListing | None = await self._get(resource)
                if listing is not None:
                    self._list_path, self.quarantined = address, listing.skipped
                    return listing
        reason = "there is no index of skills (.well-known/agent-skills/index.json)"
        if self.base_url.endswith("/marketplace.json"):
            reason += "; of a marketplace without one, add the git repositories that it names"
        raise RepositoryUnavailable(self.name or self.base_url, reason)

    def _version_of(self, item: Entry) -> str:
        return item.digest.partition(":")[2]

    def _write(self, item: Entry, folder: str) -> None:
        write_entry(item, folder, self._get_file)


def _read_listing(address: str, data: Any) -> SiteListing | None:
    """Return an index as a list; None for what is none. A skill without a description is left out [D25]."""
    index = read_index(data, address)
    if index is None or index.other_schema is not None:
        return None
    listing = SiteListing(skipped=index.omissions)
    if index.omissions:
        message = f"{count_of(index.omissions, 'entry', 'entries')} left out, not in the format of an index"
        listing.diagnostics.append(base.SourceDiagnostic(address, "E010", "error", message))
    for entry in index.entries:
        if not entry.description.strip() or entry.name in listing.entries:
            reason = (
                "listed twice; the first counts" if entry.description.strip() else "it has no description"
            )
            listing.diagnostics.append(base.SourceDiagnostic(entry.name, "E011", "error", reason))
            listing.skipped += 1
            continue
        skill_id = SkillId(entry.name)
        description = utf8_text(entry.description, "replace")
        listing.skills[skill_id] = base.SkillDescriptor(
            skill_id, description=description, scope=base.SkillScope.REMOTE
        )
        listing.entries[skill_id] = entry
    listing.skills = dict(sorted(listing.skills.items()))
    return listing
