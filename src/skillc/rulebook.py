"""Rules that people name in settings and comments, by number or by name; what lint and audit share.

>>> from collections import namedtuple
>>> rules = Rulebook([namedtuple("Rule", "id name")("SKL102", "name-format")])
>>> rules.find("skl102").name, rules.find("name-form")
('name-format', None)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, Protocol, TypeVar

from skillc import paths
from skillc.errors import InvalidConfiguration
from skillc.settings import parse_toml
from skillc.spelling import suggest


class NamedRule(Protocol):
    """A rule with a number and a name; its text is both."""

    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...


Rule = TypeVar("Rule", bound=NamedRule)
Content = TypeVar("Content")


class Rulebook(Generic[Rule]):
    """A table of rules."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._by_word = {word: rule for rule in rules for word in (rule.id.lower(), rule.name)}

    def find(self, word: str) -> Rule | None:
        """Return the rule with that number or name, in any case."""
        return self._by_word.get(word.lower())

    def suggest(self, word: str) -> str:
        """Return the rule that `word` may mean, as the end of a message; empty if none is similar."""
        likely = suggest(word, self._by_word, 1)
        return f"; did you mean {self._by_word[likely[0]]}?" if likely else ""


def read_toml(path: str, limit: int, parse: Callable[[dict[str, Any], str], Content]) -> Content:
    """Return what `parse` makes of the table in a file, and of its path; every fault is E071.

    `parse` raises ValueError with the reason for a fault.
    """
    try:
        return parse(parse_toml(paths.read_regular(path, limit).decode()), path)
    except OSError as error:
        raise InvalidConfiguration(path, error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise InvalidConfiguration(path, str(error)) from None
