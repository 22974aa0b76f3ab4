"""What is published: the files of a folder, their digests, and an archive."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from pathlib import Path

import pytest

from skillc.errors import InvalidParameter, InvalidSkill, MissingField, PathEscapes
from skillc.registry import Package, make_package, package as module, read_package
from skillc.remotes.archive import unpack_data
from skillc.skills import hash_source
from tests.support.cases import each

MAIN = b"---\nname: pdf\ndescription: Fill forms\n---\n# PDF\n"


def folder(root: Path) -> Path:
    (root / "scripts").mkdir(parents=True)
    (root / "SKILL.md").write_bytes(MAIN)
    (root / "scripts" / "fill.py").write_text("print()\n")
    (root / "scripts" / "fill.py").chmod(0o755)
    (root / ".env").write_text("SECRET=1")
    return root


def test_same_files_same_bytes(tmp_path: Path) -> None:
    """[SURFACES: Registry model] names, bytes and execute permission, of any length, come back."""
    one = read_package("pdf", str(folder(tmp_path / "one")))
    other = folder(tmp_path / "other")
    os.utime(other / "SKILL.md", (0, 0))
    (other / "SKILL.md").chmod(0o600)
    assert read_package("pdf", str(other)).archive == one.archive
    (other / "SKILL.md").chmod(0o700)
    assert read_package("pdf", str(other)).archive != one.archive
    made = read_package("pdf", str(folder(tmp_path / "pdf")))
    unpack_data(made.archive, str(tmp_path / "unpacked"), "pdf.tar.gz")
    again = read_package("pdf", str(tmp_path / "unpacked"))
    assert (again.files, again.archive) == (made.files, made.archive)
    name = "/".join(["données" * 10] * 9) + ".md"
    long = make_package("pdf", {"SKILL.md": MAIN, name: b"x"})
    with tarfile.open(fileobj=io.BytesIO(long.archive)) as archive:
        assert archive.getnames() == ["SKILL.md", name]


def test_archive(tmp_path: Path) -> None:
    """[SURFACES: Registry model] [D3] it holds the files of the skill, which hidden ones are not [D1]."""
    made = read_package("pdf", str(folder(tmp_path / "pdf")))
    with tarfile.open(fileobj=io.BytesIO(made.archive)) as archive:
        members = [(m.name, m.mode, m.mtime, m.uid, m.uname, m.isreg()) for m in archive]
        script = archive.extractfile("scripts/fill.py")
        assert script is not None
        assert script.read() == b"print()\n"
    assert members == [
        ("SKILL.md", 0o644, 0, 0, "", True),
        ("scripts/fill.py", 0o755, 0, 0, "", True),
    ]
    assert [(file.path, file.size, file.is_executable) for file in made.files] == [
        ("SKILL.md", len(MAIN), False),
        ("scripts/fill.py", 8, True),
    ]
    pairs = [(file.path, hashlib.sha256(made.contents[file.path]).hexdigest()) for file in made.files]
    assert made.digest == f"sha256:{hash_source(pairs)}"  # as lock files have it


@each(
    ("line", "version"),
    [("1.2.3", "1.2.3"), ("'1.10'", "1.10.0"), ("1.10", "1.10.0"), ("1.10 # ten", "1.10.0"), ("2", "2.0.0"),
     ("[1]", ""), ("", ""), ("yes", None), ("v3", "3.0.0"), ("tomorrow", None)],
)  # fmt: skip
def test_version_of_the_frontmatter(line: str, version: str | None) -> None:
    """[SURFACES: Registry model] it is metadata.version, also in braces, and 1.10 is ten, not one."""
    main = f"---\nname: pdf\ndescription: Fill forms\nmetadata:\n  author: ana\n  version: {line}\n---\n"
    made = make_package("pdf", {"SKILL.md": main.encode()})
    if version is None:
        with pytest.raises(InvalidParameter):
            assert made.version
    else:
        assert made.version == version
    braces = b"---\nname: pdf\ndescription: Fill forms\nmetadata: {author: ana, version: 1.20}\n---\n"
    assert make_package("pdf", {"SKILL.md": braces}).version == "1.20.0"


@each(
    "name",
    ["a\\b.md", "con", "aux.md", "a:b", "a/../b", "/a", "a//b", "a\nb", "a.", "x" * 256, "\udc80.md",
     "skill.MD", "SKILL.md/x", "a/" * 600 + "b", "x/.Git/config", ".g\u200dit/config", "git~1/config"],
)  # fmt: skip
def test_names_that_some_system_lacks(name: str) -> None:
    """[SURFACES: Registry model] what is published can be installed everywhere."""
    with pytest.raises(InvalidSkill) as caught:
        make_package("pdf", {"SKILL.md": MAIN, name: b""})
    assert len(caught.value.line()) < 700


@each("names", [("a/b", "A/c"), ("Read.md", "read.md"), ("é.md", "e\u0301.md")])
def test_names_that_some_systems_confuse(names: tuple[str, str]) -> None:
    """[SURFACES: Registry model] two names are two files on every system."""
    with pytest.raises(InvalidSkill, match="one name"):
        make_package("pdf", {"SKILL.md": MAIN, **dict.fromkeys(names, b"")})


def test_no_skill(tmp_path: Path) -> None:
    """[SURFACES: Registry model] a package is a skill with a description, not a file, not a link out."""
    with pytest.raises(InvalidSkill):
        make_package("pdf", {"README.md": b""})
    with pytest.raises(MissingField):
        make_package("pdf", {"SKILL.md": b"# PDF\n"})
    for path in (tmp_path / "nothing", tmp_path / "file"):
        (tmp_path / "file").write_text("")
        with pytest.raises(InvalidSkill):
            read_package("pdf", str(path))
    made = folder(tmp_path / "pdf")
    (made / "passwords").symlink_to("/etc/passwd")
    with pytest.raises(PathEscapes):
        read_package("pdf", str(made))


def test_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry model] [D25] files and bytes are bounded, and no large file is read to its end."""
    made = folder(tmp_path / "pdf")
    monkeypatch.setattr(module, "MAX_BYTES", 100)
    assert isinstance(read_package("pdf", str(made)), Package)
    with open(made / "zeros", "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InvalidSkill, match="MiB"):
        read_package("pdf", str(made))
    monkeypatch.setattr(module, "MAX_FILES", 1)
    with pytest.raises(InvalidSkill, match="more than 1 files"):
        make_package("pdf", {"SKILL.md": MAIN, "a": b""})
    monkeypatch.undo()
    with pytest.raises(InvalidSkill, match="over 1 MiB"):
        make_package("pdf", {"SKILL.md": MAIN + b"x" * (1 << 20)})
