"""Put a compiled skill where an agent looks for it: a link, a junction or a copy [RFC-0001:C-DEPLOYMENT].

The deployed name is never missing or incomplete [D11]. A folder that skc did not put there is replaced
only with --force (E013), and not even then where a model asks; the folders of the skill itself never are.
"""

from __future__ import annotations

import os
import sys

from skillc import atomic, paths
from skillc.compiler.agents import Target
from skillc.errors import Diagnostic, InvalidOption, TargetExists, warning
from skillc.index.sections import parse_manifest, read_manifest
from skillc.library import Skill
from skillc.paths import is_inside
from skillc.startup import value
from skillc.text import utf8_text


@value
class Deployment:
    """What `build` put into an agent's folder; `method` is `symlink`, `junction` or `copy`."""

    target: str
    path: str
    method: str
    diagnostics: tuple[Diagnostic, ...] = ()


def deploy_skill(
    skill: Skill,
    runtime: str,
    target: Target,
    *,
    copy: bool = False,
    force: bool = False,
    own_only: bool = False,
) -> Deployment:
    """Deploy the compiled skill in `runtime` into an agent's directory.

    With `own_only`, a link or a folder that is there is replaced only if skc deployed it, `force` or not.
    """
    name, directory = target
    path = os.path.join(directory, skill.segment)
    _check_overlap(skill, runtime, path)
    if os.path.lexists(path):
        if own_only and not _is_deployment(path):
            raise TargetExists(
                path, "hint: skc did not deploy it; only 'skc build' in a terminal replaces it"
            )
        may_replace = force or _is_link(path)
        if not may_replace and parse_manifest(read_manifest(path)).get("source") != utf8_text(skill.source):
            raise TargetExists(path)
    os.makedirs(directory, exist_ok=True)
    diagnostics: tuple[Diagnostic, ...] = ()
    if not copy:
        try:
            return Deployment(name, path, _link(runtime, path))
        except (OSError, NotImplementedError, AttributeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            diagnostics = (warning("W030", path, f"links can't be made there ({reason})"),)
    _copy(runtime, path)
    return Deployment(name, path, "copy", diagnostics)


def _check_overlap(skill: Skill, runtime: str, path: str) -> None:
    """Raise InvalidOption for a target that is, contains or lies in a folder of the skill.

    The folder in a store may be a link, so parents are resolved, but not the last part.
    """
    place = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    entry = os.path.join(paths.skills_store(skill.root), skill.name) if skill.is_stored else skill.source
    for own in (skill.source, entry, runtime, os.path.realpath(runtime)):
        own = os.path.join(os.path.realpath(os.path.dirname(own)), os.path.basename(own))
        if is_inside(own, place):
            raise InvalidOption(f'--target would replace the skill itself at "{path}"')
        if is_inside(place, own):
            raise InvalidOption(f'--target is inside the skill itself: "{path}"')


def _is_link(path: str) -> bool:
    is_junction = getattr(os.path, "isjunction", os.path.islink)  # Python 3.12 and newer
    return os.path.islink(path) or bool(is_junction(path))


def _is_deployment(path: str) -> bool:
    """Return whether skc put a link or a folder there, and nothing was added since."""
    if not os.path.exists(path):
        return True  # a link to a runtime directory that is gone, or to nothing
    if not parse_manifest(read_manifest(path)).get("source"):
        return False
    own = {paths.stub_file(path), paths.manifest_file(path)}
    files = {os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names}
    return _is_link(path) or files == own


def _link(runtime: str, path: str) -> str:
    if sys.platform == "win32":
        import _winapi

        temporary = atomic.temporary_path(path)
        _winapi.CreateJunction(runtime, temporary)
        atomic.replace(temporary, path)
        return "junction"
    if not (os.path.islink(path) and os.readlink(path) == runtime):
        atomic.sweep(os.path.dirname(path))
        atomic.symlink(runtime, path)
    return "symlink"


def _copy(runtime: str, path: str) -> None:
    """Copy the stub and the manifest; index and logs stay in the runtime directory."""
    parts = [paths.stub_file, paths.manifest_file]
    if not _is_link(path) and all(_same(part(runtime), part(path)) for part in parts):
        return
    temporary = atomic.temporary_path(path)
    try:
        for part in parts:
            os.makedirs(os.path.dirname(part(temporary)), exist_ok=True)
            with open(part(runtime), "rb") as source, open(part(temporary), "xb") as copy:
                copy.write(source.read())
        atomic.replace(temporary, path)
    finally:
        atomic.discard(temporary)


def _same(one: str, other: str) -> bool:
    try:
        with open(one, "rb") as a, open(other, "rb") as b:
            return a.read() == b.read()
    except OSError:
        return False
