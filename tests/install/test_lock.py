"""The lock file: as the npm package `skills` writes it, with ours in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from skillc.errors import InvalidConfiguration
from skillc.install.entry import (
    FolderHashes,
    LockEntry,
    compute_hash,
    hash_folder,
    make_entry,
    without_credentials,
)
from skillc.install.lock import change_lock, lock_file, read_lock
from skillc.install.origin import Candidate, Download, Origin
from skillc.skills import SkillDigest
from tests.conftest import World
from tests.support.cases import each
from tests.support.npm import Installer, evaluate
from tests.support.skills import skill

GITHUB = Origin("github", "acme/skills", "https://github.com/acme/skills.git", "v1")


def entry(name: str, origin: Origin = GITHUB, *, base: str = "/project", **more: Any) -> LockEntry:
    candidate = Candidate(name, f"/tmp/{name}", f"skills/{name}/SKILL.md", tree="7" * 40)
    download = Download(origin, "/tmp", (candidate,), commit="c" * 40, resolved=origin.url)
    hashes = FolderHashes("a" * 64, "d" * 64, SkillDigest("e" * 64, {"run.sh": "1 executable"}))
    return make_entry(base, download.candidates[0], hashes, **more)


def read(world: World) -> str:
    return (world.project / "skills-lock.json").read_text(encoding="utf-8")


def test_the_file(world: World) -> None:
    """[SURFACES: Lock file] sorted, two spaces, a final newline; ours under one key; not written if equal."""
    change_lock(str(world.project), record=[entry("pdf", targets=["codex", "claude-code"]), entry("docx")])
    content = json.loads(read(world))
    assert read(world) == json.dumps(content, indent=2) + "\n"
    assert list(content) == ["version", "skills"]
    assert list(content["skills"]) == ["docx", "pdf"]
    assert content["skills"]["pdf"] == {
        "source": "acme/skills",
        "ref": "v1",
        "sourceType": "github",
        "skillPath": "skills/pdf/SKILL.md",
        "computedHash": "a" * 64,
        "skillc": {
            "v": 1,
            "sha256": content["skills"]["pdf"]["skillc"]["sha256"],
            "commit": "c" * 40,
            "tree": "7" * 40,
            "digest": "sha256:" + "d" * 64,
            "contentDigest": "sha256:" + "e" * 64,
            "executables": ["run.sh"],
            "resolved": "https://github.com/acme/skills.git",
            "targets": ["claude-code", "codex"],
            "mode": "link",
            "pinned": False,
        },
    }
    stamp = (world.project / "skills-lock.json").stat()
    change_lock(str(world.project), record=[entry("docx")], forget=["nothing"])
    assert (world.project / "skills-lock.json").stat() == stamp
    change_lock(str(world.project), forget=["pdf", "docx"])
    assert read(world) == '{\n  "version": 1,\n  "skills": {}\n}\n'
    assert sorted(os.listdir(world.project)) == [".skillc", "skills-lock.json"]


def test_as_javascript_writes_it(world: World) -> None:
    """[SURFACES: Lock file] no file for nothing; else byte for byte what JSON.stringify gives."""
    change_lock(str(world.project), forget=["pdf"])
    assert read_lock(str(world.project)) == {}
    assert not (world.project / "skills-lock.json").exists()
    names = [
        *("b", "B", "a", "10", "9", "01", "é", "z\u2028", "\U0001f389", "\uffee", "tab\t", 'q"'),
        *("__proto__", "\x7f"),
    ]
    change_lock(str(world.project), record=[entry(name) for name in names])
    content = read(world)
    skills = "Object.fromEntries(Object.keys(value.skills).sort().map(k => [k, value.skills[k]]))"
    script = f"JSON.stringify({{version: value.version, skills: {skills}}}, null, 2)"
    assert content == evaluate(script, json.loads(content)) + "\n"


def test_what_an_entry_says(world: World) -> None:
    """[SURFACES: Lock file] what was written is read back; odd values of others are taken for none."""
    local = Origin("local", str(world.root / "mine"), str(world.root / "mine"))
    git = Origin("git", "ssh://git@host/x.git", "ssh://git@host/x.git", path="")
    root = str(world.project)
    change_lock(
        root, record=[entry("pdf").with_own(pinned=True), entry("own", local, base=root), entry("far", git)]
    )
    entries = read_lock(root)
    assert entries["pdf"].is_pinned
    assert entries["pdf"].origin(root) == Origin(*[*vars_of(GITHUB)[:4], "skills/pdf"])
    assert entries["own"].fields["source"] == "../mine"
    assert "skillPath" not in entries["own"].fields
    assert entries["own"].origin(root) == local
    assert entries["far"].fields["sourceUrl"] == "ssh://git@host/x.git"
    strange = LockEntry("x", {"source": 1, "skillc": {"v": 1, "targets": [1, "claude"], "commit": None}})
    assert (strange.text("source"), strange.commit, strange.targets, strange.digest) == (
        "",
        "",
        ["claude"],
        "",
    )
    assert LockEntry("x", {"skillc": {"v": 2, "commit": "c"}}).own == {}
    assert LockEntry("x", {"skillc": []}).own == {}


def vars_of(origin: Origin) -> list[str]:
    return [origin.type, origin.source, origin.url, origin.ref, origin.path]


def test_fields_of_others_stay(world: World) -> None:
    """[SURFACES: Lock file] in an entry and at the top; where the source changes, an entry is a new one."""
    path, root = world.project / "skills-lock.json", str(world.project)
    theirs = {
        "source": "acme/skills",
        "sourceType": "github",
        "computedHash": "0",
        "subagents": [""],
        "x": {"y": 1.5},
    }
    path.write_text(
        json.dumps({"version": 1, "skills": {"pdf": theirs, "other": {"source": "é\ud800"}}, "z": 1})
    )
    change_lock(root, record=[entry("pdf")])
    content = json.loads(read(world))
    assert list(content["skills"]["pdf"])[-3:] == ["subagents", "x", "skillc"]
    assert content["skills"]["pdf"]["x"] == {"y": 1.5}
    assert content["skills"]["other"] == {"source": "é\ud800"}
    assert content["z"] == 1
    assert '"é\\ud800"' in read(world)
    change_lock(
        root, record=[entry("pdf", Origin("github", "else/where", "https://github.com/else/where.git"))]
    )
    assert "subagents" not in json.loads(read(world))["skills"]["pdf"]


BROKEN = {
    "": "not valid JSON",
    "{": "not valid JSON",
    "[]": "no 'version'",
    "null": "no 'version'",
    '{"version": 1}': "no 'version'",
    '{"version": true, "skills": {}}': "no 'version'",
    '{"version": "1", "skills": {}}': "no 'version'",
    '{"version": 1, "skills": []}': "no 'version'",
    '{"version": 1, "skills": {"a": 1}}': "not an object",
    '{"version": 1, "skills": {"a": {"x": NaN}}}': "not valid JSON",
    '{"version": 1, "x": -1e999, "skills": {}}': "-1e999 is no JSON",
    '{"version": 1, "skills": {"a": {}, "b": {}, "a": {}}}': "'a' is there twice",
    '{"version": 1, "skills": {"a": {"skillc": {"v": 1, "\\u0076": 1}}}}': "'v' is there twice",
    '{"version": 2, "skills": {}}': "its version is 2",
    "[" * 100_000: "not valid JSON",
    '{"version": ' + "1" * 5000 + "}": "not valid JSON",
    '{\n<<<<<<< ours\n"version": 1\n': "git's marks of a conflict",
}


@each("text", BROKEN)
def test_damaged(world: World, text: str) -> None:
    """[SURFACES: Lock file] a damaged or hostile file is one coded line, and stays as it is."""
    path = world.project / "skills-lock.json"
    path.write_text(text)
    for attempt in (read_lock, lambda root: change_lock(root, record=[entry("pdf")])):
        with pytest.raises(InvalidConfiguration, match=BROKEN[text]) as error:
            attempt(str(world.project))
        assert error.value.line().count("\n") == 0
        assert len(error.value.line()) < 400
    assert path.read_text() == text


def test_odd_files(world: World) -> None:
    """[SURFACES: Lock file] a folder, a pipe, bytes, a huge file and a link to elsewhere are refused."""
    path, root = world.project / "skills-lock.json", str(world.project)
    path.mkdir()
    with pytest.raises(InvalidConfiguration, match="directory"):
        read_lock(root)
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(InvalidConfiguration, match="regular"):
        read_lock(root)
    path.unlink()
    path.write_bytes(b'{"version": 1, "skills": {"\xff": {}}}')
    with pytest.raises(InvalidConfiguration, match="UTF-8"):
        read_lock(root)
    with path.open("wb") as file:
        file.truncate(17 << 20)
    with pytest.raises(InvalidConfiguration, match="over"):
        read_lock(root)
    path.unlink()
    (world.home / "secret").write_text('{"version": 1, "skills": {}}')
    path.symlink_to(world.home / "secret")
    with pytest.raises(InvalidConfiguration, match="outside of the project"):
        change_lock(root, record=[entry("pdf")])
    assert (world.home / "secret").read_text() == '{"version": 1, "skills": {}}'


def test_no_credentials(world: World) -> None:
    """[SURFACES: Lock file] neither a password nor a token gets into the file."""
    secret = Origin(
        "git", "https://me:hunter2@host/x.git", "https://me:hunter2@host/x.git?access_token=hunter2"
    )
    change_lock(str(world.project), record=[entry("pdf", secret)])
    assert "hunter2" not in read(world)
    assert "https://host/x.git" in read(world)
    assert without_credentials("ssh://git:hunter2@host/x.git") == "ssh://git@host/x.git"
    assert without_credentials("git@host:x.git") == "git@host:x.git"
    assert without_credentials("https://token@host:8443/x@y.git") == "https://host:8443/x@y.git"


WRITER = """
import sys
from skillc.install.entry import LockEntry
from skillc.install.lock import change_lock
for number in range(20):
    entry = LockEntry(f"{sys.argv[2]}-{number}", {"source": "x", "sourceType": "git"})
    change_lock(sys.argv[1], record=[entry])
"""


@pytest.mark.slow
@pytest.mark.parametrize("place", ["project", "home"])
def test_many_writers(world: World, place: str) -> None:
    """[SURFACES: Lock file] no entry is lost where several processes write at once."""
    root = str(getattr(world, place))
    words = [[sys.executable, "-c", WRITER, root, str(number)] for number in range(4)]
    processes = [subprocess.Popen(each, env=world.env, cwd=world.project) for each in words]
    assert [process.wait(60) for process in processes] == [0] * 4
    assert len(read_lock(root)) == 80
    if place == "home":
        theirs = json.loads((world.home / ".agents" / ".skill-lock.json").read_text())
        assert len(theirs["skills"]) == 80


def test_the_home(world: World) -> None:
    """[SURFACES: Lock file] the home's lock is in ~/.skillc; the npm package's file is kept in step."""
    home, theirs = str(world.home), world.home / ".agents" / ".skill-lock.json"
    assert lock_file(home) == str(world.home / ".skillc" / "skills-lock.json")
    theirs.parent.mkdir()
    last = {"version": 3, "skills": {"x": {"source": "y", "n": 1}}, "dismissed": {"p": True}, "more": [1]}
    theirs.write_text(json.dumps(last))
    assert (
        change_lock(
            home, record=[entry("pdf"), entry("git", Origin("git", "https://h/x.git", "https://h/x.git"))]
        )
        == []
    )
    content = json.loads(theirs.read_text())
    assert theirs.read_text() == json.dumps(content, indent=2)
    assert {**content, "skills": {"x": content["skills"]["x"]}} == last
    pdf = content["skills"]["pdf"]
    assert pdf.pop("installedAt") == pdf.pop("updatedAt")
    assert pdf == {
        "source": "acme/skills",
        "sourceType": "github",
        "sourceUrl": "https://github.com/acme/skills.git",
        "ref": "v1",
        "skillPath": "skills/pdf/SKILL.md",
        "skillFolderHash": "7" * 40,
    }
    assert content["skills"]["git"]["skillFolderHash"] == "a" * 64
    stamp = theirs.stat()
    change_lock(home, record=[entry("pdf")])
    assert theirs.stat() == stamp
    change_lock(home, forget=["pdf", "git"])
    assert json.loads(theirs.read_text()) == last


def test_a_damaged_global_file(world: World) -> None:
    """[SURFACES: Lock file] it stays as it is, with a warning; the home's own lock is written."""
    theirs = world.home / ".agents" / ".skill-lock.json"
    theirs.parent.mkdir()
    for text in ("{", "[]", '{"version": 2, "skills": {}}', '{"version": 3, "skills": 1}'):
        theirs.write_text(text)
        entry = LockEntry(f"pdf{len(text)}", {"source": "x"})
        (warning,) = change_lock(str(world.home), record=[entry])
        assert warning.line().startswith(f"warning[W085]: '{theirs}' is not kept in step: ")
        assert theirs.read_text() == text
        assert entry.name in read_lock(str(world.home))


@pytest.mark.slow
def test_with_the_npm_package(installer: Installer) -> None:
    """[SURFACES: Lock file] what it wrote is read; writing it again changes no byte.

    It restores from our lock, and an 'add' of its own keeps what is ours.
    """
    world, root = installer.world, str(installer.world.project)
    more = skill(world.root / "more", "xlsx")
    installer.run("add", str(more.parent), "--yes", "--agent", "claude-code")
    before = read(world)
    (found,) = read_lock(root).values()
    assert (found.hash, found.own) == (compute_hash(str(more)), {})
    assert found.origin(root) == Origin("local", str(more.parent), str(more.parent))
    change_lock(root, record=[found])
    change_lock(root, record=[entry("more")])
    change_lock(root, forget=["more"])
    assert read(world) == before
    change_lock(root, forget=["xlsx"])
    mine = world.root / "mine"
    folders = [skill(mine, "pdf"), skill(mine, "docx")]
    candidates = tuple(Candidate(folder.name, str(folder), "") for folder in folders)
    download = Download(Origin("local", str(mine), str(mine)), str(mine), candidates)
    entries = [make_entry(root, each, hash_folder(each.folder)) for each in download.candidates]
    change_lock(root, record=entries)
    before = read(world)
    installer.run("add", str(more.parent), "--yes", "--agent", "claude-code")
    change_lock(root, forget=["xlsx"])
    assert read(world) == before
    installer.run("experimental_install")  # which writes each entry anew, without ours
    for name in ("pdf", "docx"):
        assert (world.project / ".agents" / "skills" / name / "SKILL.md").is_file()
    theirs = {each.name: {k: v for k, v in each.fields.items() if k != "skillc"} for each in entries}
    assert installer.lock() == theirs
