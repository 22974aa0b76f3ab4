"""Put a compiled skill where an agent looks for it: a link, a junction or a copy [RFC-0001:C-DEPLOYMENT].

The deployed name is never missing and never half there [D11]. What skc did not put there is only
replaced with --force (E013), and what the skill itself lives in is never replaced.
"""

from __future__ import annotations

import os
import sys

from skillc import atomic, paths
from skillc.errors import InvalidOption, TargetExists, warning
from skillc.index import manifest
from skillc.paths import is_inside
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.compiler.agents import Target
    from skillc.errors import Diagnostic
    from skillc.library import Skill


class Deployment:
    """Where a skill was deployed and how: `symlink`, `junction` or `copy`."""

    __slots__ = ("diagnostics", "method", "path", "target")

    def __init__(self, target: str, path: str, method: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        self.target = target
        self.path = path
        self.method = method
        self.diagnostics = diagnostics


def deploy_skill(
    skill: Skill, runtime: str, target: Target, *, copy: bool = False, force: bool = False
) -> Deployment:
    """Deploy the compiled skill in `runtime` into an agent's directory."""
    path = os.path.join(target.directory, skill.segment)
    _keep_off(skill, runtime, path)
    _check(skill, path, force)
    os.makedirs(target.directory, exist_ok=True)
    if not copy:
        try:
            return Deployment(target.name, path, _link(runtime, path))
        except (OSError, NotImplementedError, AttributeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            noticed = (warning("W030", path, f"links can't be made there ({reason})"),)
            _copy(runtime, path)
            return Deployment(target.name, path, "copy", noticed)
    _copy(runtime, path)
    return Deployment(target.name, path, "copy")


def _keep_off(skill: Skill, runtime: str, path: str) -> None:
    """Refuse a target that is the skill, its place in a store (which may be a link), around it or in it."""
    place = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    stored = os.path.join(paths.skills_store(skill.root), skill.name) if skill.is_stored else skill.source
    for own in (skill.source, stored, runtime, os.path.realpath(runtime)):
        own = os.path.join(os.path.realpath(os.path.dirname(own)), os.path.basename(own))
        if is_inside(own, place):
            raise InvalidOption(f'--target would replace the skill itself at "{path}"')
        if is_inside(place, own):
            raise InvalidOption(f'--target is inside the skill itself: "{path}"')


def _check(skill: Skill, path: str, force: bool) -> None:
    """Refuse to replace what skc did not put there, unless forced."""
    if not os.path.lexists(path) or _is_link(path):
        return
    if not force and manifest.parse(manifest.read(path)).get("source") != utf8_text(skill.source):
        raise TargetExists(path)


def _is_link(path: str) -> bool:
    if os.path.islink(path):
        return True
    is_junction = getattr(os.path, "isjunction", None)  # Python 3.12 and newer
    return bool(is_junction and is_junction(path))


def _link(runtime: str, path: str) -> str:
    if sys.platform == "win32":
        import _winapi

        temporary = atomic.beside(path)
        _winapi.CreateJunction(runtime, temporary)
        atomic.replace(temporary, path)
        return "junction"
    if not (os.path.islink(path) and os.readlink(path) == runtime):
        atomic.sweep(os.path.dirname(path))
        atomic.symlink(runtime, path)
    return "symlink"


def _copy(runtime: str, path: str) -> None:
    """The stub and the manifest; index and logs stay in the runtime directory."""
    parts = [paths.stub_file, paths.manifest_file]
    if not _is_link(path) and all(_same(part(runtime), part(path)) for part in parts):
        return
    temporary = atomic.beside(path)
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
