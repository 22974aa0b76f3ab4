"""Read what a skill declares: its tools, hooks, MCP servers and what runs when it is installed or opened."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from skillc.audit.commands import Read
from skillc.audit.findings import Asks, Trace, line_of
from skillc.audit.packages import check_source
from skillc.audit.patterns import check_setting, load_pattern, word_set
from skillc.skills.document import Document
from skillc.skills.tools import find_blocks
from skillc.text import first_of

MAX_VALUES = 5000  # of a file of settings
_SETTINGS = load_pattern("settings")
_INSTALL_SCRIPTS = ("preinstall", "install", "postinstall", "prepare", "prepublish", "preuninstall")
_SHELL_TOOLS = word_set("bash shell terminal execute run_command exec powershell code_execution computer *")
MAX_NAMES = 5


def check_frontmatter(fields: dict[str, Any], trace: Trace, read: Read, line_of: dict[str, int]) -> None:
    """Report hooks and servers in the frontmatter, and read their commands."""
    for key in ("hooks", "mcpServers", "mcp-servers", "mcp_servers"):
        if fields.get(key):
            line = line_of.get(key, 1)
            trace.report("A15", f"'{key}' in the frontmatter: an agent runs these by itself", line, key)
            _read_commands(fields[key], trace, read, line)


def check_settings(name: str, text: str, trace: Trace, read: Read) -> None:
    """Report hooks, servers and scripts of installation in a file of settings."""
    check_setting(name, text, trace)
    is_package = name.rpartition("/")[2] == "package.json"
    if not is_package and not _SETTINGS.search(name):
        return
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(value, dict):
        (_check_package if is_package else _check_agent)(value, text, trace, read)


def _check_package(value: dict[str, Any], text: str, trace: Trace, read: Read) -> None:
    scripts = value.get("scripts")
    for key in _INSTALL_SCRIPTS if isinstance(scripts, dict) else ():
        script = scripts.get(key) if isinstance(scripts, dict) else None
        if isinstance(script, str):
            line = line_of(text, f'"{key}"')
            trace.report("A15", f"'{key}' runs when the package is installed", line, key)
            read(trace, "shell", script, line, 1)

    for key in ("dependencies", "devDependencies", "optionalDependencies"):
        packages = value.get(key)
        for source in packages.values() if isinstance(packages, dict) else ():
            if isinstance(source, str) and "://" in source:
                check_source(source, trace, line_of(text, source))


def _check_agent(value: dict[str, Any], text: str, trace: Trace, read: Read) -> None:
    permissions = value.get("permissions")
    permissions = permissions if isinstance(permissions, dict) else {}
    if permissions.get("allow") or permissions.get("defaultMode") == "bypassPermissions":
        trace.report("A17", "lets an agent act without asking", line_of(text, '"permissions"'), "permissions")
    for key in ("hooks", "mcpServers", "tasks"):
        if value.get(key) and (key != "tasks" or "folderOpen" in text):
            line = line_of(text, f'"{key}"')
            trace.report("A15", f"'{key}': an agent runs these by itself", line, key)
            _read_commands(value[key], trace, read, line)


def _read_commands(value: Any, trace: Trace, read: Read, line: int) -> None:
    for entry in _find_tables(value):
        command, arguments = entry.get("command"), entry.get("args")
        if isinstance(command, str):
            rest = (
                [text for text in arguments if isinstance(text, str)] if isinstance(arguments, list) else []
            )
            read(trace, "shell", " ".join([command, *rest]), line, 1)
        url = entry.get("url")
        if isinstance(url, str):
            headers = entry.get("headers")
            values = headers.values() if isinstance(headers, dict) else ()
            sent = " ".join(f'-H "x: {text}"' for text in values if isinstance(text, str) and '"' not in text)
            read(trace, "shell", f"curl {sent} {url}", line, 1)


def _find_tables(value: Any) -> Iterator[dict[str, Any]]:
    stack, room = [value], MAX_VALUES
    while stack and room:
        room -= 1
        value = stack.pop()
        if isinstance(value, dict):
            yield value
            stack += value.values()
        elif isinstance(value, list):
            stack += value


def compare_declarations(document: Document, asks: Asks, trace: Trace, text: str) -> None:
    """Report what scripts and instructions use, and the frontmatter does not declare."""
    fields = document.frontmatter.fields if document.frontmatter else {}
    if fields.get("allowed-tools") is not None and asks.commands:
        message = _compare_tools(fields["allowed-tools"], asks.commands)
        if message:
            trace.report("A07", message, line_of(text, "allowed-tools:"))
    needs = fields.get("requires_capabilities")
    if isinstance(needs, list) and asks.commands and not any(str(n).lower() in _SHELL_TOOLS for n in needs):
        message = f"'requires_capabilities' has no shell, but the skill runs {_list(asks.commands)}"
        trace.report("A07", message, line_of(text, "requires_capabilities:"))
    if "version" in fields and find_blocks(document.data, document.body):
        if asks.hosts and fields.get("network") is not True:
            message = f"its tools have no 'network: true', but its scripts contact {_list(asks.hosts)}"
            trace.report("A07", message, 1)
        if asks.writes and fields.get("read_only") is True:
            message = f"its tools are 'read_only: true', but its scripts write {_list(asks.writes)}"
            trace.report("A07", message, line_of(text, "read_only:"))


def _compare_tools(declaration: Any, commands: tuple[str, ...]) -> str:
    """Return what 'allowed-tools' does not name, as a message; empty if it names all."""
    tools = list(_split_tools(declaration))
    shells = [inner for name, inner in tools if name.lower() in _SHELL_TOOLS or name.lower().endswith("bash")]
    if "" in shells or "*" in shells:
        return ""
    if not shells:
        return f"'allowed-tools' has no shell, but the skill runs {_list(commands)}"
    programs = {re.split(r"[\s:*]", pattern.strip())[0].rpartition("/")[2] for pattern in shells}
    others = [name for name in commands if name not in programs]
    return f"'allowed-tools' does not name {_list(others)}" if others else ""


def _split_tools(declaration: Any) -> Iterator[tuple[str, str]]:
    """Yield the tools of 'allowed-tools': name, and what is in parentheses."""
    texts = declaration if isinstance(declaration, list) else [declaration]
    for text in texts:
        for match in re.finditer(r"([\w*.-]{1,100})(?:\(([^()]{0,500})\))?", str(text)[:20_000]):
            yield match[1], match[2] or ""


def _list(names: Sequence[str]) -> str:
    return first_of(names, MAX_NAMES)
