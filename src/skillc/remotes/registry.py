"""The HTTP API of a registry of ours, as one caller uses it: typed values, and errors with their codes.

    with RegistryApi("https://skills.example.com", token) as api:
        print(api.whoami().subject, [each.version for each in api.versions("payments/refunds")])

A redirect is never followed, so that the token stays with the address it belongs to. Where the registry is
busy (429, 503) it is asked again after the time that it names. What it answers is bounded in size and time.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import quote, urlencode

from skillc import errors
from skillc.remotes.archive import MAX_PACKED, has_main_file, unpack_data
from skillc.remotes.folders import write_folder
from skillc.remotes.http import (
    BUSY,
    JSON,
    MAX_ATTEMPTS,
    REDIRECTS,
    TIME_OUT,
    Credential,
    Response,
    Session,
    check_token,
    hide_secrets,
    parse_registry,
)
from skillc.remotes.protocol import (
    Answer,
    Failure,
    Remote,
    RemoteFile,
    RemoteSkill,
    check_digest,
    make_listing,
    table_of,
    text_of,
)
from skillc.skills import SkillId, digest_files
from skillc.text import cut, describe_roles, one_line

PUBLISH_TIMES = 10  # so much longer a registry may take to answer when it stores and audits what was sent
MAX_TIME = 900.0  # seconds for an answer as a whole
MAX_JSON = 64 << 20  # bytes
MAX_MESSAGE = 500  # characters of an error's text
PAGE, MAX_PAGES = 1000, 100  # skills of a list that are asked for at once, and how often
ARCHIVE = "application/gzip"
KEYS = ".well-known/skillc-keys.json"
MAX_STATEMENT = 1 << 20  # bytes

# Errors that a registry may answer with, by code; any other code is E092.
_ERRORS: dict[str, type[errors.SkillcError]] = {
    error.code: error
    for error in (
        *(errors.SkillNotFound, errors.InvalidSkill, errors.MissingField, errors.FileNotFound),
        *(errors.SkillExists, errors.InvalidParameter, errors.InvalidSkillId, errors.ArchiveRefused),
        *(errors.AuditBlocked, errors.RegistryRefused, errors.VersionExists, errors.RegistryUnavailable),
        *(errors.InvalidOption, errors.EmptyQuery, errors.EntryNotFound),
    )
}


@dataclass(frozen=True, slots=True)
class Identity:
    """What a registry says of a token: its subject, and its roles below prefixes."""

    subject: str
    permissions: tuple[tuple[str, str], ...] = ()
    expires_at: str = ""

    def roles(self) -> str:
        return describe_roles(self.permissions)


class RegistryApi(Remote):
    """A registry by its address. `tell_wait` gets the seconds of each wait for a registry that is busy."""

    def __init__(
        self,
        registry: str,
        token: str = "",
        *,
        time_out: float = TIME_OUT,
        tell_wait: Callable[[float], None] = lambda _: None,
    ) -> None:
        self.registry = parse_registry(registry)
        self._secrets = [token]  # what no error repeats
        self.session = Session(
            self.registry,
            credentials={"Authorization": f"Bearer {token}"} if token else {},
            time_out=time_out,
            whole=MAX_TIME,
            redirects=0,
            attempts=MAX_ATTEMPTS,
            tell_wait=tell_wait,
        )

    @classmethod
    def connect(cls, credential: Credential, report: Callable[[str], None]) -> Self:
        """Return the API of a registry with its token; `report` gets a line for each wait."""

        def tell_wait(seconds: float) -> None:
            report(f"The registry is busy; trying again in {seconds:g} s")

        return cls(credential.registry, credential.token, tell_wait=tell_wait)

    def __enter__(self) -> Self:
        self.session.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.session.__exit__()

    # Reading

    def whoami(self) -> Identity:
        """Return what the token may do; raises RegistryUnavailable where there is no registry of ours."""
        absent = self._unusable("there is no registry of skillc's at this address")
        absent.details = "hint: it is the address of 'skc serve', without the path of a skill or a page"
        try:
            value = self._value("whoami")
        except (errors.NotFound, errors.Invalid):
            raise absent from None
        except errors.RegistryUnavailable as error:
            raise absent if error.reason in ("HTTP 404", "HTTP 405") else error from None
        subject = value.get("subject")
        if not isinstance(subject, str) or not subject:
            raise self._unusable("it does not say which subject the token has: it is no registry of skillc's")
        permissions = tuple(
            (text_of(each.get("role")), text_of(each.get("prefix"))) for each in _tables(value, "permissions")
        )
        return Identity(subject, permissions, text_of(value.get("expires_at")))

    def list(self, last: Answer | None = None) -> Answer:
        """Return the skills that the caller may read, each at its latest version."""
        return Answer(make_listing(self._skills()))

    def _skills(self) -> Iterator[RemoteSkill]:
        cursor = ""
        for _ in range(MAX_PAGES):
            page = self._value("skills", {"limit": str(PAGE), "cursor": cursor})
            for entry in _tables(page, "skills"):
                with suppress(errors.InvalidSkillId):
                    yield self._read_version(SkillId(text_of(entry.get("id"))), entry)
            cursor = text_of(page.get("next_cursor"))
            if not cursor:
                return

    def versions(self, name: str) -> Sequence[RemoteSkill]:
        skill_id = SkillId(name)
        entries = _tables(self._value(f"{skill_path(skill_id)}/versions"), "versions")
        return [self._read_version(skill_id, entry) for entry in entries if text_of(entry.get("version"))]

    def files(self, skill_id: str, version: str) -> Sequence[RemoteFile]:
        entries = _tables(self._value(f"{skill_path(skill_id)}/files", {"version": version}), "files")
        return [_read_file(entry) for entry in entries]

    def fetch(self, skill: RemoteSkill, folder: str) -> str:
        """Write a version into a new folder; raises Failure without a SKILL.md."""
        path = f"{skill_path(skill.id)}/archive.tar.gz"
        with write_folder(folder) as temporary:
            response = self.get(path, {"version": skill.version}, limit=MAX_PACKED)
            unpack_data(response.data, temporary, skill.address)
            if not has_main_file(temporary):
                raise Failure(f"'{skill.id}' has no SKILL.md")
            check_digest(skill.id, "the whole archive", skill.digest, f"sha256:{digest_files(temporary)}")
        return skill.address

    def read_statement(self, skill: RemoteSkill) -> tuple[bytes, Sequence[str]]:
        """Return the statement about a version and the keys of the registry; nothing for one from before."""
        try:
            path = f"{_version_path(skill.id, skill.version)}/attestation"
            statement = self.get(path, limit=MAX_STATEMENT).data
            keys = _tables(self._value(KEYS), "keys")
        except (errors.NotFound, errors.RegistryUnavailable):  # a server of an older version has no such path
            return b"", ()
        return statement, [text_of(key.get("pem")) for key in keys]

    def _read_version(self, skill_id: SkillId, entry: Mapping[str, Any]) -> RemoteSkill:
        yanked, tags = entry.get("yanked"), entry.get("tags")
        version = text_of(entry.get("version"))
        query = urlencode({"version": version})
        return RemoteSkill(
            skill_id,
            text_of(entry.get("description")),
            version=version,
            digest=text_of(entry.get("digest")),
            address=f"{self.registry}/{skill_path(skill_id)}/archive.tar.gz?{query}",
            published_at=text_of(entry.get("published_at")),
            yanked=yanked if isinstance(yanked, str) else None,
            tags=tuple(tag for tag in tags if isinstance(tag, str))
            if isinstance(tags, builtins.list)
            else (),
        )

    def is_registry(self) -> bool:
        """Return whether there is a registry of ours at this address, whatever the caller may do there."""
        try:
            response = self._ask("GET", "whoami", MAX_MESSAGE * 100, attempts=1)
        except errors.RegistryUnavailable:
            return False
        value = table_of(response.json())
        if response.status == 200:
            return isinstance(value.get("permissions"), list) and bool(text_of(value.get("subject")))
        codes = (errors.RegistryRefused.code, errors.RegistryUnavailable.code)
        return table_of(value.get("error")).get("code") in codes

    def get(self, path: str, query: Mapping[str, str] | None = None, *, limit: int = MAX_JSON) -> Response:
        return self.send("GET", path, query=query, limit=limit)

    def _value(self, path: str, query: Mapping[str, str] | None = None) -> Mapping[str, Any]:
        return table_of(self.get(path, query).json())

    # Writing

    def publish(
        self,
        skill_id: str,
        body: Mapping[str, Any] | bytes,
        options: Mapping[str, str],
        *,
        after: RemoteSkill | None,
        tell_progress: Callable[[int, int], None] | None = None,
    ) -> RemoteSkill:
        """Publish a version after the latest one that the publisher saw; None for a skill that is new.

        A body of bytes is an archive. Raises VersionExists, also where another publisher was faster.
        """
        condition = {"If-Match": f'"{after.version}+{after.digest}"'} if after else {"If-None-Match": "*"}
        is_archive = isinstance(body, bytes)
        value = table_of(
            self.send(
                "PUT",
                skill_path(skill_id),
                None if isinstance(body, bytes) else {**body, **options},
                content=body if isinstance(body, bytes) else None,
                media_type=ARCHIVE if is_archive else JSON,
                query=options if is_archive else None,
                headers=condition,
                tell_progress=tell_progress,
                time_out=self.session.time_out * PUBLISH_TIMES,
            ).json()
        )
        return self._read_version(SkillId(skill_id), value)

    def set_tag(self, skill_id: str, tag: str, version: str) -> None:
        self.send("PUT", f"{skill_path(skill_id)}/tags/{quote(tag, safe='')}", {"version": version})

    def yank(self, skill_id: str, version: str, reason: str) -> None:
        self.send("POST", f"{_version_path(skill_id, version)}/yank", {"reason": reason})

    def unyank(self, skill_id: str, version: str) -> None:
        self.send("POST", f"{_version_path(skill_id, version)}/unyank")

    def create_token(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Make a token and return it with its secret, `token`, which is never told again."""
        value = table_of(self.send("POST", "tokens", request).json())
        if not text_of(value.get("token")) or not text_of(value.get("id")):
            raise self._unusable("it made no token")
        return value

    def tokens(self) -> Sequence[Mapping[str, Any]]:
        return _tables(self._value("tokens"), "tokens")

    def revoke_token(self, token_id: str) -> None:
        self.send("DELETE", f"tokens/{quote(token_id, safe='')}")

    def grants(self) -> Sequence[Mapping[str, Any]]:
        return _tables(self._value("grants"), "grants")

    def set_grant(self, subject: str, role: str, prefix: str) -> None:
        self.send("PUT", "grants", {"subject": subject, "role": role, "prefix": prefix})

    def remove_grant(self, subject: str, prefix: str) -> None:
        self.send("DELETE", "grants", query={"subject": subject, "prefix": prefix})

    def publishers(self) -> Sequence[Mapping[str, Any]]:
        return _tables(self._value("trusted-publishers"), "publishers")

    def trust(self, publisher: Mapping[str, str]) -> Mapping[str, Any]:
        """Let the jobs of a workflow publish, and return the trusted publisher."""
        value = table_of(self.send("POST", "trusted-publishers", publisher).json())
        if not text_of(value.get("id")):
            raise self._unusable("it made no trusted publisher")
        return value

    def distrust(self, publisher_id: str) -> None:
        self.send("DELETE", f"trusted-publishers/{quote(publisher_id, safe='')}")

    def audience(self) -> str:
        """Return what ID tokens of CI for this registry are for."""
        audience = text_of(self._value("_/oidc/audience").get("audience"))
        if not audience:
            raise self._unusable("it does not say which audience ID tokens for it have")
        return audience

    def mint(self, id_token: str, path: str) -> str:
        """Return a token for the ID token of a job of CI, which publishes at a path or below it."""
        self._secrets.append(id_token)
        value = table_of(self.send("POST", "_/oidc/mint-token", {"token": id_token, "prefix": path}).json())
        try:
            return check_token(text_of(value.get("token")))
        except errors.InvalidOption:
            raise self._unusable("it gave no token for the ID token") from None

    def send_usage(self, batch: Mapping[str, Any]) -> dict[str, int]:
        """Send counts of use; return how many rows were taken, and how many ignored."""
        value = table_of(self.send("POST", "usage", batch).json())
        return {key: number for key, number in value.items() if type(number) is int}

    # Requests

    def send(
        self,
        method: str,
        path: str,
        value: Any = None,
        *,
        content: bytes | None = None,
        media_type: str = JSON,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        limit: int = MAX_JSON,
        tell_progress: Callable[[int, int], None] | None = None,
        time_out: float = 0.0,
    ) -> Response:
        """Send a request and return the answer; raises the error that the registry names, or E092.

        The body is `value` as JSON, or else `content`. `tell_progress` gets the bytes sent, and all.
        `time_out` is how long the registry may take to answer, where that is longer than usual.
        """
        words = {key: text for key, text in (query or {}).items() if text}
        content = content if value is None else json.dumps(value).encode()
        response = self._ask(
            method,
            f"{path}{f'?{urlencode(words)}' if words else ''}",
            limit,
            headers=dict(headers or {}) | ({"Content-Type": media_type} if content is not None else {}),
            content=content,
            tell_progress=tell_progress,
            time_out=time_out,
        )
        if not 200 <= response.status < 300 and response.status != 304:
            raise self._error(response)
        return response

    def _ask(self, method: str, path: str, limit: int, **options: Any) -> Response:
        try:
            return self.session.send(method, f"{self.registry}/{path}", limit, JSON, **options)
        except Failure as error:
            failure = self._unusable(str(error))
            failure.details = "hint: check the address and the network, then try again"
            raise failure from None

    def _error(self, response: Response) -> errors.SkillcError:
        """Return our error for an answer with an error, whose text may be anything."""
        status = response.status
        if status in REDIRECTS:
            target = hide_secrets(one_line(response.location))
            return self._unusable(f"it redirects to '{target}'; use that address if it is right")
        fields = table_of(table_of(response.json()).get("error"))
        message = text_of(fields.get("message")) or f"HTTP {status}"
        message = cut(one_line(hide_secrets(message, self._secrets)), MAX_MESSAGE)
        if status in (401, 403):
            return _refusal(message, status, self.registry)
        kind = _ERRORS.get(text_of(fields.get("code")))
        if kind is None or status >= 500 or status in BUSY or kind is errors.RegistryUnavailable:
            asked = response.retry_after
            again = f"; it asks to come again in {asked} s" if asked.isdecimal() else ""
            return self._unusable(f"{message}{again}")
        return _remote_error(kind, message)

    def _unusable(self, reason: str) -> errors.RegistryUnavailable:
        return errors.RegistryUnavailable(self.registry, reason)


def _refusal(message: str, status: int, registry: str) -> errors.RegistryRefused:
    error = errors.RegistryRefused(message.removeprefix("the registry refused: "))
    login = f"'skc login {registry}'"
    if status == 401:
        way = f"make one at {registry}/account or ask an admin, then {login}"
        error.details = f"hint: the token is missing, wrong, expired or revoked; {way}"
    else:
        error.details = f"hint: an admin of the registry gives roles; {login} stores a token that has one"
    return error


def _remote_error(kind: type[errors.SkillcError], message: str) -> errors.SkillcError:
    """Return an error of a kind with a message of the registry's own."""
    error = kind.__new__(kind, message)  # the constructors of subclasses take other arguments
    error.message, error.details = message, ""
    return error


def skill_path(skill_id: str) -> str:
    """Return the path of a skill below its registry: its ID is one segment."""
    return f"skills/{quote(SkillId(skill_id), safe='')}"


def _version_path(skill_id: str, version: str) -> str:
    return f"{skill_path(skill_id)}/versions/{quote(version, safe='')}"


def _read_file(entry: Mapping[str, Any]) -> RemoteFile:
    size = entry.get("size")
    return RemoteFile(
        text_of(entry.get("path")),
        size if isinstance(size, int) else -1,
        text_of(entry.get("digest")),
        entry.get("executable") is True,
    )


def _tables(fields: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    value = fields.get(key)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
