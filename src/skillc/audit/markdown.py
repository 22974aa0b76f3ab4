"""Read Markdown: its code blocks as scripts, its text as instructions, and what a page does not show."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator
from typing import Any

from skillc.audit.commands import Read
from skillc.audit.findings import LineCounter, Trace
from skillc.audit.patterns import check_setting, load_pattern
from skillc.audit.prose import check_prose
from skillc.skills import walk
from skillc.skills.document import Document, parse

MAX_COMMENT = 20_000  # characters of a comment that are read
_LANGUAGES = {
    "shell": "bash sh shell zsh console shell-session shellsession terminal ksh fish sh-session"
    " bash-session command cli",
    "python": "python py python3 ipython",
    "javascript": "javascript js typescript ts jsx tsx node mjs",
    "text": "powershell ps1 pwsh ps batch bat cmd ruby rb go golang php perl lua swift applescript"
    " osascript vbscript vb kotlin",
}
_PROSE = "prose"
_DATA = ("json", "jsonc", "yaml", "yml", "toml")
_DRAWING = re.compile("[\u2500-\u257f]")  # of boxes and trees
_BY_LABEL = {label: kind for kind, labels in _LANGUAGES.items() for label in labels.split()}
_SHELL_LINE = load_pattern("shell-line")
_INLINE = load_pattern("inline")
_WARNING = load_pattern("warning")
_REFERENCE = load_pattern("reference")
_STYLE = load_pattern("style")
_ADDRESSED = load_pattern("addressed")
_CALL = load_pattern("call")


def read_markdown(document: Document, text: str, trace: Trace, read: Read) -> None:
    """Take note of a page: blocks and commands as scripts, comments and hidden spans, and its prose."""
    for line, language, code in _find_blocks(document):
        if language in _DATA:
            inner = trace.branch()
            check_setting(f"settings.{language}", code, inner)
            trace.take_over(inner, range(line, line + code.count("\n") + 1))
        else:
            read(trace, language, code, line, 0)
    _read_inline(text, trace, read)
    _check_invisible(document, trace)
    counter = LineCounter(text)
    for match in _REFERENCE.finditer(text):
        _check_hidden_text(match[1], "a reference that is not shown", trace, counter.at(match.start()))
    check_prose(_blank_code(document), trace)


def _find_blocks(document: Document) -> Iterator[tuple[int, str, str]]:
    """Yield the blocks that are scripts: the line of their first line, language and text."""
    for element in walk(document.data, document.body, ("CodeBlock",)):
        language, code = _language_of(element.detail, element.text), element.text
        if language not in ("", _PROSE):
            line = element.line + (1 if isinstance(element.detail, dict) else 0)
            yield line, language, _strip_prompts(code) if language == "shell" else code


def _language_of(detail: object, code: str) -> str:
    """Return the language of a code block: `prose` if it is none, empty if it is one that is not read."""
    label = str(detail.get("Fenced", "")) if isinstance(detail, dict) else ""
    name = next(iter(re.findall(r"[\w+#-]+", label.lower())), "")
    if name in _BY_LABEL:
        return _BY_LABEL[name]
    if name in _DATA:
        return name
    if name not in ("", "text", "plaintext", "txt", "code", "markdown", "md", "prompt"):
        return ""
    return "shell" if _SHELL_LINE.search(code) else "" if _DRAWING.search(code) else _PROSE


def _blank_code(document: Document) -> str:
    """Return a page with blanks in place of its code; a block of text or of no language is none."""
    pieces: list[bytes] = []
    end = 0
    for element in walk(document.data, document.body, ("CodeBlock",)):
        if _language_of(element.detail, element.text) == _PROSE:
            continue
        newlines = document.data.count(b"\n", element.start, element.end)
        pieces += [document.data[end : element.start], b"\n" * newlines]
        end = max(end, element.end)
    return b"".join([*pieces, document.data[end:]]).decode("utf-8", "replace")


def _strip_prompts(code: str) -> str:
    """Return a session's commands without its prompts; lines that are output become empty."""
    lines = code.split("\n")
    if not any(re.match(r"\s*(?:\$|%|❯|➜)\s+\S", line) for line in lines):
        return code
    commands: list[str] = []
    goes_on = False
    for line in lines:
        prompt = re.match(r"\s*(?:[\w@:~./-]{0,60})?(?:\$|%|❯|➜)\s+", line)
        commands.append(line[prompt.end() :] if prompt else line if goes_on else "")
        goes_on = bool(prompt or goes_on) and line.rstrip().endswith(("\\", "|", "&&"))
    return "\n".join(commands)


def _read_inline(text: str, trace: Trace, read: Read) -> None:
    line = position = 0
    for count, match in enumerate(_INLINE.finditer(text)):
        line += text.count("\n", position, match.start())
        position = match.start()
        if count >= 300:
            break
        if (
            re.search(r"[|;&$<>@]|://|-[a-zA-Z]|install|~/", match[1])
            and "..." not in match[1]
            and "…" not in match[1]
        ):
            inner = trace.branch()
            read(inner, "shell", match[1], 1, 1)
            is_warning = _WARNING.search(text, max(0, position - 80), position)
            trace.take_over(inner, (line + 1,), "note" if is_warning else "")


def _check_invisible(document: Document, trace: Trace) -> None:
    data = document.data
    if b"<" not in data:
        return
    html: list[tuple[int, str]] = []
    for element in walk(data, document.body, ("HtmlBlock", "InlineHtml")):
        if html and element.start <= html[-1][0]:
            continue
        html.append((element.end, ""))
        piece = data[element.start : element.end].decode("utf-8", "replace")
        for start, comment in _find_comments(piece):
            line = element.line + piece.count("\n", 0, start)
            _check_hidden_text(comment, "a comment that is not shown", trace, line)
        style = _STYLE.search(piece)
        if style:
            rest = data[element.start : element.start + 2000].decode("utf-8", "replace")
            _check_hidden_text(
                re.sub(r"<[^>]{0,500}>", " ", rest)[:1000],
                "text that is not shown",
                trace,
                element.line,
                is_element=True,
            )


def _find_comments(html: str) -> Iterator[tuple[int, str]]:
    """Yield the comments of a piece of HTML and where they start; one that is not closed goes to its end."""
    start = html.find("<!--")
    while start >= 0:
        end = html.find("-->", start)
        end = end if end >= 0 else len(html)
        yield start, html[start + 4 : end][:MAX_COMMENT]
        start = html.find("<!--", end)


def _check_hidden_text(text: str, what: str, trace: Trace, line: int, is_element: bool = False) -> None:
    inner = Trace()
    check_prose(text, inner)
    rules = [problem for problem in inner.problems if problem.level != "note"]
    excerpt = " ".join(text.split())[:60]
    if any(problem.rule == "A43" and problem.level != "review" for problem in rules):
        trace.report("A33", f"{what} tells the agent to send data away: '{excerpt}'", line, level="block")
    elif rules or _ADDRESSED.search(text) or _CALL.search(text):
        trace.report("A33", f"{what} gives instructions: '{excerpt}'", line)
    elif is_element and len(text.split()) > 4:
        trace.report("A33", f"{what}: '{excerpt}'", line, level="note")


# Notebooks

MAX_CELLS = 2000
_MAGIC = re.compile(r"^%%(?:(bash|sh|script|cmd|system|sx|!)|(javascript|js)|(\w+))\b.*")
_COMMAND = load_pattern("notebook-command")
_OTHER_MAGIC = re.compile(r"^(\s*)%.*", re.MULTILINE)


def read_notebook(text: str, trace: Trace, read: Read) -> None:
    """Take note of what the cells of a notebook do and say; findings are at their lines of the file."""
    try:
        cells = json.loads(text)["cells"]
        if not isinstance(cells, list):
            raise TypeError
    except (ValueError, TypeError, KeyError, RecursionError):
        trace.report("A09", "is no notebook that can be read, and was read word by word", 1)
        read(trace, "text", text, 1, 0)
        return
    if len(cells) > MAX_CELLS:
        trace.report("A09", f"has {len(cells)} cells; the first {MAX_CELLS} were read", 1)
    finder = _LineFinder(text)
    program: list[str] = []  # the cells of Python, which share their variables
    places: list[int] = []
    for cell in cells[:MAX_CELLS]:
        if isinstance(cell, dict):
            source = _lines(cell.get("source"))
            numbers = finder.find(source)
            code = _read_cell(cell, "".join(source), numbers, trace, read)
            program.append(code)
            places += numbers[: code.count("\n") + 1] if code else []
    inner = trace.branch()
    read(inner, "python", "\n".join(filter(None, program)), 1, 0)
    trace.take_over(inner, places)


def _read_cell(cell: dict[str, Any], source: str, numbers: list[int], trace: Trace, read: Read) -> str:
    """Take note of what a cell does and says; return its Python, which is read with that of the others."""
    inner = trace.branch()
    python = ""
    if cell.get("cell_type") == "code":
        python = _read_code(source, inner, read)
    else:
        read_markdown(parse(source.encode("utf-8", "surrogatepass")), source, inner, read)
    trace.take_over(inner, numbers)
    for output in _texts(cell.get("outputs")):
        spoken = trace.branch()
        check_prose(output, spoken)
        trace.take_over(spoken, numbers[-1:])
    return python


def _read_code(code: str, trace: Trace, read: Read) -> str:
    """Take note of what the commands of a cell do; return its Python. One that is not valid is read alone."""
    magic = _MAGIC.match(code.lstrip())
    if magic:
        language = "shell" if magic[1] else "javascript" if magic[2] else "python"
        read(trace, language, code.replace(magic[0], "", 1), 1, 0)
        return ""
    for match in _COMMAND.finditer(code):
        read(trace, "shell", match[2], code.count("\n", 0, match.start(2)) + 1, 0)
    python = _OTHER_MAGIC.sub(r"\1pass", _COMMAND.sub(r"\1pass", code)).rstrip()
    if _is_python(python):
        return python
    read(trace, "python", python, 1, 0)
    return ""


def _is_python(code: str) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _lines(source: Any) -> list[str]:
    """Return the lines of a cell, which the format has as a list or as one text."""
    pieces = source if isinstance(source, list) else [source]
    return [piece for piece in pieces if isinstance(piece, str)] or [""]


def _texts(outputs: Any) -> Iterator[str]:
    """Yield the texts that a cell printed."""
    for output in outputs if isinstance(outputs, list) else ():
        if isinstance(output, dict):
            data = output.get("data")
            kinds = data if isinstance(data, dict) else {}
            pieces = [
                output.get("text"),
                *(kinds.get(f"text/{kind}") for kind in ("plain", "markdown", "html")),
            ]
            yield from ("".join(_lines(piece)) for piece in pieces if piece)


class _LineFinder:
    """Finds the lines of cells in a notebook's file, in one pass: each is looked for after the one before."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position, self.line = 0, 1
        self.is_lost = False

    def find(self, pieces: list[str]) -> list[int]:
        """Return the line of the file for each line of a cell."""
        numbers: list[int] = []
        for piece in pieces:
            self._move(piece)
            numbers += [self.line] * max(1, piece.count("\n"))
        return numbers

    def _move(self, piece: str) -> None:
        if self.is_lost or not piece:
            return
        forms = (json.dumps(piece, ensure_ascii=ascii) for ascii in (False, True))
        found = next((at for at in (self.text.find(form, self.position) for form in forms) if at >= 0), -1)
        self.is_lost = found < 0  # written in another way: what follows is not looked for, it would take long
        if found >= 0:
            self.line += self.text.count("\n", self.position, found)
            self.position = found + len(piece)
