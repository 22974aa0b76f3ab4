"""What real agents show their models of skills, without and with skc, as a table for docs/agents.md.

    .venv/bin/python scripts/bench_listing.py <folder>... [--count 20 --count 199] [--agent claude]

The skills below the folders, of each name the first, are put into an agent's own folder as any other tool
puts them, and the agent is run once against a scripted model, which keeps what it got. Then `skc import`
takes them over, `skc listing fit` chooses, and the agent is run again. A description is whole if the model
got all of it. Nothing is computed here: where a program is not in .cache/agents (scripts/agents fetches it),
the table has a line less and says so.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.agents.programs import COMMANDS, FOLDERS, PROGRAMS, ask, new_home, read_listing

from skillc.listing import read_rules
from skillc.skills.document import parse

COUNTS = (20, 60, 199, 2000)
NAMES = {"claude": "Claude Code", "codex": "Codex", "github-copilot": "Copilot CLI", "opencode": "OpenCode"}
WINDOWS = {"codex": 272_000}  # tokens, where it is not 200,000
HEAD = (
    "| agent | skills | without skc: whole | cut | name alone | not told | characters "
    "| with skc: whole | not whole | on demand | characters |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
)


class Seen(NamedTuple):
    """What a model got of skills: how many whole, cut and by name alone, and the characters of all lines."""

    whole: int
    cut: int
    names: int
    size: int
    has_more: bool

    @property
    def told(self) -> int:
        return self.whole + self.cut + self.names


class Skill(NamedTuple):
    """A public skill: its folder, the name in its frontmatter, and its description."""

    path: Path
    title: str
    description: str

    def name(self, agent: str) -> str:
        return self.title if read_rules()[agent].name == "field" else self.path.name


def read_skills(folders: Sequence[Path]) -> Iterator[Skill]:
    """Yield skills below folders, of each name the first.

    Left out are those that an agent has itself, and those that their authors keep out of listings.
    """
    names = {name for rule in read_rules().values() for name in rule.own}
    for folder in folders:
        for place, below, files in os.walk(folder):
            below.sort()
            if "SKILL.md" not in files:
                continue
            below.clear()
            path = Path(place)
            front = parse((path / "SKILL.md").read_bytes()).frontmatter
            fields = front.fields if front else {}
            title, text = (str(fields.get(key) or "") for key in ("name", "description"))
            if fields.get("disable-model-invocation"):
                continue
            if text and title and ":" not in title and not {path.name, title} & names:
                names |= {path.name, title}
                yield Skill(path, title, text)


def look(agent: str, home: Path, descriptions: dict[str, str]) -> Seen:
    """Run an agent once, and count what its model got."""
    shown = read_listing(agent, ask(agent, home))
    states = [
        "whole" if _same(text, description) else "cut" if text else "name"
        for name, text in shown.items()
        if (description := descriptions.get(_plain(name)))
    ]
    size = sum(len(name) + len(text) for name, text in shown.items())
    has_more = any("more-skills" in name and text for name, text in shown.items())
    return Seen(states.count("whole"), states.count("cut"), states.count("name"), size, has_more)


def _plain(name: str) -> str:
    """Return a name as Copilot CLI writes it, which has a hyphen for what is not of a name."""
    return re.sub(r"[^A-Za-z0-9_]+", "-", name)


def _same(shown: str, description: str) -> bool:
    return shown.split() == description.split()


def measure(agent: str, skills: Sequence[Skill]) -> str:
    descriptions = {_plain(skill.name(agent)): skill.description for skill in skills}
    with new_home(agent) as home:
        folder = home / FOLDERS[agent]
        for skill in skills:
            shutil.copytree(skill.path, folder / skill.path.name)
        before = look(agent, home, descriptions)
        for words in (["import", str(folder), "--yes"], ["listing", "fit", "--yes", "--agent", agent]):
            _run_skc(home, WINDOWS.get(agent, 0), *words)
        after = look(agent, home, descriptions)
    if after.told < len(skills) and not after.has_more:
        sys.exit(f"bench_listing: {agent} was told of no way to the skills that it does not list")
    told = (before.whole, before.cut, before.names, len(skills) - before.told, before.size)
    then = (after.whole, after.cut + after.names, len(skills) - after.told, after.size)
    return f"| {' | '.join([NAMES[agent], *(f'{count:,}' for count in (len(skills), *told, *then))])} |"


def _run_skc(home: Path, window: int, *words: str) -> None:
    (home / ".skillc").mkdir(exist_ok=True)
    if window:
        (home / ".skillc" / "config.toml").write_text(f"[listing]\nwindow = {window}\n")
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    command = [sys.executable, "-I", "-m", "skillc", *words]
    run = subprocess.run(command, cwd=home, env=env, capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"skc {' '.join(words)}: {run.stderr[-2000:]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="+", type=Path)
    parser.add_argument("--count", type=int, action="append", help="skills to try (20, 60, 199 and 2,000)")
    parser.add_argument("--agent", choices=[*FOLDERS], action="append", help="agents to run (all)")
    options = parser.parse_args()
    skills = list(read_skills(options.folder))
    print(HEAD)
    for agent in options.agent or FOLDERS:
        if not (PROGRAMS / COMMANDS[agent].split()[0]).exists():
            print(f"{NAMES[agent]} is not here: scripts/agents fetches it", file=sys.stderr)
            continue
        for count in options.count or COUNTS:
            if count > len(skills):
                print(f"there are {len(skills):,} skills, not {count:,}", file=sys.stderr)
                continue
            print(measure(agent, skills[:count]), flush=True)


if __name__ == "__main__":
    main()
