"""`skc setup`: every byte that is not ours stays, two runs are one, and --undo gives back what was there."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillc.errors import SkillcError
from skillc.surface import Unattended
from skillc.workspace import Workspace
from tests.conftest import World, save as write
from tests.support.agents import FILES

OTHERS = """\
{
    // mine
    "env": {"A": "1"},   /* kept */
    "hooks": {
        "UserPromptSubmit": [
            {"hooks": [{"type": "command", "command": "theirs"}]},
        ],
        "Stop": []
    },
    "model": "x",
}
"""
TEXTS = {
    "none": None,
    "empty": "",
    "object": "{}\n",
    "one line": '{"a": [1,2], "hooks": {"PreToolUse": []}}',
    "others": OTHERS,
    "windows": OTHERS.replace("\n", "\r\n").replace("    ", "\t"),
    "odd": '\ufeff{ "hooks":{},\n\n"a":1.0 }  ',
}
CONFIG = ".skillc/config.toml"
MEASURED = ("claude", "codex", "gemini", "opencode")  # agents whose listings can be fitted
TOML = {"none": None, "empty": "", "windows": "# mine\r\n[tui]\r\na = 1\r\n", "odd": "\ufeff[tui]\na = 1"}


def save(path: Path, text: str) -> Path:
    write(path, text)
    return path


def snapshot(home: Path) -> dict[str, bytes]:
    """The files of agents, and the link."""
    names = [*(path for paths in FILES.values() for path in paths), ".local/bin/skc", CONFIG]
    return {name: (home / name).read_bytes() for name in names if (home / name).exists()}


@pytest.mark.parametrize("agent", FILES)
def test_there_and_back(here: World, agent: str) -> None:
    """[SURFACES: What agents see] [D76] all else stays, a second run changes nothing, --undo is exact."""
    for name, text in TEXTS.items():
        for path in FILES[agent]:
            (here.home / path).unlink(missing_ok=True)
            old = text if path.endswith("json") else TOML.get(name, "# mine\nmodel = 'x'\n\n[tui]\na = 1")
            if old is not None:
                (here.home / path).write_bytes(old.encode())
        before = snapshot(here.home)
        result = here.json("setup", agent, "--yes")
        config = (CONFIG,) if agent in MEASURED else ()
        assert {change["path"] for change in result["agents"][0]["changes"]} == {
            str(here.home / path) for path in (*FILES[agent], ".local/bin/skc", *config)
        }
        after = snapshot(here.home)
        for path in FILES[agent]:
            for line in (text or "").splitlines() if path.endswith("json") else ():
                assert line.strip("{},[] ") in after[path].decode(), path  # comments and values, as written
            if path.endswith("toml"):
                assert after[path].startswith(before.get(path, b""))
        again = here.json("setup", agent, "--yes")
        assert again["agents"][0]["changes"] == []
        assert snapshot(here.home) == after
        here.ok("setup", agent, "--undo", "--yes")
        assert snapshot(here.home) == before
        assert "nothing to do" in here.ok("setup", agent, "--undo", "--yes").stdout


def test_what_is_written(here: World) -> None:
    """[SURFACES: What agents see] a guarded hook, a permission for one kind of command, and the server."""
    here.ok("setup", "--yes")
    settings = json.loads((here.home / ".claude/settings.json").read_text())
    (prompt,) = settings["hooks"]["UserPromptSubmit"]
    link = here.home / ".local" / "bin" / "skc"
    assert prompt["hooks"][0]["command"].endswith("skc hook prompt --agent claude 2>/dev/null; true")
    bash, mcp = settings["hooks"]["PreToolUse"]
    assert (bash["matcher"], bash["hooks"][0]["if"]) == ("Bash", "Bash(skc *)")
    assert mcp["matcher"] == "mcp__skillc__.*"
    assert "permissions" not in settings
    assert os.access(link, os.X_OK)
    codex = json.loads((here.home / ".codex/hooks.json").read_text())["hooks"]
    assert list(codex) == ["UserPromptSubmit"]
    assert "skillc" in tomllib.loads((here.home / ".codex/config.toml").read_text())["mcp_servers"]
    (gemini,) = json.loads((here.home / ".gemini/settings.json").read_text())["hooks"]["BeforeAgent"]
    assert gemini["hooks"][0]["timeout"] == 10_000
    for gone in ("/nowhere/skc", str(save(here.root / "broken", "#!/nowhere/python\n"))):
        os.chmod(gone, 0o755) if os.path.exists(gone) else None
        words = prompt["hooks"][0]["command"].split()
        command = " ".join(gone if word == words[2] else word for word in words)
        run = subprocess.run(["sh", "-c", command], input="{}", capture_output=True, text=True, check=False)
        assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_parts(here: World) -> None:
    """[SURFACES: What agents see] each part can be left out, and --dry-run shows and writes nothing."""
    before = snapshot(here.home)
    shown = here.ok("setup", "claude", "--dry-run").stderr
    assert "hook prompt --agent claude" in shown
    assert snapshot(here.home) == before
    here.ok("setup", "claude", "--yes", "--no-mcp", "--no-permission")
    assert not (here.home / ".claude.json").exists()
    assert list(json.loads((here.home / ".claude/settings.json").read_text())["hooks"]) == [
        "UserPromptSubmit"
    ]
    here.ok("setup", "claude", "--yes", "--no-hook")
    assert (here.home / ".claude.json").exists()
    here.ok("setup", "--undo", "--yes")
    assert snapshot(here.home) == before


def test_undo_after_others(here: World) -> None:
    """[D76] what others wrote since stays, and our entries alone go, also an older one of another place."""
    path = save(here.home / ".claude/settings.json", OTHERS)
    here.ok("setup", "claude", "--yes")
    path.write_text(
        path.read_text().replace('"model": "x"', '"model": "y"').replace("skc hook", "old/skc hook")
    )
    here.ok("setup", "claude", "--yes")
    assert path.read_text().count("skc hook") == 3
    assert "old" not in path.read_text()
    here.ok("setup", "claude", "--undo", "--yes")
    text = path.read_text()
    assert "skc" not in text
    assert text.split() == OTHERS.replace('"x"', '"y"').split()


def test_folders_that_variables_move(here: World) -> None:
    """[SURFACES: What agents see] CLAUDE_CONFIG_DIR, CODEX_HOME and XDG_CONFIG_HOME are honoured."""
    moved = here.root / "moved"
    env = {"CLAUDE_CONFIG_DIR": f"{moved}/c", "CODEX_HOME": f"{moved}/x", "XDG_CONFIG_HOME": f"{moved}/g"}
    for folder in ("c", "x", "g/opencode"):
        (moved / folder).mkdir(parents=True)
    here.ok("setup", "claude", "codex", "opencode", "--yes", env=env)
    files = {str(path.relative_to(moved)) for path in moved.rglob("*.*")}
    assert files == {
        "c/.claude.json",
        "c/settings.json",
        "x/config.toml",
        "x/hooks.json",
        "g/opencode/opencode.json",
    }
    assert snapshot(here.home).keys() == {".local/bin/skc", CONFIG}
    assert "run this with the variable" in here.ok("setup", "--undo", "--yes").stdout
    assert len([path for path in moved.rglob("*.*") if path.is_file()]) == 5
    here.ok("setup", "--undo", "--yes", env=env)
    assert not [path for path in moved.rglob("*.*") if path.is_file()]


def test_refusals(here: World) -> None:
    """[SURFACES: What agents see] with the reason and what to do; nothing is written."""
    before = snapshot(here.home)
    assert "did you mean" in here.fails("E100", "setup", "cluade").stderr
    assert "--install amp" in here.fails("E100", "setup", "amp").stderr
    assert "install it" in here.fails("E999", "setup", "windsurf").stderr
    assert "--yes" in here.fails("E100", "setup", "claude").stderr
    for text in (
        "[]",
        "{",
        '{"hooks": 3}',
        '{"hooks": {"UserPromptSubmit": {}}}',
        '{"hooks": {}, "hooks": {}}',
    ):
        save(here.home / ".claude/settings.json", text)
        here.fails("E999", "setup", "--yes")
        assert (here.home / ".claude/settings.json").read_text() == text
        (here.home / ".claude/settings.json").unlink()
    (here.home / ".codex/hooks.json").symlink_to("/proc/nothing/hooks.json")
    assert "nothing was changed" in here.fails("E999", "setup", "--yes").stderr
    (here.home / ".codex/hooks.json").unlink()
    for text in ("mcp_servers = {x = {command = 'y'}}\n", "[[mcp_servers]]\n", "mcp_servers = 3\n"):
        save(here.home / ".codex/config.toml", text)
        assert "add to; nothing was written" in here.fails("E999", "setup", "codex", "--yes").stderr
        assert (here.home / ".codex/config.toml").read_text() == text
        (here.home / ".codex/config.toml").unlink()
    assert snapshot(here.home) == before


def test_nothing_or_all(here: World) -> None:
    """[SURFACES: What agents see] where the last file can't be written, the others are as they were."""
    before = snapshot(here.home)
    (here.home / ".skillc" / "setup.json").mkdir(parents=True)
    here.fails("E999", "setup", "claude", "--yes", "--no-listing")
    assert snapshot(here.home) == before
    assert not (here.home / ".local/bin/skc").is_symlink()


def test_a_link_to_a_file_that_is_not_there(here: World) -> None:
    """[SURFACES: What agents see] settings that a link leads to are written there, and the link stays."""
    link, target = here.home / ".claude/settings.json", here.home / "dotfiles/claude.json"
    target.parent.mkdir()
    link.symlink_to(target)
    here.ok("setup", "claude", "--yes")
    assert link.is_symlink()
    assert "skc hook" in target.read_text()
    here.ok("setup", "--undo", "--yes")
    assert link.is_symlink()
    assert not target.exists()


class Busy(Unattended):
    """A person who agrees after an agent wrote its settings."""

    can_answer = True

    def __init__(self, write: Callable[[], Any]) -> None:
        self.write = write

    def confirm(self, text: str, question: str) -> bool:
        self.write()
        return True


def test_an_agent_that_writes_meanwhile(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: What agents see] its change stays; one that never stops is told."""
    path = save(here.home / ".claude/settings.json", '{"a": 1}\n')
    workspace = Workspace(str(here.project))
    workspace.person = Busy(lambda: path.write_text('{"a": 2}\n'))
    workspace.setup("claude", mcp=False)
    assert json.loads(path.read_text())["a"] == 2
    assert "hooks" in json.loads(path.read_text())
    workspace.setup("claude", undo=True, yes=True)
    assert path.read_text() == '{"a": 2}\n'
    from skillc import atomic

    monkeypatch.setattr(
        os, "fsync", lambda _: path.write_text('{"a": 4}\n') if "4" not in path.read_text() else 0
    )
    workspace.setup("claude", yes=True, mcp=False)  # written while ours waits for the disk
    assert json.loads(path.read_text())["a"] == 4
    assert "hooks" in json.loads(path.read_text())
    workspace.setup("claude", undo=True, yes=True)
    assert path.read_text() == '{"a": 4}\n'
    replace = atomic.write

    def interfere(target: str, *arguments: Any, **options: Any) -> None:
        replace(target, *arguments, **options)
        Path(target).write_text('{"a": 3}\n')

    monkeypatch.setattr(atomic, "write", interfere)
    with pytest.raises(SkillcError, match="close the agent"):
        workspace.setup("claude", yes=True, mcp=False)


def test_the_program_on_the_path(here: World) -> None:
    """[SURFACES: What agents see] a link where a login shell finds none; a profile is never written."""
    profile = save(here.home / ".profile", "PATH=/usr/bin\n")
    line = here.json("setup", "cursor", "--yes", env={"SHELL": "/bin/sh"})
    assert "export PATH=" in line["agents"][0]["next"]
    save(profile, 'PATH="$HOME/.local/bin:/usr/bin"\n')
    again = here.json("setup", "cursor", "--yes", env={"SHELL": "/bin/sh"})
    assert again["agents"][0] == {"agent": "cursor", "changes": [], "next": None}
    assert profile.read_text() == 'PATH="$HOME/.local/bin:/usr/bin"\n'
    own = here.home / ".local/bin/skc"
    own.unlink()
    save(own, "mine")
    here.ok("setup", "cursor", "--yes")
    here.ok("setup", "cursor", "--undo", "--yes")
    assert own.read_text() == "mine"
