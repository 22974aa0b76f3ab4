"""`skc publish`: a new version of a skill in a registry."""

from __future__ import annotations

from skillc import audit, install, library, skills
from skillc.cli import show, workspace
from skillc.cli.progress import Activity, Progress
from skillc.cli.registry import TO, admit_job, advise, connect, find_registry, is_outsider
from skillc.cli.syntax import FORMAT, SKILL, Arguments, Command, Option
from skillc.errors import InvalidOption, InvalidSkillId
from skillc.text import count_of, one_line

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillc.remotes import RegistryApi  # loads httpx2

MAX_LISTED = 20  # files that a dry run names

COMMAND = Command(
    "publish",
    arguments=(SKILL,),
    options=(
        TO,
        Option(
            "--id",
            "The skill's ID in the registry. Default: its collection and name.",
            value="<id>",
            completes="ids",
        ),
        Option(
            "--version",
            "The version. Default: 'version' in the metadata of SKILL.md, else the next patch.",
            value="<version>",
        ),
        Option(
            "--tag",
            "The tag that points at this version. Default: latest.",
            value="<tag>",
            completes="latest",
        ),
        Option("--note", "What changed, for people.", value="<text>"),
        Option("--dry-run", "Check the skill, say what would be sent, and send nothing."),
        Option("--accept-blocks", "Publish what the audit blocks. The registry may refuse it."),
        Option("--yes", "Do not ask. What the audit blocks needs --accept-blocks."),
        FORMAT,
    ),
    description=(
        "Lints and audits the skill first: errors of lint (E300) and findings that block (E084) stop it. Only"
        " files that changed are sent. If nothing changed since the last version, it says so and ends with"
        " status 0; with --tag, the tag is set. A version never changes, so its number must be new (E091). If"
        " someone else published meanwhile, that is E091, too. In GitHub Actions and GitLab CI no token is"
        " needed where the registry trusts the workflow ('skc publisher'): the job's ID token gets one."
    ),
    examples=(
        "skc publish release-notes",
        "skc publish ./refunds --to https://skills.example.com --id payments/refunds --note First",
        "skc publish refunds --version 2.0.0-rc.1 --tag next",
        "skc publish refunds --dry-run",
    ),
)


def run(arguments: Arguments) -> int:
    here = workspace()
    credential = find_registry(arguments.optional("to"))
    skill = library.locate_skill(arguments.text("skill"), here.cwd)
    here.tell(skill.diagnostics)
    skill_id = _parse_id(arguments.optional("id"), skill)
    with Activity("Packing and checking the skill"):
        accept = arguments.has("accept_blocks")
        package = install.check_skill(skill, skill_id, audit.read_policy(), accept=accept)
    credential = admit_job(credential, skill_id, may_fail=arguments.has("dry_run"))
    with advise(credential), connect(credential) as api:
        upload = install.plan_upload(api, package, arguments.optional("version") or "")
        if arguments.has("dry_run"):
            if not is_outsider(credential):
                install.require_publisher(api, package.skill)
            return _show_plan(arguments, upload, api)
        release = _publish(arguments, upload, api)
    value = release.as_json() | {"registry": credential.registry}
    return show(
        arguments, lambda: value, lambda: [_report(release, upload, credential.registry)], "paint_report"
    )


def _parse_id(text: str | None, skill: library.Skill) -> skills.SkillId:
    """Return the ID that a person gave, or the skill's own."""
    try:
        return skills.SkillId(skill.name if text is None else text)
    except InvalidSkillId as error:
        rule = "lower-case letters, digits and hyphens, with slashes between its parts"
        if text is None:
            raise InvalidOption(f"'{skill.name}' is no ID of a skill ({rule}); give one with --id") from None
        error.details = error.details or f"hint: an ID has {rule}"
        raise


def _publish(arguments: Arguments, upload: install.Upload, api: RegistryApi) -> install.Release:
    with Progress(max(upload.size >> 10, 1), "KiB") as progress:

        def show_progress(count: int, total: int) -> None:
            progress.reach((upload.size >> 10) * count // max(total, 1), str(upload.package.skill))

        tag, note = arguments.optional("tag") or "", arguments.optional("note") or ""
        return install.send_upload(api, upload, tag=tag, note=note, tell_progress=show_progress)


def _report(release: install.Release, upload: install.Upload, registry: str) -> str:
    what = one_line(f"{release.id} {release.version}")
    if release.is_new:
        return f"Published {what} in {registry} ({release.uploaded:,} bytes sent)"
    yanked = upload.same.yanked if upload.same else None
    note = f"; that version is yanked: {one_line(yanked)}" if yanked is not None else ""
    return f"Unchanged: {registry} has these files as {what}{note}"


def _show_plan(arguments: Arguments, upload: install.Upload, api: RegistryApi) -> int:
    package = upload.package
    value = {
        "id": str(package.skill),
        "version": upload.version,
        "digest": package.digest,
        "uploaded": 0,
        "published": False,
        "registry": api.registry,
        "dry_run": True,
        "files": upload.changes,
        "size": upload.size,
    }
    return show(arguments, lambda: value, lambda: _plan(upload, api.registry), "paint_report")


def _plan(upload: install.Upload, registry: str) -> Iterator[str]:
    what = one_line(f"{upload.package.skill} {upload.version}")
    if upload.same is not None:
        yield f"Unchanged: {registry} has these files as {what}"
        return
    yield f"Would publish {what} in {registry}, and send {upload.size:,} bytes:"
    for path in upload.changes[:MAX_LISTED]:
        yield one_line(f"  {path}  {len(upload.package.contents[path]):,}")
    rest = len(upload.changes) - MAX_LISTED
    if rest > 0:
        yield f"  and {rest} more"
    if upload.references:
        verb = "is" if len(upload.references) == 1 else "are"
        yield f"  {count_of(len(upload.references), 'file')} {verb} there already"
