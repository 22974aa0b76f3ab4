"""Find the packages that commands install or run, and whether they name one version."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from skillc.audit.findings import LineCounter, Trace
from skillc.audit.indicators import find_hosts
from skillc.audit.patterns import load_names, load_pattern, word_set

MAX_PACKAGES = 50  # of one command

# Programs that install, each with its verbs.
_INSTALLERS = {
    **dict.fromkeys(
        word_set("apt apt-get brew choco clawhub conda dnf gem mamba pip3 scoop snap winget yum"),
        word_set("install"),
    ),
    "apk": word_set("add"),
    "bun": word_set("add install x"),
    "cargo": word_set("install"),
    "code": word_set("--install-extension"),
    "composer": word_set("global require"),
    "deno": word_set("install"),
    "docker": word_set("pull run"),
    "dotnet": word_set("add tool"),
    "gh": word_set("extension"),
    "go": word_set("get install"),
    "npm": word_set("add exec i install"),
    "pacman": word_set("-S -Sy -Syu"),
    "pip": word_set("download install"),
    "pipx": word_set("install run"),
    "pnpm": word_set("add dlx i install"),
    "podman": word_set("pull run"),
    "poetry": word_set("add"),
    "uv": word_set("add pip tool"),
    "yarn": word_set("add dlx global"),
}
_RUNNERS = word_set("npx uvx bunx pnpx")  # they run a package by its name
_PACKAGERS = word_set("pip pip3 pipx uv poetry npm pnpm yarn bun conda gem") | _RUNNERS
_SOURCE_VERBS = word_set("install add i download config run exec dlx x tool pip")
_RUN_VERBS = word_set("run exec dlx x")
_MORE_VERBS = word_set("install run tool add global require marketplace")
_WITH_VALUE = load_names("package-with-value")
_PLACEHOLDER = re.compile(r"^[<\[{]|^\$|^your[-_]|^my[-_]|\.\.\.", re.IGNORECASE)


def note_packages(name: str, texts: Sequence[str], trace: Trace, line: int) -> None:
    """Take note of what a command installs, or downloads and runs; `texts` are its arguments."""
    if name in _RUNNERS:
        package = _find_runner_package(texts)
        if package:
            _check_sources(name, ("install", package), trace, line)
            _note_run(name, package, trace, line)
        return
    if name in ("python", "python3") and list(texts[:2]) == ["-m", "pip"]:
        name, texts = "pip", texts[2:]
    _check_sources(name, texts, trace, line)
    verbs = _INSTALLERS.get(name, frozenset())
    at = next((number for number, text in enumerate(texts[:3]) if text in verbs), None)
    if at is None:
        return
    rest = list(texts[at + 1 :])
    while rest and rest[0] in _MORE_VERBS:
        rest = rest[1:]
    packages = _list_packages(rest)[:MAX_PACKAGES]
    if texts[at] in _RUN_VERBS:
        for package in packages[:1]:
            _note_run(name, package, trace, line)
        return
    for package in packages:
        if name == "go":
            _note_run(name, package, trace, line)
        else:
            trace.ask("installs", f"{name} {package}", line)
            trace.report("A05", f"'{name}' installs {package}", line, package)


def _check_sources(name: str, texts: Sequence[str], trace: Trace, line: int) -> None:
    """Report what a command installs from an address, or from another index."""
    if name not in _PACKAGERS or not {*texts[:3]} & _SOURCE_VERBS:
        return
    before = ""
    for text in texts:
        option, _, value = text.partition("=")
        if (_INDEX_OPTION.fullmatch(before) and "://" in text) or re.match(
            r"(?:[\w.-]+@)?(?:git\+)?\w+://", text
        ):
            check_source(text, trace, line)
        elif value and _INDEX_OPTION.fullmatch(option):
            check_source(value, trace, line)
        before = text


def _note_run(name: str, package: str, trace: Trace, line: int) -> None:
    trace.ask("installs", f"{name} {package}", line)
    if not is_pinned(package):
        trace.report("A06", f"'{name}' runs the newest {package}", line, package)


def is_pinned(package: str) -> bool:
    """Return whether a package names one version.

    >>> is_pinned("prettier@3.1.0"), is_pinned("prettier@latest"), is_pinned("redis:7.2"), is_pinned("x==1")
    (True, False, True, True)
    """
    if package.startswith((".", "/")) or package.endswith((".whl", ".tgz")):
        return True
    version = re.search(r"(?:==|(?<=.)@|:|@sha256:)v?([\w.^~*-]+)$", package)
    return version is not None and bool(re.match(r"\d|[0-9a-f]{7,64}$", version[1]))


def _list_packages(texts: Sequence[str]) -> list[str]:
    packages: list[str] = []
    is_value = False
    for text in texts:
        if is_value:
            is_value = False
        elif text.startswith("-"):
            is_value = text in _WITH_VALUE
        elif re.match(r"[@\w./]", text) and not _PLACEHOLDER.search(text) and text not in (".", "..", "./"):
            packages.append(text)
    return packages


def _find_runner_package(texts: Sequence[str]) -> str:
    for number, text in enumerate(texts):
        if text in ("-p", "--package", "--from") and number + 1 < len(texts):
            return texts[number + 1]
        if text.startswith("--package="):
            return text.partition("=")[2]
    return next(iter(_list_packages(texts)), "")


def check_requirements(name: str, text: str, trace: Trace) -> None:
    """Report what a list of packages gets from an address, or from another index than everybody's."""
    if not _LISTS.search(name):
        return
    counter = LineCounter(text)
    for match in islice(_ELSEWHERE.finditer(text), MAX_PACKAGES):
        group = match.lastindex or 0
        known = _INDEXES if _STRICT.search(name) else frozenset[str]()
        check_source(match[group], trace, counter.at(match.start(group)), known)


def check_source(address: str, trace: Trace, line: int, known: frozenset[str] = frozenset()) -> None:
    """Report a package or an index at an address, unless its host is known; by default forges are."""
    for host in find_hosts(address if "://" in address else f"https://{address}"):
        trace.ask("hosts", host, line)
        if host not in (known or _INDEXES | _FORGES):
            trace.report("A05", f"packages come from '{address}', which is no registry", line, host, "review")


_INDEXES = load_names("indexes")
_FORGES = load_names("forges")
_STRICT = re.compile(r"\.(?:txt|in|conf|ya?ml)$|rc$|Pipfile$|pyproject\.toml$")  # a forge is no index there
_LISTS = load_pattern("lists")
_ELSEWHERE = load_pattern("elsewhere")
_INDEX_OPTION = re.compile(r"--(?:extra-)?index(?:-url)?|-i|--registry|--find-links|-f|--trusted-host")
