"""How well `skc find` finds, in numbers: over the example skills, or over any folders of skills.

    scripts/eval-find [<folder>...] [--queries <file>] [--limit-own <n>] [--misses]

Two kinds of questions:

- tasks: lines of a file, the names of skills that fit and a task in words. `eval-find.tsv` is one, written
  without a look at the descriptions of the skills it names; tasks whose skills are not there are left out.
- own words: for each skill, or for a sample of them, a paragraph from the middle of its body, without the
  skill's name. Any folder can be measured by them, in whatever language it is.

A skill counts as found under the name of its directory or of its frontmatter; copies of it count as well.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from skillc.index.skills import Searchable, SkillIndex
from skillc.skills import parse, read_metadata

HERE = Path(__file__).parent
LIMIT = 10


class Question(NamedTuple):
    names: frozenset[str]
    task: str


def tasks(path: Path, known: set[str]) -> list[Question]:
    """The tasks of a file whose skills are there."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    pairs = [line.split("\t", 1) for line in lines]
    questions = [Question(frozenset(names.split(",")), task) for names, task in pairs]
    return [question for question in questions if question.names & known]


def own_words(paths: Sequence[Path], most: int) -> list[Question]:
    """Paragraphs of skills without their names; skills without one long enough are left out."""
    rng = random.Random(1)
    questions = []
    for path in rng.sample(paths, min(most, len(paths))):
        body = path.read_text(encoding="utf-8", errors="replace").rpartition("\n---\n")[2]
        paragraphs = [p for p in re.split(r"\n\s*\n", body) if 150 < len(p) < 1500 and "```" not in p]
        if paragraphs:
            name = path.parent.name
            words = paragraphs[len(paragraphs) // 2]
            task = re.sub(re.escape(name).replace("-", "[- ]"), "", words, flags=re.IGNORECASE)
            questions.append(Question(frozenset({name}), task))
    return questions


def names_of(path: Path) -> set[str]:
    """What a skill goes by."""
    try:
        told = read_metadata(parse(path.read_bytes()), path.parent.name)
    except Exception:
        return set()  # quarantined: nobody can find it
    return {path.parent.name, told.name}


def measure(
    questions: Sequence[Question],
    every: Collection[set[str]],
    ask: Callable[[str], list[set[str]]],
    misses: bool,
) -> None:
    """Ask and print; `every` are the names of all skills, of which some fit a question."""
    ranks: list[int | None] = []
    gains, seconds = [], []
    for question in questions:
        start = time.perf_counter()
        found = ask(question.task)
        seconds.append(time.perf_counter() - start)
        hits = [bool(names & question.names) for names in found]
        ranks.append(hits.index(True) + 1 if any(hits) else None)
        fitting = sum(1 for names in every if names & question.names)
        ideal = sum(1 / math.log2(n + 2) for n in range(min(fitting, LIMIT)))
        gains.append(sum(1 / math.log2(n + 2) for n, hit in enumerate(hits) if hit) / ideal)
        if misses and ranks[-1] != 1:
            first = ", ".join(min(names) for names in found[:3])
            print(f"  {ranks[-1] or '-':>2}  {' '.join(question.task.split())[:60]!r}: {first}")
    count = len(questions)
    at = {n: sum(1 for rank in ranks if rank is not None and rank <= n) / count for n in (1, 5)}
    mrr = sum(1 / rank for rank in ranks if rank is not None) / count
    spent = sorted(seconds)
    median, late = statistics.median(spent) * 1e3, spent[int(len(spent) * 0.95)] * 1e3
    print(
        f"  Hit@1 {at[1]:.1%}  Hit@5 {at[5]:.1%}  MRR@10 {mrr:.3f}  nDCG@10 {statistics.mean(gains):.3f}"
        f"  median {median:.1f} ms  p95 {late:.1f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="*", type=Path, default=[HERE.parent / "examples"])
    parser.add_argument("--queries", type=Path, default=HERE / "eval-find.tsv")
    parser.add_argument("--limit-own", type=int, default=200, help="how many skills' own words to ask")
    parser.add_argument("--index", help="keep the index in this file")
    parser.add_argument("--misses", action="store_true", help="show what was not found first")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        library = SkillIndex(given.index or f"{place}/library.db")
        parts = [
            Searchable(folder.name, library.folder(str(folder.resolve()), False)) for folder in given.folder
        ]
        start = time.perf_counter()
        library.find(parts, "index", 1)
        print(f"indexed in {time.perf_counter() - start:.1f} s")
        paths = [path for folder in given.folder for path in sorted(folder.resolve().rglob("SKILL.md"))]
        names = {str(path.parent): found for path in paths if (found := names_of(path))}
        known = {name for found in names.values() for name in found}
        kinds = {
            "tasks": tasks(given.queries, known),
            "own words": own_words([path for path in paths if str(path.parent) in names], given.limit_own),
        }

        def ask(task: str) -> list[set[str]]:
            return [names.get(skill.directory, {skill.name}) for skill in library.find(parts, task, LIMIT)]

        for kind, questions in kinds.items():
            if questions:
                ask("what takes time only once")
                print(f"{kind}: {len(questions)} questions, {len(names)} skills")
                measure(questions, names.values(), ask, given.misses)


if __name__ == "__main__":
    main()
