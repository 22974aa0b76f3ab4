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


def test_default(world: World) -> None:
    """[RFC-0009] without any file the tokenizer is ascii and nothing is said."""
    assert (config(world).tokenizer, warnings(world)) == ("ascii", [])


@pytest.mark.parametrize(
    ("environment", "project", "home", "tokenizer"),
    [
        (None, None, "cjk", "cjk"),
        (None, "cjk", None, "cjk"),
        (None, "ascii", "cjk", "ascii"),
        (None, "cjk", "ascii", "cjk"),
        ("ascii", "cjk", "cjk", "ascii"),
        ("cjk", "ascii", "ascii", "cjk"),
        ("", "cjk", "ascii", "cjk"),
        ("", "", "cjk", "cjk"),
    ],
)
def test_precedence(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    environment: str | None,
    project: str | None,
    home: str | None,
    tokenizer: str,
) -> None:
    """[RFC-0009] per key: environment, nearest project, home, default."""
    if environment is not None:
        monkeypatch.setenv("SKILLC_TOKENIZER", environment)
    for root, value in ((world.project, project), (world.home, home)):
        if value is not None:
            write(root, f'[search]\ntokenizer = "{value}"\n' if value else "version = 1\n")
    assert (config(world).tokenizer, warnings(world)) == (tokenizer, [])


def test_nearest_project(world: World) -> None:
    """[RFC-0009] the nearest .skillc/config.toml upwards, past projects that have none."""
    inner = world.project / "a"
    deep = inner / "b"
    (deep / ".skillc").mkdir(parents=True)
    write(world.project, ASCII)
    write(inner, CJK)
    assert load_settings(str(deep)).tokenizer == "cjk"
    assert load_settings(str(world.project)).tokenizer == "ascii"


def test_files_of_projects_above_do_not_add_up(world: World) -> None:
    """[RFC-0009] the nearest project's file alone, then the home's; a farther project's is not read."""
    inner = world.project / "a"
    write(inner, "version = 1\n")
    write(world.project, CJK + "unknown = 1\n")
    found = load_settings(str(inner))
    assert (found.tokenizer, found.diagnostics) == ("ascii", ())


def test_home_file_is_read_once(world: World) -> None:
    """[RFC-0009] in the home itself its file is the global one, and warned about once."""
    write(world.home, "unknown = 1\n")
    assert len(load_settings(str(world.home)).diagnostics) == 1


def test_skillc_home_config(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[RFC-0009] SKILLC_HOME moves the global file too."""
    moved = world.root / "x"
    write(moved, CJK)
    write(world.home, ASCII)
    monkeypatch.setenv("SKILLC_HOME", str(moved))
    assert config(world).tokenizer == "cjk"


def test_newer_version(world: World) -> None:
    """[RFC-0009] a newer version warns and is read all the same."""
    path = write(world.project, "version = 2\n" + CJK)
    assert config(world).tokenizer == "cjk"
    (line,) = warnings(world)
    assert line.startswith("warning[W071]: ")
    assert str(path) in line
    assert "version 2 is newer" in line


@pytest.mark.parametrize("version", ["0", "-1", "1.0", '"1"', "true", "[1]", "{}", "1979-05-27", "nan"])
def test_bad_version(world: World, version: str) -> None:
    """[RFC-0009] a version that is no positive integer: one warning, the file is ignored."""
    write(world.home, ASCII)
    write(world.project, f"version = {version}\n{CJK}unknown = 1\n")
    assert config(world).tokenizer == "ascii"
    (line,) = warnings(world)
    assert "'version' must be a positive integer" in line


@pytest.mark.parametrize(
    "broken",
    [
        "tokenizer = ",
        "[search\n",
        "a = 1\na = 2\n",
        "x = 'a\n",
        b'[search]\ntokenizer = "cjk" # \xff\n',
        b"\x00",
        "[" * 20_000,
        "a = " + "[" * 20_000,
        "a = " + "9" * 10_000,
    ],
    ids=["value", "table", "twice", "string", "not-utf-8", "nul", "deep-table", "deep-array", "digits"],
)
def test_broken_toml(world: World, broken: str | bytes) -> None:
    """[RFC-0009] TOML that does not parse is one warning, one line, and the next file counts."""
    write(world.home, CJK)
    path = write(world.project, broken)
    assert config(world).tokenizer == "cjk"
    (line,) = warnings(world)
    assert line.startswith(f"warning[W071]: configuration: {path}: ")
    assert line.endswith("; the file is ignored")
    assert line.isprintable()


def test_bom_is_no_toml(world: World) -> None:
    """[RFC-0009] an editor's byte order mark does not crash anything: read or one warning."""
    write(world.project, b"\xef\xbb\xbf" + CJK.encode())
    assert config(world).tokenizer == "cjk" or len(warnings(world)) == 1


def test_directory_for_a_file(world: World) -> None:
    """[RFC-0009] a directory called config.toml is one warning."""
    (world.project / ".skillc" / "config.toml").mkdir()
    (line,) = warnings(world)
    assert "Is a directory; the file is ignored" in line


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs /proc")
def test_unreadable_file(world: World) -> None:
    """[RFC-0009] a file whose reading fails, for root too, is one warning."""
    (world.project / ".skillc" / "config.toml").symlink_to("/proc/self/mem")
    (line,) = warnings(world)
    assert line.endswith("; the file is ignored")


def test_broken_link_is_no_file(world: World) -> None:
    """[RFC-0009] a link to nowhere is as good as no file."""
    (world.project / ".skillc" / "config.toml").symlink_to("nowhere")
    write(world.home, CJK)
    assert (config(world).tokenizer, warnings(world)) == ("cjk", [])


def test_unknown_keys(world: World) -> None:
    """[RFC-0009] unknown keys warn, by their full name, and the rest counts."""
    write(world.project, '"a\\nb" = 1\n' + CJK + "limit = 5\n[other]\nx = 1\n")
    assert config(world).tokenizer == "cjk"
    lines = warnings(world)
    assert [line.partition("unknown key ")[2] for line in lines] == [r"'a\nb'", "'other'", "'search.limit'"]


@pytest.mark.parametrize("value", ['"porter"', '""', "1", "true", "[]", "{}", '"CJK"'])
def test_bad_tokenizer(world: World, value: str) -> None:
    """[RFC-0009] a value that is none warns, says which there are, and the next layer counts."""
    write(world.home, CJK)
    write(world.project, f"[search]\ntokenizer = {value}\n")
    assert config(world).tokenizer == "cjk"
    (line,) = warnings(world)
    assert "tokenizer must be one of ascii, cjk" in line


def test_search_is_no_table(world: World) -> None:
    """[RFC-0009] `search = 1` warns."""
    write(world.project, "search = 1\n")
    (line,) = warnings(world)
    assert "'search' must be a table" in line


def test_bad_environment(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[RFC-0009] an unusable SKILLC_TOKENIZER warns and the files count."""
    monkeypatch.setenv("SKILLC_TOKENIZER", "klingon")
    write(world.project, CJK)
    assert config(world).tokenizer == "cjk"
    (line,) = warnings(world)
    assert "SKILLC_TOKENIZER" in line
    assert "klingon" in line


def test_commands_warn_and_go_on(world: World) -> None:
    """[RFC-0009] settings never stop a command: warnings on stderr, status 0."""
    world.skill("pdf")
    write(world.project, "what\n")
    built = world.ok("build", "pdf", "--format", "json")
    assert [line[:14] for line in built.stderr.splitlines()] == ["warning[W071]:"]
    json.loads(built.stdout)


def test_build_uses_the_setting(world: World) -> None:
    """[RFC-0009] [D13a] the tokenizer that counts is the one that is recorded."""
    world.skill("pdf")
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
