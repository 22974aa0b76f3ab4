"""The skills of a server that speaks MCP (Skills over MCP, SEP-2640), reached by its address.

    https://skills.example.com/mcp              a list to choose from
    mcp:https://skills.example.com/endpoint     where the address does not end in /mcp

A server names each file of a skill with size and digest; nothing else is read, and each is verified. The lock
has the path of the skill on the server as `skillPath`. There are no versions: what is there is the latest.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from skillc import library
from skillc.errors import Diagnostic, InvalidSkillId, OriginNotFound, WrongDigest, require_extra, warning
from skillc.install.origin import Candidate, Download, Origin, as_endpoint
from skillc.install.web import Web
from skillc.library import LoginRequired, NoEndpoint, Refusal, SkillEntry, WrongFile
from skillc.paths import SKILL_FILE
from skillc.skills import SkillId
from skillc.spelling import suggest
from skillc.text import count_of

if TYPE_CHECKING:
    from skillc.library import McpEndpoint  # it needs the extra

MAX_BYTES = 512 << 20  # of all skills that are fetched at once
MAX_WARNINGS = 10  # for skills that are left out

Report = Callable[[Diagnostic], None]


@dataclass(frozen=True, slots=True)
class _Shelf:
    """The skills of a server, and what to say of it."""

    web: Web
    server: McpEndpoint

    def all(self, report: Report) -> list[SkillEntry]:
        """Return all skills; those that break a rule are reported and left out."""
        listing = self.server.list()
        reasons = [warning("W080", path, reason) for path, reason in listing.refusals.items()]
        for each in reasons[:MAX_WARNINGS]:
            report(each)
        if len(reasons) > MAX_WARNINGS:
            rest = count_of(len(reasons) - MAX_WARNINGS, "more skill that breaks", "more skills that break")
            report(warning("W080", self.web.origin.url, f"{rest} a rule"))
        if not listing.entries:
            raise self.web.failure("there is no skill in it that you may read")
        return sorted(listing.all_entries(), key=lambda entry: entry.path)

    def find(self, names: Sequence[str]) -> list[SkillEntry]:
        """Return the skills with these IDs, paths or names; the list is needed for names alone."""
        words = list(dict.fromkeys(map(_trim, names)))
        direct = self.server.get(filter(None, map(_read_id, words)))
        if all(word in direct.entries or word in direct.refusals for word in words):
            return [self._choose(word, direct.entries, direct.refusals) for word in words]
        listing = self.server.list()
        entries, refusals = listing.entries | direct.entries, listing.refusals | direct.refusals
        choice = [self._choose(word, entries, refusals) for word in words]
        return list({entry.path: entry for entry in choice}.values())

    def _choose(
        self, word: str, entries: Mapping[SkillId, SkillEntry], refusals: Mapping[str, str]
    ) -> SkillEntry:
        """Return the skill with an ID, or the only one that has it as the last part of its ID."""
        ids = [each for each in entries if each == word] or [each for each in entries if each.name == word]
        if len(ids) == 1:
            return entries[ids[0]]
        for skill, reason in refusals.items():
            if word in (skill, skill.rpartition("/")[2]) and not ids:
                raise self.web.failure(f"there is no skill '{skill}' in it that can be used: {reason}")
        close = ids or suggest(word, list(entries))
        hint = f"hint: did you mean {' or '.join(close)}?" if close else ""
        raise self.web.failure(f"there is no skill '{word}' in it", hint)

    def get(self, entry: SkillEntry, folder: str) -> None:
        """Write the files of a skill into its folder."""
        try:
            self.server.write(entry, folder)
        except WrongFile as error:
            digests = (f"sha256:{error.digest}", f"sha256:{error.actual}")
            raise WrongDigest(entry.path.name, error.path, *digests) from None


@contextmanager
def open_endpoint(
    origin: Origin, folder: str, names: Sequence[str], report: Report
) -> Iterator[Download | None]:
    """Give the skills of a server that speaks MCP; None for an address at which there is none.

    Where a person named it as one, that is E080.
    """
    words = list(names) or ([origin.ref] if origin.ref else [])
    place = as_endpoint(replace(origin, ref=""))
    shelf = _Shelf(Web(place), _connect(place))
    try:
        with _explain(shelf.web):
            entries = shelf.find(words) if words else shelf.all(report)
    except _NotThere:
        if origin.is_endpoint:
            raise
        yield None
        return
    by_folder = {os.path.join(folder, entry.path.replace("/", "+")): entry for entry in entries}

    def complete(candidates: Sequence[Candidate]) -> None:
        choice = [each.folder for each in candidates if not os.path.isdir(each.folder)]
        if sum(file.size for each in choice for file in by_folder[each].files) > MAX_BYTES:
            raise shelf.web.failure(f"the skills are over {MAX_BYTES >> 20} MiB; --skill names some of them")
        for each in choice:
            with _explain(shelf.web):
                shelf.get(by_folder[each], each)

    candidates = [
        Candidate(e.path.name, each, f"{e.path}/{SKILL_FILE}", str(e.frontmatter["description"]))
        for each, e in by_folder.items()
    ]
    yield Download(place, folder, tuple(candidates), "", place.url, complete)


class _NotThere(OriginNotFound):
    """There is no MCP server at the address."""


@contextmanager
def _explain(web: Web) -> Iterator[None]:
    """Turn what a server may not do into OriginNotFound (E080)."""
    label = web.origin.label()
    try:
        yield
    except NoEndpoint as error:
        raise _NotThere(label, f"there is no MCP server ({error})") from None
    except LoginRequired as error:
        parts = urlsplit(web.origin.url)
        hint = f"hint: 'skc login {parts.scheme}://{parts.netloc}', if it is a registry of skillc's"
        raise web.failure(str(error), hint) from None
    except Refusal as error:
        raise web.failure(str(error)) from None


def _connect(origin: Origin) -> McpEndpoint:
    """Return the server; its user goes into a header, its query to it."""
    with require_extra("mcp"):
        endpoint = library.McpEndpoint
    parts = urlsplit(origin.address)
    address = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment=""))
    return endpoint(address, Web(origin).credentials(address))


def _trim(name: str) -> str:
    return name.strip("/").removesuffix(f"/{SKILL_FILE}")


def _read_id(name: str) -> SkillId | None:
    try:
        return SkillId(_trim(name))
    except InvalidSkillId:
        return None
