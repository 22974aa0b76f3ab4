"""Many skills at once."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from skillc.audit import Audit, audit as room, audit_folders
from skillc.audit.audit import audit_folder
from skillc.index import workers

COUNT = 20  # more than one process audits


@pytest.mark.slow
def test_a_skill_that_ends_its_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[RFC-0005] a skill that is gone, or ends the process that reads it, is an error; all others are
    audited.
    """
    for number in range(COUNT):
        folder = tmp_path / f"s{number:02}"
        folder.mkdir()
        (folder / "SKILL.md").write_text(f"---\nname: s{number:02}\ndescription: d\n---\n")
    parent = os.getpid()

    def audit(folder: str, name: str, **options: Any) -> Audit:
        if name == "s04":
            assert os.getpid() != parent
            os.kill(os.getpid(), signal.SIGKILL)
        return audit_folder(folder, name, **options)

    monkeypatch.setattr(room, "audit_folder", audit)
    monkeypatch.setattr(workers, "count_cores", lambda: 2)
    jobs = [(str(folder), folder.name) for folder in sorted(tmp_path.iterdir())]
    jobs.insert(7, (str(tmp_path / "gone"), "gone"))
    results = list(audit_folders(jobs))
    names = [result.name if isinstance(result, Audit) else result.line() for result in results]
    failures = {
        "s04": f"error[E999]: auditing it ended its process; do not use it, and report it ({tmp_path}/s04)",
        "gone": names[7],
    }
    assert names[7].startswith("error[")
    assert names == [failures.get(name, name) for _, name in jobs]
