"""Sign-in with an issuer of our own in a browser, on both stores, with JavaScript and without.

The issuer asks with a page of its own, and remembers who signed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser

from skillc.registry import SYSTEM, Registry, Role
from skillc.registry.model import Grant
from skillc.server import OidcSettings, SignInSettings
from tests.server.pages.conftest import Visitor
from tests.support.http import Stub
from tests.support.issuer import CLIENT_ID, CLIENT_SECRET, Issuer, issuer
from tests.support.pages import make_person, serving

__all__ = ["issuer"]
pytestmark = pytest.mark.slow

Open = Callable[..., Visitor]


@pytest.fixture
def visit(registry: Registry, browser: Browser, issuer: Issuer, has_script: bool) -> Iterator[Open]:
    """A function that serves the registry with settings of sign-in, and returns a visitor."""
    issuer.asks = True
    registry.accounts.create_first_admin()
    registry.accounts.grant(SYSTEM, Grant("ana@example.com", Role.READER))
    visitors = []
    with ExitStack() as stack:

        def open_visitor(*, public_read: bool = True, **settings: Any) -> Visitor:
            oidc = OidcSettings(issuer.url, CLIENT_ID, CLIENT_SECRET, **settings)
            sign_in = SignInSettings(oidc)
            url = stack.enter_context(serving(registry, public_read=public_read, sign_in=sign_in))
            context = browser.new_context(java_script_enabled=has_script)
            stack.callback(context.close)
            context.set_default_timeout(20_000)
            visitor = Visitor(context, url)
            visitor.others = (issuer.url,)
            visitors.append(visitor)
            return visitor

        yield open_visitor
        assert [fault for visitor in visitors for fault in visitor.faults] == []


def names(visitor: Visitor) -> set[str]:
    return {cookie["name"] for cookie in visitor.context.cookies(visitor.url)}


def answer(visitor: Visitor, word: str = "yes") -> None:
    """Press a button of the issuer's page."""
    assert not visitor.page.url.startswith(visitor.url)
    visitor.page.click(f"button[value={word}]")
    visitor.page.wait_for_url(f"{visitor.url}/**")


def test_there_and_back(visit: Open, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] from a page to the issuer and back to that page; the account; out again."""
    visitor = visit()
    page = visitor.page
    visitor.go("/s/payments/refunds@1.1.0?from=here&x=%C3%A9%26")
    page.click("nav >> text=Sign in")
    assert page.inner_text("h1") == "Sign in to skillc?"
    answer(visitor)
    assert visitor.path == "/s/payments/refunds@1.1.0?from=here&x=%C3%A9%26"
    assert names(visitor) == {"skillc-session"}
    page.click("nav >> text=Account")
    assert page.inner_text("h1") == "Ana Example"
    assert "ana@example.com" in visitor.text
    assert "reader everywhere" in visitor.text
    page.click("text=Sign out")
    page.wait_for_selector("nav >> text=Sign in")
    assert visitor.path == "/"
    assert names(visitor) == set()
    visitor.go("/account")  # the issuer has a session still, and does not ask
    assert visitor.path == "/account"
    assert issuer.requests.count("/answer") == 1


def check_problem(visitor: Visitor, what: str, advice: str, code: str = "E090") -> None:
    """A page says what happened and what to do, and leads on: back to sign-in, or to that with a token."""
    assert visitor.text.startswith(code)
    assert visitor.page.inner_text("h1") == what
    assert advice in visitor.text
    assert "skillc-session" not in names(visitor)
    (token,) = visitor.page.locator("main a >> text=Sign in with a token").all()
    assert token.get_attribute("href") == "/login?token&next=/account"


def sign_in_again(visitor: Visitor) -> None:
    visitor.page.click("main a >> text=Sign in again")
    if not visitor.page.url.startswith(visitor.url):
        answer(visitor)
    assert visitor.path == "/account"
    assert visitor.page.inner_text("h1") == "Ana Example"


def test_refused_at_the_issuer(visit: Open) -> None:
    """[SURFACES: Sign-in] a person that says no is told so, and can try again or use a token."""
    visitor = visit()
    visitor.go("/account")
    answer(visitor, "no")
    check_problem(visitor, "The issuer did not sign you in (access_denied)", "It was cancelled, or your")
    assert names(visitor) == set()
    sign_in_again(visitor)


def test_issuer_that_is_down(visit: Open, issuer: Issuer, registry: Registry) -> None:
    """[SURFACES: Sign-in] the page says that the issuer is down; a token signs in, and leads back, too."""
    visitor = visit()
    issuer.failure = 500
    assert visitor.go("/account") == 503
    check_problem(visitor, "The sign-in of your organisation does not answer", "Try again in a", "E092")
    visitor.page.click("main a >> text=Sign in with a token")
    visitor.page.fill("#token", make_person(registry, "eva", Role.READER))
    visitor.page.click("main button")
    assert visitor.path == "/account"
    assert visitor.page.inner_text("h1") == "eva"


def test_pages_of_other_sites(visit: Open) -> None:
    """[SURFACES: Sign-in] a form of another site signs no one out."""
    visitor = visit()
    visitor.go("/account")
    answer(visitor)
    before = names(visitor)
    evil = Stub()
    try:
        form = f'<form method="post" action="{visitor.url}/logout"><button>Win</button></form>'
        html = f'<link rel="icon" href="data:,">{form}'.encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(html)}\r\n\r\n"
        evil.gives(head.encode() + html)
        address = evil.url.replace("127.0.0.1", "localhost")  # to browsers another site, not just a port
        visitor.others += (address,)
        visitor.page.goto(address)
        visitor.page.click("button")
        visitor.page.wait_for_url(f"{visitor.url}/**")
        assert "not sent from a page of this session" in visitor.text
    finally:
        visitor.page.goto("about:blank")
        evil.close()
    assert names(visitor) == before
    visitor.go("/account")
    assert visitor.page.inner_text("h1") == "Ana Example"


def test_no_secret_in_addresses(visit: Open) -> None:
    """[SURFACES: Sign-in] no address of ours has a session or a token, and no page has the ID token."""
    visitor = visit()
    urls: list[str] = []
    visitor.page.on("request", lambda request: urls.append(request.url))
    visitor.go("/account")
    answer(visitor)
    html = visitor.page.content()
    visitor.page.click("text=Sign out")
    assert "eyJ" not in html + visitor.page.content()  # the start of an ID token
    own = [url for url in urls if url.startswith(visitor.url)]
    assert [url for url in own if "eyJ" in url or "skc_" in url] == []
    keys = {key for url in own for key in parse_qs(urlsplit(url).query)}
    assert keys == {"next", "code", "state"}
