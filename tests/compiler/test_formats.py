"""Other formats than Markdown and plain text, which `[search] formats` switches on."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from skillc.compiler.formats import ENDINGS, documents
from skillc.settings import FORMATS
from tests.conftest import World

# By file: what it holds, a word to find in it, and the section that has the word.
FILES = {
    "data.csv": ("name,city\nAda,London\nGrace,Arlington\n", "Arlington", "row 2"),
    "conf.json": (
        '{"server": {"port": 8080, "hosts": ["alpha", "beta"]}, "debug": true}',
        "beta",
        "server",
    ),
    "conf.yaml": ("database:\n  engine: postgres\n  pool: {size: 7}\n", "postgres", "database"),
    "conf.toml": ('[tool]\nlinter = "ruffian"\n', "ruffian", "tool"),
    "run.py": ("# calibrates the flux capacitor\nvalue = 1\n", "flux", ""),
}


@pytest.fixture
def skill(world: World) -> World:
    folder = world.skill("mixed")
    for name, (text, *_) in FILES.items():
        (folder / name).write_text(text)
    return world


def found(world: World, word: str) -> str:
    return world.ok("search", "mixed", word).stdout


@pytest.mark.slow
def test_off_and_on(skill: World) -> None:
    """[RFC-0004:C-FORMATS] [RFC-0009] without the setting these files are skipped; with it each is found
    in its section.
    """
    assert skill.ok("build", "mixed").stderr == ""
    for _, word, _ in FILES.values():
        assert found(skill, word) == "No results.\n"
    config = skill.project / ".skillc" / "config.toml"
    config.write_text('[search]\nformats = ["csv", "json", "yaml", "toml", "code"]\n')
    assert "Updated" in skill.ok("build", "mixed").stdout, "a new setting is a new index"
    for name, (_, word, section) in FILES.items():
        assert found(skill, word).startswith(f"{name}#{section} ("), name
    assert "unchanged" in skill.ok("build", "mixed").stdout.lower()
    config.write_text('[search]\nformats = ["toml"]\n')
    skill.ok("build", "mixed")
    assert found(skill, "ruffian").startswith("conf.toml#tool")
    assert found(skill, "postgres") == "No results.\n"


def test_bad_settings_warn(skill: World) -> None:
    """[RFC-0009] a setting that can't be used is a warning and the default."""
    for value in ('"csv"', '["xls"]', "[1]", "true", "[[]]"):
        (skill.project / ".skillc" / "config.toml").write_text(f"[search]\nformats = {value}\n")
        assert "formats must be a list of csv, json, yaml, toml, code" in skill.ok("build", "mixed").stderr


def test_shapes() -> None:
    """[RFC-0004:C-FORMATS] [RFC-0009] lists, scalars, ragged rows, tabs, comments, and text where a file
    is broken.
    """
    assert documents("json", "{broken") == [("", "{broken")]
    assert documents("toml", "= x") == [("", "= x")]
    assert documents("yaml", "a: [") == [("", "a: [")]
    assert documents("json", "[" * 100_000) == [("", "[" * 100_000)]
    assert documents("json", '[{"a": 1}, 2]') == [("[0]", "[0].a: 1"), ("[1]", "[1]: 2")]
    assert documents("json", '{"\\ud800": "\\udfff"}') == [("?", "?: ?")]
    assert documents("json", '"alone"') == [("", ": alone")]
    assert documents("csv", "a,b\n1,2,3\n") == [("row 1", "a: 1\nb: 2\n3")]
    assert documents("csv", "a\tb\n1\t2\n", "tsv") == [("row 1", "a: 1\nb: 2")]
    assert documents("csv", "only,header\n") == [("", "only,header\n")]
    assert documents("code", "x = 1  // why\n", "rs") == [("", "x = 1  // why\n\nwhy")]
    assert tuple(ENDINGS) == FORMATS


@given(st.sampled_from(FORMATS), st.text())
def test_any_text(name: str, text: str) -> None:
    """[RFC-0004:C-FORMATS] whatever a file holds, it becomes documents."""
    for section, content in documents(name, text):
        assert isinstance(section, str)
        assert isinstance(content, str)
