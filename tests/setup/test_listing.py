"""`skc setup` fits listings and has them kept so; what the user wrote in config.toml stays, to the byte."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tests.conftest import World
from tests.listing.states import TEXT, install, put, snapshot, states

CONFIGS = (
    None,
    "",
    "# mine\nregistry = 'x'\n\n[listing]  # of agents\nwindow = 100000\n\n[search]\nformats = []\n",
    "version = 1\n[listing]",
    "[listing]\r\nwindow = 100000\r\n\r\n# end\r\n[search]\r\n",
    "[search]\nformats = []",
)


def config(world: World) -> Path:
    path = world.home / ".skillc" / "config.toml"
    path.parent.mkdir(exist_ok=True)
    return path


def test_config_there_and_back(here: World) -> None:
    """[SURFACES: What agents see] one line more, two runs are one, and --undo gives back every byte."""
    path = config(here)
    for text in CONFIGS:
        path.unlink(missing_ok=True) if text is None else path.write_bytes(text.encode())
        here.ok("setup", "claude", "--yes")
        after = path.read_bytes().decode()
        assert tomllib.loads(after)["listing"]["fit"] is True
        assert "\r" not in after.replace("\r\n", "")
        assert [line for line in (text or "").splitlines() if line and line not in after.splitlines()] == []
        here.ok("setup", "claude", "--yes")
        assert path.read_bytes().decode() == after
        here.ok("setup", "--undo", "--yes")
        assert (path.read_bytes().decode() if path.exists() else None) == text


def test_config_that_others_change(here: World) -> None:
    """[D76] a line that was added since stays, and ours goes."""
    path = config(here)
    here.ok("setup", "claude", "codex", "--yes")
    path.write_text(path.read_text() + "window = 1000\n")
    here.ok("setup", "codex", "--undo", "--yes")
    assert tomllib.loads(path.read_text())["listing"] == {"fit": True, "window": 1000}
    here.ok("setup", "--undo", "--yes")
    assert tomllib.loads(path.read_text()) == {"listing": {"window": 1000}}


@pytest.mark.parametrize(
    "text", ["[listing]\nfit = false\n", "listing.fit = false", "listing = {fit = true}"]
)
def test_what_the_user_chose(here: World, text: str) -> None:
    """[SURFACES: What agents see] a value that is there stays."""
    path = config(here)
    path.write_text(text)
    install(here, 60)
    run = here.ok("setup", "claude", "--yes", "--no-mcp")
    assert path.read_text() == text
    assert ("on-demand" in states(here, "claude", cwd=here.home).values()) == ("true" in text), run.stdout
    here.ok("setup", "--undo", "--yes")
    assert path.read_text() == text


@pytest.mark.parametrize(
    "text", ["[listing", "listing = 3", "listing.window = 1000\n", "listing = {window = 1000}", "a = '\x00'"]
)
def test_a_config_that_can_not_be_changed(here: World, text: str) -> None:
    """[SURFACES: What agents see] it is refused, and nothing is written; --no-listing does the rest."""
    path = config(here)
    path.write_text(text, encoding="utf-8")
    assert "config.toml" in here.fails("E999", "setup", "claude", "--yes").stderr
    assert not (here.home / ".claude.json").exists()
    here.ok("setup", "claude", "--yes", "--no-listing")
    assert path.read_text(encoding="utf-8") == text
    assert (here.home / ".claude.json").exists()


def test_fitted_and_taken_back(here: World) -> None:
    """[SURFACES: What agents see] the choice is shown, kept, and undone but for what a person chose."""
    names = install(here, 60)
    here.ok("listing", "set", names[0], "demand", cwd=here.home)
    folder = here.home / ".claude" / "skills"
    before = snapshot(folder)
    shown = here.ok("setup", "claude", "--dry-run").stderr
    assert "(no room)" in shown
    assert snapshot(folder) == before
    run = here.ok("setup", "claude", "--yes", "--format", "json")
    changes = {change["what"] for change in json.loads(run.stdout)["agents"][0]["changes"]}
    assert any(what.startswith("listing fitted: ") for what in changes), changes
    assert set(states(here, "claude", cwd=here.home).values()) == {"whole", "on-demand"}
    again = here.ok("setup", "claude", "--yes", "--format", "json")
    assert json.loads(again.stdout)["agents"][0]["changes"] == []
    here.skill("new", TEXT.format("new", "n" * 1500, ""), store=here.global_store)
    here.ok("build", "new", cwd=here.home)
    assert states(here, "claude", cwd=here.home)["new"] == "on-demand"
    here.ok("remove", "new", cwd=here.home)
    here.ok("setup", "--undo", "--yes")
    assert snapshot(folder) == before


def test_skills_of_others(here: World) -> None:
    """[D75] they are not for setup to fit: it says how they come to be skc's."""
    for number in range(60):
        put(here.home / ".claude" / "skills", f"s{number:03d}", "x" * 200)
    run = here.ok("setup", "claude", "--yes", "--no-mcp")
    assert "60 skills that skc did not put there take more: 'skc import' takes them over" in run.stdout
    here.ok("import", "--yes", cwd=here.home)
    assert "on-demand" in states(here, "claude", cwd=here.home).values()
    assert "did not put there" not in here.ok("setup", "claude", "--yes", "--no-mcp").stdout


def test_a_fit_from_before_stays(here: World) -> None:
    """[SURFACES: What agents see] --undo lists nothing that was on demand before."""
    install(here, 60)
    here.ok("listing", "fit", "--yes", cwd=here.home)
    folder = here.home / ".claude" / "skills"
    before = snapshot(folder)
    here.ok("setup", "claude", "--yes")
    here.ok("setup", "--undo", "--yes")
    assert snapshot(folder) == before


def test_undo_is_whole(here: World) -> None:
    """[SURFACES: What agents see] --undo takes no parts; Claude Code reads no settings with comments."""
    here.ok("setup", "claude", "--yes")
    assert "--undo" in here.fails("E100", "setup", "--undo", "--no-hook", "--yes").stderr
    (here.home / ".claude" / "settings.json").unlink()
    here.ok("setup", "--undo", "--yes")
    assert not (here.home / ".local" / "bin" / "skc").is_symlink()
    assert not config(here).exists()
    assert json.loads((here.home / ".skillc" / "setup.json").read_text())["files"] == {}
    path = here.home / ".claude" / "settings.json"
    path.write_text('{"a": 1} // mine\n')
    run = here.ok("setup", "claude", "--yes", "--format", "json")
    assert "comments" in json.loads(run.stdout)["agents"][0]["next"]
    assert "comma too many" in here.skc("doctor").stdout
    path.write_text(path.read_text().replace("// mine", ""))
    assert "comments" not in here.ok("setup", "claude", "--yes", "--format", "json").stdout
    assert "comma too many" not in here.skc("doctor").stdout
