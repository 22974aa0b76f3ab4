"""How sure `find` is that a skill is what a task wants."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillc.index.skills import OFFER_CONFIDENCE, FoundSkills, Scope, Searchable, SkillIndex
from tests.support.cases import each
from tests.support.skills import skill

SKILLS = {
    "pdf-forms": "Fill in, merge and flatten PDF forms. Use when a form in a PDF has to be filled in.",
    "release-notes": "Write release notes and changelog entries from a range of commits.",
    "terraform-modules": "Write reusable Terraform modules for AWS, Azure and Google Cloud.",
    "meeting-minutes": "Turn a transcript of a meeting into minutes with decisions and tasks.",
    "kubernetes-deploy": "Deploy services to Kubernetes with Helm charts, probes and autoscaling.",
    "fapiao": "从电子邮件中提取发票并保存为表格",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> tuple[SkillIndex, Searchable]:
    root = tmp_path_factory.mktemp("library")
    for name, description in SKILLS.items():
        skill(root / "skills", name, f"---\ndescription: {description}\n---\n# Steps\n\n{description}\n")
    library = SkillIndex(str(root / "library.db"))
    return library, Searchable("library", library.folder(str(root / "skills"), False))


def find(index: tuple[SkillIndex, Searchable], task: str) -> FoundSkills:
    return index[0].find([index[1]], task, 3)


@each(
    ("task", "wanted"),
    [
        ("fill in a pdf form", "pdf-forms"),
        ("write the release notes from the commits since the last tag", "release-notes"),
        ("deploy the billing service to kubernetes with helm", "kubernetes-deploy"),
        ("从邮件中提取发票", "fapiao"),
        ("fix the typo in the readme", None),
        ("what time is it in Tokyo", None),
        ("thanks, write it like that", None),
        ("schreib eine Funktion, die die Liste sortiert", None),
        ("これを保存して", None),
        ("これはどうすればいいですか", None),
        ("peux-tu changer la dernière ligne du fichier ?", None),
    ],
)
def test_what_is_worth_offering(index: tuple[SkillIndex, Searchable], task: str, wanted: str | None) -> None:
    """[SURFACES: Library] a skill is offered for its tasks, and none for what people say every day."""
    offered = [found.id for found in find(index, task) if found.confidence >= OFFER_CONFIDENCE]
    assert offered[:1] == ([wanted] if wanted else [])


def test_length_is_no_confidence(index: tuple[SkillIndex, Searchable]) -> None:
    """[SURFACES: Library] more talk raises a score, and lowers how sure it is."""
    talk = " ".join(f"and then somebody at the {place} asked me again" for place in ("beach", "zoo", "farm"))
    (short, *_), (long, *_) = find(index, "merge a pdf"), find(index, f"merge a pdf, {talk}, a form, a task")
    assert short.id == long.id == "pdf-forms"
    assert short.score < long.score
    assert 0 <= long.confidence < short.confidence <= 1


def test_a_guess_is_no_confidence(index: tuple[SkillIndex, Searchable]) -> None:
    """[SURFACES: Library] what is found in place of a typo is less sure than the word itself."""
    (typed, *_), (meant, *_) = find(index, "kuberntes"), find(index, "kubernetes")
    assert typed.id == meant.id == "kubernetes-deploy"
    assert typed.score == meant.score
    assert typed.confidence < meant.confidence


def test_words_of_names(tmp_path: Path) -> None:
    """[LIB: SkillEngine trait (revised)] of equal skills, the one that is named in whole is first."""
    for name in ("deploy", "deploy-on-kubernetes-for-teams", "a-to-z"):
        skill(tmp_path / "skills", name, "---\ndescription: Deploy it, with a plan.\n---\nDeploy.\n")
    library = SkillIndex(str(tmp_path / "library.db"))
    part = Searchable("library", library.folder(str(tmp_path / "skills"), False))
    found = library.find([part], "deploy it", 3, scope=Scope(every=True))
    assert [each.id for each in found] == ["deploy", "deploy-on-kubernetes-for-teams", "a-to-z"]


def test_earlier_searches_change_nothing(tmp_path: Path) -> None:
    """[SURFACES: Library] a page is judged by the terms that it was searched for with, in any process."""
    words = [f"word{number}" for number in range(90)]
    for number in range(3):
        body = " ".join(words[number::2])
        skill(tmp_path / "skills", f"skill-{number}", f"---\ndescription: Words {number}.\n---\n{body}\n")
    answers = []
    for earlier in ([], words):
        library = SkillIndex(str(tmp_path / f"{len(earlier)}.db"))
        searchable = Searchable("library", library.folder(str(tmp_path / "skills"), False))
        for word in earlier:
            find((library, searchable), word)
        found = find((library, searchable), " ".join(words))
        answers.append([(skill.id, skill.score, skill.confidence) for skill in found])
    assert answers[0] == answers[1]
