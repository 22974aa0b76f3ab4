"""Whether the sources of a skill are still those that were indexed [D18]."""

from __future__ import annotations

from skillc.compiler import index
from skillc.digest import file_sha256_hex
from skillc.skills.files import display_name, list_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.library import Skill
    from skillc.skills.files import SourceFile


def changed_files(skill: Skill, tokenizer: str = "ascii") -> bool:
    """Whether any file was changed, added or removed since the index was built."""
    connection = index.open_for(skill, tokenizer).connection
    rows = connection.execute("SELECT path, digest, size, modified_ns, changed_ns FROM files")
    known = {path: (digest, stamp) for path, digest, *stamp in rows}
    files = list_files(skill.source)
    return len(files) != len(known) or any(
        _changed(file, known.get(display_name(file.name))) for file in files
    )


def _changed(file: SourceFile, known: tuple[str, list[int]] | None) -> bool:
    if known is None:
        return True
    digest, stamp = known
    if tuple(stamp) == file.stamp:
        return False
    try:
        with open(file.path, "rb") as source:
            return file_sha256_hex(source, file.size) != digest
    except OSError:
        return True
