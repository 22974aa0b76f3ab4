"""Modules that load later: the same names, and not before one of them is used."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.parse

import pytest

from skillc import later


def test_names_are_those_of_the_module() -> None:
    """What is used is what the module has, under its own name or one of ours."""
    assert later.json.loads is json.loads
    assert later.urls.urlsplit is urllib.parse.urlsplit
    with pytest.raises(later.json.JSONDecodeError):
        later.json.loads("{")
    with pytest.raises(AttributeError, match="'json' has no attribute 'missing'"):
        later.json.missing  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'missing'"):
        from skillc.later import missing  # type: ignore[attr-defined]  # noqa: F401


def test_modules_load_on_first_use() -> None:
    """Importing all of them loads none; a name that one does not have loads that one."""
    program = (
        "import sys; from skillc import later; before = {*sys.modules}\n"
        "modules = [getattr(later, name) for name in later.NAMES]\n"
        "assert all(hasattr(module, '__path__') is False for module in modules)\n"
        "print({*sys.modules} - before, 'json' in sys.modules)\n"
        "later.json.dumps, later.urls.urlsplit\n"
        "print('json' in sys.modules, 'urllib.parse' in sys.modules, 'logging' in sys.modules)\n"
        "print([m.__name__ for m in modules if sys.modules.get(m.__name__) is m])"
    )
    run = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["set() False", "True True False", "[]"]
