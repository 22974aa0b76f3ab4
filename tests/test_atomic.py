"""Whole or not at all: files, folders and links under their names, and the lock."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from skillc import atomic


def a_file(path: Path, text: str = "") -> None:
    path.write_text(text)


def a_folder(path: Path, text: str = "") -> None:
    (path / "deep").mkdir(parents=True)
    (path / "deep" / "file").write_text(text)


def an_empty_folder(path: Path, text: str = "") -> None:
    path.mkdir()


def a_link(path: Path, text: str = "") -> None:
    elsewhere = path.parent.parent / f"elsewhere-{text}"
    a_folder(elsewhere, text)
    path.symlink_to(elsewhere)


def a_broken_link(path: Path, text: str = "") -> None:
    path.symlink_to("nowhere")


def nothing(path: Path, text: str = "") -> None:
    pass


KINDS = [a_file, a_folder, an_empty_folder, a_link, a_broken_link]


def what(path: Path) -> object:
    """What stands at a path, links not followed."""
    if path.is_symlink():
        return os.readlink(path)
    if path.is_dir():
        return {entry.name: what(entry) for entry in path.iterdir()}
    return path.read_text()


@pytest.mark.parametrize("new", KINDS)
@pytest.mark.parametrize("old", [nothing, *KINDS])
def test_replace_anything_by_anything(
    tmp_path: Path, old: Callable[[Path, str], None], new: Callable[[Path, str], None]
) -> None:
    """[D11] whatever stood there, the new one stands there, the old one and its helpers are gone."""
    here = tmp_path / "here"
    here.mkdir()
    old(here / "name", "old")
    new(here / "new", "new")
    expected = what(here / "new")
    atomic.replace(str(here / "new"), str(here / "name"))
    assert what(here / "name") == expected
    assert os.listdir(here) == ["name"]
    for linked in tmp_path.glob("elsewhere-*"):  # where links led is not touched
        assert what(linked) == {"deep": {"file": linked.name.partition("-")[2]}}


@pytest.mark.parametrize("old", [nothing, *KINDS])
def test_symlink_over_anything(tmp_path: Path, old: Callable[[Path, str], None]) -> None:
    """[D11] a link takes the place of anything."""
    here = tmp_path / "here"
    here.mkdir()
    old(here / "name", "old")
    atomic.symlink(str(tmp_path), str(here / "name"))
    assert what(here / "name") == str(tmp_path)
    assert os.listdir(here) == ["name"]


@pytest.mark.parametrize("old", [nothing, a_file, a_broken_link])
@pytest.mark.parametrize("durable", [False, True])
def test_write(tmp_path: Path, old: Callable[[Path, str], None], durable: bool) -> None:
    """[D11] a file with all its bytes, and nothing beside it."""
    old(tmp_path / "name", "old")
    atomic.write(str(tmp_path / "name"), b"new\0", durable=durable)
    assert (tmp_path / "name").read_bytes() == b"new\0"
    assert os.listdir(tmp_path) == ["name"]


def test_failed_write_leaves_nothing(tmp_path: Path) -> None:
    """[D11] what can't be put there leaves what was there, of one file and of many."""
    a_folder(tmp_path / "name", "old")
    with pytest.raises(OSError):
        atomic.write(str(tmp_path / "name"), b"new")
    assert what(tmp_path) == {"name": {"deep": {"file": "old"}}}
    with pytest.raises(OSError):
        atomic.write(str(tmp_path / "missing" / "name"), b"new")
    assert os.listdir(tmp_path) == ["name"]
    files = {str(tmp_path / "many" / f"{number}.json"): b"%d" % number for number in range(5)}
    (tmp_path / "many").mkdir()
    atomic.write_all(files, private=True)
    assert {path: Path(path).read_bytes() for path in files} == files
    assert {os.stat(path).st_mode & 0o777 for path in files} == {0o600}
    with pytest.raises(OSError, match="nowhere"):
        atomic.write_all({next(iter(files)): b"new", str(tmp_path / "nowhere/x"): b"x"})
    assert Path(next(iter(files))).read_bytes() == b"0"
    assert sorted(path.name for path in (tmp_path / "many").iterdir()) == [
        f"{number}.json" for number in range(5)
    ]


@pytest.mark.parametrize(
    "name", ["x" * 255, "é" * 127, "名" * 85, "😀" * 63], ids=["1 byte", "2 bytes", "3 bytes", "4 bytes"]
)
def test_long_names(tmp_path: Path, name: str) -> None:
    """[D11] a name as long as the file system takes can be written too."""
    atomic.write(str(tmp_path / name), b"x")
    atomic.symlink(str(tmp_path), str(tmp_path / name))
    assert os.listdir(tmp_path) == [name]


def test_beside_is_hidden_and_new(tmp_path: Path) -> None:
    """[D11] helpers are hidden and never meet; anything is removed, and no link followed."""
    names = {atomic.temporary_path(str(tmp_path / "name")) for _ in range(100)}
    assert len(names) == 100
    assert all(os.path.dirname(name) == str(tmp_path) for name in names)
    assert all(os.path.basename(name).startswith(".name.") and name.endswith(".tmp") for name in names)
    here = tmp_path / "here"
    here.mkdir()
    for make in KINDS:
        make(here / "name", "kept")
        atomic.discard(str(here / "name"))
        assert os.listdir(here) == []
    atomic.discard(str(here / "name"))
    assert what(tmp_path / "elsewhere-kept") == {"deep": {"file": "kept"}}


def test_sweep(tmp_path: Path) -> None:
    """[D11] what killed processes left goes after a while; what is under way or not ours stays."""
    old, young = [atomic.temporary_path(str(tmp_path / "x")) for _ in range(2)]
    folder, link = [Path(atomic.temporary_path(str(tmp_path / "x"))) for _ in range(2)]
    a_folder(folder)
    link.symlink_to("nowhere")
    for path in (old, young, "x", "x.tmp", ".x"):
        (tmp_path / path).touch()
    for aged in (old, folder, link, "x", "x.tmp", ".x"):
        os.utime(tmp_path / aged, (1, 1), follow_symlinks=False)
    atomic.sweep(str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == sorted([os.path.basename(young), "x", "x.tmp", ".x"])
    atomic.sweep(str(tmp_path), older_than=0)
    assert sorted(os.listdir(tmp_path)) == [".x", "x", "x.tmp"]
    atomic.sweep(str(tmp_path / "missing"))


def test_never_missing(tmp_path: Path) -> None:
    """[D11] a name that changes between folder, link and file is there at every moment."""
    path = tmp_path / "name"
    a_folder(path)
    missing = done = 0

    def watch() -> None:
        nonlocal missing
        while not done:
            missing += not os.path.lexists(path)

    watcher = threading.Thread(target=watch)
    watcher.start()
    for turn in range(300):
        new = tmp_path / "new"
        (a_folder, a_broken_link, a_file)[turn % 3](new)
        atomic.replace(str(new), str(path))
    done = 1
    watcher.join()
    assert missing == 0


_HOLD = """\
import sys, time
from skillc.atomic import Lock
with Lock(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_lock_is_for_one(tmp_path: Path) -> None:
    """[D11] a second holder waits for the first, and gets in when that one is killed."""
    lock = str(tmp_path / "lock")
    with subprocess.Popen([sys.executable, "-c", _HOLD, lock], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        entered = threading.Event()

        def wait() -> None:
            with atomic.Lock(lock):
                entered.set()

        waiter = threading.Thread(target=wait)
        waiter.start()
        assert not entered.wait(0.3)
        holder.kill()
        assert entered.wait(30)
        waiter.join()


_ADD = """\
import sys
from skillc.atomic import Lock
for _ in range(50):
    with Lock(sys.argv[1]):
        count = int(open(sys.argv[2]).read())
        open(sys.argv[2], "w").write(str(count + 1))
"""


def test_lock_over_processes(tmp_path: Path) -> None:
    """[D11] no two processes are inside at once; an error inside opens it again."""
    count = tmp_path / "count"
    count.write_text("0")
    command = [sys.executable, "-c", _ADD, str(tmp_path / "lock"), str(count)]
    processes = [subprocess.Popen(command) for _ in range(4)]
    assert [process.wait(60) for process in processes] == [0] * 4
    assert count.read_text() == "200"
    with pytest.raises(ZeroDivisionError), atomic.Lock(str(tmp_path / "lock")):
        raise ZeroDivisionError
    started = time.monotonic()
    with atomic.Lock(str(tmp_path / "lock")):
        assert time.monotonic() - started < 5


def test_sweep_once_for_many_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D11] a process that writes a thousand times into a directory looks for leftovers once a minute."""
    for name in (".a.1-2.tmp", ".b.1-2.tmp"):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1, 1))
        atomic.sweep(str(tmp_path))
    assert os.listdir(tmp_path) == [".b.1-2.tmp"]
    monkeypatch.setattr(atomic, "SWEEP_PAUSE", 0.0)
    atomic.sweep(str(tmp_path))
    assert os.listdir(tmp_path) == []
