"""`skc ui`: the pages over one's own skills, for those who have the key."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

import httpx2
import pytest

from skillc.server.ui import Lock
from tests.conftest import World
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


@pytest.fixture
def site(world: World) -> Iterator[httpx2.Client]:
    """A client of `skc ui`, which has its key."""
    folder = world.skill("pdf", TEXT)
    (folder / "scripts").mkdir()
    (folder / "scripts" / "fill.sh").write_text("curl https://forms.dev/x\n")
    (folder / ".hidden").write_text("secret")
    skill(world.project, ".skillc/skills/billing/refunds")
    world.ok("build", "pdf")
    world.ok("show", "pdf", "--section", "Fill in a form")
    world.ok("search", "pdf", "nonsense")
    with subprocess.Popen(
        [sys.executable, "-m", "skillc", "ui", "--no-open"],
        cwd=world.project,
        env=world.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            match = re.search(r"(http://127\.0\.0\.1:\d+)(/\?key=\S+)", process.stdout.readline())
            assert match
            with httpx2.Client(
                base_url=match[1], timeout=30, trust_env=False, follow_redirects=True
            ) as client:
                assert client.get(match[2]).status_code == 200
                yield client
        finally:
            process.terminate()
        assert process.wait(10) == 0


def test_pages(site: httpx2.Client) -> None:
    """[SURFACES: Registry] `skc ui` shows text, files, what a skill asks for, and its use."""
    home = site.get("/").text
    assert "Your skills" in home
    assert 'href="/s/billing/refunds"' in home
    assert 'href="/c/billing"' in home
    page = site.get("/s/pdf").text
    assert '<h3 id="s-fill-in-a-form">' in page
    assert "Version <strong>1.2.0</strong>" in page
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


def test_no_changes(site: httpx2.Client) -> None:
    """[SURFACES: Registry] own skills can only be read: no account, no form that changes something."""
    for path in ("/", "/s/pdf", "/files/pdf", "/audit/pdf", "/statistics"):
        assert 'method="post"' not in site.get(path).text
    headers = {"Accept": "text/html", "Origin": str(site.base_url).rstrip("/")}
    for path in ("/account", "/publish", "/versions/nothing", "/s/.hidden", "/s/pdf@latest/.hidden"):
        assert site.get(path, headers=headers).status_code in (400, 404)
    assert site.post("/publish", headers=headers).status_code == 404
    assert site.get("/raw/pdf@latest/..%2f..%2f..%2fconfig.toml").status_code == 404


def test_key_and_host(site: httpx2.Client) -> None:
    """[SURFACES: Registry] without the key there is nothing; nor for a page that took over a name."""
    with httpx2.Client(base_url=site.base_url, trust_env=False) as other:
        for path in ("/", "/s/pdf", "/?key=wrong", "/static/x.css"):
            response = other.get(path)
            assert response.status_code == 403
            assert "pdf" not in response.text
    assert site.get("/", headers={"Host": "evil.example"}).status_code == 421
    assert site.get("/", headers={"Origin": "https://evil.example"}).status_code == 403


def test_wrong_port(world: World) -> None:
    """[RFC-0007] a port that is none is E100; a key of odd text is only wrong."""
    world.fails("E100", "ui", "--port", "x")
    assert not Lock(None, "key")._is_key("\udcff")  # type: ignore[arg-type]
