"""Operations that change what is here: bring skills in, build them, keep them current, take them out.

They are methods of `Workspace`, so that the command line, MCP and Python call the same. Each finds what it
needs in the working directory and gives the operation of a room what the surface brought: a person to ask,
and a place for progress. Without them nothing is asked and nothing shown.

Rooms are imported in methods: a command loads only what it uses, and 'skc install' mostly has nothing to do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

from skillc.paths import library_roots
from skillc.surface import SILENT, UNATTENDED, Person, Progress

if TYPE_CHECKING:
    from skillc.compiler import Builds, Publication, PublishOptions
    from skillc.doctor import Examination
    from skillc.errors import Diagnostic, SkillcError
    from skillc.install import (
        Additions,
        Audits,
        Cleaning,
        Disablement,
        EmptiedTrash,
        Enablement,
        ImportResult,
        InstallResult,
        LockedSkills,
        LockProblems,
        Outdated,
        Pins,
        Publishing,
        Removals,
        Restoration,
        Setups,
        SkillInfo,
        TrashContents,
        Updates,
        Waste,
    )
    from skillc.library import (
        CompositeSkillSource,
        NewRepository,
        Refresh,
        RepositoryAddition,
        RepositoryRemoval,
        Skill,
        SkillsConfig,
        SourceState,
    )
    from skillc.listing import Fitting, ListingChoice, Listings
    from skillc.settings import Settings
    from skillc.usage import FilterOptions, LogValue, Stats, SyncedLogs, UsageUpload

Result = TypeVar("Result")


class Attendance(TypedDict):
    """What a surface gives to an operation."""

    person: Person
    progress: Progress


class BuildOptions(TypedDict, total=False):
    """What `PublishOptions` says besides where to."""

    to_global: bool
    copy: bool
    force: bool
    own_only: bool


class SetupChoice(TypedDict, total=False):
    """What `SetupOptions` says."""

    mcp: bool
    hook: bool
    permission: bool
    dry_run: bool
    yes: bool
    undo: bool


class Operations:
    """What `Workspace` can do besides reading."""

    if TYPE_CHECKING:  # what it has of a workspace
        cwd: str
        report: Callable[[str], None]
        person: Person | None
        progress: Progress | None

        def settings(self) -> Settings: ...
        def locate(self, name: str, *, index: bool = True) -> Skill: ...
        def operate(
            self,
            command: str,
            skill: str,
            arguments: dict[str, LogValue],
            operation: Callable[[Skill], Result],
        ) -> Result: ...
        def tell(self, diagnostics: Iterable[Diagnostic]) -> None: ...
        def tell_publication(self, publication: Publication) -> None: ...
        def library(self) -> CompositeSkillSource: ...
        def configuration(self) -> SkillsConfig: ...
        def wait(self, request: Coroutine[Any, Any, Result], *, warnings: bool = True) -> Result: ...

    def publish_options(
        self,
        targets: str | None = None,
        deploy: str | None = None,
        *,
        may_be_path: bool = True,
        **options: Unpack[BuildOptions],
    ) -> PublishOptions:
        """Return the options of a build for agents, or paths, with commas between them.

        `deploy` is `user` or `project`. With neither, what a skill is deployed to is renewed, and `targets`
        are for one that is deployed nowhere: claude, or the agents of config.toml [D70].
        """
        from skillc.compiler import PublishOptions, default_targets, find_targets
        from skillc.settings import load_settings  # what is wrong with them is told by the build

        settings, scope = load_settings(self.cwd), deploy or "user"
        if targets is not None or not settings.agents:
            names = "claude" if targets is None else targets
            places = find_targets(names, scope, self.cwd, may_be_path=may_be_path)
        else:
            places, diagnostics = default_targets(settings, scope, self.cwd)
            self.tell(diagnostics)
        return PublishOptions(places, renew=targets is None and deploy is None, **options)

    def build_all(self, options: PublishOptions) -> Builds:
        """Build and deploy every skill of the stores; one that fails does not stop the others."""
        from skillc.compiler import build_skills
        from skillc.library import stored_skills

        result = build_skills(
            list(stored_skills(self.cwd)),
            options,
            self.settings(),
            self.cwd,
            progress=self._attendance()["progress"],
            tell=self.tell,
            tell_publication=self.tell_publication,
        )
        self.renew_listings()
        return result

    def add(
        self,
        *sources: str,
        skills: Sequence[str] = (),
        everything: bool = False,
        targets: str | None = None,
        scope: str = "",
        copy: bool = False,
        dry_run: bool = False,
        yes: bool = False,
        accept_blocks: bool = False,
        hosts: Iterable[str] = (),
    ) -> Additions:
        """Add skills of sources, such as `owner/repo`: those with these names, or with `everything` all.

        `targets` are agents or paths with commas between them, by default the agents that are installed;
        `scope` is `global` or `project`. `hosts` may be asked besides those of the sources.
        """
        from skillc.install import AddOptions, Choice, add_skills

        result = add_skills(
            Choice(sources, skills, everything, frozenset(hosts)),
            AddOptions(scope, targets, copy, dry_run, yes, accept_blocks),
            self.settings(),
            self.cwd,
            tell=self.tell,
            tell_publication=self.tell_publication,
            **self._attendance(),
        )
        self.renew_listings(dry_run)
        return result

    def install(
        self,
        *,
        is_global: bool = False,
        frozen: bool = False,
        dry_run: bool = False,
        accept_blocks: bool = False,
        hosts: Iterable[str] = (),
    ) -> InstallResult:
        """Make the store equal to its lock, of the project or else of the home."""
        from skillc.install import find_root, make_plan

        root = find_root(self.cwd, is_global=is_global)
        plan = make_plan(root, frozen=frozen)
        if dry_run or plan.is_empty:
            return plan.preview()
        from skillc.install import apply_plan  # mostly there is nothing to do

        with self._attendance()["progress"].steps(0, "steps") as steps:
            result = apply_plan(
                root, plan, frozen=frozen, accept=accept_blocks, hosts=hosts, tell_step=steps.step_of
            )
        self.renew_listings()
        return result

    def outdated(
        self, *names: str, is_global: bool = False, min_age: str = "", hosts: Iterable[str] = ()
    ) -> Outdated:
        """Return locked skills with their latest versions; `min_age` is an age such as 3d."""
        from skillc.install import find_entries, find_root, list_latest, parse_age

        root = find_root(self.cwd, is_global=is_global)
        age = parse_age(min_age) if min_age else 0
        entries = find_entries(root, self._names_in(root, names))
        with self._attendance()["progress"].steps(len(entries), "skills") as steps:
            return list_latest(root, entries, min_age=age, hosts=hosts, tell_step=steps.step)

    def update(
        self,
        *names: str,
        is_global: bool = False,
        min_age: str = "",
        with_diff: bool = False,
        dry_run: bool = False,
        accept_blocks: bool = False,
        hosts: Iterable[str] = (),
    ) -> Updates:
        """Bring locked skills up to date, all or those with these names, and merge the user's edits.

        `name@version` goes to that version, tag, branch or commit [D77].
        """
        from skillc.errors import InvalidOption
        from skillc.install import find_entries, find_root, parse_age, update_locked
        from skillc.library import is_path

        root = find_root(self.cwd, is_global=is_global)
        words = [(name, "", "") if is_path(name) else name.partition("@") for name in names]
        entries = find_entries(root, self._names_in(root, [name for name, _, _ in words]))
        refs = {name: ref for name, mark, ref in words if mark}
        if "" in refs.values():
            raise InvalidOption("after '@' comes a version, a tag, a branch or a commit, as in pdf@v1.2")
        with self._attendance()["progress"].steps(len(entries), "skills") as steps:
            result = update_locked(
                root,
                entries,
                min_age=parse_age(min_age) if min_age else 0,
                with_diff=with_diff,
                dry_run=dry_run,
                accept=accept_blocks,
                hosts=hosts,
                tell_step=steps.step,
                refs=refs,
            )
        self.renew_listings(dry_run)
        return result

    def _names_in(self, root: str, names: Iterable[str]) -> Iterator[str]:
        """Yield the names of skills in a store; a path to one of them means its name [D69]."""
        from skillc.library import is_path, resolve_installed

        for name in names:
            skill = resolve_installed(name, self.cwd) if is_path(name) else None
            is_here = skill and skill.is_stored and os.path.realpath(skill.root) == os.path.realpath(root)
            yield skill.name if skill and is_here else name

    def pin(self, *names: str, is_pinned: bool = True, is_global: bool = False) -> Pins:
        """Keep locked skills at their versions, or let them be updated again."""
        from skillc.install import find_root, set_pins

        root = find_root(self.cwd, is_global=is_global)
        pins, diagnostics = set_pins(root, self._names_in(root, names), is_pinned)
        self.tell(diagnostics)
        return pins

    def locked(self, *, is_global: bool = False) -> LockedSkills:
        """Return the skills of the lock."""
        from skillc.install import find_root, list_locked

        return list_locked(find_root(self.cwd, is_global=is_global))

    def verify(self, *, is_global: bool = False) -> LockProblems:
        """Return where the store differs from its lock."""
        from skillc.install import find_root, verify_store

        return verify_store(find_root(self.cwd, is_global=is_global))

    def info(self, name: str) -> tuple[SkillInfo, list[Diagnostic]]:
        """Return everything about a skill, an installed one first [D69], and what is wrong around it."""
        from skillc.install import describe_skill

        return describe_skill(self.locate_installed(name), self.cwd)

    def import_skills(
        self,
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

        `agents` are names with commas between them, or `all`; `scope` is `global` or `project`.
        """
        from skillc.install import import_folders, import_locks

        attendance = self._attendance()
        if from_locks:
            result = import_locks(
                folders,
                self.cwd,
                scope,
                accept=accept_blocks,
                hosts=hosts,
                dry_run=dry_run,
                progress=attendance["progress"],
            )
        else:
            result = import_folders(
                folders, agents, self.settings(), self.cwd, scope, dry_run=dry_run, yes=yes, **attendance
            )
        self.tell(result.diagnostics)
        for step, error in result.failures:
            self.report(f"{error.line()} ({step.source})")
        for line in result.build_failures:
            self.report(line)
        self.renew_listings(dry_run)
        return result

    def publish(
        self,
        name: str,
        *,
        to: str | None = None,
        skill_id: str | None = None,
        version: str = "",
        tag: str = "",
        note: str = "",
        dry_run: bool = False,
        accept_blocks: bool = False,
    ) -> Publishing:
        """Publish a new version of a skill in a registry, by default the one of the settings."""
        from skillc.install import publish_version
        from skillc.library import locate_skill
        from skillc.remotes import choose_registry

        credential = choose_registry(to, self.settings().registry)
        skill = locate_skill(name, self.cwd)
        self.tell(skill.diagnostics)
        return publish_version(
            skill,
            credential,
            skill_id=skill_id,
            version=version,
            tag=tag,
            note=note,
            dry_run=dry_run,
            accept=accept_blocks,
            progress=self._attendance()["progress"],
            report=self.report,
        )

    def audit(
        self,
        *names: str,
        policy: str = "",
        baseline: str = "",
        new_baseline: str = "",
        notes: bool = False,
        judge: str | None = None,
        hosts: Iterable[str] = (),
    ) -> Audits:
        """Audit skills, folders of skills or sources as for `add`; without names, all skills here.

        `policy`, `baseline` and `new_baseline` are files, and `judge` a command.
        """
        from skillc.install import AuditOptions, audit_skills

        files = [os.path.join(self.cwd, each) if each else "" for each in (policy, baseline, new_baseline)]
        return audit_skills(
            names,
            AuditOptions(files[0], files[1], files[2], notes, judge),
            self.cwd,
            hosts=hosts,
            progress=self._attendance()["progress"],
            tell=self.tell,
        )

    def remove(
        self,
        *names: str,
        keep_source: bool = False,
        purge: bool = False,
        dry_run: bool = False,
        yes: bool = False,
    ) -> Removals:
        """Take skills away from agents and out of their store, into the trash."""
        from skillc.install import remove_skills

        result = remove_skills(
            names,
            self.cwd,
            keep_source=keep_source,
            purge=purge,
            dry_run=dry_run,
            yes=yes,
            **self._attendance(),
        )
        self.tell(diagnostic for removal in result.removed for diagnostic in removal.diagnostics)
        self.renew_listings(dry_run)
        return result

    def locate_installed(self, name: str) -> Skill:
        """Return the skill that a name means to what manages skills: an installed one first [D69]."""
        from skillc.library import locate_installed

        skill = locate_installed(name, self.cwd)
        self.tell(skill.diagnostics)
        return skill

    def disable(self, name: str, targets: str = "", *, dry_run: bool = False) -> Disablement:
        """Take a skill away from agents, all or those in `targets`, and keep it."""
        from skillc.install import disable_skill, require_stored

        skill = require_stored(self.locate_installed(name), name)
        result = disable_skill(skill, targets, self.cwd, dry_run=dry_run)
        self.tell(result.diagnostics)
        self.renew_listings(dry_run)
        return result

    def enable(self, name: str, targets: str = "", *, dry_run: bool = False) -> Enablement:
        """Give a disabled skill back to agents."""
        from skillc.install import enable_skill, require_stored

        skill = require_stored(self.locate_installed(name), name)
        result = enable_skill(skill, targets, self.settings(), self.cwd, dry_run=dry_run)
        if result.publication is not None:
            self.tell_publication(result.publication)
        self.renew_listings(dry_run)
        return result

    def restore(self, name: str) -> Restoration:
        """Bring back what is in the trash under an ID, a path or its last part."""
        from skillc.install import restore_item

        result = restore_item(name, self.settings())
        self.tell(result.diagnostics)
        if result.publication is not None:
            self.tell_publication(result.publication)
        if result.failure is not None:
            self.report(result.failure.text())
        self.renew_listings()
        return result

    def trash(self) -> TrashContents:
        """Return what is in the trash."""
        from skillc.install import list_trash

        return list_trash()

    def empty_trash(self, *, yes: bool = False) -> EmptiedTrash:
        """Delete what is in the trash for good."""
        from skillc.install import empty_trash

        return empty_trash(yes=yes, person=self._attendance()["person"])

    def clean(
        self,
        *,
        dry_run: bool = False,
        yes: bool = False,
        describe: Callable[[Sequence[Waste]], str] | None = None,
    ) -> Cleaning:
        """Remove caches, orphans, ghosts and leftovers; `describe` says of what, in the question."""
        from skillc.install import clean_up

        return clean_up(self.cwd, describe, dry_run=dry_run, yes=yes, **self._attendance())

    def stats(
        self,
        name: str | None = None,
        group: str = "summary",
        *,
        with_skills: bool = True,
        **filters: Unpack[FilterOptions],
    ) -> Stats:
        """Count what agents used of a skill, or of all, by `group`; of all `with_skills` also each alone."""
        from skillc.usage import Filters, check_group, compute_stats

        def count(skills: Skill | list[Skill]) -> Stats:
            check_group(group)
            return compute_stats(skills, group, Filters.parse(self.cwd, **filters), with_skills=with_skills)

        period = {"since": filters.get("since"), "until": filters.get("until")}
        stats = self._count_use(name, {"group_by": group, **period}, count)
        self.tell(stats.diagnostics)
        return stats

    def write_usage_page(self, file: str, name: str | None = None, **filters: Unpack[FilterOptions]) -> str:
        """Write a page about the use of a skill, or of all, and return its path."""
        from skillc import atomic, usage
        from skillc.errors import InvalidOption
        from skillc.gateway import read_outline

        path = os.path.join(self.cwd, file)
        if not os.path.isdir(os.path.dirname(path)):
            raise InvalidOption(f"--html {file}: there is no folder '{os.path.dirname(path)}'; make it first")

        def headings(skill: Skill) -> list[tuple[str, int, str]]:
            return [(entry.file, entry.level, entry.heading) for entry in read_outline(skill)]

        def write(skills: Skill | list[Skill]) -> tuple[Diagnostic, ...]:
            text, problems = usage.make_page(skills, usage.Filters.parse(self.cwd, **filters), headings)
            atomic.write(path, text.encode("utf-8", "replace"))
            return problems

        self.tell(self._count_use(name, {"html": file}, write))
        return path

    def prune_usage(self, age: str, name: str | None = None) -> tuple[dict[str, int], list[SkillcError]]:
        """Remove what is older than an age such as 90d from the logs of a skill, or of all.

        Return how much went by skill, and what failed.
        """
        from skillc.usage import prune_logs

        def prune(skills: Skill | list[Skill]) -> tuple[dict[str, int], list[SkillcError]]:
            return prune_logs(skills if isinstance(skills, list) else [skills], age)

        return self._count_use(name, {"prune": age}, prune)

    def sync_usage(self, skill: str | None = None, *, dry_run: bool = False) -> SyncedLogs:
        """Move the logs that were written beside this project to where they belong, all or a skill's."""
        from skillc.usage import sync_logs

        return sync_logs(os.path.realpath(self.cwd), skill, dry_run=dry_run)

    def send_usage(
        self, to: str | None = None, *, with_queries: bool = False, dry_run: bool = False
    ) -> UsageUpload:
        """Send a registry, by default that of the settings, the counts of use that it lacks."""
        from skillc import usage
        from skillc.install import find_shared
        from skillc.remotes import RegistryApi, choose_registry

        credential = choose_registry(to, self.settings().registry)
        skills = find_shared(credential.registry, self.cwd)
        upload = usage.count_usage(credential.registry, skills, with_queries=with_queries)
        upload.is_preview = dry_run
        if upload.days and not dry_run:
            progress = self._attendance()["progress"]
            with (
                RegistryApi.connect(credential, self.report) as api,
                progress.steps(len(upload.days), "days") as steps,
            ):
                usage.send_usage(api, upload, steps.step)
        return upload

    def _count_use(
        self,
        name: str | None,
        log: dict[str, LogValue],
        operation: Callable[[Skill | list[Skill]], Result],
    ) -> Result:
        """Run an operation on the skill that is named, which is logged, or on all of the stores."""
        from skillc.library import stored_skills

        if name is None:
            return operation(list(stored_skills(self.cwd)))
        return self.operate("stats", name, log, operation)

    def _attendance(self) -> Attendance:
        return {"person": self.person or UNATTENDED, "progress": self.progress or SILENT}

    def setup(self, *agents: str, **options: Unpack[SetupChoice]) -> Setups:
        """Make agents use skc, those that are named or all that are here, or take that back with `undo`."""
        from skillc.install import SetupOptions, set_up

        return set_up(agents, SetupOptions(**options), self._attendance()["person"])

    def doctor(self, *, fix: bool = False) -> Examination:
        """Return what is wrong with this installation; with `fix`, repair what is safe first."""
        from skillc.doctor import examine

        return examine(self.cwd, fix=fix)

    def listing(self, agents: str = "", window: int | None = None) -> Listings:
        """Return what agents show of each skill: those of a list with commas, or all that are here."""
        from skillc.listing import list_agents

        return list_agents(self.cwd, agents, window)

    def repositories(self) -> list[SourceState]:
        """Return how each repository is doing, in order of precedence."""
        return self.wait(self.library().states(), warnings=False)

    def add_repository(
        self, new: NewRepository, *, for_all: bool = False, keep_defaults: bool = False
    ) -> RepositoryAddition:
        """Write a repository into the project's skills.toml, or `for_all` projects into the home's."""
        from skillc.library import add_repository

        return add_repository(new, self.cwd, for_all=for_all, keep_defaults=keep_defaults)

    def remove_repository(self, name: str, *, for_all: bool = False) -> RepositoryRemoval:
        """Cut a repository from the project's skills.toml, or that of `for_all` projects from the home's."""
        from skillc.library import remove_repository

        return remove_repository(name, self.cwd, for_all=for_all)

    def sync_repositories(self, name: str | None = None) -> list[Refresh]:
        """Refresh the repository of a name, or all, whatever their intervals say."""
        from skillc.library import choose_repositories, refresh_repositories

        root = next(library_roots(self.cwd), None)
        selection = choose_repositories(self.configuration(), root, name)
        return self.wait(refresh_repositories(selection), warnings=False)

    def fit_listing(
        self,
        agents: str = "",
        *,
        budget: int | None = None,
        in_project: bool = False,
        dry_run: bool = False,
        yes: bool = False,
    ) -> Fitting:
        """Choose what agents list, so that every listed description is whole; the rest is on demand.

        `budget` is in tokens; `in_project` is about the folders of the project, else the user's [D76].
        """
        from skillc.listing import fit_listings

        result = fit_listings(
            self.cwd,
            agents,
            budget=budget or 0,
            in_project=in_project,
            dry_run=dry_run,
            yes=yes,
            person=self._attendance()["person"],
        )
        self.tell(result.diagnostics)
        for error in result.failures:
            self.report(error.text())
        return result

    def choose_listing(self, name: str, choice: str, agents: str = "") -> ListingChoice:
        """Have agents list a skill always, have it on demand, or leave it to `fit_listing` (auto)."""
        from skillc.listing import choose_listing

        return self._told(choose_listing(self.locate_installed(name), choice, agents, self.cwd))

    def reset_listing(self, *, in_project: bool = False) -> ListingChoice:
        """Have agents list everything again, and forget what was chosen."""
        from skillc.listing import reset_listings

        return self._told(reset_listings(self.cwd, in_project=in_project))

    def _told(self, result: ListingChoice) -> ListingChoice:
        self.tell(result.diagnostics)
        for error in result.failures:
            self.report(error.text())
        return result

    def renew_listings(self, dry_run: bool = False) -> None:
        """Do what listings need after skills changed; no command fails for it."""
        from skillc.errors import SkillcError, unexpected
        from skillc.listing import renew_listings

        try:
            self.tell(() if dry_run else renew_listings(self.cwd))
        except (SkillcError, OSError) as error:
            self.report(unexpected(error).line())
