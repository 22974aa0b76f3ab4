"""How long listings may be: agents' own settings, raised by `skc listing fit --budget` and put back."""

from __future__ import annotations

import json
from pathlib import Path

from skillc.shared_files import read_file
from tests.conftest import World
from tests.listing.states import fit, install, listing, shown
from tests.support.cases import each

KEY = "skillListingBudgetFraction"
TEXTS = (
    None,
    "",
    "{}\n",
    '\ufeff{ "hooks":{},\n\n"a":1.0 }  ',
    '{\r\n\t"model": "x",\r\n\t"env": {"A": "1"}\r\n}',
    f'{{"a": 1, "{KEY}": 1.5e-2}}\n',
)


def budget(world: World, **env: str) -> int:
    (claude,) = listing(world, "--agent", "claude", env=env)["agents"]
    size: int = claude["budget"]
    return size


def settings(world: World) -> Path:
    (world.home / ".claude").mkdir(exist_ok=True)
    return world.home / ".claude" / "settings.json"


@each(
    ("text", "size"),
    [
        ("{}", 8_000),
        ('{"%s": 0.02}', 16_000),
        ('\ufeff{"%s": 5e-2}', 40_000),
        ('{"%s": 1}', 800_000),
        ('{"%s": 1.5}', 8_000),
        ('{"%s": 0}', 8_000),
        ('{"%s": "0.05"}', 8_000),
        ('{"%s": true}', 8_000),
        ('{"%s": 0.05,}', 8_000),
        ('{"%s": 0.05 // not read by it\n}', 8_000),
        ("[", 8_000),
    ],
)
def test_what_settings_say(world: World, text: str, size: int) -> None:
    """[SURFACES: What agents see] as measured with the real program."""
    settings(world).write_text(text.replace("%s", KEY))
    assert budget(world) == size
    assert budget(world, SLASH_COMMAND_TOOL_CHAR_BUDGET="20000") == 20_000
    moved = world.root / "moved"
    moved.mkdir(exist_ok=True)
    (moved / "settings.json").write_text(f'{{"{KEY}": 0.03}}')
    assert budget(world, CLAUDE_CONFIG_DIR=str(moved)) == 24_000


def test_a_project_comes_first(world: World) -> None:
    """[SURFACES: What agents see] its settings count before the user's, those of this machine before both."""
    settings(world).write_text(f'{{"{KEY}": 0.02}}')
    folder = world.project / ".claude"
    folder.mkdir()
    for name, share, size in (("settings.json", 0.03, 24_000), ("settings.local.json", 0.04, 32_000)):
        (folder / name).write_text(json.dumps({KEY: share}))
        (claude,) = listing(world, "--agent", "claude")["agents"]
        assert claude["budget"] == size


def test_raised_and_put_back(world: World) -> None:
    """[SURFACES: What agents see] `fit --budget` shows and sets it, and reset gives back every byte.

    A damaged file is refused before anything is changed.
    """
    install(world, 30, length=400)
    path = settings(world)
    for text in TEXTS:
        path.unlink(missing_ok=True) if text is None else path.write_bytes(text.encode())
        run = world.ok("listing", "fit", "--budget", "6000", "--dry-run", cwd=world.home)
        assert f"'{KEY}' in ~/.claude/settings.json becomes 0.03" in run.stdout
        assert read_file(str(path)) == text
        result = fit(world, "--budget", "6000", "--yes")["claude"]
        assert (result["budget"], budget(world)) == (24_000, 24_000)
        assert not result["on_demand"]
        assert "0 changes" in world.ok("listing", "fit", "--budget", "6000", "--yes", cwd=world.home).stdout
        assert fit(world, "--budget", "5000", "--yes")["claude"]["budget"] == 20_000
        world.ok("listing", "reset", cwd=world.home)
        assert read_file(str(path)) == text
    for text in ("[]", "{", f'{{"{KEY}": 0.02, "{KEY}": 0.02}}', "\x00", '{"a": }'):
        path.write_text(text)
        before = shown(world)
        run = world.fails("E999", "listing", "fit", "--budget", "6000", "--yes", cwd=world.home)
        assert "settings.json" in run.stderr
        assert (path.read_text(), shown(world)) == (text, before)


def test_less_than_the_agent_has(world: World) -> None:
    """[SURFACES: What agents see] a smaller budget is kept to, and changes no file of the agent's.

    [D76] other entries stay as they are, and a number that the user changed is the user's.
    """
    install(world, 60)
    path = settings(world)
    path.write_text(f'{{"{KEY}": 0.04}}')
    assert fit(world, "--budget", "3000", "--yes")["claude"]["budget"] == 12_000
    assert budget(world) == 32_000
    fit(world, "--budget", "9000", "--yes")
    assert budget(world) == 36_000
    assert "put back" in world.ok("listing", "fit", "--budget", "1000", "--yes", cwd=world.home).stdout
    assert path.read_text() == f'{{"{KEY}": 0.04}}'
    path.write_text('{\n  "model": "x"\n}\n')
    fit(world, "--budget", "6000", "--yes")
    path.write_text(path.read_text().replace('"x"', '"y"'))
    world.ok("listing", "reset", cwd=world.home)
    assert path.read_text() == '{\n  "model": "y"\n}\n'
    fit(world, "--budget", "6000", "--yes")
    path.write_text(f'{{"{KEY}": 0.07}}')
    world.ok("listing", "reset", cwd=world.home)
    assert path.read_text() == f'{{"{KEY}": 0.07}}'


def test_the_cost_is_told(world: World) -> None:
    """[SURFACES: What agents see] `skc listing` says what all of it would cost, and that is enough."""
    install(world, 60)
    text = world.ok("listing", "--agent", "claude", cwd=world.home).stdout
    tokens = text.partition("--budget ")[2].partition("'")[0]
    assert f"{int(tokens):,} tokens of every conversation" in text
    assert not fit(world, "--budget", tokens, "--yes")["claude"]["on_demand"]
    assert set(shown(world).values()) == {"whole"}
