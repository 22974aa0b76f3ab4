"""How well `skc find` finds, in numbers: over the example skills, or over any folders of skills.

    scripts/eval-find [<folder>...] [--tasks <folder>] [--against <checkout>] [--half tune] [--misses]

Questions are of five kinds:

- written: short lines of a file, the names of skills that fit and a task in words. `eval-find.tsv` is one,
  written with a look at the names of skills alone. A name with a `*` fits names and words of names.
- pages: its long lines, and the tasks of benchmarks (`--tasks`): folders with an `instruction.md` each and
  the skills that help with it in `environment/skills`, or Markdown files that are named as a skill.
- sentences, phrases, uses: "Use when" sentences and "quoted phrases" of descriptions, and the lists below
  headings such as "When to use". They come from skills whose names have no word in common.
- paragraphs: from the middle of bodies, in whatever language they are.

What is asked is left out of the skill and of all skills that have the same name or the same words, in a copy
of the folders: a skill is to be found by what else it says. A skill counts as found under the name of its
directory or of its frontmatter; copies of it count as well.

One half of the questions, by their hash, is for tuning, the other is asked as a rule. With `--against`,
another checkout answers the same questions, and differences have intervals of 95% by bootstrap.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

HERE = Path(__file__).parent
LIMIT = 10
PAGE = 100  # characters from which on a written question is a page
SAMPLES = 2000  # of the bootstrap

SENTENCE = re.compile(r"""(?<=[.!?])\s+(?=[A-Z"“'(/])|\s*\n\s*""")
USE = re.compile(
    r"(?i)\b(?:use (?:this |the )?(?:skill )?(?:when|whenever|if)|when (?:the |a )?users?|triggers?|"
    r"(?:invoke|activate|apply) (?:this )?when)\b"
)
LEAD = re.compile(
    r"(?i)^.*?\b(?:(?:use|invoke)\s(?:this\s|the\s)?(?:skill\s)?(?:when|whenever|if)|when)\b[:\s]*"
    r"(?:(?:the\s|a\s)?users?\b|you\b|claude\b|asked|someone)?\s*"
    r"(?:(?:asks?|wants?|needs?|needed|requests?|mentions?|says?|is|are|would\slike|asking|working)\b)?\s*"
    r"(?:(?:to|for|about|with|on|how\sto)\b)?\s*"
)
QUOTE = re.compile(r'["“]([^"”]{4,60})["”]')
USES = re.compile(
    r"(?im)^#+ *[^\n]*\b(?:when to (?:use|invoke|activate|apply)|use cases|triggers?)\b[^\n]*\n([^#]*)"
)
ITEM = re.compile(r"(?m)^ *[-*•] +(.*)$")
WORD = re.compile(r"[^\W_]+")
MARKS = re.compile(r'["“”`*]')


class Skill(NamedTuple):
    path: str  # in the copy of the folders
    names: frozenset[str]
    description: str
    tags: tuple[str, ...]
    body: str
    raw: bytes


class Question(NamedTuple):
    kind: str
    task: str
    fitting: frozenset[str]  # paths of skills


class Answer(NamedTuple):
    found: list[str]  # paths of skills
    seconds: float


def words_of(text: str) -> str:
    """The words of a text between single spaces, by which texts are compared."""
    return " ".join(["", *WORD.findall(text.lower()), ""])


def find_files(root: Path) -> Iterator[Path]:
    """The SKILL.md files of a folder; those below a skill are its files."""
    for directory, directories, names in os.walk(root):
        if "SKILL.md" in names:
            directories.clear()
            yield Path(directory, "SKILL.md")
        directories.sort()


def read_skills(folders: Iterable[Path]) -> Iterator[Skill]:
    """All skills that can be found; others are quarantined."""
    from skillc.skills.document import parse, read_metadata, read_tags

    for folder in folders:
        for file in find_files(folder.resolve()):
            raw = file.read_bytes()
            try:
                document = parse(raw)
                told = read_metadata(document, file.parent.name)
            except Exception:  # whatever is wrong with it
                continue
            # An index does not look into folders whose names start with a dot.
            parts = [part.lstrip(".") or part for part in file.parent.relative_to(folder.resolve()).parts]
            path = os.path.join(folder.name, *parts)
            names = frozenset({file.parent.name.lower(), told.name.lower()})
            body = document.data[document.body :].decode("utf-8", "replace")
            yield Skill(path, names, told.description, read_tags(told.fields), body, raw)


def ask_sentence(skill: Skill) -> list[str]:
    uses = [text for text in SENTENCE.split(skill.description) if USE.search(text) and "rigger" not in text]
    tasks = [MARKS.sub("", LEAD.sub("", text)).strip(" .,:") for text in uses]
    return [task for task in tasks if 5 <= len(task.split()) <= 30]


def ask_phrase(skill: Skill) -> list[str]:
    uses = [text for text in SENTENCE.split(skill.description) if USE.search(text)]
    phrases = [phrase.strip(" .,") for text in uses for phrase in QUOTE.findall(text)]
    return [phrase for phrase in phrases if 2 <= len(phrase.split()) <= 8]


def ask_use(skill: Skill) -> list[str]:
    section = USES.search(skill.body)
    items = [MARKS.sub("", item).strip(" .:") for item in ITEM.findall(section[1])] if section else []
    return [
        i for i in items if 3 <= len(i.split()) <= 14 and not re.match(r"(?i)(?:do not|don.t|not|never)\b", i)
    ]


def ask_paragraph(skill: Skill) -> list[str]:
    paragraphs = [p for p in re.split(r"\n\s*\n", skill.body) if 150 < len(p) < 1500 and "```" not in p]
    return paragraphs[len(paragraphs) // 2 :][:1]


KINDS: dict[str, Callable[[Skill], list[str]]] = {
    "sentences": ask_sentence,
    "phrases": ask_phrase,
    "uses": ask_use,
    "paragraphs": ask_paragraph,
}


class Library:
    """The skills of some folders, and the questions to ask about them."""

    def __init__(self, skills: Sequence[Skill]) -> None:
        self.skills = {skill.path: skill for skill in skills}
        self.questions: list[Question] = []
        self.secrets: dict[str, list[str]] = defaultdict(list)  # what is left out of a skill
        self._names: dict[str, set[str]] = defaultdict(set)
        self._texts: dict[str, set[str]] = defaultdict(set)  # by description
        for skill in skills:
            self._texts[words_of(skill.description)].add(skill.path)
            for name in skill.names:
                self._names[name].add(skill.path)

    def add_written(self, path: Path) -> None:
        """Add the questions of a file whose skills are there."""
        for line in path.read_text(encoding="utf-8").splitlines():
            if line and line[0] != "#":
                names, task = line.split("\t", 1)
                fitting = frozenset().union(*map(self._named, names.lower().split(",")))
                if fitting:
                    self.questions.append(Question("pages" if len(task) > PAGE else "written", task, fitting))

    def add_tasks(self, folder: Path) -> None:
        """Add the tasks of a benchmark whose skills are there."""
        pages = [
            (f, [d.name for d in f.parent.glob("environment/skills/*")])
            for f in folder.glob("*/instruction.md")
        ]
        for file, names in sorted(pages + [(file, [file.stem]) for file in folder.glob("*.md")]):
            fitting = frozenset().union(*(self._named(name.lower()) for name in names))
            if fitting:
                self.questions.append(Question("pages", file.read_text(encoding="utf-8"), fitting))

    def _named(self, pattern: str) -> set[str]:
        if "*" not in pattern:
            return self._names.get(pattern, set())
        fitting = (
            name
            for name in self._names
            if any(fnmatchcase(part, pattern) for part in (name, *re.split(r"[^a-z0-9]+", name)))
        )
        return set().union(*(self._names[name] for name in fitting))

    def add_own(self, kind: str, count: int) -> None:
        """Add questions in the words of skills, each from another family of names."""
        families: set[object] = set()
        order = sorted(self.skills.values(), key=lambda skill: crc32(f"{kind} {min(skill.names)}".encode()))
        for skill in order:
            parts = re.split(r"[^a-z0-9]+", min(skill.names))
            family = {parts[0], tuple(parts[-2:])}
            if count and not families & family:
                texts = KINDS[kind](skill)
                words = {word for name in skill.names for word in words_of(name).split()}
                tasks = [text for text in texts if not set(words_of(text).split()) <= words]
                if tasks and self._ask(kind, skill, tasks[crc32(min(skill.names).encode()) % len(tasks)]):
                    families |= family
                    count -= 1

    def _ask(self, kind: str, skill: Skill, text: str) -> bool:
        if len(self._without(skill.description, [text]).split()) < 5:
            return False  # nothing would be left to find it by
        fitting = {path for name in skill.names for path in self._names[name]}
        fitting |= self._texts[words_of(skill.description)]
        for path in fitting:
            self.secrets[path].append(text)
        task = text
        for name in skill.names if kind == "paragraphs" else ():
            task = re.sub(re.escape(name).replace(r"\-", "[- ]"), "", task, flags=re.IGNORECASE)
        self.questions.append(Question(kind, task, frozenset(fitting)))
        return True

    @staticmethod
    def _without(description: str, secrets: Iterable[str]) -> str:
        """A description without the sentences that have what is asked."""
        hidden = [words_of(text) for text in secrets]
        sentences = SENTENCE.split(description)
        return " ".join(text for text in sentences if not any(words in words_of(text) for words in hidden))

    def write(self, root: Path) -> None:
        """Write the skills without what is asked."""
        for path, skill in self.skills.items():
            file = root / path / "SKILL.md"
            file.parent.mkdir(parents=True)
            secrets = self.secrets.get(path)
            file.write_bytes(skill.raw if not secrets else self._rewrite(skill, secrets))

    def _rewrite(self, skill: Skill, secrets: list[str]) -> bytes:
        body = skill.body
        for text in secrets:
            body = body.replace(text, "")
        hidden = [words_of(text) for text in secrets]
        lines = [line for line in body.split("\n") if not any(words in words_of(line) for words in hidden)]
        description = self._without(skill.description, secrets) or "-"
        tags = [tag for tag in skill.tags if not any(words in words_of(tag) for words in hidden)]
        name = next(iter(skill.names - {Path(skill.path).name.lower()}), Path(skill.path).name)
        head = f"name: {json.dumps(name)}\ndescription: {json.dumps(description)}\ntags: {json.dumps(tags)}"
        return "\n".join(["---", head, "---", *lines]).encode("utf-8", "replace")


def answer(root: Path, tasks: Sequence[str]) -> Iterator[Answer]:
    """Ask the skillc that is imported here; the index is made below the folder's parent."""
    from skillc.index.skills import Searchable, SkillIndex

    library = SkillIndex(str(Path(tempfile.mkdtemp(dir=root.parent)) / "library.db"))
    parts = [Searchable("library", library.folder(str(root), False))]
    library.find(parts, "what takes time only once", 1)
    for task in tasks:
        start = time.perf_counter()
        found = library.find(parts, task, LIMIT)
        seconds = time.perf_counter() - start
        yield Answer([os.path.relpath(skill.directory, root) for skill in found], seconds)


def answer_in(checkout: Path, root: Path, tasks: Sequence[str]) -> list[Answer]:
    """The answers of the skillc in a checkout."""
    command = [sys.executable, __file__, "--answer", str(root)]
    env = {**os.environ, "PYTHONPATH": str(checkout.resolve() / "src")}
    ran = subprocess.run(
        command, input=json.dumps(tasks), env=env, stdout=subprocess.PIPE, text=True, check=True
    )
    return [Answer(*values) for values in json.loads(ran.stdout)]


class Scores(NamedTuple):
    """Each question's figures, by measure."""

    figures: dict[str, list[float]]
    seconds: list[float]

    @classmethod
    def of(cls, questions: Sequence[Question], answers: Sequence[Answer]) -> Scores:
        figures: dict[str, list[float]] = {"Hit@1": [], "Hit@5": [], "MRR@10": [], "nDCG@10": []}
        for question, (found, _) in zip(questions, answers, strict=True):
            hits = [path in question.fitting for path in found]
            first = hits.index(True) + 1 if any(hits) else math.inf
            gain = sum(1 / math.log2(n + 2) for n, hit in enumerate(hits) if hit)
            ideal = sum(1 / math.log2(n + 2) for n in range(min(len(question.fitting), LIMIT)))
            for measure, value in zip(
                figures, (first == 1, first <= 5, 1 / first, gain / ideal), strict=True
            ):
                figures[measure].append(100.0 * value)
        return cls(figures, sorted(seconds for _, seconds in answers))

    def __str__(self) -> str:
        means = "  ".join(f"{name} {statistics.mean(values):5.1f}" for name, values in self.figures.items())
        median, late = statistics.median(self.seconds), self.seconds[int(len(self.seconds) * 0.95)]
        return f"{means}  median {median * 1e3:.1f} ms  p95 {late * 1e3:.1f} ms"

    def minus(self, other: Scores) -> str:
        """The difference to other answers to the same questions, with intervals."""
        rng = random.Random(1)
        parts = []
        for measure, values in self.figures.items():
            changes = [ours - theirs for ours, theirs in zip(values, other.figures[measure], strict=True)]
            means = sorted(statistics.fmean(rng.choices(changes, k=len(changes))) for _ in range(SAMPLES))
            low, high = means[int(0.025 * SAMPLES)], means[int(0.975 * SAMPLES)]
            parts.append(f"{measure} {statistics.mean(changes):+.1f} [{low:+.1f}, {high:+.1f}]")
        return "  ".join(parts)


def report(questions: Sequence[Question], ours: Sequence[Answer], theirs: Sequence[Answer] | None) -> None:
    """Print the figures of each kind, and of all but those of whole pages and paragraphs together."""
    kinds = list(dict.fromkeys(question.kind for question in questions))
    groups = {kind: [kind] for kind in kinds} | {
        "short": [k for k in kinds if k not in ("pages", "paragraphs")]
    }
    for label, members in groups.items():
        numbers = [n for n, question in enumerate(questions) if question.kind in members]
        if numbers:
            some = [questions[n] for n in numbers]
            scores = Scores.of(some, [ours[n] for n in numbers])
            print(f"{label}: {len(some)} questions\n  {scores}")
            if theirs is not None:
                others = Scores.of(some, [theirs[n] for n in numbers])
                print(f"  {others}  before\n  {scores.minus(others)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", nargs="*", type=Path, default=[HERE.parent / "examples"])
    parser.add_argument("--queries", type=Path, default=HERE / "eval-find.tsv")
    parser.add_argument("--tasks", type=Path, action="append", default=[], help="a folder of long tasks")
    parser.add_argument(
        "--count", type=int, default=300, help="questions of each kind in the words of skills"
    )
    parser.add_argument(
        "--half", choices=("tune", "report", "both"), default="report", help="which questions to ask"
    )
    parser.add_argument("--against", type=Path, help="a checkout whose ranking is measured, too")
    parser.add_argument("--misses", action="store_true", help="show what was not found first")
    parser.add_argument("--answer", type=Path, help=argparse.SUPPRESS)  # what a run starts with --against
    given = parser.parse_args()
    if given.answer:
        json.dump(list(answer(given.answer, json.load(sys.stdin))), sys.stdout)
        return
    library = Library(list(read_skills(given.folder)))
    library.add_written(given.queries)
    for folder in given.tasks:
        library.add_tasks(folder)
    for kind in KINDS:
        library.add_own(kind, given.count)
    halves = {"tune": (0,), "report": (1,), "both": (0, 1)}[given.half]
    questions = [q for q in library.questions if crc32(q.task.encode()) & 1 in halves]
    tasks = [question.task for question in questions]
    place = Path(tempfile.mkdtemp())
    try:
        library.write(place / "skills")
        print(f"{len(library.skills)} skills, {len(questions)} questions")
        ours = answer_in(HERE.parent, place / "skills", tasks)
        report(questions, ours, given.against and answer_in(given.against, place / "skills", tasks))
    finally:
        shutil.rmtree(place)
    for question, (found, _) in zip(questions, ours, strict=True) if given.misses else ():
        if not found or found[0] not in question.fitting:
            rank = next((n for n, path in enumerate(found, 1) if path in question.fitting), "-")
            task = " ".join(question.task.split())[:60]
            print(f"  {rank:>2}  {question.kind}: {task!r}: {', '.join(found[:3])}")


if __name__ == "__main__":
    main()
