"""Which agents read a folder that several share: what people call it."""

from __future__ import annotations

import os
from collections.abc import Iterable

from skillc import compiler, paths
from skillc.library.records import is_path_target
from skillc.listing.rules import read_rules


def describe_targets(targets: Iterable[compiler.Target]) -> list[str]:
    """Return what people call targets: a shared folder with the agents that are here and read it.

    shared (.agents/skills): codex, gemini-cli
    """
    here = compiler.agents_here()
    return [_describe(name, directory, here) for name, directory in targets]


def join_targets(targets: Iterable[compiler.Target]) -> str:
    """Return what people call targets in one line: those of one agent each come first."""
    labels = describe_targets(targets)
    single = ", ".join(label for label in labels if ":" not in label)
    return "; ".join(filter(None, (single, *(label for label in labels if ":" in label))))


def _describe(name: str, directory: str, here: Iterable[compiler.Agent]) -> str:
    shared = next((each for each in compiler.SHARED if directory.endswith(os.path.join(os.sep, each))), "")
    if not shared or is_path_target(name):
        return name
    is_user = directory == os.path.join(paths.user_home() or os.sep, *shared.split("/"))
    rules = read_rules()
    readers = []
    for agent in here:
        rule = rules.get(agent.name)
        folders = () if rule is None else rule.user if is_user else rule.project
        if shared in (agent.user if is_user else agent.project, *folders):
            readers.append(agent.name)
    return f"shared ({shared}){': ' if readers else ''}{', '.join(readers)}"
