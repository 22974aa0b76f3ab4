"""The table of rules: number, name, severity, and what each requires.

Rules that are off by default are about style: `--select`, `--strict` and .skilllint.toml switch them on.
SKL002 to 005 are about linting itself, 110 to 119 about the Agent Skills format, 206 and 207 about its
token budgets, 501 to 507 about tools; the others are those of RFC-0008.

>>> find_rule("name-format").id
'SKL102'
"""

from __future__ import annotations

from skillc import errors
from skillc.rulebook import index_rules, suggest_word
from skillc.skills import LIMITS
from skillc.startup import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ERROR, WARNING, OFF = "error", "warning", "off"
SEVERITIES = (OFF, WARNING, ERROR)
_NAME, _DESCRIPTION, _COMPAT = (LIMITS[field] for field in ("name", "description", "compatibility"))


@value
class Rule:
    """A rule and its default severity."""

    id: str
    name: str
    severity: str
    requirement: str

    def __str__(self) -> str:
        return f"{self.id} {self.name}"

    def as_json(self) -> dict[str, str]:
        return {
            "rule": self.id,
            "name": self.name,
            "severity": self.severity,
            "requirement": self.requirement,
            "advice": self.advice,
        }

    @property
    def advice(self) -> str:
        """What to do where the rule is broken."""
        from skillc.lint.advice import advise  # only for --explain

        return advise(self.id)

    def lines(self) -> Iterator[str]:
        """Yield the explanation of the rule."""
        off = "; --select, --strict or .skilllint.toml switch it on" if self.severity == OFF else ""
        yield f"{self} ({self.severity} by default{off})"
        yield f"  It wants: {self.requirement}."
        yield f"  {self.advice}"
        yield f"  To allow it once: <!-- skilllint-disable-next-line {self.id} -->"


_TABLE = (
    ("SKL001", "skip-compiled", WARNING, "the linted skill is not a compiled one"),
    ("SKL002", "suppression-unused", WARNING, "a suppression comment suppresses something"),
    ("SKL003", "suppression-unknown", WARNING, "a suppression comment names rules that exist"),
    ("SKL004", "file-readable", ERROR, "Markdown files and folders can be read; SKILL.md is at most 1 MiB"),
    ("SKL005", "file-size", WARNING, "Markdown files are at most 1 MiB; larger ones are not linted"),
    ("SKL100", "frontmatter-valid", ERROR, "SKILL.md opens with '---', valid YAML, and '---'"),
    ("SKL101", "name-required", ERROR, "the frontmatter has a name"),
    ("SKL102", "name-format", ERROR, "the name is a-z, 0-9 and hyphens, none at either end"),
    ("SKL103", "name-length", ERROR, f"the name has 1 to {_NAME} characters"),
    ("SKL104", "name-match-dir", WARNING, "the name is the same as the directory's"),
    ("SKL105", "description-required", ERROR, "the frontmatter has a description"),
    ("SKL106", "description-nonempty", ERROR, "the description is not empty"),
    ("SKL107", "description-length", WARNING, f"the description has at most {_DESCRIPTION} characters"),
    ("SKL108", "description-triggers", WARNING, "the description says when to use the skill"),
    ("SKL109", "frontmatter-known", WARNING, "the frontmatter has known fields only"),
    ("SKL110", "name-hyphens", ERROR, "the name has no two hyphens in a row"),
    ("SKL111", "license-text", WARNING, "the license is text"),
    ("SKL112", "compatibility-length", WARNING, f"compatibility is text of 1 to {_COMPAT} characters"),
    ("SKL113", "metadata-map", WARNING, "metadata maps text to text"),
    ("SKL114", "allowed-tools-format", WARNING, "allowed-tools is text, separated by spaces"),
    ("SKL115", "frontmatter-duplicate", ERROR, "the frontmatter sets each key once"),
    ("SKL116", "file-encoding", ERROR, "Markdown files are UTF-8"),
    ("SKL117", "field-text", ERROR, "name and description are text"),
    ("SKL118", "reference-frontmatter", WARNING, "frontmatter in other files is valid"),
    ("SKL119", "byte-order-mark", WARNING, "no file starts with a byte order mark"),
    ("SKL201", "skill-size", WARNING, "SKILL.md has at most 500 lines"),
    ("SKL202", "heading-h1", OFF, "SKILL.md has an H1"),
    ("SKL203", "heading-match-name", OFF, "the first H1 contains the name"),
    ("SKL204", "heading-first-h1", OFF, "each file's first heading is an H1"),
    ("SKL205", "heading-hierarchy", OFF, "headings do not skip a level"),
    ("SKL206", "metadata-tokens", OFF, "name and description cost at most about 100 tokens"),
    ("SKL207", "body-tokens", WARNING, "SKILL.md's body costs at most 5000 tokens"),
    ("SKL301", "link-file-exists", ERROR, "relative links point to files of the skill"),
    ("SKL302", "link-anchor-exists", WARNING, "anchors of links exist"),
    ("SKL303", "link-no-escape", ERROR, "no link points outside of the skill"),
    ("SKL401", "no-orphans", WARNING, "SKILL.md leads to every Markdown file, by links or by names"),
    ("SKL501", "tool-definition", ERROR, "every tool's declaration is valid"),
    ("SKL502", "tool-version", WARNING, "a skill with tools has a version"),
    ("SKL503", "tool-command", WARNING, "a tool's '#### Command' has a fenced block"),
    ("SKL504", "tool-parameters", WARNING, "tools list their parameters, with defaults of their types"),
    ("SKL505", "tool-shell", WARNING, "no command needs a shell"),
    ("SKL506", "tool-metadata", WARNING, "a skill with tools has a short description and a semantic version"),
    ("SKL507", "tool-program", ERROR, "a tool's own program is an executable file of the skill"),
)
RULES = tuple(Rule(*row) for row in _TABLE)
BY_ID = {rule.id: rule for rule in RULES}
_BY_WORD = index_rules(RULES)


def find_rule(word: str) -> Rule | None:
    """Return the rule with that number or name, in any case."""
    return _BY_WORD.get(word.lower())


def suggest_rule(word: str) -> str:
    """Return the rule that a word may mean, as the end of a message."""
    return suggest_word(word, _BY_WORD)


def choose_rules(words: Iterable[str], option: str) -> frozenset[str]:
    """Return the numbers of the rules that the values of an option select, with commas between words."""
    texts = list(words)
    numbers: set[str] = set()
    for word in filter(None, (part.strip() for text in texts for part in text.split(","))):
        numbers |= {rule.id for rule in require_rules(word)}
    if texts and not numbers:  # none would mean all
        raise errors.InvalidOption(f"{option} needs a rule; see 'skc lint --help'")
    return frozenset(numbers)


def require_rules(word: str) -> list[Rule]:
    """Return the rules that a word selects; raises InvalidOption, with the nearest name, for none."""
    rules = find_rules(word)
    if not rules:
        raise errors.InvalidOption(
            f"there is no rule '{word}'{suggest_rule(word) or '; docs/lint.md lists all rules'}"
        )
    return rules


def find_rules(word: str) -> list[Rule]:
    """Return the rules that a word selects: a number or its start, a name, or `all`; none for another word.

    >>> [rule.id for rule in find_rules("SKL30")], len(find_rules("all")) == len(RULES)
    (['SKL301', 'SKL302', 'SKL303'], True)
    """
    if rule := find_rule(word):
        return [rule]
    start = word.upper()
    return [rule for rule in RULES if start == "ALL" or (len(start) > 3 and rule.id.startswith(start))]
