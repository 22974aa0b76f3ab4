"""Agents that speak the streams of Claude Code and Codex, and do what the prompt says."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.conftest import World

NAME = "pdf-forms"
CLAUDE = """#!{python} -I
import json, os, sys, time

def say(**event):
    print(json.dumps(event), flush=True)

def call(name, given, error=False, result="ok"):
    block = dict(type="tool_use", id=name, name=name, input=given)
    say(type="assistant", message=dict(content=[block]))
    block = dict(type="tool_result", tool_use_id=name, is_error=error, content=result)
    say(type="user", message=dict(content=[block]))

prompt = sys.argv[sys.argv.index("-p") + 1]
folder = os.environ["CLAUDE_CONFIG_DIR"] + "/skills"
skills = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
texts = {{name: open(f"{{folder}}/{{name}}/SKILL.md").read() for name in skills}}
listed = [name for name in skills if "disable-model-invocation: true" not in texts[name]]
denied, answer, status, end = [], "Done.", 0, dict(subtype="success", is_error=False)
say(type="system", subtype="init", skills=listed, model="scripted", claude_code_version="9.9")
has = "{name}" in skills
if "verdicts" in prompt:
    good = "GOOD" in prompt.split("ANSWER:")[1].split("FILES THAT")[0]
    count = prompt.split("Expectations:")[1].split("Answer with")[0].strip().count("\\n") + 1
    answer = json.dumps(dict(verdicts=[dict(passed=good, evidence="seen")] * count))
if "single word: ready" in prompt or "FIRE" in prompt:
    if "SLOWLY" in prompt:
        call("Read", dict(file_path="a"))
    if has:
        call("Skill", dict(skill="{name}"))
if "BETTER" in prompt and "Fills in forms." in texts.get("{name}", ""):
    call("Skill", dict(skill="{name}"))
if "TRY" in prompt:
    call("Skill", dict(skill="{name}"), not has, "ok" if has else "Unknown skill")
if "SLASH" in prompt:
    call("SlashCommand", dict(command="/{name}"))
if "OTHER" in prompt:
    call("Skill", dict(skill="{name}-extra"))
if "DENY" in prompt and has:
    call("Skill", dict(skill="{name}"), True, "permission denied")
    denied = [dict(tool_name="Skill", tool_input=dict(skill="{name}"))]
if "BROKEN" in prompt and has:
    call("Skill", dict(skill="{name}"), True, "no such file")
if "SLEEP" in prompt:
    time.sleep(60)
if "CRASH" in prompt:
    print("out of luck", file=sys.stderr)
    sys.exit(3)
if "NODE" in prompt:
    print("a.js:1\\n\\nError: no module 'x'\\n    at a.js:1\\n\\nNode.js v20", file=sys.stderr)
    sys.exit(1)
if "OVERLOADED" in prompt:
    end, answer = dict(subtype="error_during_execution", is_error=True), "API Error: overloaded"
if "LEAVE" in prompt:
    os.mkfifo("pipe")
    os.mkdir("closed")
    os.chmod("closed", 0)
    open("kept", "w").write(os.environ["ANTHROPIC_API_KEY"])
if "TRAP" in prompt:
    harm = "open(" + repr({home!r} + "/harm") + ", 'w')"
    server = json.dumps([sys.executable, "-c", harm])
    for folder in (os.environ["HOME"], os.getcwd()):
        os.makedirs(folder + "/.skillc", exist_ok=True)
        table = '[[repositories]]\\nname = "x"\\ntype = "mcp"\\ncommand = ' + server
        open(folder + "/.skillc/skills.toml", "w").write(table)
        open(folder + "/sqlite3.py", "w").write(harm)
    os.mkdir("skillc")
    open("skillc/__init__.py", "w").close()
    open("skillc/__main__.py", "w").write(harm)
    logs = os.environ["HOME"] + "/.skillc/runtime/{name}/.skillc-meta"
    os.makedirs(logs, exist_ok=True)
    open(logs + "/logs.db", "w").close()
if "MOVE" in prompt:
    os.rename(os.getcwd(), os.environ["HOME"] + "/moved")
    os.symlink({home!r}, os.environ["HOME"] + "/work")
if "FOLDER" in prompt:
    os.rename(os.environ["CLAUDE_CONFIG_DIR"], os.environ["HOME"] + "/moved")
    os.symlink({home!r}, os.environ["CLAUDE_CONFIG_DIR"])
if "SHARE" in prompt:
    for place in (os.environ["HOME"], os.getcwd()):
        answer = "shared" if os.path.exists(place + "/mine") else answer
        open(place + "/mine", "w").write("x")
if "LOOK" in prompt:
    home = sorted(os.listdir({home!r})) if os.access({home!r}, os.R_OK) else None
    evals = [path for path, _, _ in os.walk(os.environ["HOME"]) if path.endswith("/evals")]
    look = dict(env=sorted(os.environ), key=os.environ.get("ANTHROPIC_API_KEY"), home=home, evals=evals)
    answer = json.dumps(dict(look, text=texts.get("{name}", ""), listed=listed))
if "TASK" in prompt and "verdicts" not in prompt:
    answer = "GOOD" if has else "BAD"
    open("out.json", "w").write(json.dumps(dict(rows=[dict(name="Ada")])))
usage = dict(input_tokens=100, output_tokens=20)
say(type="result", result=answer, total_cost_usd=0.5, usage=usage, permission_denials=denied, **end)
"""


@contextmanager
def scripted(world: World, cases: Any, name: str = "claude", text: str = CLAUDE) -> Iterator[list[str]]:
    """Make a skill with cases, and an agent on the path; give the words of `skc eval` for them.

    The workspace is neither temporary nor below the home, as it has to be.
    """
    folder = world.skill(
        NAME, f"---\nname: {NAME}\ndescription: Fills in forms.\n---\n# Forms\n\n## Fill\n\nText.\n"
    )
    (folder / "evals").mkdir(exist_ok=True)
    (folder / "evals" / "evals.json").write_text(json.dumps(cases))
    programs = world.root / "programs"
    programs.mkdir(exist_ok=True)
    program = programs / name
    program.write_text(text.format(python=sys.executable, name=NAME, home=str(world.home)))
    program.chmod(0o755)
    world.env["PATH"] = f"{programs}:{os.environ['PATH']}"
    world.env["ANTHROPIC_API_KEY"] = "sk-secret-of-the-tests"
    workspace = tempfile.mkdtemp(prefix="skillc-tests-", dir="/var/tmp")
    try:
        yield ["eval", NAME, "--agent", name, "--workspace", workspace]
    finally:
        shutil.rmtree(workspace, ignore_errors=True)


def report_of(world: World, words: list[str], *more: str, status: int = 0) -> dict[str, Any]:
    """Run `skc eval` and return what it says of the one skill."""
    run = world.skc(*words, "--format", "json", *more)
    assert run.returncode == status, run.stderr or run.stdout
    [skill] = json.loads(run.stdout)
    result: dict[str, Any] = skill
    return result


def workspace_of(words: list[str]) -> Path:
    return Path(words[-1])
