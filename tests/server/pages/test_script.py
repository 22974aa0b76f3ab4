"""What JavaScript adds to pages: results as one types, a shortcut, an outline that follows, a kept file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from skillc.registry import SYSTEM, Registry
from tests.server.pages.conftest import Visitor
from tests.support.archives import zipped
from tests.support.pages import make_admin, publish, serving

pytestmark = pytest.mark.slow

SKILL = b"---\nname: greeting\ndescription: Greet people\n---\n# Greeting\n"


@pytest.fixture
def visitor(browser: Browser, local_registry: Registry) -> Iterator[Visitor]:
    with serving(local_registry) as url:
        context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
        context.set_default_timeout(8_000)
        made = Visitor(context, url)
        yield made
        context.close()
        assert made.faults == []


def test_search_as_one_types(visitor: Visitor) -> None:
    """[SURFACES: Registry] results replace the lists of the home page while one types."""
    visitor.go("/")
    page = visitor.page
    page.keyboard.press("/")
    page.keyboard.type("release notes")
    page.wait_for_selector("#results >> text=engineering/release-notes")
    assert not page.is_visible("text=All skills")
    assert visitor.path == "/"
    page.fill("#q", "")
    page.wait_for_selector("text=All skills")
    visitor.go("/find?q=slides")
    page.fill("#q", "postmortem")
    page.wait_for_selector("#results >> text=engineering/incidents/postmortem")
    assert visitor.path == "/find?q=postmortem"


def test_outline_follows(visitor: Visitor, local_registry: Registry) -> None:
    """[SURFACES: Registry] the outline marks the section that is read."""
    body = "Text.\n\n" * 60
    text = "".join(f"\n## Part {number}\n{body}" for number in range(5))
    data = f"---\nname: long\ndescription: Long\n---\n# Long\n{text}".encode()
    publish(local_registry, "long", {"SKILL.md": data})
    visitor.go("/s/long")
    page = visitor.page
    page.locator("#s-part-3").scroll_into_view_if_needed()
    page.evaluate("document.getElementById('s-part-3').scrollIntoView({behavior: 'instant'})")
    page.wait_for_selector(".outline a[aria-current]:has-text('Part 3')")


def test_copy(visitor: Visitor) -> None:
    """[SURFACES: Registry] a button copies the command for an agent."""
    visitor.go("/s/payments/refunds")
    visitor.page.click(".get pre .copy")
    visitor.page.wait_for_selector("text=Copied")
    copied = visitor.page.evaluate("navigator.clipboard.readText()")
    assert copied == f"skc add {visitor.url}/payments/refunds"


def test_publication_keeps_the_file(visitor: Visitor, local_registry: Registry) -> None:
    """[SURFACES: Registry] what was checked is published without choosing the file again."""
    visitor.sign_in(make_admin(local_registry))
    visitor.go("/publish")
    page = visitor.page
    upload = {"name": "a.zip", "mimeType": "application/zip", "buffer": b"no archive"}
    page.fill("#id", "greeting")
    page.set_input_files("#archive", upload)  # type: ignore[arg-type]
    page.click("button[value=check]")
    page.wait_for_selector("text=E083")
    upload["buffer"] = zipped({"SKILL.md": SKILL})
    page.set_input_files("#archive", upload)  # type: ignore[arg-type]
    page.click("button[value=check]")
    page.wait_for_selector("text=Ready to publish")
    page.click("button[value=publish]")
    page.wait_for_url("**/s/greeting@0.1.0")
    assert local_registry.skill(SYSTEM, "greeting").resolve().version == "0.1.0"
