"""`skc eval` runs the real programs, and says of each what a scripted model had it do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agents.model import Answer, ScriptedModel
from tests.agents.programs import MODELS, PROGRAMS, new_home
from tests.support import examples

pytestmark = pytest.mark.slow

PROVIDER = (
    'model = "unknown"\nmodel_provider = "x"\n[model_providers.x]\nname = "x"\nwire_api = "responses"\n'
    'env_key = "OPENAI_API_KEY"\nbase_url = "{url}/v1"\n'
)
SKILL = "---\nname: pdf-forms\ndescription: Fills in forms. Use when a form is to be filled.\n---\n# Forms\n"


def fires_for(agent: str, numbers: set[int]) -> Any:
    """Have the model load the skill for the canary and for the cases of these numbers, and only once."""

    def plan(body: dict[str, Any]) -> Answer:
        text = json.dumps(body.get("messages") or body.get("input"))
        is_wanted = "single word: ready" in text or any(f"Task {number}." in text for number in numbers)
        if not is_wanted or '"tool_result"' in text or "function_call_output" in text:
            return "ready"
        if agent == "claude":
            return "Skill", {"skill": "pdf-forms"}
        names = [tool.get("name") for tool in body["tools"]]
        command = "cat $CODEX_HOME/skills/pdf-forms/SKILL.md"
        if "exec_command" in names:
            return "exec_command", {"cmd": command}
        return "shell", {"command": ["bash", "-lc", command]}

    return plan


def evaluate(agent: str, home: Path, model: ScriptedModel, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `skc eval` for the skill of a home."""
    config = home / "config.toml"
    config.write_text(PROVIDER.format(url=model.url))
    before = list_files(home)
    env = {
        "HOME": str(home),
        "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        "LANG": "C.UTF-8",
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "a-key-of-the-tests",
        "OPENAI_API_KEY": "a-key-of-the-tests",
    }
    more = ("--credentials", str(config)) if agent == "codex" else ("--model", MODELS[agent])
    workspace = home.parent / f"{home.name}-runs"
    try:
        run = subprocess.run(
            [sys.executable, "-m", "skillc", "eval", "pdf-forms", "--agent", agent, "--runs", "1"]
            + ["--workspace", str(workspace), "--format", "json", *more, *words],
            cwd=home / "work",
            env=env,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
    finally:
        shutil.rmtree(workspace, ignore_errors=True)
    assert list_files(home) == before
    return run


def list_files(home: Path) -> list[Path]:
    """List the files of a home, but for our own caches."""
    return sorted(path for path in home.rglob("*") if "cache" not in str(path))


def put_skill(home: Path, cases: int) -> None:
    folder = home / ".skillc" / "skills" / "pdf-forms"
    (folder / "evals").mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    triggers = [
        {"id": f"t{n}", "query": f"Task {n}. Fill this.", "should_trigger": True} for n in range(cases)
    ]
    (folder / "evals" / "triggers.json").write_text(json.dumps(triggers))


@pytest.mark.parametrize(
    ("agent", "fired", "count", "interval"),
    [
        # each case takes Claude Code a second
        ("claude", 7, 10, [0.3968, 0.8922]) if examples.is_complete else ("claude", 2, 3, [0.2077, 0.9385]),
        ("codex", 7, 10, [0.3968, 0.8922]),
    ],
)
def test_seven_of_ten(agent: str, fired: int, count: int, interval: list[float]) -> None:
    """[SURFACES: Evals] what fires in seven of ten cases is 70%, with its interval."""
    with new_home(agent) as home, ScriptedModel(fires_for(agent, {*range(fired)})) as model:
        put_skill(home, count)
        run = evaluate(agent, home, model)
        assert run.returncode == 0, run.stderr
        [skill] = json.loads(run.stdout)
        [report] = skill["agents"]
        recall = round(fired / count, 4)
        assert (report["triggers"]["recall"], report["triggers"]["interval"]) == (recall, interval)
        outcomes = {"fired": fired, "offered but not chosen": count - fired}
        assert report["arms"]["with"]["outcomes"] == outcomes


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_harness_that_does_not_work(agent: str) -> None:
    """[SURFACES: Evals] where asking for it outright fails, there is a reason and no number."""
    with new_home(agent) as home, ScriptedModel(["No."] * 9) as model:
        put_skill(home, 2)
        run = evaluate(agent, home, model)
        assert run.returncode == 2, run.stderr
        [skill] = json.loads(run.stdout)
        [report] = skill["agents"]
        assert "did not load it" in report["problem"]
        assert "error[E111]" in run.stderr
        assert report["triggers"] is None
        assert len(model.requests) == 1
