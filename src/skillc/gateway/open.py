"""`open`: a file of a skill as it is, text or not [RFC-0002:C-OPEN, D20]."""

from __future__ import annotations

import os

from skillc import errors
from skillc.errors import SkillcError
from skillc.skills import list_files, open_inside
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

    from skillc.library import Skill

PIECE = 1 << 18  # bytes in memory at a time
MAX_PATH = 32_767  # characters; no system has longer ones


class OpenFile:
    """A file of a skill; its bytes are read on demand, once."""

    __slots__ = ("_file", "max_lines", "more_lines", "path", "size")

    def __init__(self, path: str, file: BinaryIO, size: int, max_lines: int | None) -> None:
        self.path = path
        self.size = size
        self.max_lines = max_lines
        self.more_lines = 0  # lines left out; set after the last piece
        self._file = file

    def pieces(self) -> Iterator[bytes]:
        """Yield the file's bytes, cut after `max_lines`."""
        with self._file as file:
            if self.max_lines is None:
                while piece := file.read(PIECE):
                    yield piece
            else:
                yield from self._first_lines(file, self.max_lines)

    def _first_lines(self, file: BinaryIO, limit: int) -> Iterator[bytes]:
        """Yield the first lines, which end in LF, CRLF or CR, and count the rest."""
        from skillc.skills import newlines  # only with --max-lines

        count, complete = 0, True  # line ends so far, and whether the last line has one
        carry = b""  # a CR that may be half of a CRLF
        while piece := carry + (chunk := file.read(PIECE)):
            carry = b"\r" if chunk and piece.endswith(b"\r") else b""
            piece = piece[:-1] if carry else piece
            room = limit - count
            count += newlines(piece, 0, len(piece))
            complete = piece.endswith((b"\n", b"\r"))
            if room > 0:
                yield piece if count < limit else b"".join(piece.splitlines(keepends=True)[:room])
        self.more_lines = max(0, count + (not complete) - limit)

    def content(self) -> bytes:
        """Return all bytes and, if lines were left out, the line that says so."""
        return b"".join(self.pieces()) + render_more_lines(self.more_lines)

    def as_json(self) -> dict[str, Any]:
        """Return the file with its content: text if it is UTF-8, else base64."""
        data = self.content()
        try:
            text = {"encoding": "utf-8", "content": data.decode()}
        except UnicodeDecodeError:
            from base64 import b64encode

            text = {"encoding": "base64", "content": b64encode(data).decode()}
        return {"path": self.path, "size": self.size, **text, "more_lines": self.more_lines}


def open_file(skill: Skill, path: str, max_lines: int | None = None) -> OpenFile:
    """Open a file of a skill, hidden ones too; raise PathEscapes or FileNotFound."""
    if len(path) > MAX_PATH:
        raise errors.FileNotFound(f"{path[:64]}...")
    try:
        descriptor = open_inside(skill.source, path)
    except PermissionError as error:
        raise SkillcError(f"cannot read '{path}': {error.strerror}") from None
    except IsADirectoryError:
        raise errors.FileNotFound(path) from None
    except OSError:
        return _open_by_shown_name(skill, path, max_lines)
    size = os.fstat(descriptor).st_size
    return OpenFile(path, open(descriptor, "rb", buffering=0), size, max_lines)


def _open_by_shown_name(skill: Skill, path: str, max_lines: int | None) -> OpenFile:
    """Open a file whose name is not UTF-8 by the name that the other commands show for it."""
    if "\\udc" in path:
        for file in list_files(skill.source):
            if file.name != path and utf8_text(file.name) == path:
                return open_file(skill, file.name, max_lines)
    from skillc.spelling import did_you_mean  # only on the way to an error

    question = did_you_mean(path, list_names(skill.source))
    raise errors.FileNotFound(path, f"hint: {question}" if question else "")


def list_names(source: str) -> list[str]:
    """Return the names of a skill's files, for a suggestion; none where they can't be listed."""
    try:
        return [utf8_text(file.name) for file in list_files(source)]
    except (OSError, SkillcError):
        return []


def render_more_lines(count: int) -> bytes:
    """Return the line that replaces what --max-lines left out."""
    return f"... ({count} more lines)\n".encode() if count else b""
