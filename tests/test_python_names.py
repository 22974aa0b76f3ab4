"""What `import skillc` promises: the names of the specification, at no cost until one is used."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import skillc

SPECIFICATION = Path(__file__).parent.parent / "docs" / "specification.md"
ROOMS = ("skillc.skills", "skillc.library", "skillc.engine", "skillc.tools", "skillc.adapters")


def test_names_of_the_specification() -> None:
    """[SURFACES: Python] each name is there, is public, and loads what it needs when it is used."""
    entry = SPECIFICATION.read_text(encoding="utf-8").split("### `SURFACES: Python`")[1].split("\n\n")[1]
    names = re.findall(r"`([A-Z]\w+|resolve_repositories)`", entry)
    assert len(names) > 20
    assert [name for name in names if name not in vars(skillc)["__all__"] or not hasattr(skillc, name)] == []
    code = f"""if True:
        import sys, skillc
        print([name for name in sys.modules if name.startswith({ROOMS})])
        skillc.SkillId
        print("skillc.skills" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "True"]
