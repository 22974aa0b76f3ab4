"""A registry with skills on each store, its pages, and a browser: with JavaScript, without, no window."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

from skillc.registry import Registry, RegistryConfig, ReviewRules, open_registry
from skillc.server import ServerSettings, create_registry_app
from tests.support import browser as chromium
from tests.support.client import AppClient
from tests.support.examples import sample
from tests.support.pages import fill, make_admin, serving

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


class Visitor:
    """A browser window at a registry's pages. It notes whatever a page should not do."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.context = context
        self.url = url
        self.others: tuple[str, ...] = ()  # places that pages may lead to
        self.faults: list[str] = []  # dialogs, errors, what the CSP refused, requests to other places
        self.page: Page = context.new_page()
        self.page.on("dialog", self._note_dialog)
        self.page.on("console", self._note_console)
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("request", self._note_request)

    def _note_dialog(self, dialog: Any) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _note_console(self, message: ConsoleMessage) -> None:
        is_status = "Failed to load resource: the server responded with a status" in message.text
        if message.type in ("error", "warning") and not is_status:
            self.faults.append(f"console: {message.text}")

    def _note_request(self, request: Request) -> None:
        if not request.url.startswith((self.url, *self.others, "about:", "data:")):
            self.faults.append(f"request: {request.url}")

    def go(self, path: str) -> int:
        """Open a page and return its status."""
        response = self.page.goto(f"{self.url}{path}")
        assert response is not None
        return response.status

    def sign_in(self, token: str) -> None:
        self.go("/login?token")
        self.page.fill("#token", token)
        self.page.click("main button")

    @property
    def path(self) -> str:
        return self.page.url.removeprefix(self.url)

    @property
    def text(self) -> str:
        """The words of the page, each space as one."""
        return re.sub(r"\s+", " ", self.page.inner_text("main"))


class Person(AppClient):
    """A browser without a window: with `token`, signed in."""

    def __init__(self, registry: Registry, token: str = "", *, public_read: bool = False) -> None:
        app = create_registry_app(registry, ServerSettings(public_read=public_read))
        super().__init__(app, headers={**HTML, "Origin": "http://testserver"}, follow_redirects=False)
        if token:
            assert self.post("/login", data={"token": token, "next": "/"}).status_code == 303

    def form_token(self) -> str:
        """What forms of this session hold."""
        match = re.search(r'name="form_token" value="(\w+)"', self.get("/account").text)
        assert match
        return match[1]

    def fill_in(self, path: str, **fields: str) -> int:
        """Send a form with the token of this session, and return the status."""
        return self.post(path, data={"form_token": self.form_token(), **fields}).status_code


@pytest.fixture(scope="module")  # its event loop runs as long, and other modules have theirs
def browser() -> Iterator[Browser]:
    if reason := chromium.why_not():
        pytest.skip(reason)
    with chromium.running_browser() as started:
        yield started


STORES = ("sqlite", "postgresql")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test both stores; at the gate one, and the other to the next test of its module."""
    if "store" in metafunc.fixturenames:
        place = [*vars(metafunc.module)].index(metafunc.function.__name__)
        metafunc.parametrize("store", [*sample(STORES, 2, place % 2)])


@pytest.fixture
def has_script(store: str) -> bool:
    """Whether a visitor has JavaScript: each store meets one of the two."""
    return store == "sqlite"


@pytest.fixture
def registry(store: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Registry]:
    """A registry with some skills, on each store."""
    url = f"{tmp_path}/registry.db"
    if store == "postgresql":
        url = request.getfixturevalue("cluster").empty_store()
    config = RegistryConfig(review=ReviewRules(("support",)))
    with open_registry(url, f"{tmp_path}/blobs", config) as made:
        fill(made)
        yield made


@pytest.fixture
def local_registry(tmp_path: Path) -> Iterator[Registry]:
    """A registry with some skills, for what does not depend on the store."""
    with open_registry(f"{tmp_path}/registry.db") as made:
        fill(made)
        yield made


@pytest.fixture
def admin(registry: Registry) -> str:
    """The token of an admin."""
    return make_admin(registry)


@pytest.fixture
def url(registry: Registry) -> Iterator[str]:
    with serving(registry) as url:
        yield url


@pytest.fixture
def visitor(has_script: bool, browser: Browser, url: str) -> Iterator[Visitor]:
    """A visitor with JavaScript, and one without; neither may see a page do what it should not."""
    context = browser.new_context(java_script_enabled=has_script)
    context.set_default_timeout(20_000)
    try:
        made = Visitor(context, url)
        yield made
        assert made.faults == []
    finally:
        context.close()
