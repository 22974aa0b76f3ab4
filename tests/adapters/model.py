"""A model that reads: what it does follows from what it was sent, so a skill that did not arrive shows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Call:
    """A call of a tool; arguments that are text are sent as they stand."""

    name: str
    arguments: dict[str, Any] | str


@dataclass(frozen=True)
class Result:
    """What a tool answered, and whether the framework said that it failed."""

    text: str
    is_error: bool = False


@dataclass
class Seen:
    """A request, whatever the protocol: `results` are those that came after the last user message."""

    system: str = ""
    tools: dict[str, Any] = field(default_factory=dict)
    users: list[str] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)

    def user(self, text: str) -> None:
        self.users.append(text)
        self.results.clear()


Reply = str | list[Call]
Mind = Callable[[Seen], Reply]


def librarian(seen: Seen) -> Reply:
    """Finds the collection in the inventory, browses it, loads what fits, answers in the skill's words."""
    question = seen.users[-1]
    if not seen.results:
        found = re.findall(r'<collection path="(.+?)" count="\d+">(.+?)</collection>', seen.system)
        path = next((path for path, words in found if _alike(words, question)), None)
        return [Call("browse_skills", {"path": path})] if path else "There is nothing in the inventory."
    if len(seen.results) == 1:
        skills = json.loads(seen.results[0].text)["skills"]
        skill = next((s["id"] for s in skills if _alike(s["description"], question)), None)
        return [Call("load_skill", {"id": skill})] if skill else "There is nothing in the collection."
    return _word(seen.results[1].text)


def seeker(seen: Seen) -> Reply:
    """Describes the task, loads the best of what is found, answers in the skill's words."""
    if not seen.results:
        return [Call("find_skills", {"task": seen.users[-1], "limit": 2})]
    if len(seen.results) == 1:
        skills = json.loads(seen.results[0].text)["skills"]
        return [Call("load_skill", {"id": skills[0]["id"]})] if skills else "Nothing was found."
    return _word(seen.results[1].text)


def reader(seen: Seen) -> Reply:
    """Answers from the last message if a skill is in it, otherwise from the system prompt."""
    message = seen.users[-1]
    where = message if "</skill>" in message else seen.system
    return f"{_word(where)} Asked: {message.rpartition('</skill>')[2].strip()}"


def caller(*calls: Call) -> Mind:
    """Makes all these calls at once and answers with what came back, as JSON."""

    def mind(seen: Seen) -> Reply:
        if len(seen.results) < len(calls):
            return list(calls)
        return json.dumps([[result.text, result.is_error] for result in seen.results])

    return mind


def _word(text: str) -> str:
    found = re.search(r"The word is \S+\.", text)
    return found[0] if found else "No skill has reached me."


def _alike(one: str, other: str) -> bool:
    """Whether two texts share a word of more than four letters."""
    return bool(_words(one) & _words(other))


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{5,}", text.lower()))
