"""The digest of a skill: another folder never has the same, whatever differs [D64]."""

from __future__ import annotations

import os
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

import pytest

from skillc.errors import ApprovalRequired, CannotRun, InvalidSkill, PathEscapes
from skillc.skills import digest, digest_skill, files, hash_source, list_files
from skillc.tools import ToolCall, TrustStore, find_skill
from skillc.tools.decisions import allow, trust_status
from skillc.tools.run import prepare, start_run
from tests.conftest import World
from tests.support.tools import executable, tool

MAIN = '#!/bin/sh\nd=$(dirname "$0")\n[ ! -f "$d/extra.sh" ] || . "$d/extra.sh"\necho good\n'
EVIL = "echo evil\n"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def source_hash(folder: Path) -> str:
    """The hash of D3, over hidden files too: what approvals were bound to."""
    files = list_files(str(folder), hidden=True)
    return hash_source((file.name, sha256(Path(file.path).read_bytes()).hexdigest()) for file in files)


def test_files_that_join_to_the_same_text(world: World) -> None:
    """[D46] [D64] names and hashes moved into one another: the source hash is equal, the approval is gone."""
    folder = executable(world.global_store, "mine", tool("say", "./scripts/main.sh"))
    write(folder / "scripts" / "main.sh", MAIN)
    (folder / "scripts" / "main.sh").chmod(0o755)
    decoy = "scripts/extra.sh" + sha256(EVIL.encode()).hexdigest() + "scripts/f"
    write(folder / decoy, "harmless\n")
    here = str(world.project)
    call = ToolCall(find_skill("mine", here), "say", {}, here)
    store, before = TrustStore(), source_hash(folder)
    allow(trust_status(call.skill, store), store)
    assert start_run(prepare(call)).output == "good\n"
    (folder / decoy).rename(folder / "scripts" / "f")
    (folder / decoy).parent.rmdir()
    write(folder / "scripts" / "extra.sh", EVIL)
    assert source_hash(folder) == before
    with pytest.raises(ApprovalRequired):
        start_run(prepare(call))


CHANGES = [
    "mkdir .hidden && echo evil > .hidden/hook.sh",
    *("mkdir node_modules && echo evil > node_modules/index.js", "echo evil > .env"),
    *("chmod -x scripts/say.sh", "chmod +x a.txt", "echo b >> a.txt", "mv a.txt b.txt"),
    *("ln -sfn SKILL.md link", "echo 1 > nothing", "rm link && echo -n '-> a.txt' > link"),
]
LEFT_OUT = (".git", ".hg", ".svn", ".skillc", ".skillc-meta", ".skillc-new", "deep/.git", "__pycache__")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = executable(tmp_path, "demo", say="echo 1")
    (folder / "a.txt").write_text("a\n")
    (folder / "link").symlink_to("a.txt")
    (folder / "broken").symlink_to("nothing")
    (folder / "empty").mkdir()
    return folder


def test_byte_by_byte(tmp_path: Path) -> None:
    """[D64] the digest as it is written down, computed here from nothing else."""
    (tmp_path / "b").write_bytes(b"two")
    (tmp_path / "b").chmod(0o755)
    (tmp_path / ".a").write_bytes(b"")
    (tmp_path / "ä").symlink_to("b")
    parts = [(b".a", b"-", b""), (b"b", b"x", b"two"), ("ä".encode(), b"x", b"two")]
    data = b"skillc-digest-1\n"
    for path, mode, content in parts:
        data += len(path).to_bytes(8, "big") + path + mode + len(content).to_bytes(8, "big") + content
    assert digest_skill(str(tmp_path)).digest == sha256(data).hexdigest()
    assert digest_skill(str(tmp_path)).executables == ["b", "ä"]


@pytest.mark.parametrize("command", CHANGES)
def test_whatever_is_installed(folder: Path, command: str) -> None:
    """[D64] [D46] hidden files, executable bits, links: any change is one."""
    before = digest_skill(str(folder))
    assert digest_skill(str(folder)) == before
    subprocess.run(["sh", "-c", command], cwd=folder, check=True)
    after = digest_skill(str(folder))
    assert after.digest != before.digest
    assert after.changes_since(before.files)
    assert digest_skill(str(folder), before=before) == after


def test_what_counts(folder: Path, tmp_path: Path) -> None:
    """[D64] no folders of version control; a file's name is bytes; a copy is the same."""
    before = digest_skill(str(folder))
    for name in LEFT_OUT:
        (folder / name).mkdir(parents=True)
        (folder / name / "hook.sh").write_text("echo evil\n")
    assert digest_skill(str(folder)).digest == before.digest
    before = digest_skill(str(folder))
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff")).touch()
    after = digest_skill(str(folder))
    assert after.changes_since(before.files) == [("added", "\udcff")]
    assert before.changes_since(after.files) == [("removed", "\udcff")]
    subprocess.run(["cp", "-rL", str(folder / "scripts"), str(tmp_path / "one")], check=True)
    subprocess.run(["cp", "-r", str(folder / "scripts"), str(tmp_path / "other")], check=True)
    assert digest_skill(str(tmp_path / "one")) == digest_skill(str(tmp_path / "other"))


def test_programs_that_the_digest_leaves_out(world: World) -> None:
    """[D64] a tool's program is covered by the approval, or it does not run."""
    folder = executable(world.global_store, "mine", tool("say", "./__pycache__/main.sh"))
    write(folder / "__pycache__" / "main.sh", MAIN)
    (folder / "__pycache__" / "main.sh").chmod(0o755)
    here = str(world.project)
    with pytest.raises(CannotRun, match="approvals do not cover"):
        prepare(ToolCall(find_skill("mine", here), "say", {}, here))


@pytest.mark.slow
def test_compiled_python_is_not_read(world: World) -> None:
    """[D64] a `__pycache__` in the skill holds other code than its source: the source runs."""
    folder = executable(world.global_store, "mine", tool("say", "./main.py"))
    write(folder / "main.py", "#!/usr/bin/env python3\nimport helper\n")
    (folder / "main.py").chmod(0o755)
    write(folder / "helper.py", "print('good')\n")
    write(folder / "evil.py", "print('evil')\n")
    code = (
        "from importlib.util import cache_from_source; import py_compile; py_compile.compile('evil.py',"
        " cfile=cache_from_source('helper.py'), invalidation_mode=py_compile.PycInvalidationMode(3))"
    )  # 3: a hash that is never checked
    subprocess.run(["python3", "-c", code], cwd=folder, check=True)
    (folder / "evil.py").unlink()
    here = str(world.project)
    call = ToolCall(find_skill("mine", here), "say", {}, here)
    store = TrustStore()
    allow(trust_status(call.skill, store), store)
    assert start_run(prepare(call)).output == "good\n"


def test_file_systems_without_modes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D64] where every new file is executable, the modes are those that are given; else they count."""
    before = digest_skill(str(folder))
    assert before.executables == ["scripts/say.sh"]
    for file in list_files(str(folder), hidden=True):
        os.chmod(file.path, 0o777)
    assert digest_skill(str(folder)).digest != before.digest
    assert digest_skill(str(folder), executables=before.executables).digest != before.digest
    monkeypatch.setattr("tempfile.TemporaryFile", create_executable)
    assert digest_skill(str(folder), executables=before.executables).digest == before.digest


def create_executable(dir: str) -> BinaryIO:
    """Open a new file as a mount without modes has it."""
    file = (Path(dir).parent / "new").open("wb")
    os.fchmod(file.fileno(), 0o777)
    return file


def test_a_link_that_leads_out(folder: Path, tmp_path: Path) -> None:
    """[D64] is refused as soon as there is something behind it."""
    (folder / "way").symlink_to(tmp_path / "outside")
    digest_skill(str(folder))
    (tmp_path / "outside").mkdir()
    with pytest.raises(PathEscapes):
        digest_skill(str(folder))


def test_too_much(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D64] a skill beyond the limits has no digest, and is not read."""
    with open(folder / "huge", "wb") as file:
        file.truncate(digest.MAX_SKILL + 1)
    with pytest.raises(InvalidSkill, match="more than 1 GiB"):
        digest_skill(str(folder))
    monkeypatch.setattr(files, "MAX_FILES", 2)
    with pytest.raises(InvalidSkill, match="more than 2 files"):
        digest_skill(str(folder))


def test_a_large_skill_is_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D46] looking again before the start reads nothing, unless something changed, or may have."""
    before = digest_skill(str(folder))
    assert digest_skill(str(folder), before=before) is not before  # all is new, and may change once more
    monkeypatch.setattr(digest, "SETTLED", -(10**18))
    before = digest_skill(str(folder))
    assert digest_skill(str(folder), before=before) is before
    (folder / "a.txt").write_text("b\n")
    os.utime(folder / "a.txt", ns=(0, before.stamps["a.txt"][1]))
    assert digest_skill(str(folder), before=before).changes_since(before.files) == [
        ("changed", "a.txt"),
        ("changed", "link"),
    ]


def test_a_file_that_changes_meanwhile(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D64] what is read is as long as what was listed, and no pipe that would never end."""
    listing = list_files(str(folder), hidden=True)
    monkeypatch.setattr(digest, "list_files", lambda *_, **__: listing)
    (folder / "a.txt").write_text("longer\n")
    with pytest.raises(InvalidSkill, match="changes while"):
        digest_skill(str(folder))
    (folder / "a.txt").unlink()
    os.mkfifo(folder / "a.txt")
    with pytest.raises(InvalidSkill, match="changes while"):
        digest_skill(str(folder))


def test_main_file_behind_a_link(world: World) -> None:
    """[D64] SKILL.md may be a link to another file of the skill."""
    folder = executable(world.global_store, "mine", tool("say", "echo hi"))
    (folder / "SKILL.md").rename(folder / "text.md")
    (folder / "SKILL.md").symlink_to("text.md")
    here = str(world.project)
    run = prepare(ToolCall(find_skill("mine", here), "say", {}, here))
    assert run.files.files["SKILL.md"] == run.files.files["text.md"]
