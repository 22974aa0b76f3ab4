"""Bring skills into a store: out of agents' directories, which keep a link, or as copies.

A folder of an agent is exchanged for a link in one step, so that the agent has the skill at every moment, and
the folder itself arrives in the store, with its history and all. Then it is built, and the link leads to the
compiled skill. A process that is killed leaves the folder in its place, or in the store with a link to it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from skillc import atomic, paths, trash
from skillc.compiler import Publication, PublishOptions, create_store, publish_skill, record_publications
from skillc.errors import InvalidOption, SkillcError, SkillExists, unexpected
from skillc.index import run_apart
from skillc.install.import_plan import (
    COPIED,
    LINKED,
    MOVED,
    ImportResult,
    Plan,
    Skip,
    Step,
    is_same,
    plan_import,
)
from skillc.install.lock import skill_of
from skillc.install.state import TellStep, ignore_step
from skillc.install.store import remember_skill
from skillc.library import record_imports
from skillc.library.records import lock_store
from skillc.settings import Settings
from skillc.skills import digest_files, make_folder
from skillc.surface import Here, Person
from skillc.text import count_of

PARALLEL_FROM = 8  # skills to build that are worth another process


def import_into_store(
    here: Here,
    *folders: str,
    agents: str = "",
    scope: str = "",
    from_locks: bool = False,
    dry_run: bool = False,
    yes: bool = False,
    accept_blocks: bool = False,
    hosts: Iterable[str] = (),
) -> ImportResult:
    """Bring the skills of agents and of folders into a store, or with `from_locks` those of lock files.

    `agents` are names with commas between them, or `all`; `scope` is `global` or `project`. A person is asked
    before agents' folders are moved; without one that takes `yes` [D68]. Raises InvalidOption for a no.
    """
    if from_locks:
        from skillc.install.import_locks import import_locks  # the audit and remotes: more than copying takes

        result = import_locks(here, folders, scope, accept=accept_blocks, hosts=hosts, dry_run=dry_run)
    else:
        result = _import_folders(here, plan_import(folders, agents, here.cwd, scope), dry_run, yes)
    here.tell(result.diagnostics)
    for step, error in result.failures:
        here.report(f"{error.line()} ({step.source})")
    for line in result.build_failures:
        here.report(line)
    here.renew_listings(dry_run)
    return result


def _import_folders(here: Here, plan: Plan, dry_run: bool, yes: bool) -> ImportResult:
    settings = here.settings()
    if dry_run:
        return preview(plan)
    if not yes and not _agree(plan, here.person):
        raise InvalidOption("nothing imported; --yes moves the folders without asking, --dry-run names them")
    with here.progress.steps(len(plan.steps), "skills") as steps:
        return bring_in(plan, settings, here.cwd, steps.step)


def _agree(plan: Plan, person: Person) -> bool:
    """Show what is about to move out of agents' directories, and ask; copies need no answer."""
    moves = [step for step in plan.steps if step.target]
    if not moves:
        return True
    lines = [f"{paths.short_path(step.source)} -> {paths.short_path(step.destination)}" for step in moves]
    what = f"{count_of(len(moves), 'folder')} of agents would go into the store; links take their places."
    text = "\n".join([*lines, what])
    return person.can_answer and person.confirm(text, "Move them?")


def preview(plan: Plan) -> ImportResult:
    """Return what an import would do."""
    way = "a link takes its place, the trash has the folder"
    same = [step for step in plan.steps if step.how == LINKED]
    skips = [Skip(step.source, f"the same as '{step.destination}'; {way}") for step in same]
    return ImportResult([step for step in plan.steps if step.how != LINKED], [*plan.skips, *skips])


def bring_in(plan: Plan, settings: Settings, cwd: str, tell_step: TellStep = ignore_step) -> ImportResult:
    """Carry out a plan. A skill that fails stays where it is, and the others are imported."""
    result = ImportResult(skipped=list(plan.skips))
    roots = sorted({step.root for step in plan.steps})
    for root in roots:
        if not paths.is_home(root):
            create_store(root)
        os.makedirs(paths.skills_store(root), exist_ok=True)
    steps = {how: [step for step in plan.steps if step.how == how] for how in (MOVED, COPIED, LINKED)}
    bringing = _Import(result, tell_step)
    with ExitStack() as stack:
        for root in roots:
            stack.enter_context(lock_store(root))
        _record([(step, "") for step in steps[MOVED] if not os.path.islink(step.source)])
        successes = bringing.each(steps[MOVED], bringing.move) + bringing.copy_all(steps[COPIED])
        result.imported.extend(successes)
        successes += bringing.each(steps[LINKED], bringing.link)
    result.skipped.extend(Skip(step.source, error.line()) for step, error in result.failures)
    _publish([step for step in successes if step.target], settings, cwd, result)
    return result


@dataclass(frozen=True, slots=True)
class _Import:
    """Brings skills into stores, which are locked; `copies` are temporary folders and digests, by source."""

    result: ImportResult
    tell_step: TellStep
    copies: dict[str, tuple[str, str]] = field(default_factory=dict)

    def each(self, steps: Iterable[Step], action: Callable[[Step], None]) -> list[Step]:
        """Do the steps, and return those that worked; the failures are for the report."""
        successes = []
        for step in steps:
            self.tell_step(step.name)
            try:
                action(step)
                successes.append(step)
            except Exception as error:
                self.result.failures.append((step, unexpected(error)))
        return successes

    def move(self, step: Step) -> None:
        """Exchange an agent's folder for a link to its new place in the store."""
        if os.path.islink(step.source):
            return  # an import that was killed came as far as this
        if not _exchange(step.source, step.destination):
            self._copy(step)
            self._place(step)
            trash.put(step.source, "copied into the store by 'skc import'", link=step.destination)

    def copy_all(self, steps: Sequence[Step]) -> list[Step]:
        """Copy folders with their git history, note them all at once, and then put them into the store."""
        try:
            ready = self.each(steps, self._copy)
            _record([(step, self.copies[step.source][1]) for step in ready])
            return replace(self, tell_step=ignore_step).each(ready, self._place)
        finally:
            for temporary, _ in self.copies.values():
                atomic.discard(temporary)

    def link(self, step: Step) -> None:
        """Put an agent's folder in the trash, and a link to the same skill of the store in its place."""
        if not is_same(step.source, step.destination):  # it did not arrive there
            raise SkillExists(step.name)
        item = trash.put(step.source, "the same skill is in the store", link=step.destination)
        way = f"which is linked here now; 'skc restore {item.id}' has it"
        self.result.skipped.append(Skip(step.source, f"the same as '{step.destination}', {way}"))

    def _copy(self, step: Step) -> None:
        """Copy a folder beside its place in the store; links inside become the files they point to [D10]."""
        temporary = atomic.temporary_path(step.destination)
        self.copies[step.source] = temporary, ""
        make_folder(temporary, copy_of=step.source)
        self.copies[step.source] = temporary, digest_files(temporary, hidden=True)  # for a later build [D53]
        history = os.path.join(step.source, ".git")
        if os.path.isdir(history) and not os.path.islink(history):
            shutil.copytree(history, os.path.join(temporary, ".git"), symlinks=True)

    def _place(self, step: Step) -> None:
        if os.path.islink(step.destination):
            os.unlink(step.destination)  # it leads to itself: left by an import that was killed

        def keep(path: str) -> None:  # what appeared in the store meanwhile
            memory = remember_skill(skill_of(step.root, step.name, step.destination))
            trash.put(path, "replaced by 'skc import'", memory=memory)

        atomic.replace(self.copies[step.source][0], step.destination, keep=keep)


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


def _record(imports: Collection[tuple[Step, str]]) -> None:
    """Note that skills come from elsewhere: their tools are not trusted until a person adopts them [D46]."""
    stores = {root: os.path.realpath(paths.skills_store(root)) for root in {step.root for step, _ in imports}}
    record_imports(
        *(
            (os.path.join(stores[step.root], step.name), os.path.realpath(step.source), digest)
            for step, digest in imports
        )
    )


def _publish(steps: Iterable[Step], settings: Settings, cwd: str, result: ImportResult) -> None:
    """Build and deploy what came out of agents' directories, on all cores; all go on record at once."""
    jobs: dict[str, list[Step]] = {}  # by the folder in the store, which several agents may share
    for step in steps:
        jobs.setdefault(step.destination, []).append(step)

    def publish(steps: list[Step]) -> Publication:
        skill = skill_of(steps[0].root, steps[0].name, steps[0].destination)
        options = PublishOptions([step.target for step in steps if step.target])
        return publish_skill(skill, options, settings, cwd, record=False)

    answers = run_apart(publish, list(jobs.values()), PARALLEL_FROM)
    with record_publications(result.diagnostics.extend) as publications:
        for folder, answer in zip(jobs, answers, strict=True):
            if isinstance(answer, Publication):
                publications.append(answer)
                result.diagnostics.extend(answer.diagnostics)
                result.build_failures.extend(error.text() for error in answer.failures)
            else:
                error = answer or SkillcError("the process that built it was ended")
                result.build_failures.append(f"{error.line()} ({os.path.realpath(folder)})")
