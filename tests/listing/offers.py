"""Call the prompt hook as an agent does: JSON on stdin, and an answer on stdout, or nothing."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.conftest import World, check_success
from tests.support.forks import start_skc

PDF = "Fill in PDF forms, merge and split PDF files. Use when the user works with PDF documents."
TASK = "Fill in the PDF form application.pdf and merge it with cover.pdf"
OTHERS = {
    "charts": "Draw bar charts and line charts from spreadsheet columns with matplotlib.",
    "kubernetes-rollout": "Roll out deployments on a Kubernetes cluster and watch the pods come up.",
    "invoices": "Write invoices for customers with VAT, numbering and payment terms.",
    "haiku": "Write haiku about the seasons in classical form with a kigo.",
    "music-theory": "Explain chords, cadences and counterpoint for a piece of music.",
    "sql-tuning": "Speed up slow PostgreSQL queries by reading the planner's output.",
}


def put_skill(store: Path, name: str, description: str, more: str = "", body: str = "Text.") -> Path:
    """Write a skill whose description is read back equal, whatever is in it."""
    folder = store / name
    folder.mkdir(parents=True, exist_ok=True)
    head = f"name: {name}\ndescription: {json.dumps(description)}\n{more}"
    (folder / "SKILL.md").write_text(f"---\n{head}---\n# {name}\n\n## Usage\n\n{body}\n")
    return folder


def put_library(store: Path) -> None:
    """Write a few skills of which one is about PDF forms."""
    for name, description in {"pdf-forms": PDF, **OTHERS}.items():
        put_skill(store, name, description)


def update(world: World, agent: str = "claude", cwd: Path | None = None, **env: str) -> None:
    """Renew what hooks know, as they do in the background."""
    words = ("hook", "update", "--agent", agent, "--cwd", str(cwd or world.project))
    check_success(world.process(*words, env=env))


def call(
    world: World, data: bytes, event: str = "prompt", agent: str = "claude", **more: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run the hook on some input; it must end well, and say nothing on stderr."""
    words = ("hook", event, "--agent", agent)
    cwd, env = more.pop("cwd", world.project), world.env | more.pop("env", {})
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with start_skc(words, cwd=cwd, env=env, **pipes, **more) as command:
        out, err = command.communicate(data, timeout=60)
    assert (command.returncode, err) == (0, b"")
    return subprocess.CompletedProcess(words, 0, out, err)


def ask(world: World, prompt: str = TASK, agent: str = "claude", cwd: Path | None = None, **more: Any) -> str:
    """Return what the hook adds to a prompt; empty for nothing."""
    request = {"prompt": prompt, "cwd": str(cwd or world.project), "hook_event_name": "UserPromptSubmit"}
    out = call(world, json.dumps(request).encode(), agent=agent, **more).stdout
    if not out:
        return ""
    answer: dict[str, dict[str, str]] = json.loads(out)
    assert answer.keys() == {"hookSpecificOutput"}
    assert answer["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    return answer["hookSpecificOutput"]["additionalContext"]


def names(text: str) -> list[str]:
    """Return the skills that an answer names."""
    return [line[2:].partition(":")[0] for line in text.splitlines() if line.startswith("- ")]


def let_start(world: World) -> None:
    """Let the next hook start an update: time has passed since the last."""
    lock = world.home / ".skillc" / "cache" / "offers.lock"
    if lock.exists():
        os.utime(lock, (time.time() - 60, time.time() - 60))


def wait_for(world: World, prompt: str = TASK, seconds: float = 60) -> str:
    """Ask until there is an answer, as updates in the background end."""
    end = time.monotonic() + seconds
    while not (text := ask(world, prompt)) and time.monotonic() < end:
        time.sleep(0.2)
    wait_until_idle(world)
    return text


def wait_until_idle(world: World, seconds: float = 60) -> None:
    """Wait until no update of this world runs."""
    end = time.monotonic() + seconds
    while updates(world) and time.monotonic() < end:
        time.sleep(0.05)


def updates(world: World) -> list[int]:
    """Return the processes that renew what this world's hooks know."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            env = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"update" in words and b"hook" in words and f"HOME={world.home}".encode() in env:
            found.append(int(folder.name))
    return found


def hook_log(world: World) -> str:
    path = world.home / ".skillc" / "hook.log"
    return path.read_text() if path.exists() else ""
