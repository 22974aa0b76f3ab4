"""Documents that must not fall behind the code."""

from __future__ import annotations

import re
from pathlib import Path

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
    assert f"[{len(read_agents())} are known]" in readme


def test_readme_links_lead_somewhere() -> None:
    """[RFC-0007] relative links of the documents are files."""
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
