"""The stub: a small SKILL.md that shows an agent what there is and how to fetch it.

Structure without content [RFC-0001:C-STUB, C-SECTIONS, C-CONSTRAINTS; D8, D9]. It has at most
MAX_LINES lines because every part of it has a limit; what is left out is counted.
"""

from __future__ import annotations

from skillc.text import fold_line, shell_quote, yaml_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_LINES = 100
MAX_SECTIONS = 15
MAX_TOP_SECTIONS = 12
MAX_REFERENCES = 15
MAX_DESCRIPTION = 120

_TEMPLATE = """\
---
name: {name}
description: {description}
---

# {title}

Compiled by skillc{origin}. What follows is an outline, not the skill: fetch the sections a task needs
through the gateway, and do not read the source files directly.

Prefer the MCP tools `skc_outline`, `skc_show`, `skc_search`, `skc_open` and `skc_sources` if the
skillc MCP server is available: they are faster and their output is structured. Otherwise:

```bash
skc outline {skill}
skc show {skill} --section "<heading>"
skc search {skill} "<words>"
skc open {skill} <path>
skc sources {skill}
```

## Top Sections

{sections}
"""


def render(
    name: str,
    description: str,
    directory: str,
    main: Sequence[tuple[int, str]],
    references: Sequence[tuple[str, str | None]],
    reference_count: int,
    repository: str = "",
) -> str:
    """The stub's text, which names the `repository` that a skill comes from, if it is another's.

    `main` are level and text of SKILL.md's headings; `references` are the first
    MAX_REFERENCES other documents by path, each with its label and description.
    """
    lines = [*_main_lines(main), *_reference_lines(references, reference_count)]
    return _TEMPLATE.format(
        name=yaml_quote(name),
        description=yaml_quote(description),
        title=fold_line(name),
        origin=f" from the repository '{fold_line(repository)}'" if repository else "",
        skill=shell_quote(directory),
        sections="\n".join(lines) or "(no headings)",
    )


def _main_lines(headings: Iterable[tuple[int, str]]) -> list[str]:
    """H1 and H2 of SKILL.md, up to the first that is over a limit; the rest are counted."""
    lines: list[str] = []
    top = left_out = 0
    for level, text in headings:
        if level > 2:
            continue
        top += level == 1
        if left_out or len(lines) >= MAX_SECTIONS or top > MAX_TOP_SECTIONS:
            left_out += 1
        else:
            lines.append(f"{'  ' * (level - 1)}- {fold_line(text)}")
    if left_out:
        lines.append(f"- ... ({left_out} more)")
    return lines


def _reference_lines(references: Sequence[tuple[str, str | None]], count: int) -> list[str]:
    """The other documents under one label, with their descriptions."""
    if not count:
        return []
    lines = ["- References (query by title only)"]
    for label, description in references[:MAX_REFERENCES]:
        text = fold_line(description or "")
        if len(text) > MAX_DESCRIPTION:
            text = text[: MAX_DESCRIPTION - 1].rstrip() + "…"
        lines.append(f"  - {fold_line(label)}{' — ' + text if text else ''}")
    if count > MAX_REFERENCES:
        lines.append(f"  - ... ({count - MAX_REFERENCES} more)")
    return lines
