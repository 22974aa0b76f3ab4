"""Diagnostics: every code once, with its words, on one line."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import example, given, strategies as st

from skillc import errors
from skillc.errors import WARNINGS, Diagnostic, SkillcError, tree, unexpected, warning
from skillc.text import one_line
from tests.support.cases import each

# companion.md's tables, word for word.
ERRORS = {
    "E001": "skill '<skill>' not found",
    "E002": "search index unusable; run 'skc build <skill>' to rebuild",
    "E003": "index hash collision; delete .skillc-meta/search-<hash16>.db and rebuild",
    "E004": "empty query",
    "E010": "not a valid skill: '<path>' (missing SKILL.md)",
    "E011": "missing frontmatter field '<field>' in SKILL.md",
    "E012": "path escapes skill root: '<path>'",
    "E013": "deploy target exists and is not a link: '<path>' (use --force to replace it)",
    "E020": "section not found: '<section>'",
    "E021": "file not found: '<path>'",
    "E022": "directory not found: '<path>'",
    "E030": "invalid query type: '<type>'",
    "E031": "invalid filter: '<message>'",
    "E040": "no local logs found",
    "E041": "sync destination not writable: '<path>'",
    "E042": "sync source not readable: '<path>'",
    "E050": "skill '<skill>' already exists",
    "E051": "not in the trash: '<name>'; 'skc trash list' shows what is",
    "E052": "something else is at '<path>' now",
    "E060": "invalid tool definition in '<skill>': <message>",
    "E061": "tool '<tool>' not found in '<skill>'",
    "E062": "invalid parameter '<name>': <message>",
    "E063": "approval required for '<skill>'; run 'skc trust allow <skill>'",
    "E064": "cannot run '<program>': <message>",
    "E065": "timed out after <n> s",
    "E066": "sandbox unavailable: <message>",
    "E070": "invalid skill id: '<id>'",
    "E071": "invalid configuration: <file>: <message>",
    "E080": "can't get skills from '<origin>': <reason>",
    "E081": "skills-lock.json can't be satisfied for '<skill>': <reason>",
    "E082": "your edits of '<skill>' conflict with the update in '<file>'",
    "E083": "archive refused: '<archive>': <reason>",
    "E084": "'<skill>' is blocked: <reason>",
    "E085": "the signature of '<skill>' is broken: <reason>",
    "E086": "'<skill>' has another signer than is accepted: <reason>",
    "E090": "the registry refused: <reason>",
    "E091": "'<skill>' has version <version> already",
    "E092": "registry '<registry>' unavailable: <reason>",
    "E093": "<message>",
    "E100": "<message>",
    "E110": "no cases of '<skill>' can be read: <reason>",
    "E111": "'<agent>' measures nothing here: <reason>",
    "E200": "repository '<name>' unavailable: <message>",
    "E201": "<need>: <command>",
    "E300": "<rule-id> <rule-name>: <message>",
    "E999": "<message>",
}
COMPUTED = {"E065", "E201"}  # errors that fill in something themselves
CODED_WARNINGS = {
    "W001": "multiple matches for '<section>'; showing first",
    "W002": "logging disabled; run 'skc sync' after session to merge logs",
    "W003": "stale local logs for '<skill>'; run 'skc sync' to upload",
    "W300": "<rule-id> <rule-name>: <message>",
}

anything = st.text(st.characters())  # lone surrogates too, as file names give them
nasty = st.text(st.characters(categories=("Cc", "Cf", "Cs", "Co", "Zl", "Zp", "Zs")))


def blanks(template: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"<[^>]+>", template)))


def subclasses(root: type[SkillcError] = SkillcError) -> Iterator[type[SkillcError]]:
    if "code" in vars(root):  # else a branch of the tree
        yield root
    for child in root.__subclasses__():
        yield from subclasses(child)


def with_code(code: str) -> type[SkillcError]:
    (found,) = [cls for cls in subclasses() if cls.code == code]
    return found


def is_one_line(text: str) -> bool:
    """Nothing in it moves the cursor, ends the line or turns the direction of writing."""
    return len(text.splitlines()) <= 1 and not any(map(_is_mark, text))


def _is_mark(character: str) -> bool:
    if character in "\u200c\u200d":  # which join and part letters and emoji
        return False
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp", "Co", "Cn")


def test_the_tree() -> None:
    """[RFC-0005] the codes of the table, each once, on a branch, drawn; errors come from one place."""
    assert sorted(cls.code for cls in subclasses()) == sorted(ERRORS)
    branches = (errors.NotFound, errors.Invalid, errors.Unavailable, errors.Denied, errors.Conflict)
    for error in subclasses():
        assert error is SkillcError or sum(issubclass(error, branch) for branch in branches) == 1
    drawn = set(re.findall(r"(\w+) +(E\d{3})", tree.__doc__ or ""))
    assert drawn == {(cls.__name__, cls.code) for cls in subclasses()}
    assert all(re.fullmatch(r"W\d{3}", code) for code in WARNINGS)
    assert errors.TimedOut is tree.TimedOut
    with pytest.raises(ImportError):
        exec("from skillc.errors import NoSuchError")
    with pytest.raises(AttributeError):
        errors.NoSuchError  # type: ignore[attr-defined]  # noqa: B018


@each("code", sorted(ERRORS.keys() - COMPUTED))
def test_messages(code: str) -> None:
    """[RFC-0005] each error says exactly what the table says."""
    error = with_code(code)(*blanks(ERRORS[code]))
    assert error.message == ERRORS[code]
    assert error.line() == f"error[{code}]: {ERRORS[code]}"


@each(("seconds", "shown"), [(5, "5"), (30.0, "30"), (0.5, "0.5")])
def test_time_out_message(seconds: float, shown: str) -> None:
    """[RFC-0005] E065 gives its seconds as people write them."""
    assert errors.TimedOut(seconds).message == ERRORS["E065"].replace("<n>", shown)


@each("code", sorted(CODED_WARNINGS))
def test_warnings(code: str) -> None:
    """[RFC-0005] the table's warnings, word for word."""
    found = warning(code, *blanks(CODED_WARNINGS[code]))
    assert found.line() == f"warning[{code}]: {CODED_WARNINGS[code]}"
    assert found.severity == "warning"


@given(st.one_of(anything, nasty))
@example("a\nb\r\x1b[31m\x00\x7f\x85\u2028\u2029\u200e\u202e\u2066\ufeff\ud800")
def test_one_line(text: str) -> None:
    """[RFC-0005] no control character, line end, bidi mark or lone surrogate gets through."""
    shown = one_line(text)
    assert is_one_line(shown)
    assert shown.encode().decode() == shown


@each("text", ["👩‍💻 Dev", "标题　二", "a\xa0b", "می‌خواهم", "10\u202f000"])
def test_one_line_keeps_words(text: str) -> None:
    """[RFC-0005] [RFC-0002:C-SHOW] a heading that is suggested can be copied as it is shown."""
    assert one_line(text) == text


@given(anything)
def test_one_line_keeps_what_can_be_shown(text: str) -> None:
    """[RFC-0005] printable text, in whatever script, is not touched; doing it twice is doing it once."""
    shown = "".join(c for c in text if c.isprintable())
    assert one_line(shown) == shown
    assert one_line(one_line(text)) == one_line(text)


@given(st.sampled_from(sorted(ERRORS.keys() - COMPUTED)), nasty)
def test_every_error_is_one_line(code: str, text: str) -> None:
    """[RFC-0005] whatever fills the blanks, the coded line is one line."""
    error = with_code(code)(*[text for _ in blanks(ERRORS[code])])
    assert is_one_line(error.line())


@given(nasty, nasty)
def test_every_diagnostic_is_one_line(message: str, path: str) -> None:
    """[RFC-0005] file names are shown on one line too."""
    assert is_one_line(Diagnostic("W010", message).at(path).line())


def test_details_stand_below(world: object) -> None:
    """[RFC-0005] [RFC-0002:C-SHOW] the first line is the coded one; the system's names its file; no
    heading fakes one.
    """
    error = errors.SkillExists("pdf", "hint: more")
    assert error.text().splitlines() == ["error[E050]: skill 'pdf' already exists", "hint: more"]
    text = errors.SectionNotFound("x", [("a\nerror[E001]: b", "c\x1b[2J.md")]).text()
    assert text.splitlines()[-1] == r"  - a\nerror[E001]: b (c\x1b[2J.md)"
    with pytest.raises(OSError) as caught:
        os.open(os.fsencode("no\nsuch"), os.O_RDONLY)
    assert unexpected(caught.value).line() == r"error[E999]: 'no\nsuch': No such file or directory"


@each(
    ("error", "message"),
    [
        (FileNotFoundError(2, "No such file or directory", "a.md"), "'a.md': No such file or directory"),
        (PermissionError(13, "Permission denied", b"\xff.md"), r"'\xff.md': Permission denied"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (OSError(9, "Bad file descriptor", 0), "'0': Bad file descriptor"),
        (OSError("plain"), "OSError: plain"),
        (OSError(), "OSError"),
        (MemoryError(), "out of memory"),
        (MemoryError("x"), "out of memory"),
        (RecursionError("too deep"), "RecursionError: too deep"),
        (KeyError("x"), "KeyError: 'x'"),
        (ValueError(), "ValueError"),
        (ZeroDivisionError("a\nb"), "ZeroDivisionError: a\nb"),
    ],
)
def test_unexpected(error: BaseException, message: str) -> None:
    """[RFC-0005] E999 for anything else: a message that helps, and one line."""
    coded = unexpected(error)
    assert (coded.code, coded.message) == ("E999", message)
    assert is_one_line(coded.line())


def test_diagnostics_are_values() -> None:
    """[RFC-0005] two that say the same are the same; an error with a code keeps it."""
    assert warning("W010").at("a.md") == Diagnostic("W010", WARNINGS["W010"], "a.md")
    assert len({warning("W010"), warning("W010"), warning("W010").at("b.md")}) == 2
    assert repr(warning("W010")) == f"<Diagnostic warning[W010]: {WARNINGS['W010']}>"
    error = errors.EmptyQuery()
    assert unexpected(error) is error
