"""Twins: copies and near-copies of a skill, as groups in the index.

Two skills are twins if their bodies are the same, or if their texts have nearly the same words and they have
the same name or the same words in their descriptions. Skills with nearly the same text, another name and
another description are made from one template for different products, which a search must keep apart.

How alike two texts are is estimated by MinHash: terms are hashed into bins, and the sketch of a text has the
lowest hash of each bin, as one byte. Two sketches agree in about the share of terms that both texts have.
SimHash of the same size was wrong ten times as often.

A group is every skill that is a twin of another one in it. To find twins, only skills that share a key are
compared: a hash of the name, of the description or of the body. So a change costs in proportion to itself.
"""

from __future__ import annotations

from skillc.index.skills.database import checksum, crc32, damage, verify
from skillc.index.skills.snapshot import PLACE, read_skills

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

BINS = 64  # as a hash has six bits for them; wrong by 0.02 in the mean
ALIKE = 0.85  # share of terms that texts have in common, from which on they are nearly the same
MIN_BINS = 16  # that are not empty; texts of a few words are twins only if the files are the same
MAX_KIN = 256  # skills of one key that are compared; a name such as `skill` may be that of thousands
FEW = 500  # skills up to which the keys of each are looked up by themselves
SEAL = -1  # in place of a key: the row with the checksum of all others


def hash_term(term: bytes) -> int:
    """Return a term's bin, its place there and its byte as one number; 0 for every second term.

    Sketches leave those out. Numbers have 30 bits at most, which Python sorts twice as fast as larger ones.
    """
    number = crc32(term)
    return number >> 10 << 8 | (number >> 1) % 255 + 1 if number & 1 else 0


def make_sketch(hashes: Iterable[int]) -> bytes:
    """Return the sketch of a text by the hashes of its terms: a byte for each bin, 0 for an empty one."""
    lowest = {number >> 24: number & 255 for number in sorted(filter(None, hashes), reverse=True)}
    return bytes(map(lowest.get, range(BINS), bytes(BINS)))


def are_alike(first: bytes, second: bytes) -> bool:
    """Return whether texts with these sketches have nearly the same terms."""
    empty = sum(1 for pair in zip(first, second, strict=True) if pair == (0, 0))
    if BINS - empty < MIN_BINS:
        return False
    equal = sum(map(int.__eq__, first, second))
    return equal - empty >= ALIKE * (BINS - empty)


def read_group(execute: Any, group: int) -> list[int]:
    """Return the numbers of the skills in a group."""
    row = execute("SELECT members, checksum FROM twins WHERE number = ?", (group,)).fetchone()
    if row is None:
        raise damage()
    members, check = row
    verify(check, group, members)
    return [int(number) for number in members.split()]


class Traits:
    """The traits of a skill by which its twins are found and known, and the group that it is in."""

    __slots__ = ("digest", "group", "keys", "sketch")

    def __init__(
        self, skill_id: str, description: str, digest: int, sketch: bytes, group: int | None = None
    ) -> None:
        name, words = skill_id.rpartition("/")[2], " ".join(description.lower().split())
        keys = crc32(name.encode(), 1), crc32(words.encode("utf-8", "replace"))
        self.keys = (*keys, digest & 0xFFFFFFFF) if digest else keys
        self.digest = digest
        self.sketch = sketch
        self.group = group

    def are_of_twin(self, other: Traits) -> bool:
        """Return whether skills with these and with other traits are twins."""
        is_kin = self.keys[0] == other.keys[0] or self.keys[1] == other.keys[1]
        return self.digest == other.digest != 0 or (is_kin and are_alike(self.sketch, other.sketch))


class TwinChange:
    """A change to the groups, in one transaction: skills are added and removed, then `store` groups them."""

    def __init__(self, execute: Any) -> None:
        self._execute = execute
        self._loose: set[int] = set()  # that are new, or whose group lost a skill
        self._traits: dict[int, Traits] = {}
        self._parents: dict[int, int] = {}
        has_kin = execute("SELECT 1 FROM kin LIMIT 1").fetchone()
        if has_kin or execute("SELECT 1 FROM skills WHERE sketch IS NOT NULL LIMIT 1").fetchone():
            row = execute("SELECT skill FROM kin WHERE key = ?", (SEAL,)).fetchone()
            if row != (self._checksum(),):
                raise damage()

    def add(self, number: int, traits: Traits) -> None:
        self._traits[number] = traits
        self._loose.add(number)

    def remove(self, number: int) -> None:
        """Take a skill out, before its row is deleted; the others of its group are grouped anew."""
        traits = self._of(number)
        for key in traits.keys:
            self._execute("DELETE FROM kin WHERE key = ? AND skill = ?", (key, number))
        if traits.group is not None and number not in self._loose:
            self._loose.update(read_group(self._execute, traits.group))
            self._execute("DELETE FROM twins WHERE number = ?", (traits.group,))
        self._loose.discard(number)
        del self._traits[number]  # the number may be used again

    def store(self) -> None:
        """Look for the twins of all loose skills, and store the groups that changed."""
        pairs = {(key, number) for number in self._loose for key in self._of(number).keys}
        for pair in sorted(pairs):  # which is faster than in any order
            self._execute("INSERT OR IGNORE INTO kin VALUES (?, ?)", pair)
        shared_keys = None
        if len(self._loose) >= FEW:
            rows = self._execute("SELECT key FROM kin GROUP BY key HAVING count(*) > 1").fetchall()
            shared_keys = {key for (key,) in rows}
        for number in sorted(self._loose):
            traits = self._of(number)
            for other in self._kin(number, shared_keys):
                if self._root(other) != self._root(number) and traits.are_of_twin(self._of(other)):
                    self._join(number, other)
        groups: dict[int, list[int]] = {}
        for number in sorted(self._loose.union(self._parents, self._parents.values())):
            groups.setdefault(self._root(number), []).append(number)
            if self._of(number).group is not None:
                self._execute("DELETE FROM twins WHERE number = ?", (self._of(number).group,))
        for members in groups.values():
            self._store_group(members)
        self._execute("DELETE FROM kin WHERE key = ?", (SEAL,))
        self._execute("INSERT INTO kin VALUES (?, ?)", (SEAL, self._checksum()))

    def _checksum(self) -> int:
        sql = "SELECT count(*), sum(key), sum(skill) FROM kin WHERE key > ?"
        return checksum(*self._execute(sql, (SEAL,)).fetchone())

    def _kin(self, number: int, shared_keys: set[int] | None) -> Iterator[int]:
        """Yield the skills that share a key with one; `shared_keys` are all such keys, if known."""
        for key in self._of(number).keys:
            if shared_keys is not None and key not in shared_keys:
                continue
            sql = "SELECT skill FROM kin WHERE key = ? AND skill != ? ORDER BY skill LIMIT ?"
            for (other,) in self._execute(sql, (key, number, MAX_KIN)).fetchall():
                yield other

    def _of(self, number: int) -> Traits:
        traits = self._traits.get(number)
        if traits is None:
            _, skill_id, description, _, _, digest, *_, sketch, group = self._read(number)[PLACE:]
            traits = self._traits[number] = Traits(skill_id, description or "", digest, sketch, group)
        return traits

    def _read(self, number: int) -> list[Any]:
        """Return the COLUMNS of a skill."""
        for _, row in read_skills(self._execute, "number", [number]):
            return row
        raise damage()

    def _root(self, number: int) -> int:
        root = number
        while root in self._parents:
            root = self._parents[root]
        if root != number:
            self._parents[number] = root
        return root

    def _join(self, number: int, other: int) -> None:
        group = None if other in self._loose else self._of(other).group
        for member in (other,) if group is None else read_group(self._execute, group):
            first, last = sorted((self._root(number), self._root(member)))
            if first != last:
                self._parents[last] = first

    def _store_group(self, members: list[int]) -> None:
        group = members[0] if len(members) > 1 else None
        for number in members:
            if self._of(number).group != group:
                *values, _ = self._read(number)
                sql = "UPDATE skills SET twins = ?, checksum = ? WHERE number = ?"
                self._execute(sql, (group, checksum(*values, group), number))
        if group is not None:
            text = " ".join(map(str, members))
            self._execute("INSERT INTO twins VALUES (?, ?, ?)", (group, text, checksum(group, text)))
