"""A misspelt word finds what the right one finds, and the answer says which word that is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from skillc.index.skills import Searchable, SkillIndex
from skillc.index.skills.explain import FoundSkills
from skillc.library import format_results
from skillc.text import count_edits
from tests.support.cases import each
from tests.support.skills import skill

SKILLS = {
    "k8s": ("Deploy to Kubernetes clusters", "# Deploy\n\nUse kubectl to roll out.\n"),
    "migrate": ("Database migrations", "# Migrations\n\nRun each migration once. PostgreSQL only.\n"),
    "pdf": ("Fill in forms", "# Forms\n\nAcroForm fields and annotations.\n"),
    "mail": ("Read letters", "# Letters\n\nAttachments are saved first.\n"),
}


class Shelf:
    def __init__(self, root: Path) -> None:
        for name, (description, body) in SKILLS.items():
            skill(root / "skills", name, f"---\ndescription: {description}\n---\n{body}")
        self.index = SkillIndex(str(root / "library.db"))
        self.part = Searchable("shelf", self.index.folder(str(root / "skills"), False))

    def find(self, task: str) -> FoundSkills:
        return self.index.find([self.part], task, 10)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


@each(
    ("typed", "word", "skill_id"),
    [
        ("kuberntes", "kubernetes", "k8s"),
        ("Kubernetis", "kubernetes", "k8s"),
        ("deplyo", "deploy", "k8s"),
        ("databse", "database", "migrate"),
        ("migratoin", "migrations", "migrate"),
        ("annotatoins", "annotations", "pdf"),  # which is in the body alone
        ("lettters", "letters", "mail"),
        ("attachmnets", "attachments", "mail"),
    ],
)
def test_a_misspelt_word(shelf: Shelf, typed: str, word: str, skill_id: str) -> None:
    """[LIB: SkillEngine trait (revised)] the nearest word that some skill has is searched for, and told."""
    found = shelf.find(typed)
    assert found[0].id == skill_id
    assert found.corrections == {typed.lower(): word}
    assert found[0].matched[0][0] == word
    assert next(iter(format_results(found))) == f"{typed.lower()}: showing {word}"
    assert found.as_json(typed)["corrections"] == {typed.lower(): word}


def test_words_that_are_left_alone(shelf: Shelf, tmp_path: Path) -> None:
    """[LIB: SkillEngine trait (revised)] [D32] right, short, far-off and foreign words, stems, and words
    of hidden skills.
    """
    for task in ("kubernetes", "kubernet", "from", "foms", "xubernetes", "quantum", "форма", "k8", "mailbox"):
        assert shelf.find(task).corrections == {}, task
    assert "corrections" not in shelf.find("kubernetes").as_json("kubernetes")
    mixed = shelf.find("fill in a fomrs please")  # a word that matches says more than a guess
    assert (mixed[0].id, mixed.corrections) == ("pdf", {})
    page = " ".join(f"unknown{chr(97 + n)}" for n in range(20))
    assert shelf.find(f"{page} kuberntes fill").corrections == {}
    found = shelf.index.find([shelf.part], "kuberntes", 10, lambda skill_id, needs: skill_id != "k8s")
    assert (found, found.corrections) == ([], {})
    skill(tmp_path / "skills", "many", "---\ndescription: Merge several tables\n---\n")
    assert shelf.find("several")[0].id == "many"
    assert (shelf.find("server"), shelf.find("server").corrections) == ([], {})


@each(
    ("typed", "word"),
    [
        ("déclaratoins", "déclarations"),
        ("declaratoins", "déclarations"),
        ("DÉCLARATOINS", "déclarations"),
        ("Kündigungsfrsten", "kündigungsfristen"),
        ("договры", "договоры"),
        ("“kuberntes”", "kubernetes"),
    ],
)
def test_a_misspelt_word_with_accents(shelf: Shelf, tmp_path: Path, typed: str, word: str) -> None:
    """[LIB: SkillEngine trait (revised)] any alphabet has typos; what is said has the skill's accents."""
    if not (tmp_path / "skills" / "law").exists():
        text = "Préparer les déclarations, Kündigungsfristen prüfen, составить договоры"
        skill(tmp_path / "skills", "law", f"---\ndescription: {text}\n---\n# 财务报表\n")
    found = shelf.find(typed)
    assert found.corrections == {typed.lower().strip("“”"): word}
    assert [term for term, _ in found[0].matched] == [word]
    for task in ("财务报标", "déclarations", "DÉCLARATIONS", "declarations", "quatrième"):
        assert shelf.find(task).corrections == {}, task


@pytest.mark.slow
def test_rare_words_of_many_skills(tmp_path: Path) -> None:
    """[LIB: SkillEngine trait (revised)] of many skills, the word that more of them have is meant."""
    index = SkillIndex(str(tmp_path / "library.db"))
    for number in range(1100):
        word = "terraform" if number % 50 == 0 else f"plain{number}"
        text = f"Work with {word} number {number}" + (" terrafrom" if number == 7 else "")
        skill(tmp_path / "skills", f"s{number}", f"---\ndescription: {text}\n---\n")
    part = Searchable("many", index.folder(str(tmp_path / "skills"), False))
    assert index.find([part], "terrraform", 3).corrections == {"terrraform": "terraform"}
    assert index.find([part], "terrafrom", 3).corrections == {}


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_edits(first: str, second: str) -> None:
    """[LIB: SkillEngine trait (revised)] edits are counted the same both ways, up to the limit."""
    edits = count_edits(first, second, 9)
    assert edits == count_edits(second, first, 9)
    assert (edits == 0) == (first == second)
    assert abs(len(first) - len(second)) <= edits <= max(len(first), len(second))
    assert (count_edits(first, second, 2) <= 2) == (edits <= 2)
