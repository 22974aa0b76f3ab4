"""skills.toml: merging, checking, expansion, and the sources it resolves to."""

from __future__ import annotations

from pathlib import Path

import pytest

from skillc.errors import InvalidConfiguration
from skillc.library.repositories import resolve_repositories
from skillc.library.repositories.config import SkillsConfig
from tests.conftest import World
from tests.support.cases import each
from tests.support.skills import run, skill

TWO = """
max_injection_bytes = 1000

[[repositories]]
name = "project"
type = "filesystem"
path = "skills"

[[repositories]]
name = "company"
type = "git"
url = "https://example.com/skills.git"
git_ref = "v1.2.0"
ref_type = "tag"
auth_token = "${COMPANY_TOKEN}"
"""


def write(directory: Path, text: str, dot: str = ".skillc") -> Path:
    path = directory / dot / "skills.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_project_before_user(tmp_path: Path) -> None:
    """[LIB: Configuration file: .rkat/skills.toml] the document's example of merging; unset keys stay."""
    user = write(
        tmp_path / "home",
        "inventory_threshold = 3\nmax_injection_bytes = 5\n"
        '[[repositories]]\nname = "company"\ntype = "filesystem"\npath = "x"\n'
        '[[repositories]]\nname = "personal"\ntype = "filesystem"\npath = "y"\n',
    )
    config = SkillsConfig.load_from_paths(user, write(tmp_path / "project", TWO))
    assert [(r.name, r.type) for r in config.repositories] == [
        ("project", "filesystem"),
        ("company", "git"),
        ("personal", "filesystem"),
    ]
    assert (config.max_injection_bytes, config.inventory_threshold, config.enabled) == (1000, 3, True)


def test_ours_before_the_documents(world: World) -> None:
    """[D23] [LIB: Resolution: config → SkillSource] .skillc/skills.toml before .rkat; project, .rkat,
    user, embedded are the chain.
    """
    write(world.home, "inventory_threshold = 7\n", ".rkat")
    assert SkillsConfig.load(str(world.project)).inventory_threshold == 7
    write(world.home, "inventory_threshold = 8\n")
    assert SkillsConfig.load(str(world.project)).inventory_threshold == 8
    write(world.project, "inventory_threshold = 9\n")
    (world.project / "deep").mkdir()
    assert SkillsConfig.load(str(world.project / "deep")).inventory_threshold == 9
    skill(world.project, ".skillc/skills/same")
    skill(world.project, ".rkat/skills/two")
    skill(world.home, ".skillc/skills/same")
    skill(world.home, ".skillc/skills/three")
    source = resolve_repositories(SkillsConfig(), str(world.project))
    found = {str(s.id): (s.source_name, s.scope.value) for s in run(source.list())}
    assert found["same"] == ("project", "project")
    assert found["two"] == ("project-rkat", "project")
    assert found["three"] == ("user", "user")
    assert found["skillc"] == ("embedded", "builtin")
    assert [n.name for n in source.sources] == ["project", "project-rkat", "user", "user-rkat", "embedded"]


@each(
    ("text", "message"),
    [
        ("enabled = 1\n", "'enabled' must be true or false"),
        ("inventory_threshold = '3'\n", "'inventory_threshold' must be an integer"),
        ("inventory_threshold = -1\n", "limits must be positive"),
        ("max_injection_bytes = 0\n", "limits must be positive"),
        ("repositories = 3\n", "[[repositories]]"),
        ("[[repositories]]\ntype = 'git'\n", "has no name"),
        ("[[repositories]]\nname = 'x'\n", "type must be filesystem, http, git"),
        ("[[repositories]]\nname = 'x'\ntype = 'ftp'\n", "not 'ftp'"),
        ("[[repositories]]\nname = 'x'\ntype = 'http'\n", "'url' is missing"),
        ("[[repositories]]\nname = 'x'\ntype = 'git'\nurl = 'u'\nref_type = 'x'\n", "ref_type must be"),
        ("[[repositories]]\nname = 'x'\ntype = 'filesystem'\npath = 3\n", "'path' must be text"),
        ("not toml", "Expected"),
    ],
)
def test_unusable_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    """[D23a] E071 that names the file and what is wrong."""
    path = write(tmp_path, text)
    with pytest.raises(InvalidConfiguration) as caught:
        SkillsConfig.load_from_paths(None, path)
    assert caught.value.message.startswith(f"invalid configuration: {path}: ")
    assert message in caught.value.message


def test_unknown_keys_warn(tmp_path: Path) -> None:
    """[D23a] [D28] unknown keys warn; hosts that may be asked are a list of hosts, or it is E071."""
    path = write(
        tmp_path, "colour = 'red'\n[[repositories]]\nname='x'\ntype='filesystem'\npath='p'\nsize=3\n"
    )
    told = SkillsConfig.load_from_paths(None, path).diagnostics
    assert [d.code for d in told] == ["W071", "W071"]
    assert "unknown key 'colour'" in told[0].message
    assert "repository 'x': unknown key 'size'" in told[1].message
    file = tmp_path / ".skillc" / "skills.toml"
    file.parent.mkdir(exist_ok=True)
    text = '[[repositories]]\nname = "a"\ntype = "http"\nurl = "https://example.com"\nallow_hosts = {}\n'
    file.write_text(text.format('["cdn.example.com", "[::1]:8000"]'))
    (repository,) = SkillsConfig.load_from_paths(None, file).repositories
    assert repository.settings["allow_hosts"] == ["cdn.example.com", "[::1]:8000"]
    for wrong in ('"cdn.example.com"', "[5]", '["https://cdn.example.com"]', '["a b"]'):
        file.write_text(text.format(wrong))
        with pytest.raises(InvalidConfiguration, match="allow_hosts"):
            SkillsConfig.load_from_paths(None, file)


def test_expansion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D24] ${VAR} after merging; unset, empty or unclosed names the variable and never a value."""
    company = SkillsConfig.load_from_paths(None, write(tmp_path, TWO)).repositories[1]
    monkeypatch.setenv("COMPANY_TOKEN", "s3cret")
    assert company.expand_settings()["auth_token"] == "s3cret"
    assert "s3cret" not in repr(company)
    assert "COMPANY_TOKEN" not in repr(company)
    for value in ("", None):
        monkeypatch.setenv("COMPANY_TOKEN", value) if value is not None else monkeypatch.delenv(
            "COMPANY_TOKEN"
        )
        with pytest.raises(InvalidConfiguration, match="the variable COMPANY_TOKEN is not set"):
            company.expand_settings()
    broken = write(tmp_path, TWO.replace("${COMPANY_TOKEN}", "abc${COMPANY"))
    with pytest.raises(InvalidConfiguration, match="of COMPANY is not closed") as caught:
        SkillsConfig.load_from_paths(None, broken).repositories[1].expand_settings()
    assert "abc" not in caught.value.message


def test_configured_replace_the_chain(world: World) -> None:
    """[D23a] paths are relative to the project's root or the home; embedded stays last."""
    skill(world.project, ".skillc/skills/ignored")
    skill(world.project, "shared/one")
    skill(world.home, "mine/two")
    write(world.project, '[[repositories]]\nname="a"\ntype="filesystem"\npath="shared"\n')
    write(world.home, '[[repositories]]\nname="b"\ntype="filesystem"\npath="mine"\n')
    source = resolve_repositories(SkillsConfig.load(str(world.project)), str(world.project))
    assert {str(s.id): s.source_name for s in run(source.list())} == {
        "one": "a",
        "two": "b",
        "files": "embedded",
        "git": "embedded",
        "skillc": "embedded",
    }


@pytest.mark.slow
def test_a_directory_with_the_documents_folder_alone(world: World) -> None:
    """[D23] `.rkat/skills.toml` is read, and `.rkat/skills` searched, where there is no `.skillc` at all."""
    other = world.root / "other"
    (other / "deep" / "down").mkdir(parents=True)
    skill(other, ".rkat/skills/pdf")
    found = world.ok("load", "pdf", cwd=other / "deep" / "down")
    assert "Body." in found.stdout
    skill(other, "library/docs/word")
    (other / ".rkat/skills.toml").write_text(
        '[[repositories]]\nname = "own"\ntype = "filesystem"\npath = "library"\n'
    )
    assert "Body." in world.ok("load", "docs/word", cwd=other / "deep").stdout
    world.fails("E001", "load", "pdf", cwd=other)
    assert "own" in world.ok("repo", "list", cwd=other).stdout
    assert not (other / ".skillc").exists()


@pytest.mark.slow
def test_capabilities(world: World) -> None:
    """[D58] a skill that needs a capability is there once skills.toml names it; diagnose lists it before."""
    text = "---\nname: deploy\ndescription: Deploy things\nrequires_capabilities: [shell, net]\n---\n# D\n"
    world.skill("deploy", text)
    file = world.project / ".skillc" / "skills.toml"
    hidden = "hidden: it needs the capability '{}', which neither skills.toml nor the agent names"
    for capabilities, need in (("", "shell"), ('capabilities = ["shell"]', "net")):
        file.write_text(capabilities)
        assert "deploy" not in world.ok("browse").stdout
        assert "deploy" not in world.ok("find", "deploy things").stdout.split("\n")[0]
        found = world.json("doctor", "--library")["diagnostics"]
        (one,) = [d for d in found if d["code"] == "W023"]
        assert (one["path"], one["message"]) == ("deploy", hidden.format(need))
        assert "W023" in world.ok("doctor", "--library").stdout
    file.write_text('capabilities = ["net", "shell", "more"]')
    assert "deploy" in world.ok("browse").stdout
    assert world.ok("find", "deploy things").stdout.startswith("deploy")
    assert "# D" in world.ok("load", "deploy").stdout
    assert "W023" not in world.ok("doctor", "--library").stdout
    for wrong in ('"shell"', "[1]", '[""]'):
        file.write_text(f"capabilities = {wrong}")
        assert "'capabilities' must be a list" in world.fails("E071", "browse").stderr
