"""The tools for who writes skills: init, list, build, lint, stats."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skillc.compiler import (
    PublishOptions,
    create_skill,
    create_store,
    find_targets,
    list_skills,
    publish_skill,
)
from skillc.lint import lint_skill, locate as locate_anything, summary
from skillc.mcp.tools import schemas
from skillc.mcp.tools.definition import Answer, Call, Parameter, ToolDefinition, lines
from skillc.mcp.tools.gateway import SKILL
from skillc.paths import require_home
from skillc.usage import GROUPS, Filters, check_group, compute_stats, run_logged

if TYPE_CHECKING:
    from skillc.errors import Diagnostic
    from skillc.library import Skill
    from skillc.mcp.workplace import Workplace
    from skillc.usage import Stats

GLOBAL = Parameter(
    "global", "Use the home directory's store instead of the project's.", "flag", default=False
)


def _init(place: Workplace, given: Mapping[str, Any], call: Call) -> Answer:
    root = require_home() if given["global"] else place.cwd
    name = given["name"]
    path = create_store(root) if name is None else create_skill(root, name)
    text = f"Skills live in {path}" if name is None else f"Created {path}; write it, then build '{name}'"
    return Answer({"name": name, "path": path}, text)


def _list(place: Workplace, given: Mapping[str, Any], call: Call) -> Answer:
    listing = list_skills(
        place.cwd,
        scope=given["scope"],
        status=given["status"],
        pattern=given["pattern"],
        limit=given["limit"],
        check_obsolete=given["check_obsolete"],
    )
    value = listing.as_json()
    return Answer(value, _json(value), lines(listing.diagnostics))


def _build(place: Workplace, given: Mapping[str, Any], call: Call) -> Answer:
    from skillc.library import locate_skill

    settings = place.settings()
    name = given["skill"]
    options = PublishOptions(
        find_targets(given["target"], given["deploy"], place.cwd),
        to_global=given["global"],
        copy=given["copy"],
        force=given["force"],
    )

    def progress(count: int, total: int) -> None:
        call.progress(count, total, f"{count} of {total} files of '{name}'")

    skill = locate_skill(name, place.cwd)
    publication, diagnostics = run_logged(
        skill,
        "build",
        {"global": options.to_global, "force": options.force},
        place.cwd,
        lambda: publish_skill(skill, options, settings, place.cwd, progress=progress),
    )
    notes = lines(settings.diagnostics, skill.diagnostics, diagnostics, publication.diagnostics)
    notes += tuple(error.text() for error in publication.failures)
    return Answer(publication.as_json(), publication.report(), notes, failed=bool(publication.failures))


def _lint(place: Workplace, given: Mapping[str, Any], call: Call) -> Answer:
    skill = locate_anything(given["skill"], place.cwd)
    noted = {"force": given["force"], "fix": False, "strict": given["strict"]}
    report, noticed = run_logged(
        skill,
        "lint",
        {**noted},
        place.cwd,
        lambda: lint_skill(skill, force=given["force"], strict=given["strict"]),
    )
    if report.skipped:
        text = f"info: skipping compiled skill '{report.skill.name}'"
    else:
        text = "\n".join([finding.text() for finding in report.findings] or ["nothing to fix"])
    return Answer(summary([report]), text, lines(noticed))


def _stats(place: Workplace, given: Mapping[str, Any], call: Call) -> Answer:
    from skillc.library import stored_skills

    group, since, until, name = (given[key] for key in ("group_by", "since", "until", "skill"))

    def asked() -> Filters:
        check_group(group)
        return Filters.parse(since, until, given["project"], place.cwd)

    def of(skill: Skill) -> Stats:
        return compute_stats(skill, group, asked())

    noted = {"group_by": group, "since": since, "until": until}
    noticed: tuple[Diagnostic, ...] = ()
    if name is None:
        found = compute_stats(list(stored_skills(place.cwd)), group, asked())
    else:
        found, noticed = place.access("stats", name, {**noted}, of)
    value = found.as_json()
    return Answer(value, _json(value), lines(noticed, found.diagnostics))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


WRITING = (
    ToolDefinition(
        "skc_init",
        "New skill",
        "gateway",
        "Make a new skill with a SKILL.md to fill in or, without a name, the folder that skills live in."
        " An existing skill is never overwritten.",
        (Parameter("name", "The new skill's name: a-z, 0-9 and hyphens."), GLOBAL),
        schemas.INIT,
        _init,
        writes=True,
        annotations={"idempotent": False},
    ),
    ToolDefinition(
        "skc_list",
        "Skills in the stores",
        "gateway",
        "List the skills of this project and of the home directory, and whether each is built. The other"
        " skc_ tools take these names.",
        (
            Parameter("scope", "Which stores.", default="all", choices=("project", "global", "all")),
            Parameter(
                "status", "Which skills.", default="all", choices=("normal", "not-built", "obsolete", "all")
            ),
            Parameter("limit", "At most so many.", "count"),
            Parameter("pattern", "Only names that match this glob, such as pdf-*."),
            Parameter(
                "check_obsolete",
                "Find out whether the sources changed since the build.",
                "flag",
                default=False,
            ),
        ),
        schemas.LIST,
        _list,
        slow=True,
    ),
    ToolDefinition(
        "skc_build",
        "Build a skill",
        "gateway",
        "Compile a skill into a stub with a search index, and deploy it to agents. Needed once before"
        " skc_show and skc_search, and again after its files changed.",
        (
            Parameter("skill", "A skill's name, or a folder to import and build.", required=True),
            GLOBAL,
            Parameter(
                "target", "Agents (claude, cursor, codex, ...) or paths, comma-separated.", default="claude"
            ),
            Parameter(
                "deploy",
                "Use the agents' user or project directories.",
                default="user",
                choices=("user", "project"),
            ),
            Parameter("copy", "Deploy a copy instead of a link.", "flag", default=False),
            Parameter(
                "force",
                "Start from nothing; replace what stands where the skill is imported or deployed.",
                "flag",
                default=False,
            ),
        ),
        schemas.BUILD,
        _build,
        slow=True,
        writes=True,
        annotations={"destructive": True},
    ),
    ToolDefinition(
        "skc_lint",
        "Check a skill",
        "gateway",
        "Check a skill against the Agent Skills format and good practice, and estimate what it costs a"
        " context. Changes nothing.",
        (
            SKILL,
            Parameter("force", "Check a compiled skill, too.", "flag", default=False),
            Parameter("strict", "Take warnings for errors.", "flag", default=False),
        ),
        schemas.LINT,
        _lint,
        slow=True,
    ),
    ToolDefinition(
        "skc_stats",
        "What agents used",
        "gateway",
        "Count what agents read of a skill, or of all: which sections, files, searches and errors.",
        (
            Parameter("skill", "A skill's name, ID or folder; all without it."),
            Parameter("group_by", "What to count by.", default="summary", choices=tuple(GROUPS)),
            Parameter("since", "From this date or RFC 3339 time on, in UTC."),
            Parameter("until", "Up to this date or time."),
            Parameter("project", "Only accesses from these directories or below.", "texts", default=[]),
        ),
        schemas.STATS,
        _stats,
        slow=True,
    ),
)
