"""Documents that must not fall behind the code."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from skillc import errors
from skillc.cli.summaries import NAMES
from skillc.compiler import read_agents
from skillc.errors import tree

ROOT = Path(__file__).parent.parent


def test_every_code_is_documented() -> None:
    """[RFC-0005] docs/diagnostics.md lists the codes there are, and no others."""
    listed = re.findall(r"^\| ([EW]\d{3}) \|", (ROOT / "docs/diagnostics.md").read_text(), re.MULTILINE)
    classes = [v for v in (vars(errors) | vars(tree)).values() if isinstance(v, type)]
    codes = {c.code for c in classes if issubclass(c, errors.SkillcError)} | set(errors.WARNINGS)
    assert sorted(listed) == sorted(codes)


def test_readme_names_every_command() -> None:
    """[RFC-0007] a command that README does not mention is one that nobody finds."""
    readme = (ROOT / "README.md").read_text()
    assert [name for name in NAMES if f"skc {name}" not in readme] == []
    assert f"[{len(read_agents())} agents]" in readme
    assert f"[{len(read_agents())} are known]" in (ROOT / "docs/start/authors.md").read_text()


def test_readme_links_lead_somewhere() -> None:
    """[RFC-0007] relative links of the documents are files."""
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
            # The pages of reference/ are made with the site; tests/test_site.py follows links to them.
            is_made = "reference/" in target
            assert is_made or (document.parent / target).exists(), f"{document.name}: {target}"


@pytest.mark.slow
def test_readme_from_a_clone(tmp_path: Path) -> None:
    """[RFC-0007] README's commands, as they stand and in order, in a clone and an empty home."""
    clone, home = tmp_path / "clone", tmp_path / "home"
    home.mkdir()
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    blocks = re.findall(r"```bash\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(blocks) == 1
    network = ("_PROXY", "_CERT", "_BUNDLE", "_FILE", "INDEX_URL")  # how this machine reaches PyPI
    keep = {name: os.environ[name] for name in os.environ if name.upper().endswith(network)}
    done = subprocess.run(
        ["bash", "-e"],
        input=blocks[0],
        cwd=clone,
        env=keep | {"HOME": str(home), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (home / ".claude/skills/release-notes/SKILL.md").is_file()
    for text in (
        "Built 'release-notes'",
        "release-notes  (",
        "### Breaking changes",
        "unique sections         1",
    ):
        assert text in done.stdout, done.stdout
