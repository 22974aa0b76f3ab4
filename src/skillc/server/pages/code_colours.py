"""Colour code in pages, and show the characters that browsers do not show.

Each family of languages has one pattern whose parts always match what they begin to match, so that hostile
text takes linear time; Pygments takes quadratic time for TypeScript, Java, YAML, HTML and Makefiles. Code in
an unknown language stays plain.
"""

from __future__ import annotations

import posixpath
import re
from collections import deque
from functools import cache
from html import escape, unescape

from skillc.audit import find_hidden, spell_hidden

_QUOTES = r""""(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?"""
_TRIPLE = r"""\"{3}[\s\S]*?(?:\"{3}|\Z)|'{3}[\s\S]*?(?:'{3}|\Z)"""
_NUMBER, _WORD = r"\b\d[\w.]*", r"\w+"
_PATTERNS = {
    "python": {"comment": r"#[^\n]*", "string": f"{_TRIPLE}|{_QUOTES}", "number": _NUMBER, "word": _WORD},
    "shell": {
        "comment": r"(?<![^\s;&|(])#[^\n]*",
        "string": r""""(?:[^"\\]|\\[\s\S])*"?|'[^']*'?""",
        "name": r"\$(?:\w+|\{[^}\n]*\}?|[!@*#?$-])",
        "word": r"[\w./-]+",
    },
    "c": {
        "comment": r"//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)",
        "string": _QUOTES + r"|`(?:[^`\\]|\\[\s\S])*`?",
        "number": _NUMBER,
        "word": _WORD,
    },
    "data": {
        "comment": r"(?<!\S)#[^\n]*",
        "name": r"(?m:^)[ \t]*(?:-[ \t]+)?(?:[\w.-]+(?=[ \t]{0,8}[:=])|\[[^\]\n]*\]?)",
        "string": _QUOTES,
        "number": _NUMBER,
        "word": r"[\w.-]+",
    },
    "json": {
        "name": r'"(?:[^"\\\n]|\\.)*"(?=\s{0,8}:)',
        "string": _QUOTES,
        "number": _NUMBER,
        "word": _WORD,
    },
    "query": {
        "comment": r"--[^\n]*|/\*[\s\S]*?(?:\*/|\Z)",
        "string": _QUOTES,
        "number": _NUMBER,
        "word": _WORD,
    },
    "markup": {"comment": r"<!--[\s\S]*?(?:-->|\Z)", "name": r"</?[\w:-]+|/?>", "string": _QUOTES},
    "diff": {"string": r"(?m:^)\+[^\n]*", "number": r"(?m:^)-[^\n]*", "comment": r"(?m:^)@@[^\n]*"},
}
_WORDS = {
    "python": """
        and as assert async await break case class continue def del elif else except False finally
        for from global if import in is lambda match None nonlocal not or pass raise return True try
        while with yield
    """,
    "shell": """
        alias break case cd continue do done echo elif else esac eval exec exit export fi for
        function if in local read readonly return select set shift source sudo then trap unset until
        while begin end elsif def puts require module unless my sub use foreach param
    """,
    "c": """
        abstract async await bool boolean break byte case catch chan char class const constexpr
        continue crate debugger default defer delete do double else enum export extends extern false
        final finally float fn for from func function go if impl implements import in instanceof int
        interface let long loop map match mod move mut namespace new nil null of package private
        protected pub public range readonly ref return select self short signed sizeof static string
        struct super switch template this throw throws trait true try type typedef typeof undefined
        union unsafe unsigned use using var virtual void volatile where while yield echo fun val
        when override data object suspend guard protocol
    """,
    "data": "true false null yes no on off",
    "json": "true false null",
    "query": """
        add all alter and as asc begin between by case check column commit constraint create cross
        database default delete desc distinct drop else end exists foreign from full function group
        having if in index inner insert into is join key left like limit not null offset on or order
        outer primary references returning right rollback select set table then trigger union unique
        update using values view when where with
    """,
    "markup": "",
    "diff": "",
}
_LANGUAGES = {
    "python": "python py pyi python3 starlark bzl",
    "shell": """
        shell sh bash zsh fish console shell-session powershell ps1 pwsh dockerfile docker
        containerfile makefile make mk ruby rb perl pl r elixir ex tcl nix env
    """,
    "c": """
        c h cpp c++ cc hpp cs csharp css scss less go golang groovy java javascript js jsx cjs mjs
        json5 jsonc kotlin kt kts php proto rust rs scala solidity sol swift ts tsx typescript dart
        zig graphql hcl tf
    """,
    "data": "yaml yml toml ini cfg conf properties editorconfig",
    "json": "json jsonl ndjson ipynb webmanifest",
    "query": "sql sqlite postgresql mysql plsql",
    "markup": "html htm xml svg vue svelte xhtml plist astro",
    "diff": "diff patch",
}
_FAMILIES = {language: family for family, languages in _LANGUAGES.items() for language in languages.split()}
_BLOCK = re.compile(r'(<pre[^<>]*><code) class="language-([\w+#.-]{1,40})[^"]{0,200}">([^<]*)</code>')
_CLASS = re.compile(r'(<code) class="[^"]*"')
_SPAN = re.compile(r'<span class="c-\w+">|</span>')
_PIECE = re.compile(r'<(?:[^<>"]|"[^"]*")*>|[^<]+|<')


def language_of(path: str) -> str:
    """Return the language of a file by its name, or nothing.

    >>> language_of("scripts/Makefile"), language_of("a/fill.py"), language_of("LICENSE")
    ('makefile', 'py', '')
    """
    name = posixpath.basename(path).lower()
    return next((end for end in (name, name.rpartition(".")[2]) if end in _FAMILIES), "")


def colour_blocks(html: str, *, plain: bool = False) -> str:
    """Colour the blocks of code in clean HTML whose language is known; the names of languages go."""
    if not plain:
        html = _BLOCK.sub(
            lambda block: f"{block[1]}>{colour_code(unescape(block[3]), block[2])}</code>", html
        )
    return _CLASS.sub(r"\1", html)


def colour_code(text: str, language: str) -> str:
    """Return code as HTML, with the classes of its colours.

    >>> colour_code('x = "<" # less', "python")
    'x = <span class="c-string">"&lt;"</span> <span class="c-comment"># less</span>'
    """
    family = _FAMILIES.get(language.lower(), "")
    if not family:
        return escape(text, quote=False)
    pattern, words = _compile(family)
    pieces: list[str] = []
    position = 0
    for match in pattern.finditer(text):
        kind, code = match.lastgroup, match[0]
        if kind == "word" and (code.lower() if family == "query" else code) not in words:
            continue
        pieces.append(escape(text[position : match.start()], quote=False))
        pieces.append(f'<span class="c-{kind}">{escape(code, quote=False)}</span>')
        position = match.end()
    return "".join(pieces) + escape(text[position:], quote=False)


def colour_lines(lines: list[str], language: str, limit: int) -> list[str]:
    """Return each line of a file as HTML; what makes it longer than `limit` is left out: first the colours.

    >>> colour_lines(["/* a", "b */ 1"], "c", 1000)[1]
    '<span class="c-comment">b */</span> <span class="c-number">1</span>'
    """
    text = "\n".join(lines)
    plain = colour_code(text, "")
    choices = (reveal_hidden(colour_code(text, language)), reveal_hidden(plain))
    html = next((made for made in choices if len(made) <= limit + 40 * len(lines)), plain)
    coloured, opened = [], ""
    for line in html.split("\n"):
        line = opened + line
        last = "".join(_SPAN.findall(line)[-1:])
        opened = last if last != "</span>" else ""
        coloured.append(line + ("</span>" if opened else ""))
    return coloured


@cache  # one for each family
def _compile(family: str) -> tuple[re.Pattern[str], frozenset[str]]:
    parts = _PATTERNS[family].items()
    pattern = re.compile("|".join(f"(?P<{kind}>{part})" for kind, part in parts))
    return pattern, frozenset(_WORDS[family].split())


def reveal_hidden(html: str) -> str:
    """Show each run of characters that browsers do not show, outside of tags, with what it spells.

    >>> reveal_hidden("<p>pass\\u200bword</p>")
    '<p>pass<span class="unseen" title="not shown by browsers">U+200B</span>word</p>'
    """
    runs = deque((match.start(), match[0]) for match in find_hidden(html))
    if not runs:
        return html
    pieces: list[str] = []
    for piece in _PIECE.finditer(html):
        position = piece.start()
        while runs and runs[0][0] < piece.end():
            start, run = runs.popleft()
            if piece[0][0] != "<":
                pieces += (html[position:start], _name_run(run))
                position = start + len(run)
        pieces.append(html[position : piece.end()])
    return "".join(pieces)


def _name_run(run: str) -> str:
    letters = spell_hidden(run)
    name = f"U+{ord(run[0]):04X}" + (f" and {len(run) - 1} more" if len(run) > 1 else "")
    words = f"{name}: {letters[:200]}" if letters else name
    return f'<span class="unseen" title="not shown by browsers">{escape(words)}</span>'
