"""Read the files of a skill for an audit: what each is, and its text.

Links are not followed: one that leaves the skill is a finding. A file that can't be read is one too.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from skillc import paths
from skillc.audit import indicators
from skillc.audit.findings import Trace
from skillc.audit.patterns import load_names, word_set
from skillc.skills import MAX_FILES

MAX_FILE = 1 << 20  # bytes of a file that is read
MAX_TOTAL = 16 << 20  # bytes of all files together
_FOREIGN = (".git", ".hg", ".svn", ".skillc", ".skillc-meta")
_CACHE = "__pycache__"  # installing leaves it out

LANGUAGES = {
    "shell": "sh bash zsh ksh command envrc bats fish",
    "python": "py pyw",
    "javascript": "js mjs cjs jsx ts tsx mts cts",
    "text": "ps1 psm1 bat cmd rb go php pl pm lua swift kt java rs c cc cpp cs scala r jl vbs applescript"
    " awk tcl ex exs clj"
    " gradle groovy kts sbt dart erl hs ml nim zig vim el coffee psd1 wsf phtml rake gemspec fs vb m sql"
    " bas vba frm ahk au3 tf hcl bzl star nix cmake tex sty gs gd pas cr sol proto",
    "markdown": "md markdown mdx mdc",
    "notebook": "ipynb",
    "make": "mk mak",
    "prose": "txt rst adoc org",
    "data": "json jsonc yaml yml toml xml html htm svg css scss csv tsv ini cfg conf properties plist"
    " lock env tpl j2 tmpl npmrc yarnrc po pth",
}
_BY_EXTENSION = {extension: kind for kind, names in LANGUAGES.items() for extension in names.split()}
_BY_NAME = {
    "makefile": "make",
    "gnumakefile": "make",
    "dockerfile": "docker",
    "justfile": "make",
    "rakefile": "text",
    "gemfile": "text",
    "podfile": "text",
    "brewfile": "text",
    "vagrantfile": "text",
    "license": "data",
    "cmakelists": "text",
}
_BY_PROGRAM = re.compile(
    rb"^#!.{0,80}?\b(bash|sh|zsh|dash|ksh|fish|python[\d.]*|node|deno|bun|ruby|perl|php|pwsh|osascript)\b"
)
_PROGRAMS = (
    (b"\x7fELF", "a program for Linux"),
    (b"MZ", "a program for Windows"),
    (b"\xcf\xfa\xed\xfe", "a program for macOS"),
    (b"\xce\xfa\xed\xfe", "a program for macOS"),
    (b"\xfe\xed\xfa", "a program for macOS"),
    (b"\xca\xfe\xba\xbe", "a program for macOS or Java"),
    (b"\0asm", "a WebAssembly program"),
    (b"FasdUAS", "a compiled AppleScript"),
    (b"dex\n", "a program for Android"),
)
_COMPILED = load_names("compiled")
_ARCHIVES = word_set("zip tar gz tgz bz2 xz 7z rar zst whl crx vsix egg")


@dataclass(frozen=True, slots=True)
class File:
    """A file of a skill: its path below the root, its kind (a language, or empty) and its text."""

    name: str
    kind: str
    text: str


def read_files(root: str, traces: dict[str, Trace]) -> Iterator[File]:
    """Yield the files that can be read as text; report the others in the trace of their name."""
    room = MAX_TOTAL
    for name, path in _walk(root, traces):
        trace = traces.setdefault(name, Trace())
        try:
            size = os.path.getsize(path)
            with open(
                os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)), "rb"
            ) as stream:
                head = stream.read(4096)
                if _CACHE in name.split("/")[:-1]:
                    _check_cache(head, trace, name)
                    continue
                kind = _kind_of(name, head)
                if _is_binary(name, head, trace, os.fstat(stream.fileno()).st_mode & 0o111):
                    continue
                if size > min(MAX_FILE, room):
                    level = "note" if kind in ("", "data", "prose") else ""
                    trace.report(
                        "A09", f"has {size >> 10} KiB; only its beginning was checked", 1, level=level
                    )
                data = head + stream.read(max(0, min(MAX_FILE, room) - len(head)))
        except OSError as error:
            trace.report("A09", f"can't be read: {error.strerror or error}", 1)
            continue
        room -= len(data)
        yield File(name, kind, _decode(data, trace))


def _walk(root: str, traces: dict[str, Trace]) -> Iterator[tuple[str, str]]:
    """Yield the names and paths of regular files; report links that leave, and what can't be listed."""
    real = os.path.realpath(root)
    count = 0

    def below(path: str) -> str:
        return os.path.relpath(path, root).replace(os.sep, "/")

    def unreadable(error: OSError) -> None:
        name = below(str(error.filename))
        traces.setdefault(name, Trace()).report("A09", f"can't be read: {error.strerror or error}", 1)

    for directory, folders, names in os.walk(root, onerror=unreadable):
        for name in sorted([*folders, *names]):
            path = os.path.join(directory, name)
            if os.path.islink(path) and not paths.is_inside(os.path.realpath(path), real):
                _report_link(path, traces.setdefault(below(path), Trace()))
        folders[:] = sorted(name for name in folders if name not in _FOREIGN)
        for name in sorted(names):
            path = os.path.join(directory, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            count += 1
            if count > MAX_FILES:
                traces.setdefault(below(path), Trace()).report(
                    "A09", f"one of more than {MAX_FILES} files", 1
                )
                return
            yield below(path), path


def _report_link(path: str, trace: Trace) -> None:
    target = os.readlink(path)
    if indicators.is_secret(target):
        trace.report("A20", f"is a link to secrets: '{target}'", 1, target)
    else:
        trace.report("A09", f"is a link that leaves the skill: '{target}'", 1, target)


def _kind_of(name: str, head: bytes) -> str:
    base = name.rpartition("/")[2].lower()
    extension = base.rpartition(".")[2] if "." in base else ""
    kind, named = _BY_EXTENSION.get(extension, ""), _BY_NAME.get(base.partition(".")[0], "")
    kind = named if kind in ("", "prose") and named else kind
    if kind and kind not in ("data", "prose"):
        return kind
    program = _BY_PROGRAM.match(head)
    if program is None:
        return kind
    interpreter = program[1].decode()
    if interpreter in ("bash", "sh", "zsh", "dash", "ksh", "fish"):
        return "shell"
    return (
        "python"
        if interpreter.startswith("python")
        else "javascript"
        if interpreter in ("node", "deno", "bun")
        else "text"
    )


def _check_cache(head: bytes, trace: Trace, name: str) -> None:
    """Report bytecode that Python runs without a look at its source, which it never makes by itself."""
    if name.endswith((".pyc", ".pyo")) and head[4:8] == b"\1\0\0\0":
        trace.report("A08", "is bytecode that Python does not compare with its source", 1, name)
    if any(indicators.is_secret(text.decode()) for text in re.findall(rb"[ -~]{6,}", head)):
        trace.report("A20", "is bytecode that names a store of secrets", 1, name)


def _is_binary(name: str, head: bytes, trace: Trace, executable: int) -> bool:
    """Return whether a file is no text, and report programs and archives."""
    extension = name.rpartition(".")[2].lower()
    for magic, what in _PROGRAMS:
        if head.startswith(magic) and (magic != b"MZ" or b"\0" in head):
            trace.report("A08", f"is {what}, which can't be read", 1, name)
            return True
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" not in head:
        if extension in _COMPILED and head and extension not in ("bin", "com"):
            trace.report("A08", f"is named as a program (.{extension})", 1, name)
        return False
    if extension in _COMPILED:
        trace.report("A08", f"is a program or holds one (.{extension}), and can't be read", 1, name)
    elif extension in _ARCHIVES or head.startswith(
        (b"PK\x03\x04", b"\x1f\x8b", b"7z\xbc\xaf", b"Rar!", b"\xfd7zXZ")
    ):
        level = "note" if extension in _ARCHIVES or extension in _DOCUMENTS else "review"
        if extension not in _DOCUMENTS:
            trace.report("A08", "is an archive, which was not opened", 1, name, level)
    elif (
        executable
        and extension not in _DOCUMENTS
        and _BY_EXTENSION.get(extension) != "data"
        and extension not in _MEDIA
    ):
        trace.report("A08", "is executable and no text", 1, name)
    elif _BY_EXTENSION.get(extension) in ("shell", "python", "javascript", "markdown", "text"):
        trace.report("A09", "is no text, in spite of its name", 1, name)
    return True


_DOCUMENTS = load_names("documents")
_MEDIA = load_names("media")


def _decode(data: bytes, trace: Trace) -> str:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").replace("\r\n", "\n")
    text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")
