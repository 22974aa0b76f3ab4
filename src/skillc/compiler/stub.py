"""The stub: a small SKILL.md that shows an agent the outline of a skill and how to fetch its parts.

Structure without content [RFC-0001:C-STUB, C-SECTIONS, C-CONSTRAINTS; D8, D9, D50]. It has at most
MAX_LINES lines because each of its parts has a limit; it counts what it leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from skillc.quotes import shell_quote, yaml_quote
from skillc.text import cut, fold_line

MAX_LINES = 100
MAX_SECTIONS = 15
MAX_TOP_SECTIONS = 12
MAX_REFERENCES = 15
MAX_DESCRIPTION = 120

_TEMPLATE = """\
---
name: {name}
description: {description}
{fields}---

# {title}

Compiled by skillc{origin}. What follows is an outline, not the skill: fetch the sections a task needs
through the gateway, and do not read the source files directly.{change}

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

# No paths are in a stub [RFC-0001:C-STUB]. What others change in a repository, its own people edit.
_CHANGE = "\nTo change the skill, edit its source, not this file: `skc info {skill}` says where it is."


def render_stub(
    name: str,
    description: str,
    directory: str,
    main: Sequence[tuple[int, str]],
    references: Sequence[tuple[str, str | None]],
    reference_count: int,
    repository: str = "",
    fields: Iterable[str] = (),
) -> str:
    """Return the text of the stub.

    `main` has level and text of each heading of SKILL.md; `references` label and description of the
    first MAX_REFERENCES other documents by path. `repository` is where a copied skill comes from. `fields`
    is the YAML of the other fields of the frontmatter.
    """
    lines = [*_render_headings(main), *_render_references(references, reference_count)]
    return _TEMPLATE.format(
        name=yaml_quote(name),
        description=yaml_quote(description),
        fields="".join(f"{field}\n" for field in fields),
        title=fold_line(name),
        origin=f" from the repository '{fold_line(repository)}'" if repository else "",
        change="" if repository else _CHANGE.format(skill=shell_quote(directory)),
        skill=shell_quote(directory),
        sections="\n".join(lines) or "(no headings)",
    )


def choose_fields(fields: Mapping[str, str], stub: str) -> list[str]:
    """Return the keys of the fields that fit into a stub that has none yet; the longest do not [D50]."""
    own = 1  # a line for what takes a skill out of listings
    room = MAX_LINES - own - stub.count("\n")
    keys = sorted(fields, key=lambda key: (fields[key].count("\n"), len(fields[key])))
    while sum(fields[key].count("\n") + 1 for key in keys) > room:
        keys.pop()
    return [key for key in fields if key in keys]


def _render_headings(headings: Iterable[tuple[int, str]]) -> list[str]:
    """Return H1 and H2 of SKILL.md up to the first that is over a limit, and a count of the others."""
    lines: list[str] = []
    top = rest = 0
    for level, text in headings:
        if level > 2:
            continue
        top += level == 1
        if rest or len(lines) >= MAX_SECTIONS or top > MAX_TOP_SECTIONS:
            rest += 1
        else:
            lines.append(f"{'  ' * (level - 1)}- {fold_line(text)}")
    return [*lines, f"- ... ({rest} more)"] if rest else lines


def _render_references(references: Sequence[tuple[str, str | None]], count: int) -> list[str]:
    """Return the other documents under one label, with their descriptions."""
    if not count:
        return []
    lines = ["- References (query by title only)"]
    for label, description in references[:MAX_REFERENCES]:
        text = cut(fold_line(description or ""), MAX_DESCRIPTION)
        lines.append(f"  - {fold_line(label)}{' — ' + text if text else ''}")
    return [*lines, f"  - ... ({count - MAX_REFERENCES} more)"] if count > MAX_REFERENCES else lines
