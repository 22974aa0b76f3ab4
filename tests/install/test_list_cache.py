"""`skc list` again: what did not change is not read again, and nothing else differs."""

from __future__ import annotations

import os

import pytest

from skillc.contract import encode
from skillc.install import installed, list_installed, state
from tests.conftest import World, save
from tests.support.cases import each

USABLE = "---\nname: x\ndescription: d\n---\n# x\n"


@pytest.fixture(autouse=True)
def quick_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let files that changed just now have stamps; each change here is one of size or kind."""
    monkeypatch.setattr(state, "RECENT", -1)


@pytest.fixture
def mixed(world: World) -> World:
    """Every kind of SKILL.md that there is, and what only looks like one."""
    for number in range(3):
        world.skill(f"plain-{number}", USABLE)
    for number, text in enumerate(
        ("", "no frontmatter", "---\nname: x\n---\n", "---\ndescription: ''\n---\n")
    ):
        world.skill(f"bad-{number}", text)
    world.skill("broken-yaml", "---\nname: x\ndescription: use: it\nx: [\n---\n")
    world.skill("not-utf8", b"---\nname: x\ndescription: \xff\n---\n")
    world.skill("large", USABLE + "x" * (1 << 20))
    world.skill("large-and-bad", "x" * (2 << 20))
    for name in ("A B", "a-b", "名前", os.fsdecode(b"\xff"), "a\nb"):
        world.skill(name, USABLE)
    (world.store / "lower").mkdir()
    save(world.store / "lower" / "skill.md", USABLE)
    both = world.skill("both", USABLE)
    save(both / "skill.md", "bad")
    world.skill("nested/inner", USABLE)
    world.skill("outer", USABLE)
    world.skill("outer/inner", USABLE)
    world.skill(".hidden", "bad")
    _links(world)
    return world


def _links(world: World) -> None:
    elsewhere = world.skill("elsewhere", USABLE, store=world.root)
    (world.store / "linked").symlink_to(elsewhere)
    (world.store / "linked-again").symlink_to(elsewhere)
    (world.store / "linked-bad").symlink_to(world.skill("bad", "bad", store=world.root))
    (world.store / "dangling").symlink_to(world.root / "nowhere")
    (world.store / "itself").symlink_to("itself")
    (world.store / "above").symlink_to(world.store)
    (world.store / "file").mkdir()
    (world.store / "file" / "SKILL.md").symlink_to(elsewhere / "SKILL.md")
    (world.store / "memory").mkdir()
    (world.store / "memory" / "SKILL.md").symlink_to("/proc/self/mem")
    (world.store / "pipe").mkdir()
    os.mkfifo(world.store / "pipe" / "SKILL.md")


def told(world: World) -> tuple[object, list[str]]:
    listing = list_installed(str(world.project))
    return encode(listing), [diagnostic.line() for diagnostic in listing.diagnostics]


def forget(world: World) -> None:
    for file in (world.home / ".skillc/cache/list").iterdir():
        file.unlink()


def test_cold_and_warm(mixed: World) -> None:
    """[RFC-0007] [D25] cold, warm, after changes, and as printed: the same skills, the same words."""
    expected = told(mixed)
    assert any("cannot read SKILL.md" in line for line in expected[1])
    assert sum("W005" in line for line in expected[1]) >= 7
    assert told(mixed) == expected
    assert mixed.ok("list", "--format", "json").stderr.splitlines() == expected[1]
    mixed.skill("plain-0", "bad")
    mixed.skill("bad-0", USABLE)
    mixed.skill("new", USABLE)
    (mixed.store / "plain-1" / "SKILL.md").unlink()
    (mixed.store / "plain-2" / "SKILL.md").unlink()
    (mixed.store / "plain-2" / "SKILL.md").symlink_to("/proc/self/mem")
    (mixed.store / "linked").unlink()
    save(mixed.root / "elsewhere" / "SKILL.md", "bad")
    save(mixed.store / "SKILL.md", USABLE)
    warm = told(mixed)
    assert warm != expected
    forget(mixed)
    assert told(mixed) == warm


def test_a_warm_start_parses_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[RFC-0007] [D12] what is known is not read again, also of what can't be used."""
    world.skill("good", USABLE)
    world.skill("bad", "---\nname: x\n---\n")
    expected = told(world)
    monkeypatch.setattr(installed, "_read_main", None)
    assert told(world) == expected
    save(world.store / "good" / "SKILL.md", USABLE + "more")
    with pytest.raises(TypeError):  # one that changed is
        told(world)


@pytest.mark.slow
def test_homes_that_keep_nothing(world: World, unprivileged: tuple[str, ...]) -> None:
    """[RFC-0007] no home, one that can't be, or one that can't be written: the list is the same."""
    world.skill("good", USABLE)
    world.skill("bad", "bad")
    expected = world.ok("list", env={"HOME": ""})
    for env in ({"SKILLC_HOME": "/proc/nowhere"}, {"SKILLC_HOME": "/dev/null"}):
        result = world.ok("list", env=env)
        assert (result.stdout, result.stderr) == (expected.stdout, expected.stderr)
    directories = [world.home, *(path for path in world.home.rglob("*") if path.is_dir())]
    for path in directories:
        path.chmod(0o555)
    try:
        result = world.skc("list", prefix=unprivileged)
        world.skill("good", "bad, too")
        changed = world.skc("list", prefix=unprivileged)
    finally:
        for path in directories:
            path.chmod(0o755)
    assert (result.stdout, result.stderr) == (expected.stdout, expected.stderr)
    assert len(changed.stderr.splitlines()) == 2


@pytest.mark.slow
def test_unreadable_files(world: World, unprivileged: tuple[str, ...]) -> None:
    """[RFC-0007] a SKILL.md that was closed since it was known is skipped, with the system's words."""
    closed = world.skill("good", USABLE) / "SKILL.md"
    expected = world.skc("list", prefix=unprivileged)
    closed.chmod(0)
    (line,) = world.skc("list", prefix=unprivileged).stderr.splitlines()
    assert line.endswith("good: skipped: cannot read SKILL.md: Permission denied (E999)")
    closed.chmod(0o644)
    assert world.skc("list", prefix=unprivileged).stdout == expected.stdout


@each("words", [("list",), ("build", "--all"), ("find", "testing"), ("lint", "--all")])
def test_a_folder_that_can_not_be_read(
    world: World, unprivileged: tuple[str, ...], words: tuple[str, ...]
) -> None:
    """[D25] [RFC-0007] a closed folder of a store is named, with the system's words; others are served."""
    world.skill("good", USABLE)
    closed = world.skill("closed", USABLE)
    closed.chmod(0)
    try:
        result = world.skc(*words, prefix=unprivileged)
        shown = world.skc("show", "closed", "--section", "x", prefix=unprivileged)
    finally:
        closed.chmod(0o755)
    (line,) = [line for line in result.stderr.splitlines() if "Permission denied" in line]
    assert str(closed) in line
    assert "missing SKILL.md" not in shown.stderr
    assert f"error[E010]: not a valid skill: '{closed}' (Permission denied)\n" == shown.stderr


def test_several_stores(world: World) -> None:
    """[RFC-0007] order and scopes where the home has skills, too."""
    world.skill("b", USABLE)
    world.skill("aaa", USABLE, store=world.global_store)
    world.skill("bad", "bad", store=world.global_store)
    listing = list_installed(str(world.project))
    assert [entry.skill.scope for entry in listing.skills] == ["project", "global"]
    assert [each.path.rpartition("/")[2] for each in listing.diagnostics] == ["bad"]
