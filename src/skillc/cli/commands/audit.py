"""`skc audit`: what a skill asks for, and what to look at before it is used."""

from __future__ import annotations

import contextlib
import os
import sys

from skillc import audit, install, library, lint
from skillc.cli import print_lines, workspace
from skillc.cli.hosts import ALLOW_HOST, allowed_hosts
from skillc.cli.output import print_json, warn
from skillc.cli.progress import Activity, Progress
from skillc.cli.syntax import Argument, Arguments, Command, Option
from skillc.errors import InvalidOption, SkillcError, SkillNotFound
from skillc.text import count_of, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

FORMATS = ("text", "json", "sarif")

COMMAND = Command(
    "audit",
    arguments=(
        Argument(
            "skill",
            "A skill's name, a folder with skills, or a source as for 'skc add'. Default: all skills here.",
            required=False,
            repeat=True,
            completes="skills",
        ),
    ),
    options=(
        Option(
            "--policy",
            "File of what is allowed and denied. Default: audit.toml in ~/.skillc.",
            value="<file>",
        ),
        Option("--baseline", "Leave out the findings in this file.", value="<file>"),
        Option("--write-baseline", "Write all findings to this file, as a baseline.", value="<file>"),
        Option("--notes", "Let notes in the skills' own files allow findings; for skills that are yours."),
        Option(
            "--judge", "Command that gets each skill as JSON and answers with findings.", value="<command>"
        ),
        ALLOW_HOST,
        Option("--format", "Output format.", choices=FORMATS, default="text"),
    ),
    description=(
        "Lists the hosts, commands, variables, files and packages that a skill uses, and findings to look at."
        " Runs nothing. Findings have a level: note, review or block; the exit status is 1 at block. It is a"
        " report and no verdict: a skill without findings can do harm, too. docs/audit.md lists all rules."
    ),
    examples=(
        "skc audit pdf",
        "skc audit ./downloads/skills --verbose",
        "skc audit owner/repo --policy team.toml",
        "skc audit --format sarif > audit.sarif",
        "skc audit --write-baseline audit.json && skc audit --baseline audit.json",
    ),
)

Job = tuple[str, str]  # folder and name


def run(arguments: Arguments) -> int:
    here = workspace()
    policy = audit.read_policy(_path(arguments, "policy", here.cwd))
    path = _path(arguments, "baseline", here.cwd)
    baseline = audit.read_baseline(path) if path else None
    command = arguments.optional("judge")
    judge = audit.parse_judge(command) if command is not None else None
    with contextlib.ExitStack() as stack:
        jobs = _find(arguments.texts("skill"), here.cwd, stack, allowed_hosts(arguments))
        audits, failures = _audit(jobs, policy, baseline, arguments, judge)
        target = _path(arguments, "write_baseline", here.cwd)
        if target:
            count = audit.write_baseline(target, audits)
            print(f"{count_of(count, 'finding')} written to '{one_line(target)}'", file=sys.stderr)
        _print(audits, failures, here.cwd, arguments)
    return 1 if failures or any(result.blocks for result in audits) else 0


def _path(arguments: Arguments, name: str, cwd: str) -> str:
    value = arguments.optional(name)
    if value == "":
        raise InvalidOption(f"--{name.replace('_', '-')} needs a file")
    return os.path.join(cwd, value) if value else ""


def _find(names: Sequence[str], cwd: str, stack: contextlib.ExitStack, hosts: frozenset[str]) -> list[Job]:
    """Return the folders and names of all skills that are meant; downloads are kept until the stack ends."""
    if not names:
        return [(skill.source, skill.name) for skill in library.stored_skills(cwd)]
    jobs: dict[str, str] = {}
    for name in names:
        for folder, skill in _find_one(name, cwd, stack, hosts):
            jobs.setdefault(folder, skill)
    return list(jobs.items())


def _find_one(name: str, cwd: str, stack: contextlib.ExitStack, hosts: frozenset[str]) -> list[Job]:
    path = os.path.join(cwd, name)
    if name and "\0" not in name and os.path.isdir(path):
        if library.is_skill(path):
            skill = library.at_path(path)
            return [(skill.source, skill.name)]
        with Activity(f"Looking for skills in {name}"):
            below = list(lint.find_skills_below(path))
        return [(skill.source, os.path.relpath(skill.source, os.path.realpath(path))) for skill in below]
    try:
        skill = library.locate_skill(name, cwd)
        return [(skill.source, skill.name)]
    except SkillNotFound:
        if not _looks_like_source(name, path):
            raise
    origin = install.parse_origin(name, cwd, hosts)
    with Activity(f"Fetching {origin.label()}"):
        download = stack.enter_context(install.open_download(origin, report=lambda d: warn([d])))
    return [(candidate.folder, candidate.name) for candidate in download.candidates]


def _looks_like_source(name: str, path: str) -> bool:
    return "/" in name or ":" in name or os.path.isfile(path)


def _audit(
    jobs: list[Job],
    policy: audit.Policy,
    baseline: audit.Baseline | None,
    arguments: Arguments,
    judge: list[str] | None,
) -> tuple[list[audit.Audit], list[SkillcError]]:
    """Audit each skill; one that can't be audited does not stop the others."""
    audits: list[audit.Audit] = []
    failures: list[SkillcError] = []
    results = audit.audit_folders(jobs, policy=policy, baseline=baseline, notes=arguments.has("notes"))
    with Progress(len(jobs), "skills") as progress:
        for (_, name), result in zip(jobs, results, strict=True):
            progress.step(name)
            if isinstance(result, SkillcError):
                if len(jobs) == 1:
                    raise result
                failures.append(result)
                progress.say(result.line())
                continue
            audits.append(audit.ask_judge(result, judge) if judge else result)
    warn(dict.fromkeys(diagnostic for result in audits for diagnostic in result.diagnostics))
    return audits, failures


def _print(
    audits: Sequence[audit.Audit], failures: Sequence[SkillcError], cwd: str, arguments: Arguments
) -> None:
    form = arguments.text("format")
    if form == "json":
        print_json(audit.summarise_audits(audits, failures))
    elif form == "sarif":
        print_json(audit.render_audit_sarif(audits, cwd, failures))
    elif not audits and not failures:
        print("No skills to audit: there is no SKILL.md in the stores, or in the folders that were given.")
    else:
        for result in audits:
            _print_text(result, cwd, len(audits) > 1, arguments.has("verbose"))
        if len(audits) > 1:
            _print_totals(audits)


def _print_text(result: audit.Audit, cwd: str, is_one_of_many: bool, verbose: bool) -> None:
    findings = [finding for finding in result.findings if verbose or finding.level != audit.NOTE]
    if is_one_of_many and not findings and not verbose:
        return  # the totals count it
    counts = ", ".join(count_of(result.count(level), level) for level in reversed(audit.LEVELS))
    suffix = f" ({result.allowed} allowed)" if result.allowed else ""
    print(f"{one_line(result.name)}: {counts}{suffix}")
    lines = list(audit.render_asks(result.asks, verbose)) if verbose or not is_one_of_many else []
    for finding in findings:
        path = os.path.join(result.folder, finding.file)
        lines.append(
            audit.render_finding(finding, path.removeprefix(os.path.join(os.path.realpath(cwd), "")))
        )
    print_lines(lines)


def _print_totals(audits: Sequence[audit.Audit]) -> None:
    levels = [result.level for result in audits]
    blocks, review = levels.count(audit.BLOCK), levels.count(audit.REVIEW)
    rest = len(levels) - blocks - review
    skills = count_of(len(levels), "skill")
    print(f"{skills}: {blocks} with blocks, {review} to review, {rest} with notes at most")
