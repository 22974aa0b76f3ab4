"""`skc list` of a large store: what the library's index knows is not read again, and nothing else differs."""

from __future__ import annotations

import os
import sys

import pytest

from skillc.compiler import status
from skillc.contract import encode
from skillc.install import list_installed
from tests.conftest import SkcRun, World, save

USABLE = "---\nname: x\ndescription: d\n---\n# x\n"
MANY = status.MANY + 20


@pytest.fixture
def many(world: World) -> World:
    for number in range(MANY):
        world.skill(f"plain-{number:03}", USABLE)
    return world


@pytest.fixture
def mixed(many: World) -> World:
    """Every kind of SKILL.md that there is, and what only looks like one."""
    for number, text in enumerate(
        ("", "no frontmatter", "---\nname: x\n---\n", "---\ndescription: ''\n---\n")
    ):
        many.skill(f"bad-{number}", text)
    many.skill("broken-yaml", "---\nname: x\ndescription: use: it\nx: [\n---\n")
    many.skill("not-utf8", b"---\nname: x\ndescription: \xff\n---\n")
    many.skill("large", USABLE + "x" * (1 << 20))
    many.skill("large-and-bad", "x" * (2 << 20))
    for name in ("A B", "a-b", "名前", os.fsdecode(b"\xff"), "a\nb"):
        many.skill(name, USABLE)
    (many.store / "lower").mkdir()
    save(many.store / "lower" / "skill.md", USABLE)
    both = many.skill("both", USABLE)
    save(both / "skill.md", "bad")
    many.skill("nested/inner", USABLE)
    many.skill("outer", USABLE)
    many.skill("outer/inner", USABLE)
    many.skill(".hidden", "bad")
    _links(many)
    return many


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


def as_read(world: World) -> tuple[object, list[str]]:
    """What the list says when it reads everything itself."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(status, "MANY", sys.maxsize)
        return told(world)


def test_the_same_with_and_without_the_index(mixed: World) -> None:
    """[RFC-0007] [D25] cold, warm, and in another process: the same skills, the same words."""
    expected = as_read(mixed)
    assert any("cannot read SKILL.md" in line for line in expected[1])
    assert sum("W005" in line for line in expected[1]) >= 7
    assert told(mixed) == expected
    assert told(mixed) == expected
    printed = mixed.ok("list", "--format", "json")
    assert printed.stderr.splitlines() == expected[1]


def test_changes_are_seen(mixed: World) -> None:
    """[RFC-0007] what was edited, added, removed or closed since the last list is as it is now."""
    told(mixed)
    mixed.skill("plain-000", "bad")
    mixed.skill("bad-0", USABLE)
    mixed.skill("new", USABLE)
    (mixed.store / "plain-001" / "SKILL.md").unlink()
    (mixed.store / "plain-002" / "SKILL.md").unlink()
    (mixed.store / "plain-002" / "SKILL.md").symlink_to("/proc/self/mem")
    (mixed.store / "linked").unlink()
    save(mixed.root / "elsewhere" / "SKILL.md", "bad")
    save(mixed.store / "SKILL.md", USABLE)
    assert told(mixed) == as_read(mixed)
    (mixed.store / "SKILL.md").unlink()
    assert told(mixed) == as_read(mixed)


def listed(world: World, **how: object) -> SkcRun:
    result = world.skc("list", **how)  # type: ignore[arg-type]
    assert (result.returncode, "Traceback" in result.stderr) == (0, False), result.stderr
    return result


@pytest.mark.slow
@pytest.mark.parametrize(
    "env", [{"HOME": ""}, {"SKILLC_HOME": "/proc/nowhere"}, {"SKILLC_HOME": "/dev/null"}]
)
def test_without_a_home_to_keep_it(many: World, env: dict[str, str]) -> None:
    """[RFC-0007] no home, or one that can't be: the list is the same."""
    many.skill("bad", "bad")
    expected = listed(many)
    result = listed(many, env=env)
    assert (result.stdout, result.stderr) == (expected.stdout, expected.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("known", [False, True])
def test_read_only_home(many: World, unprivileged: tuple[str, ...], known: bool) -> None:
    """[RFC-0007] a home that can't be written, with an index from before or without one."""
    many.skill("bad", "bad")
    expected = listed(many) if known else listed(many, env={"HOME": ""})
    directories = [many.home, *(path for path in many.home.rglob("*") if path.is_dir())]
    for path in directories:
        path.chmod(0o555)
    try:
        result = listed(many, prefix=unprivileged)
        many.skill("plain-000", "bad, too")
        changed = listed(many, prefix=unprivileged)
    finally:
        for path in directories:
            path.chmod(0o755)
    assert (result.stdout, result.stderr) == (expected.stdout, expected.stderr)
    assert len(changed.stderr.splitlines()) == 2


@pytest.mark.slow
def test_unreadable_files(many: World, unprivileged: tuple[str, ...]) -> None:
    """[RFC-0007] a SKILL.md that was closed since it was known is skipped, with the system's words."""
    expected = listed(many, prefix=unprivileged)
    closed = many.store / "plain-007" / "SKILL.md"
    closed.chmod(0)
    result = listed(many, prefix=unprivileged)
    (line,) = result.stderr.splitlines()
    assert line.endswith("plain-007: skipped: cannot read SKILL.md: Permission denied (E999)")
    closed.chmod(0o644)
    assert listed(many, prefix=unprivileged).stdout == expected.stdout


def test_a_warm_start_parses_nothing(many: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[RFC-0007] [D12] what is known is not read again, also of what can't be used."""
    many.skill("bad", "---\nname: x\n---\n")
    expected = told(many)
    monkeypatch.setattr(status, "parse", None)
    monkeypatch.setattr("skillc.index.skills.batch.parse", None)
    assert told(many) == expected
    save(many.store / "plain-000" / "SKILL.md", USABLE + "more")
    with pytest.raises(TypeError):  # one that changed is
        told(many)


def test_small_stores_are_not_kept(world: World) -> None:
    """[RFC-0007] few skills are read as they are, without the index of skills."""
    for number in range(status.MANY):
        world.skill(f"plain-{number:03}", USABLE)
    listed(world)
    assert not (world.home / ".skillc" / "cache" / "library.db").exists()
    world.skill("one-more", USABLE)
    listed(world)
    assert (world.home / ".skillc" / "cache" / "library.db").is_file()


def test_each_store_by_its_own_size(many: World) -> None:
    """[RFC-0007] a small store beside a large one: order and scopes stay."""
    many.skill("aaa", USABLE, store=many.global_store)
    many.skill("bad", "bad", store=many.global_store)
    listing = list_installed(str(many.project))
    assert [entry.skill.scope for entry in listing.skills] == ["project"] * MANY + ["global"]
    assert [each.path.rpartition("/")[2] for each in listing.diagnostics] == ["bad"]


def test_time_out_of_a_large_store(many: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[RFC-0007] [D27] a store that can't be read in time is listed in part, and the next call goes on."""
    with monkeypatch.context() as patch:
        patch.setattr(status, "TIME_OUT", -1.0)
        counts = []
        for _ in range(3):
            listing = list_installed(str(many.project))
            counts.append(listing.total)
            assert [diagnostic.code for diagnostic in listing.diagnostics] == ["W203"]
            assert str(many.store) in listing.diagnostics[0].message
    assert 0 < counts[0] < counts[1] < counts[2] < MANY
    listing = list_installed(str(many.project))
    assert (listing.total, listing.diagnostics) == (MANY, [])
