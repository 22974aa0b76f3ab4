"""A skill on demand: a second runtime of a skill, which agents leave out of their listings [D75].

It is in the `.skillc-meta` of the compiled skill: the same stub with `disable-model-invocation: true`, which
Claude Code and Copilot obey, and `agents/openai.yaml` with a policy that Codex obeys, besides the scripts and
assets. The author's folder is as it was, so the author's own field and file count again when the skill is
listed. Agents that know neither have a skill on demand by not having it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable

from skillc import atomic, paths
from skillc.compiler.assets import attach_assets, find_assets
from skillc.errors import Diagnostic
from skillc.index.sections import read_manifest
from skillc.skills.document import NotYaml, load_yaml, parse

FIELD = "disable-model-invocation"
AGENTS, POLICY = "agents", "openai.yaml"
MARK = b"# Written by skc with every build: this skill is on demand here. 'skc listing set' lists it again.\n"
MAX_POLICY = 1 << 16  # bytes

AddAssets = Callable[[str, str, list[str]], object]


def write_on_demand(source: str, runtime: str, assets: Iterable[str]) -> tuple[str, tuple[Diagnostic, ...]]:
    """Write the runtime on demand beside the compiled skill, or bring it up to date; return its directory."""
    directory = paths.on_demand_directory(runtime)
    os.makedirs(os.path.dirname(paths.manifest_file(directory)), exist_ok=True)
    diagnostics = attach_assets(source, directory, without_policy(source, assets))
    add_policy(source, directory, attach_assets)
    with open(paths.stub_file(runtime), "rb") as file:
        stub = file.read()
    _write(paths.stub_file(directory), hide_stub(stub))
    _write(paths.manifest_file(directory), read_manifest(runtime))
    return directory, diagnostics


def hide_stub(stub: bytes) -> bytes:
    """Return a stub with the field that keeps it out of listings.

    >>> hide_stub(b"---\\nname: pdf\\n---\\nText\\n").decode().splitlines()[2]
    'disable-model-invocation: true'
    """
    text = stub.decode("utf-8", "replace")
    front = parse(stub).frontmatter
    own = front.sources().get(FIELD) if front and FIELD in front.fields else None
    line = f"\n{FIELD}: true\n"
    if own is None:
        return text.replace("\n---\n", f"{line}---\n", 1).encode()
    return text.replace(f"\n{own}\n", line, 1).encode()


def without_policy(source: str, assets: Iterable[str]) -> list[str]:
    """Return the assets of a skill without the folder that the policy is put into."""
    return [name for name in assets if name != AGENTS or os.path.isfile(os.path.join(source, name))]


def add_policy(source: str, directory: str, add_assets: AddAssets) -> None:
    """Put `agents` beside a stub on demand: the author's files, and the policy that makes it so."""
    own, folder = os.path.join(source, AGENTS), os.path.join(directory, AGENTS)
    if os.path.isfile(own):
        return  # a file of the author's has that name
    os.makedirs(folder, exist_ok=True)
    try:
        names = find_assets(name for name in os.listdir(own) if name[0] != "." and name != POLICY)
    except OSError:
        names = []
    add_assets(own, folder, names)
    _write(os.path.join(folder, POLICY), MARK + _hide_policy(os.path.join(own, POLICY)))


def is_on_demand(folder: str) -> bool:
    """Return whether a deployed folder is of a skill on demand, perhaps in a clone of its project."""
    path = os.path.join(folder, AGENTS, POLICY)
    try:
        return not os.path.islink(path) and paths.read_regular(path, MAX_POLICY + len(MARK)).startswith(MARK)
    except OSError:
        return False


def _hide_policy(path: str) -> bytes:
    try:
        value = load_yaml(paths.read_regular(path, MAX_POLICY).decode("utf-8", "replace")).value
    except (OSError, NotYaml):
        value = None
    own = value if isinstance(value, dict) else {}
    policy = own.get("policy")
    others = policy if isinstance(policy, dict) else {}
    hidden = {"policy": {**others, "allow_implicit_invocation": False}}
    try:
        text = json.dumps(own | hidden, indent=1, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):  # nothing that JSON knows
        text = json.dumps(hidden, indent=1)
    return f"{text}\n".encode("utf-8", "replace")


def _write(path: str, data: bytes) -> None:
    try:
        if paths.read_regular(path, len(data)) == data:
            return
    except OSError:
        pass
    atomic.write(path, data)
