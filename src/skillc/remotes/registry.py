"""The HTTP API of a registry of ours, as one caller uses it: typed values, and errors with their codes.

    with RegistryApi("https://skills.example.com", token) as api:
        print(api.whoami().subject, [each.version for each in api.versions("payments/refunds")])

A redirect is never followed, so that the token stays with the address it belongs to. Where the registry is
busy (429, 503) it is asked again after the time that it names. What it answers is bounded in size and time.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import quote, urlencode

import httpx2

from skillc import __version__, errors
from skillc.remotes.credentials import check_token, parse_registry
from skillc.remotes.secrets import hide_secrets, private_logs
from skillc.remotes.session import REDIRECTS, announced_size, explain_failure, ssl_context
from skillc.remotes.traffic import follow_download
from skillc.skills import SkillId
from skillc.text import cut, one_line

TIME_OUT = 30.0  # seconds to connect, and for each wait
PUBLISH_TIMES = 10  # so much longer a registry may take to answer when it stores and audits what was sent
MAX_TIME = 900.0  # seconds for an answer as a whole
MAX_JSON = 64 << 20  # bytes
MAX_MESSAGE = 500  # characters of an error's text
MAX_WAIT = 60.0  # seconds that a registry may ask us to wait
MAX_ATTEMPTS = 3
BUSY = (429, 503)
PAGE, MAX_PAGES = 1000, 100  # skills of a list that are asked for at once, and how often
PIECE = 1 << 16  # bytes that are sent at once
JSON, ARCHIVE = "application/json", "application/gzip"

# Errors that a registry may answer with, by code; any other code is E092.
_ERRORS: dict[str, type[errors.SkillcError]] = {
    error.code: error
    for error in (
        *(errors.SkillNotFound, errors.InvalidSkill, errors.MissingField, errors.FileNotFound),
        *(errors.SkillExists, errors.InvalidParameter, errors.InvalidSkillId, errors.ArchiveRefused),
        *(errors.AuditBlocked, errors.RegistryRefused, errors.VersionExists, errors.RegistryUnavailable),
        *(errors.InvalidOption, errors.EmptyQuery),
    )
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A good answer: its JSON value, or its bytes where it has none, and its ETag."""

    status: int
    data: bytes
    etag: str = ""

    def value(self) -> dict[str, Any]:
        try:
            value = json.loads(self.data)
        except (ValueError, RecursionError):
            value = None
        return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class Identity:
    """What a registry says of a token: its subject, and its roles below prefixes."""

    subject: str
    permissions: tuple[tuple[str, str], ...] = ()
    expires_at: str = ""

    def roles(self) -> str:
        return ", ".join(f"{role} of {prefix or 'all'}" for role, prefix in self.permissions)


@dataclass(frozen=True, slots=True)
class PublishedSkill:
    """A skill as a registry lists it, at its latest version."""

    id: SkillId
    version: str
    digest: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class PublishedVersion:
    """A version as a registry lists it; `yanked` is None or the reason."""

    version: str
    digest: str
    published_at: str = ""
    yanked: str | None = None
    tags: tuple[str, ...] = ()

    @property
    def etag(self) -> str:
        """What a registry compares with If-Match."""
        return f'"{self.version}+{self.digest}"'


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file of a version. Its digest names its bytes."""

    path: str
    size: int
    digest: str
    is_executable: bool = False


class RegistryApi:
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
        self._token = token
        self._secrets = [token]  # what no error repeats
        self._tell_wait = tell_wait
        self._client = httpx2.Client(verify=ssl_context(), timeout=time_out)
        self._time_out = time_out

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._client.close()

    # Reading

    def whoami(self) -> Identity:
        """Return what the token may do; raises RegistryUnavailable where there is no registry of ours."""
        absent = self._unusable("there is no registry of skillc's at this address")
        absent.details = "hint: it is the address of 'skc serve', without the path of a skill or a page"
        try:
            value = self.get("whoami").value()
        except (errors.NotFound, errors.Invalid):
            raise absent from None
        except errors.RegistryUnavailable as error:
            raise absent if error.reason in ("HTTP 404", "HTTP 405") else error from None
        subject = value.get("subject")
        if not isinstance(subject, str) or not subject:
            raise self._unusable("it does not say which subject the token has: it is no registry of skillc's")
        permissions = tuple(
            (_text(each, "role"), _text(each, "prefix")) for each in _tables(value, "permissions")
        )
        return Identity(subject, permissions, _text(value, "expires_at"))

    def versions(self, skill_id: str) -> list[PublishedVersion]:
        """Return the versions of a skill, newest first; raises SkillNotFound."""
        entries = _tables(self.get(f"{skill_path(skill_id)}/versions").value(), "versions")
        return [_read_version(entry) for entry in entries if _text(entry, "version")]

    def files(self, skill_id: str, version: str) -> list[PublishedFile]:
        entries = _tables(self.get(f"{skill_path(skill_id)}/files", {"version": version}).value(), "files")
        return [_read_file(entry) for entry in entries]

    def skills(self) -> Iterator[PublishedSkill]:
        """Yield the skills that the caller may read, by ID, each at its latest version."""
        cursor = ""
        for _ in range(MAX_PAGES):
            page = self.get("skills", {"limit": str(PAGE), "cursor": cursor}).value()
            for entry in _tables(page, "skills"):
                try:
                    skill_id = SkillId(_text(entry, "id"))
                except errors.InvalidSkillId:
                    continue
                texts = (_text(entry, key) for key in ("version", "digest", "description"))
                yield PublishedSkill(skill_id, *texts)
            cursor = _text(page, "next_cursor")
            if not cursor:
                return

    def archive_address(self, skill_id: str, version: str) -> str:
        return f"{self.registry}/{skill_path(skill_id)}/archive.tar.gz?{urlencode({'version': version})}"

    def archive(self, skill_id: str, version: str, limit: int) -> bytes:
        """Return all files of a version as .tar.gz."""
        path = f"{skill_path(skill_id)}/archive.tar.gz"
        return self.get(path, {"version": version}, limit=limit).data

    def is_registry(self) -> bool:
        """Return whether there is a registry of ours at this address, whatever the caller may do there."""
        url = f"{self.registry}/whoami"
        try:
            response, data = self._exchange("GET", url, self._headers(), None, MAX_MESSAGE * 100)
        except errors.RegistryUnavailable:
            return False
        value = Answer(response.status_code, data).value()
        if response.status_code == 200:
            return isinstance(value.get("permissions"), list) and bool(_text(value, "subject"))
        error = value.get("error")
        codes = (errors.RegistryRefused.code, errors.RegistryUnavailable.code)
        return isinstance(error, dict) and error.get("code") in codes

    def get(self, path: str, query: Mapping[str, str] | None = None, *, limit: int = MAX_JSON) -> Answer:
        return self.send("GET", path, query=query, limit=limit)

    # Writing

    def publish(
        self,
        skill_id: str,
        body: Mapping[str, Any] | bytes,
        options: Mapping[str, str],
        *,
        after: PublishedVersion | None,
        tell_progress: Callable[[int, int], None] | None = None,
    ) -> PublishedVersion:
        """Publish a version after the latest one that the publisher saw; None for a skill that is new.

        A body of bytes is an archive. Raises VersionExists, also where another publisher was faster.
        """
        condition = {"If-Match": after.etag} if after else {"If-None-Match": "*"}
        is_archive = isinstance(body, bytes)
        value = self.send(
            "PUT",
            skill_path(skill_id),
            None if isinstance(body, bytes) else {**body, **options},
            content=body if isinstance(body, bytes) else None,
            media_type=ARCHIVE if is_archive else JSON,
            query=options if is_archive else None,
            headers=condition,
            tell_progress=tell_progress,
            time_out=self._time_out * PUBLISH_TIMES,
        ).value()
        return _read_version(value)

    def set_tag(self, skill_id: str, tag: str, version: str) -> None:
        self.send("PUT", f"{skill_path(skill_id)}/tags/{quote(tag, safe='')}", {"version": version})

    def yank(self, skill_id: str, version: str, reason: str) -> None:
        self.send("POST", f"{_version_path(skill_id, version)}/yank", {"reason": reason})

    def unyank(self, skill_id: str, version: str) -> None:
        self.send("POST", f"{_version_path(skill_id, version)}/unyank")

    def create_token(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Make a token and return it with its secret, `token`, which is never told again."""
        value = self.send("POST", "tokens", request).value()
        if not _text(value, "token") or not _text(value, "id"):
            raise self._unusable("it made no token")
        return value

    def tokens(self) -> Sequence[Mapping[str, Any]]:
        return _tables(self.get("tokens").value(), "tokens")

    def revoke_token(self, token_id: str) -> None:
        self.send("DELETE", f"tokens/{quote(token_id, safe='')}")

    def grants(self) -> Sequence[Mapping[str, Any]]:
        return _tables(self.get("grants").value(), "grants")

    def set_grant(self, subject: str, role: str, prefix: str) -> None:
        self.send("PUT", "grants", {"subject": subject, "role": role, "prefix": prefix})

    def remove_grant(self, subject: str, prefix: str) -> None:
        self.send("DELETE", "grants", query={"subject": subject, "prefix": prefix})

    def publishers(self) -> Sequence[Mapping[str, Any]]:
        return _tables(self.get("trusted-publishers").value(), "publishers")

    def trust(self, publisher: Mapping[str, str]) -> dict[str, Any]:
        """Let the jobs of a workflow publish, and return the trusted publisher."""
        value = self.send("POST", "trusted-publishers", publisher).value()
        if not _text(value, "id"):
            raise self._unusable("it made no trusted publisher")
        return value

    def distrust(self, publisher_id: str) -> None:
        self.send("DELETE", f"trusted-publishers/{quote(publisher_id, safe='')}")

    def audience(self) -> str:
        """Return what ID tokens of CI for this registry are for."""
        audience = _text(self.get("_/oidc/audience").value(), "audience")
        if not audience:
            raise self._unusable("it does not say which audience ID tokens for it have")
        return audience

    def mint(self, id_token: str, path: str) -> str:
        """Return a token for the ID token of a job of CI, which publishes at a path or below it."""
        self._secrets.append(id_token)
        value = self.send("POST", "_/oidc/mint-token", {"token": id_token, "prefix": path}).value()
        try:
            return check_token(_text(value, "token"))
        except errors.InvalidOption:
            raise self._unusable("it gave no token for the ID token") from None

    def send_usage(self, batch: Mapping[str, Any]) -> dict[str, int]:
        """Send counts of use; return how many rows were taken, and how many ignored."""
        value = self.send("POST", "usage", batch).value()
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
    ) -> Answer:
        """Send a request and return the answer; raises the error that the registry names, or E092.

        The body is `value` as JSON, or else `content`. `tell_progress` gets the bytes sent, and all.
        `time_out` is how long the registry may take to answer, where that is longer than usual.
        """
        words = {key: text for key, text in (query or {}).items() if text}
        url = f"{self.registry}/{path}{f'?{urlencode(words)}' if words else ''}"
        fields = self._headers() | dict(headers or {})
        content = content if value is None else json.dumps(value).encode()
        if content is not None:
            fields |= {"Content-Type": media_type, "Content-Length": str(len(content))}
        for attempt in range(MAX_ATTEMPTS):
            body = _pieces(content, tell_progress) if content is not None else None
            response, data = self._exchange(method, url, fields, body, limit, time_out)
            wait = _seconds(response.headers.get("Retry-After", ""))
            if response.status_code not in BUSY or attempt == MAX_ATTEMPTS - 1 or wait > MAX_WAIT:
                break
            self._tell_wait(wait)
            time.sleep(wait)
        if not 200 <= response.status_code < 300 and response.status_code != 304:
            raise self._error(response, data)
        return Answer(response.status_code, data, response.headers.get("ETag", "")[:1024])

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        headers["User-Agent"] = f"skillc/{__version__}"
        return headers | ({"Authorization": f"Bearer {self._token}"} if self._token else {})

    def _exchange(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: Iterator[bytes] | None,
        limit: int,
        time_out: float = 0.0,
    ) -> tuple[httpx2.Response, bytes]:
        start = time.monotonic()
        time_out = max(time_out, self._time_out)
        patience = httpx2.Timeout(self._time_out, read=time_out)
        data = bytearray()
        try:
            with (
                private_logs(),
                self._client.stream(
                    method, url, headers=dict(headers), content=content, timeout=patience
                ) as response,
                follow_download(announced_size(response)) as download,
            ):
                for chunk in response.iter_raw():
                    data += chunk
                    download.add(len(chunk))
                    if len(data) > limit:
                        raise self._unusable(f"its answer is over {limit >> 20} MiB")
                    if time.monotonic() - start > MAX_TIME:
                        raise self._unusable(f"no whole answer in {MAX_TIME:g} s")
        except errors.SkillcError:
            raise
        except Exception as error:
            failure = self._unusable(explain_failure(error, time_out))
            failure.details = "hint: check the address and the network, then try again"
            raise failure from None
        return response, bytes(data)

    def _error(self, response: httpx2.Response, data: bytes) -> errors.SkillcError:
        """Return our error for an answer with an error, whose text may be anything."""
        status = response.status_code
        if status in REDIRECTS:
            target = one_line(response.headers.get("Location", ""))
            return self._unusable(
                f"it redirects to '{hide_secrets(target)}'; use that address if it is right"
            )
        fields = Answer(status, data).value().get("error")
        fields = fields if isinstance(fields, dict) else {}
        message = _text(fields, "message") or f"HTTP {status}"
        message = cut(one_line(hide_secrets(message, self._secrets)), MAX_MESSAGE)
        if status in (401, 403):
            return _refusal(message, status, self.registry)
        kind = _ERRORS.get(_text(fields, "code"))
        if kind is None or status >= 500 or status in BUSY or kind is errors.RegistryUnavailable:
            asked = response.headers.get("Retry-After", "")
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
    error = kind.__new__(kind)
    errors.SkillcError.__init__(error, "")  # the constructors of subclasses take other arguments
    error.message = message
    error.args = (message,)
    return error


def skill_path(skill_id: str) -> str:
    """Return the path of a skill below its registry: its ID is one segment."""
    return f"skills/{quote(SkillId(skill_id), safe='')}"


def _version_path(skill_id: str, version: str) -> str:
    return f"{skill_path(skill_id)}/versions/{quote(version, safe='')}"


def _pieces(content: bytes, tell_progress: Callable[[int, int], None] | None) -> Iterator[bytes]:
    for start in range(0, len(content), PIECE):
        if tell_progress:
            tell_progress(start, len(content))
        yield content[start : start + PIECE]


def _read_version(entry: Mapping[str, Any]) -> PublishedVersion:
    yanked = entry.get("yanked")
    tags = entry.get("tags")
    return PublishedVersion(
        _text(entry, "version"),
        _text(entry, "digest"),
        _text(entry, "published_at"),
        yanked if isinstance(yanked, str) else None,
        tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else (),
    )


def _read_file(entry: Mapping[str, Any]) -> PublishedFile:
    size = entry.get("size")
    return PublishedFile(
        _text(entry, "path"),
        size if isinstance(size, int) else -1,
        _text(entry, "digest"),
        entry.get("executable") is True,
    )


def _seconds(text: str) -> float:
    """Return how long Retry-After asks to wait; a second where it says nothing, forever for a date."""
    if not text:
        return 1.0
    return float(text) if re.fullmatch("[0-9]{1,6}", text) else float("inf")


def _text(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def _tables(fields: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    value = fields.get(key)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
