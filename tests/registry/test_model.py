"""Versions and their order, tags, prefixes, roles."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from skillc.errors import InvalidParameter, SkillNotFound, VersionTooLarge
from skillc.registry import Role
from skillc.registry.model import Skill, Version, is_below
from skillc.registry.model.model import parse_name, parse_text
from skillc.skills import SkillId
from skillc.versions import next_patch, parse_tag, parse_version, precedence
from tests.support.cases import each

# In the order that Semantic Versioning 2.0.0 gives them (§11).
ORDER = [
    *("0.0.1", "0.9.10", "1.0.0-0", "1.0.0-0.1", "1.0.0-2", "1.0.0-10", "1.0.0-alpha", "1.0.0-alpha.1"),
    *("1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1"),
    *("1.2.0", "1.10.0", "2.0.0"),
]

identifiers = st.one_of(
    st.integers(0, 50).map(str),
    st.text("abcXYZ0123456789-", min_size=1, max_size=4).filter(lambda text: not text.isdecimal()),
)
versions = st.builds(
    lambda numbers, label: ".".join(map(str, numbers)) + (f"-{'.'.join(label)}" if label else ""),
    st.tuples(*[st.integers(0, 20)] * 3),
    st.lists(identifiers, max_size=3),
)


def skill(*numbers: str, tags: dict[str, str] | None = None, yanked: str = "") -> Skill:
    """A skill with these versions, first published first."""
    identity, time = SkillId("pdf"), datetime(2026, 1, 1, tzinfo=UTC)
    made = [
        Version(
            identity, n, f"sha256:{n}", {}, "", 0, time, "ana", "", "bad" if n in yanked.split() else None
        )
        for n in numbers
    ]
    return Skill(identity, (*reversed(made),), tags or {})


def test_numbers_and_prefixes() -> None:
    """[SURFACES: Registry model] [D74] versions are ordered, up to a last one; prefixes are whole
    segments.
    """
    keys = [*map(precedence, ORDER)]
    assert all(one < other for one, other in pairwise(keys))
    assert next_patch(["1.0.999999998"]) == "1.0.999999999"
    with pytest.raises(VersionTooLarge):
        next_patch(["1.0.999999999"])
    assert is_below("payments/refunds", "")
    assert is_below("payments/refunds", "payments")
    assert is_below("payments", "payments")
    assert not is_below("payments-old/refunds", "payments")
    assert not is_below("payments", "payments/refunds")


@given(versions, versions)
def test_order_is_total(one: str, other: str) -> None:
    """[SURFACES: Registry model] two versions are equal, or one comes first."""
    assert parse_version(one) == one
    assert (precedence(one) == precedence(other)) == (one == other)
    assert (precedence(one) < precedence(other)) == (precedence(other) > precedence(one))


@given(st.lists(versions, max_size=5))
def test_next_is_a_higher_release(numbers: list[str]) -> None:
    """[SURFACES: Registry model] the next patch is higher than all there are, and no pre-release."""
    number = next_patch(numbers)
    assert parse_version(number) == number
    assert "-" not in number
    assert all(precedence(number) > precedence(each) for each in numbers)


@each(
    ("text", "number"),
    [
        ("1.2.3", "1.2.3"),
        ("v2", "2.0.0"),
        ("1.0", "1.0.0"),
        ("V1.2.3-RC.1", "1.2.3-RC.1"),
        ("0.0.0", "0.0.0"),
    ],
)
def test_completed(text: str, number: str) -> None:
    """[SURFACES: Registry model] a short version is completed."""
    assert parse_version(text) == number


@each(
    "text",
    [
        *("", "1.2.3.4", "01.0.0", "1.0.0-", "1.0.0-01", "1.0.0+build", "1.0-rc", "latest", "1.0.0\n"),
        "１.0.0",
        "9" * 65,
    ],
)
def test_no_version(text: str) -> None:
    """[SURFACES: Registry model] what is no version is refused, on a line of bounded length."""
    with pytest.raises(InvalidParameter) as caught:
        parse_version(text)
    assert len(caught.value.message) < 300


@each("text", ["", "1.0.0", "Beta", "-x", "a/b", "a b", "a" * 65, "é", "beta\n"])
def test_no_tag(text: str) -> None:
    """[SURFACES: Registry model] a tag never looks like a version."""
    with pytest.raises(InvalidParameter):
        parse_tag(text)


def test_texts_and_roles() -> None:
    """[SURFACES: Registry model] texts are what every store can hold; roles have those before them."""
    assert parse_text("several\nlines é 🦊", "note") == "several\nlines é 🦊"
    for text in ("x" * 2001, "a\0b", "\udc80"):
        with pytest.raises(InvalidParameter):
            parse_text(text, "note")
    assert parse_name("ana@example.com", "subject") == "ana@example.com"
    for text in ("", " ", "a\nb", "\u202eana", "x" * 201):
        with pytest.raises(InvalidParameter):
            parse_name(text, "subject")
    names = [role.label for role in sorted(Role)]
    assert names == ["reader", "publisher", "maintainer", "admin"]
    assert [Role.parse(name) for name in names] == [*Role]
    for text in ("", "Admin", "owner"):
        with pytest.raises(InvalidParameter):
            Role.parse(text)


def test_latest() -> None:
    """[SURFACES: Registry model] latest is what its tag says; if that is yanked, the highest that is not."""

    def latest(made: Skill) -> str | None:
        return made.latest.version if made.latest else None

    assert latest(skill("1.0.0", "2.0.0", tags={"latest": "1.0.0"})) == "1.0.0"
    assert latest(skill("1.0.0", "2.0.0", "1.1.0", tags={"latest": "2.0.0"}, yanked="2.0.0")) == "1.1.0"
    assert latest(skill("1.0.0", "2.0.0-rc.1")) == "1.0.0"
    assert latest(skill("1.0.0", "2.0.0-rc.1", yanked="1.0.0")) == "2.0.0-rc.1"
    assert latest(skill("1.0.0", yanked="1.0.0")) is None


def test_resolve() -> None:
    """[SURFACES: Registry model] a number gives a yanked version, a tag does not."""
    made = skill("1.0.0", "2.0.0", tags={"latest": "2.0.0", "beta": "2.0.0"}, yanked="2.0.0")
    assert made.resolve("2.0.0").yanked == "bad"
    assert made.resolve().version == "1.0.0"
    for wanted, reason in (
        ("beta", "yanked: bad"),
        ("3.0.0", "no such"),
        ("stable", "no such"),
        ("", "no such"),
    ):
        with pytest.raises(SkillNotFound, match=reason) as caught:
            made.resolve(wanted)
        assert caught.value.code == "E001"
    with pytest.raises(SkillNotFound):
        skill("1.0.0", yanked="1.0.0").resolve()
