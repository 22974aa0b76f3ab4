"""`open`: a file of a skill as it is, whatever it holds [RFC-0002:C-OPEN, D20]."""

from __future__ import annotations

import os
from stat import S_ISREG

from skillc.errors import FileNotFound, SkillcError
from skillc.skills.files import resolve_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillc.library import Skill

PIECE = 1 << 20


class Opened:
    """A file that was found; its bytes are read as they are asked for."""

    __slots__ = ("_descriptor", "max_lines", "more_lines", "path", "size")

    def __init__(self, path: str, descriptor: int, size: int, max_lines: int | None) -> None:
        self.path = path
        self.size = size
        self.max_lines = max_lines
        self.more_lines = 0  # known when all pieces were taken
        self._descriptor = descriptor

    def pieces(self) -> Iterator[bytes]:
        """The file's bytes, cut after `max_lines`; can be taken once."""
        with open(self._descriptor, "rb") as file:
            if self.max_lines is None:
                while piece := file.read(PIECE):
                    yield piece
                return
            for number, line in enumerate(file):
                if number < self.max_lines:
                    yield line
                else:
                    self.more_lines += 1

    def content(self) -> bytes:
        """All pieces, and the line that says how much was left out."""
        data = b"".join(self.pieces())
        return data + more_lines(self.more_lines)


def open_file(skill: Skill, path: str, max_lines: int | None = None) -> Opened:
    """A file of a skill, hidden ones too; raises PathEscapes or FileNotFound."""
    real = resolve_inside(skill.source, path)
    try:
        # Not through a link that took the file's place meanwhile, and never waiting for a pipe.
        flags = (
            os.O_RDONLY
            | getattr(os, "O_NOFOLLOW", 0)
            | getattr(os, "O_NONBLOCK", 0)
            | getattr(os, "O_BINARY", 0)
        )
        descriptor = os.open(real, flags)
    except PermissionError as error:
        raise SkillcError(f"cannot read '{path}': {error.strerror}") from None
    except OSError:
        raise FileNotFound(path) from None
    status = os.fstat(descriptor)
    if not S_ISREG(status.st_mode):
        os.close(descriptor)
        raise FileNotFound(path)
    return Opened(path, descriptor, status.st_size, max_lines)


def more_lines(count: int) -> bytes:
    """The line that stands for what --max-lines left out."""
    return f"... ({count} more lines)\n".encode() if count else b""
