"""The tools for authors of skills: init, list, build, lint, stats."""

import os
from typing import Annotated, Literal

from pydantic import Field

from skillc.compiler import (
    create_skill,
)
from skillc.contract import encode
from skillc.errors import InvalidOption
from skillc.install import advise_foreign, list_installed
from skillc.library import Skill
from skillc.library.records import check_deployments
from skillc.lint import Choice, find_skill_of, group_findings, summarise_report, summarise_reports
from skillc.mcp.tools.definition import Answer, Call, Count, SkillName, tool
from skillc.paths import project_roots, require_home
from skillc.tables import format_table
from skillc.usage import render_stats
from skillc.workspace import Workspace

Global = Annotated[bool, Field(description="Use the home directory's store instead of the project's.")]


@tool("New skill", "authoring", "init", writes=True, idempotent=False)
def skc_init(
    call: Call,
    name: Annotated[str | None, Field(description="The new skill's name: a-z, 0-9 and hyphens.")] = None,
    description: Annotated[str | None, Field(description="What it does, and when to use it.")] = None,
    to_global: Annotated[Global, Field(alias="global")] = False,
) -> Answer:
    """Make a new skill with a SKILL.md to fill in or, without a name, the folder that skills live in. An
    existing skill is never overwritten."""
    call.workspace.tell_owners()
    root = require_home() if to_global else call.workspace.cwd
    creation = create_skill(root, name, description)
    return Answer(creation, creation.report())


@tool("Skills in the stores", "authoring", "list", slow=True)
def skc_list(
    call: Call,
    scope: Annotated[Literal["project", "global", "all"], Field(description="Which stores.")] = "all",
    status: Annotated[
        Literal["normal", "not-built", "obsolete", "all"], Field(description="Which skills.")
    ] = "all",
    limit: Annotated[Count | None, Field(description="Maximum number of skills.")] = None,
    pattern: Annotated[
        str | None, Field(description="Only names that match this glob, such as pdf-*.")
    ] = None,
    check_obsolete: Annotated[
        bool, Field(description="Find out whether the sources changed since the build.")
    ] = False,
) -> Answer:
    """List the skills of this project and of the home directory, and whether each is built."""
    here = call.workspace
    listing = list_installed(
        here.cwd, scope=scope, status=status, pattern=pattern, limit=limit, check_obsolete=check_obsolete
    )
    here.tell_owners()
    here.tell((*listing.diagnostics, *check_deployments()))
    if not listing.total:
        return Answer(listing, " ".join(advise_foreign(here.cwd, is_first=True)))
    lines = format_table(listing.HEADER, [each.row() for each in listing.skills]) if listing.skills else ()
    return Answer(listing, "\n".join([*lines, listing.total_line(), *listing.advice()]))


@tool("Build a skill", "authoring", "build", slow=True, writes=True, destructive=True)
def skc_build(
    call: Call,
    skill: Annotated[str, Field(description="A skill's name or ID.")],
    to_global: Annotated[Global, Field(alias="global")] = False,
    target: Annotated[
        str | None,
        Field(
            description="Names of agents (claude, cursor, codex, ...), comma-separated. Default: where the"
            " skill is deployed, else claude."
        ),
    ] = None,
    deploy: Annotated[
        Literal["user", "project"] | None,
        Field(description="Use the agents' user or project directories. Default: user."),
    ] = None,
    as_copy: Annotated[bool, Field(alias="copy", description="Deploy a copy instead of a link.")] = False,
    force: Annotated[
        bool,
        Field(description="Start from nothing; replace what skc deployed there from elsewhere."),
    ] = False,
) -> Answer:
    """Compile a skill into a stub with a search index, and deploy it to agents. Needed once before it is read
    piece by piece, and again after its files changed."""
    here = call.workspace
    options = here.publish_options(
        target, deploy, may_be_path=False, to_global=to_global, copy=as_copy, force=force, own_only=True
    )
    publication = here.build(
        _find_own(here, skill),
        options,
        progress=lambda done, total: call.progress(done, total, f"{done} of {total} files of '{skill}'"),
    )
    return Answer(publication, publication.report(), failed=bool(publication.failures))


def _find_own(here: Workspace, name: str) -> Skill:
    """Return a skill of the stores or repositories; importing a folder is for people."""
    skill = here.locate(name, index=False)
    roots = {os.path.realpath(root) for root in (*project_roots(here.cwd), require_home())}
    if skill.repository or (skill.is_stored and os.path.realpath(skill.root) in roots):
        return skill
    advice = f"import it in a terminal: skc build {skill.source}"
    raise InvalidOption(f"'{name}' is a folder outside of the stores and repositories; {advice}")


@tool("Check a skill", "authoring", "lint", slow=True)
def skc_lint(
    call: Call,
    skill: SkillName,
    force: Annotated[bool, Field(description="Check a compiled skill, too.")] = False,
    strict: Annotated[bool, Field(description="Check style, too, and treat warnings as errors.")] = False,
) -> Answer:
    """Check a skill against the Agent Skills format and good practice, and estimate what it costs a context.
    Changes nothing."""
    here = call.workspace
    report = here.lint(find_skill_of(skill, here.cwd), force=force, choice=Choice(strict=strict))
    value = encode(summarise_reports([report]))
    if report.skipped:
        return Answer(value, f"info: skipping compiled skill '{report.skill.name}'")
    lines = [line for file, findings in group_findings(report, here.cwd) for line in (file, *findings)]
    return Answer(value, "\n".join([*lines, *summarise_report(report)]))


@tool("What agents used", "authoring", "stats", slow=True)
def skc_stats(
    call: Call,
    skill: Annotated[str | None, Field(description="A skill's name, ID or folder; all without it.")] = None,
    group_by: Annotated[
        Literal["summary", "sections", "files", "commands", "projects", "errors", "search", "offers"],
        Field(description="What to count by."),
    ] = "summary",
    since: Annotated[str | None, Field(description="From this date or RFC 3339 time on, in UTC.")] = None,
    until: Annotated[str | None, Field(description="Up to this date or time.")] = None,
    project: Annotated[
        list[str] | None, Field(description="Only accesses from these directories or below.")
    ] = None,
) -> Answer:
    """Count what agents read of a skill, or of all: which sections, files, searches and errors."""
    stats = call.workspace.stats(skill, group_by, since=since, until=until, projects=project or [])
    return Answer(stats, "\n".join(render_stats(stats)))


AUTHOR_TOOLS = (skc_init, skc_list, skc_build, skc_lint, skc_stats)
