"""`skc listing fit`, `set` and `reset`: what is listed, why, and that all of it can be taken back."""

from __future__ import annotations

import json
import os

import pytest

from skillc.listing import CHARACTERS
from skillc.listing.more_skills import MAX_DESCRIPTION, describe
from skillc.skills.document import parse
from tests.conftest import World
from tests.listing.states import TEXT, fit, install, put, put_program, shown, snapshot
from tests.support.cases import each
from tests.support.terminal import on_terminal


def test_fit(world: World) -> None:
    """[SURFACES: What agents see] [D75] what is listed is whole; two runs are one; reset undoes it."""
    install(world, 60)
    put(world.home / ".claude" / "skills", "foreign", "x" * 400)
    before = snapshot(world.home / ".claude" / "skills")
    preview = fit(world, "--dry-run")["claude"]
    assert snapshot(world.home / ".claude" / "skills") == before
    world.fails("E100", "listing", "fit", cwd=world.home)
    assert fit(world, "--yes")["claude"] == preview
    assert (preview["budget"], len(preview["listed"] + preview["on_demand"])) == (8_000, 60)
    assert preview["used"] <= preview["budget"]
    assert preview["on_demand"], "there is no room for all"
    seen = shown(world)
    whole = {name for name, state in seen.items() if state == "whole"}
    assert whole == {*preview["listed"], "foreign", "more-skills"}
    assert {name for name, state in seen.items() if state == "on-demand"} == {*preview["on_demand"]}
    assert "0 changes made" in world.ok("listing", "fit", "--yes", cwd=world.home).stdout
    hidden = preview["on_demand"][0]
    assert "Text." in world.ok("show", hidden, "--section", "Usage", cwd=world.home).stdout
    world.ok("listing", "reset", cwd=world.home)
    assert snapshot(world.home / ".claude" / "skills") == before


def test_order(world: World) -> None:
    """[SURFACES: What agents see] [D75] first always, then used, then the shortest."""
    names = install(world, 40)
    world.skill("long", TEXT.format("long", "x" * 900, ""), store=world.global_store)
    world.skill("endless", TEXT.format("endless", "x" * 1700, ""), store=world.global_store)
    world.skill("own", TEXT.format("own", "y", "disable-model-invocation: true\n"), store=world.global_store)
    world.ok("build", "--all", "--target", "claude", cwd=world.home)
    world.process("show", names[-1], "--section", "Usage", cwd=world.home)
    world.ok("listing", "set", "long", "always", cwd=world.home)
    world.ok("listing", "set", names[0], "demand", cwd=world.home)
    assert shown(world)[names[0]] == "on-demand"
    (claude,) = fit(world, "--yes").values()
    assert claude["listed"][:2] == ["long", names[-1]]
    assert {"endless", names[0]} <= {*claude["on_demand"]}
    seen = shown(world)
    assert seen["long"] == seen[names[-1]] == "whole"
    assert seen["endless"] == seen["own"] == "on-demand"
    text = world.ok("listing", "fit", "--dry-run", cwd=world.home).stdout
    for reason in (
        "long (always, as you chose)",
        f"{names[-1]} (used)",
        "endless (its description is too long",
    ):
        assert reason in text
    choices = {
        each["id"]: each["choice"]
        for each in world.json("listing", "--agent", "claude", cwd=world.home)["agents"][0]["skills"]
    }
    assert (choices["long"], choices[names[0]], choices["endless"]) == ("always", "demand", "auto")
    world.ok("listing", "set", names[0], "auto", cwd=world.home)
    assert shown(world)[names[0]] == "whole"


def test_agents_share_a_folder(world: World) -> None:
    """[D75] a folder that several agents read has one state, and the listing of each fits."""
    (world.home / ".agents" / "skills").mkdir(parents=True)
    names = install(world, 45, "codex", "copilot", length=720)
    world.ok("build", "--all", "--target", str(world.home / ".agents" / "skills"), cwd=world.home)
    result = fit(world, "--yes", "--agent", "codex,copilot")
    for agent in ("codex", "github-copilot"):
        seen = shown(world, agent)
        assert set(seen.values()) == {"whole", "on-demand"}
        assert {name for name, state in seen.items() if state == "whole"} >= {*result[agent]["listed"]}
    shared = world.home / ".agents" / "skills" / names[0]
    assert shared.is_dir(), "both have a way to a skill on demand"
    (world.home / ".gemini").mkdir()
    world.ok("listing", "set", names[0], "demand", cwd=world.home)
    assert not shared.exists(), "Gemini CLI has none but its absence"


def test_an_agent_without_a_budget(world: World) -> None:
    """[D75] OpenCode and Gemini CLI list all: they get 2% of the window, or what the user says."""
    install(world, 60, "gemini", length=400)
    (gemini,) = fit(world, "--yes", "--agent", "gemini").values()
    assert (gemini["budget"], gemini["used"] <= 16_000) == (16_000, True)
    folder = world.home / ".gemini" / "skills"
    assert {each.name for each in folder.iterdir()} == {*gemini["listed"], "more-skills"}
    assert set(shown(world, "gemini").values()) == {"whole", "on-demand"}
    (world.home / ".skillc" / "config.toml").write_text("[listing]\nbudget = 2000\n")
    assert fit(world, "--yes", "--agent", "gemini")["gemini-cli"]["budget"] == 2000 * CHARACTERS
    (less,) = fit(world, "--yes", "--agent", "gemini", "--budget", "1000").values()
    assert (less["budget"], fit(world, "--dry-run")["gemini-cli"]["budget"]) == (4_000, 4_000)
    world.ok("build", "--all", cwd=world.home)
    assert {each.name for each in folder.iterdir()} == {*less["listed"], "more-skills"}
    world.ok("listing", "reset", cwd=world.home)
    assert len([*folder.iterdir()]) == 60


def test_more_skills(world: World) -> None:
    """[D75] one skill leads to the others, is kept current, and leaves a skill of the user alone."""
    names = install(world, 3)
    folder = world.home / ".claude" / "skills"
    world.ok("listing", "set", names[0], "demand", cwd=world.home)
    front = parse((folder / "more-skills" / "SKILL.md").read_bytes()).frontmatter
    assert front is not None
    assert "1 skill on this computer" in front.fields["description"]
    assert names[0] in front.fields["description"]
    world.ok("listing", "set", names[1], "demand", cwd=world.home)
    assert "2 skills" in (folder / "more-skills" / "SKILL.md").read_text()
    assert "more-skills" not in world.ok("list", cwd=world.home).stdout
    run = world.ok("import", "--from", "claude", "--yes", cwd=world.home)
    assert (folder / "more-skills").is_symlink(), run.stdout
    checks = json.loads(world.skc("doctor", "--format", "json", cwd=world.home).stdout)["checks"]
    assert {each["name"] for each in checks if each["status"] != "ok"} <= {"path"}
    world.ok("remove", names[1], cwd=world.home)
    assert "1 skill on" in (folder / "more-skills" / "SKILL.md").read_text()
    world.ok("listing", "reset", cwd=world.home)
    assert not (folder / "more-skills").is_symlink()
    put(folder, "more-skills", "The user's own")
    world.ok("listing", "set", names[0], "demand", cwd=world.home)
    assert "The user's own" in (folder / "more-skills" / "SKILL.md").read_text()
    assert "1 skill on" in (folder / "skc-more-skills" / "SKILL.md").read_text()


@each("count", [1, 13, 400])
def test_its_description(count: int) -> None:
    """[D75] it is under 500 characters however many skills there are, and names topics of theirs."""
    names = [
        f"{('azure', 'kubernetes', 'spark')[number % 3]}-{'x' * (number % 7)}{number}"
        for number in range(count)
    ]
    text = describe(names)
    assert len(text) <= MAX_DESCRIPTION < 500
    assert "azure" in text


def test_it_is_kept(world: World) -> None:
    """[D76] `fit = true` in the home's file keeps listings fitted; in a project's it does not count."""
    install(world, 5)
    (world.home / ".skillc" / "config.toml").write_text("[listing]\nfit = true\n")
    new = world.skill("new", TEXT.format("new", "n" * 3000, ""), store=world.global_store)
    run = world.ok("build", "new", "--target", "claude", cwd=world.home)
    assert "warning[W103]" in run.stderr
    assert shown(world)["new"] == "on-demand"
    (world.home / ".skillc" / "config.toml").unlink()
    (world.project / ".skillc" / "config.toml").write_text("[listing]\nfit = true\n")
    save = (new / "SKILL.md").read_text().replace("nnn", "n")
    (new / "SKILL.md").write_text(save)
    assert "W103" not in world.ok("build", "new").stderr


def test_commands_take_room(world: World) -> None:
    """[D75] what is listed is whole beside custom commands, which skc leaves as they are."""
    install(world, 60)
    commands = world.home / ".claude" / "commands"
    commands.mkdir()
    for number in range(20):
        (commands / f"c{number}.md").write_text("A command that does what it says\n")
    (claude,) = fit(world, "--yes").values()
    assert claude["used"] <= claude["budget"]
    assert 8 < len(claude["listed"]) < 16
    assert set(shown(world).values()) == {"whole", "on-demand"}
    assert (commands / "c1.md").read_text() == "A command that does what it says\n"


def test_a_choice_that_overflows_is_told(world: World) -> None:
    """[D75] [SURFACES: What agents see] `build`, as `add` and `import`, names the command; so does doctor.

    `set` says that a description is cut now, or has the others fitted where that is wanted.
    """
    names = install(world, 60)
    run = world.ok("build", names[0], cwd=world.home)
    assert "warning[W102]: Claude Code shows 16 of 60" in run.stderr
    assert "skc listing fit" in world.skc("doctor", cwd=world.home).stdout
    hidden = fit(world, "--yes")["claude"]["on_demand"]
    assert "W102" not in world.ok("build", names[0], cwd=world.home).stderr
    run = world.ok("listing", "set", hidden[0], "always", cwd=world.home)
    assert "warning[W102]" in run.stderr
    (world.home / ".skillc" / "config.toml").write_text("[listing]\nfit = true\n")
    assert "W102" not in world.ok("listing", "set", hidden[1], "always", cwd=world.home).stderr
    assert set(shown(world).values()) == {"whole", "on-demand"}
    assert shown(world)[hidden[0]] == shown(world)[hidden[1]] == "whole"
    assert "fitted again" in world.ok("listing", "reset", cwd=world.home).stdout


def test_a_project(world: World) -> None:
    """[D76] the project's folders are fitted with --project alone, and keep their state in a clone."""
    (world.home / ".claude").mkdir()
    for number in range(40):
        name = f"s{number:03d}"
        world.skill(name, TEXT.format(name, name * 50, ""))
    world.ok("build", "--all", "--target", "claude", "--deploy", "project", "--copy")
    folder = world.project / ".claude" / "skills"
    before = snapshot(folder)
    world.ok("listing", "fit", "--yes")
    assert snapshot(folder) == before
    run = world.ok("listing", "fit", "--yes", "--project", "--agent", "claude", "--format", "json")
    (claude,) = json.loads(run.stdout)["agents"]
    hidden = claude["on_demand"][0]
    assert (folder / "more-skills").is_dir()
    assert not (folder / "more-skills").is_symlink()
    assert "disable-model-invocation: true" in (folder / hidden / "SKILL.md").read_text()
    (world.home / ".skillc" / "deployments.json").unlink()  # as in a clone
    world.ok("build", hidden, "--target", "claude", "--deploy", "project", "--copy")
    assert "disable-model-invocation: true" in (folder / hidden / "SKILL.md").read_text()


def test_the_question(world: World) -> None:
    """[SURFACES: What agents see] the choice is shown with its reasons, and asked for."""
    install(world, 60)
    status, _, screen = on_terminal(world, "n\n", "listing", "fit")
    assert (status, "no room" in screen) == (1, True)
    assert "on-demand" not in shown(world).values()
    assert on_terminal(world, "y\n", "listing", "fit")[0] == 0
    assert "on-demand" in shown(world).values()


def test_a_newer_agent_is_left_alone(world: World) -> None:
    """[SURFACES: What agents see] nothing is fitted without a question by the rule of an older version."""
    install(world, 60)
    program = put_program(world, "9.0.0")
    world.env["PATH"] = f"{program.parent}:{world.env['PATH']}"
    (world.home / ".skillc" / "config.toml").write_text("[listing]\nfit = true\n")
    run = world.ok("build", "s000", cwd=world.home)
    assert "warning[W100]" in run.stderr
    assert "on-demand" not in shown(world).values()
    fit(world, "--yes")
    assert "on-demand" in shown(world).values()
    run = world.ok("listing", "fit", "--agent", "cursor", "--yes", cwd=world.home)
    assert "warning[W101]" in run.stderr


def test_a_folder_that_can_not_be_written(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: What agents see] it is one line, and what was not done is not counted as done."""
    install(world, 60)
    folder = world.home / ".claude" / "skills"
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != str(folder) and access(path, mode))
    run = world.skc("listing", "fit", "--yes", cwd=world.home)
    assert (run.returncode, run.stderr.count("error[")) == (1, 1)
    assert f"can't write '{folder}'" in run.stderr
    assert "0 changes made" in run.stdout
    assert "on-demand" not in shown(world).values()
    assert not (folder / "more-skills").is_symlink()
