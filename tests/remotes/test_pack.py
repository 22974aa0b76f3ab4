"""Packs as servers send them: each object is found by its ID, and what is damaged or too large is refused."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import zlib
from pathlib import Path

import pytest
from dulwich.objects import Blob, ObjectID
from dulwich.pack import create_delta

from skillc.remotes.git import pack as packs
from skillc.remotes.git.address import FetchError
from skillc.remotes.git.pack import PackObjects
from tests.support.cases import each
from tests.support.git import GIT_ENV, Origin


def header(kind: int, size: int) -> bytes:
    first, size = kind << 4 | size & 15, size >> 4
    data = bytearray()
    while size:
        data.append(first | 0x80)
        first, size = size & 0x7F, size >> 7
    return bytes([*data, first])


def entry(kind: int, data: bytes, base: bytes = b"", size: int | None = None) -> bytes:
    return header(kind, len(data) if size is None else size) + base + zlib.compress(data)


def make(*entries: bytes, count: int | None = None) -> bytes:
    head = b"PACK" + (2).to_bytes(4, "big") + (len(entries) if count is None else count).to_bytes(4, "big")
    data = head + b"".join(entries)
    return data + hashlib.sha1(data).digest()


def load(tmp_path: Path, data: bytes, limit: int = 1 << 30) -> PackObjects:
    objects = PackObjects(str(tmp_path / f"objects-{random.random()}"), limit)
    add(objects, data)
    return objects


def add(objects: PackObjects, data: bytes) -> None:
    file, take_over, _ = objects.add_pack()
    with file:
        file.write(data)
        take_over()


def name_of(data: bytes) -> ObjectID:
    return Blob.from_string(data).id


def delta_of(base: bytes, data: bytes) -> bytes:
    return b"".join(create_delta(base, data))


@pytest.mark.slow
def test_every_object(tmp_path: Path) -> None:
    """[D29] Every object of a pack that git makes is read as git reads it, deltas and large files, too."""
    origin = Origin(tmp_path)
    origin.make()
    text = os.urandom(3000).hex()
    for number in range(20):
        origin.write("a.txt", f"{text}{number}\n" * 3)
        origin.write("large.bin", os.urandom(1 << 21) if number == 0 else b"x" * (2 << 20))
        origin.write(f"dir/{number}.txt", f"{number}")
        origin.push()
    origin.git("gc", "-q", "--aggressive")
    (file,) = (origin.work / ".git/objects/pack").glob("*.pack")
    objects = load(tmp_path, file.read_bytes())
    listing = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch-check"],
        cwd=origin.work, env=GIT_ENV, capture_output=True, check=True,
    ).stdout  # fmt: skip
    names = [line.split() for line in listing.splitlines()]
    assert len(names) > 60
    for name, kind, size in names:
        number, data = objects.get_raw(ObjectID(name))
        assert (packs.KINDS[number], len(data)) == (kind, int(size))
        assert hashlib.sha1(b"%s %s\0" % (kind, size) + data).hexdigest().encode() == name
    assert set(objects.iter_prefix(names[0][0][:10])) == {names[0][0]}
    objects.close()


def test_deltas_by_id(tmp_path: Path) -> None:
    """[D29] A delta may come before its base, on a delta, and after it in another pack."""
    one, two, three = b"one" * 100, b"one" * 100 + b"two", b"one" * 90 + b"three"
    second = entry(7, delta_of(one, two), bytes.fromhex(name_of(one).decode()))
    third = entry(7, delta_of(two, three), bytes.fromhex(name_of(two).decode()))
    objects = load(tmp_path, make(third, second, entry(3, one)))
    for data in (one, two, three):
        assert objects.get_raw(name_of(data)) == (3, data)
    assert ObjectID(b"0" * 40) not in objects
    with pytest.raises(KeyError):
        objects.get_raw(ObjectID(b"0" * 40))
    one, two = b"one" * 100, b"one" * 100 + b"two"
    (tmp_path / "other").mkdir()
    others = load(tmp_path / "other", make(entry(3, one)))
    add(others, make(entry(7, delta_of(one, two), bytes.fromhex(name_of(one).decode()))))
    assert others.get_raw(name_of(two)) == (3, two)


GOOD = entry(3, b"good")


@each(
    "data",
    [
        b"",
        b"PACK",
        make(GOOD)[:-1],
        make(GOOD)[:-1] + b"x",
        make(GOOD, count=2),
        make(GOOD, count=1 << 31),
        make(b"\x80" * 100),
        make(entry(5, b"no such kind")),
        make(entry(0, b"no such kind")),
        make(entry(3, b"shorter", size=100)),
        make(entry(3, b"longer" * 100, size=10)),
        make(header(3, 10) + b"not zlib at all"),
        make(GOOD, entry(6, b"x", b"\x7f")),
        make(GOOD, entry(6, b"x", b"\x00")),
        make(GOOD, entry(6, b"x", b"\xff\xff\xff\xff\x7f")),
        make(GOOD, entry(6, b"not a delta", bytes([len(GOOD)]))),
        make(entry(7, delta_of(b"a", b"b"), b"\1" * 20)),
        make(entry(7, delta_of(b"a" * 50, b"b"), bytes.fromhex(name_of(b"b").decode()))),
        make(entry(3, bytes(2 << 20), size=3 << 20)),
        make(entry(3, bytes(3 << 20), size=2 << 20)),
    ],
)
def test_damaged(tmp_path: Path, data: bytes) -> None:
    """[D29] A pack that is cut off, or lies about sizes, offsets or bases, is refused."""
    with pytest.raises(FetchError):
        load(tmp_path, data)


def test_too_large(tmp_path: Path) -> None:
    """[D29] An object over the limit is refused before it is unpacked, also as the result of a delta."""
    with pytest.raises(FetchError, match="over 1 MiB"):
        load(tmp_path, make(entry(3, bytes(2 << 20))), limit=1 << 20)
    base = b"x" * 1000
    result = bytes([0xE8, 0x07, 0x80, 0x80, 0x80, 0x01]) + b"\x90\x00" * 10  # 1,000 bytes to 2 MiB
    with pytest.raises(FetchError, match="over 1 MiB"):
        load(tmp_path, make(entry(3, base), entry(6, result, bytes([len(entry(3, base))]))), limit=1 << 20)


@pytest.mark.slow
def test_too_much_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D29] Objects that take all before them are refused when they take too long, whatever is cached."""
    monkeypatch.setattr(packs, "MAX_CACHE", 0)
    data, entries = b"x" * 4000, [entry(3, b"x" * 4000)]
    for number in range(300):
        new = data + b"%d" % number
        entries.append(entry(6, delta_of(data, new), _distance(len(entries[-1]))))
        data = new
    load(tmp_path, make(*entries)).close()
    monkeypatch.setattr(packs, "MAX_HISTORY", 1)
    with pytest.raises(FetchError, match="too long"):
        load(tmp_path, make(*entries), limit=1 << 20)


def _distance(size: int) -> bytes:
    data = [size & 0x7F]
    while size >> 7:
        size = (size >> 7) - 1
        data.append(0x80 | size & 0x7F)
    return bytes(reversed(data))
