"""config.toml: what counts, and what is warned about."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from skillc.settings import Settings, load_settings
from tests.conftest import World
from tests.support.cases import each
from tests.support.examples import examples

CJK = '[search]\ntokenizer = "cjk"\n'
ASCII = '[search]\ntokenizer = "ascii"\n'


def write(root: Path, text: str | bytes) -> Path:
    path = root / ".skillc" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def config(world: World) -> Settings:
    return load_settings(str(world.project))


def warnings(world: World) -> list[str]:
    return [diagnostic.line() for diagnostic in config(world).diagnostics]


PRECEDENCE = [
    (None, None, None, "ascii"),
    (None, None, "cjk", "cjk"),
    (None, "cjk", None, "cjk"),
    (None, "ascii", "cjk", "ascii"),
    (None, "cjk", "ascii", "cjk"),
    ("ascii", "cjk", "cjk", "ascii"),
    ("cjk", "ascii", "ascii", "cjk"),
    ("", "cjk", "ascii", "cjk"),
    ("", "", "cjk", "cjk"),
]


@each("environment, project, home, tokenizer", PRECEDENCE)
def test_precedence(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    environment: str | None,
    project: str | None,
    home: str | None,
    tokenizer: str,
) -> None:
    """[RFC-0009] per key: environment, nearest project, home, default; nothing is said."""
    monkeypatch.delenv("SKILLC_TOKENIZER", raising=False)
    if environment is not None:
        monkeypatch.setenv("SKILLC_TOKENIZER", environment)
    for root, value in ((world.project, project), (world.home, home)):
        (root / ".skillc" / "config.toml").unlink(missing_ok=True)
        if value is not None:
            write(root, f'[search]\ntokenizer = "{value}"\n' if value else "version = 1\n")
    assert (config(world).tokenizer, warnings(world)) == (tokenizer, [])


def test_nearest_project(world: World) -> None:
    """[RFC-0009] the nearest file upwards alone; in the home its file is warned about once."""
    inner = world.project / "a"
    deep = inner / "b"
    (deep / ".skillc").mkdir(parents=True)
    write(world.project, ASCII + "unknown = 1\n")
    write(inner, CJK)
    assert load_settings(str(deep)).tokenizer == "cjk"
    assert load_settings(str(world.project)).tokenizer == "ascii"
    write(world.project, CJK + "unknown = 1\n")
    write(inner, "version = 1\n")
    found = load_settings(str(inner))
    assert (found.tokenizer, found.diagnostics) == ("ascii", ())
    write(world.home, "unknown = 1\n")
    assert len(load_settings(str(world.home)).diagnostics) == 1


def test_skillc_home_config(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[RFC-0009] SKILLC_HOME moves the global file; a link to nowhere is as good as no file."""
    moved = world.root / "x"
    write(moved, CJK)
    write(world.home, ASCII)
    monkeypatch.setenv("SKILLC_HOME", str(moved))
    assert config(world).tokenizer == "cjk"
    monkeypatch.delenv("SKILLC_HOME")
    (world.project / ".skillc" / "config.toml").symlink_to("nowhere")
    write(world.home, CJK)
    assert (config(world).tokenizer, warnings(world)) == ("cjk", [])


IGNORED = "; the file is ignored"
BAD_VERSIONS = ("0", "-1", "1.0", '"1"', "true", "[1]", "{}", "1979-05-27", "nan")
BAD_TOKENIZERS = ('"porter"', '""', "1", "true", "[]", "{}", '"CJK"')
# What the project's file holds, the start of the one warning about it, and its end.
BROKEN: list[tuple[str | bytes, str, str]] = [
    *(
        (f"version = {bad}\n{ASCII}unknown = 1\n", "'version' must be a positive integer", IGNORED)
        for bad in BAD_VERSIONS
    ),
    *(
        (f"[search]\ntokenizer = {bad}\n", "tokenizer must be one of ascii, cjk", "")
        for bad in BAD_TOKENIZERS
    ),
    ("version = 2\n" + CJK, "version 2 is newer", ""),
    ("search = 1\n", "'search' must be a table", ""),
    ("tokenizer = ", "", IGNORED),
    ("[search\n", "", IGNORED),
    ("a = 1\na = 2\n", "", IGNORED),
    ("x = 'a\n", "", IGNORED),
    (b'[search]\ntokenizer = "ascii" # \xff\n', "", IGNORED),
    (b"\x00", "", IGNORED),
    ("[" * 20_000, "", IGNORED),
    ("a = " + "[" * 20_000, "", IGNORED),
    ("a = " + "9" * 10_000, "", IGNORED),
]


@each("text, start, end", BROKEN)
def test_broken_files(world: World, text: str | bytes, start: str, end: str) -> None:
    """[RFC-0009] what can't be used is one warning, one line, and the next layer counts."""
    write(world.home, CJK)
    path = write(world.project, text)
    assert config(world).tokenizer == "cjk"
    (line,) = warnings(world)
    assert line.startswith(f"warning[W071]: configuration: {path}: {start}")
    assert line.endswith(end)
    assert line.isprintable()


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs /proc")
def test_what_is_no_file(world: World) -> None:
    """[RFC-0009] a directory, and a file whose reading fails, for root too, are one warning each."""
    path = world.project / ".skillc" / "config.toml"
    path.mkdir()
    (line,) = warnings(world)
    assert "Is a directory; the file is ignored" in line
    path.rmdir()
    path.symlink_to("/proc/self/mem")
    (line,) = warnings(world)
    assert line.endswith(IGNORED)


def test_warnings(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[RFC-0009] unknown keys, an unusable SKILLC_TOKENIZER and a mark warn; the rest counts."""
    write(world.project, '"a\\nb" = 1\n' + CJK + "limit = 5\n[other]\nx = 1\n")
    assert config(world).tokenizer == "cjk"
    lines = warnings(world)
    assert [line.partition("unknown key ")[2] for line in lines] == [r"'a\nb'", "'other'", "'search.limit'"]
    monkeypatch.setenv("SKILLC_TOKENIZER", "klingon")
    write(world.project, CJK)
    assert config(world).tokenizer == "cjk"
    (line,) = warnings(world)
    assert "SKILLC_TOKENIZER" in line
    assert "klingon" in line
    monkeypatch.delenv("SKILLC_TOKENIZER")
    write(world.project, b"\xef\xbb\xbf" + CJK.encode())
    assert config(world).tokenizer == "cjk" or len(warnings(world)) == 1


def test_commands_warn_and_go_on(world: World) -> None:
    """[D13a] [RFC-0009] settings stop no command; the tokenizer that counts is the one that is recorded."""
    world.skill("pdf")
    write(world.project, "what\n")
    built = world.ok("build", "pdf", "--format", "json")
    assert [line[:14] for line in built.stderr.splitlines()] == ["warning[W071]:"]
    json.loads(built.stdout)
    write(world.project, ASCII)
    world.ok("build", "pdf", env={"SKILLC_TOKENIZER": "cjk"})
    (database,) = (world.runtime / "pdf" / ".skillc-meta").glob("search-*.db")
    with closing(sqlite3.connect(database)) as connection:
        (recorded,) = connection.execute("SELECT value FROM index_meta WHERE key = 'tokenizer'").fetchone()
    assert recorded == "cjk"


@examples(100)
@given(st.one_of(st.binary(max_size=80), st.text(max_size=80).map(str.encode)))
def test_any_bytes(world: World, data: bytes) -> None:
    """[RFC-0009] whatever is in the file, there are settings and every warning is one line."""
    write(world.project, data)
    found = config(world)
    assert found.tokenizer in ("ascii", "cjk")
    assert all(diagnostic.line().isprintable() for diagnostic in found.diagnostics)


def test_registry(world: World) -> None:
    """[RFC-0009] [SURFACES: Registry] `registry` counts in the home's file alone."""
    (world.project / ".skillc" / "config.toml").write_text('registry = "https://project.example"\n')
    settings = load_settings(str(world.project))
    assert settings.registry == ""
    assert ["'registry' counts in the home's" in each.message for each in settings.diagnostics] == [True]
    (world.home / ".skillc").mkdir()
    (world.home / ".skillc" / "config.toml").write_text('registry = "https://home.example"\n')
    assert load_settings(str(world.project)).registry == "https://home.example"
    (world.home / ".skillc" / "config.toml").write_text("registry = 3\n")
    assert load_settings(str(world.home)).registry == ""
    assert "in quotes" in load_settings(str(world.home)).diagnostics[0].message


def test_agents(world: World) -> None:
    """[D70] `[agents] default` counts in the home's file alone, and is a list of names."""
    write(world.project, '[agents]\ndefault = ["codex"]\n')
    assert config(world).agents == ()
    assert ["'agents' counts in the home's" in line for line in warnings(world)] == [True]
    write(world.project, "")
    write(world.home, '[agents]\ndefault = ["codex", "claude"]\n')
    assert (config(world).agents, warnings(world)) == (("codex", "claude"), [])
    for wrong in ('agents = "codex"', '[agents]\ndefault = "codex"', "[agents]\ndefault = [1]"):
        write(world.home, f"{wrong}\n")
        assert config(world).agents == ()
        assert ["list of names" in line for line in warnings(world)] == [True]
