"""What happens later: modules load, patterns compile and properties are computed when they are used."""

from __future__ import annotations

import json
import re
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


def test_pattern() -> None:
    """A pattern is compiled on first use, and does what a compiled one does."""
    word = later.pattern(r"(?i)b+")
    assert "match" not in vars(word)
    assert word.findall("aBb b") == re.compile("(?i)b+").findall("aBb b") == ["Bb", "b"]
    assert [word.sub("", "abc"), word.split("abc"), word.pattern] == ["ac", ["a", "c"], "(?i)b+"]
    with pytest.raises(re.error):
        later.pattern("(").match("")


def test_cached_property() -> None:
    """A property is computed once, in an object of its own."""

    class Counter:
        calls = 0

        @later.cached_property
        def value(self) -> int:
            """How often it was computed."""
            self.calls += 1
            return self.calls

    one, two = Counter(), Counter()
    assert [one.value, one.value, one.calls, two.calls] == [1, 1, 1, 0]
    assert Counter.value.__doc__ == "How often it was computed."
