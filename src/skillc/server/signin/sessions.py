"""Know browsers by a cookie, and tell their own requests from those that other sites make them send.

    session = read_cookie(request, settings.url)
    check_origin(request, settings.url)
    check_form_token(session, form.get(FIELD, ""))

A browser sends its cookies with requests of any site. So a request that may change something must come from
a page of this server (its Origin), and hold what only its pages know: a text made of the session's secret.
"""

from __future__ import annotations

import hmac
from hashlib import sha256
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from skillc.errors import RegistryRefused

SAFE = ("GET", "HEAD", "OPTIONS")  # methods that change nothing
COOKIE = "skillc-session"
HEADER = "X-CSRF-Token"  # of a request by JavaScript
FIELD = "form_token"  # of a form


def is_secure(url: str) -> bool:
    return url.startswith("https://")


def cookie_name(url: str, name: str = COOKIE) -> str:
    """Return the name of a cookie. With `__Host-`, which needs https, no other host can have set it."""
    return f"__Host-{name}" if is_secure(url) else name


def read_cookie(request: Request, url: str, name: str = COOKIE) -> str:
    return request.cookies.get(cookie_name(url, name), "")


def set_cookie(response: Response, url: str, value: str, seconds: int, name: str = COOKIE) -> None:
    """Give a browser a cookie that scripts can't read, and that forms of other sites don't send."""
    response.set_cookie(
        cookie_name(url, name),
        value,
        max_age=seconds,
        secure=is_secure(url),
        httponly=True,
        samesite="lax",
    )


def clear_cookie(response: Response, url: str, name: str = COOKIE) -> None:
    set_cookie(response, url, "", 0, name)


def make_form_token(session: str) -> str:
    """Return what the pages of a session put into their forms; empty without a session."""
    return hmac.new(session.encode(), b"form", sha256).hexdigest() if session else ""


def check_form_token(session: str, text: str) -> None:
    """Raise RegistryRefused for a text that is not the form token of a session."""
    if not session or not hmac.compare_digest(make_form_token(session).encode(), text.encode()):
        raise RegistryRefused("the request lacks the token of this session's forms")


def check_origin(request: Request, url: str) -> None:
    """Raise RegistryRefused for a request that was not sent from a page of this server."""
    origin = request.headers.get("Origin", "")
    site = request.headers.get("Sec-Fetch-Site", "same-origin")
    hosts = {urlsplit(url).netloc.lower(), request.headers.get("Host", "").lower()} - {""}
    schemes = ("https",) if is_secure(url) else ("http", "https")
    origins = {f"{scheme}://{host}" for scheme in schemes for host in hosts}
    if origin.lower() not in origins or site != "same-origin":
        raise RegistryRefused("with a session, requests are accepted from pages of this server only")


def local_path(text: str) -> str:
    """Return a path of this server that a visitor named; the home page for anything else.

    >>> local_path("/s/a?part=2"), local_path("//evil.example"), local_path("https://evil.example")
    ('/s/a?part=2', '/', '/')
    """
    is_local = text.startswith("/") and not text.startswith("//") and "\\" not in text and text.isprintable()
    return text if is_local and text.isascii() and len(text) <= MAX_PATH else "/"


MAX_PATH = 1000  # characters
