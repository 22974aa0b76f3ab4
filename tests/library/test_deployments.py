"""The record of deployments: names that resolve from everywhere, and ghosts [D51]."""

from __future__ import annotations

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from skillc import trash
from skillc.errors import InvalidConfiguration
from skillc.library import import_origin, read_import
from skillc.library.records import (
    DeploymentRecord,
    find_record_damage,
    forget_deployments,
    read_deployments,
    record_deployments,
)
from skillc.tools import TrustStore
from tests.conftest import World
from tests.support.deadline import ends


def record(name: str, path: str = "") -> DeploymentRecord:
    return DeploymentRecord(name, f"/s/{name}", f"/r/{name}", "claude", path or f"/a/{name}", "symlink", "d")


def test_on_record(world: World) -> None:
    """[D51] what each deployment is; a record from before is read; without a home there is none."""
    source = world.skill("pdf")
    built = world.json("build", "pdf")
    (entry,) = json.loads((world.home / ".skillc" / "deployments.json").read_text())["deployments"]
    assert entry == {
        "skill": "pdf",
        "source": str(source),
        "runtime": str(world.runtime / "pdf"),
        "target": "claude",
        "path": str(world.home / ".claude" / "skills" / "pdf"),
        "method": "symlink",
        "digest": built["source_hash"],
    }
    file = world.home / ".skillc" / "deployments.json"
    content = json.loads(file.read_text())
    file.write_text(json.dumps({"version": 1, "deployments": content["deployments"]}))
    assert [entry.skill for entry in read_deployments()] == ["pdf"]
    record_deployments([record("doc")])
    assert json.loads(file.read_text())["version"] == 2
    assert [entry.skill for entry in read_deployments()] == ["pdf", "doc"]
    world.ok("build", "pdf", "--target", "./agent", env={"HOME": ""})
    assert (Path(world.project) / "agent" / "pdf").exists()


def test_a_name_resolves_from_everywhere(world: World) -> None:
    """[D51] a project's skill that is deployed for the user answers in every directory."""
    world.skill("pdf")
    elsewhere = world.root / "elsewhere"
    elsewhere.mkdir()
    world.fails("E001", "show", "pdf", "--section", "usage", cwd=elsewhere)
    world.ok("build", "--all")
    assert world.ok("show", "pdf", "--section", "usage", cwd=elsewhere).stdout.startswith("## Usage")
    assert world.ok("search", "pdf", "text", cwd=elsewhere).stdout
    nearer = world.skill("pdf", store=elsewhere / ".skillc" / "skills")
    assert world.json("build", "pdf", cwd=elsewhere)["source_path"] == str(nearer)


@pytest.mark.parametrize("option", [(), ("--copy",)])
def test_a_compiled_folder_means_its_source(world: World, option: tuple[str, ...]) -> None:
    """[D51] by its path, where the agent has it and in the runtime directory."""
    world.skill("pdf")
    world.ok("build", "pdf", *option)
    for folder in (world.home / ".claude" / "skills" / "pdf", world.runtime / "pdf"):
        assert "## Usage" in world.ok("show", str(folder), "--section", "usage", cwd=world.root).stdout


def test_a_manifest_alone_leads_nowhere(world: World) -> None:
    """[D51] a compiled folder that came with a clone can't name a source: only the user's record counts."""
    source = world.skill("secret", store=world.root / "private")
    folder = world.skill("pdf", store=world.root / "clone")
    (folder / ".skillc").mkdir()
    (folder / ".skillc" / "manifest.json").write_text(json.dumps({"source": str(source), "skill": "secret"}))
    assert "# secret" not in world.skc("outline", str(folder), cwd=world.root).stdout


def test_ghosts(world: World) -> None:
    """[D51] a deployment whose source is gone is named by list and build --all."""
    world.skill("pdf")
    world.skill("other")
    world.ok("build", "--all")
    shutil.rmtree(world.store / "pdf")
    for command in (("list",), ("build", "--all")):
        stderr = world.ok(*command).stderr
        assert stderr.count("warning[W009]: 'pdf' is deployed as ") == 1
    (world.home / ".claude" / "skills" / "pdf").unlink()
    assert "W009" not in world.ok("list").stderr


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"version": 1, "deployments": [{"skill": 1}]}', b"\xff"]
)
def test_a_damaged_record(world: World, content: bytes) -> None:
    """[D51] is as if empty, and says so; the next build keeps it beside a new one."""
    world.skill("pdf")
    file = world.home / ".skillc" / "deployments.json"
    file.parent.mkdir()
    file.write_bytes(content)
    assert read_deployments() == []
    assert world.ok("list").stderr.count("warning[W094]") == 1
    assert "warning[W094]" in world.fails("E001", "show", "other", "--section", "usage").stderr
    assert "warning[W094]" in world.ok("build", "pdf").stderr
    assert [entry.skill for entry in read_deployments()] == ["pdf"]
    assert (file.parent / "deployments.json.damaged").read_bytes() == content
    assert "W094" not in world.ok("list").stderr


def test_taken_away_while_the_record_is_damaged(world: World) -> None:
    """[D51] [D11] `disable` and `remove` say that they may not know all deployments."""
    world.skill("pdf")
    world.ok("build", "pdf")
    (world.home / ".skillc" / "deployments.json").write_text("{")
    assert "warning[W094]" in world.ok("disable", "pdf").stderr
    assert not (world.home / ".claude" / "skills" / "pdf").exists()


def test_many_at_once(world: World) -> None:
    """[D51] no entry is lost between processes and threads; one of the same path replaces the last."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: record_deployments([record(f"s{n}")]), range(40)))
    assert {entry.skill for entry in read_deployments()} == {f"s{n}" for n in range(40)}
    record_deployments([record("new", "/a/s7")])
    assert [entry.skill for entry in read_deployments() if entry.path == "/a/s7"] == ["new"]
    forget_deployments(["/a/s7", "/a/s8"])
    assert len(read_deployments()) == 38


def test_pipes_in_place_of_records(world: World) -> None:
    """[D51] [D52] a pipe or a device in the place of a record or a note is not waited for."""
    folder = world.skill("pdf", store=world.root / "elsewhere")
    world.ok("build", str(folder), cwd=world.home)
    home = world.home / ".skillc"
    (note,) = (home / "imports").iterdir()
    item = home / "trash" / "1"
    (item / "content").mkdir(parents=True)
    for path in (home / "deployments.json", note, item / "note.json", home / "trust.json"):
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    with ends():
        assert read_deployments() == []
        assert read_import(str(home / "skills" / "pdf")) == ("", "")
        assert import_origin(str(home / "skills" / "pdf")) == "elsewhere"
        assert [item.reason for item in trash.items()] == ["its note can't be read"]
        with pytest.raises(InvalidConfiguration, match="not a regular file"):
            TrustStore().decisions()


def test_every_byte_of_the_record(world: World) -> None:
    """[D51] [D11] one bit that is another changes no deployment in silence: a damaged record says so."""
    record_deployments([record("pdf"), record("doc")])
    file = world.home / ".skillc" / "deployments.json"
    data, sound = file.read_bytes(), read_deployments()
    for place in range(len(data)):
        file.write_bytes(data[:place] + bytes([data[place] ^ 1 << place % 7]) + data[place + 1 :])
        assert read_deployments() == sound or find_record_damage()
