"""Read the settings of config.toml, with warnings for values that can't be used.

The first of these that sets a key wins: command line, environment, the nearest project's
`.skillc/config.toml`, the home's, the default. A file that can't be used is ignored with a warning;
settings never stop a command (RFC-0009).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from skillc import paths
from skillc.errors import Diagnostic, warning

VERSION = 1
MAX_FILE = 1 << 18  # bytes of a config.toml
MAX_KEY = 100  # parts of a dotted key in a TOML file
OWN = ("registry", "listing", "agents", "hook", "trust")  # that count in the home's file alone
TRUST = "trust"  # which signers are accepted: `origins` reads it, and takes no faulty one for none
TOKENIZERS = ("ascii", "cjk")
WINDOW = 200_000  # tokens of a model, where nothing else is said
MAX_WINDOW = 100_000_000
FORMATS = ("csv", "json", "yaml", "toml", "code")
_AGENTS = '\'agents\' must be a table with a list of names: default = ["claude", "codex"]'
_HOOK = "'hook' must be a table with log_missed, which is true or false"
_TABLES = {  # with what is said of one that is none
    "search": "'search' must be a table",
    "listing": "'listing' must be a table",
    "agents": _AGENTS,
    "hook": _HOOK,
}


def _is_size(value: object) -> bool:
    return type(value) is int and 0 < value <= MAX_WINDOW


def _is_switch(value: object) -> bool:
    return type(value) is bool


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) and name for name in value)


# Whether a value will do, and what is said of one that won't.
_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "registry": (lambda value: isinstance(value, str), "'registry' must be an address, in quotes"),
    "search.tokenizer": (
        lambda value: isinstance(value, str) and value in TOKENIZERS,
        f"tokenizer must be one of {', '.join(TOKENIZERS)}, not {{!r}}",
    ),
    "search.formats": (
        lambda value: isinstance(value, list) and all(item in FORMATS for item in value),
        f"formats must be a list of {', '.join(FORMATS)}, not {{!r}}",
    ),
    "listing.window": (_is_size, "listing.window must be a number of tokens, not {!r}"),
    "listing.budget": (_is_size, "listing.budget must be a number of tokens, not {!r}"),
    "listing.fit": (_is_switch, "listing.fit must be true or false, not {!r}"),
    "agents.default": (_are_names, _AGENTS),
    "hook.log_missed": (_is_switch, _HOOK),
}


class Settings:
    """The settings in force, and diagnostics about the files they came from."""

    tokenizer: str = "ascii"
    formats: frozenset[str] = frozenset()
    # From the home's file alone [D76]:
    registry: str = ""  # that 'skc publish' and others write to
    window: int = WINDOW  # tokens of the model that listings are for
    budget: int = 0  # tokens of a listing where the agent has no budget; 0: a part of the window
    fit: bool = False  # whether listings are kept fitted
    log_missed: bool = False  # whether prompts that no skill fits are kept
    agents: tuple[str, ...] = ()  # that skills are deployed to where none are named [D70]

    def __init__(self, values: dict[str, Any], diagnostics: tuple[Diagnostic, ...]) -> None:
        vars(self).update(values)
        self.diagnostics = diagnostics


def load_settings(cwd: str) -> Settings:
    """Return the settings for a command run in `cwd`."""
    diagnostics: list[Diagnostic] = []
    layers = [_read_environment(diagnostics)]
    layers += [_read_file(path, diagnostics) for path in paths.config_files(cwd)]
    values: dict[str, Any] = {}
    for layer in reversed(layers):
        values |= layer
    return Settings(values, tuple(diagnostics))


def _read_environment(diagnostics: list[Diagnostic]) -> dict[str, Any]:
    value = os.environ.get("SKILLC_TOKENIZER")
    data = {"search": {"tokenizer": value}} if value else {}
    return _check(data, lambda message: diagnostics.append(warning("W071", "SKILLC_TOKENIZER", message)))


def parse_toml(text: str, **options: Any) -> dict[str, Any]:
    """Return the tables of a TOML text; raise ValueError or RecursionError for any other.

    The time and memory that `tomllib` takes for a dotted key grow with the square of its parts.
    """
    import re
    import tomllib  # slow to import, and most homes have no config.toml

    part = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
    if text.count(".") >= MAX_KEY and re.search(rf"(?<![\w-])(?:{part}\.[ \t]*+){{{MAX_KEY}}}", text):
        raise ValueError(f"a key has more than {MAX_KEY} parts")
    return tomllib.loads(text.removeprefix("\ufeff"), **options)  # which some editors put before a text


def _read_file(path: str, diagnostics: list[Diagnostic]) -> dict[str, Any]:
    def warn(message: str) -> None:
        diagnostics.append(warning("W071", path, message))

    try:
        data = parse_toml(paths.read_regular(path, MAX_FILE).decode())
    except (OSError, ValueError, RecursionError) as error:
        warn(f"{getattr(error, 'strerror', None) or error}; the file is ignored")
        return {}
    version = data.pop("version", VERSION)
    if type(version) is not int or version < 1:
        warn("'version' must be a positive integer; the file is ignored")
        return {}
    if version > VERSION:
        warn(f"version {version} is newer than this skc knows ({VERSION}); reading what is known")
    root = paths.home()
    own = [key for key in data if key in OWN]
    if own and not (root is not None and path == paths.config_file(root)):
        warn(f"'{own[0]}' counts in the home's config.toml alone, not in a project's")
        data = {key: value for key, value in data.items() if key not in OWN}
    return _check(data, warn)


def _check(data: dict[str, Any], warn: Callable[[str], None]) -> dict[str, Any]:
    """Return the valid values of the known keys by the names of settings; warn about the rest."""
    values: dict[str, Any] = {}
    pairs = [(name, value) for name, value in data.items() if name not in (*_TABLES, TRUST)]
    for table, text in _TABLES.items():
        content = data.get(table, {})
        if isinstance(content, dict):
            pairs += [(f"{table}.{key}", value) for key, value in content.items()]
        else:
            warn(text)
    for name, value in pairs:
        if name not in _RULES:
            _warn_unknown(name, warn)
            continue
        is_good, text = _RULES[name]
        if is_good(value):
            key = "agents" if name == "agents.default" else name.rpartition(".")[2]
            values[key] = _CLASSES.get(key, lambda same: same)(value)
        else:
            warn(text.format(value))
    return values


_CLASSES: dict[str, Callable[[Any], Any]] = {"formats": frozenset, "agents": tuple}


def _warn_unknown(key: str, warn: Callable[[str], None]) -> None:
    from skillc.spelling import near_miss  # only on the way to a warning

    table, _, name = key.rpartition(".")
    names = ["version", *_TABLES, TRUST] if not table else []
    names += [own for rule in _RULES for place, _, own in [rule.rpartition(".")] if place == table]
    warn(f"unknown key '{key}'{near_miss(name, names)}")
