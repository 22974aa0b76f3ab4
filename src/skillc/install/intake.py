"""Bring skills into a store: out of agents' directories, which keep a link, or as copies.

A folder of an agent is exchanged for a link in one step, so that the agent has the skill at every moment, and
the folder itself arrives in the store, with its history and all. Then it is built, and the link leads to the
compiled skill. A process that is killed leaves the folder in its place, or in the store with a link to it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from skillc import atomic, trash
from skillc.compiler import Publication, PublishOptions, build_skill, create_store, publish_skill
from skillc.errors import SkillcError, SkillExists, unexpected
from skillc.index import Pool, can_fork, count_cores
from skillc.install.survey import LINKED, MOVED, Plan, Skip, Step, is_same
from skillc.library import PROJECT, DeploymentRecord, Skill, record_deployments, record_import
from skillc.settings import Settings
from skillc.skills import hash_source, list_files
from skillc.startup import new_sha256

PIECE = 1 << 20  # bytes
PARALLEL_FROM = 8  # skills to build that are worth another process


@dataclass(slots=True)
class Intake:
    """What came of an import. `failures` are skills that could not be imported; they are where they were."""

    imported: list[Step] = field(default_factory=list)
    skipped: list[Skip] = field(default_factory=list)
    failures: list[tuple[Step, SkillcError]] = field(default_factory=list)
    publications: list[Publication] = field(default_factory=list)
    build_failures: list[tuple[str, SkillcError]] = field(default_factory=list)

    @property
    def succeeded(self) -> bool:
        return not (self.failures or self.build_failures or any(p.failures for p in self.publications))

    def add(self, other: Intake) -> None:
        """Add what another import did."""
        self.imported += other.imported
        self.skipped += other.skipped

    def as_json(self) -> dict[str, list[dict[str, str]]]:
        failures = [Skip(step.source, error.line()) for step, error in self.failures]
        return {
            "imported": [step.as_json() for step in self.imported],
            "skipped": [skip.as_json() for skip in (*self.skipped, *failures)],
        }


def preview(plan: Plan) -> Intake:
    """Return what an import would do."""
    imported = [step for step in plan.steps if step.how != LINKED]
    skips = [
        Skip(
            step.source, f"the same as '{step.destination}'; a link takes its place, the trash has the folder"
        )
        for step in plan.steps
        if step.how == LINKED
    ]
    return Intake(imported, [*plan.skips, *skips])


def bring_in(
    plan: Plan, settings: Settings, cwd: str, tell_step: Callable[[str], None] = lambda name: None
) -> Intake:
    """Carry out a plan. A skill that fails stays where it is, and the others are imported."""
    intake = Intake(skipped=list(plan.skips))
    arrivals: list[Step] = []
    for step in plan.steps:
        tell_step(step.name)
        try:
            _take(step, intake)
        except Exception as error:
            intake.failures.append((step, unexpected(error)))
            continue
        if step.target is not None:
            arrivals.append(step)
    _publish(arrivals, settings, cwd, intake)
    return intake


def _take(step: Step, intake: Intake) -> None:
    if step.store.scope == PROJECT:
        create_store(step.store.root)
    os.makedirs(step.store.folder, exist_ok=True)
    if step.how == LINKED:
        if not is_same(step.source, step.destination):  # it did not arrive there
            raise SkillExists(step.name)
        item = trash.put(step.source, "the same skill is in the store", link=step.destination)
        reason = f"the same as '{step.destination}', which is linked here now; 'skc restore {item.id}' has it"
        intake.skipped.append(Skip(step.source, reason))
        return
    if step.how == MOVED:
        _move(step)
    else:
        _make_copy(step)
    intake.imported.append(step)


def _move(step: Step) -> None:
    """Exchange an agent's folder for a link to its new place in the store."""
    if os.path.islink(step.source):
        return  # an import that was killed came as far as this
    _record(step, "")
    if not _exchange(step.source, step.destination):
        _make_copy(step)
        trash.put(step.source, "copied into the store by 'skc import'", link=step.destination)


def _exchange(place: str, destination: str) -> bool:
    """Swap a folder and a link to where the folder arrives; return whether the system can.

    Before, that link leads to itself: nothing sees a skill there.
    """
    if os.path.islink(destination) and os.readlink(destination) == destination:
        os.unlink(destination)
    try:
        os.symlink(destination, destination, target_is_directory=True)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError):
        return False
    if atomic.exchange(place, destination):
        return True
    os.unlink(destination)
    return False


def _make_copy(step: Step) -> None:
    """Copy a folder with its git history; links inside become the files they point to [D10]."""
    temporary = atomic.temporary_path(step.destination)
    os.mkdir(temporary)
    try:
        digest = _copy_files(step.source, temporary)
        history = os.path.join(step.source, ".git")
        if os.path.isdir(history) and not os.path.islink(history):
            shutil.copytree(history, os.path.join(temporary, ".git"), symlinks=True)
        _record(step, digest)
        if os.path.islink(step.destination):
            os.unlink(step.destination)  # it leads to itself: left by an import that was killed
        atomic.replace(temporary, step.destination, keep=_keep)
    finally:
        atomic.discard(temporary)


def _keep(path: str) -> None:
    """Put what appeared in the store meanwhile in the trash."""
    trash.put(path, "replaced by 'skc import'")


def _copy_files(source: str, folder: str) -> str:
    """Copy the files of a skill and return their digest, which a later build compares [D53]."""
    digests = []
    directories = {""}
    for file in list_files(source, hidden=True):
        parent, _, _ = file.name.rpartition("/")
        if parent not in directories:
            os.makedirs(os.path.join(folder, parent), exist_ok=True)
            directories.add(parent)
        copy = os.path.join(folder, file.name)
        whole = new_sha256()
        with open(file.path, "rb") as original, open(copy, "xb") as new:
            while piece := original.read(PIECE):
                whole.update(piece)
                new.write(piece)
        shutil.copystat(file.path, copy)
        digests.append((file.name, whole.hexdigest()))
    return hash_source(digests)


def _record(step: Step, digest: str) -> None:
    """Note that the skill came from elsewhere: its tools are not trusted until a person adopts it [D46]."""
    store = os.path.realpath(step.store.folder)
    record_import(os.path.join(store, step.name), os.path.realpath(step.source), digest)


def _publish(steps: Iterable[Step], settings: Settings, cwd: str, intake: Intake) -> None:
    """Build and deploy what came out of agents' directories, all on record at once."""
    targets: dict[str, list[Step]] = {}
    for step in steps:
        targets.setdefault(step.destination, []).append(step)
    skills = {path: _skill_of(group[0]) for path, group in targets.items()}
    _build_ahead(list(skills.values()), settings)
    records: list[DeploymentRecord] = []
    try:
        for path, group in targets.items():
            options = PublishOptions([step.target for step in group if step.target])
            try:
                publication = publish_skill(skills[path], options, settings, cwd, record=False)
            except Exception as error:
                intake.build_failures.append((skills[path].name, unexpected(error)))
                continue
            intake.publications.append(publication)
            records += publication.records()
    finally:
        record_deployments(records)


def _skill_of(step: Step) -> Skill:
    return Skill(
        step.name, os.path.realpath(step.destination), step.store.scope, step.store.root, is_stored=True
    )


def _build_ahead(skills: list[Skill], settings: Settings) -> None:
    """Build many skills on all cores; publishing them finds them built, and reports what failed."""
    workers = count_cores() if len(skills) >= PARALLEL_FROM and can_fork() else 0
    if workers > 1:
        for _ in Pool(_Builder, settings).run(skills, workers, fork=True):
            pass


class _Builder:
    """Builds skills in a worker; a failure is for the build that follows to report."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def __call__(self, skill: Skill) -> bool:
        try:
            build_skill(skill, tokenizer=self._settings.tokenizer, formats=self._settings.formats)
        except Exception:
            return False
        return True
