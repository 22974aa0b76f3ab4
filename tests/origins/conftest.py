"""Signers with keys and certificates, and a skill of an author."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import World
from tests.origins.authority import Company
from tests.support.git import origin, template

__all__ = ["origin", "template"]

NEEDS_SSH = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH is not here")


@pytest.fixture
def company(world: World) -> Company:
    return Company(world.root / "company")


@pytest.fixture
def skill(world: World) -> Path:
    """A skill with a script and a hidden file, in a folder of its author."""
    folder = world.root / "author" / "pdf"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: pdf\ndescription: Fill in forms.\n---\n# PDF\n")
    (folder / "scripts/fill.py").write_text("print(1)\n")
    (folder / "scripts/fill.py").chmod(0o755)
    (folder / ".hidden").write_text("x\n")
    return folder


def write_trust(world: World, text: str) -> None:
    """Write [trust] into the home's config.toml."""
    path = world.home / ".skillc/config.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
