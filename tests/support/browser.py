"""Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


def why_not() -> str:
    """Why there is no browser for tests; empty if there is."""
    return "" if find_chromium() else "Chromium is not installed; scripts/setup asks Debian for it"


@contextmanager
def running_browser() -> Iterator[Browser]:
    arguments = ["--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")  # it refuses root with one
    with sync_playwright() as playwright:
        options: dict[str, Any] = {"executable_path": find_chromium(), "args": arguments}
        browser = playwright.chromium.launch(**options)
        try:
            yield browser
        finally:
            browser.close()
