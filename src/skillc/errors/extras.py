"""Say what to install when an import fails because an extra is missing, and with which command.

with require_extra("registry"):
    import obstore

The command is the one for the way in which skc was installed: uv tool, pipx, pip or uv in an environment.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from skillc.errors import MissingExtra
from skillc.quotes import shell_quote

# By extra of pyproject.toml, but for those of agent frameworks.
_NEEDS = {
    "postgres": "a registry on PostgreSQL needs psycopg and its pool",
    "registry": "the files of a registry need obstore",
    "sign": "certificates and keys of signatures need cryptography",
    "sso": "sign-in by OpenID Connect and publishing from CI need joserfc",
}


class require_extra:  # noqa: N801 -- a class, because contextlib takes long to load
    """Raise MissingExtra where an import in the block fails because `extra` is not installed."""

    def __init__(self, extra: str) -> None:
        self._extra = extra

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, ImportError) or not is_foreign(error):
            return
        why = "" if isinstance(error, ModuleNotFoundError) else f", which can't be used ({error})"
        raise MissingExtra(f"{_NEEDS[self._extra]}{why}", self._extra) from None


def is_foreign(error: ImportError) -> bool:
    """Return whether a library can't be imported; for a module of Python's or of ours, it is a bug."""
    package = (error.name or "").partition(".")[0]
    return package != "skillc" and package not in sys.stdlib_module_names


def import_error(error: ImportError, framework: str, extra: str) -> MissingExtra:
    """Return the error for a framework that is not installed, too old, or hidden by a module of its name."""
    if isinstance(error, ModuleNotFoundError):
        return MissingExtra(f"{framework} is not installed", extra)
    return MissingExtra(f"{framework} can't be used ({error})", extra)


NAME = "skillc"


def install_command(extra: str = "") -> str:
    """Return the command that adds an extra to this installation, or that repairs it."""
    receipt = os.path.join(sys.prefix, "uv-receipt.toml")
    if os.path.isfile(receipt):
        return _uv_tool(receipt, extra) if extra else f"uv tool upgrade --reinstall {NAME}"
    if os.path.isfile(os.path.join(sys.prefix, "pipx_metadata.json")):
        return _pipx(extra) if extra else f"pipx reinstall {NAME}"
    # An installer takes what is installed for `skillc[extra]`, wherever it came from.
    words = shell_quote(f"{NAME}[{extra}]") if extra else f"--force-reinstall {shell_quote(_origin(NAME))}"
    python = shell_quote(sys.executable or "python3")
    return (
        f"uv pip install --python {python} {words}" if _is_uv_venv() else f"{python} -m pip install {words}"
    )


def _pipx(extra: str) -> str:
    """Return a command that names what the extra stands for: pipx adds no extra to what it has installed."""
    names = [line.partition(";")[0].strip() for line in _requirements(f"extra == '{extra}'")]
    return f"pipx inject {NAME} {' '.join(map(shell_quote, names))}"


def _uv_tool(receipt: str, extra: str) -> str:
    """Return a command that names all that uv has on record: it would drop what is not named again."""
    import tomllib

    try:
        with open(receipt, "rb") as file:
            records: list[dict[str, Any]] = tomllib.load(file)["tool"]["requirements"]
        extras = {
            extra,
            *(name for each in records if each["name"] == NAME for name in each.get("extras", ())),
        }
        others = [each["name"] for each in records if each["name"] != NAME]
    except (OSError, ValueError, LookupError, TypeError):
        extras, others = {extra}, []
    words = [shell_quote(_origin(f"{NAME}[{','.join(sorted(extras))}]"))]
    return " ".join(["uv tool install", *words, *(f"--with {shell_quote(name)}" for name in others)])


def required_libraries() -> list[str]:
    """Return the names of what every installation brings."""
    return [re.split(r"[^\w.-]", line)[0] for line in _requirements() if ";" not in line]


def _requirements(mark: str = "") -> list[str]:
    """Return the requirements of skillc's metadata that have a mark: `obstore>=0.12; extra == 'registry'`."""
    from importlib import metadata

    try:
        lines = metadata.requires(NAME) or []
    except metadata.PackageNotFoundError:
        return []  # a folder on the path
    return [line for line in (each.replace('"', "'") for each in lines) if mark in line]


def _origin(requirement: str) -> str:
    """Return the requirement with the address that skillc was installed from, unless that is an index."""
    import json
    from importlib import metadata

    try:
        record = json.loads(metadata.distribution(NAME).read_text("direct_url.json") or "{}")
        url, vcs = record["url"], record.get("vcs_info")
    except (metadata.PackageNotFoundError, OSError, ValueError, LookupError, TypeError):
        return requirement
    if vcs:
        revision = vcs.get("requested_revision")
        url = f"{vcs['vcs']}+{url}" + (f"@{revision}" if revision else "")
    return f"{requirement} @ {url}"


def _is_uv_venv() -> bool:
    """Return whether uv made this environment, and no pip is in it."""
    from importlib.util import find_spec

    try:
        with open(os.path.join(sys.prefix, "pyvenv.cfg"), encoding="utf-8", errors="replace") as file:
            return any(line.split("=")[0].strip() == "uv" for line in file) and find_spec("pip") is None
    except OSError:
        return False
