"""What holds for every page: no barriers, little weight, no sideways scrolling, and keys are enough."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

import pytest
from playwright.sync_api import Browser

from skillc.registry import SYSTEM, Registry, Role, make_package
from skillc.registry.model import Identity
from tests.server.pages.conftest import Person, Visitor
from tests.support.axe import VIEWS, find_barriers
from tests.support.examples import sample
from tests.support.pages import UNUSUAL, make_admin, make_person, publish, publish_unusual, serving

pytestmark = pytest.mark.slow

MAX_WEIGHT = 150_000  # bytes of a page with all that it loads
PAGES = [
    *("/", "/c/payments", "/find?q=pay+money+back", "/find?q=zzzz", "/find", "/s/payments/refunds"),
    *("/s/payments/refunds@1.0.0", "/s/payments/refunds@1.1.0"),
    *("/s/payments/refunds@1.2.0/references/limits.md", "/s/payments/refunds@1.2.0/scripts/refund.py"),
    *("/s/payments/refunds@1.2.0/assets/flow.png", "/files/payments/refunds", "/versions/payments/refunds"),
    *("/diff/payments/refunds?from=1.0.0&to=1.2.0", "/audit/payments/refunds", "/statistics"),
    *("/statistics/payments/refunds", "/login?token", "/login/callback", "/logout", "/account", "/publish"),
    *("/review", "/deleted", "/admin/grants", "/admin/people", "/admin/publishers", "/admin/log"),
    *("/s/nothing", "/nothing", f"/s/{UNUSUAL}", f"/c/{UNUSUAL.partition('/')[0]}"),
]


@pytest.fixture
def token(local_registry: Registry) -> str:
    local_registry.yank(SYSTEM, "payments/refunds", "1.1.0", "It paid twice.")
    local_registry.delete(SYSTEM, "documents/slides")
    local_registry.set_tag(SYSTEM, "payments/refunds", "stable", "1.0.0")
    publish_unusual(local_registry)
    token = make_admin(local_registry)
    _add_people(local_registry, 0, 2)
    return token


def _add_people(registry: Registry, start: int, end: int) -> None:
    """Let people with many groups sign in, and trust as many workflows."""
    for number in range(start, end):
        groups = tuple(f"{'x' * 50}{group}" for group in range(20))
        name = f"{number}{'person' * 15}@example.com"
        identity = Identity("https://login.example.com", name, name, f"{number} Person", name, groups)
        registry.sessions.sign_in(identity, Role.READER, f"payments/{'x' * 50}")
        source = "https://gitlab.com", f"acme/{'x' * 60}{number}", "release.yml", "payments"
        registry.publishers.trust(SYSTEM, *source, ref=f"refs/tags/{'v' * 100}*", environment="production")


@pytest.fixture
def url(local_registry: Registry, token: str) -> Iterator[str]:
    with serving(local_registry) as url:
        yield url


def test_barriers(browser: Browser, url: str, token: str) -> None:
    """[SURFACES: Registry] axe-core finds nothing serious, and nothing scrolls sideways, wide or narrow.

    At the gate it is asked about every third page.
    """
    context = browser.new_context(bypass_csp=True)
    visitor = Visitor(context, url)
    visitor.sign_in(token)
    barriers: list[str] = []
    for path in sample(PAGES, 3):
        visitor.page.set_viewport_size({"width": 1280, "height": 800})
        visitor.go(path)
        for details in visitor.page.query_selector_all("details:not([open]) > summary"):
            details.click()
        for width, scheme, rules in VIEWS:
            visitor.page.set_viewport_size({"width": width, "height": 800})
            visitor.page.emulate_media(color_scheme=scheme)
            barriers += find_barriers(visitor.page, rules)
    context.close()
    assert barriers == []


LOADED = re.compile(r'<(?:link|script|img)\b[^>]*?\b(?:href|src)="(/[^"]*)"')


def weigh(person: Person, path: str) -> int:
    """Return the bytes of a page with all that it loads, without compression."""
    response = person.get(path, follow_redirects=True)
    loaded = {unescape(address) for address in LOADED.findall(response.text)}
    return len(response.content) + sum(len(person.get(address).content) for address in loaded)


def test_weight(token: str, local_registry: Registry) -> None:
    """[SURFACES: Registry] no page is heavier than 150 KB, however large skills are."""
    _fill_more(local_registry)
    more = ["/s/big", "/s/big?part=3"]
    more += [f"/s/big@0.1.0/{name}" for name in ("notes.md", "data.txt", "line.txt")]
    more += ["/files/big", "/diff/big", "/versions/many", "/audit/big", "/c/crowd", "/find?q=word"]
    more += ["/statistics/big", "/admin/grants?start=100", "/admin/people?start=40"]
    person = Person(local_registry, token)
    weights = {path: weigh(person, path) for path in [*PAGES, *more]}
    assert min(weights.values()) > 20_000  # the style and the script count
    assert {path: weight for path, weight in weights.items() if weight > MAX_WEIGHT} == {}


def _fill_more(registry: Registry) -> None:
    """Publish skills that are as large as they get: text, files, lines, versions; add people."""
    _add_people(registry, 2, 110)
    head = "---\nname: big\ndescription: " + "word " * 200 + "\n---\n"
    text = "".join(f"\n## Part {number} <b>\n\n" + "word & <i>word</i> " * 600 for number in range(85))
    files = {f"data/{number:04}.txt": b"x" for number in range(3000)}
    lines = "".join(f"line {number} with <angle> brackets & more\n" for number in range(50_000)).encode()
    files |= {"notes.md": text.encode(), "data.txt": lines, "line.txt": b"<" * 500_000}
    files |= {f"assets/{n}.png": b"\x89PNG" + bytes(30_000) for n in range(20)}
    pictures = "".join(f"![picture](assets/{number}.png)\n" for number in range(20))
    files["SKILL.md"] = f"{head}# Big\n\n{pictures}\n{text}".encode()
    publish(registry, "big", files)
    files["SKILL.md"] = f"{head}# Big\n\n{text.replace('word', 'term')}".encode()
    files["run.sh"] = "".join(f"curl https://host{n}.example/x | sh\n" for n in range(400)).encode()
    files["data.txt"] = lines[: len(lines) // 20].replace(b"line", b"row")
    publish(registry, "big", files)
    for number in range(120):
        data = f"---\nname: many\ndescription: d\n---\n{number}\n".encode()
        registry.publish(SYSTEM, make_package("many", {"SKILL.md": data}), note="word " * 380)
    for number in range(60):
        name = f"crowd/{'x' * 50}{number}"
        data = f"---\nname: {'x' * 50}{number}\ndescription: {'word ' * 200}\n---\n".encode()
        publish(registry, name, {"SKILL.md": data})
    for number in range(120):
        publish(registry, f"gone/{'x' * 50}{number}", {"SKILL.md": b"---\nname: x\ndescription: d\n---\n"})
        registry.delete(SYSTEM, f"gone/{'x' * 50}{number}")
    for number in range(150):
        make_person(registry, f"person-{number}-{'x' * 60}", Role.READER, f"crowd/{'y' * 40}")


def test_keyboard(browser: Browser, url: str) -> None:
    """[SURFACES: Registry] the first key leads past the head of a page, and focus can be seen."""
    context = browser.new_context()
    visitor = Visitor(context, url)
    visitor.go("/s/payments/refunds")
    page = visitor.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    for _ in range(12):
        page.keyboard.press("Tab")
        style = "getComputedStyle(document.activeElement)"
        assert page.evaluate(f"{style}.outlineStyle + {style}.outlineWidth") == "solid3px"
    context.close()
