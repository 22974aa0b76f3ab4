"""Runs of scripted agents: outcomes, arms, what a run sees, and what is kept of it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from skillc import atomic
from skillc.errors import InvalidOption
from skillc.evals.agents import find_runners, read_runners
from skillc.evals.credentials import blot, credentials_of, find_secrets
from skillc.evals.places import find_workspace
from skillc.skills.cases import Case
from tests.conftest import World
from tests.evals.scripted import NAME, report_of, scripted, workspace_of
from tests.support.axe import VIEWS, find_barriers
from tests.support.browser import running_browser, why_not
from tests.support.cases import each
from tests.support.forks import start_skc
from tests.support.git import GIT_ENV

pytestmark = pytest.mark.slow


def trigger(prompt: str, should: bool = True) -> dict[str, Any]:
    return {"id": prompt.lower(), "query": prompt, "should_trigger": should}


FAILURES = {
    "SLASH": "offered but not chosen",  # a slash command stands in for the skill
    "FIRE SLOWLY": "fired",  # another tool came first
    "OTHER": "offered but not chosen",  # its name is found inside another one
    "DENY": "denied",  # a tool that needs a question, without a terminal
    "BROKEN": "error",
    "CRASH": "error",
    "NODE": "error",
    "OVERLOADED": "error",
    "SLEEP": "time-out",
}


def test_outcomes(world: World) -> None:
    """[SURFACES: Evals] each of the reasons for which other tools measure nothing has its own outcome."""
    with scripted(world, [trigger(prompt) for prompt in FAILURES]) as words:
        skill = report_of(world, words, "--runs", "1", "--timeout", "2", "--jobs", "4")
        # Programs of others would count a run without a judged expectation, or the canary, as failed.
        folder = Path(skill["folder"])
        assert not [*folder.rglob("grading.json"), *folder.glob("canary")]
        assert json.loads((folder / "benchmark.json").read_text())["runs"] == []
    [report] = skill["agents"]
    outcomes = {case["case"]: list(case["arms"]["with"]) for case in skill["cases"]}
    assert outcomes == {prompt.lower(): [outcome] for prompt, outcome in FAILURES.items()}
    # Only what was measured counts: one of three.
    assert (report["triggers"]["recall"], report["triggers"]["cases"]) == (0.3333, 3)
    problems = {case["case"]: case["problems"] for case in skill["cases"]}
    assert problems["crash"] == ["it ended with status 3: out of luck"]
    assert problems["node"] == ["it ended with status 1: Error: no module 'x'"]
    assert problems["overloaded"] == ["API Error: overloaded"]
    assert problems["broken"] == ["the skill could not be loaded: no such file"]


def test_precision_and_majority(world: World) -> None:
    """[SURFACES: Evals] a case that should not fire and does costs precision; the unit is the case; a score
    below the threshold is status 1.
    """
    cases = [trigger("FIRE one"), trigger("FIRE two", False), trigger("quiet", False), trigger("quiet too")]
    with scripted(world, cases) as words:
        [report] = report_of(world, words, "--runs", "3", "--threshold", "50")["agents"]
        assert world.skc(*words, "--runs", "3", "--threshold", "60%").returncode == 1
    assert (report["triggers"]["recall"], report["triggers"]["precision"]) == (0.5, 0.5)
    assert report["arms"]["with"]["runs"] == 12
    assert report["verdict"] is None


def test_each_run_has_its_own_place(world: World) -> None:
    """[SURFACES: Evals] runs share no folder, see no cases, no home and no variables but credentials."""
    (world.home / "CLAUDE.md").write_text("Leak.")
    world.env["MY_SETTING"] = "leaks"
    other = world.home / ".claude" / "skills"
    world.skill(NAME, "---\nname: pdf-forms\ndescription: Another one.\n---\n", store=other)
    world.skill("rival", store=other)
    cases = [{"id": "task", "prompt": "SHARE LOOK", "must_contain": ["env"]}]
    with scripted(world, cases) as words:
        skill = report_of(world, words, "--runs", "3", "--jobs", "3")
        runs = sorted(Path(skill["folder"]).glob("eval-task/*/run-*"))
        answers = [json.loads((run / "outputs" / "answer.md").read_text()) for run in runs]
    assert len(answers) == 6
    for run, answer in zip(runs, answers, strict=True):
        assert answer["key"] == "[secret]"
        assert answer["evals"] == []
        assert "MY_SETTING" not in answer["env"]
        assert ("Fills in forms." in answer["text"]) == (run.parent.name == "with_skill")
        if skill["agents"][0]["home_hidden"]:
            assert not answer["home"]


def test_links_that_lead_out(world: World) -> None:
    """[SURFACES: Evals] [D2] what links of a skill lead to outside of it is not put before an agent."""
    (world.home / "secret").write_text("secret")
    cases = [{"id": "t", "prompt": "TASK LINKS", "files": ["evals/files"], "must_contain": ["GOOD"]}]
    with scripted(world, cases) as words:
        folder = world.store / NAME / "evals" / "files"
        folder.mkdir()
        (folder / "a.txt").write_text("text")
        (folder / "leak").symlink_to(world.home / "secret")
        skill = report_of(world, words, "--runs", "1", "--arms", "with", "--raw")
        run = Path(skill["folder"]) / "eval-t" / "with_skill" / "run-1" / "outputs"
        assert {path.name for path in run.rglob("*") if path.is_file()} == {"answer.md", "a.txt", "out.json"}
        outside = [{"id": "o", "prompt": "TASK", "files": ["../../../home/secret"], "must_contain": ["GOOD"]}]
        (world.store / NAME / "evals" / "evals.json").write_text(json.dumps(outside))
        [case] = report_of(world, words, "--runs", "1", "--arms", "with", "--raw", status=2)["cases"]
        assert "escapes" in case["problems"][0]


def test_a_program_at_the_top_of_the_home(world: World) -> None:
    """[SURFACES: Evals] the home stays hidden from an agent whose program lies in it."""
    (world.home / "secret").write_text("secret")
    with scripted(world, [{"id": "t", "prompt": "LOOK", "must_contain": ["env"]}]) as words:
        (world.root / "programs" / "claude").rename(world.home / "claude")
        (world.root / "programs" / "claude").symlink_to(world.home / "claude")
        skill = report_of(world, words, "--runs", "1", "--arms", "with")
        run = Path(skill["folder"]) / "eval-t" / "with_skill" / "run-1"
        answer = json.loads((run / "outputs" / "answer.md").read_text())
    if skill["agents"][0]["home_hidden"]:
        assert "secret" not in (answer["home"] or [])


def test_a_program_below_a_link(world: World) -> None:
    """[SURFACES: Evals] a program of npm finds its other packages, also where a folder above is a link."""
    with scripted(world, [trigger("FIRE")]) as words:
        packages = world.root / "npm" / "node_modules"
        (packages / ".bin").mkdir(parents=True)
        (packages / "agent").mkdir()
        (packages / "engine").mkdir()
        (world.root / "programs" / "claude").rename(packages / "engine" / "claude")
        starter = packages / "agent" / "claude"
        starter.write_text('#!/bin/sh\nexec "$(dirname "$(readlink -f "$0")")/../engine/claude" "$@"\n')
        starter.chmod(0o755)
        (packages / ".bin" / "claude").symlink_to("../agent/claude")
        (world.root / "linked").symlink_to(world.root / "npm")
        world.env["PATH"] = f"{world.root / 'linked' / 'node_modules' / '.bin'}:{os.environ['PATH']}"
        [report] = report_of(world, words, "--runs", "1")["agents"]
    assert report["arms"]["with"]["outcomes"] == {"fired": 1}


@each("prompt", ["MOVE", "FOLDER"])
def test_an_agent_that_plants_links(prompt: str, world: World) -> None:
    """[SURFACES: Evals] what it links in place of its folders is neither kept nor removed."""
    (world.home / "auth.json").write_text("of the user")
    credentials = world.root / "auth.json"
    credentials.write_text("of the run")
    with scripted(world, [{"id": "t", "prompt": prompt, "must_contain": ["x"]}]) as words:
        more = ("--runs", "1", "--arms", "with", "--credentials", str(credentials))
        skill = report_of(world, words, *more, status=2)
        outputs = Path(skill["folder"]) / "eval-t" / "with_skill" / "run-1" / "outputs"
        assert [path.name for path in outputs.iterdir()] == ["answer.md"]
    assert "put a link in place" in skill["cases"][0]["problems"][0]
    assert (world.home / "auth.json").read_text() == "of the user"


def test_traps_for_skc(world: World) -> None:
    """[SURFACES: Evals] code and settings that an agent leaves for skc run in the sandbox at most."""
    with scripted(world, [{"id": "t", "prompt": "TRAP", "must_contain": ["Done"]}]) as words:
        [report] = report_of(world, words, "--runs", "1", "--arms", "with")["agents"]
    assert report["arms"]["with"]["runs"] == 1
    if report["home_hidden"]:
        assert not (world.home / "harm").exists()


def test_what_an_agent_leaves(world: World) -> None:
    """[SURFACES: Evals] pipes hold nothing up, closed folders go away, and no file holds a secret."""
    with scripted(world, [{"id": "t", "prompt": "LEAVE", "must_contain": ["Done"]}]) as words:
        skill = report_of(world, words, "--runs", "1", "--arms", "with")
        outputs = Path(skill["folder"]) / "eval-t" / "with_skill" / "run-1" / "outputs"
        assert sorted(path.name for path in outputs.iterdir()) == ["answer.md", "kept"]
        assert (outputs / "kept").read_text() == "[secret]"
        assert [path.name for path in (workspace_of(words) / "runs").iterdir()] == ["lock"]


def test_a_run_that_can_not_be_made(world: World) -> None:
    """[SURFACES: Evals] is an error of its own; the others are made."""
    cases = [trigger("FIRE"), {"id": "o", "query": "x", "should_trigger": True, "files": ["../.."]}]
    with scripted(world, cases) as words:
        skill = report_of(world, words, "--runs", "1")
    assert skill["agents"][0]["arms"]["with"]["outcomes"] == {"error": 1, "fired": 1}


def test_after_a_kill(world: World) -> None:
    """[SURFACES: Evals] --resume goes on, and what a killed process left of its credentials is removed."""
    credentials = world.root / "auth.json"
    credentials.write_text("of the run")
    with scripted(world, [trigger("FIRE"), trigger("FIRE too")]) as words:
        more = ("--runs", "1", "--jobs", "1", "--credentials", str(credentials))
        runs, cache = workspace_of(words) / "runs", workspace_of(words) / "cache"
        with start_skc([*words, *more], cwd=world.project, env=world.env) as command:
            while not cache.exists() or not list(runs.glob("*/*/.claude/auth.json")):
                assert command.poll() is None
                time.sleep(0.01)
            command.kill()
            command.wait(60)
        [place] = [path for path in runs.iterdir() if path.name != "lock"]
        with atomic.Lock(str(place / "lock")):
            pass  # what it was starting may hold the lock a moment longer
        skill = report_of(world, words, *more, "--resume")
        assert [path.name for path in runs.iterdir()] == ["lock"]
    assert skill["folder"].endswith("iteration-1")
    assert skill["agents"][0]["arms"]["with"]["outcomes"] == {"fired": 2}


def test_two_at_once(world: World) -> None:
    """[SURFACES: Evals] each has results of its own, and neither takes anything from the other."""
    with scripted(world, [trigger(f"FIRE {number}") for number in range(4)]) as words:
        commands = [
            start_skc(
                [*words, "--runs", "1", "--format", "json"],
                cwd=world.project,
                env=world.env,
                stdout=subprocess.PIPE,
            )
            for _ in range(2)
        ]
        with commands[0] as first, commands[1] as second:
            outputs = [each.communicate(timeout=60) for each in (first, second)]
    skills = [json.loads(output)[0] for output, _ in outputs]
    assert len({skill["folder"] for skill in skills}) == 2
    assert [skill["agents"][0]["arms"]["with"]["outcomes"] for skill in skills] == [{"fired": 4}] * 2


TASKS = [{"id": f"t{n}", "prompt": f"TASK {n}", "expectations": ["It is good"]} for n in range(6)]


def test_a_skill_that_helps(world: World) -> None:
    """[SURFACES: Evals] paired lift over cases, judged by three votes without tools."""
    with scripted(world, TASKS) as words:
        skill = report_of(world, words, "--runs", "1", "--jobs", "4")
        text = world.ok(*words, "--runs", "1").stdout
        results = Path(skill["folder"])
        grading = json.loads((results / "eval-t0" / "with_skill" / "run-1" / "grading.json").read_text())
        benchmark = json.loads((results / "benchmark.json").read_text())
        # Where the viewer of skill-creator looks for it, and where its script that aggregates does.
        for folder in ("eval-t0/with_skill", "eval-t0/without_skill", "eval-t0"):
            assert json.loads((results / folder / "eval_metadata.json").read_text())["prompt"] == "TASK 0"
        modes = {stat.S_IMODE(path.stat().st_mode) for path in results.rglob("*") if path.is_file()}
        page = world.ok(*words, "--runs", "1", "--format", "html").stdout
        assert "it helps" in (results / "report.html").read_text()
        junit = world.ok(*words, "--runs", "1", "--format", "junit").stdout
        markdown = world.ok(*words, "--runs", "1", "--format", "markdown").stdout
    [report] = skill["agents"]
    assert grading["skipped"] == []
    assert (report["verdict"], report["lift"]["value"], report["lift"]["p"]) == ("helps", 1.0, 0.03125)
    assert (report["arms"]["with"]["tasks"], report["arms"]["without"]["tasks"]) == (1.0, 0.0)
    assert (report["arms"]["with"]["tokens"], report["arms"]["with"]["cost"]) == (120.0, 0.5)
    assert "it helps, compared without it: +100 points" in text
    # Both dialects of grading, and benchmark.json as viewers of skill-creator read it.
    assert grading["expectations"] == grading["assertion_results"]
    assert grading["expectations"][0]["evidence"] == "3 of 3 votes: seen"
    assert grading["summary"] == {"passed": 1, "failed": 0, "total": 1, "pass_rate": 1.0}
    assert benchmark["run_summary"]["with_skill"]["pass_rate"]["mean"] == 1.0
    assert benchmark["run_summary"]["delta"]["pass_rate"] == 1.0
    assert {run["configuration"] for run in benchmark["runs"]} == {"with_skill", "without_skill"}
    assert modes == {0o600}
    assert "it helps" in page
    assert "<script" not in page
    assert 'tests="6" failures="0"' in junit
    assert "| with | 6 |" in markdown


def test_exact_graders(world: World) -> None:
    """[SURFACES: Evals] files, JSON, expressions, calls and scripts are graded without a judge."""
    file = {"source": "file", "path": "out.json"}
    graders = [
        {"type": "file_exists", "path": "*.json"},
        {
            "type": "json_path",
            "pattern": "$.rows[0].name",
            "expected": "Ada",
            "target": file,
        },
        {"type": "regex", "pattern": "^good$", "flags": "i"},
        {"type": "contains", "pattern": "BAD", "absent": True},
        {"type": "tool_used", "tool": "Skill", "min": 0, "max": 0},
        {"type": "regex", "pattern": "("},
        {"type": "regex", "pattern": "x", "target": {"source": "file", "path": "../../secret"}},
        {"type": "script", "script": "check.sh"},
    ]
    with scripted(world, [{"id": "t", "prompt": "TASK", "graders": graders}]) as words:
        script = world.store / NAME / "check.sh"
        script.write_text("#!/bin/sh\ngrep -q Ada out.json && echo seen\n")
        script.chmod(0o755)
        skill = report_of(world, words, "--runs", "1", "--arms", "with")
        run = Path(skill["folder"]) / "eval-t" / "with_skill" / "run-1"
        grading = json.loads((run / "grading.json").read_text())
    passed = [each["passed"] for each in grading["expectations"]]
    assert passed[:5] == [True, True, True, True, True]
    assert passed[5] is False  # a path that leaves the folder of the run
    assert "no regular expression" in grading["skipped"][0]["reason"]


def test_nothing_is_repeated(world: World) -> None:
    """[SURFACES: Evals] a second run takes all from the cache; another text of the skill is run anew."""
    with scripted(world, [trigger("FIRE")]) as words:
        log = world.root / "programs" / "log"
        program = world.root / "programs" / "claude"
        first = report_of(world, words, "--runs", "2")
        size = len(list((workspace_of(words) / "cache").iterdir()))
        program_text = program.read_text()
        second = report_of(world, words, "--runs", "2")
        assert len(list((workspace_of(words) / "cache").iterdir())) == size == 3  # with the canary
        assert first["agents"] == second["agents"]
        assert (first["folder"], second["folder"]) == tuple(
            str(workspace_of(words) / NAME / f"iteration-{number}") for number in (1, 2)
        )
        third = report_of(world, words, "--runs", "2", "--resume")
        assert third["folder"] == second["folder"]
        (world.store / NAME / "SKILL.md").write_text("---\nname: pdf-forms\ndescription: New.\n---\n# F\n")
        report_of(world, words, "--runs", "2")
        assert len(list((workspace_of(words) / "cache").iterdir())) == 2 * size
        assert program.read_text() == program_text
        assert not log.exists()


def test_the_cache_shrinks(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Evals] what was not used for long goes, and of too much the oldest; results stay."""
    with scripted(world, [trigger("FIRE one"), trigger("FIRE two")]) as words:
        cache = workspace_of(words) / "cache"
        skill = report_of(world, words, "--runs", "1")
        assert len(list(cache.iterdir())) == 3
        for path in cache.iterdir():
            os.utime(path, times=(1e9, 1e9))
        report_of(world, words, "--runs", "1", "--case", "fire one")
        [canary, used] = cache.iterdir()  # both were made again
        assert min(canary.stat().st_mtime, used.stat().st_mtime) > 1e9
        monkeypatch.setattr("skillc.evals.places.MAX_CACHE", 1)
        place = workspace_of(words) / "runs" / "other"
        place.mkdir()
        with atomic.Lock(str(place / "lock")):  # another evaluation is under way
            report_of(world, words, "--runs", "1", "--case", "fire one")
            assert {*cache.iterdir()} == {canary, used}
        report_of(world, words, "--runs", "1", "--case", "fire two")
        assert len(list(cache.iterdir())) == 2
        runs = list(Path(skill["folder"]).glob("eval-*/*/run-1/transcript.jsonl"))
        assert len([run.read_text() for run in runs]) == 2


def test_clean(world: World) -> None:
    """[SURFACES: Evals] `skc clean` removes the cache where no evaluation is under way; results stay."""
    with scripted(world, [trigger("FIRE")]) as words:
        cache = workspace_of(words) / "cache"
        skill = report_of(world, words, "--runs", "1")
        place = workspace_of(words) / "runs" / "other"
        place.mkdir()
        with atomic.Lock(str(place / "lock")):
            results = {each["path"]: each["result"] for each in world.json("clean", "--yes")["entries"]}
            assert (results[str(cache)], len(list(cache.iterdir()))) == ("kept", 2)
        assert str(cache) in world.ok("clean", "--dry-run").stdout
        world.ok("clean", "--yes")
        assert not cache.exists()
        assert not place.exists()  # what a process that was killed left, with its credentials
        assert (Path(skill["folder"]) / "report.json").exists()
        assert "skc eval" not in world.ok("clean", "--dry-run").stdout
        report_of(world, words, "--runs", "1")


def test_the_budget(world: World) -> None:
    """[SURFACES: Evals] past --max-cost no run is started; an agent that tells no cost refuses the option."""
    with scripted(world, [trigger(f"FIRE {n}") for n in range(6)]) as words:
        [report] = report_of(world, words, "--runs", "1", "--jobs", "1", "--max-cost", "1.4")["agents"]
        # The request for the skill costs as much as a run.
        assert (report["arms"]["with"]["runs"], report["not_run"]) == (2, 4)
        other = world.skill("other", store=world.root)
        shutil.copytree(world.store / NAME / "evals", other / "evals")
        run = world.skc(*words, str(other), "--max-cost", "0.1", "--again", "--format", "json")
        assert [skill["agents"][0]["summary"] for skill in json.loads(run.stdout)] == [
            "not measured: no run was made",  # but for the request for the skill
            "not measured: --max-cost was reached before it was tried",
        ]
        words[3] = "codex"
        assert "does not tell what a run costs" in world.fails("E100", *words, "--max-cost", "1").stderr


def test_several_agents(world: World) -> None:
    """[SURFACES: Evals] each has results of its own; one that is not here does not take the others down."""
    with scripted(
        world, [trigger("FIRE"), {"id": "fire", "query": "FIRE too", "should_trigger": True}]
    ) as words:
        words[3] = "claude,gemini"
        skill = report_of(world, words, "--runs", "1", status=2)
        folder = Path(skill["folder"])
        assert json.loads((folder / "claude" / "benchmark.json").read_text())["metadata"]["evals_run"] == [
            1,
            2,
        ]
        assert len(list((folder / "claude").glob("eval-*/with_skill/run-1/run.json"))) == 2
    claude, gemini = skill["agents"]
    assert claude["triggers"]["recall"] == 1.0
    assert "not on the path" in gemini["problem"]


def test_arms_that_fail_differently(world: World) -> None:
    """[SURFACES: Evals] where errors differ between arms, the verdict is withheld."""
    cases = [{"id": f"t{n}", "prompt": f"TASK {n}", "must_contain": ["GOOD"]} for n in range(6)]
    broken = {"id": "b", "prompt": "TASK BROKEN", "must_contain": ["GOOD"]}
    with scripted(world, [*cases, broken]) as words:
        [report] = report_of(world, words, "--runs", "1", "--jobs", "4")["agents"]
    assert report["verdict"] is None
    assert "1 run with the skill and 0 without it" in report["lift"]["withheld"]


def test_a_skill_that_is_not_there(world: World) -> None:
    """[SURFACES: Evals] an agent that asks for the skill in the arm without it has an answer all the same."""
    cases = [{"id": f"t{n}", "prompt": f"TRY TASK {n}", "must_contain": ["GOOD"]} for n in range(6)]
    with scripted(world, cases) as words:
        [report] = report_of(world, words, "--runs", "1", "--jobs", "4")["agents"]
    assert report["arms"]["without"]["outcomes"] == {"not offered": 6}
    assert report["verdict"] == "helps"


def test_a_skill_that_is_not_listed(world: World) -> None:
    """[SURFACES: Evals] [D75] what the agent does not list is not offered, and that is no zero."""
    with scripted(world, [trigger("quiet"), trigger("FIRE")]) as words:
        text = "---\nname: pdf-forms\ndescription: F.\ndisable-model-invocation: true\n---\n# F\n"
        (world.store / NAME / "SKILL.md").write_text(text)
        skill = report_of(world, words, "--runs", "1")
    [report] = skill["agents"]
    assert report["arms"]["with"]["outcomes"] == {"fired": 1, "not offered": 1}
    assert (report["listed"], skill["cases"][0]["problems"]) == ("on-demand", ["on-demand"])
    assert report["triggers"]["cases"] == 1


def test_a_better_description(world: World) -> None:
    """[SURFACES: Evals] prompts are compared with the old skill, too: it does right more often."""
    old = world.skill("old-one", store=world.root)
    (old / "SKILL.md").write_text("---\nname: pdf-forms\ndescription: Old.\n---\n# F\n")
    cases = [*(trigger(f"BETTER {number}") for number in range(6)), trigger("quiet", False)]
    with scripted(world, cases) as words:
        words += ["--runs", "1", "--jobs", "4", "--arms", "with,old", "--old", str(old)]
        [report] = report_of(world, words)["agents"]
        summary = world.ok(*words).stdout
    lift = report["trigger_lift_over_old"]
    assert (report["verdict"], lift["value"], lift["cases"], lift["p"]) == ("helps", 0.8571, 7, 0.03125)
    assert report["triggers"]["recall"] == 1.0
    assert "it helps, compared with the old one: +86 points" in summary
    assert "of the prompts" in summary


def test_a_command_of_ones_own(world: World) -> None:
    """[SURFACES: Evals] a pattern, or our own log of reads, says that the skill fired."""
    script = world.root / "programs" / "mine"
    with scripted(world, [trigger("FIRE"), trigger("quiet")]) as words:
        script.write_text('#!/bin/sh\ncase "$1" in *FIRE*|*ready*) echo "used: $(ls "$2")";; esac\necho ok\n')
        script.chmod(0o755)
        del words[2:4]
        command = ("--agent-command", f"{script} {{prompt}} {{skills}}")
        [report] = report_of(world, words, *command, "--fired", "^used: pdf-forms$", "--runs", "1")["agents"]
        assert report["arms"]["with"]["outcomes"] == {"fired": 1, "offered but not chosen": 1}
        [report] = report_of(world, words, *command, "--runs", "1", status=2)["agents"]
        assert "without --fired, only reads by 'skc show' count" in report["problem"]
        script.write_text(
            f'#!/bin/sh\ncase "$1" in *FIRE*|*ready*) skc show {NAME} --section Fill;; esac\necho ok\n'
        )
        # Nothing on the path leads to our Python, which may be below the home.
        world.env["PATH"] = f"{world.root / 'programs'}:/usr/bin:/bin"
        [report] = report_of(world, words, *command, "--runs", "1")["agents"]
        assert report["arms"]["with"]["outcomes"] == {"fired": 1, "offered but not chosen": 1}


def test_old_and_new(world: World) -> None:
    """[SURFACES: Evals] the old skill is a folder, or what git has of it."""
    old = world.skill("old-one", store=world.root)
    (old / "SKILL.md").write_text("---\nname: pdf-forms\ndescription: Old.\n---\n# F\n")
    cases = [{"id": "t", "prompt": "TASK", "must_contain": ["GOOD"]}]
    with scripted(world, cases) as words:
        words += ["--runs", "1", "--arms", "with,old"]
        skill = report_of(world, words, "--old", str(old))
        assert set(skill["agents"][0]["arms"]) == {"with", "old"}
        assert skill["agents"][0]["lift_over_old"]["value"] == 0.0
        assert "in no git repository" in world.fails("E100", *words).stderr


def test_an_edit(world: World) -> None:
    """[SURFACES: Evals] what git has is the old skill, whose runs were made when it was the new one."""
    cases = [trigger("BETTER one"), trigger("FIRE two")]
    with scripted(world, cases) as words:
        main = world.store / NAME / "SKILL.md"
        better = main.read_text()
        main.write_text(better.replace("Fills in forms.", "Old."))
        for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "old"]):
            subprocess.run(["git", *command], cwd=world.project, env=GIT_ENV, check=True)
        report_of(world, words, "--runs", "1")
        main.write_text(better)
        size = len(list((workspace_of(words) / "cache").iterdir()))
        for more in ((), ("--old", "HEAD")):
            skill = report_of(world, words, "--runs", "1", "--arms", "with,old", *more)
            arms = skill["agents"][0]["arms"]
            assert arms["with"]["outcomes"] == {"fired": 2}
            assert arms["old"]["outcomes"] == {"fired": 1, "offered but not chosen": 1}
        assert len(list((workspace_of(words) / "cache").iterdir())) == size + 3  # two runs and the canary
        main.write_text(better.replace("Fills in forms.", "Old."))
        for _ in range(2):  # the same skill in both arms
            [report] = report_of(world, words, "--runs", "1", "--arms", "with,old")["agents"]
            assert {arm: result["runs"] for arm, result in report["arms"].items()} == {"with": 2, "old": 2}


@each(
    "words, code, text",
    [
        (("--arms", "without"), "E100", "--arms needs 'with'"),
        (("--arms", "with,other"), "E100", "unknown arm 'other'"),
        (("--case", "none"), "E100", "no case 'none'"),
        (("--only", "tasks"), "E110", "none says what a good answer has"),
        (("--credentials", "/none"), "E100", "is no file that can be read"),
        (("--max-cost", "much"), "E100", "takes a number"),
        (("--agent", ","), "E100", "--agent names none"),
        (("--fired", "x"), "E100", "--fired goes with --agent-command"),
        (("--format", "sarif"), "E100", "goes with --free"),
    ],
)
def test_what_does_not_fit(words: tuple[str, ...], code: str, text: str, world: World) -> None:
    """[SURFACES: Evals] options that can't be kept are refused before anything is run."""
    with scripted(world, [trigger("FIRE")]) as start:
        assert text in world.fails(code, *start, *words).stderr


def test_credentials() -> None:
    """[SURFACES: Evals] an agent gets what it signs in with, and no other secret."""
    secrets = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SKILLC_TOKEN")
    given = dict.fromkeys((*secrets, "GOOGLE_APPLICATION_CREDENTIALS", "HOME"), "x")
    runners = read_runners()
    assert set(credentials_of(runners["claude"], given)) == {"ANTHROPIC_API_KEY"}
    bedrock = credentials_of(runners["claude"], given | {"CLAUDE_CODE_USE_BEDROCK": "1"})
    assert set(bedrock) == {"ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "CLAUDE_CODE_USE_BEDROCK"}
    assert set(credentials_of(runners["codex"], given)) == {"OPENAI_API_KEY"}
    assert credentials_of(runners["gemini"], given) == {}
    [own] = find_runners("", "mine {prompt}", "")
    assert set(credentials_of(own, given)) == {"ANTHROPIC_API_KEY", "OPENAI_API_KEY"}


def test_secrets(tmp_path: Path) -> None:
    """[SURFACES: Evals] values of variables, of headers, of URLs and of files are blotted out."""
    variables = {
        "ANTHROPIC_API_KEY": "sk-ant-1234",
        "ANTHROPIC_CUSTOM_HEADERS": "X-Team: header-secret",
        "ANTHROPIC_BASE_URL": "https://me:password@proxy.example",
        "ANTHROPIC_MODEL": "claude-sonnet",
    }
    (tmp_path / "auth.json").write_text('{"OPENAI_API_KEY":"sk-minified","pem":"-----\\nMIIEabcd\\n"}')
    (tmp_path / "config.toml").write_text("token='sk-of-toml'\n")
    secrets = find_secrets(variables, [str(tmp_path / "auth.json"), str(tmp_path / "config.toml")])
    said = "sk-ant-1234 header-secret me:password sk-minified MIIEabcd sk-of-toml claude-sonnet"
    assert blot(said, secrets) == f"{'[secret] ' * 6}claude-sonnet"


def test_a_prompt_that_looks_like_an_option() -> None:
    """[SURFACES: Evals] a case can't give an agent options."""
    for runner in read_runners().values():
        for prompt in ("--dangerously-skip-permissions", "-c"):
            words = runner.arguments(Case("x", prompt, ""), "skills", in_sandbox=True)
            assert f" {prompt}" in words
            assert prompt not in words


def test_a_planted_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Evals] another user's link in place of the default folder is not followed."""
    (tmp_path / "mine").mkdir()
    (tmp_path / f"skc-eval-{os.getuid()}").symlink_to(tmp_path / "mine")
    monkeypatch.setattr("skillc.evals.places._SHARED", str(tmp_path))
    with pytest.raises(InvalidOption, match="is a link"):
        find_workspace("", "/")


def test_places_that_do_not_fit(world: World) -> None:
    """[SURFACES: Evals] a workspace below the home, or a temporary one, is refused with the reason."""
    with scripted(world, [trigger("FIRE")]) as words:
        words[-1] = str(world.home / "runs")
        assert "below your home" in world.fails("E100", *words).stderr
        words[-1] = "/tmp/runs"
        assert "temporary" in world.fails("E100", *words, env={"TMPDIR": "/tmp"}).stderr


def test_an_agent_that_is_not_here(world: World) -> None:
    """[SURFACES: Evals] is not measured: status 2, the reason, and no number."""
    with scripted(world, [trigger("FIRE")]) as words:
        words[3] = "gemini"
        run = world.skc(*words)
    assert run.returncode == 2
    assert "error[E111]: 'gemini' measures nothing here" in run.stderr
    assert "not measured" in run.stdout


@each("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(world: World, number: signal.Signals) -> None:
    """[SURFACES: Evals] Ctrl+C or an end by the system ends what runs, and nothing of a run is left."""
    with scripted(world, [trigger("FIRE"), trigger("SLEEP")]) as words:
        with start_skc([*words, "--runs", "1", "--jobs", "1"], cwd=world.project, env=world.env) as command:
            cache = workspace_of(words) / "cache"
            while not cache.exists() or len(list(cache.iterdir())) < 2:  # the canary and the first
                assert command.poll() is None
                time.sleep(0.1)
            time.sleep(0.5)
            command.send_signal(number)
            begin = time.monotonic()
            command.wait(60)
            took = time.monotonic() - begin
        assert command.returncode == 130
        left = [path.name for path in (workspace_of(words) / "runs").iterdir()]
    assert left == ["lock"]
    assert took < 30  # a run that nothing ends sleeps for a minute


@pytest.mark.skipif(bool(why_not()), reason=why_not())
def test_barriers(world: World) -> None:
    """[SURFACES: Evals] axe-core finds nothing serious on the page, light and dark, wide and narrow."""
    hostile = {"id": "\u202e<script>", "query": "SLASH", "should_trigger": True}
    with scripted(world, [trigger("FIRE"), hostile, *TASKS[:2]]) as words:
        text = world.ok(*words, "--runs", "1", "--format", "html").stdout
    assert "\u202e" not in text
    assert "<script" not in text
    barriers = []
    with running_browser() as browser:
        for width, scheme, rules in VIEWS:
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            page.set_content(text.replace("<details>", "<details open>"))
            barriers += find_barriers(page, rules)
            page.close()
    assert barriers == []
