"""Publish a skill to a registry: check it, compare it with what is there, and send what is new.

The registry has the bytes of earlier versions, so that of an unchanged file its digest is sent. A version
that was published meanwhile by someone else is noticed: nothing is sent over it (E091).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from skillc import remotes
from skillc.audit import Policy, audit_folder, read_policy
from skillc.contract import HIDDEN, optional
from skillc.errors import (
    InvalidOption,
    InvalidSkill,
    InvalidSkillId,
    LintFailed,
    RegistryRefused,
    RegistryUnavailable,
    SkillNotFound,
    VersionExists,
)
from skillc.install.audit import check_blocks
from skillc.library import Skill, is_compiled, locate_skill
from skillc.lint import lint_skill
from skillc.origins import sign_skill
from skillc.paths import SKILL_FILE
from skillc.quotes import shell_quote
from skillc.registry import Package, Role, read_package
from skillc.registry.model import is_below
from skillc.remotes.http import Credential, choose_registry
from skillc.skills import SIGNATURES, SkillId, digest_files, digest_skill, list_files
from skillc.skills.document import require_description
from skillc.surface import Here
from skillc.text import count_of, one_line
from skillc.versions import LATEST, next_patch, parse_tag, parse_version, precedence

if TYPE_CHECKING:
    from skillc.remotes import RegistryApi, RemoteSkill  # loads httpx2

MAX_LISTED = 20  # files that a dry run names
MAX_JSON = 24 << 20  # bytes of files in a request as JSON, which are a third more there; else as an archive


@dataclass(frozen=True, slots=True)
class Upload:
    """A package and how it differs from what the registry has.

    `same` is the version that has these files already, and `latest` the one to publish after. `version` is
    the number that it will get, unless another publisher takes it first; if it `is_fixed` it gets no other.
    """

    package: Package
    version: str
    is_fixed: bool
    latest: RemoteSkill | None
    same: RemoteSkill | None
    references: dict[str, str]  # digests of the files that the registry has, by path

    @property
    def changes(self) -> list[str]:
        """The files whose bytes are sent."""
        return [] if self.same else [f.path for f in self.package.files if f.path not in self.references]

    @property
    def size(self) -> int:
        """The bytes of these files."""
        return sum(len(self.package.contents[path]) for path in self.changes)


@dataclass(frozen=True, slots=True)
class Publishing:
    """What came of publishing: a version that is `published` now, or was there already.

    Of a dry run it is what would be sent: `files`, and their `size` in bytes.
    """

    upload: Upload = field(metadata=HIDDEN)
    id: str
    version: str
    digest: str
    uploaded: int
    published: bool
    registry: str
    dry_run: bool = optional(False)
    files: list[str] | None = optional()
    size: int | None = optional()

    def lines(self) -> Iterator[str]:
        """Yield what was published, or would be, for people."""
        upload, registry, what = self.upload, self.registry, one_line(f"{self.id} {self.version}")
        if self.published:
            yield f"Published {what} in {registry} ({self.uploaded:,} bytes sent)"
        elif upload.same is not None:
            is_yanked = not self.dry_run and upload.same.yanked is not None
            note = f"; that version is yanked: {one_line(upload.same.yanked or '')}" if is_yanked else ""
            yield f"Unchanged: {registry} has these files as {what}{note}"
        else:
            yield f"Would publish {what} in {registry}, and send {self.size:,} bytes:"
            for path in upload.changes[:MAX_LISTED]:
                yield one_line(f"  {path}  {len(upload.package.contents[path]):,}")
            if len(upload.changes) > MAX_LISTED:
                yield f"  and {len(upload.changes) - MAX_LISTED} more"
            if upload.references:
                verb = "is" if len(upload.references) == 1 else "are"
                yield f"  {count_of(len(upload.references), 'file')} {verb} there already"


def publish_version(
    here: Here,
    name: str,
    *,
    to: str | None = None,
    skill_id: str | None = None,
    version: str = "",
    tag: str = "",
    note: str = "",
    sign: str = "",
    dry_run: bool = False,
    accept_blocks: bool = False,
) -> Publishing:
    """Publish a new version of a skill in a registry, by default the one of the settings.

    `sign` is the file of a key that signs it first. With `dry_run`, say what would be sent. A job of CI
    without a token gets one from the registry. Raises LintFailed (E300), AuditBlocked (E084), VersionExists
    (E091), RegistryRefused (E090) and others.
    """
    credential = choose_registry(to, here.settings().registry)
    skill = locate_skill(name, here.cwd)
    here.tell(skill.diagnostics)
    own_id = _parse_id(skill_id, skill)
    if sign and not dry_run:
        sign_skill(here, skill.source, sign)
    with here.progress.activity("Packing and checking the skill"):
        package = check_skill(skill, own_id, read_policy(), accept=accept_blocks)
    with here.progress.activity(f"Asking {credential.registry}"):
        credential = _admit_job(credential, own_id, here.report, may_fail=dry_run)
        try:
            with remotes.RegistryApi.connect(credential, here.report) as api:
                upload = plan_upload(api, package, version)
                if not dry_run:
                    return _send(here, api, upload, tag, note)
                if credential.token or not remotes.is_job():  # else it was said that the job has no token
                    require_publisher(api, package.skill)
                plan = package.skill, upload.version, package.digest
                return Publishing(upload, *plan, 0, False, api.registry, True, upload.changes, upload.size)
        except RegistryRefused as error:
            if not credential.token:  # which a job of CI may lack
                error.details = remotes.advise_job(credential.registry) or error.details
            raise


def _send(here: Here, api: RegistryApi, upload: Upload, tag: str, note: str) -> Publishing:
    with here.progress.steps(max(upload.size >> 10, 1), "KiB") as steps:

        def tell_progress(count: int, total: int) -> None:
            steps.reach((upload.size >> 10) * count // max(total, 1), str(upload.package.skill))

        return send_upload(api, upload, tag=tag, note=note, tell_progress=tell_progress)


def _parse_id(text: str | None, skill: Skill) -> SkillId:
    """Return the ID that a person gave, or the skill's own."""
    try:
        return SkillId(skill.name if text is None else text)
    except InvalidSkillId as error:
        rule = "lower-case letters, digits and hyphens, with slashes between its parts"
        if text is None:
            raise InvalidOption(f"'{skill.name}' is no ID of a skill ({rule}); give one with --id") from None
        error.details = error.details or f"hint: an ID has {rule}"
        raise


def _admit_job(
    credential: Credential, path: str, report: Callable[[str], None], *, may_fail: bool
) -> Credential:
    """Return the registry with a token for the job of CI that runs this, if it has none yet.

    The token publishes at `path`. What `may_fail` goes on without a token where the registry refuses the job.
    """
    if credential.token or not remotes.is_job():
        return credential

    def tell_wait(seconds: float) -> None:
        report(f"GitHub gave no ID token; trying again in {seconds:g} s")

    with remotes.RegistryApi.connect(credential, report) as api:
        try:
            token = remotes.mint_token(api, path, tell_wait)
            return Credential(credential.registry, token, credential.subject)
        except RegistryRefused as error:
            if not may_fail:
                raise
            report(f"Without a token: {one_line(error.message)}")
            return credential


def check_skill(skill: Skill, skill_id: str, policy: Policy, *, accept: bool = False) -> Package:
    """Return the files of a skill that lint finds no error in, and the audit nothing that blocks.

    Raises LintFailed (E300) or, unless `accept`, AuditBlocked (E084). What is returned is what was checked.
    """
    if is_compiled(skill.source):
        raise InvalidSkill(skill.source, "a compiled skill; publish its source")
    package = read_package(skill_id, skill.source)
    _require_all_signed(skill, package)
    require_description(package.document.description or "")
    report = lint_skill(skill)
    mistakes = [finding for finding in report.findings if finding.severity == "error"]
    if mistakes:
        first = mistakes[0]
        error = LintFailed(first.rule.id, first.rule.name, f"{first.message} ({first.file}:{first.line})")
        others = f" (of {len(mistakes)})" if mistakes[1:] else ""
        error.details = f"hint: see what to fix{others} with: skc lint {_name(skill)}"
        raise error
    audit = audit_folder(skill.source, skill.segment, policy=policy, notes=not skill.is_copy)
    advice = f"read what it does with: skc audit {_name(skill)}"
    check_blocks(skill.name, digest_skill(skill.source).digest, audit, accept=accept, advice=advice)
    if f"sha256:{digest_files(skill.source)}" != package.digest:
        raise InvalidSkill(skill.source, "its files changed while they were checked; publish it again")
    return package


def _require_all_signed(skill: Skill, package: Package) -> None:
    """Raise InvalidSkill for a signature over dot-files, which a registry does not take."""
    if any(name in package.contents for name in SIGNATURES):
        for file in list_files(skill.source, hidden=True):
            if file.name not in package.contents:
                reason = (
                    f"it is signed with '{file.name}', which is not published; move it away, and sign again"
                )
                raise InvalidSkill(skill.source, reason)


def _name(skill: Skill) -> str:
    """Return what a command takes for a skill: its name, or the folder of one that is in no store."""
    return shell_quote(skill.name if skill.is_stored else skill.source)


def require_publisher(api: RegistryApi, skill_id: str) -> None:
    """Raise RegistryRefused (E090) where the caller may not publish a skill."""
    roles = {role.label for role in Role if role >= Role.PUBLISHER}
    identity = api.whoami()
    if not any(role in roles and is_below(skill_id, prefix) for role, prefix in identity.permissions):
        reason = f"it needs the role publisher for '{skill_id}'; {identity.subject} has: {identity.roles()}"
        raise RegistryRefused(reason, "hint: an admin of the registry gives roles")


def plan_upload(api: RegistryApi, package: Package, version: str = "") -> Upload:
    """Compare a package with the registry; raises VersionExists if its number is taken by other files."""
    number = parse_version(version) if version else package.version
    try:
        versions = api.versions(package.skill)
    except SkillNotFound:
        return Upload(package, number or next_patch(()), bool(number), None, None, {})
    if not versions:
        raise RegistryUnavailable(api.registry, f"it lists no version of '{package.skill}'")
    same = _find_same(package, versions, number)
    newest = versions[0]
    digests = {file.digest for file in api.files(package.skill, newest.version)} if same is None else set()
    references = {file.path: file.digest for file in package.files if file.digest in digests}
    references.pop(SKILL_FILE, None)  # it is always sent
    return Upload(
        package,
        same.version if same else number or next_patch(each.version for each in versions),
        bool(number),
        next((each for each in versions if LATEST in each.tags), newest),
        same,
        references,
    )


def _find_same(package: Package, versions: Sequence[RemoteSkill], number: str) -> RemoteSkill | None:
    """Return the version that a publication would repeat."""
    if number:
        other = next((each for each in versions if each.version == number), None)
    else:
        other = max(versions, key=lambda each: precedence(parse_version(each.version)))
    if other is None or other.digest == package.digest:
        return other
    if number:
        hint = "hint: its files are others; raise 'version' in the metadata of SKILL.md, or give --version"
        raise VersionExists(package.skill, number, hint)
    return None


def send_upload(
    api: RegistryApi,
    upload: Upload,
    *,
    tag: str = "",
    note: str = "",
    tell_progress: Callable[[int, int], None] | None = None,
) -> Publishing:
    """Send what is new; if nothing is, set the tag alone.

    Raises VersionExists, also if another publisher was faster.
    """
    package = upload.package
    if tag:
        parse_tag(tag)
    if upload.same is not None:
        if tag and tag not in upload.same.tags:
            api.set_tag(package.skill, tag, upload.same.version)
        there = package.skill, upload.same.version, package.digest
        return Publishing(upload, *there, 0, False, api.registry)
    number = upload.version if upload.is_fixed else ""
    options = {key: text for key, text in (("version", number), ("tag", tag), ("note", note)) if text}
    body = _make_body(upload)
    try:
        release = api.publish(package.skill, body, options, after=upload.latest, tell_progress=tell_progress)
    except VersionExists as error:
        error.details = error.details or "hint: look at what was published meanwhile, and publish again"
        raise
    if release.digest != package.digest:
        raise RegistryUnavailable(
            api.registry, f"it answers with the digest '{release.digest}' of other files"
        )
    size = len(body) if isinstance(body, bytes) else upload.size
    return Publishing(upload, package.skill, release.version, release.digest, size, True, api.registry)


def _make_body(upload: Upload) -> dict[str, Any] | bytes:
    """Return the request: JSON with the new files, or an archive of all where JSON can't hold them."""
    package = upload.package
    try:
        text = package.contents[SKILL_FILE].decode()
    except (KeyError, UnicodeDecodeError):
        return package.archive  # of a skill.md, or of bytes that are no text
    if upload.size > MAX_JSON:
        return package.archive
    files: dict[str, Any] = {path: {"digest": digest} for path, digest in upload.references.items()}
    for path in upload.changes:
        if path != SKILL_FILE:
            files[path] = base64.b64encode(package.contents[path]).decode()
    executable = [file.path for file in package.files if file.is_executable]
    return {"skill_md": text, "files": files, "executable": executable}
