"""npm's axe-core, which finds barriers in pages; `scripts/setup` puts it into .cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Page

SCRIPT = Path(__file__).parent.parent.parent / ".cache" / "axe" / "node_modules" / "axe-core" / "axe.min.js"

# Pairs of headings, paragraphs, items and fields that lie over each other, at most three.
COVERED = """
(() => {
  const kinds = "h1, h2, h3, h4, p, li, dt, dd, input, select, button, summary";
  const all = document.querySelectorAll(`main :is(${kinds})`);
  const scrolls = (each) =>
    each && (/auto|scroll/.test(getComputedStyle(each).overflowY) || scrolls(each.parentElement));
  const seen = [...all].filter(
    (each) => each.checkVisibility() && !each.closest(".hidden, table, svg") && !scrolls(each.parentElement));
  const boxes = seen.map((each) => [each, each.getBoundingClientRect()]).filter(([, box]) => box.height > 2);
  boxes.sort(([, one], [, two]) => one.top - two.top);
  const pairs = [];
  for (let i = 0; i < boxes.length && pairs.length < 3; i++) {
    const [one, a] = boxes[i];
    for (let j = i + 1; j < boxes.length && boxes[j][1].top < a.bottom - 3; j++) {
      const [two, b] = boxes[j];
      if (one.contains(two) || two.contains(one) || b.left > a.right - 3 || a.left > b.right - 3) continue;
      pairs.push(`${one.outerHTML.slice(0, 90)} and ${two.outerHTML.slice(0, 90)}`);
      break;
    }
  }
  return pairs;
})()
"""

# How a page is looked at: its width, its scheme, and the rules that another view can break; all at first.
VIEWS: tuple[tuple[int, Literal["light", "dark"], tuple[str, ...]], ...] = (
    (1280, "light", ()),
    (360, "dark", ("color-contrast", "scrollable-region-focusable", "target-size")),
)


def find_barriers(page: Page, rules: tuple[str, ...] = ()) -> list[str]:
    """Return what is serious or critical on a page, by some rules or by all, and whether it is too wide.

    It skips the test where axe-core can't be had.
    """
    if not SCRIPT.exists():
        pytest.skip("needs npm's package 'axe-core'; run scripts/setup where npm is installed")
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT.read_text(encoding="utf-8"))
    options = {"resultTypes": ["violations"]} | ({"runOnly": rules} if rules else {})
    result: Any = page.evaluate("options => axe.run(document, options)", options)
    found = [
        f"{violation['id']}: {violation['help']}: {violation['nodes'][0]['html']}"
        for violation in result["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append("it scrolls sideways")
    found += [f"one covers another: {pair}" for pair in page.evaluate(COVERED)]
    return [f"{page.url}: {each}" for each in found]
