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
KEYS = {
    "": ("version", "registry", "search", "listing", "agents", "hook"),
    "search": ("tokenizer", "formats"),
    "listing": ("window", "budget", "fit"),
    "agents": ("default",),
    "hook": ("log_missed",),
}  # by table
OWN = ("registry", "listing", "agents", "hook")  # that count in the home's file alone
TOKENIZERS = ("ascii", "cjk")
WINDOW = 200_000  # tokens of a model, where nothing else is said
MAX_WINDOW = 100_000_000
FORMATS = ("csv", "json", "yaml", "toml", "code")


class Settings:
    """The settings in force, and diagnostics about the files they came from."""

    __slots__ = (
        "agents", "budget", "diagnostics", "fit", "formats", "log_missed", "registry", "tokenizer", "window",
    )  # fmt: skip

    def __init__(
        self,
        tokenizer: str,
        formats: frozenset[str],
        diagnostics: tuple[Diagnostic, ...],
        registry: str = "",
        window: int = WINDOW,
        agents: tuple[str, ...] = (),
        budget: int = 0,
        fit: bool = False,
        log_missed: bool = False,
    ) -> None:
        self.tokenizer = tokenizer
        self.formats = formats
        self.diagnostics = diagnostics
        # From the home's file alone [D76]:
        self.registry = registry  # that 'skc publish' and others write to
        self.window = window  # tokens of the model that listings are for
        self.budget = budget  # tokens of a listing where the agent has no budget; 0: a part of the window
        self.fit = fit  # whether listings are kept fitted
        self.log_missed = log_missed  # whether prompts that no skill fits are kept
        self.agents = agents  # that skills are deployed to where none are named [D70]


def load_settings(cwd: str) -> Settings:
    """Return the settings for a command run in `cwd`."""
    diagnostics: list[Diagnostic] = []
    layers = [_read_environment(diagnostics)]
    layers += [_read_file(path, diagnostics) for path in paths.config_files(cwd)]

    def first(key: str, default: Any) -> Any:
        return next((layer[key] for layer in layers if key in layer), default)

    return Settings(
        first("tokenizer", "ascii"),
        first("formats", frozenset()),
        tuple(diagnostics),
        first("registry", ""),
        first("window", WINDOW),
        first("agents", ()),
        first("budget", 0),
        first("fit", False),
        first("log_missed", False),
    )


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
    own: dict[str, Any] = {key: data.pop(key) for key in OWN if key in data}
    layer = _check(data, warn)
    root = paths.home()
    if root is not None and path == paths.config_file(root):
        layer |= _check_own(own, warn)
    elif own:
        warn(f"'{next(iter(own))}' counts in the home's config.toml alone, not in a project's")
    return layer


def _check_own(data: dict[str, Any], warn: Callable[[str], None]) -> dict[str, Any]:
    """Return the valid values of the keys that count in the home's file alone."""
    layer: dict[str, Any] = {}
    registry, listing, agents = data.get("registry", ""), data.get("listing", {}), data.get("agents", {})
    if not isinstance(registry, str):
        warn("'registry' must be an address, in quotes")
    elif registry:
        layer["registry"] = registry
    names = agents.pop("default", []) if isinstance(agents, dict) else None
    if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
        warn('\'agents\' must be a table with a list of names: default = ["claude", "codex"]')
    else:
        layer["agents"] = tuple(names)
        for key in agents:
            _warn_unknown(f"agents.{key}", warn)
    layer |= _check_hook(data.get("hook", {}), warn)
    if not isinstance(listing, dict):
        warn("'listing' must be a table")
        return layer
    for key, value in listing.items():
        if key not in KEYS["listing"]:
            _warn_unknown(f"listing.{key}", warn)
        elif type(value) is bool if key == "fit" else type(value) is int and 0 < value <= MAX_WINDOW:
            layer[key] = value
        else:
            kind = "true or false" if key == "fit" else "a number of tokens"
            warn(f"listing.{key} must be {kind}, not {value!r}")
    return layer


def _check_hook(hook: object, warn: Callable[[str], None]) -> dict[str, Any]:
    if not isinstance(hook, dict) or type(hook.get("log_missed", False)) is not bool:
        warn("'hook' must be a table with log_missed, which is true or false")
        return {}
    for key in hook.keys() - {*KEYS["hook"]}:
        _warn_unknown(f"hook.{key}", warn)
    return {"log_missed": hook.get("log_missed", False)}


def _check(data: dict[str, Any], warn: Callable[[str], None]) -> dict[str, Any]:
    """Return the known keys with valid values; warn about the rest."""
    search = data.pop("search", {})
    if not isinstance(search, dict):
        warn("'search' must be a table")
        search = {}
    layer: dict[str, Any] = {}
    if "tokenizer" in search:
        value = search.pop("tokenizer")
        if isinstance(value, str) and value in TOKENIZERS:
            layer["tokenizer"] = value
        else:
            warn(f"tokenizer must be one of {', '.join(TOKENIZERS)}, not {value!r}")
    if "formats" in search:
        value = search.pop("formats")
        if isinstance(value, list) and all(item in FORMATS for item in value):
            layer["formats"] = frozenset(value)
        else:
            warn(f"formats must be a list of {', '.join(FORMATS)}, not {value!r}")
    for key in [*data, *(f"search.{key}" for key in search)]:
        _warn_unknown(key, warn)
    return layer


def _warn_unknown(key: str, warn: Callable[[str], None]) -> None:
    from skillc.spelling import near_miss  # only on the way to a warning

    table, _, name = key.rpartition(".")
    warn(f"unknown key '{key}'{near_miss(name, KEYS.get(table, ()))}")
