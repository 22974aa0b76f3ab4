"""Ask on the terminal, and decide with `skc trust`, which variables a project's skills.toml may use."""

from __future__ import annotations

import os

from skillc import library, paths
from skillc.cli import show
from skillc.cli.approval import confirm, terminal
from skillc.cli.syntax import Arguments
from skillc.errors import InvalidOption, SkillcError
from skillc.text import one_line


def ask_for_variables(cwd: str) -> None:
    """Ask for each variable that the project of `cwd` wants to use, if there is a person to ask."""
    if not terminal():
        return
    try:
        uses = library.variables_asked_for(library.SkillsConfig.load(cwd))
    except SkillcError:
        return  # the command itself says what is wrong
    for use in uses:
        text = f"The skills.toml of the project '{use.project}' uses a variable of your environment."
        question = f"Let it send {use.variable} to {use.host}?"
        if confirm(one_line(text), one_line(question)):
            library.allow_variables([use])


def trust_variable(arguments: Arguments) -> int:
    """Allow a variable for a host in the project around the working directory, or take that back."""
    action, variable, host = (arguments.optional(name) for name in ("action", "variable", "host"))
    if action not in ("allow", "prune") or arguments.optional("skill") or not (variable and host):
        raise InvalidOption("usage: skc trust allow|prune --variable <name> --host <host>")
    config = library.SkillsConfig.load(paths.current_directory())
    if action == "allow":
        uses = library.variables_used(config)
        matches = [use for use in uses if (use.variable, use.host) == (variable, host)]
        if not matches:
            wishes = "; ".join(f"{use.variable} for {use.host}" for use in uses) or "none"
            raise InvalidOption(f"the project here does not use {variable} for {host}; it uses {wishes}")
        library.allow_variables(matches)
    else:
        roots = {os.path.realpath(root) for root in paths.library_roots(paths.current_directory())}
        matches = library.forget_variables(
            lambda use: use.project in roots and (use.variable, use.host) == (variable, host)
        )
    verb = "Allowed" if action == "allow" else "Forgot"
    lines = [one_line(f"{verb} {use.variable} for {use.host} in {use.project}") for use in matches]
    value = {"variables": matches}
    return show(arguments, value, lines or ["Nothing to forget."])
