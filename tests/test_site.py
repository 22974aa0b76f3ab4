"""The documentation site: it builds without a warning, and its reference has what the code has."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

import pytest

from skillc.cli.summaries import NAMES

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_site(tmp_path: Path) -> None:
    """[RFC-0007] no link leads nowhere, every page is in the menu, and every command is in the reference."""
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--quiet",
        "--strict",
        "--site-dir",
        str(tmp_path / "site"),
    ]
    built = subprocess.run(
        command,
        cwd=ROOT,
        env={"PATH": "", "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    commands = (tmp_path / "site/reference/commands/index.html").read_text()
    assert [name for name in NAMES if f'id="skc-{name}"' not in commands] == []
    assert "\\|" not in commands
    names = (tmp_path / "site/reference/python/index.html").read_text()
    assert 'id="skillsource"' in names
    text = html.unescape(re.sub("<[^>]+>", "", names))
    assert "AgentFactory.build_agent(" in text
    assert "GitSkillConfig(\n    repo_url: str,\n" in text
    http = html.unescape((tmp_path / "site/reference/http/index.html").read_text())
    assert 'id="get-skills"' in http
    assert '{"id","version","digest","status"?}' in http  # what publishing answers
    assert '{"skill_md","files"?:' in http  # and takes


def test_every_page_is_in_the_menu() -> None:
    """[RFC-0007] there is a way to every page, and to every one that is made from the code."""
    menu = set(re.findall(r"\b([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    written = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    generated = {f"reference/{name}.md" for name in ("agents", "commands", "http", "json", "python")}
    assert menu - written == generated
    assert written - menu == set()
