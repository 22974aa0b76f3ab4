"""Canonical skill IDs: `collection/path/name`, the identifier on every layer.

>>> skill = SkillId("extraction/medical/diagnosis")
>>> skill.name, skill.collection
('diagnosis', 'extraction/medical')
>>> to_segment("My Skill_v2")
'my-skill-v2'
"""

from __future__ import annotations

from skillc import errors

NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
MAX_SEGMENT = 64


class SkillId(str):
    """A canonical ID; raises InvalidSkillId for any other text."""

    __slots__ = ()

    def __new__(cls, value: str) -> SkillId:
        if type(value) is cls:  # it was checked
            return value
        if not isinstance(value, str) or not all(is_segment(segment) for segment in value.split("/")):
            raise errors.InvalidSkillId(f"{value}")
        return super().__new__(cls, value)

    @property
    def name(self) -> str:
        """The last segment."""
        return self.rpartition("/")[2]

    @property
    def collection(self) -> str:
        """Everything before the last segment; empty at the root."""
        return self.rpartition("/")[0]


def is_segment(text: str) -> bool:
    """Return whether `text` can stand between the slashes of an ID."""
    return 0 < len(text) <= MAX_SEGMENT and NAME_CHARACTERS.issuperset(text)


def is_name(text: str) -> bool:
    """Return whether `text` is a name in the Agent Skills format: no hyphens at an end, none doubled."""
    return is_segment(text) and not (text.startswith("-") or text.endswith("-") or "--" in text)


def to_segment(directory: str) -> str:
    """Return a directory's name as a segment: lower case, everything else to single hyphens [D25]."""
    letters = (c if c in NAME_CHARACTERS and c != "-" else " " for c in directory.lower())
    segment = "-".join("".join(letters).split())[:MAX_SEGMENT].rstrip("-")
    if segment:
        return segment
    from skillc.startup import sha256_hex  # rare: of, say, Chinese letters nothing is left

    return f"skill-{sha256_hex(directory.encode('utf-8', 'surrogatepass'))[:8]}"


def id_prefix(path: str) -> str:
    """Return the start of the IDs of all skills below a directory.

    >>> id_prefix("tools/My Skills")
    'tools/my-skills'
    """
    names = path.split("/") if path else []
    return "/".join([name if is_segment(name) else to_segment(name) for name in names])
