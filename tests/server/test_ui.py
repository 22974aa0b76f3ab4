"""`skc ui`: the pages over one's own skills, for those who have the key."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import unquote, urlsplit

import httpx2
import pytest
from starlette.responses import PlainTextResponse

from skillc.server.ui import Lock
from tests.conftest import World
from tests.support.axe import VIEWS, find_barriers
from tests.support.browser import running_browser, why_not
from tests.support.client import AppClient
from tests.support.forks import serving_skc
from tests.support.pages import THIEF
from tests.support.skills import skill

pytestmark = pytest.mark.slow

TEXT = """---
name: pdf
description: Fill in PDF forms
metadata:
  version: "1.2"
---
# PDF

Run [the script](scripts/fill.sh), or read [more](references/more.md).

## Fill in a form

Text.
"""


def started(
    world: World, *words: str, **variables: str
) -> AbstractContextManager[tuple[str, subprocess.Popen[str]]]:
    """`skc ui` as a process: the address that it prints."""
    return serving_skc(["ui", *words], cwd=world.project, env=world.env | variables)


def visiting(url: str = "") -> httpx2.Client:
    return httpx2.Client(base_url=url, timeout=30, trust_env=False, verify=False, follow_redirects=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """A client of `skc ui`, which has its key."""
    world = World(tmp_path_factory.mktemp("ui"))
    folder = world.skill("pdf", TEXT)
    (folder / "scripts").mkdir()
    (folder / "scripts" / "fill.sh").write_text("curl https://forms.dev/x\n")
    (folder / ".hidden").write_text("secret")
    skill(world.home, ".claude/skills/theirs")
    skill(world.project, ".skillc/skills/billing/refunds")
    world.ok("build", "pdf")
    world.ok("build", "billing/refunds")
    world.ok("show", "pdf", "--section", "Fill in a form")
    world.ok("search", "pdf", "nonsense")
    world.ok("stats", "--all", "--html", "usage.html")
    with started(world, "--no-open") as (address, process):
        url, _, key = address.partition("/?")
        with visiting(url) as client:
            assert client.get(f"/?{key}").status_code == 200
            client.headers["X-Address"] = f"/?{key}"  # for those who want to use it again
            client.headers["X-Project"] = str(world.project)
            yield client
    assert process.wait(60) == 0


def test_pages(site: httpx2.Client) -> None:
    """[SURFACES: Registry] `skc ui` shows text, files, what a skill asks for, and its use."""
    home = site.get("/").text
    assert "Your skills" in home
    assert "no skills of yours" not in home
    assert 'href="/s/billing/refunds"' in home
    assert 'href="/c/billing"' in home
    page = site.get("/s/pdf").text
    assert '<h3 id="s-fill-in-a-form">' in page
    assert ">version</span> <strong>1.2.0</strong>" in page
    assert "forms.dev" in page
    assert 'href="/s/pdf@1.2.0/scripts/fill.sh"' in page
    assert "more.md" not in re.findall(r'href="([^"]*)"', page)
    assert "curl https://forms.dev/x" in site.get("/s/pdf@1.2.0/scripts/fill.sh").text
    assert site.get("/raw/pdf@latest/scripts/fill.sh").text == "curl https://forms.dev/x\n"
    assert site.get("/archive/pdf").headers["content-type"] == "application/gzip"
    assert "Matches" in site.get("/find?q=fill+in+a+form").text
    use = site.get("/statistics/pdf").text
    assert "Fill in a form" in use
    assert "nonsense" in site.get("/statistics").text


def test_agents(site: httpx2.Client) -> None:
    """[SURFACES: Registry] `skc ui` shows what agents see; own skills can only be read."""
    page = site.get("/agents").text
    assert "Claude Code" in page
    assert "theirs" in page
    assert "not from skc" in page
    assert "skc listing fit --dry-run" in page
    assert 'aria-current="page">Agents' in page
    own = site.get("/s/pdf").text
    assert re.search(r'<li>Claude Code: <span class="mark good">whole</span></li>', own)
    for command in ("build", "disable", "lint", "remove"):
        assert f"<code data-copy>skc {command} pdf</code>" in own
    assert "<code data-copy>skc listing set pdf demand</code>" in own
    assert "Claude Code:" in site.get("/s/billing/refunds").text
    assert "<code data-copy>skc listing set billing/refunds demand</code>" in page
    assert "skc remove" not in site.get("/s/git").text  # comes with skc, and is in no store
    for path in ("/", "/s/pdf", "/files/pdf", "/audit/pdf", "/statistics", "/agents"):
        assert 'method="post"' not in site.get(path).text
    headers = {"Accept": "text/html", "Origin": str(site.base_url).rstrip("/")}
    for path in ("/account", "/publish", "/versions/nothing", "/s/.hidden", "/s/pdf@latest/.hidden"):
        assert site.get(path, headers=headers).status_code in (400, 404)
    assert site.post("/publish", headers=headers).status_code == 404
    assert site.get("/raw/pdf@latest/..%2f..%2f..%2fconfig.toml").status_code == 404


def read_pages(world: World, *paths: str) -> list[str]:
    """Return the first page of `skc ui`, and others."""
    with started(world, "--no-open") as (address, _), visiting() as client:
        rest = [f"{address.partition('/?')[0]}{path}" for path in paths]
        return [client.get(url).text for url in (address, *rest)]


def test_nothing_yet(world: World) -> None:
    """[SURFACES: Registry] without skills of one's own, the first page and that of use say how to begin."""
    home, usage = read_pages(world, "/statistics")
    assert 'href="/s/git"' in home
    assert "<code data-copy>skc import --dry-run</code>" in home
    assert "<code>skc setup</code>" in usage


def test_overflow(world: World) -> None:
    """[SURFACES: Registry] the first page says which agent's listing is too full."""
    for number in range(60):
        world.skill(f"s{number}", f"---\nname: s{number}\ndescription: {'word ' * 60}\n---\n")
    world.ok("build", "--all", "--target", "claude")
    (home,) = read_pages(world)
    assert re.search(r"Claude Code: the model sees \d+ of 60 descriptions whole", home), home


def test_sections_of_several_skills(world: World) -> None:
    """[SURFACES: Registry] where several skills are counted, a section is listed with the name of its own."""
    for name in ("one", "two"):
        world.skill(name, TEXT.replace("pdf", name))
    world.ok("build", "two")
    world.ok("show", "two", "--section", "Fill in a form")
    use = read_pages(world, "/statistics")[1]
    assert re.search(r"Fill in a form</bdi> <small[^>]*>two: SKILL\.md<", use)


def test_blocked(world: World) -> None:
    """[SURFACES: Registry] own skills that an audit blocks are marked at their name, in lists and search.

    A list waits for no audit: it says which are not audited yet. What was found is known from then on.
    """
    world.skill("wallet-helper", THIEF)
    blocked, pending = '<strong class="mark block">blocked</strong>', "data-pending>not audited yet<"
    with started(world, "--no-open") as (address, _), visiting() as client:
        url = address.partition("/?")[0]
        first = client.get(address).text
        assert first.count(blocked) + first.count(pending) == 1
        end = time.monotonic() + 60
        while pending in client.get(url).text:
            assert time.monotonic() < end
            time.sleep(0.05)
        paths = ("/", "/find?q=prices+of+coins", "/s/wallet-helper")
        assert [client.get(f"{url}{path}").text.count(blocked) for path in paths] == [1, 1, 1]
    assert read_pages(world)[0].count(blocked) == 1  # at first sight


@pytest.mark.skipif(bool(why_not()), reason=why_not())
def test_marks_arrive(world: World) -> None:
    """[SURFACES: Registry] a page gets the mark of a skill that was not audited when it was asked for."""
    with started(world, "--no-open") as (address, _), running_browser() as browser:
        page = browser.new_page()
        page.goto(address)
        world.skill("wallet-helper", THIEF)
        page.goto(address.partition("/?")[0])
        assert page.locator("h3:has(a[href='/s/wallet-helper']) > .mark").count() == 1
        page.locator("h3:has(a[href='/s/wallet-helper']) > .mark.block").wait_for()


@pytest.mark.skipif(bool(why_not()), reason=why_not())
def test_barriers(site: httpx2.Client) -> None:
    """[SURFACES: Registry] axe-core finds nothing serious on the pages of own skills and of their use."""
    barriers: list[str] = []
    url = str(site.base_url).rstrip("/")
    usage = Path(site.headers["X-Project"], "usage.html").as_uri()
    with running_browser() as browser:
        context = browser.new_context(bypass_csp=True)
        for name, text in site.cookies.items():
            context.add_cookies([{"name": name, "value": text, "url": url}])
        page = context.new_page()
        for place in (*(f"{url}{path}" for path in ("/", "/agents", "/s/pdf", "/find?q=form")), usage):
            response = page.goto(place)
            assert response is None or response.ok, place
            for width, scheme, rules in VIEWS:
                page.set_viewport_size({"width": width, "height": 800})
                page.emulate_media(color_scheme=scheme)
                barriers += find_barriers(page, rules)
    assert barriers == []


def test_key_and_host(site: httpx2.Client) -> None:
    """[SURFACES: Registry] without the key there is nothing; nor for a page that took over a name."""
    with httpx2.Client(base_url=site.base_url, trust_env=False, verify=False) as other:
        for path in ("/", "/s/pdf", "/?key=wrong", "/static/x.css"):
            response = other.get(path)
            assert response.status_code == 403
            assert "pdf" not in response.text
    assert site.get("/", headers={"Host": "evil.example"}).status_code == 421
    assert site.get("/", headers={"Origin": "https://evil.example"}).status_code == 403


def test_the_key_works_once(site: httpx2.Client) -> None:
    """[SURFACES: Registry] the address that was printed is worthless when a browser has used it."""
    used = site.headers["X-Address"]
    with httpx2.Client(base_url=site.base_url, trust_env=False, verify=False) as other:
        response = other.get(used)
        assert (response.status_code, response.cookies) == (403, httpx2.Cookies())
        assert "start 'skc ui' again" in response.text
    assert site.get(used).status_code == 200  # the browser that has the cookie goes on


@pytest.fixture
def opened(world: World, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The address that `skc ui` printed, and what it started a browser with."""
    script, noted = tmp_path / "browser", tmp_path / "noted"
    script.write_text(f"#!/bin/sh\nprintf '%s' \"$*\" > {noted}.tmp; mv {noted}.tmp {noted}\n")
    script.chmod(0o755)
    with started(world, BROWSER=f"{script} %s", DISPLAY=":0") as (address, process):
        end = time.monotonic() + 30
        while not noted.exists():
            assert time.monotonic() < end
            time.sleep(0.05)
        argument = noted.read_text()
        yield address, argument
    assert process.wait(60) == 0
    assert not Path(unquote(urlsplit(argument).path)).exists()


@pytest.mark.skipif(os.name != "posix", reason="a browser that is a script")
def test_no_key_in_arguments(opened: tuple[str, str]) -> None:
    """[SURFACES: Registry] a browser is started with a private file: others see its arguments."""
    address, argument = opened
    assert address.partition("key=")[2] not in argument
    page = Path(unquote(urlsplit(argument).path))
    assert page.stat().st_mode & 0o777 == 0o600
    assert f"url={address}" in page.read_text()


@pytest.mark.skipif(bool(why_not()), reason=why_not())
def test_a_browser_gets_in_by_the_file(opened: tuple[str, str]) -> None:
    """[SURFACES: Registry] the file leads a real browser to the pages, once."""
    address, argument = opened
    with running_browser() as browser:
        page = browser.new_page()
        page.goto(argument)
        page.wait_for_url(address.partition("?")[0])
        assert "Your skills" in page.inner_text("body")
        page.goto(address)  # with its cookie
        assert "Your skills" in page.inner_text("body")
        other = browser.new_context().new_page()
        response = other.goto(address)
        assert response is not None
        assert response.status == 403


def test_odd_keys() -> None:
    """[SURFACES: Registry] a key of odd text is only wrong; a question about the page does not use it up."""
    lock = Lock(PlainTextResponse("page"))
    client = AppClient(lock, follow_redirects=False)
    for key in ("", "%FF", "%00", "x"):
        assert client.get(f"/?key={key}").status_code == 403
    key = lock.key
    assert client.head(f"/?key={key}").status_code == 403
    assert client.get(f"/?key={key}").status_code == 303
    assert client.get("/").text == "page"
    client.cookies.clear()
    for text in (key, ""):
        assert client.get(f"/?key={text}").status_code == 403


def test_wrong_port(world: World) -> None:
    """[RFC-0007] a port that is none is E100."""
    world.fails("E100", "ui", "--port", "x")
