"""Break text into lines at its spaces.

The standard textwrap loads the regular expressions, which take longer than all the rest of help.

>>> wrap("List the skills of this project", 16)
['List the skills', 'of this project']
"""

from __future__ import annotations


def wrap(text: str, width: int) -> list[str]:
    """Return the lines of a text; a word that is longer than a line stays whole."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        if line and len(line) + len(word) >= width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line] if line else lines
