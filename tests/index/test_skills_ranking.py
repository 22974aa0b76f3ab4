"""The worked example in docs/ranking.md is what the index computes."""

from __future__ import annotations

from math import log
from pathlib import Path

from skillc.index.skills import Searchable, SkillIndex
from tests.support.skills import skill

PAGE = Path(__file__).parents[2] / "docs" / "ranking.md"
FORMS = {"fill": "fill", "form": "form", "forms": "form"}  # the task's words without stop words, stemmed
EVERYDAY = {"fill"}  # of these, the everyday word


def example() -> str:
    """The section of the page, from its heading to the next."""
    return PAGE.read_text(encoding="utf-8").partition("### An example\n")[2].partition("\n## ")[0]


def rows(first: str) -> list[list[str]]:
    """The rows of the table of the example whose first column has this title."""
    table = example().partition(f"| {first} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in table]


def words(text: str) -> list[str]:
    """The words of a text; those of the task by their stems."""
    letters = "".join(c if c.isalnum() else " " for c in text.lower())
    return [FORMS.get(word, word) for word in letters.split()]


def idf(skills: int, total: int) -> float:
    return log(1 + (total - skills + 0.5) / (skills + 0.5))


def tf(count: float, length: float, mean: int, bonus: float) -> float:
    return 2.2 * (count / (count + 1.2 * (0.25 + 0.75 * length / mean)) + bonus) if count else 0.0


class Example:
    """The skills of the example: how often each of their heads and bodies has each word."""

    def __init__(self) -> None:
        self.skills = {name: (description, body) for name, description, body in rows("skill")}
        self.heads: dict[str, dict[str, float]] = {}
        self.bodies: dict[str, dict[str, float]] = {}
        for name, (description, body) in self.skills.items():
            heading, _, text = body.partition(". ")
            head = [(words(name), 2), (words(description), 1), (words(heading), 0.3), (words(text), 0.15)]
            self.heads[name] = count(*head)
            self.bodies[name] = count((words(body), 1))

    def addends(self, term: str, name: str) -> tuple[float, ...]:
        """The idf and the tf of a term in head and body, and what it adds to a skill's score."""
        parts: list[float] = []
        bonus = 0.0 if term in self.heads[name] else 0.6
        name_words = set(words(name))
        share = 0.45 / len(name_words) if term in name_words else 0
        for texts, mean, more in ((self.heads, 36, 0.3 + share), (self.bodies, 1050, bonus)):
            skills = sum(term in text for text in texts.values())
            text = texts[name]
            parts += [
                idf(skills, len(self.skills)) if skills else 0.0,
                tf(text.get(term, 0), sum(text.values()), mean, more),
            ]
        everyday = 0.6 if term in EVERYDAY else 1
        return *parts, everyday * (parts[0] * parts[1] + 0.6 * parts[2] * parts[3])


def count(*fields: tuple[list[str], float]) -> dict[str, float]:
    """How much each word counts in some fields, each with what a word of it counts."""
    counts: dict[str, float] = {}
    for field, weight in fields:
        for word in field:
            counts[word] = counts.get(word, 0) + weight
    return counts


def test_the_numbers_of_the_example() -> None:
    """[LIB: SkillEngine trait (revised)] every number on the page follows from the texts on it."""
    library = Example()
    head, body = (sum(texts["pdf-forms"].values()) for texts in (library.heads, library.bodies))
    assert f"which makes {head:g}. Its body has {body:g} words." in example()
    total = 0.0
    *lines, last = rows("term")
    assert [line[0] for line in lines] == ["fill", "form"]
    for term, *numbers in lines:
        values = library.addends(term, "pdf-forms")
        assert numbers == [f"{value:.2f}" for value in values], term
        total += values[-1]
    assert last[-1] == f"{total:.2f}"


def test_the_ranking_of_the_example(tmp_path: Path) -> None:
    """[LIB: SkillEngine trait (revised)] the index gives the scores of the page, up to its rounding."""
    library = Example()
    for name, (description, body) in library.skills.items():
        heading, _, text = body.partition(". ")
        skill(tmp_path / "skills", name, f"---\ndescription: {description}\n---\n# {heading}\n\n{text}\n")
    index = SkillIndex(str(tmp_path / "library.db"))
    part = Searchable("example", index.folder(str(tmp_path / "skills"), False))
    found = index.find([part], "fill in a form", 10)
    assert [result.score for result in found] == [r.score for r in index.find([part], "fill form", 10)]
    scores = {
        name: sum(library.addends(term, name)[-1] for term in ("fill", "form")) for name in library.skills
    }
    assert [result.id for result in found] == sorted(
        filter(scores.get, scores), key=lambda name: -scores[name]
    )
    for result in found:
        assert abs(result.score / scores[result.id] - 1) < 0.01
        assert [result.id, f"{scores[result.id]:.2f}"] in rows("result")
