"""A Markdown file of a skill, and what SKILL.md says about the skill itself.

>>> document = parse(b"---\\nname: pdf\\ndescription: Fill forms\\n---\\n# PDF\\n")
>>> [heading.text for heading in document.headings()]
['PDF']
>>> metadata(document, "pdf-folder").name
'pdf'
"""

from __future__ import annotations

import os

from skillc.errors import Diagnostic, InvalidSkill, MissingField, warning
from skillc.paths import SKILL_FILE, SKILL_FILES
from skillc.skills.markdown import Heading, headings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skillc.skills.frontmatter import Frontmatter

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
        return headings(self.data, self.body)

    @property
    def description(self) -> str | None:
        """The frontmatter's description, which a reference may have too."""
        return self.frontmatter.text("description") if self.frontmatter else None


class Metadata:
    """What a skill says of itself. `fields` is the whole frontmatter, as JSON would hold it."""

    __slots__ = ("description", "diagnostics", "fields", "name")

    def __init__(
        self, name: str, description: str, fields: dict[str, Any], diagnostics: tuple[Diagnostic, ...]
    ) -> None:
        self.name = name
        self.description = description
        self.fields = fields
        self.diagnostics = diagnostics


def parse(raw: bytes) -> Document:
    """A Markdown file from its bytes, whatever they are."""
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
        from skillc.skills.frontmatter import find  # YAML is only loaded where there may be some

        frontmatter = find(text)
    if frontmatter is None:
        return Document(data, 0, None, diagnostics)
    body = frontmatter.end if text.isascii() else len(text[: frontmatter.end].encode())
    return Document(data, body, frontmatter, diagnostics + frontmatter.diagnostics)


def main_file(directory: str) -> str:
    """The name of a skill's SKILL.md, which some write in lower case; raises InvalidSkill without one."""
    for name in SKILL_FILES:
        if os.path.isfile(os.path.join(directory, name)):
            return name
    raise InvalidSkill(directory)


def metadata(document: Document, directory: str) -> Metadata:
    """Name and description of a skill; raises MissingField where it has no usable description [D4]."""
    front = document.frontmatter
    noticed = list(document.diagnostics)
    name = (front.text("name") or "") if front else ""
    description = (front.text("description") or "") if front else ""
    if front is None and document.data.startswith(b"---"):
        noticed.append(warning("W017"))
    if front is None or not description.strip():
        raise MissingField("description", tuple(diagnostic.at(SKILL_FILE) for diagnostic in noticed))
    for field in ("name", "description"):
        value = front.fields.get(field)
        if value is not None and not isinstance(value, str):
            noticed.append(warning("W015", field))
    if not name.strip():
        name = directory
        noticed.append(warning("W014"))
    return Metadata(
        name, description, front.fields, tuple(diagnostic.at(SKILL_FILE) for diagnostic in noticed)
    )
