"""The wheel, installed into a fresh environment of every Python there is."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import World
from tests.support.git import Origin, origin, template

__all__ = ["origin", "template"]  # fixtures

ROOT = Path(__file__).parent.parent
PYENV = Path.home() / ".pyenv" / "versions"  # now, before a test moves HOME
VERSIONS = ("3.11", "3.12", "3.13", "3.14")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return next(out.glob("*.whl"))


def interpreter(version: str) -> str:
    """A Python of that version that really runs; skips where there is none."""
    homes = sorted(PYENV.glob(f"{version}.*"))
    candidates = [shutil.which(f"python{version}"), *(str(home / "bin" / "python") for home in homes)]
    for candidate in filter(None, candidates):
        asked = subprocess.run([candidate, "--version"], capture_output=True, text=True, check=False)
        if asked.returncode == 0 and asked.stdout.startswith(f"Python {version}."):
            return candidate
    pytest.skip(f"no Python {version} here")


def uv() -> str:
    found = shutil.which("uv") or str(ROOT / ".cache" / "tools" / "bin" / "uv")
    assert os.access(found, os.X_OK), "run scripts/setup"
    return found


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
def test_installed_from_a_wheel(version: str, wheel: Path, world: World, origin: Origin) -> None:
    """[RFC-0007] [D66] as a new user has it: install, build, outline, search, show, add from git."""
    python = interpreter(version)
    venv = world.root / "venv"
    subprocess.run([uv(), "venv", "--quiet", "--python", python, str(venv)], check=True)
    subprocess.run([uv(), "pip", "install", "--quiet", "--python", str(venv), str(wheel)], check=True)

    def skc(*words: str) -> str:
        run = subprocess.run(
            [str(venv / "bin" / "skc"), *words],
            env=world.env,
            cwd=world.root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        return run.stdout

    assert re.fullmatch(r"skc \d+\.\d+\.\d+\S*\n", skc("--version"))
    assert "Built 'release-notes'" in skc(
        "build", str(ROOT / "examples" / "release-notes"), "--target", "claude,cursor"
    )
    assert "  ## Workflow\n" in skc("outline", "release-notes")
    assert "Breaking changes" in skc("search", "release-notes", "breaking change")
    assert skc("show", "release-notes", "--section", "security fixes").startswith("### Security fixes\n")
    assert "unchanged" in skc("build", "release-notes").lower()
    assert "Added 'email'" in skc("add", origin.bare.as_uri(), "--skill", "email", "--yes")


def test_what_the_wheel_holds(wheel: Path) -> None:
    """[RFC-0007] the command, the types marker and the table of agents; no tests, nothing else on top."""
    names = zipfile.ZipFile(wheel).namelist()
    assert "skillc/py.typed" in names
    assert "skillc/compiler/agents.tsv" in names
    assert any(name.endswith(".data/scripts/skc") for name in names)
    assert {name.split("/")[0].split("-")[0] for name in names} == {"skillc"}
