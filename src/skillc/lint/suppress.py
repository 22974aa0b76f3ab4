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
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import islice
from re import Match
from typing import NamedTuple

from skillc.lint.config import Settings
from skillc.lint.page import Page
from skillc.lint.positions import find_scalars
from skillc.lint.report import Problem
from skillc.lint.rules import find_rule, suggest_rule

Range = tuple["Directive", int, float]

MAX_DIRECTIVES = 200  # in the HTML of a page, and in its frontmatter; the rest is ignored
MAX_NAMES = 50  # of one comment

# Bounded, because a page may be nothing but the beginnings of comments.
_COMMENT = re.compile(
    r"(?s)<!--\s{0,99}skilllint-([a-z]{1,20}(?:-[a-z]{1,20}){0,3})(?=[\s,]|-->)(.{0,999}?)-->"
)
_YAML_COMMENT = re.compile(
    r"(?m)(?:^|(?<=[ \t]))#[ \t]{0,99}skilllint-([a-z]{1,20}(?:-[a-z]{1,20}){0,3})([^\r\n]*)"
)
_REASON = re.compile(r"(?:^|\s)--(?=\s|$)")
_DISABLE = ("disable", "disable-next-line", "disable-file")
_KINDS = (*_DISABLE, "enable")


class Directive(NamedTuple):
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
    directives = {page.name: [*_read_directives(page, own)] for page in pages}
    ranges: dict[tuple[str, str], list[Range]] = {}  # that are silent, by file and rule
    rest: list[Problem] = []
    uses: dict[Directive, set[str]] = {}
    for problem in problems:
        key = problem.file, problem.rule
        if key not in ranges:
            ranges[key] = [*_find_ranges(problem.rule, directives.get(problem.file, []))]
        covers = [directive for directive, first, end in ranges[key] if first <= problem.line < end]
        for directive in covers:
            uses.setdefault(directive, set()).add(problem.rule)
        if not covers:
            rest.append(problem)
    for here in directives.values():
        own += _find_unused(here, uses, settings)
    return rest + own


def _find_ranges(rule: str, directives: list[Directive]) -> Iterator[Range]:
    """Yield the comments that silence a rule, each with its first line and the line where it ends."""
    here = [directive for directive in directives if directive.names(rule)]
    enables = sorted(directive.line for directive in here if directive.kind == "enable")
    for directive in here:
        end = directive.last + 1
        if directive.kind == "disable":
            end = min([end, *enables[bisect_left(enables, directive.line) :][:1]])
        if directive.kind in _DISABLE:
            yield directive, directive.first, end


def _find_unused(
    directives: list[Directive], uses: dict[Directive, set[str]], settings: Settings
) -> Iterator[Problem]:
    for directive in directives:
        rules = uses.get(directive, set())
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
    comments = ((text, line, match) for text, line in page.html for match in _COMMENT.finditer(text))
    for text, line, comment in islice(comments, MAX_DIRECTIVES):
        first = line + text.count("\n", 0, comment.start())
        last = line + text.count("\n", 0, comment.end())
        kind, names = comment[1], comment[2]
        yield from _read_directive(kind, names, page, first, _extent(kind, last, float("inf")), problems)
    front, block = page.document.frontmatter, page.block
    if front is None or block is None or "skilllint" not in front.raw:
        return
    end = page.line_at(front.end)
    for comment in islice(_find_comments(front.raw), MAX_DIRECTIVES):
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


def _find_comments(raw: str) -> Iterator[Match[str]]:
    """Yield what is a comment to YAML: not part of a value."""
    values = find_scalars(raw)
    for comment in _YAML_COMMENT.finditer(raw):
        number = bisect_right(values, (comment.start(), len(raw))) - 1
        if number < 0 or comment.start() >= values[number][1]:
            yield comment
