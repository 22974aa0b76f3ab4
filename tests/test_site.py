"""The documentation site: it builds without a warning, and its reference has what the code has."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

import pytest

from skillc.cli.summaries import NAMES
from tests.support.axe import VIEWS, find_barriers
from tests.support.browser import running_browser, why_not
from tests.support.examples import sample
from tests.support.folder import serve_folder

ROOT = Path(__file__).parent.parent
KINDS = (".", "lint-rules", "start/authors", "reference/http")  # lists, wide tables, links in code, headings


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site, built without a warning."""
    folder = tmp_path_factory.mktemp("documentation") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)]
    env = {"PATH": "", "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.mark.slow
def test_site(site: Path) -> None:
    """[RFC-0007] no link leads nowhere, every page is in the menu, and every command is in the reference."""
    commands = (site / "reference/commands/index.html").read_text()
    assert [name for name in NAMES if f'id="skc-{name}"' not in commands] == []
    assert "\\|" not in commands
    names = (site / "reference/python/index.html").read_text()
    assert 'id="skillsource"' in names
    text = html.unescape(re.sub("<[^>]+>", "", names))
    assert "AgentFactory.build_agent(" in text
    assert "GitSkillConfig(\n    repo_url: str,\n" in text
    http = html.unescape((site / "reference/http/index.html").read_text())
    assert 'id="get-skills"' in http
    assert '{"id","version","digest","status"?}' in http  # what publishing answers
    assert '{"skill_md","files"?:' in http  # and takes


@pytest.mark.slow
@pytest.mark.skipif(bool(why_not()), reason=why_not())
def test_barriers(site: Path) -> None:
    """[RFC-0007] axe-core finds no serious barrier on pages of each kind, and none asks another host."""
    barriers: list[str] = []
    with serve_folder(site) as url, running_browser() as browser:
        hosts: set[str] = set()
        for width, scheme, rules in VIEWS:
            page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
            page.on("request", lambda request: hosts.add(request.url[: len(url)]))
            for kind in sample(KINDS, 2, 1):
                page.goto(f"{url}/{kind}/")
                barriers += find_barriers(page, rules)
        assert hosts == {url}
    assert barriers == []


def test_every_page_is_in_the_menu() -> None:
    """[RFC-0007] there is a way to every page, and to every one that is made from the code."""
    menu = set(re.findall(r"\b([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    written = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    generated = {f"reference/{name}.md" for name in ("agents", "commands", "http", "json", "python")}
    assert menu - written == generated
    assert written - menu == set()
