"""What was probably meant: near misses of names, files, filters, and commands of other tools."""

from __future__ import annotations

import json

import pytest

from skillc.cli.summaries import NAMES
from skillc.cli.usage_errors import OTHER_NAMES
from tests.cli.calls import as_json, call, fails, ok
from tests.conftest import World
from tests.support.cases import each
from tests.support.skills import skill

COLLECTION = "there is no collection 'biling'; did you mean 'billing'?"
FRONTMATTER = "---\nname: refunds\ndescription: Give money back\ntags: [money]\n---\n"


@pytest.fixture
def shop(world: World) -> World:
    """A project with a skill in its store, and one in a collection of a repository."""
    folder = skill(world.store, "pdf-forms")
    (folder / "references").mkdir()
    (folder / "references" / "guide.md").write_text("# Guide\n")
    library = world.root / "library" / "billing" / "refunds"
    library.mkdir(parents=True)
    (library / "SKILL.md").write_text(f"{FRONTMATTER}# Refunds\n")
    world.ok("repo", "add", "company", str(library.parent.parent), "--keep-defaults")
    world.ok("build", "pdf-forms", "--target", "claude")
    return world


NEAR_MISSES = [
    ("show pdf-forms --section Giude", "E020", "  - Guide (references/guide.md)"),
    ("show pdf-forms --section Guide --file references/gide.md", "E021", "'references/guide.md'"),
    ("open pdf-forms SKIL.md", "E021", "hint: did you mean 'SKILL.md'?"),
    ("open pdf-forms references/gide.md", "E021", "hint: did you mean 'references/guide.md'?"),
    ("sources pdf-forms --dir refrences", "E022", "hint: did you mean 'references'?"),
    ("outline pdf-form", "E001", "hint: did you mean 'pdf-forms'?"),
    ("remove pdf-form", "E001", "hint: did you mean 'pdf-forms'?"),
    ("load biling/refunds", "E001", "hint: did you mean 'billing/refunds'?"),
    ("build pdf-forms --target cluade", "E100", "did you mean 'claude'"),
    ("disable pdf-forms --target curser", "E100", "did you mean 'cursor'"),
    ("mcp --install cluade", "E100", "did you mean 'claude'"),
    ("import --from cluade", "E100", "did you mean 'claude'"),
    ("find money --repository compny", "E100", "did you mean 'company'? there are project, company"),
    ("browse --repository compny", "E100", "did you mean 'company'? there are project, company"),
    ("diagnose --repository compny", "E100", "did you mean 'company'? there are project, company"),
    ("repo sync compny", "E100", "did you mean 'company'? there are project, company"),
    ("repo remove compny", "E100", "did you mean 'company'? there are project, company"),
    ("diagnose --code W222", "E100", "did you mean 'W022'?"),
    ("stats pdf-forms --group-by section", "E030", "hint: did you mean 'sections'?"),
    ("stats pdf-forms --group-by xyz", "E030", "hint: there are summary, "),
    ("list --status bult", "E100", "normal, not-built, obsolete or all, not 'bult'; did"),
    ("list --format jsn", "E100", "did you mean json?"),
    ("list --formt json", "E100", "did you mean --format?"),
    ("lsit", "E100", "did you mean list?"),
    ("run git log count=5", "E100", 'a parameter is given by --param "count=5"'),
    ("restore", "E100", "'skc trash list' shows what can be restored"),
    ("find money --sauce x", "E100", "see 'skc find --help'"),
    ("repo ad x y", "E100", "did you mean add?"),
    ("trust alow", "E100", "did you mean allow?"),
    ("trash lst", "E100", "did you mean list?"),
    ("token lits", "E100", "did you mean list?"),
    ("completion fsh", "E100", "did you mean fish?"),
    ("mcp --tools gatway", "E100", "did you mean 'gateway'?"),
    ("help nams", "E100", "did you mean names?"),
    ("grant add ada", "E100", "<role> is missing; usage: skc grant add <subject> <role>; see"),
    ("grant list ada", "E100", "that is a word too many; usage: skc grant list; see"),
    ("publisher add x", "E100", "<workflow> is missing; usage: skc publisher add <repository>"),
    ("publisher add x y", "E100", "--prefix is missing; usage: skc publisher add <repository>"),
    ("sign pdf-forms", "E100", "--key is missing; usage: skc sign <skill> --key <file>"),
    ("show pdf-forms", "E100", "--section is missing; usage: skc show <skill> --section <heading>"),
    ("listing --budget 5", "E100", "--budget goes with 'skc listing fit' alone"),
    ("listing reset --agent claude", "E100", "--agent goes with 'skc listing show' and"),
    ("doctor --library --fix", "E100", "--library and --fix exclude each other"),
    ("doctor --errors", "E100", "--errors goes with --library"),
    ("eval init", "E100", "'skc eval init' takes one skill"),
    ("mcp --install claude --tools all", "E100", "--tools is for serving"),
    ("serve --read-only --review x", "E100", "--review is for a registry"),
    ("trash x y z", "E100", "<action> takes list, empty or restore, not 'x'"),
    ("build pdf-forms --target", "E100", "--target needs a value: --target <"),
    ("list --format", "E100", "--format needs a value: --format text|json"),
    ("help buidl", "E100", "did you mean build?"),
    ("help ls", "E100", "'skc help list' explains ours"),
    ("serch pdf-forms x", "E100", "did you mean search?"),
    ("search pdf", "E100", "to find a skill: skc find pdf;"),
    ("install pdf", "E100", "'skc add pdf' gets a new skill"),
    ("list pdf", "E100", "'skc list --pattern '*pdf*''"),
]


@pytest.mark.slow
def test_near_misses(shop: World) -> None:
    """[SURFACES: Near misses] an error names what was probably meant."""
    for command, code, hint in NEAR_MISSES:
        assert hint in fails(code, *command.split()).stderr, command


def test_actions(shop: World) -> None:
    """[SURFACES: Terminal] a command with actions lists what there is where none is named."""
    for command in ("repo", "trash", "lock", "listing"):
        assert ok(command).stdout
    assert ok("repo").stdout == ok("repo", "list").stdout


def test_filters(shop: World) -> None:
    """[SURFACES: Near misses] a filter that no skill meets is no error: a note says what is not there, or
    hidden.
    """
    notes = {
        "find money --collection biling": COLLECTION,
        "find money --tag mony": "no skill has the tag 'mony'; did you mean 'money'?",
        "find money --capability shell": "no skill needs the capability 'shell'",
        "browse biling": COLLECTION,
        "browse --collection biling": COLLECTION,
    }
    for command, note in notes.items():
        result = ok(*command.split())
        assert result.stderr == f"note: {note}\n"
        assert result.stdout.startswith("No skills")
        assert as_json(*command.split())
    for words in (("--collection", "billing"), ("--tag", "MONEY")):
        assert ok("find", "xyzzy", *words).stderr == ""
    text = "---\nname: runner\ndescription: Run money\nrequires_capabilities: [shell]\n---\n# R\n"
    skill(shop.store, "runner").joinpath("SKILL.md").write_text(text)
    stderr = ok("find", "money", "--capability", "shell").stderr
    assert stderr == "note: skills that need 'shell' are hidden; 'capabilities' in skills.toml shows them\n"
    assert "did you mean 'shell'?" in ok("find", "money", "--capability", "shel").stderr


@each(
    ("table", "note"),
    [
        ('type = "filesytem"', "mcp, not 'filesytem'; did you mean 'filesystem'?"),
        ('type = "filesystem"\npth = "x"', "'path' is missing; unknown key 'pth'; did you mean 'path'?"),
        ('type = "git"\nurl = "https://x"\nref_type = "brnch"', "not 'brnch'; did you mean 'branch'?"),
        ('type = "filesystem"\npath = "x"\nstrct = true', "unknown key 'strct'; did you mean 'strict'?"),
    ],
)
def test_repositories_of_a_file(shop: World, table: str, note: str) -> None:
    """[SURFACES: Near misses] a key, a type or a kind of ref in skills.toml."""
    (shop.project / ".skillc" / "skills.toml").write_text(f'[[repositories]]\nname = "a"\n{table}\n')
    assert note in call("browse").stderr


def test_lock_and_login(shop: World) -> None:
    """[SURFACES: Near misses] [D13] what is in no lock, and a registry that was not logged in to.

    A key of config.toml, a tool, a parameter, an agent, a skill in the trash.
    """
    stderr = fails("E001", "update", "nowhere").stderr
    assert "hint: only skills that 'skc add' brought are in it; 'skc lock' lists them" in stderr
    stderr = fails("E001", "pin", "pdf-forms").stderr
    assert "hint: it is in the store, but did not come by 'skc add', and so has no versions" in stderr
    login = {"registry": "https://skills.example.com", "token": "skc_t", "subject": "ada"}
    path = shop.home / ".skillc" / "credentials.json"
    path.write_text(json.dumps({"version": 1, "tokens": [login]}))
    path.chmod(0o600)
    line = ok("logout", "https://skils.example.com").stdout
    assert line.endswith("to https://skils.example.com; did you mean 'https://skills.example.com'?\n")
    (shop.project / ".skillc" / "config.toml").write_text('registy = "x"\n[search]\ntokeniser = "cjk"\n')
    stderr = ok("build", "pdf-forms", "--force").stderr
    assert "unknown key 'registy'; did you mean 'registry'?" in stderr
    assert "unknown key 'search.tokeniser'; did you mean 'tokenizer'?" in stderr
    assert "did you mean 'find'? there are find, read, count" in call("run", "files", "fnd").stderr
    stderr = call("run", "files", "find", "--param", "nme=x").stderr
    assert "invalid parameter 'nme': unknown; did you mean 'name'? there are name" in stderr
    first, second = fails("E100", "build", "pdf-forms", "--target", "nothing-like-it").stderr.splitlines()
    assert first == "error[E100]: unknown agent 'nothing-like-it' for --target"
    assert second.startswith("hint: --target takes a path, such as ./skills, or: adal, ")
    ok("remove", "pdf-forms", "--yes")
    assert "hint: did you mean 'pdf-forms'?" in fails("E051", "restore", "pdf-form").stderr


def test_other_tools(world: World) -> None:
    """[SURFACES: Near misses] what other tools call a command leads to ours, and is none of ours."""
    for ours, others in OTHER_NAMES.items():
        assert ours in NAMES
        for name in others.split():
            assert name not in NAMES
            expected = f"error[E100]: unknown command '{name}'; 'skc {ours}' does that\n"
            assert fails("E100", name).stderr == expected
