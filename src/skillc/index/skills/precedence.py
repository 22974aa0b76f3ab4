"""A task put to several folders, in order of precedence: what is shadowed, twice or not for this agent.

A skill that a folder of higher precedence has, too, is that one's; the same SKILL.md under other names in
other folders is one result, with the others named.
"""

from __future__ import annotations

from skillc.index.skills.query import Candidate, Search, Shelf
from skillc.index.skills.result import FoundSkill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skillc.index.skills.find import Library, MayUse, Part
    from skillc.index.skills.query import Order
    from skillc.index.skills.result import Reasons
    from skillc.index.skills.score import Scorer

SPARE = 6  # skills beyond the wanted ones that are looked at closely first


def within(query: Query, numbers: list[int]) -> tuple[list[FoundSkill], bool]:
    """Ask with all indexes open, each in one state; what was damaged meanwhile is asked again."""
    databases = list({id(part.holding.database): part.holding.database for part in query.parts}.values())
    databases.sort(key=lambda database: database.lasting)  # what can be damaged innermost: it sees to itself

    def deeper(opened: dict[int, Any], left: list[Any]) -> tuple[list[FoundSkill], bool]:
        if left:
            first, *rest = left
            return first.read(lambda execute: deeper(opened | {id(first): execute}, rest))  # type: ignore[no-any-return]
        return query.answer(
            [
                Shelf(part.name, opened[id(part.holding.database)], number, part.holding.database.remembered)
                for part, number in zip(query.parts, numbers, strict=True)
            ]
        )

    return deeper({}, databases)


class Query:
    """One question, ready to be put to open indexes."""

    def __init__(
        self, library: Library, parts: list[Part], task: str, limit: int, may_use: MayUse, best: Scorer
    ) -> None:
        self.parts = parts
        self._library = library
        self._task = task
        self._limit = limit
        self._may_use = may_use
        self._best = best

    def answer(self, shelves: list[Shelf]) -> tuple[list[FoundSkill], bool]:
        """The results, and whether they are what the folders hold right now."""
        search = Search(shelves, self._task, self._library.stemmer)
        if not all(part.holding.is_there(shelf) for part, shelf in zip(self.parts, shelves, strict=True)):
            return [], False  # an index was damaged and made anew since it was brought up to date
        wanted = self._limit + SPARE
        while True:
            candidates, end = search.candidates(wanted, self._best)
            chosen = self._chosen(candidates, shelves)
            if end is None or self._certain(chosen, end) >= self._limit:
                break
            wanted *= 8
        chosen = chosen[: self._limit]
        fresh = all(self.parts[c.shelf].holding.is_current(c.path, c.stamp) for c, _ in chosen)
        return [self._told(search, candidate, also, shelves) for candidate, also in chosen], fresh

    def _certain(self, chosen: list[tuple[Candidate, list[tuple[str, str]]]], end: Order) -> int:
        """How many of the chosen come before anything that was not looked at, which is after `end`."""
        if any(part.names is not None for part in self.parts):  # equals have another order under other names
            end = end[0], "", 0
        return sum(1 for candidate, _ in chosen if candidate.order() <= end)

    def _chosen(
        self, candidates: list[Candidate], shelves: list[Shelf]
    ) -> list[tuple[Candidate, list[tuple[str, str]]]]:
        """The candidates that are offered, each with the others that are the same."""
        chosen: list[tuple[Candidate, list[tuple[str, str]]]] = []
        same: dict[int, int] = {}  # digest to place in chosen
        for candidate in self._seen(candidates):
            holders = self._holders(candidate, shelves)
            if holders[0] != candidate.shelf or not self._may_use(candidate.skill_id, candidate.capabilities):
                continue
            also = [(shelves[place].name, candidate.skill_id) for place in holders[1:]]
            at = same.get(candidate.digest) if candidate.digest else None
            if at is None or chosen[at][0].shelf == candidate.shelf:
                same.setdefault(candidate.digest, len(chosen))
                chosen.append((candidate, also))
                continue
            twin, others = chosen[at]
            first, second = sorted((twin, candidate), key=lambda one: one.shelf)
            name = shelves[second.shelf].name
            first.score = max(first.score, second.score)  # the place is the better one's
            chosen[at] = first, [*others, (name, second.skill_id), *also]
        return chosen

    def _seen(self, candidates: list[Candidate]) -> list[Candidate]:
        """The candidates under the names they have here, without those that are not seen."""
        if all(part.names is None for part in self.parts):
            return candidates
        seen = []
        for candidate in candidates:
            ours = self.parts[candidate.shelf].ours(candidate.skill_id)
            if ours is not None:
                candidate.skill_id = ours
                seen.append(candidate)
        return sorted(seen, key=Candidate.order)

    def _holders(self, candidate: Candidate, shelves: list[Shelf]) -> list[int]:
        """The places of all shelves that offer a candidate's ID."""
        if len(shelves) == 1:
            return [0]
        sql = "SELECT 1 FROM skills WHERE id = ? AND folder = ? AND offered"
        holders = []
        for place, (part, shelf) in enumerate(zip(self.parts, shelves, strict=True)):
            theirs = part.theirs(candidate.skill_id)
            if place == candidate.shelf or (theirs and shelf.execute(sql, (theirs, shelf.folder)).fetchone()):
                holders.append(place)
        return holders

    def _told(
        self, search: Search, candidate: Candidate, also: list[tuple[str, str]], shelves: list[Shelf]
    ) -> FoundSkill:
        holding, library = self.parts[candidate.shelf].holding, self._library

        def reasons() -> Reasons:
            from skillc.index.skills.explain import explain  # with the Markdown parser

            with library.lock:
                data = holding.content(candidate.path)
                found, section = explain(
                    candidate.skill_id, candidate.description, data, search.weights, library.stemmer
                )
            return tuple((search.word(term), fields) for term, fields in found), section

        directory = holding.directory(candidate.path)
        return FoundSkill(candidate, shelves[candidate.shelf].name, also, directory, reasons)
