"""Put a compiled skill where an agent looks for it: a link, a junction or a copy [RFC-0001:C-DEPLOYMENT].

The deployed name is never missing or incomplete [D11]. A folder that skc did not put there is replaced
only with --force (E013), and not even then where a model asks; it goes to the trash [D52]. The folders of the
skill itself never are replaced.

In a project that git tracks, a link is relative, so that it survives a clone. Where git ignores the
runtime directory, as `skc init` sets it up, the deployed folder has a copy of the stub and relative links to
the scripts and assets of the source.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

from skillc import atomic, paths
from skillc.compiler.agents import Target
from skillc.compiler.assets import attach_assets, copy_assets
from skillc.compiler.on_demand import (
    AGENTS,
    POLICY,
    add_policy,
    is_on_demand,
    without_policy,
    write_on_demand,
)
from skillc.contract import hidden
from skillc.errors import Diagnostic, InvalidOption, TargetExists, warning
from skillc.index.sections import parse_manifest, read_manifest
from skillc.library import PROJECT, Skill, is_compiled, is_skill
from skillc.library.records import LISTED, ON_DEMAND, DeploymentRecord, read_deployments
from skillc.paths import is_inside
from skillc.quotes import shell_quote
from skillc.startup import file_sha256_hex, sha256_hex
from skillc.text import utf8_text

Keep = Callable[[str], object] | None


@dataclass(frozen=True, slots=True)
class Deployment:
    """A compiled skill in an agent's folder; `method` is `symlink`, `junction` or `copy`.

    A copy that was left as it was is not `is_new`: a person may have changed it since it was written.
    """

    target: str
    path: str
    method: str
    diagnostics: tuple[Diagnostic, ...] = hidden(())
    is_new: bool = hidden(True)
    state: str = hidden(LISTED)


def deploy_skill(
    skill: Skill,
    runtime: str,
    target: Target,
    *,
    copy: bool = False,
    force: bool = False,
    own_only: bool = False,
    state: str = LISTED,
) -> Deployment:
    """Deploy the compiled skill in `runtime` into an agent's directory, listed there or on demand.

    With `own_only`, a link or a folder that is there is replaced only if skc deployed it, `force` or not.
    """
    name, directory = target
    diagnostics: list[Diagnostic] = []
    if state == ON_DEMAND:
        runtime, problems = write_on_demand(skill.source, runtime, _assets_beside(skill, runtime))
        diagnostics += problems
    path = os.path.join(directory, skill.segment)
    _check_overlap(skill, runtime, path)
    in_project = skill.scope == PROJECT and is_inside(
        os.path.realpath(directory), os.path.realpath(skill.root)
    )
    is_foreign = os.path.lexists(path) and _is_foreign(skill, path)
    if own_only and is_foreign:
        raise TargetExists(path, "hint: skc did not deploy it; only 'skc build' in a terminal replaces it")
    is_ours = paths.is_link(path) or not os.path.lexists(path) or _is_deployed(skill, path, in_project)
    if not (force or is_ours):
        hint = f"hint: 'skc import {shell_quote(path)}' takes the skill there into the store"
        raise TargetExists(path, hint if is_skill(path) else "")
    os.makedirs(directory, exist_ok=True)

    def put_in_trash(old: str) -> None:
        diagnostics.append(_put_in_trash(skill, old, path))

    keep = put_in_trash if is_foreign else None
    renew = force and is_foreign  # an edit goes, also where stub and manifest are as they were
    if in_project and not copy and _is_ignored(runtime):
        is_new = _write_folder(skill, runtime, path, attach_assets, keep, renew=renew, state=state)
        return Deployment(name, path, "copy", tuple(diagnostics), is_new, state)
    if not copy:
        try:
            method = _link(runtime, path, in_project, keep)
            return Deployment(name, path, method, tuple(diagnostics), state=state)
        except (OSError, NotImplementedError, AttributeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            diagnostics.append(warning("W030", path, f"links can't be made there ({reason})"))
    is_new = _write_folder(skill, runtime, path, copy_assets, keep, renew=renew, state=state)
    return Deployment(name, path, "copy", tuple(diagnostics), is_new, state)


def _assets_beside(skill: Skill, runtime: str) -> list[str]:
    """Return the names in a runtime directory that the skill has as well."""
    names = [name for name in sorted(os.listdir(runtime)) if name[0] != "." and name != paths.SKILL_FILE]
    return [name for name in names if os.path.exists(os.path.join(skill.source, name))]


def record_of(skill: Skill, runtime: str, source_hash: str, deployment: Deployment) -> DeploymentRecord:
    """Return the record of a deployment; the digest of a copy is that of its folder, so that edits show."""
    digest = digest_folder(deployment.path) if deployment.method == "copy" else source_hash
    place = (deployment.target, deployment.path, deployment.method)
    return DeploymentRecord(skill.name, skill.source, runtime, *place, digest, deployment.state)


def digest_folder(path: str) -> str:
    """Return a digest of all files and links in a folder, without the manifest."""
    entries: list[tuple[str, str]] = []
    for directory, folders, files in os.walk(path):
        if directory == path and paths.DIRECTORY in folders:
            folders.remove(paths.DIRECTORY)
        for name in (*folders, *files):
            place = os.path.join(directory, name)
            relative = os.path.relpath(place, path)
            if os.path.islink(place):
                entries.append((relative, f"link {os.readlink(place)}"))
            elif name in files and not os.path.isfile(place):
                entries.append((relative, "no file"))  # a pipe would never end
            elif name in files:
                with open(place, "rb") as file:
                    entries.append((relative, file_sha256_hex(file, os.path.getsize(place))))
    return sha256_hex(repr(sorted(entries)).encode("utf-8", "surrogateescape"))


def source_of(folder: str) -> str:
    """Return the source that the manifest of a compiled skill names; empty without one."""
    source = parse_manifest(read_manifest(folder)).get("source")
    return source if isinstance(source, str) else ""


def _put_in_trash(skill: Skill, old: str, path: str) -> Diagnostic:
    from skillc import trash  # rarely needed

    return warning("W007", path, trash.put(old, f"replaced by 'skc build {skill.name}'", origin=path).id)


def _is_deployed(skill: Skill, path: str, in_project: bool) -> bool:
    """Return whether a folder is a deployed copy of this skill, perhaps in a clone of its project."""
    return (in_project and _is_generated(path)) or source_of(path) == utf8_text(skill.source)


def _is_generated(path: str) -> bool:
    """Return whether a folder has nothing but a stub with its manifest, and links."""
    if not source_of(path):
        return False
    with os.scandir(path) as entries:
        names = {e.name for e in entries if not e.is_symlink()} - {paths.SKILL_FILE, paths.DIRECTORY}
    if AGENTS in names and is_on_demand(path):
        with os.scandir(os.path.join(path, AGENTS)) as entries:
            names = {e.name for e in entries if not e.is_symlink()} - {POLICY} | names - {AGENTS}
    return not names and os.listdir(os.path.dirname(paths.manifest_file(path))) == ["manifest.json"]


def _is_ignored(path: str) -> bool:
    """Return whether git tracks the project and ignores this path in it."""
    import subprocess  # only for a deployment into a project

    # A project's own git configuration could name a program to run; the index is what would start it.
    options = ["-C", os.path.dirname(path), "-c", "core.fsmonitor=false"]
    command = ["git", *options, "check-ignore", "--no-index", "--quiet", path]
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=10).returncode == 0  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return False


def _check_overlap(skill: Skill, runtime: str, path: str) -> None:
    """Raise InvalidOption for a target that is, contains or lies in a folder of the skill.

    The folder in a store may be a link, so parents are resolved, but not the last part.
    """
    place = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    entry = os.path.join(paths.skills_store(skill.root), skill.name) if skill.is_stored else skill.source
    own_places = dict.fromkeys((skill.source, entry, runtime, os.path.realpath(runtime)))
    for own in dict.fromkeys(
        os.path.join(os.path.realpath(os.path.dirname(own)), os.path.basename(own)) for own in own_places
    ):
        if is_inside(own, place):
            raise InvalidOption(f"--target would replace the skill itself at '{path}'")
        if is_inside(place, own):
            raise InvalidOption(f"--target is inside the skill itself: '{path}'")


def _link(runtime: str, path: str, relative: bool, keep: Keep) -> str:
    if sys.platform == "win32":
        import _winapi

        temporary = atomic.temporary_path(path)
        _winapi.CreateJunction(runtime, temporary)
        atomic.replace(temporary, path, keep=keep)
        return "junction"
    target = runtime
    if relative:
        target = os.path.relpath(os.path.realpath(runtime), os.path.realpath(os.path.dirname(path)))
    if not (os.path.islink(path) and os.readlink(path) == target):
        atomic.sweep(os.path.dirname(path))
        atomic.symlink(target, path, keep=keep)
    return "symlink"


def _write_folder(
    skill: Skill,
    runtime: str,
    path: str,
    add_assets: Callable[[str, str, list[str]], object],
    keep: Keep,
    *,
    renew: bool,
    state: str,
) -> bool:
    """Make a folder with stub, manifest and assets, unless it is there; return whether it was made.

    With `renew` it is made in any case. Index and logs stay in the runtime directory, and so does what a
    person put there.
    """
    parts = [paths.stub_file, paths.manifest_file]
    assets = _assets_beside(skill, runtime)
    if state == ON_DEMAND:
        assets = without_policy(skill.source, assets)
    is_same = (
        not renew and not paths.is_link(path) and all(_same(part(runtime), part(path)) for part in parts)
    )
    is_same = is_same and is_on_demand(path) == (state == ON_DEMAND)
    if is_same and set(assets) <= set(os.listdir(path)):
        return False
    temporary = atomic.temporary_path(path)
    try:
        for part in parts:
            os.makedirs(os.path.dirname(part(temporary)), exist_ok=True)
            with open(part(runtime), "rb") as source, open(part(temporary), "xb") as copy:
                copy.write(source.read())
        add_assets(skill.source, temporary, assets)
        if state == ON_DEMAND:
            add_policy(skill.source, temporary, add_assets)
        atomic.replace(temporary, path, keep=keep)
    finally:
        atomic.discard(temporary)
    return True


def _is_foreign(skill: Skill, path: str) -> bool:
    """Return whether something is neither a link to a skill of ours nor a folder as a build wrote it."""
    if paths.is_link(path):
        is_own = os.path.realpath(path) == skill.source  # by an import, which deploys it next
        return os.path.exists(path) and not is_own and not is_compiled(path)
    digests = [record.digest for record in read_deployments() if record.path == path]
    return digests != [digest_folder(path)] if digests else not _is_generated(path)


def _same(one: str, other: str) -> bool:
    try:
        return is_file_with(other, paths.read_regular(one, sys.maxsize))
    except OSError:
        return False


def is_file_with(path: str, data: bytes) -> bool:
    """Return whether a regular file has these bytes; nothing else is read, a pipe would never end."""
    try:
        return paths.read_regular(path, len(data)) == data
    except OSError:
        return False
