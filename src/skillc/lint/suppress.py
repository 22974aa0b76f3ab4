"""Read the comments that silence rules, and check that each silences something.

    <!-- skilllint-disable SKL205 -->  until  <!-- skilllint-enable SKL205 -->
    <!-- skilllint-disable-next-line SKL301 -->
    <!-- skilllint-disable-file SKL204, heading-hierarchy -- the headings are a form's -->
    # skilllint-disable SKL108         in the frontmatter: all of it

Rules by number or name, several separated by commas or spaces, none for all; a reason follows ` -- `.
In code they are text. A comment that silences nothing is a problem, because it would hide the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from skillc.lint.config import Settings
from skillc.lint.page import Page
from skillc.lint.report import Problem
from skillc.lint.rules import find_rule, suggest_rule
from skillc.skills import NotYaml, load_yaml

MAX_DIRECTIVES = 200  # of one page; the rest is ignored
MAX_NAMES = 50  # of one comment

# Bounded, because a page may be nothing but the beginnings of comments.
_COMMENT = re.compile(
    r"<!--\s{0,99}skilllint-([a-z]{1,20}(?:-[a-z]{1,20}){0,3})(?=[\s,]|-->)(.{0,999}?)-->", re.DOTALL
)
_YAML_COMMENT = re.compile(
    r"(?:^|(?<=[ \t]))#[ \t]{0,99}skilllint-([a-z]{1,20}(?:-[a-z]{1,20}){0,3})([^\r\n]*)", re.MULTILINE
)
_REASON = re.compile(r"(?:^|\s)--(?=\s|$)")
_DISABLE = ("disable", "disable-next-line", "disable-file")
_KINDS = (*_DISABLE, "enable")


@dataclass(frozen=True, slots=True)
class Directive:
    """A comment: its kind, the rules it names (none for all), and the lines that it covers."""

    kind: str
    rules: tuple[str, ...]
    file: str
    line: int
    first: int
    last: float

    def names(self, rule: str) -> bool:
        return not self.rules or rule in self.rules


def silence(problems: Iterable[Problem], pages: Iterable[Page], settings: Settings) -> list[Problem]:
    """Return the problems that no comment silences, and the problems of the comments."""
    own: list[Problem] = []
    directives = {page.name: [*islice(_read_directives(page, own), MAX_DIRECTIVES)] for page in pages}
    rest: list[Problem] = []
    uses: set[tuple[Directive, str]] = set()
    for problem in problems:
        here = directives.get(problem.file, [])
        covers = [directive for directive in here if _covers(directive, problem, here)]
        uses.update((directive, problem.rule) for directive in covers)
        if not covers:
            rest.append(problem)
    for here in directives.values():
        own += _find_unused(here, uses, settings)
    return rest + own


def _covers(directive: Directive, problem: Problem, directives: list[Directive]) -> bool:
    if directive.kind not in _DISABLE or not directive.names(problem.rule):
        return False
    if not directive.first <= problem.line <= directive.last:
        return False
    return directive.kind != "disable" or not any(
        other.kind == "enable" and other.names(problem.rule) and directive.line <= other.line <= problem.line
        for other in directives
    )


def _find_unused(
    directives: list[Directive], uses: set[tuple[Directive, str]], settings: Settings
) -> Iterator[Problem]:
    for directive in directives:
        rules = {rule for other, rule in uses if other is directive}
        if directive.kind == "enable":
            has_effect = any(_ends(directive, other) for other in directives)
            messages = [] if has_effect else ["enables what was not disabled"]
        elif not directive.rules:
            messages = [] if rules else ["there is nothing here to suppress"]
        else:
            useless = [rule for rule in directive.rules if rule not in rules and not settings.is_off(rule)]
            messages = [f"there is nothing of {rule} here to suppress" for rule in useless]
        yield from (Problem("SKL002", message, directive.file, directive.line) for message in messages)


def _ends(enable: Directive, other: Directive) -> bool:
    overlap = not enable.rules or not other.rules or set(enable.rules) & set(other.rules)
    return other.kind == "disable" and other.line <= enable.line and bool(overlap)


def _read_directives(page: Page, problems: list[Problem]) -> Iterator[Directive]:
    """Yield the comments of a page; add invalid ones to `problems`."""
    for text, line in page.html:
        for comment in _COMMENT.finditer(text):
            first = line + text.count("\n", 0, comment.start())
            last = line + text.count("\n", 0, comment.end())
            kind, names = comment[1], comment[2]
            yield from _read_directive(kind, names, page, first, _extent(kind, last, float("inf")), problems)
    front, block = page.document.frontmatter, page.block
    if front is None or block is None or "skilllint" not in front.raw:
        return
    end = page.line_at(front.end)
    for comment in _YAML_COMMENT.finditer(front.raw):
        if _is_comment(front.raw, comment):
            line = page.line_at(block.start + comment.start())
            extent = (1, end) if comment[1] == "disable" else _extent(comment[1], line, end)
            yield from _read_directive(comment[1], comment[2], page, line, extent, problems)


def _extent(kind: str, line: int, end: float) -> tuple[int, float]:
    """Return the first and the last line that a comment covers, if it ends on `line`."""
    if kind == "disable-file":
        return 1, float("inf")
    return (line + 1, line + 1) if kind == "disable-next-line" else (line, end)


def _read_directive(
    kind: str, names: str, page: Page, line: int, extent: tuple[int, float], problems: list[Problem]
) -> Iterator[Directive]:
    if kind not in _KINDS:
        message = f"'skilllint-{kind}' is none of {', '.join(_KINDS)}"
        problems.append(Problem("SKL003", message, page.name, line))
        return
    rules: list[str] = []
    words = _REASON.split(names, maxsplit=1)[0].replace(",", " ").split()
    for word in words[:MAX_NAMES]:
        rule = find_rule(word)
        if rule is None:
            problems.append(Problem("SKL003", f"no rule '{word}'{suggest_rule(word)}", page.name, line))
        else:
            rules.append(rule.id)
    if rules or not words:  # a comment that names only unknown rules must not silence all
        yield Directive(kind, tuple(dict.fromkeys(rules)), page.name, line, *extent)


def _is_comment(raw: str, match: re.Match[str]) -> bool:
    """Return whether a match is a comment to YAML: without it, the values are the same."""
    try:
        without = raw[: match.start()] + raw[match.end() :]
        return bool(load_yaml(raw).value == load_yaml(without).value)
    except NotYaml:
        return True
