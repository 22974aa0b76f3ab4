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


IDS = [
    *("pdf", "extraction/email-extractor", "a/b/c/d/e/f/g/h", "8004", "x" * 64 + "/" + "y" * 64),
    *("", "/", "/a", "a/", "a//b", "A", "a_b", "a b", "a.b", "a/../b", "..", "é", "漢", "a\n"),
    *("a\0", "a\\b", "x" * 65, "a/" + "x" * 65, "x" * 65 + "/a", "٣"),
]


@given(likely | st.text(max_size=70) | st.from_regex(SEGMENT, fullmatch=True))
def test_any_id(text: str) -> None:
    """[D30a] an ID is text in segments of 1 to 64 valid characters; its parts put together are the whole.

    All else is E070, on one line whatever the ID holds.
    """
    for value in (text, *IDS):
        assert is_segment(value) == bool(SEGMENT.fullmatch(value))
        if all(SEGMENT.fullmatch(part) for part in value.split("/")):
            skill = SkillId(value)
            assert (skill, hash(skill), f"{skill}", type(skill)) == (value, hash(value), value, SkillId)
            assert (skill.collection, skill.name) == (value.rpartition("/")[0], value.rpartition("/")[2])
        else:
            with pytest.raises(InvalidSkillId) as caught:
                SkillId(value)
            assert caught.value.line().startswith("error[E070]: invalid skill id: '")
            assert len(caught.value.line().splitlines()) == 1


NAMES = [
    *("pdf", "pdf-forms-2", "8004", "x" * 64, "x" * 65, "", "-", "-pdf", "pdf-", "pdf--forms", "PDF"),
    *("pdf_forms", "a/b", "é", "pdf\n"),
]


@pytest.mark.slow
@given(likely | st.from_regex(NAME, fullmatch=True))
def test_any_name(text: str) -> None:
    """[D25] a name is what the Agent Skills format's pattern says: a-z, 0-9 and single hyphens inside."""
    for name in (text, *NAMES):
        assert is_name(name) == (bool(NAME.fullmatch(name)) and len(name) <= 64)


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
