"""Canonical IDs and the segments they are made of."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from skillc.errors import InvalidSkillId
from skillc.skills import SkillId, is_name, to_segment
from skillc.skills.ids import is_segment
from tests.support.cases import each

SEGMENT = re.compile(r"[a-z0-9-]{1,64}")
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")  # and at most 64 characters

likely = st.text(st.sampled_from("ab9-/_A .é"), max_size=12)


@each(
    ("value", "collection", "name"),
    [
        ("pdf", "", "pdf"),
        ("extraction/email-extractor", "extraction", "email-extractor"),
        ("extraction/medical/imaging/ct-scan", "extraction/medical/imaging", "ct-scan"),
        ("a/b/c/d/e/f/g/h", "a/b/c/d/e/f/g", "h"),
        ("8004", "", "8004"),
        ("x" * 64 + "/" + "y" * 64, "x" * 64, "y" * 64),
    ],
)
def test_valid(value: str, collection: str, name: str) -> None:
    """[D30a] an ID is text, and has a collection and a name."""
    skill = SkillId(value)
    assert (skill, skill.collection, skill.name) == (value, collection, name)
    assert (hash(skill), f"{skill}", type(skill)) == (hash(value), value, SkillId)


@each(
    "value",
    [
        *("", "/", "/a", "a/", "a//b", "A", "a_b", "a b", "a.b", "a/../b", "..", "é", "漢", "a\n"),
        *("a\0", "a\\b", "x" * 65, "a/" + "x" * 65, "x" * 65 + "/a", "٣"),
    ],
)
def test_invalid(value: str) -> None:
    """[D30a] segments of 1 to 64 valid characters, else E070, on one line whatever the ID holds."""
    with pytest.raises(InvalidSkillId) as caught:
        SkillId(value)
    assert caught.value.line().startswith("error[E070]: invalid skill id: '")
    assert len(caught.value.line().splitlines()) == 1


@given(likely | st.text(max_size=70) | st.from_regex(SEGMENT, fullmatch=True))
def test_any_text(text: str) -> None:
    """[D30a] an ID is what the pattern says, and its parts put together are the whole again."""
    assert is_segment(text) == bool(SEGMENT.fullmatch(text))
    if all(SEGMENT.fullmatch(part) for part in text.split("/")):
        skill = SkillId(text)
        assert f"{skill.collection}/{skill.name}".lstrip("/") == text
    else:
        with pytest.raises(InvalidSkillId):
            SkillId(text)


@each(
    ("text", "valid"),
    [
        ("pdf", True),
        ("pdf-forms-2", True),
        ("8004", True),
        ("x" * 64, True),
        ("x" * 65, False),
        ("", False),
        ("-", False),
        ("-pdf", False),
        ("pdf-", False),
        ("pdf--forms", False),
        ("PDF", False),
        ("pdf_forms", False),
        ("a/b", False),
        ("é", False),
        ("pdf\n", False),
    ],
)
def test_name(text: str, valid: bool) -> None:
    """[D25] the Agent Skills format: a-z, 0-9 and single hyphens inside, 1 to 64."""
    assert is_name(text) == valid


@pytest.mark.slow
@given(likely | st.from_regex(NAME, fullmatch=True))
def test_any_name(text: str) -> None:
    """[D25] a name is what the format's pattern says."""
    assert is_name(text) == (bool(NAME.fullmatch(text)) and len(text) <= 64)


@each(
    ("directory", "segment"),
    [
        ("pdf", "pdf"),
        ("My Skill_v2", "my-skill-v2"),
        ("PDF.Forms", "pdf-forms"),
        ("--a--b--", "a-b"),
        ("a & b", "a-b"),
        ("Café", "caf"),
        ("漢字 pdf", "pdf"),
        ("x" * 63 + "-y", "x" * 63),
        ("x" * 100, "x" * 64),
    ],
)
def test_to_segment(directory: str, segment: str) -> None:
    """[D25] lower case, everything else to single hyphens."""
    assert to_segment(directory) == segment


@given(likely | st.text(st.characters(), max_size=80))
def test_always_a_segment(directory: str) -> None:
    """[D25] any directory gives a valid name, the same each time; a valid name stays what it is."""
    segment = to_segment(directory)
    assert is_name(segment)
    assert to_segment(directory) == to_segment(segment) == segment
    if is_name(directory):
        assert segment == directory


def test_names_without_a_letter() -> None:
    """[D25] what leaves nothing gets a name of its own, and different ones different names."""
    names = ["漢字", "汉字", "___", "é", "", "\udcff", "日本語"]
    assert len({to_segment(name) for name in names}) == len(names)
    assert all(to_segment(name).startswith("skill-") for name in names)
