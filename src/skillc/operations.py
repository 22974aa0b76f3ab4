"""Operations besides reading: build, check and run skills, bring them in, keep them current, take them out.

They are functions of the rooms, whose first argument is where they work (`surface.Here`), and methods of
`Workspace`, so that the command line, MCP and Python call the same. What takes several rooms is written here.

Rooms are loaded when an operation is called: a command loads only what it uses, and 'skc install' mostly has
nothing to do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Generator, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypedDict, TypeVar, Unpack

from skillc import compiler, errors, install, library, listing, origins, setup, tools, usage
from skillc.library import repositories
from skillc.paths import library_roots
from skillc.spelling import unknown_repository
from skillc.surface import SILENT, UNATTENDED, Here, Person, Progress

if TYPE_CHECKING:
    import threading

    from skillc.compiler import Publication, PublishOptions
    from skillc.doctor import Examination, LibraryFindings
    from skillc.engine import DefaultSkillEngine
    from skillc.errors import Diagnostic, SkillcError
    from skillc.evals import EvalOptions, Evaluation
    from skillc.library import Skill
    from skillc.library.repositories import Refresh, SkillsConfig
    from skillc.library.sources import CompositeSkillSource, SourceState
    from skillc.lint import Choice, Report
    from skillc.listing import Fitting, ListingChoice
    from skillc.settings import Settings
    from skillc.tools import Approve, RunResult, Values
    from skillc.usage import FilterOptions, LogValue, Stats, UsageUpload

Result = TypeVar("Result")
Telling = TypeVar("Telling", bound="TellingResult")
Parameters = ParamSpec("Parameters")


class Operation(Generic[Parameters, Result]):
    """A method of a workspace that is a function of a room, which is found when it is called."""

    def __init__(self, find: Callable[[], Callable[Concatenate[Here, Parameters], Result]]) -> None:
        self._find = find

    def __get__(self, here: Operations, owner: object = None) -> Callable[Parameters, Result]:
        return partial(self._find(), here)


class InDirectory(Generic[Parameters, Result]):
    """The same for a function that needs to know the directory alone."""

    def __init__(self, find: Callable[[], Callable[Concatenate[str, Parameters], Result]]) -> None:
        self._find = find

    def __get__(self, here: Operations, owner: object = None) -> Callable[Parameters, Result]:
        return partial(self._find(), here.cwd)


class TellingResult(Protocol):
    """A result with what is to be reported of it."""

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]: ...
    @property
    def failures(self) -> tuple[SkillcError, ...]: ...


class BuildOptions(TypedDict, total=False):
    """What `PublishOptions` says besides where to."""

    to_global: bool
    copy: bool
    force: bool
    own_only: bool


class Operations:
    """What `Workspace` can do besides reading."""

    if TYPE_CHECKING:  # what it has of a workspace
        cwd: str
        report: Callable[[str], None]
        person: Person
        progress: Progress

        def settings(self) -> Settings: ...
        def locate(self, name: str, *, index: bool = True) -> Skill: ...
        def operate(
            self,
            command: str,
            skill: Skill | str,
            arguments: dict[str, LogValue],
            operation: Callable[[Skill], Result],
            outcome: Callable[[Result], dict[str, LogValue]] = lambda result: {},
        ) -> Result: ...
        def tell(self, diagnostics: Iterable[Diagnostic], failures: Iterable[SkillcError] = ()) -> None: ...
        def library(self) -> CompositeSkillSource: ...
        def engine(self) -> DefaultSkillEngine: ...
        def configuration(self) -> SkillsConfig: ...
        def wait(self, request: Coroutine[Any, Any, Result], *, warnings: bool = True) -> Result: ...
    else:  # where the surface has none
        person = property(lambda here: UNATTENDED)
        progress = property(lambda here: SILENT)

    add = Operation(lambda: install.add_skills)
    audit = Operation(lambda: install.audit_skills)
    build_all = Operation(lambda: compiler.build_skills)
    change_client = Operation(lambda: setup.change_client)
    clean = Operation(lambda: install.clean_up)
    digest = Operation(lambda: origins.find_digest)
    disable = Operation(lambda: install.disable_skill)
    empty_trash = Operation(lambda: install.empty_trash)
    enable = Operation(lambda: install.enable_skill)
    export_parts = Operation(lambda: install.export_parts)
    import_skills = Operation(lambda: install.import_into_store)
    info = Operation(lambda: install.describe_skill)
    install = Operation(lambda: install.install_locked)
    locked = Operation(lambda: install.list_locked)
    outdated = Operation(lambda: install.list_latest)
    pin = Operation(lambda: install.set_pins)
    publish = Operation(lambda: install.publish_version)
    remove = Operation(lambda: install.remove_skills)
    restore = Operation(lambda: install.restore_item)
    setup = Operation(lambda: setup.set_up)
    sign = Operation(lambda: origins.sign_skill)
    trash = Operation(lambda: install.list_trash)
    update = Operation(lambda: install.update_locked)
    verify = Operation(lambda: install.verify_locked)
    why = Operation(lambda: install.find_reasons)
    adopt = Operation(lambda: tools.adopt_skill)
    allow = Operation(lambda: tools.allow_skill)
    decisions = Operation(lambda: tools.list_decisions)
    deny = Operation(lambda: tools.deny_skill)
    prune_decisions = Operation(lambda: tools.prune_decisions)
    trust = Operation(lambda: tools.show_trust)
    add_repository = InDirectory(lambda: repositories.add_repository)
    listing = InDirectory(lambda: listing.list_agents)
    remove_repository = InDirectory(lambda: repositories.remove_repository)
    sync_usage = InDirectory(lambda: usage.sync_logs)

    def build(
        self,
        skill: Skill,
        options: PublishOptions,
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> Publication:
        """Import, build and deploy a skill."""
        settings = self.settings()
        publication = self.operate(
            "build",
            skill,
            {"global": options.to_global, "force": options.force},
            lambda skill: compiler.publish_skill(skill, options, settings, self.cwd, progress=progress),
        )
        self.tell(publication.diagnostics, publication.failures)
        self.renew_listings()
        return publication

    def lint(
        self, skill: Skill, *, fix: bool = False, force: bool = False, choice: Choice | None = None
    ) -> Report:
        """Check a skill; with `fix`, fix what can be fixed first."""
        from skillc import lint  # whose door loads all of it

        check = lint.fix_skill if fix else lint.lint_skill
        return self.operate(
            "lint",
            skill,
            {"force": force, "fix": fix, "strict": choice.strict if choice else False},
            lambda skill: check(skill, force=force, choice=choice),
        )

    def lint_many(
        self,
        skills: Sequence[Skill],
        *,
        fix: bool = False,
        force: bool = False,
        choice: Choice | None = None,
        log: bool = True,
    ) -> Generator[Report | SkillcError, None, None]:
        """Check skills on all cores, in order; yield an error for each that can't be checked."""
        from skillc.lint import lint_skills

        fields: dict[str, LogValue] = {"force": force, "fix": fix, "strict": bool(choice and choice.strict)}
        results = lint_skills(skills, fix=fix, force=force, choice=choice)
        with self.progress.steps(len(skills), "skills") as steps:
            for skill, result in zip(skills, results, strict=True):
                steps.step(skill.name)
                if log:  # what is done already
                    self._log("lint", skill, fields, result)
                yield result

    def _log(self, command: str, skill: Skill, arguments: dict[str, LogValue], result: object) -> None:
        """Log an operation that is done; `result` may be its error."""

        def answer(_: Skill) -> None:
            if isinstance(result, errors.SkillcError):
                raise result

        try:
            self.operate(command, skill, arguments, answer)
        except errors.SkillcError:
            pass  # the caller has it

    def run(
        self,
        name: str,
        tool: str,
        values: Values,
        *,
        mode: str = "Global",
        approve: Approve | None = None,
        dry_run: bool = False,
        cancel: threading.Event | None = None,
    ) -> RunResult:
        """Run a tool of a skill, once it is approved; with `dry_run` only prepare it."""
        location = tools.find_skill(name, self.cwd)
        self.tell(location.diagnostics)
        call = tools.ToolCall(location, tool, values, self.cwd, mode)
        return self.operate(
            "run",
            location.library_skill(),
            {"tool": tool, "mode": mode, "dry_run": dry_run},
            lambda _: tools.run_tool(call, approve, dry_run=dry_run, cancel=cancel, warn=self.tell),
            lambda result: {"success": result.success},
        )

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
        from skillc.settings import load_settings  # what is wrong with them is told by the build

        settings, scope = load_settings(self.cwd), deploy or "user"
        if targets is not None or not settings.agents:
            names = "claude" if targets is None else targets
            places = compiler.find_targets(names, scope, self.cwd, may_be_path=may_be_path)
        else:
            places, diagnostics = compiler.default_targets(settings, scope, self.cwd)
            self.tell(diagnostics)
        return compiler.PublishOptions(places, renew=targets is None and deploy is None, **options)

    def locate_installed(self, name: str) -> Skill:
        """Return the skill that a name means to what manages skills: an installed one first [D69]."""
        skill = library.locate_installed(name, self.cwd)
        self.tell(skill.diagnostics)
        return skill

    def stats(
        self,
        name: str | None = None,
        group: str = "summary",
        *,
        with_skills: bool = True,
        **filters: Unpack[FilterOptions],
    ) -> Stats:
        """Count what agents used of a skill, or of all, by `group`; of all `with_skills` also each alone."""

        def count(skills: Skill | list[Skill]) -> Stats:
            usage.check_group(group)
            chosen = usage.Filters.parse(self.cwd, **filters)
            return usage.compute_stats(skills, group, chosen, with_skills=with_skills)

        period = {"since": filters.get("since"), "until": filters.get("until")}
        stats = self._count_use(name, {"group_by": group, **period}, count)
        self.tell(stats.diagnostics)
        return stats

    def write_usage_page(self, file: str, name: str | None = None, **filters: Unpack[FilterOptions]) -> str:
        """Write a page about the use of a skill, or of all, and return its path."""
        from skillc import atomic
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

        def prune(skills: Skill | list[Skill]) -> tuple[dict[str, int], list[SkillcError]]:
            if isinstance(skills, list):  # prompts that nothing fitted belong to no skill
                usage.prune_missed(age)
            return usage.prune_logs(skills if isinstance(skills, list) else [skills], age)

        return self._count_use(name, {"prune": age}, prune)

    def send_usage(
        self, to: str | None = None, *, with_queries: bool = False, dry_run: bool = False
    ) -> UsageUpload:
        """Send a registry, by default that of the settings, the counts of use that it lacks."""
        from skillc.remotes import RegistryApi
        from skillc.remotes.http import choose_registry

        credential = choose_registry(to, self.settings().registry)
        skills = install.find_shared(credential.registry, self.cwd)
        upload = usage.count_usage(credential.registry, skills, with_queries=with_queries)
        upload.is_preview = dry_run
        if upload.days and not dry_run:
            with (
                RegistryApi.connect(credential, self.report) as api,
                self.progress.steps(len(upload.days), "days") as steps,
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
        if name is None:
            return operation(list(library.stored_skills(self.cwd)))
        return self.operate("stats", name, log, operation)

    def evaluate(self, names: Sequence[str], options: EvalOptions) -> Evaluation:
        """Run the cases of skills with agents, and say whether the skills fire and help."""
        from skillc.evals import evaluate_skills

        return evaluate_skills(self, names, options)

    def diagnose(
        self, *, repository: str | None = None, codes: Iterable[str] = (), errors: bool = False
    ) -> LibraryFindings:
        """Return what was found while the skills of all repositories, or of one, were read."""
        from skillc import doctor

        wanted = doctor.parse_codes(codes)
        names = list(dict.fromkeys(source.name for source in self.library().sources))
        if repository and repository not in names:
            raise unknown_repository(repository, names)
        diagnostics = self.wait(self.engine().diagnostics(), warnings=False)
        return doctor.choose_findings(diagnostics, repository, wanted, errors)

    def doctor(self, *, fix: bool = False) -> Examination:
        """Return what is wrong with this installation; with `fix`, repair what is safe first."""
        from skillc.doctor import examine

        return examine(self.cwd, fix=fix)

    def repositories(self) -> list[SourceState]:
        """Return how each repository is doing, in order of precedence."""
        return self.wait(self.library().states(), warnings=False)

    def sync_repositories(self, name: str | None = None) -> list[Refresh]:
        """Refresh the repository of a name, or all, whatever their intervals say."""
        root = next(library_roots(self.cwd), None)
        selection = repositories.choose_repositories(self.configuration(), root, name)
        return self.wait(repositories.refresh_repositories(selection), warnings=False)

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
        return self._told(
            listing.fit_listings(
                self.cwd,
                agents,
                budget=budget or 0,
                in_project=in_project,
                dry_run=dry_run,
                yes=yes,
                person=self.person,
            )
        )

    def choose_listing(self, name: str, choice: str, agents: str = "") -> ListingChoice:
        """Have agents list a skill always, have it on demand, or leave it to `fit_listing` (auto)."""
        result = self._told(listing.choose_listing(self.locate_installed(name), choice, agents, self.cwd))
        self.renew_listings()
        return result

    def reset_listing(self, *, in_project: bool = False) -> ListingChoice:
        """Have agents list everything again, and forget what was chosen."""
        return self._told(listing.reset_listings(self.cwd, in_project=in_project))

    def _told(self, result: Telling) -> Telling:
        self.tell(result.diagnostics, result.failures)
        return result

    def renew_listings(self, dry_run: bool = False) -> None:
        """Do what listings need after skills changed; no command fails for it."""
        from skillc.errors import SkillcError, unexpected

        try:
            self.tell(() if dry_run else listing.renew_listings(self.cwd))
        except (SkillcError, OSError) as error:
            self.report(unexpected(error).line())
