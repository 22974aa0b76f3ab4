"""The digest of an approval: another folder never has the same, whatever differs."""

from __future__ import annotations

import os
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from skillc.errors import ApprovalRequired, InvalidSkill, PathEscapes
from skillc.skills import hash_source, list_files
from skillc.tools import ToolCall, TrustStore, allow, digest, find_skill, trust_status
from skillc.tools.digest import fingerprint
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
    """[D46] [D3] names and hashes moved into one another: the source hash is equal, the approval is gone."""
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
    *(
        f"mkdir -p {name} && echo evil > {name}/hook.sh"
        for name in (".git", ".hg", ".svn", ".skillc", ".skillc-meta", ".hidden", "deep/.git", "__pycache__")
    ),
    "chmod -x scripts/say.sh",
    "chmod +x a.txt",
    "echo b >> a.txt",
    "mv a.txt b.txt",
    "ln -sfn SKILL.md link",
    "ln -sfn other broken",
    "rm link && cp a.txt link",
    "rm link && echo -n '-> a.txt' > link",
    "rmdir empty",
    "mkdir other",
    "mkfifo pipe",
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = executable(tmp_path, "demo", say="echo 1")
    (folder / "a.txt").write_text("a\n")
    (folder / "link").symlink_to("a.txt")
    (folder / "broken").symlink_to("nothing")
    (folder / "empty").mkdir()
    return folder


@pytest.mark.parametrize("command", CHANGES)
def test_whatever_a_run_can_reach(folder: Path, command: str) -> None:
    """[D46] folders of version control, executable bits, links, empty directories: any change is one."""
    before = fingerprint(str(folder))
    assert fingerprint(str(folder)) == before
    subprocess.run(["sh", "-c", command], cwd=folder, check=True)
    after = fingerprint(str(folder))
    assert after.digest != before.digest
    assert after.changes_since(before.files)
    assert fingerprint(str(folder), before) == after


def test_the_same_elsewhere(folder: Path, tmp_path: Path) -> None:
    """[D46] a copy has the same digest: owner, times and place are not part of it."""
    subprocess.run(["cp", "-r", str(folder), str(tmp_path / "copy")], check=True)
    assert fingerprint(str(tmp_path / "copy")) == fingerprint(str(folder))


def test_a_link_that_leads_out(folder: Path, tmp_path: Path) -> None:
    """[D46] is refused as soon as there is something behind it."""
    (folder / "way").symlink_to(tmp_path / "outside")
    fingerprint(str(folder))
    (tmp_path / "outside").mkdir()
    with pytest.raises(PathEscapes):
        fingerprint(str(folder))


def test_names_that_are_not_text(folder: Path) -> None:
    """[D46] a file's name is bytes, and a link's target too."""
    before = fingerprint(str(folder))
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff")).symlink_to(os.fsdecode(b"\xfe"))
    assert fingerprint(str(folder)).changes_since(before.files) == ["added: \udcff"]


def test_too_much(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D46] a skill beyond the limits can't be approved, and is not read."""
    with open(folder / "huge", "wb") as file:
        file.truncate(digest.MAX_SKILL + 1)
    with pytest.raises(InvalidSkill, match="more than 1 GiB"):
        fingerprint(str(folder))
    monkeypatch.setattr(digest, "MAX_ENTRIES", 5)
    with pytest.raises(InvalidSkill, match="more than 5 files"):
        fingerprint(str(folder))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the files that are read."""
    sizes: list[int] = []
    hash_file = digest.file_sha256_hex

    def count(file: object, size: int) -> str:
        sizes.append(size)
        return hash_file(file, size)  # type: ignore[arg-type]

    monkeypatch.setattr(digest, "file_sha256_hex", count)
    return sizes


def test_a_large_skill_is_read_once(folder: Path, reads: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """[D46] looking again before the start reads only what changed, or may have without a trace."""
    before = fingerprint(str(folder))
    assert fingerprint(str(folder), before) == before
    assert len(reads) == 2 * 3  # all are new: another change would not have another time
    monkeypatch.setattr(digest, "SETTLED", -(10**18))
    before = fingerprint(str(folder))
    reads.clear()
    assert fingerprint(str(folder), before) == before
    assert reads == []
    (folder / "a.txt").write_text("b\n")
    os.utime(folder / "a.txt", ns=(0, before.stamps["a.txt"][3]))
    assert fingerprint(str(folder), before).changes_since(before.files) == ["changed: a.txt"]
    assert reads == [2]


def test_a_file_that_changes_meanwhile(folder: Path) -> None:
    """[D46] what is opened is what was looked at: not a link, and no pipe that would never end."""
    path, before = str(folder / "a.txt"), os.lstat(folder / "a.txt")
    for command in ("echo c >> a.txt", "rm a.txt && mkfifo a.txt"):
        subprocess.run(["sh", "-c", command], cwd=folder, check=True)
        with pytest.raises(InvalidSkill, match="changes while it is read"):
            digest._describe(path, before)


def test_main_file_behind_a_link(world: World) -> None:
    """[D46] SKILL.md may be a link to another file of the skill."""
    folder = executable(world.global_store, "mine", tool("say", "echo hi"))
    (folder / "SKILL.md").rename(folder / "text.md")
    (folder / "SKILL.md").symlink_to("text.md")
    here = str(world.project)
    run = prepare(ToolCall(find_skill("mine", here), "say", {}, here))
    assert run.files.files["SKILL.md"] == "-> text.md"
