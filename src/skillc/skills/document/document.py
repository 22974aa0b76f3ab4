"""Parse a Markdown file of a skill, and read from SKILL.md what it says about the skill.

>>> document = parse(b"---\\nname: pdf\\ndescription: Fill forms\\n---\\n# PDF\\n")
>>> [heading.text for heading in document.headings()]
['PDF']
>>> read_metadata(document, "pdf-folder").name
'pdf'
"""

from __future__ import annotations

import os

from skillc.errors import Diagnostic, InvalidSkill, MissingField, warning
from skillc.paths import MAX_SKILL_FILE, SKILL_FILE, SKILL_FILES, read_regular, why_closed
from skillc.skills.markdown import Heading, find_headings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skillc.skills.document.frontmatter import Frontmatter

_BOM = b"\xef\xbb\xbf"


class Document:
    """A Markdown file: its bytes as clean UTF-8, its frontmatter, and the byte where its body starts."""

    __slots__ = ("body", "data", "diagnostics", "frontmatter")

    def __init__(
        self, data: bytes, body: int, frontmatter: Frontmatter | None, diagnostics: tuple[Diagnostic, ...]
    ) -> None:
        self.data = data
        self.body = body
        self.frontmatter = frontmatter
        self.diagnostics = diagnostics

    def headings(self) -> list[Heading]:
        return find_headings(self.data, self.body)

    @property
    def description(self) -> str | None:
        """The description in the frontmatter; references may have one too."""
        return self.frontmatter.text("description") if self.frontmatter else None


class Metadata:
    """A skill's name and description. `fields` is the whole frontmatter, as JSON would hold it."""

    __slots__ = ("description", "diagnostics", "fields", "name")

    def __init__(
        self, name: str, description: str, fields: dict[str, Any], diagnostics: tuple[Diagnostic, ...]
    ) -> None:
        self.name = name
        self.description = description
        self.fields = fields
        self.diagnostics = diagnostics


def parse(raw: bytes) -> Document:
    """Parse a Markdown file; any bytes will do."""
    data = raw.removeprefix(_BOM)
    diagnostics: tuple[Diagnostic, ...] = ()
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
        data = text.encode()
        diagnostics = (warning("W010"),)
    frontmatter = None
    if text[:1] in ("-", "\n", "\r", " ", "\t"):
        from skillc.skills.document.frontmatter import (
            find_frontmatter,  # loads YAML, which most files do not need
        )

        frontmatter = find_frontmatter(text)
    if frontmatter is None:
        return Document(data, 0, None, diagnostics)
    body = frontmatter.end if text.isascii() else len(text[: frontmatter.end].encode())
    return Document(data, body, frontmatter, diagnostics + frontmatter.diagnostics)


def main_file(directory: str) -> str:
    """Return the name of a skill's SKILL.md, which may be in lower case; raises InvalidSkill without one."""
    for name in SKILL_FILES:
        if os.path.isfile(os.path.join(directory, name)):
            return name
    raise InvalidSkill(directory, why_closed(directory))


def read_main_file(directory: str) -> bytes:
    """Return the bytes of a skill's SKILL.md; raises InvalidSkill without one, and for one over 1 MiB."""
    path = os.path.join(directory, main_file(directory))
    if os.path.getsize(path) > MAX_SKILL_FILE:
        raise InvalidSkill(directory, f"{SKILL_FILE} is over {MAX_SKILL_FILE >> 20} MiB")
    return read_regular(path, MAX_SKILL_FILE)


def read_metadata(document: Document, directory: str) -> Metadata:
    """Return the name and description of a skill; raises MissingField without a description [D4]."""
    front = document.frontmatter
    diagnostics = list(document.diagnostics)
    name = (front.text("name") or "") if front else ""
    description = (front.text("description") or "") if front else ""
    if front is None and document.data.startswith(b"---"):
        diagnostics.append(warning("W017"))
    if front is None or not description.strip():
        raise MissingField("description", tuple(diagnostic.at(SKILL_FILE) for diagnostic in diagnostics))
    for field in ("name", "description"):
        value = front.fields.get(field)
        if value is not None and not isinstance(value, str):
            diagnostics.append(warning("W015", field))
    if not name.strip():
        name = directory
        diagnostics.append(warning("W014"))
    return Metadata(
        name, description, front.fields, tuple(diagnostic.at(SKILL_FILE) for diagnostic in diagnostics)
    )
