"""`open`: a file of a skill as it is, whatever it holds [RFC-0002:C-OPEN, D20]."""

from __future__ import annotations

import os
from stat import S_ISREG

from skillc import errors
from skillc.errors import SkillcError
from skillc.skills import list_files, resolve_inside
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

    from skillc.library import Skill

PIECE = 1 << 18  # bytes that are in memory at a time
MAX_PATH = 32_767  # characters; no system has longer ones


class Opened:
    """A file that was found; its bytes are read as they are asked for."""

    __slots__ = ("_file", "max_lines", "more_lines", "path", "size")

    def __init__(self, path: str, file: BinaryIO, size: int, max_lines: int | None) -> None:
        self.path = path
        self.size = size
        self.max_lines = max_lines
        self.more_lines = 0  # known when all pieces were taken
        self._file = file

    def pieces(self) -> Iterator[bytes]:
        """The file's bytes, cut after `max_lines`; can be taken once."""
        with self._file as file:
            if self.max_lines is None:
                while piece := file.read(PIECE):
                    yield piece
            else:
                yield from self._first_lines(file, self.max_lines)

    def _first_lines(self, file: BinaryIO, wanted: int) -> Iterator[bytes]:
        """The first lines, which end in LF, CRLF or CR; the rest is counted."""
        from skillc.skills import newlines  # only where lines are counted

        ended, whole = 0, True  # lines so far, and whether the last one came to its end
        held = b""  # a CR that may be half of a line's end
        while True:
            read = file.read(PIECE)
            piece = held + read
            if not piece:
                break
            held = b"\r" if read and piece.endswith(b"\r") else b""
            piece = piece[:-1] if held else piece
            missing = wanted - ended
            ended += newlines(piece, 0, len(piece))
            whole = piece.endswith((b"\n", b"\r"))
            if missing > 0:
                yield piece if ended < wanted else b"".join(piece.splitlines(keepends=True)[:missing])
        self.more_lines = max(0, ended + (not whole) - wanted)

    def content(self) -> bytes:
        """All pieces, and the line that says how much was left out."""
        data = b"".join(self.pieces())
        return data + more_lines(self.more_lines)

    def as_json(self) -> dict[str, Any]:
        """The file with its content: text where it is text, base64 where it is not."""
        data = self.content()
        try:
            told = {"encoding": "utf-8", "content": data.decode()}
        except UnicodeDecodeError:
            from base64 import b64encode

            told = {"encoding": "base64", "content": b64encode(data).decode()}
        return {"path": self.path, "size": self.size, **told, "more_lines": self.more_lines}


def open_file(skill: Skill, path: str, max_lines: int | None = None) -> Opened:
    """A file of a skill, hidden ones too; raises PathEscapes or FileNotFound."""
    if len(path) > MAX_PATH:
        raise errors.FileNotFound(f"{path[:64]}...")
    real = resolve_inside(skill.source, path)
    try:
        # Not through a link that took the file's place meanwhile, and never waiting for a pipe.
        flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        descriptor = os.open(real, os.O_RDONLY | flags)
    except PermissionError as error:
        raise SkillcError(f"cannot read '{path}': {error.strerror}") from None
    except OSError:
        return _open_as_shown(skill, path, max_lines)
    status = os.fstat(descriptor)
    if not S_ISREG(status.st_mode):
        os.close(descriptor)
        raise errors.FileNotFound(path)
    return Opened(path, open(descriptor, "rb", buffering=0), status.st_size, max_lines)


def _open_as_shown(skill: Skill, path: str, max_lines: int | None) -> Opened:
    """A file whose name is not UTF-8, by the name that the other commands show of it."""
    if "\\udc" in path:
        for file in list_files(skill.source):
            if file.name != path and utf8_text(file.name) == path:
                return open_file(skill, file.name, max_lines)
    raise errors.FileNotFound(path)


def more_lines(count: int) -> bytes:
    """The line that stands for what --max-lines left out."""
    return f"... ({count} more lines)\n".encode() if count else b""
