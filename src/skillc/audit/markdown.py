"""Read Markdown: its code blocks as scripts, its text as instructions, and what a page does not show."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillc.audit import words
from skillc.audit.commands import Read
from skillc.audit.findings import Trace
from skillc.audit.prose import check_prose
from skillc.skills import Document, walk

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
_DRAWING = re.compile("[\u2500-\u257f]")  # of boxes and trees
_BY_LABEL = {label: kind for kind, labels in _LANGUAGES.items() for label in labels.split()}
_SHELL_LINE = re.compile(
    r"^\s*(?:\$\s+\S|#!/|sudo\s|curl\s|wget\s|npx\s|npm\s|pip3?\s|pipx\s|uvx?\s|python3?\s+-[mc]|bash\s"
    r"|sh\s+-|git\s+clone|docker\s|brew\s|apt(?:-get)?\s|chmod\s|eval\s|export\s+\w+=|source\s|cat\s+~"
    r"|echo\s.*\||nc\s|ssh\s|scp\s|crontab\s|go\s+install|cargo\s+install|base64\s|powershell\s)",
    re.MULTILINE,
)
_INLINE = re.compile(
    r"(?<!`)`((?:curl|wget|bash|sh|npx|uvx|pip3?|npm|sudo|eval|source|go|docker|python3?|node|cat|echo"
    r"|crontab|nc|brew|base64|env|printenv|rm|chmod|claude)\s[^`\n]{4,600})`(?!`)"
)
# What stands before a command that a page warns of.
_WARNING = re.compile(
    r"\b(?:never|do not|don't|avoid)\s+(?:ever\s+)?(?:run|use|using|running|execute|type|paste)\b"
    r"[^.\n]{0,60}$",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"^[ ]{0,3}\[(?://|comment|_|#|hidden|note|\.)\]:\s*(?:#|<>|<#>)\s*[(\"'](.{4,2000})[)\"']\s*$",
    re.MULTILINE | re.IGNORECASE,
)
_STYLE = re.compile(
    r"<[a-z][^>]{0,300}?(?:style\s*=\s*[\"'][^\"'>]{0,300}?(?:display\s*:\s*none|visibility\s*:\s*hidden"
    r"|font-size\s*:\s*[01](?:px|pt|em|rem|%)?\s*(?:[;\"']|$)|opacity\s*:\s*0(?:\.0\d*)?\s*(?:[;\"']|$)"
    r"|(?<!-)color\s*:\s*(?:white|#fff(?:fff)?|transparent|rgba?\(\s*255\s*,\s*255\s*,\s*255)|(?:left|top"
    r"|text-indent)\s*:\s*-\d{3,})|\shidden(?=[\s>=]))",
    re.IGNORECASE,
)
_ADDRESSED = re.compile(
    r"\b(?:AI|assistants?|agents?|claude|gpt|codex|gemini|copilot|model|LLM|bot)\b[^\n]{0,80}\b(?:must"
    r"|should|shall|always|never|execute|run|send|read|fetch|include|please|need)\b"
    r"|\b(?:you\s+(?:must|should|need\s+to|have\s+to|are\s+(?:required|instructed))|(?:SYSTEM|IMPORTANT"
    r"|INSTRUCTIONS?|HIDDEN|SECRET)\s*(?:NOTE|INSTRUCTIONS?|PROMPT)?\s*(?:TO|FOR)?\s*(?:AI|ASSISTANTS?"
    r"|AGENTS?|LLMS?|MODELS?)?\s*:)\s*[^\n]{0,200}\b(?:run|execute|send|read|fetch|post|upload|append"
    r"|install|download|ignore|write|copy)\b",
    re.IGNORECASE,
)
_CALL = re.compile(
    r"\b(?:curl|wget)\s+[^\n]{0,200}https?://|\|\s*(?:ba)?sh\b|\bbase64\s+-d|\bnc\s+-|\beval\s*\(",
    re.IGNORECASE,
)


def read_markdown(document: Document, text: str, trace: Trace, read: Read) -> None:
    """Take note of a page: blocks and commands as scripts, comments and hidden spans, and its prose."""
    for line, language, code in _find_blocks(document):
        read(trace, language, code, line, 0)
    _read_inline(text, trace, read)
    _check_invisible(document, trace)
    counter = words.LineCounter(text)
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
