"""npm's axe-core, which finds barriers in pages; `scripts/setup` puts it into .cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

SCRIPT = Path(__file__).parent.parent.parent / ".cache" / "axe" / "node_modules" / "axe-core" / "axe.min.js"


def find_barriers(page: Page, rules: tuple[str, ...] = ()) -> list[str]:
    """Return the serious and critical violations of some rules, or of all, on a page.

    It skips the test where axe-core can't be had.
    """
    if not SCRIPT.exists():
        pytest.skip("needs npm's package 'axe-core'; run scripts/setup where npm is installed")
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT.read_text(encoding="utf-8"))
    options = {"resultTypes": ["violations"]} | ({"runOnly": rules} if rules else {})
    result: Any = page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{violation['id']}: {violation['help']}: {violation['nodes'][0]['html']}"
        for violation in result["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
