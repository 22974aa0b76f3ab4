"""config.toml: the few settings there are, their precedence, and warnings for what can't be used.

For each key the first of these that sets it: command line, environment, the nearest
project's `.skillc/config.toml`, the home's, the default. A file that can't be used is
one warning and ignored; settings never stop a command (RFC-0009).
"""

from __future__ import annotations

import os

from skillc import places
from skillc.errors import Diagnostic, notice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

VERSION = 1
TOKENIZERS = ("ascii", "cjk")


class Config:
    """The settings in force, and what was wrong with the files they came from."""

    __slots__ = ("diagnostics", "tokenizer")

    def __init__(self, tokenizer: str, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.tokenizer = tokenizer
        self.diagnostics = diagnostics


def load(cwd: str) -> Config:
    """The settings for a command run in `cwd`."""
    diagnostics: list[Diagnostic] = []
    layers = [_from_environment(diagnostics)]
    layers += [_read(path, diagnostics) for path in _files(cwd)]
    tokenizer = next((layer["tokenizer"] for layer in layers if "tokenizer" in layer), "ascii")
    return Config(tokenizer, tuple(diagnostics))


def _files(cwd: str) -> list[str]:
    projects = (places.config_file(root) for root in places.project_roots(cwd))
    nearest = next(filter(os.path.exists, projects), None)
    home = places.home()
    everywhere = places.config_file(home) if home else None
    return [path for path in (nearest, everywhere) if path and os.path.exists(path)]


def _from_environment(diagnostics: list[Diagnostic]) -> dict[str, str]:
    value = os.environ.get("SKILLC_TOKENIZER")
    if not value:
        return {}
    return _tokenizer(value, lambda message: diagnostics.append(notice("W071", "SKILLC_TOKENIZER", message)))


def _read(path: str, diagnostics: list[Diagnostic]) -> dict[str, str]:
    import tomllib  # here, because most homes have no config.toml and tomllib costs a whole command

    def warn(message: str) -> None:
        diagnostics.append(notice("W071", path, message))

    try:
        with open(path, "rb") as file:
            data = tomllib.load(file)
    except (OSError, ValueError, RecursionError) as error:
        warn(f"{getattr(error, 'strerror', None) or error}; the file is ignored")
        return {}
    version = data.pop("version", VERSION)
    if type(version) is not int or version < 1:
        warn("'version' must be a positive integer; the file is ignored")
        return {}
    if version > VERSION:
        warn(f"version {version} is newer than this skc knows ({VERSION}); reading what is known")
    return _settings(data, warn)


def _settings(data: dict[str, Any], warn: Callable[[str], None]) -> dict[str, str]:
    search = data.pop("search", {})
    if not isinstance(search, dict):
        warn("'search' must be a table")
        search = {}
    found = _tokenizer(search.pop("tokenizer"), warn) if "tokenizer" in search else {}
    for key in [*data, *(f"search.{key}" for key in search)]:
        warn(f"unknown key '{key}'")
    return found


def _tokenizer(value: object, warn: Callable[[str], None]) -> dict[str, str]:
    if isinstance(value, str) and value in TOKENIZERS:
        return {"tokenizer": value}
    warn(f"tokenizer must be one of {', '.join(TOKENIZERS)}, not {value!r}")
    return {}
