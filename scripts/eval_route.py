"""How well the confidence of `find` tells tasks that a skill fits from prompts that none fits.

    scripts/eval-route <folder>... [+ <folder>...]... [--fit] [--threshold <confidence>] [--misses]

Each folder holds skills. A `+` begins another library: each is asked and reported by itself, and the model is
fitted to all of them. Prompts are labelled with the skill they want:

- evals: those of `evals/evals.json` beside a SKILL.md, such as many published skills have;
- added: those of `eval-route-short.tsv`, written from each SKILL.md, before any ranking of them was seen;
- the kinds of `scripts/eval-find`, made of skills that have neither.

Others want none: the everyday prompts of `eval-route.tsv`, in ten languages, and `elsewhere`: labelled
prompts that are asked in a library without the folder of their skill (where another skill may fit after all).

A labelled prompt is in the half of its skill, by the hash of the skill's name, an everyday one in that of
its own hash. The model is fitted to one half (`--fit`), the other is reported. A prompt is well routed if one
of at most three skills at or above the threshold is one it wants; an everyday prompt, if there is none.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import exp, sqrt
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from eval_find import KINDS, Library, Question, Skill, read_skills

HERE = Path(__file__).parent
OFFERED = 3  # skills that are offered at most
SHORT = 10  # words from which on a prompt is no short one
SHORT_KINDS = ("evals", "sentences", "phrases", "uses")  # of which there are short ones that name their task
ELSEWHERE = 120  # prompts that are asked in each library without their skills
EVERYDAY, NOWHERE = "everyday", "elsewhere"  # kinds of prompts that want no skill
# What kinds of prompts weigh in a fit, in each library. English everyday ones have words of skills.
EVALS, ADDED, MADE, ENGLISH, FOREIGN, NOWHERE_SHARE = 0.7, 0.4, 0.5, 1.3, 0.6, 0.75
FEW = 8  # results of a kind that weigh as much as many
RIDGE = 3e-3
TUNE, REPORT = 0, 1
HALVES = {"tune": TUNE, "report": REPORT}


class Prompt(NamedTuple):
    kind: str
    group: str  # the folder of its skill, or its language
    text: str
    fitting: frozenset[str]  # paths of skills
    half: int


class Result(NamedTuple):
    is_right: bool
    features: dict[str, float]


class Answer(NamedTuple):
    prompt: Prompt
    results: list[Result]
    seconds: float

    def offers(self, threshold: float) -> list[Result]:
        return [result for result in self.results if confidence(result.features) >= threshold]

    def is_routed(self, threshold: float) -> bool:
        return any(result.is_right for result in self.offers(threshold))


def half_of(text: str) -> int:
    return crc32(f"half {text}".encode()) & 1


def confidence(features: dict[str, float]) -> float:
    from skillc.index.skills.confidence import WEIGHTS

    return squash(sum(WEIGHTS[name] * value for name, value in features.items()))


def squash(number: float) -> float:
    return 1 / (1 + exp(-number))


def read_everyday() -> list[Prompt]:
    lines = (HERE / "eval-route.tsv").read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines if line and line[0] != "#")
    return [Prompt(EVERYDAY, language, text, frozenset(), half_of(text)) for language, text in rows]


def read_added() -> list[tuple[str, str]]:
    """Return the prompts that were written for skills, each after a name."""
    lines = (HERE / "eval-route-short.tsv").read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines if line and line[0] != "#")
    return [(name, text) for name, text in rows]


def read_evals(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the prompts of a folder's evals that want a skill, each with its name."""
    for file in sorted(folder.rglob("evals/evals.json")):
        try:
            value: Any = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        cases = value if isinstance(value, list) else value.get("evals") or value.get("cases") or []
        for case in cases:
            if not isinstance(case, dict):
                continue
            text = case.get("question") or case.get("prompt") or case.get("query")
            name = case.get("expected_skill", file.parent.parent.name)
            if isinstance(text, str) and isinstance(name, str) and case.get("should_trigger") is not False:
                yield name.lower(), text


def make_library(folders: Sequence[Path], count: int) -> tuple[Library, list[Prompt]]:
    """Return the skills of some folders, and the prompts that are labelled with them."""
    library = Library(list(read_skills(folders)))
    skills = library.skills
    cases = [("evals", *case) for folder in folders for case in read_evals(folder)]
    cases += [("added", *case) for case in read_added()]
    names = {name for _, name, _ in cases}
    library.skills = {path: skill for path, skill in skills.items() if not skill.names & names}
    if count:
        library.add_written(HERE / "eval-find.tsv")
        for kind in KINDS:
            library.add_own(kind, count)
    library.skills = skills
    for kind, name, text in cases:
        paths = frozenset(path for path, skill in skills.items() if name in skill.names)
        if paths:
            library.questions.append(Question(kind, text, paths))
    return library, [label(question, skills) for question in library.questions]


def label(question: Question, skills: dict[str, Skill]) -> Prompt:
    path = min(question.fitting)
    name = min(skills[path].names)
    return Prompt(question.kind, path.split(os.sep)[0], question.task, question.fitting, half_of(name))


def ask(library: Library, prompts: Iterable[Prompt]) -> list[Answer]:
    """Ask the skillc that is imported here, in a library without what is asked."""
    from skillc.index.skills import Searchable, SkillIndex
    from skillc.index.skills.confidence import Judge

    seen: list[dict[str, float]] = []
    features = Judge.features

    def record(judge: Judge, *values: Any) -> dict[str, float]:
        seen.append(features(judge, *values))
        return seen[-1]

    place = Path(tempfile.mkdtemp())
    root = place / "skills"
    answers = []
    try:
        Judge.features = record  # type: ignore[assignment,method-assign]
        library.write(root)
        index = SkillIndex(str(place / "library.db"))
        parts = [Searchable("library", index.folder(str(root), False))]
        index.find(parts, "what takes time only once", 1)
        for prompt in prompts:
            seen.clear()
            start = time.perf_counter()
            found = index.find(parts, prompt.text, OFFERED)
            seconds = time.perf_counter() - start
            rights = [os.path.relpath(skill.directory, root) in prompt.fitting for skill in found]
            results = [Result(*pair) for pair in zip(rights, seen, strict=True)]
            answers.append(Answer(prompt, results, seconds))
    finally:
        Judge.features = features  # type: ignore[method-assign]
        shutil.rmtree(place)
    return answers


def ask_all(folders: Sequence[Path], count: int) -> list[Answer]:
    """Ask the prompts of some folders and everyday ones, and some of the first where their skills are not."""
    library, prompts = make_library(folders, count)
    answers = ask(library, [*prompts, *read_everyday()])
    rng = random.Random(1)
    for folder in folders if len(folders) > 1 else ():
        rest = Library([skill for path, skill in library.skills.items() if not is_in(path, folder)])
        names = {name for skill in rest.skills.values() for name in skill.names}
        strangers = [
            prompt._replace(kind=NOWHERE, fitting=frozenset())
            for prompt in prompts
            if all(is_in(path, folder) and not library.skills[path].names & names for path in prompt.fitting)
        ]
        answers += ask(rest, rng.sample(strangers, min(ELSEWHERE, len(strangers))))
    return answers


def is_in(path: str, folder: Path) -> bool:
    return path.split(os.sep)[0] == folder.resolve().name


def is_short(prompt: Prompt) -> bool:
    return prompt.kind in SHORT_KINDS and len(prompt.text.split()) < SHORT


def percent(answers: Sequence[Answer], threshold: float) -> str:
    routed = sum(answer.is_routed(threshold) for answer in answers)
    found = sum(any(result.is_right for result in answer.results) for answer in answers)
    total = len(answers)
    share, most = 100 * routed / total, 100 * found / total
    low, high = interval(routed, total)
    return f"{routed:5d} of {total:5d}  {share:5.1f}% [{low:.0f}, {high:.0f}]  (among {OFFERED}: {most:.1f}%)"


def interval(count: int, total: int) -> tuple[float, float]:
    """Return Wilson's interval of 95% for a share, in percent."""
    z = 1.96
    share, room = count / total, z * z / total
    middle, reach = share + room / 2, z * sqrt(share * (1 - share) / total + room / total / 4)
    return 100 * (middle - reach) / (1 + room), 100 * (middle + reach) / (1 + room)


def report(answers: Sequence[Answer], threshold: float) -> None:
    """Print what is routed well: labelled prompts by folder, kind and length, and the others by language."""
    kinds: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        prompt = answer.prompt
        kinds[prompt.kind].append(answer)
        if prompt.kind == "evals":
            kinds[f"evals of {prompt.group}"].append(answer)
        if is_short(prompt):
            label_ = "evals" if prompt.kind == "evals" else "others"
            kinds[f"{label_} under {SHORT} words"].append(answer)
    quiet = {kind: kinds.pop(kind, []) for kind in (EVERYDAY, NOWHERE)}
    print(f"right skill offered, at or above {threshold}")
    for kind, some in sorted(kinds.items()):
        print(f"  {kind:40} {percent(some, threshold)}")
    print("anything offered")
    for kind, some in quiet.items():
        groups: dict[str, list[Answer]] = defaultdict(list)
        for answer in some:
            groups[answer.prompt.group].append(answer)
        for label_, members in ((kind, some), *sorted(groups.items())):
            if members:
                offered = sum(bool(answer.offers(threshold)) for answer in members)
                name = label_ if label_ == kind else f"  {label_}"
                print(f"  {name:40} {offered:5d} of {len(members):5d}  {100 * offered / len(members):5.1f}%")
    report_calibration([answer for answer in answers if answer.prompt.kind in ("evals", EVERYDAY)])
    times = sorted(answer.seconds for answer in answers)
    late = times[int(0.95 * len(times))]
    print(f"median {1e3 * statistics.median(times):.1f} ms  p95 {1e3 * late:.1f} ms")


def report_calibration(answers: Iterable[Answer]) -> None:
    """Print how often the first result is right, by its confidence, over evals and everyday prompts."""
    tenths: dict[int, list[bool]] = defaultdict(list)
    for answer in answers:
        for result in answer.results[:1]:
            tenths[min(9, int(10 * confidence(result.features)))].append(result.is_right)
    print("first result right, by confidence")
    for tenth, rights in sorted(tenths.items()):
        low, share = tenth / 10, 100 * statistics.mean(rights)
        print(f"  {low:.1f} to {low + 0.1:.1f}  {share:5.1f}% of {len(rights)}")


def weigh(answers: Sequence[Answer]) -> list[tuple[float, bool, list[float]]]:
    """Return the results of a library to fit to: the right ones, and all of prompts that want none.

    Each has its weight. Wrong results of labelled prompts are left out: often they fit as well.
    """
    from skillc.index.skills.confidence import WEIGHTS

    kinds: dict[str, list[Result]] = defaultdict(list)
    for answer in answers:
        kind = answer.prompt.kind
        wants_none = kind in (EVERYDAY, NOWHERE)
        if kind == EVERYDAY:
            kind = f"{EVERYDAY} {answer.prompt.group}"
        elif kind == "evals" and is_short(answer.prompt):
            kind = "short evals"
        kinds[kind] += [result for result in answer.results if result.is_right or wants_none]
    foreign = [kind for kind in kinds if kind.startswith(f"{EVERYDAY} ") and kind != f"{EVERYDAY} en"]
    shares = {"evals": EVALS, "short evals": ADDED / 3, "added": ADDED}
    shares |= {NOWHERE: NOWHERE_SHARE, f"{EVERYDAY} en": ENGLISH}
    shares |= dict.fromkeys(foreign, FOREIGN / max(1, len(foreign)))
    made = kinds.keys() - shares.keys()
    shares |= dict.fromkeys(made, MADE / max(1, len(made)))
    return [
        (shares[kind] / max(FEW, len(results)), result.is_right, [result.features[name] for name in WEIGHTS])
        for kind, results in kinds.items()
        for result in results
    ]


def fit(rows: Sequence[tuple[float, bool, list[float]]], rounds: int = 25) -> list[float]:
    """Return the weights of a logistic model, by Newton's method with a ridge."""
    size = len(rows[0][2])
    total = sum(weight for weight, _, _ in rows)
    beta = [0.0] * size
    for _ in range(rounds):
        gradient = [RIDGE * value for value in beta]
        hessian = [[RIDGE * (i == j) for j in range(size)] for i in range(size)]
        for weight, is_right, x in rows:
            p = squash(sum(map(float.__mul__, beta, x)))
            share = weight / total
            slope, bend = share * (p - is_right), share * p * (1 - p)
            for i, xi in enumerate(x):
                gradient[i] += slope * xi
                line, part = hessian[i], bend * xi
                for j in range(size):
                    line[j] += part * x[j]
        beta = [b - step for b, step in zip(beta, solve(hessian, gradient), strict=True)]
    return beta


def solve(matrix: list[list[float]], vector: list[float]) -> list[float]:
    """Return the solution of a system of linear equations, by elimination."""
    rows = [[*row, value] for row, value in zip(matrix, vector, strict=True)]
    for at in range(len(rows)):
        pivot = max(range(at, len(rows)), key=lambda n: abs(rows[n][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        for n, row in enumerate(rows):
            if n != at:
                factor = row[at] / rows[at][at]
                rows[n] = [a - factor * b for a, b in zip(row, rows[at], strict=True)]
    return [row[-1] / row[at] for at, row in enumerate(rows)]


def main() -> None:
    from skillc.index.skills import OFFER_CONFIDENCE
    from skillc.index.skills.confidence import WEIGHTS

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "folder", nargs="*", default=[str(HERE.parent / "examples")], help="+ begins another library"
    )
    parser.add_argument("--count", type=int, default=150, help="prompts of each kind in the words of skills")
    parser.add_argument(
        "--fit", action="store_true", help="fit the weights to the other half, and print them"
    )
    parser.add_argument("--half", choices=HALVES, default="report", help="which prompts to report")
    parser.add_argument("--threshold", type=float, default=OFFER_CONFIDENCE)
    parser.add_argument("--misses", action="store_true", help="show what was routed wrongly")
    given = parser.parse_args()
    libraries: list[list[Path]] = [[]]
    for folder in given.folder:
        if folder == "+":
            libraries.append([])
        else:
            libraries[-1].append(Path(folder))
    asked = [ask_all(folders, given.count) for folders in libraries]
    if given.fit:
        tuned = [[answer for answer in answers if answer.prompt.half == TUNE] for answers in asked]
        rows = [row for answers in tuned for row in weigh(answers)]
        WEIGHTS.update(zip(WEIGHTS, fit(rows), strict=True))
        print("\n".join(f'    "{name}": {value:.3f},' for name, value in WEIGHTS.items()))
    for folders, answers in zip(libraries, asked, strict=True):
        print(f"{' '.join(folder.name for folder in folders)}")
        reported = [answer for answer in answers if answer.prompt.half == HALVES[given.half]]
        report(reported, given.threshold)
        for answer in reported if given.misses else ():
            show_miss(answer, given.threshold)


def show_miss(answer: Answer, threshold: float) -> None:
    """Print a prompt that is routed wrongly."""
    wants_none = answer.prompt.kind in (EVERYDAY, NOWHERE)
    if bool(answer.offers(threshold)) if wants_none else not answer.is_routed(threshold):
        values = ", ".join(f"{confidence(result.features):.2f}" for result in answer.results)
        print(f"  {answer.prompt.kind}: {' '.join(answer.prompt.text.split())[:90]!r}: {values}")


if __name__ == "__main__":
    main()
