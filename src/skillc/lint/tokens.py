"""Estimate without a tokenizer how many tokens a text costs, and check a skill's budgets.

Models cut text differently, so this counts what all tokenizers do alike. A word of up to 9 letters
costs 1, a longer one 1 for each 5; digits 1 for each 3; signs 1 for each 3 in a row; an end of line with
its indentation 1, and so do several spaces; a Chinese, Japanese or Korean character 1; other scripts 1
for each 3 letters; emoji 2. On English, code and Chinese that is mostly within 15% of tokenizers; a token
for 4 characters is off by half on Chinese. docs/lint-rules.md has the measurements.

>>> estimate("Fill forms, merge and split PDF files."), estimate("如何查看日志")
(9, 6)
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Mapping

from skillc.index import WIDE
from skillc.lint.config import Settings
from skillc.lint.page import Folder, Page, read_folder
from skillc.lint.report import FileTokens, Problem, Tokens
from skillc.skills import SourceFile, line_count, newlines
from skillc.skills.document import Document

MAX_SAMPLE = 256 * 1024  # bytes; a larger file is estimated from its beginning
MAX_SAMPLED = 16 * 1024 * 1024  # bytes of one skill; files beyond count as 4 bytes a token

_Decoder = getincrementaldecoder("utf-8")
_WIDE = "".join(f"{chr(first)}-{chr(last)}" for first, last in WIDE)
# The parts of a text as patterns, and what each costs by its length.
_COSTS: tuple[tuple[str, Callable[[int], int]], ...] = (
    (r"[A-Za-z]+", lambda length: length // 5 if length > 9 else 1),
    (r"[0-9]+", lambda length: (length + 2) // 3),
    (r"[!-/:-@\[-`{-~]+", lambda length: (length + 2) // 3),
    (r"[ \t]*[\r\n]\s*", lambda length: 1),
    (r"[ \t]+", lambda length: 0 if length == 1 else 1),
    (f"[{_WIDE}]+", lambda length: length),
    (r"[^\W\d_]+", lambda length: (length + 2) // 3),
    (r"[\U00010000-\U0010ffff]", lambda length: 2),
    (r".", lambda length: 1),
)


_PARTS = re.compile("|".join(f"({pattern})" for pattern, _ in _COSTS), re.DOTALL)


def estimate(text: str) -> int:
    """Return about how many tokens a text is, part by part."""
    parts = _PARTS.finditer(text)
    return sum(_COSTS[(part.lastindex or 1) - 1][1](part.end() - part.start()) for part in parts)


def measure(folder: Folder, main: Page) -> Tokens:
    """Estimate what the parts of a skill cost."""
    pages = {page.name: page.document.data for page in folder.pages.values()}
    files = _measure_files([file for file in folder.files if file.name != main.name], pages)
    return Tokens.of(*measure_main(main.document), files)


def measure_skill(source: str) -> Tokens | None:
    """Estimate what the parts of the skill in a folder cost; None if its SKILL.md can't be read."""
    folder = read_folder(source)
    return measure(folder, folder.main) if folder.main else None


def measure_main(document: Document) -> tuple[int, int]:
    """Estimate what name and description of a SKILL.md cost, and its body."""
    front = document.frontmatter
    metadata = [front.text(field) or "" for field in ("name", "description")] if front else []
    body = document.data[document.body :].decode("utf-8", "replace")
    return sum(map(estimate, metadata)), estimate(body)


def _measure_files(files: Iterable[SourceFile], pages: Mapping[str, bytes]) -> tuple[FileTokens, ...]:
    """Estimate each text file; skip binary and unreadable files."""
    estimates: list[FileTokens] = []
    total = 0  # bytes read
    for file in files:
        if total >= MAX_SAMPLED:
            estimates.append(FileTokens(file.name, file.size // 4))
            continue
        try:
            data = pages[file.name][:MAX_SAMPLE] if file.name in pages else _read_sample(file.path)
            text = _Decoder().decode(data, final=len(data) < MAX_SAMPLE)  # a sample may end in a character
        except (OSError, UnicodeDecodeError):
            continue
        if "\0" not in text:
            total += len(data)
            count = estimate(text) * max(len(data), file.size) // max(len(data), 1)
            estimates.append(FileTokens(file.name, count))
    return tuple(estimates)


def _read_sample(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(MAX_SAMPLE)


def check(main: Page, tokens: Tokens, settings: Settings) -> Iterator[Problem]:
    """Check SKILL.md against the budgets of a context: SKL201, SKL206, SKL207."""
    limits = settings.limits
    lines = line_count(main.document.data)
    if lines > limits["skill-size"]:
        message = (
            f"{lines:,} lines, more than {limits['skill-size']:,}; move what is not always needed to files"
        )
        yield Problem("SKL201", message, main.name, limits["skill-size"] + 1)
    limit = limits["metadata-tokens"]
    if tokens.metadata > limit:
        message = f"name and description cost about {tokens.metadata:,} tokens, over {limit:,}"
        yield main.field_problem("SKL206", message, "description")
    if tokens.body > limits["body-tokens"]:
        message = f"the body costs about {tokens.body:,} tokens, over {limits['body-tokens']:,}"
        yield Problem("SKL207", message, main.name, 1 + newlines(main.document.data, 0, main.document.body))
