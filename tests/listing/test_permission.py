"""`skc hook permission`: agents may read installed skills by their names unasked, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skillc.listing.permission import permit
from tests.conftest import World
from tests.listing.offers import call, hook_log, put_library, put_skill
from tests.support.cases import each

ALLOWED = """\
skc open pdf-forms SKILL.md
skc show pdf-forms --section Usage
skc show pdf-forms --section "Filling in & more" --file references/a.md --max-lines 20
skc show pdf-forms --section 'Usage; rm -rf /'
skc outline pdf-forms --level 2 --format json
skc search pdf-forms "fill in" --any --limit=3
skc sources pdf-forms --dir scripts
skc find "fill in a form"
skc find form --limit 3 --tag pdf
"""
ASKED = """\
skc open . .env
skc open pdf-forms .env
skc open pdf-forms scripts/.secret
skc open pdf-forms ../other/SKILL.md
skc open pdf-forms /etc/passwd
skc open pdf-forms ~/x
skc open ./pdf-forms SKILL.md
skc open /etc passwd
skc open theirs SKILL.md
skc open local README.md
skc open nothing SKILL.md
skc open pdf-forms
skc open pdf-forms SKILL.md more
skc show pdf-forms --section Usage --file .env
skc show pdf-forms --section Usage; rm x
skc show pdf-forms --section $(id)
skc show pdf-forms --section "$(id)"
skc show pdf-forms --section `id`
skc show pdf-forms --section Usage > out
skc show pdf-forms --section Usage | sh
skc show pdf-forms --section Usage && rm x
skc show pdf-forms --section Usage &
skc show pdf-forms --section "a
rm x"
skc show pdf-forms --section Usage --unknown
skc run pdf-forms tool
skc find x --html y
skc find -
skc find
skc remove pdf-forms
skc stats --html out.html
skc hook update
skc
other open pdf-forms SKILL.md
X=1 skc open pdf-forms SKILL.md
cd / && skc open pdf-forms SKILL.md
skc open pdf-forms *
skc open pdf-forms SKILL.md #
"""


def is_allowed(request: dict[str, Any], cwd: str) -> bool:
    return permit(request, cwd) is not None


@pytest.fixture
def installed(world: World) -> World:
    """Skills of the user, and others with names in a project."""
    put_library(world.global_store)
    put_skill(world.store, "theirs", "A skill of the project.")
    put_skill(world.project, "local", "A folder here that looks like a skill.")
    put_skill(world.global_store, "local", "A skill of the user, which a folder here hides.")
    return world


def bash(command: str) -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_input": {"command": command}}


@each("command", ALLOWED.splitlines())
def test_what_is_allowed(installed: World, command: str) -> None:
    """[SURFACES: What agents see] commands that read installed skills by their names need no question."""
    assert is_allowed(bash(command), str(installed.project))


@each("command", ASKED.replace('"a\n', '"a\0').splitlines())
def test_what_is_asked(installed: World, command: str) -> None:
    """[SURFACES: What agents see] about paths, hidden files, other commands and shells nothing is said."""
    assert not is_allowed(bash(command.replace("\0", "\n")), str(installed.project))


@each(
    ("tool", "values", "expected"),
    [
        ("skc_show", {"skill": "pdf-forms", "section": "Usage"}, True),
        ("skc_open", {"skill": "pdf-forms", "path": "SKILL.md", "max_lines": 3}, True),
        ("skc_open", {"skill": "pdf-forms", "path": ".env"}, False),
        ("skc_open", {"skill": ".", "path": "SKILL.md"}, False),
        ("skc_open", {"skill": 7, "path": "SKILL.md"}, False),
        ("skc_sources", {"skill": "pdf-forms", "dir": "../.."}, False),
        ("skc_sources", {"skill": "pdf-forms", "dir": None}, True),
        ("skc_find", {"task": "fill in a form"}, True),
        ("load_skill", {"id": "pdf-forms"}, True),
        ("load_skill", {"id": "theirs"}, False),
        ("run_tool", {"skill": "pdf-forms"}, False),
        ("show", {"skill": "pdf-forms"}, False),
        ("skc_build", {"skill": "pdf-forms"}, False),
    ],
)
def test_tools(installed: World, tool: str, values: dict[str, Any], expected: bool) -> None:
    """[SURFACES: What agents see] the same holds for our tools over MCP."""
    request = {"tool_name": f"mcp__skillc__{tool}", "tool_input": values}
    assert is_allowed(request, str(installed.project)) is expected


LINKED = """\
skc open pdf-forms link.md
skc open pdf-forms folder/key
skc open pdf-forms '\u200c.env'
skc open pdf-forms ENV~1
skc show pdf-forms --section Usage --file=link.md
skc sources pdf-forms --dir folder
skc open away secrets.txt
skc open project secrets.txt
"""


def test_links_and_other_names(installed: World) -> None:
    """[SURFACES: What agents see] nor about what links lead to: a hidden file, a folder out of the store."""
    skill = installed.global_store / "pdf-forms"
    (skill / ".hidden").mkdir()
    for path in (skill / ".env", skill / ".hidden" / "key", installed.project / "secrets.txt"):
        path.write_text("secret")
    (skill / "link.md").symlink_to(".env")
    (skill / "folder").symlink_to(".hidden")
    away = put_skill(installed.home / "work", "away", "A folder of the user's work.")
    (installed.global_store / "away").symlink_to(away)
    (installed.project / "SKILL.md").write_text("---\nname: project\ndescription: All of it.\n---\n")
    (installed.global_store / "project").symlink_to(installed.project)
    for command in LINKED.splitlines():
        assert not is_allowed(bash(command), str(installed.project)), command


def test_links_to_hidden_files(installed: World) -> None:
    """[SURFACES: What agents see] a skill with one is asked about: `show` and `search` would read it."""
    skill = installed.global_store / "pdf-forms"
    (skill / ".hidden").mkdir()
    (skill / ".hidden" / "keys.md").write_text("# Keys\n\n## Usage\n\nsecret\n")
    (skill / "plain.md").symlink_to("SKILL.md")
    request = bash("skc show pdf-forms --section Usage")
    assert is_allowed(request, str(installed.project))
    for name, target in (("link.md", ".hidden/keys.md"), ("folder", ".hidden")):
        (skill / name).symlink_to(target)
        assert not is_allowed(request, str(installed.project))
        (skill / name).unlink()


def test_what_the_tool_gets(installed: World) -> None:
    """[SURFACES: What agents see] the skill's path, whatever the directory is when it runs."""
    path = installed.global_store / "pdf-forms"
    request = bash("skc open pdf-forms 'a b.md' --max-lines=3 2>&1")
    request["tool_input"]["description"] = "x"
    assert permit(request, str(installed.project)) == {
        "command": f"skc open {path} 'a b.md' --max-lines=3",
        "description": "x",
    }
    tool = {"tool_name": "mcp__skillc__skc_outline", "tool_input": {"skill": "pdf-forms", "level": 2}}
    assert permit(tool, str(installed.project)) == {"skill": str(path), "level": 2}
    again = {"tool_name": "mcp__skillc__skc_outline", "tool_input": {"skill": str(path)}}
    assert permit(again, str(installed.project)) is None


def test_repositories_are_asked_about(installed: World) -> None:
    """[SURFACES: What agents see] also a project's folders, which could be any; and what asks a network."""
    file = installed.project / ".skillc" / "skills.toml"
    file.write_text('[[repositories]]\nname = "all"\ntype = "filesystem"\npath = "/etc"\n')
    assert not is_allowed(bash("skc find form"), str(installed.project))
    file.unlink()
    assert is_allowed(bash("skc find form"), str(installed.project))
    (installed.home / ".skillc" / "skills.toml").write_text(
        '[[repositories]]\nname = "web"\ntype = "http"\nurl = "http://127.0.0.1:9/"\n'
    )
    assert not is_allowed(bash("skc find form"), str(installed.project))
    assert is_allowed(bash("skc open pdf-forms SKILL.md"), str(installed.project))


@each("odd", [{}, {"tool_name": "Bash"}, {"tool_name": 3, "tool_input": {}}, bash("x" * 99_999)])
def test_odd_requests(installed: World, odd: dict[str, Any]) -> None:
    assert not is_allowed(odd, str(installed.project))


def test_answers(installed: World) -> None:
    """[SURFACES: What agents see] the answer is the agent's, or nothing; a fault is a line in the log."""
    request = json.dumps(bash("skc open pdf-forms SKILL.md") | {"cwd": str(installed.project)}).encode()
    answer = json.loads(call(installed, request, "permission").stdout)["hookSpecificOutput"]
    assert (answer["hookEventName"], answer["permissionDecision"]) == ("PreToolUse", "allow")
    assert call(installed, request.replace(b"SKILL.md", b".env"), "permission").stdout == b""
    assert hook_log(installed) == ""
    assert call(installed, b"{", "permission").stdout == b""
    assert "claude: " in hook_log(installed)
