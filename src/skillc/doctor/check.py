"""The result of a check, what all checks look at, and the repairs.

A repair is what `--fix` does: it returns what it did, and raises OSError or SkillcError where it can't. It
looks again before it changes anything: time has passed since the check.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skillc import paths
from skillc.compiler import DeploymentState, PublishOptions, inspect_deployment, publish_skill, renewal
from skillc.contract import hidden
from skillc.errors import SkillcError
from skillc.install import Waste
from skillc.library import PROJECT, Skill, at_path, is_skill
from skillc.library.records import DeploymentRecord, forget_deployments, read_deployments
from skillc.paths import short_path as short
from skillc.quotes import shell_quote
from skillc.settings import load_settings

OK, WARNING, ERROR = "ok", "warning", "error"


@dataclass(frozen=True, slots=True)
class Check:
    """A finding: `fix` is the command that puts it right; `repair` does so itself where that is safe.

    Without a name, it has that of the check (`examination`). `repair` returns what it did, and raises OSError
    or SkillcError.
    """

    name: str
    status: str
    message: str
    fix: str | None = None
    repair: Callable[[], str] | None = hidden(None)


def ok(message: str) -> Check:
    """Return that all is well, as the examination says if a check finds nothing else."""
    return Check("", OK, message)


def warn(message: str, fix: str | None = None, repair: Callable[[], str] | None = None) -> Check:
    return Check("", WARNING, message, fix, repair)


def fail(message: str, fix: str | None = None, repair: Callable[[], str] | None = None) -> Check:
    return Check("", ERROR, message, fix, repair)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the examination is made: the working directory, and the homes of skc and of the user."""

    cwd: str
    home: str | None
    user_home: str | None

    @property
    def own(self) -> str | None:
        """The home's `.skillc`, which may not exist."""
        return os.path.join(self.home, paths.DIRECTORY) if self.home else None


def build_command(source: str, records: Sequence[DeploymentRecord], *, force: bool = False) -> str:
    """Return the command that builds a skill and deploys it where these deployments are, in the same way."""
    words = ["skc", "build", shell_quote(source)]
    places = dict.fromkeys(os.path.dirname(record.path) for record in records)
    if places:
        words += ["--target", shell_quote(",".join(places))]
    # In a project `build` copies by itself where git ignores the runtime directory.
    copies = [record for record in records if record.method == "copy"]
    if any(not _is_in_project(record) for record in copies):
        words.append("--copy")
    return " ".join([*words, *(["--force"] if force else [])])


def _is_in_project(record: DeploymentRecord) -> bool:
    skill = at_path(record.source)
    return skill.scope == PROJECT and paths.is_inside(record.path, skill.root)


def rebuild(skill: Skill, cwd: str) -> str:
    """Build a skill again where it was built, and bring its deployed copies up to date."""
    own, *others = map(paths.manifest_file, skill.runtimes())
    to_global = not os.path.isfile(own) and any(map(os.path.isfile, others))
    publish_skill(skill, PublishOptions(to_global=to_global), load_settings(cwd), cwd)
    copies = [r for r in read_deployments() if r.source == skill.source and r.method == "copy"]
    for record in copies:
        if inspect_deployment(record) is DeploymentState.FOLDER:
            redeploy(record, cwd)
    return f"built '{skill.name}' again"


def redeploy(record: DeploymentRecord, cwd: str) -> str:
    """Build and deploy a skill again, over nothing but what we put there."""
    is_copy = record.method == "copy"
    if is_copy and inspect_deployment(record) is not DeploymentState.FOLDER:
        raise SkillcError(f"'{record.path}' was edited meanwhile")
    skill = at_path(record.source)
    if not is_skill(record.source) or not skill.is_stored:
        raise SkillcError(f"'{record.source}' is no skill of a store any more")
    options = renewal(skill, [record], PublishOptions(own_only=True))
    publication = publish_skill(skill, options, load_settings(cwd), cwd)
    for failure in publication.failures:
        raise failure
    return f"deployed '{skill.name}' again as '{short(record.path)}'"


def discard(waste: Waste) -> str:
    """Remove waste."""
    removal = waste.remove()
    if removal.is_kept:
        raise SkillcError(f"'{waste.path}' stays: {removal.detail}")
    return f"{'moved to the trash' if removal.is_trashed else 'removed'} '{short(waste.path)}'"


def unlink(path: str) -> str:
    """Remove a link that leads nowhere."""
    if os.path.islink(path) and not os.path.exists(path):
        os.unlink(path)
        forget_deployments([path])
    return f"removed the link '{short(path)}'"


def change_mode(path: str, add: int, remove: int) -> str:
    """Change the permissions of a file or directory of the user's own; never through a link."""
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode) or status.st_uid != os.geteuid():
        raise SkillcError(f"'{path}' is a link, or another user's")
    mode = stat.S_IMODE(status.st_mode)
    os.chmod(path, (mode | add) & ~remove)
    return f"set the permissions of '{short(path)}' to {(mode | add) & ~remove:o}"
