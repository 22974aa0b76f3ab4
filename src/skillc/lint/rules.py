"""The table of rules: number, name, severity, what each requires, and how to satisfy it.

Rules that are off by default are about style: `--select`, `--strict` and .skilllint.toml switch them on.
SKL002 to 005 are about linting itself, 110 to 119 about the Agent Skills format, 206 and 207 about its
token budgets, 501 to 507 about tools, 601 and 602 about evals; the others are those of RFC-0008.

>>> find_rule("name-format").id
'SKL102'
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from skillc import errors
from skillc.contract import KEY
from skillc.rulebook import index_rules, suggest_word
from skillc.skills.document import LIMITS

ERROR, WARNING, OFF = "error", "warning", "off"
SEVERITIES = (OFF, WARNING, ERROR)
_NAME, _DESCRIPTION, _COMPAT = (LIMITS[field] for field in ("name", "description", "compatibility"))


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, its default severity, and what to do where it is broken."""

    id: str = field(metadata={KEY: "rule"})
    name: str
    severity: str
    requirement: str
    advice: str

    def __str__(self) -> str:
        return f"{self.id} {self.name}"

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
    ("SKL601", "evals-readable", WARNING, "the cases in evals/ can be read"),
    (
        "SKL602",
        "evals-rank",
        OFF,
        "prompts in evals/ lead to their skill, of all skills here",
    ),
)
_ADVICE = {
    "SKL001": "Its source is elsewhere: lint that, because the next build overwrites this folder.",
    "SKL002": "Remove the comment: it hides nothing, and would hide a later mistake.",
    "SKL003": "Correct the rule's number or name in the comment; 'skc lint --explain all' lists them.",
    "SKL004": "Check the permissions of the file, and that SKILL.md is not larger than 1 MiB.",
    "SKL005": "Split the file, so that agents can read the part that they need.",
    "SKL100": "Agents that read strictly drop the whole skill. '--fix' repairs most of these.",
    "SKL101": "Add 'name:' with the name of the folder. '--fix' does it.",
    "SKL102": "Rename the skill and its folder: 'PDF Tools' becomes 'pdf-tools'.",
    "SKL103": "Choose a shorter name: agents show it in lists.",
    "SKL104": "Rename one of the two: agents look for the skill by its folder.",
    "SKL105": "Add 'description:': agents choose a skill by it alone.",
    "SKL106": "Say what the skill does and when to use it.",
    "SKL107": "Shorten it: some agents cut or refuse longer ones, and it costs tokens in every conversation.",
    "SKL108": "Add when to use it, such as 'Use when the user asks for an invoice'.",
    "SKL109": "Check the spelling; put a field of your own below 'metadata:', or into known-fields.",
    "SKL110": "Use single hyphens.",
    "SKL111": "Write a licence's name, or the name of its file.",
    "SKL112": "Say in a sentence what the skill needs: products, packages, network.",
    "SKL113": 'Put quotes around numbers and dates: version: "1.0".',
    "SKL114": "Write the tools with spaces between them. '--fix' does it.",
    "SKL115": "Remove one of the two lines: agents disagree about which counts.",
    "SKL116": "Save the file as UTF-8.",
    "SKL117": "Put the value in quotes. '--fix' does it.",
    "SKL118": "Correct the YAML between the two '---', or remove it.",
    "SKL119": "Save the file without a byte order mark. '--fix' does it.",
    "SKL201": "Move what is not always needed into files that SKILL.md links to.",
    "SKL202": "Begin the body with '# ' and a title.",
    "SKL203": "Put the skill's name into its title, so that people recognise it.",
    "SKL204": "Begin each file with '# ' and a title: outlines start there.",
    "SKL205": "Use the next level: below '##' comes '###'.",
    "SKL206": "Shorten name and description: every conversation pays for them.",
    "SKL207": "Move what is not always needed into files that SKILL.md links to.",
    "SKL301": "Correct the path; it is relative to the file with the link.",
    "SKL302": "Correct the part behind '#', or add the heading.",
    "SKL303": "Copy the file into the skill: what is outside is not installed with it.",
    "SKL401": "Name the file where an agent needs it, or remove it: agents read only what they hear of.",
    "SKL501": "Correct the declaration; 'skc tools' shows how it is read. docs/tools.md has the syntax.",
    "SKL502": "Add 'version:' to the frontmatter, or the commands are documentation only.",
    "SKL503": "Put the command into a fenced block below '#### Command'.",
    "SKL504": "List each parameter of the command with its type, and a default that fits it.",
    "SKL505": "Put pipes and redirections into a script, and call that: tools run without a shell.",
    "SKL506": "Shorten the description to 256 characters, and write the version as 1.2.0.",
    "SKL507": "Check the program's path, and make it executable: chmod +x.",
    "SKL601": "Correct the case; docs/evals.md shows the forms that are read.",
    "SKL602": "Say in the description what such prompts want; 'skc eval --free' shows the rivals.",
}
RULES = tuple(Rule(*row, _ADVICE[row[0]]) for row in _TABLE)
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
            f"there is no rule '{word}'{suggest_rule(word) or '; docs/lint-rules.md lists all rules'}"
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
