"""What the prompt hook says reaches the models of real agents, set up by `skc setup`."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.agents.programs import ask, new_home
from tests.listing.offers import TASK, put_library
from tests.support import examples

pytestmark = pytest.mark.slow
TRUST: dict[str, tuple[str, ...]] = {"claude": (), "codex": ("--dangerously-bypass-hook-trust",)}


def skc(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `skc` of this environment in a home."""
    program = Path(sys.executable).parent / "skc"
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    return subprocess.run(
        [str(program), *words], cwd=home / "work", env=env, capture_output=True, text=True, check=True
    )


def prepare(home: Path, agent: str) -> None:
    """Set an agent up with a few skills, as a user does."""
    put_library(home / ".skillc" / "skills")
    (home / f".{agent}").mkdir()
    skc(home, "setup", agent, "--yes", "--no-mcp")
    skc(home, "hook", "update", "--agent", agent)


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_the_model_is_told(agent: str) -> None:
    """[SURFACES: What agents see] a skill that fits is in the request; for other prompts nothing is."""
    with new_home(agent) as home:
        prepare(home, agent)
        requests = [json.dumps(request) for request in ask(agent, home, TASK, more=TRUST[agent])]
        assert "skc open pdf-forms SKILL.md" in requests[0]
        assert "Fill in PDF forms, merge and split PDF files." in requests[0]
        (quiet, *_) = ask(agent, home, "thanks, that works now", more=TRUST[agent])
        assert "skc open" not in json.dumps(quiet)
        stats = json.loads(skc(home, "stats", "--group-by", "offers", "--format", "json").stdout)
        assert stats["data"] == [{"skill": "pdf-forms", "agent": agent, "count": 1, "read": 0}]


def test_copilot() -> None:
    """[SURFACES: What agents see] Copilot CLI takes the answer too, from a hook that is put in by hand."""
    with new_home("github-copilot") as home:
        put_library(home / ".skillc" / "skills")
        skc(home, "hook", "update", "--agent", "copilot")
        program = Path(sys.executable).parent / "skc"
        hook = {"type": "command", "bash": f"{program} hook prompt --agent copilot", "timeoutSec": 10}
        file = home / ".copilot" / "hooks" / "skc.json"
        file.parent.mkdir(parents=True)
        file.write_text(json.dumps({"version": 1, "hooks": {"userPromptSubmitted": [hook]}}))
        assert "skc open pdf-forms SKILL.md" in json.dumps(ask("github-copilot", home, TASK)[0])
        if examples.is_complete:  # a start takes four seconds
            assert "skc open" not in json.dumps(ask("github-copilot", home, "thanks, that works now")[0])


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_hook_that_fails_says_nothing(agent: str) -> None:
    """[SURFACES: What agents see] a prompt goes out where the index is cold, damaged, or skc is gone."""
    with new_home(agent) as home:
        prepare(home, agent)
        for name in ("library.db", "offers.db"):
            (home / ".skillc" / "cache" / name).write_bytes(b"damage")
        requests = ask(agent, home, TASK, more=TRUST[agent])
        assert TASK in json.dumps(requests[0])
        assert "skc open" not in json.dumps(requests[0])
        end = time.monotonic() + 60
        while "skc open pdf-forms" not in json.dumps(requests) and time.monotonic() < end:
            requests = ask(agent, home, TASK, more=TRUST[agent])
        assert "skc open pdf-forms" in json.dumps(requests)
        (home / ".local" / "bin" / "skc").unlink()
        requests = ask(agent, home, TASK, more=TRUST[agent])
        assert TASK in json.dumps(requests[0])


READING = (
    ("pdf-forms SKILL.md", True),
    ("pdf-forms .env", False),
    ("haiku link.md", False),
    ("haiku SKILL.md", False),  # which has a link to a hidden file
    (". .env", False),
    ("away secrets.txt", False),
)


def test_reading_is_permitted() -> None:
    """[SURFACES: What agents see] Claude Code reads installed skills unasked, and nothing else so."""
    with new_home("claude") as home:
        prepare(home, "claude")
        store, work = home / ".skillc" / "skills", home / "work"
        (store / "away").symlink_to(work)
        (work / "SKILL.md").write_text("---\nname: away\ndescription: A project.\n---\n")
        for path in (
            store / "pdf-forms" / ".env",
            store / "haiku" / ".env",
            work / ".env",
            work / "secrets.txt",
        ):
            path.write_text("PASSWORD=hidden\n")
        (store / "haiku" / "link.md").symlink_to(".env")
        calls = [("Bash", {"command": f"skc open {words}", "description": "Read"}) for words, _ in READING]
        _, *requests = ask("claude", home, "Go on.", answers=[*calls, "Done."])
        for (words, is_read), request in zip(READING, requests, strict=True):
            said = json.dumps(request["messages"][-1])
            assert ("## Usage" in said) is is_read, words
            assert "PASSWORD" not in said, words


def test_reading_over_mcp_is_permitted() -> None:
    """[SURFACES: What agents see] the same holds for our tools over MCP: by a name, never by a path."""
    server = (sys.executable, "-I", "-m", "skillc", "mcp")
    with new_home("claude") as home:
        prepare(home, "claude")
        skc(home, "mcp", "--install", "claude")  # so that the server is ready at once
        (home / "work" / "SKILL.md").write_text("---\nname: work\ndescription: A project.\n---\n")
        (home / "work" / ".env").write_text("PASSWORD=hidden\n")
        files = (("pdf-forms", "SKILL.md"), (".", ".env"))
        calls = [("mcp__skillc__skc_open", {"skill": skill, "path": path}) for skill, path in files]
        _, *requests = ask("claude", home, "Go on.", server=server, answers=[*calls, "Done."])
        said = [json.dumps(request["messages"][-1]) for request in requests]
        assert ["## Usage" in answer for answer in said] == [True, False]
        assert "PASSWORD" not in "".join(said)
