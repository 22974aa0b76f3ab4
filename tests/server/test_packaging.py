"""The unit file for systemd."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skillc.cli.commands import serve
from skillc.cli.syntax import parse

UNIT = Path(__file__).parent.parent.parent / "packaging" / "skillc.service"


def test_the_command_of_the_unit() -> None:
    """[SURFACES: Registry] the unit starts `skc serve` with options that it has."""
    found = re.search(r"^ExecStart=/opt/skillc/bin/skc serve (.*)$", UNIT.read_text(), re.MULTILINE)
    assert found
    arguments = parse(serve.COMMAND, found[1].split())
    assert (arguments.count("workers"), arguments.texts("trusted_proxy")) == (4, ["127.0.0.1"])


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd")
def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    """[SURFACES: Registry] systemd finds nothing wrong with the unit."""
    text = UNIT.read_text().replace("/opt/skillc/bin/skc", sys.executable)
    unit = tmp_path / "skillc.service"
    unit.write_text(text)
    command = ["systemd-analyze", "verify", "--man=no", str(unit)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    lines = [line for line in result.stderr.splitlines() if "skillc.service" in line]
    assert lines == []
