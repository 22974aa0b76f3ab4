"""Many publishers and readers on several servers, while PostgreSQL, S3 and a server fail: a short version."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import postgres, s3

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "stress_registry.py"


@pytest.mark.slow
@pytest.mark.skipif(bool(postgres.why_not() or s3.why_not()), reason=postgres.why_not() or s3.why_not())
def test_nothing_is_lost() -> None:
    """[SURFACES: Registry] no version is lost, doubled or half there, through outages and a SIGKILL."""
    words = ["--seconds", "6", "--publishers", "3", "--readers", "4", "--servers", "2", "--outage", "1"]
    command = [sys.executable, str(SCRIPT), *words]
    result = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "no fault" in result.stdout
    assert all(f"outage: {name}" in result.stdout for name in ("postgres", "s3", "kill"))
