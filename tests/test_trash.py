"""The trash: what skc replaces or removes can be brought back [D52]."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from skillc import atomic, trash
from skillc.errors import NotInTrash, PlaceTaken
from tests.conftest import World, save


def folder_with(path: Path, text: str) -> Path:
    path.mkdir(parents=True)
    (path / "notes.txt").write_text(text)
    (path / "link").symlink_to("nowhere")
    return path


def test_there_and_back(world: World) -> None:
    """[D52] anything: a folder with its links, a file, a link; the newest of one name first."""
    folder = folder_with(world.root / "mine", "first")
    trash.put(str(folder), "a test")
    folder_with(folder, "second")
    item = trash.put(str(folder), "a test")
    assert not folder.exists()
    assert trash.find("mine") == item == trash.find(str(folder)) == trash.find(item.id)
    assert trash.restore(item) == str(folder)
    assert (folder / "notes.txt").read_text() == "second"
    assert os.readlink(folder / "link") == "nowhere"
    (older,) = trash.items()
    with pytest.raises(PlaceTaken):
        trash.restore(older)
    assert trash.items() == [older]
    link = world.root / "link"
    link.symlink_to("gone")
    trash.restore(trash.put(str(link), "a test"))
    assert os.readlink(link) == "gone"
    with pytest.raises(NotInTrash):
        trash.find("nothing")


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_link_takes_its_place(world: World, monkeypatch: pytest.MonkeyPatch, can_exchange: bool) -> None:
    """[D52] a folder goes to the trash, and a link stands where it was."""
    if not can_exchange:
        monkeypatch.setattr(atomic, "exchange", lambda one, other: False)
    folder, other = folder_with(world.root / "mine", "text"), folder_with(world.root / "other", "other")
    item = trash.put(str(folder), "a test", link=str(other))
    assert os.readlink(folder) == str(other)
    assert (Path(item.path) / "notes.txt").read_text() == "text"
    with pytest.raises(PlaceTaken):
        trash.restore(item)
    folder.unlink()
    trash.restore(item)
    assert (folder / "notes.txt").read_text() == "text"


def test_across_file_systems(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D52] where nothing can be renamed, it is copied, and the original goes last."""
    folder = folder_with(world.root / "mine", "text")
    rename = os.rename

    def refuse(source: str, target: str) -> None:
        if not source.endswith(".tmp"):
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        rename(source, target)

    monkeypatch.setattr(os, "rename", refuse)
    item = trash.put(str(folder), "a test")
    assert not folder.exists()
    trash.restore(item)
    assert (folder / "notes.txt").read_text() == "text"
    assert os.readlink(folder / "link") == "nowhere"


def test_a_parent_that_leads_elsewhere(world: World) -> None:
    """[D63] where the folder is behind a link now, which a clone may bring, nothing is put back."""
    folder = world.project / ".claude" / "skills" / "pdf"
    folder.mkdir(parents=True)
    item = trash.put(str(folder), "test")
    (world.root / "outside").mkdir()
    (world.project / ".claude" / "skills").rmdir()
    (world.project / ".claude" / "skills").symlink_to(world.root / "outside")
    error = world.fails("E012", "restore", item.id).stderr
    assert "stays in the trash" in error
    assert os.listdir(world.root / "outside") == []


def test_a_note_with_another_byte(world: World) -> None:
    """[D11] [D52] nothing is put back where a damaged note says; the item stays, and can be copied."""
    item = trash.put(str(folder_with(world.project / "pdf", "mine")), "test")
    note = Path(item.path).with_name("note.json")
    data = note.read_bytes()
    for place in range(0, len(data), 5):
        note.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        (found,) = trash.items()
        assert found.origin in ("", item.origin)
    note.write_bytes(data)
    assert trash.items() == [item]


def test_a_failed_move_leaves_everything(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D52] an error on the way: the original is where it was, and nothing is in the trash."""
    folder = folder_with(world.root / "mine", "text")

    def fail(source: str, target: str) -> None:
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(PermissionError):
        trash.put(str(folder), "a test")
    assert (folder / "notes.txt").read_text() == "text"
    assert trash.items() == []


def test_without_its_note(world: World) -> None:
    """[D52] an item with a damaged note is still listed; nothing goes for good without a yes."""
    item = trash.put(str(folder_with(world.root / "mine", "text")), "a test")
    Path(item.path).with_name("note.json").write_bytes(b"\xff{")
    (found,) = trash.items()
    assert (found.id, found.origin) == (item.id, "")
    assert "can't be read" in world.ok("trash", "list", "--format", "json").stdout
    assert found.path in world.fails("E999", "restore", item.id).stderr
    assert world.ok("trash", "empty", "--yes").stdout.startswith("Deleted 1 item (")
    assert world.ok("trash", "list").stdout == "The trash is empty.\n"
    trash.put(str(folder_with(world.root / "mine", "text")), "a test")
    world.fails("E100", "trash", "empty")
    assert "mine" in world.ok("trash", "list").stdout
    assert world.ok("trash", "empty", "--yes").stdout.startswith("Deleted 1 item (")
    assert trash.items() == []


def test_force_keeps_what_was_there(world: World) -> None:
    """[D52] [D10] --force replaces an agent's real folder and a skill in the store; both come back."""
    agent = folder_with(world.home / ".claude" / "skills" / "pdf", "by hand")
    world.skill("pdf")
    world.fails("E013", "build", "pdf")
    stderr = world.ok("build", "pdf", "--force").stderr
    assert "warning[W007]" in stderr
    assert agent.is_symlink()
    world.fails("E052", "restore", "pdf")
    agent.unlink()
    assert world.ok("restore", "pdf").stdout == f"Restored {agent}\n"
    assert (agent / "notes.txt").read_text() == "by hand"
    other = world.skill("pdf", store=world.root / "other")
    save(world.store / "pdf" / "edit.md", "edited\n")
    world.fails("E050", "build", str(other))
    world.ok("build", str(other), "--force", "--target", "./agent")
    items = world.json("trash", "list")["entries"]
    assert [item["from"] for item in items] == [str(world.store / "pdf")]
    assert Path(items[0]["path"], "edit.md").read_text() == "edited\n"


def test_an_edited_copy_is_kept(world: World) -> None:
    """[D52] a deployed copy that was edited goes to the trash; one that was not is simply replaced."""
    folder = world.skill("pdf")
    world.ok("build", "pdf", "--copy")
    save(folder / "more.md", "# More\n")
    assert "W007" not in world.ok("build", "pdf", "--copy").stderr
    agent = world.home / ".claude" / "skills" / "pdf"
    save(agent / "notes.txt", "mine\n")
    world.ok("build", "pdf", "--copy")  # nothing changed in the source: the edit does not become ours
    save(folder / "more.md", "# Much more\n")
    assert "warning[W007]" in world.ok("build", "pdf", "--copy").stderr
    (item,) = trash.items()
    assert Path(item.path, "notes.txt").read_text() == "mine\n"
    save(agent / "SKILL.md", "edited\n")
    world.ok("build", "pdf")
    assert Path(trash.items()[0].path, "SKILL.md").read_text() == "edited\n"
