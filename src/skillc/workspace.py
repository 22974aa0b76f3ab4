"""A directory and what can be done from it: locate a skill, keep its index current, operate, log.

The command line and MCP work through `Workspace`: the same name means the same skill, an operation is the
same, and leaves the same row in the access log. Warnings go to `report`, line by line, as they come up:
the command line prints them, MCP sends them with the result.

Reading commands pass through here, so each method imports what it needs (see `skillc.startup`).
"""

from __future__ import annotations

import os

from skillc import errors, paths
from skillc.library import resolve
from skillc.usage import TERMINAL, run_logged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable
    from typing import Any, TypeVar

    from skillc.engine import DefaultSkillEngine
    from skillc.errors import Diagnostic, SkillcError
    from skillc.gateway import Heading, OpenFile, SearchResults, Section, SourceTree
    from skillc.index.skills import FoundSkills, Scope
    from skillc.library import Skill
    from skillc.library.repositories import SkillsConfig
    from skillc.library.sources import CompositeSkillSource
    from skillc.operations import Operations
    from skillc.settings import Settings
    from skillc.usage import LogValue

    Result = TypeVar("Result")
    Reporter = Callable[[str], None]
else:
    Operations = object  # loaded with the first one that is used


class Workspace(Operations):
    """A working directory. One object serves any number of operations, from any thread.

    Those that read are here; those that bring skills in, build and take them out are in `Operations`.

    `capabilities` are those that are there, besides skills: skills that need others are hidden. A surface
    sets `person` and `progress`, where it has a person to ask and a place for progress.
    """

    __slots__ = (
        "_library", "_switch", "capabilities", "cwd", "is_at_terminal", "person", "progress", "report",
    )  # fmt: skip

    def __init__(
        self,
        cwd: str | None = None,
        report: Reporter = lambda line: None,
        capabilities: Iterable[str] = (),
    ) -> None:
        self.cwd = cwd or paths.current_directory()
        self.report = report
        self.capabilities = frozenset(capabilities)
        self.is_at_terminal = False  # then a person asks, whose accesses are logged apart from agents'
        self._switch: tuple[object, str] = (None, "")  # stamps, and the file that switches skills off
        # At most one, with the stamps of its configuration; a list, so that `with_reporter` can share it.
        self._library: list[tuple[object, CompositeSkillSource, DefaultSkillEngine]] = []

    def __getattr__(self, name: str) -> Any:
        """Return what `Operations` has, which reading commands do not load."""
        from skillc.operations import Operations

        return (
            vars(Operations)[name].__get__(self)
            if name in vars(Operations)
            else object.__getattribute__(self, name)
        )

    def with_reporter(self, report: Reporter) -> Workspace:
        """Return the same workspace with another reporter; both share the library."""
        other = Workspace(self.cwd, report, self.capabilities)
        other._library = self._library
        return other

    # Operations on one skill.

    def operate(
        self,
        command: str,
        skill: Skill | str,
        arguments: dict[str, LogValue],
        operation: Callable[[Skill], Result],
        outcome: Callable[[Result], dict[str, LogValue]] = lambda result: {},
    ) -> Result:
        """Run an operation on a skill, or on the one of that name, and log it as `command`.

        The log gets `arguments` and, of a success, what `outcome` returns for the result.
        """
        target = self.locate(skill) if isinstance(skill, str) else skill
        name = f"{TERMINAL}{command}" if self.is_at_terminal else command
        result, diagnostics = run_logged(
            target, name, arguments, self.cwd, lambda: operation(target), outcome
        )
        self.tell(diagnostics)
        return result

    def locate(self, name: str, *, index: bool = True) -> Skill:
        """Return the skill that a name, an ID or a path means here; raises SkillNotFound and others.

        With `index`, update the section index of a repository's skill; authors build those of the stores.
        """
        try:
            skill = resolve(name, self.cwd)  # most names are in a store, which takes no further module
        except (errors.InvalidSkill, errors.SkillNotFound):
            from skillc.library import locate_skill

            skill = locate_skill(name, self.cwd)
        self.tell(skill.diagnostics)
        if index and skill.repository and not skill.is_recent:
            from skillc.compiler import keep_index_current

            keep_index_current(skill, self.cwd)
        return skill

    def outline(self, name: str, level: int | None = None) -> list[Heading]:
        """Return the headings of a skill's Markdown files, down to `level`."""
        from skillc.gateway import read_outline

        return self.operate("outline", name, {"level": level}, lambda skill: read_outline(skill, level))

    def outline_text(self, name: str, level: int | None = None) -> bytes:
        """Return the same as text, in UTF-8: quicker, as an index has it ready."""
        from skillc.gateway import read_outline_text

        return self.operate("outline", name, {"level": level}, lambda skill: read_outline_text(skill, level))

    def show(
        self, name: str, section: str, *, file: str | None = None, max_lines: int | None = None
    ) -> Section:
        """Return one section of a skill."""
        from skillc.gateway import show_section

        tokenizer = self._tokenizer()
        result = self.operate(
            "show",
            name,
            {"section": section, "file": file},
            lambda skill: show_section(skill, section, file=file, max_lines=max_lines, tokenizer=tokenizer),
            lambda result: {"section": result.heading, "file": result.file},
        )
        if result.ambiguous:
            self.tell((errors.warning("W001", section),))
        return result

    def search(
        self, name: str, query: str, *, limit: int = 10, mode: str = "all", any_option: str = "--any"
    ) -> SearchResults:
        """Return the sections of a skill that match; `any_option` is what the surface calls mode `any`."""
        from skillc.gateway import has_changes, search_sections

        tokenizer = self._tokenizer()
        folder = skill = self.locate(name)
        if not skill.is_stored:
            from skillc.library import find_import  # only for a folder in no store

            skill = find_import(folder.source, self.cwd) or folder
        results = self.operate(
            "search",
            skill,
            {"query": query, "result_count": 0},
            lambda skill: search_sections(skill, query, limit=limit, mode=mode, tokenizer=tokenizer),
            lambda results: {"result_count": len(results.results)},
        )
        names = [result.file for result in results.results]
        if has_changes(skill, tokenizer, folder.source, names):
            self.tell((errors.warning("W004", skill.name, folder.reference),))
        if mode == "all" and not results.results:
            from skillc.gateway import explain_no_results

            note = explain_no_results(skill, query, any_option, tokenizer)
            if note:
                self.report(note)
        return results

    def open(
        self,
        name: str,
        path: str,
        max_lines: int | None = None,
        check: Callable[[OpenFile], None] | None = None,
    ) -> OpenFile:
        """Return a file of a skill; `check` may refuse it before the access counts as a success."""
        from skillc.gateway import open_file

        def read(skill: Skill) -> OpenFile:
            file = open_file(skill, path, max_lines)
            if check is not None:
                check(file)
            return file

        return self.operate("open", name, {"path": path}, read)

    def sources(
        self,
        name: str,
        *,
        depth: int | None = None,
        directory: str | None = None,
        limit: int = 100,
        pattern: str | None = None,
    ) -> SourceTree:
        """Return the files of a skill as a tree."""
        from skillc.gateway import list_sources

        return self.operate(
            "sources",
            name,
            {"dir": directory, "depth": depth, "pattern": pattern},
            lambda skill: list_sources(skill, depth=depth, directory=directory, limit=limit, pattern=pattern),
        )

    # Operations on the library.

    def find(self, task: str, limit: int = 10, scope: Scope | None = None) -> FoundSkills:
        """Return the skills that fit a task, best first."""
        from skillc.index.skills import EVERYTHING
        from skillc.library import find_skills

        return find_skills(
            self.cwd,
            task,
            limit,
            scope=scope or EVERYTHING,
            capabilities=self.capabilities,
            tell=lambda diagnostic: self.tell((diagnostic,)),
        )

    def engine(self) -> DefaultSkillEngine:
        """Return the engine over all configured repositories; raises InvalidConfiguration."""
        return self._configure()[1]

    def library(self) -> CompositeSkillSource:
        """Return the configured repositories, merged; raises InvalidConfiguration."""
        return self._configure()[0]

    def _configure(self) -> tuple[CompositeSkillSource, DefaultSkillEngine]:
        """Return the repositories and the engine over them; set them up again if a skills.toml changed."""
        stamps = paths.config_stamps(self.cwd)
        if not self._library or self._library[0][0] != stamps:
            from skillc.engine import DefaultSkillEngine, EngineOptions
            from skillc.library.repositories import resolve_repositories

            config = self.configuration()
            source = resolve_repositories(config, next(paths.library_roots(self.cwd), None))
            engine = DefaultSkillEngine(source, EngineOptions.from_config(config, self.capabilities))
            self._library[:] = [(stamps, source, engine)]
            if not config.enabled:
                self.tell((errors.warning("W072", config.enabled_by),))
        return self._library[0][1:]

    def switched_off_by(self) -> str:
        """Return the skills.toml that switches skills off; empty if they are on [D56]."""
        from skillc.library.repositories import SkillsConfig

        stamp = paths.config_stamps(self.cwd)
        if self._switch[0] != stamp:
            try:
                config = SkillsConfig.load(self.cwd)
                self._switch = (stamp, "" if config.enabled else config.enabled_by)
            except errors.InvalidConfiguration:  # whatever needs the configuration says so
                self._switch = (stamp, "")
        return self._switch[1]

    def configuration(self) -> SkillsConfig:
        """Return what skills.toml says here; raises InvalidConfiguration."""
        from skillc.library.repositories import SkillsConfig

        config = SkillsConfig.load(self.cwd)
        self.tell(config.diagnostics)
        return config

    def wait(self, request: Coroutine[Any, Any, Result], *, warnings: bool = True) -> Result:
        """Run a request to the library; unless it is about them, report the repositories that failed."""
        import asyncio
        import gc

        gc.disable()  # an answer may have a hundred thousand values, and all of them live to its end
        try:
            answer = asyncio.run(request)
        except errors.SkillNotFound:  # it may be in one of these
            self._warn_of_repositories(warnings)
            raise
        finally:
            gc.enable()
        self._warn_of_repositories(warnings)
        return answer

    def _warn_of_repositories(self, warnings: bool) -> None:
        if warnings and self._library:
            self.tell(self._library[0][1].warnings())

    # Settings and reports.

    def settings(self) -> Settings:
        """Return the settings in force here; report what is wrong with them."""
        from skillc.settings import load_settings

        config = load_settings(self.cwd)
        self.tell(config.diagnostics)
        return config

    def _tokenizer(self) -> str:
        if not os.environ.get("SKILLC_TOKENIZER") and not paths.config_files(self.cwd):
            return "ascii"  # the default, without loading a parser of TOML
        return self.settings().tokenizer

    def tell_owners(self) -> None:
        """Report the `.skillc` directories here and above that are another user's, and so not used."""
        for path in paths.foreign_directories(self.cwd):
            self.tell((errors.warning("W073", path, os.path.dirname(path)),))

    def tell(self, diagnostics: Iterable[Diagnostic], failures: Iterable[SkillcError] = ()) -> None:
        """Report diagnostics, a line each, and the errors of parts that failed while the rest went on."""
        for diagnostic in diagnostics:
            self.report(diagnostic.line())
        for failure in failures:
            self.tell(failure.diagnostics)
            self.report(failure.text())
