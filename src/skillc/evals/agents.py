"""The agents that `skc eval` can run: `agents.toml`, or a command of the user's own."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from skillc.errors import CannotRun, InvalidOption
from skillc.evals.transcripts import Call, Transcript
from skillc.skills.cases import Case
from skillc.spelling import did_you_mean
from skillc.toml import read_agents

# Variables that a command of the user's own gets: what models are asked with, and no other secret.
MODELS = (
    *("ANTHROPIC_", "OPENAI_", "AZURE_OPENAI_", "GEMINI_", "OPENROUTER_", "MISTRAL_", "DEEPSEEK_", "GROQ_"),
    *("XAI_", "COHERE_", "TOGETHER_", "FIREWORKS_", "OLLAMA_"),
)
_SKILL_FILE = re.compile(r"""([^\s/\\"']+)[/\\](?:SKILL|skill)\.md(?![\w.-])""")
_SHOWN = re.compile(r"\bskc (?:show|outline|search|open|load) ['\"]?([\w-]+)")  # as stubs say it
_ALIASES = {"claude-code": "claude", "gemini-cli": "gemini"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Runner:
    """How one agent is run. `agents.toml` says what each field means."""

    agent: str
    program: str
    command: tuple[str, ...]
    target: str = ""
    folder: str = ""
    skills: str = "skills"
    variable: str = ""
    stream: str = ""
    tells_cost: bool = False
    model: tuple[str, ...] = ()
    turns: str = ""
    allow: str = ""
    tools: tuple[str, ...] = ()
    quiet: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    tool: str = ""
    names: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    clouds: Mapping[str, Sequence[str]] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    seen: str = ""
    fired: re.Pattern[str] | None = None  # a line of a command's output that shows that the skill fired

    def find_program(self) -> str:
        """Return the path of the program; raises CannotRun."""
        path = shutil.which(self.program)
        if path is None:
            raise CannotRun(self.program, f"it is not on the path, and --agent {self.agent} needs it")
        # As it is named, which some programs go by, in its real folder: only that is opened to it.
        folder, name = os.path.split(os.path.abspath(path))
        return os.path.join(os.path.realpath(folder), name)

    def arguments(self, case: Case, skills: str, *, in_sandbox: bool) -> list[str]:
        """Return what follows the program for one run, with what a case asks and allows."""
        # A prompt that starts with a hyphen would be an option, which may allow everything.
        prompt = f" {case.prompt}" if case.prompt.startswith("-") else case.prompt
        values = {"{prompt}": prompt, "{skills}": skills, "{model}": case.model}
        own = self.inside if in_sandbox else self.outside
        words = [*self.command, *own, *(self.model if case.model else ())]
        # One pass: a prompt may have such words itself.
        pattern = re.compile("|".join(map(re.escape, values)))
        argv = [pattern.sub(lambda match: values[match[0]], word) for word in words]
        if self.turns and case.max_turns:
            argv += [self.turns, str(case.max_turns)]
        if self.allow:
            argv += [self.allow, ",".join([*self.tools, *case.tools])]
        return argv

    def as_judge(self) -> Runner:
        """Return the agent without tools, as far as it can be told so."""
        words = [word for word in self.command if word not in ("--permission-mode", "acceptEdits")]
        return replace(self, command=(*words, *self.quiet), inside=(), outside=(), turns="", allow="")

    def find_load(self, transcript: Transcript, skill: str) -> Call | None:
        """Return the call that loaded a skill, by its exact name; the first that worked, else the last."""
        calls = [call for call in transcript.calls if skill in self.loads(call)]
        return next((call for call in calls if not call.failed), calls[-1] if calls else None)

    def loads(self, call: Call) -> set[str]:
        """Return the names of the skills that a call loads."""
        if self.tool:
            given = call.arguments if call.tool == self.tool and isinstance(call.arguments, Mapping) else {}
            names = [given[key] for key in self.names if isinstance(given.get(key), str)]
            # `/pdf fill it` is the skill with arguments, and `plugin:pdf` that of a plugin.
            return {name.lstrip("/").split(" ")[0].rpartition(":")[2] for name in names}
        if call.tool == "command_execution":
            command = str(call.arguments)
            return {*_SKILL_FILE.findall(command), *_SHOWN.findall(command)}
        given = call.arguments if isinstance(call.arguments, Mapping) else {}
        is_ours = call.tool.rpartition(".")[2] in ("skc_show", "skc_outline", "skc_open", "load_skill")
        return {str(given.get("skill", given.get("id", ""))).rpartition("/")[2]} if is_ours else set()


def find_runners(names: str, command: str = "", fired: str = "") -> list[Runner]:
    """Return the agents of a list with commas, or the one that a command is; raises InvalidOption."""
    if command:
        if names:
            raise InvalidOption("--agent and --agent-command exclude each other")
        return [own_runner(command, fired)]
    if fired:
        raise InvalidOption(
            "--fired goes with --agent-command; the agents of --agent say themselves what fired"
        )
    table, runners = read_runners(), []
    words = [word for word in map(str.strip, names.split(",")) if word]
    if not words:
        raise InvalidOption(f"--agent names none; known are {', '.join(table)}")
    for word in dict.fromkeys(_ALIASES.get(word, word) for word in words):
        if word not in table:
            known = did_you_mean(word, table) or f"known are {', '.join(table)}"
            raise InvalidOption(
                f"unknown agent '{word}' for --agent; {known}; --agent-command runs any other"
            )
        runners.append(table[word])
    return runners


def own_runner(command: str, fired: str) -> Runner:
    """Return the agent that a command of the user's is."""
    try:
        words = shlex.split(command)
        pattern = re.compile(fired, re.MULTILINE) if fired else None
    except ValueError as error:
        raise InvalidOption(f"--agent-command: {error}") from None
    except re.error as error:
        raise InvalidOption(f"--fired is no regular expression: {error}") from None
    if not words or "{prompt}" not in command:
        raise InvalidOption(
            "--agent-command needs {prompt} where the prompt goes; {skills} is the folder of skills"
        )
    return Runner(agent="command", program=words[0], command=tuple(words[1:]), keys=MODELS, fired=pattern)


@cache
def read_runners() -> dict[str, Runner]:
    """Return the agents by their names. The table is part of the package and does not change."""
    return read_agents(os.path.join(os.path.dirname(__file__), "agents.toml"), Runner)
