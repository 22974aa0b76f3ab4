"""`skc find` as a process: over all repositories, from the index, whatever the task is."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.cli.calls import as_json, fails, ok
from tests.conftest import World
from tests.support.skills import skill
from tests.support.terminal import show_on_terminal


@pytest.fixture
def library(world: World) -> World:
    body = "# Mail\n\n## Attachments\n\nSave the invoice as a file.\n"
    skill(world.store, "extraction/mail", f"---\ndescription: Read e-mail\n---\n{body}")
    skill(world.store, "invoices", f"---\ndescription: Write an invoice\n---\n{body}")
    skill(world.global_store, "invoices", "---\ndescription: Another invoice\n---\n# Other\n")
    skill(world.global_store, "secret", "---\ndescription: Invoice\nrequires_capabilities: [vault]\n---\n")
    return world


def results(world: World, *words: str) -> list[dict[str, Any]]:
    fields = as_json("find", *words)
    assert fields["query"] == words[0]
    found: list[dict[str, Any]] = fields["results"]
    return found


def test_find(library: World) -> None:
    """[LIB: SkillEngine trait (revised)] [D27] [D32] best first, with reasons; who is shadowed is named."""
    found = results(library, "send an invoice to the customer")
    assert [(f["id"], f["source_name"]) for f in found][:2] == [
        ("invoices", "project"),
        ("extraction/mail", "project"),
    ]
    assert found[0].keys() >= {"id", "name", "description", "score", "confidence", "source_name"}
    assert found[0]["name"] == "invoices"
    assert found[0]["also"] == [{"source_name": "user", "id": "invoices"}]
    assert {"term": "invoice", "fields": ["name", "description", "body"]} in found[0]["matched"]
    assert found[0]["section"] == "Attachments"
    assert found[0]["read"] == "skc show invoices --section Attachments"
    assert "secret" not in [f["id"] for f in found]
    text = ok("find", "invoice", "--limit", "1").stdout
    assert text.startswith("invoices  (")
    assert "\n  read: skc show invoices --section Attachments\n" in text
    assert ok("find", "xyzzy").stdout == "No skills fit.\n"


def test_what_hardly_fits_is_a_name(library: World) -> None:
    """[SURFACES: Library] text names results after the third that hardly fit; JSON has all of each."""
    skill(library.store, "form", "---\ndescription: Fill in the fields of a PDF form\n---\n# Form\n")
    for topic in ("Bread", "Cheese", "Honey", "Tea", "Wine"):
        text = f"---\ndescription: {topic} from the market\n---\n# {topic}\n\nWith a form, and no more.\n"
        skill(library.store, topic.lower(), text)
    found = results(library, "fill in the fields of a PDF form")
    assert len(found) > 4
    assert [each["confidence"] < 0.1 for each in found[3:]] == [True] * len(found[3:])
    names = ", ".join(each["id"] for each in found[3:])
    words = ("find", "fill in the fields of a PDF form")
    for text in (ok(*words).stdout, show_on_terminal(library, *words, env={"NO_COLOR": "1"})):
        assert text.count("matched: ") == 3
        assert text.endswith(f"\nless likely: {names}\n")


def test_what_is_told_to_read_can_be_read(library: World) -> None:
    """[RFC-0002:C-SHOW] [SURFACES: Library] [D21] [D22] the command in a result shows the section; typos;
    no words are E004, bad options E100.
    """
    ok("build", "invoices", "--copy")
    found = results(library, "invoice", "--limit", "1")
    assert found[0]["read"].split()[:2] == ["skc", "show"]
    assert ok(*found[0]["read"].split()[1:]).stdout.startswith("## Attachments\n")
    shown = ok("find", "incoice").stdout
    assert shown.startswith("incoice: showing invoice\ninvoices  (")
    fields = as_json("find", "incoice")
    assert (fields["query"], fields["corrections"]) == ("incoice", {"incoice": "invoice"})
    fails("E004", "find", "")
    fails("E004", "find", "?!")
    fails("E100", "find")
    fails("E100", "find", "invoice", "--limit", "0")
    fails("E100", "find", "invoice", "--limit", "1001")


def test_the_section_of_another_file(library: World) -> None:
    """[SURFACES: Library] a file whose name the task has is where to read: its section that fits."""
    text = "---\nname: pdf\ndescription: Work with PDF files, also forms\n---\n# Quick\n\nRead a PDF form.\n"
    folder = skill(library.store, "pdf", text)
    (folder / "FORMS.md").write_text("# All\n\nBefore.\n\n## Fillable fields\n\nFill in the form fields.\n")
    (folder / "pdf-notes.md").write_text("# Notes\n\nFill in the PDF form.\n")
    (folder / "form-link.md").symlink_to(library.root / "outside.md")
    (library.root / "outside.md").write_text("# Outside\n\nfill form fill form\n")
    (first,) = (found for found in results(library, "fill in a pdf form") if found["id"] == "pdf")
    assert (first["section"], first["file"]) == ("Fillable fields", "FORMS.md")
    assert first["read"] == 'skc show pdf --section "Fillable fields" --file FORMS.md'
    assert ok("show", "pdf", "--section", "Fillable fields", "--file", "FORMS.md").stdout.startswith(
        "## Fill"
    )
    assert results(library, "read a pdf")[0]["file"] is None


def test_copies(library: World) -> None:
    """[SURFACES: Library] [D27] a copy in another store is named with the skill; `--all` shows both."""
    text = (library.store / "invoices" / "SKILL.md").read_text()
    skill(library.global_store, "bills/invoices", text)
    first = results(library, "invoice", "--limit", "1")[0]
    assert first["copies"] == [{"id": "bills/invoices", "source_name": "user"}]
    shown = ok("find", "invoice").stdout
    assert "\n  and 1 copy in user: bills/invoices\n" in shown
    assert "bills/invoices" not in [found["id"] for found in results(library, "invoice")]
    every = results(library, "invoice", "--all")
    assert {"invoices", "bills/invoices"} <= {found["id"] for found in every}
    assert all(found["copies"] == [] for found in every)


@pytest.mark.slow
def test_limits(library: World) -> None:
    """[SURFACES: Library] a repository, a collection, a tag and a capability limit what is found."""
    text = "---\ndescription: Print an invoice\ntags: [Paper, office work]\n---\n# Printing\n"
    skill(library.store, "office/printing", text)
    skill(library.global_store, "office/extra/scan", text.replace("Print", "Scan").replace("tags", "keys"))

    def ids(*words: str) -> list[str]:
        return [found["id"] for found in results(library, "invoice", *words)]

    assert ids("--repository", "user") == ["office/extra/scan"]
    assert sorted(ids("--collection", "office")) == ["office/extra/scan", "office/printing"]
    assert ids("--collection", "office/extra/") == ["office/extra/scan"]
    assert ids("--collection", "off") == []
    assert ids("--tag", "paper") == ["office/printing"]
    assert ids("--tag", "Office Work", "--repository", "project") == ["office/printing"]
    assert ids("--tag", "paper", "--repository", "user") == []
    assert ids("--capability", "vault") == []
    (library.project / ".skillc" / "skills.toml").write_text('capabilities = ["vault"]\n')
    assert ids("--capability", "vault") == ["secret"]
    refusal = fails("E100", "find", "invoice", "--repository", "usr").stderr
    assert "there is no repository 'usr'; did you mean 'user'? there are project, " in refusal


def test_the_section_to_read_is_named_by_id(library: World) -> None:
    """[SURFACES: Library] a skill is named by its ID, or by its folder if the ID is another skill's here."""
    body = "---\ndescription: Invoice\n---\n# Bill\n\n## Total\n\nInvoice sum.\n"
    for name in ("office/billing", "invoices"):
        skill(library.project, f"elsewhere/{name}", body.replace("Bill", f"Bill of {name}"))
    toml = library.project / ".skillc" / "skills.toml"
    toml.write_text('[[repositories]]\nname = "own"\ntype = "filesystem"\npath = "elsewhere"\n')
    reads = {found["id"]: found["read"] for found in results(library, "invoice sum", "--all")}
    assert reads["office/billing"] == "skc show office/billing --section Total"
    assert reads["invoices"] == f"skc show {library.project}/elsewhere/invoices --section Total"
    for command in reads.values():
        assert ok(*command.split()[1:]).stdout.startswith("## Total\n")


def test_a_task_from_standard_input(library: World) -> None:
    """[LIB: SkillEngine trait (revised)] [D11] [SURFACES: Library] a task may have a megabyte.

    No home, no index: still found; a person is told how many more fit.
    """
    task = "Please write one invoice. " * 40_000
    ran = subprocess.run(
        [sys.executable, "-m", "skillc", "find", "-", "--format", "json"],
        input=task,
        cwd=library.project,
        env=library.env,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert json.loads(ran.stdout)["results"][0]["id"] == "invoices"
    ran = library.ok("find", "invoice", env={"HOME": ""}, without=("SKILLC_HOME",))
    assert ran.stdout.startswith("invoices  (")
    shown = show_on_terminal(library, "find", "invoice", "--limit", "1", env={"NO_COLOR": "1"})
    assert shown.endswith("\n1 more: --limit 2 shows it, too\n")
    assert "more" not in show_on_terminal(library, "find", "invoice", env={"NO_COLOR": "1"})
    assert "more" not in ok("find", "invoice", "--limit", "1").stdout


@pytest.mark.slow
def test_changes_of_configuration_count_at_once(library: World) -> None:
    """[D23a] [D23] repositories that are configured replace the chain, at once and as long as they are.

    Skills below a `.rkat` alone are found, and the skills.toml of a directory above counts.
    """
    assert results(library, "invoice")[0]["source_name"] == "project"
    skill(library.project, "elsewhere/billing", "---\ndescription: Invoice by invoice\n---\n")
    toml = library.project / ".skillc" / "skills.toml"
    toml.write_text('[[repositories]]\nname = "own"\ntype = "filesystem"\npath = "elsewhere"\n')
    assert [f["id"] for f in results(library, "invoice")] == ["billing"]
    toml.write_text('[[repositories]]\nname = "own"\ntype = "filesystem"\npath = "none"\nrequired = true\n')
    fails("E200", "find", "invoice")
    toml.write_text("[[repositories]\n")
    fails("E071", "find", "invoice")
    toml.unlink()
    assert results(library, "invoice")[0]["source_name"] == "project"
    inner = library.project / "inner"
    skill(inner, ".rkat/skills/brewing", "---\ndescription: Brew tea\n---\n")
    found = library.json("find", "tea", cwd=inner)["results"]
    assert [(f["id"], f["source_name"]) for f in found] == [("brewing", "project-rkat")]
    skill(library.project, "elsewhere/tea", "---\ndescription: Invoice for tea\n---\n")
    toml.write_text('[[repositories]]\nname = "own"\ntype = "filesystem"\npath = "elsewhere"\n')
    found = library.json("find", "tea", cwd=inner)["results"]
    assert [f["id"] for f in found] == ["tea"]


def test_browse(library: World) -> None:
    """[SURFACES: Library] `browse` takes a limit, a repository and a collection; it counts the rest."""
    *_, last = ok("browse", "--limit", "1", "--repository", "project").stdout.splitlines()
    assert last.startswith("1 more: --cursor ")
    assert last.endswith('or search them with: skc find "<task>"')
    cursor = last.split()[3].rstrip(",")
    words = ("browse", "--limit", "1", "--repository", "project", "--cursor", cursor)
    assert ok(*words).stdout == "invoices  Write an invoice\n"
    fails("E100", "browse", "--cursor", cursor)  # of another list
    query = ("--query", "e", "--collection", "extraction", "--format", "json")
    listing = json.loads(ok("browse", *query).stdout)
    assert [entry["id"] for entry in listing["skills"]] == ["extraction/mail"]
    assert ok("browse", "--collection", "extraction").stdout == "extraction/mail  Read e-mail\n"
    assert ok("browse", "--query", "secret", "--repository", "user").stdout == "No skills.\n"
    fails("E100", "browse", "extraction", "--collection", "extraction")


def test_diagnose(library: World) -> None:
    """[SURFACES: Library] `doctor --library` ends with totals, also without its filters, and what to do."""
    lines = ok("doctor", "--library").stdout.splitlines()
    assert "0 errors, 6 warnings (4 W014, 1 W022, 1 W023)" in lines
    assert any(line.startswith("Shadowed skills (W022)") for line in lines)
    assert any(line.startswith("Hidden skills (W023)") for line in lines)
    lines = ok("doctor", "--library", "--code", "W023").stdout.splitlines()
    assert "6 in all, without the filters" in lines
    assert "0 errors, 1 warning (1 W023)" in lines
    text = ok("doctor", "--library", "--errors").stdout
    assert text == "Nothing to report here; 6 without the filters.\n"
