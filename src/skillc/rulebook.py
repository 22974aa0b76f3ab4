"""Rules that people name in settings and comments, by number or by name; what lint and audit share.

>>> from collections import namedtuple
>>> words = index_rules([namedtuple("Rule", "id name")("SKL102", "name-format")])
>>> words["skl102"].name, words["name-format"].id
('name-format', 'SKL102')
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeVar

from skillc import errors, paths
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


def index_rules(rules: Iterable[Rule]) -> dict[str, Rule]:
    """Return rules by the words that name them: a number or a name, in lower case."""
    return {word: rule for rule in rules for word in (rule.id.lower(), rule.name)}


def suggest_word(word: str, rules: Mapping[str, NamedRule]) -> str:
    """Return the rule that `word` may mean, as the end of a message; empty if none is similar."""
    likely = suggest(word, rules, 1)
    return f"; did you mean {rules[likely[0]]}?" if likely else ""


def read_toml(path: str, limit: int, parse: Callable[[dict[str, Any], str], Content]) -> Content:
    """Return what `parse` makes of the table in a file, and of its path; every fault is E071.

    `parse` raises ValueError with the reason for a fault.
    """
    try:
        return parse(parse_toml(paths.read_regular(path, limit).decode()), path)
    except OSError as error:
        raise errors.InvalidConfiguration(path, error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise errors.InvalidConfiguration(path, str(error)) from None
