"""Archives are unpacked whole, or refused with the reason and nothing left behind."""

from __future__ import annotations

import gzip
import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from skillc.errors import ArchiveRefused
from skillc.remotes import archive
from skillc.remotes.archive import unpack_archive

MAIN = b"---\nname: pdf\ndescription: About pdf\n---\nBody.\n"


def make_zip(path: Path, *members: tuple[str, bytes, int]) -> Path:
    """A zip with these names, contents and modes, as they are."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data, mode in members:
            info = zipfile.ZipInfo("x")
            info.filename = info.orig_filename = name
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(info, data)
    return path


def make_tar(path: Path, *members: tuple[str, bytes | str, Mapping[str, object]]) -> Path:
    """A tar.gz with these names, contents and fields of the header."""
    with tarfile.open(path, "w:gz" if path.name.endswith("gz") else "w") as file:
        for name, data, fields in members:
            info = tarfile.TarInfo(name)
            content = data.encode() if isinstance(data, str) else data
            info.size = len(content)
            for field, value in fields.items():
                setattr(info, field, value)
            file.addfile(info, io.BytesIO(content))
    return path


def refuse(path: Path) -> str:
    """Unpack what must be refused; gives the message."""
    target = path.parent / "target"
    with pytest.raises(ArchiveRefused) as error:
        unpack_archive(str(path), str(target), "given.zip")
    assert os.listdir(path.parent) == [path.name], "nothing is left behind"
    assert error.value.line().startswith("error[E083]: archive refused: 'given.zip': ")
    return error.value.message


@pytest.mark.parametrize("kind", ["a.zip", "a.tar.gz", "a.tgz", "a.tar"])
def test_unpack(tmp_path: Path, kind: str) -> None:
    """[SURFACES: Getting skills] .zip, .tar.gz and .tar are unpacked; a file stays executable, not setuid."""
    if kind == "a.zip":
        make_zip(
            tmp_path / kind,
            ("pdf/", b"", 0o40755),
            ("pdf/SKILL.md", MAIN, stat.S_IFREG | 0o644),
            ("pdf/run.sh", b"#!", stat.S_IFREG | 0o4755),
            ("__MACOSX/pdf/._SKILL.md", b"junk", 0),
        )
    else:
        make_tar(
            tmp_path / kind,
            ("./", b"", {"type": tarfile.DIRTYPE}),
            ("./pdf/SKILL.md", MAIN, {}),
            ("./pdf/run.sh", b"#!", {"mode": 0o6755}),
        )
    unpack_archive(str(tmp_path / kind), str(tmp_path / "target"), kind)
    target = tmp_path / "target"
    assert sorted(os.listdir(target)) == ["pdf"]
    assert (target / "pdf/SKILL.md").read_bytes() == MAIN
    assert stat.S_IMODE((target / "pdf/run.sh").stat().st_mode) == 0o755
    assert stat.S_IMODE((target / "pdf/SKILL.md").stat().st_mode) == 0o644
    assert sorted(os.listdir(tmp_path)) == sorted([kind, "target"])


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../x", "leads out"),
        ("a/../../x", "leads out"),
        ("a/..", "leads out"),
        ("..\\x", "leads out"),
        ("/etc/passwd", "absolute"),
        ("\\\\server\\x", "absolute"),
        ("C:/x", "absolute"),
        ("c:x", "absolute"),
        ("a\\b", "every system"),
        ("a/nul", "every system"),
        ("COM1.txt", "every system"),
        ("a./x", "every system"),
        ("a ", "every system"),
        ("file:stream", "every system"),
        ("a\x1bb", "every system"),
        ("what?", "every system"),
        ("x/.GIT/config", "every system"),
        ("git~1/config", "every system"),
        (".g\u200cit/config", "every system"),
        ("x" * 300, "too long"),
        ("/".join(["x" * 100] * 20), "too long"),
    ],
)
def test_names(tmp_path: Path, name: str, reason: str) -> None:
    """[SURFACES: Getting skills] Names that leave the folder or that some system can't hold are refused."""
    assert reason in refuse(make_zip(tmp_path / "a.zip", ("SKILL.md", MAIN, 0), (name, b"x", 0)))
    (tmp_path / "a.zip").unlink()
    assert reason in refuse(make_tar(tmp_path / "a.tar.gz", ("SKILL.md", MAIN, {}), (name, b"x", {})))


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["a", "a"], "twice"),
        (["a", "A"], "one name on some systems"),
        (["dir/a", "DIR/b"], "one name on some systems"),
        (["caf\u00e9", "cafe\u0301"], "one name on some systems"),
        (["a", "a/b"], "both a file and a folder"),
        (["a/b", "a"], "both a file and a folder"),
        (["./"], "no name"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_collisions(tmp_path: Path, names: list[str], reason: str) -> None:
    """[SURFACES: Getting skills] Two files of one name, here or on another system, are refused."""
    assert reason in refuse(make_tar(tmp_path / "a.tar", *((name, b"x", {}) for name in names)))
    if names != ["./"]:
        (tmp_path / "a.tar").unlink()
        assert reason in refuse(make_zip(tmp_path / "a.zip", *((name, b"x", 0) for name in names)))


@pytest.mark.parametrize("target", ["../../etc/passwd", "/etc/passwd", "nowhere", "loop", "", "a\\b"])
def test_links_that_leave(tmp_path: Path, target: str) -> None:
    """[SURFACES: Getting skills] Links that lead out, nowhere or round in circles are refused."""
    link = {"type": tarfile.SYMTYPE, "linkname": target}
    reason = "leads out of it or nowhere"
    if target:
        assert reason in refuse(make_tar(tmp_path / "a.tar.gz", ("SKILL.md", MAIN, {}), ("loop", b"", link)))
        (tmp_path / "a.tar.gz").unlink()
        member = ("loop", target.encode(), stat.S_IFLNK | 0o777)
        assert reason in refuse(make_zip(tmp_path / "a.zip", ("SKILL.md", MAIN, 0), member))
    else:
        hard = {"type": tarfile.LNKTYPE, "linkname": "../x"}
        assert "leads out" in refuse(make_tar(tmp_path / "a.tar.gz", ("a", b"", hard)))


def test_writes_through_a_link(tmp_path: Path) -> None:
    """[SURFACES: Getting skills] A link and then a file below it: nothing is written through the link."""
    outside = tmp_path / "outside"
    outside.mkdir()
    place = tmp_path / "archive"
    place.mkdir()
    link = {"type": tarfile.SYMTYPE, "linkname": str(outside)}
    path = make_tar(place / "a.tar.gz", ("dir", b"", link), ("dir/file", b"x", {}))
    assert "both a file and a folder" in refuse(path)
    assert not os.listdir(outside)


def test_links_that_stay(tmp_path: Path) -> None:
    """[SURFACES: Getting skills] Links inside an archive lead to its files; a hard link is a file."""
    path = make_tar(
        tmp_path / "a.tar.gz",
        ("pdf/SKILL.md", MAIN, {}),
        ("pdf/link.md", b"", {"type": tarfile.SYMTYPE, "linkname": "./SKILL.md"}),
        ("pdf/hard.md", b"", {"type": tarfile.LNKTYPE, "linkname": "pdf/SKILL.md"}),
    )
    unpack_archive(str(path), str(tmp_path / "target"), "a")
    assert (tmp_path / "target/pdf/link.md").read_bytes() == MAIN
    assert (tmp_path / "target/pdf/hard.md").read_bytes() == MAIN


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_devices(tmp_path: Path, kind: bytes) -> None:
    """[SURFACES: Getting skills] Devices and pipes are refused."""
    assert "device or a pipe" in refuse(make_tar(tmp_path / "a.tar.gz", ("x", b"", {"type": kind})))


def test_devices_in_a_zip(tmp_path: Path) -> None:
    """[SURFACES: Getting skills] The same in a zip that a Unix made."""
    assert "device or a pipe" in refuse(make_zip(tmp_path / "a.zip", ("x", b"", stat.S_IFIFO | 0o644)))


def test_what_is_not_read(tmp_path: Path) -> None:
    """[SURFACES: Getting skills] An encrypted file, an unusual way of packing, and too large an archive
    are refused.
    """
    path = make_zip(tmp_path / "a.zip", ("SKILL.md", MAIN, 0))
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    assert "'SKILL.md' is encrypted" in refuse(path)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_LZMA) as file:
        file.writestr("SKILL.md", MAIN)
    assert "not supported" in refuse(tmp_path / "a.zip")
    with open(tmp_path / "a.zip", "wb") as file:
        file.truncate(archive.MAX_PACKED + 1)
    assert "over 256 MiB" in refuse(tmp_path / "a.zip")


@pytest.mark.parametrize("kind", ["a.zip", "a.tar.gz"])
def test_bombs(tmp_path: Path, kind: str) -> None:
    """[SURFACES: Getting skills] Files that unpack to far more than the archive's size are refused."""
    zeros = bytes(archive.RATIO_FROM + 1)
    path = tmp_path / kind
    made = make_zip(path, ("x", zeros, 0)) if kind == "a.zip" else make_tar(path, ("x", zeros, {}))
    assert "more than 200 times its size" in refuse(made)


def test_lies_about_the_size(tmp_path: Path) -> None:
    """[SURFACES: Getting skills] A zip whose files are larger than it says is no way around the limit."""
    path = make_zip(tmp_path / "a.zip", ("x", bytes(1 << 20), 0))
    data = bytearray(path.read_bytes())
    entry = data.index(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = (10).to_bytes(4, "little")
    path.write_bytes(data)
    assert "damaged" in refuse(path)


@pytest.mark.parametrize("kind", ["a.zip", "a.tar.gz"])
def test_too_many_files(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Getting skills] An archive with too many files is refused before one is written."""
    monkeypatch.setattr(archive, "MAX_MEMBERS", 100)
    path, names = tmp_path / kind, [f"f{number}" for number in range(101)]
    if kind == "a.zip":
        make_zip(path, *((name, b"", 0) for name in names))
    else:
        make_tar(path, *((name, b"", {}) for name in names))
    assert "over 100 files" in refuse(path)


@pytest.mark.slow
def test_a_million_files(tmp_path: Path) -> None:
    """[SURFACES: Getting skills] Very many files, packed small: refused with the real limits."""
    header = tarfile.TarInfo("f000000").tobuf(tarfile.USTAR_FORMAT)
    assert len(header) == tarfile.BLOCKSIZE
    name, between, checksum, rest = header[:7], header[7:148], int(header[148:154], 8), header[156:]
    with gzip.open(tmp_path / "a.tar.gz", "wb", compresslevel=1) as file:
        for number in range(100_001):  # as tarfile writes them, in a tenth of the time
            other = b"f%06d" % number
            total = checksum + sum(other) - sum(name)
            file.write(b"%b%b%06o\0 %b" % (other, between, total, rest))
        file.write(bytes(2 * tarfile.BLOCKSIZE))
    assert "over 100000 files" in refuse(tmp_path / "a.tar.gz")


def _zip_directory(path: Path) -> None:
    """A zip whose directory claims to be, and is, larger than any that is read."""
    size = archive.MAX_READ + 1
    end = b"PK\x05\x06" + bytes(4) + b"\xff\xff\xff\xff" + size.to_bytes(4, "little") + bytes(4) + bytes(2)
    with open(path, "wb") as file:
        file.write(b"PK\x03\x04")
        file.truncate(size)
        file.seek(size)
        file.write(end)


def _long_name(path: Path) -> None:
    """A tar whose first header announces a name as long as the file."""
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, archive.MAX_READ + tarfile.BLOCKSIZE
    with open(path, "wb") as file:
        file.write(info.tobuf(tarfile.GNU_FORMAT))
        file.truncate(archive.MAX_READ * 2)


@pytest.mark.parametrize("make", [_zip_directory, _long_name])
def test_large_tables(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """[SURFACES: Getting skills] No header makes the reader take a whole archive into memory."""
    make(tmp_path / "a.zip")
    assert "too large" in refuse(tmp_path / "a.zip")


@pytest.mark.parametrize(
    "data", [b"", b"PK", b"PK\x03\x04 and no more", b"\x1f\x8b\x08 broken", b"plain text" * 100]
)
def test_damaged(tmp_path: Path, data: bytes) -> None:
    """[SURFACES: Getting skills] What is no archive, or half of one, is refused."""
    (tmp_path / "a.zip").write_bytes(data)
    assert "damaged" in refuse(tmp_path / "a.zip")
