"""What to check out of a repository."""

from __future__ import annotations

import re
from dataclasses import dataclass

from skillc.errors import InvalidConfiguration


@dataclass(frozen=True, slots=True)
class GitRef:
    """What to check out: the tip of a branch, which moves, or a tag or a commit, which never do.

    >>> GitRef.tag("v1.2.0")
    GitRef(kind='tag', name='v1.2.0')
    """

    kind: str
    name: str

    def __post_init__(self) -> None:
        if self.kind not in ("branch", "tag", "commit"):
            raise invalid(f"a ref is a branch, a tag or a commit, not {self.kind!r}")
        if self.kind == "commit":
            if not re.fullmatch("[0-9a-fA-F]{7,40}", self.name):
                raise invalid(f"'{self.name}' is not a commit's ID, which is 7 to 40 hexadecimal digits")
            object.__setattr__(self, "name", self.name.lower())
        elif not _is_ref_name(self.name):
            raise invalid(f"'{self.name}' is not a valid name of a {self.kind}")

    @classmethod
    def branch(cls, name: str) -> GitRef:
        return cls("branch", name)

    @classmethod
    def tag(cls, name: str) -> GitRef:
        return cls("tag", name)

    @classmethod
    def commit(cls, name: str) -> GitRef:
        return cls("commit", name)

    @property
    def moves(self) -> bool:
        return self.kind == "branch"


_NOT_IN_REFS = re.compile(r"[\x00-\x20\x7f~^:?*\[\\\ud800-\udfff]|\.\.|@\{|//|/\.|\.lock(/|$)")


def _is_ref_name(name: str) -> bool:
    """The rules of `git check-ref-format`, and that it does not look like an option."""
    if not name or len(name) > 255 or name == "@" or _NOT_IN_REFS.search(name):
        return False
    return not name.startswith(("-", ".", "/")) and not name.endswith((".", "/"))


def invalid(message: str) -> InvalidConfiguration:
    return InvalidConfiguration("git repository", message)
