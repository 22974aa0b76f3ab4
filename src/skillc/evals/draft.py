"""Write the first cases of a skill, to be edited: `skc eval init`.

Prompts for the skill come from its description and headings, near misses from the skills that are nearest to
it, and tasks are templates. They are a start and no test: prompts in a skill's own words are the easy ones.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from skillc import atomic
from skillc.contract import Result
from skillc.errors import InvalidOption
from skillc.library import Skill, find_skills
from skillc.paths import CASES_FOLDER
from skillc.skills.cases import has_cases
from skillc.skills.document import Document, parse, read_main_file, read_metadata

FILE = f"{CASES_FOLDER}/evals.json"
MAX_TRIGGERS = 8
MAX_MISSES = 6
MIN_WORDS, MAX_WORDS = 2, 20
TO_DO = "TODO: "
_QUOTED = re.compile(r"[\"“”]([^\"“”]{4,120})[\"“”]")
_PIECES = re.compile(r"[.;,:](?=\s|$)|[()\n]| — | or ")
_LEAD = re.compile(
    r"(?i)^(?:and |also )*"
    r"(?:(?:use|invoke|activate|trigger(?:s|ed)?) (?:this skill |it )?"
    r"(?:when|whenever|any time|if|for|on|to) |(?:this|triggers?) includes?(?: |$)|any mention of |"
    r"(?:this skill|it) (?:is for|helps(?: you)?(?: to)?|can) |when(?:ever)? )?"
    r"(?:(?:the |a )?users? (?:asks?|wants?|needs?|mentions?|says?)(?: (?:for|to|you to|about))? |"
    r"you (?:need|want) to )?"
)
_GENERAL = re.compile(  # headings that say nothing of what a skill is for
    r"(?:when|how) to use|(?:overview|usage|quick start|getting started|workflow|references|examples|"
    r"resources|best practices|instructions|introduction|requirements|prerequisites|troubleshooting)$",
    re.IGNORECASE,
)

_TASK = {
    "id": "task-1",
    "prompt": f"{TO_DO}what a person would ask, with all that the answer needs",
    "expected_output": f"{TO_DO}what a good answer has",
    "files": [],
    "expectations": [f"{TO_DO}something that can be seen in the answer, or in a file that it left"],
}


@dataclass(frozen=True, slots=True)
class Draft(Result):
    """The file that was written, with how many cases of each kind."""

    id: str
    path: str
    triggers: int
    near_misses: int
    tasks: int

    def lines(self) -> Iterator[str]:
        prompts = f"{self.triggers} prompts for the skill, {self.near_misses} for others"
        yield f"Wrote {self.path}: {prompts}, and a task to be written"
        yield "Next: put them into the words of people, write the task, then 'skc eval --free' and 'skc eval'"


def draft_cases(skill: Skill, cwd: str) -> Draft:
    """Write the cases of a skill that has none; raises InvalidOption for one that has."""
    path = os.path.join(skill.source, FILE)
    folder = os.path.dirname(path)
    if has_cases(skill.source) and os.listdir(folder):
        raise InvalidOption(f"'{skill.name}' has cases already, in '{folder}'; edit those")
    document = parse(read_main_file(skill.source))
    fields = read_metadata(document, skill.name)
    triggers = list(dict.fromkeys(_list_prompts(fields.description, document)))[:MAX_TRIGGERS]
    misses = list(_list_near_misses(skill, fields.description, cwd))
    kinds = (("for", triggers, True), ("not-for", misses, False))
    evals = [
        {"id": f"{kind}-{number}", "prompt": prompt, "should_trigger": should}
        for kind, prompts, should in kinds
        for number, prompt in enumerate(prompts, 1)
    ]
    text = json.dumps({"skill_name": skill.name, "evals": [*evals, _TASK]}, ensure_ascii=False, indent=2)
    os.makedirs(folder, exist_ok=True)
    atomic.write(path, f"{text}\n".encode("utf-8", "backslashreplace"), durable=True)
    return Draft(skill.name, path, len(triggers), len(misses), 1)


def _list_prompts(description: str, document: Document) -> Iterator[str]:
    """Yield prompts that the skill is for, in its own words."""
    headings = (each.text for each in document.headings() if each.level == 2)
    ours = (heading for heading in headings if not _GENERAL.match(heading))
    return _choose([*_QUOTED.findall(description), *_list_phrases(description), *ours])


def _list_near_misses(skill: Skill, description: str, cwd: str) -> Iterator[str]:
    """Yield a prompt for each of the skills that are nearest to this one."""
    source = os.path.realpath(skill.source)
    found = find_skills(cwd, description, MAX_MISSES + 2) if any(map(str.isalnum, description)) else []
    others = [each for each in found if each.name != skill.name]
    others = [each for each in others if os.path.realpath(each.directory or "/") != source]
    for other in others[:MAX_MISSES]:
        yield from islice(_choose(_list_phrases(other.description)), 1)


def _list_phrases(description: str) -> Iterator[str]:
    """Yield the parts of a description, without the words that introduce them."""
    return (_LEAD.sub("", piece.strip()) for piece in _PIECES.split(_QUOTED.sub("", description)))


def _choose(texts: Iterable[str]) -> Iterator[str]:
    """Yield the texts that may be prompts, as sentences begin."""
    for text in texts:
        if MIN_WORDS <= len(text.split()) <= MAX_WORDS:
            words = " ".join(text.split())
            yield words[:1].upper() + words[1:]
