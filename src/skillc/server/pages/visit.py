"""Serve pages: who visits, what is shown, forms that no other site can send, and errors as pages.

A page is a function of a `Visit` that returns a response. It may block: it runs in a thread.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from skillc import errors
from skillc.audit import Audit
from skillc.registry import Registry, Role, SignedIn
from skillc.registry.model import Caller
from skillc.server.caches import Cache
from skillc.server.pages.assets import create_environment, read_assets
from skillc.server.pages.catalog import MAX_AUDITS, Catalog
from skillc.server.requests import REQUEST_TIME, read_form
from skillc.server.responses import RETRY_SECONDS, Refusal, explain, run, status_of
from skillc.server.service import Service
from skillc.server.settings import ServerSettings
from skillc.server.signin.sessions import FIELD, check_form_token, check_origin, make_form_token

MAX_FORM = 256 << 10  # bytes of a form without files
MAX_FIELDS = 40
MAX_HEADS = 500  # that a process keeps; the longest unused go first

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # without one, browsers would not say where a form comes from
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, no-cache",
    "Vary": "Cookie",
}
NOT_KEPT = {"Cache-Control": "no-store"}  # what shows a secret

# What a visitor can do about an error, by its code.
ADVICE = {
    "E001": "Look for it with the search above, or start from the collections on the home page.",
    "E021": "The list of files shows what the skill has in this version.",
    "E004": "Type a few words about the task.",
    "E012": "Leave links out of the archive that lead out of the skill.",
    "E010": "Correct the skill and upload it again. 'skc lint' says what is wrong before you do.",
    "E011": "Add the field to the frontmatter of SKILL.md and upload the skill again.",
    "E050": "Choose another ID, or publish a new version of this one.",
    "E062": "Go back, correct the value and send the form again.",
    "E070": "An ID has lower-case letters, digits and hyphens, with slashes between its parts.",
    "E083": "Make the archive again: .zip or .tar.gz, SKILL.md at its top, no links that lead out.",
    "E084": "Read the findings. If you have checked them, say so in the form and publish again.",
    "E090": "Ask an admin of this registry for the role, or sign in with a token that has it.",
    "E091": "A version never changes. Choose a higher number and publish again.",
    "E092": "Nothing is lost. Try again in a moment.",
    "E100": "Start again from the home page.",
}


class Site:
    """What all visits of one application share. Pages of one's own skills have no service of a registry."""

    service: Service | None = None
    url = ""

    def __init__(self) -> None:
        self.audits: Cache[Audit | None] = Cache(MAX_AUDITS)  # by skill and digest
        self.assets = read_assets()
        self.environment = create_environment(self.assets)
        self.heads: Cache[Markup] = Cache(MAX_HEADS)  # of pages about skills, by all that they show

    @property
    def is_registry(self) -> bool:
        return self.service is not None

    async def open(self, request: Request) -> Visit:
        """Return the visit of a request."""
        raise NotImplementedError


@dataclass
class Visit:
    """One request: the visitor, the catalog that it sees, and the form that it sent."""

    request: Request
    site: Site
    own_catalog: Catalog | None = None  # None for a visitor who must sign in first
    caller: Caller | None = None  # None where there are no accounts, and for that visitor
    session: str = ""  # the secret that the browser sends; empty without one
    signed_in: SignedIn | None = None  # the session
    form: FormData = field(default_factory=FormData)

    @property
    def catalog(self) -> Catalog:
        """The skills that the visitor sees; raises SignInRequired."""
        if self.own_catalog is None:
            raise errors.SignInRequired
        return self.own_catalog

    @property
    def service(self) -> Service:
        """What serves pages that only a registry has."""
        assert self.site.service is not None
        return self.site.service

    @property
    def registry(self) -> Registry:
        return self.service.registry

    @property
    def settings(self) -> ServerSettings:
        return self.service.settings

    @property
    def person(self) -> Caller:
        """The visitor who signed in; raises SignInRequired."""
        if self.caller is None or not self.session:
            raise errors.SignInRequired
        return self.caller

    def allows(self, role: str, path: str = "") -> bool:
        """Return whether the visitor signed in and has a role for a path."""
        return self.caller is not None and bool(self.session) and self.caller.allows(Role.parse(role), path)

    def has_role(self, role: str) -> bool:
        """Return whether the visitor signed in and has a role for any path."""
        own = self.caller.permissions if self.caller is not None and self.session else ()
        return any(permission.role >= Role.parse(role) for permission in own)

    @property
    def form_token(self) -> str:
        """What forms of this session hold: other sites can't know it."""
        return make_form_token(self.session)

    @property
    def address(self) -> str:
        """The address of the site as its visitors know it."""
        return self.site.url or str(self.request.base_url).rstrip("/")

    @property
    def back(self) -> str:
        """The query of a link to sign-in that leads back here; empty for home, forms and sign-in itself."""
        scope, query = self.request.scope, self.request.url.query
        raw: bytes = scope.get("raw_path") or b"/"  # the other path is decoded: another one, for some
        path = raw.decode("latin-1") + (f"?{query}" if query else "")
        is_page = scope["method"] == "GET" and path != "/" and not path.startswith(("/login", "/logout"))
        return f"?next={quote(path)}" if is_page else ""

    def query(self, name: str) -> str:
        return self.request.query_params.get(name, "")

    def number(self, name: str, default: int = 0) -> int:
        """Return a number in the address; the default for what is none."""
        text = self.query(name)
        return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else default

    def part(self, name: str, values: Sequence[Any], size: int) -> dict[str, Any]:
        """Return what a page has of a list, from the `start` in its address on, and where the next starts."""
        start = self.number("start")
        end = start + size
        return {name: values[start:end], "start": start, "next_start": end if len(values) > end else 0}

    def text(self, name: str) -> str:
        """Return a field of the form; empty where it is missing or a file."""
        value = self.form.get(name)
        return value.strip() if isinstance(value, str) else ""

    def file(self, name: str) -> UploadFile | None:
        value = self.form.get(name)
        return value if isinstance(value, UploadFile) and value.filename else None

    def page(
        self, template: str, status: int = 200, headers: Mapping[str, str] | None = None, **values: Any
    ) -> Response:
        """Return a page, or a part of one."""
        html = self.site.environment.get_template(template).render(visit=self, site=self.site, **values)
        data = html.encode("utf-8", "replace")
        return Response(data, status, HEADERS | dict(headers or {}), "text/html; charset=utf-8")


Page = Callable[[Visit], Response] | Callable[[Visit], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]


def redirect(path: str, headers: Mapping[str, str] | None = None) -> Response:
    """Send the browser to another page, which it gets with GET."""
    return RedirectResponse(path, 303, HEADERS | dict(headers or {}))


def change(path: str, operation: Callable[[Registry], Callable[..., object]], *fields: str) -> Page:
    """Return what takes a form for an operation of the registry with some fields, and leads to a page then.

    `{id}` in the path is the field `id`.
    """

    def respond(visit: Visit) -> Response:
        operation(visit.registry)(visit.person, *map(visit.text, fields))
        return redirect(path.format(id=visit.text("id")))

    return respond


@dataclass(frozen=True, slots=True)
class FormLimits:
    """What a form may be: bytes in all, files, and seconds that it takes to arrive.

    One that is of a session has its form token.
    """

    size: int = MAX_FORM
    files: int = 0
    seconds: float = REQUEST_TIME
    is_of_session: bool = True


@asynccontextmanager
async def receive_fields(visit: Visit) -> AsyncIterator[FormLimits]:
    """Allow a form without files."""
    yield FormLimits()


Receive = Callable[[Visit], AbstractAsyncContextManager[FormLimits]]


def serve_page(
    site: Site,
    page: Page,
    receive: Receive = receive_fields,
    fail: Callable[[Visit, Exception], Response] | None = None,
) -> Endpoint:
    """Return the endpoint of a page. `receive` says, before a form is read, how large it may be.

    `fail` shows an error in another way than `show_error`.
    """

    async def respond(request: Request) -> Response:
        visit = Visit(request, site)  # of whom nothing is known yet
        try:
            if request.method != "POST":
                visit = await site.open(request)
                return await run(page, visit)
            _check_sender(check_origin, request, site.url)
            visit = await site.open(request)
            async with receive(visit) as limits:
                options = {"max_files": limits.files, "max_fields": MAX_FIELDS, "max_part_size": MAX_FORM}
                visit.form = await read_form(request, limits.size, limits.seconds, **options)
                try:
                    if visit.session and limits.is_of_session:
                        _check_sender(check_form_token, visit.session, visit.text(FIELD))
                    return await run(page, visit)
                finally:
                    await visit.form.close()
        except errors.SignInRequired:
            return redirect(f"/login{visit.back}")
        except Exception as error:
            return await run_in_threadpool(fail or show_error, visit, error)

    return respond


def _check_sender(check: Callable[..., None], *arguments: object) -> None:
    """Refuse a form for which a check fails: it is not from this site, or not of this session."""
    try:
        check(*arguments)
    except errors.RegistryRefused:
        raise Refusal(403, "the form was not sent from a page of this session") from None


def show_error(
    visit: Visit, error: Exception, headers: Mapping[str, str] | None = None, **values: Any
) -> Response:
    """Show an error as a page; `values` replace what it says, or add to it."""
    status, code, message = _describe(visit.request, error)
    advice = ADVICE.get(code, "Try again. If it happens again, tell the operator of this server the code.")
    if isinstance(error, Refusal) and code == errors.InvalidOption.code:
        advice = "Go back to the page, load it again, and send the form once more."
    more = {"Retry-After": str(RETRY_SECONDS)} if status == 503 else {}
    if isinstance(error, Refusal):
        more = error.headers or {}
    every = {"code": code, "message": message, "advice": advice, "number": status} | values
    return visit.page("error.html", status, {**(headers or {}), **more}, **every)


def _describe(request: Request, error: Exception) -> tuple[int, str, str]:
    """Return status, code and message of an error, as a visitor may know them."""
    if isinstance(error, Refusal):
        return error.status, error.code, str(error)
    if isinstance(error, HTTPException):
        words = {404: "there is no such page", 405: f"{request.method} is not allowed here"}
        return error.status_code, errors.InvalidOption.code, words.get(error.status_code, error.detail)
    return status_of(error), errors.unexpected(error).code, explain(request, error)


async def show_missing(site: Site, request: Request, error: HTTPException) -> Response:
    """Return the page for what the router refuses."""
    visit = Visit(request, site)
    with suppress(Exception):  # a page that is not there says so, also without a session or a store
        visit = await site.open(request)
    return await run_in_threadpool(show_error, visit, error)


def prefers_html(request: Request) -> bool:
    """Return whether a browser asks: programs that want JSON do not name HTML."""
    return request.method in ("GET", "HEAD") and "text/html" in request.headers.get("Accept", "")
