"""A real browser: Debian's Chromium, driven by Playwright, which brings none of its own here."""

import contextlib
import shutil
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_PATIENCE = 120_000  # milliseconds: what is waited for comes, however busy the machine is
expect.set_options(timeout=_PATIENCE)


def program() -> str:
    """The path of Chromium."""
    found = shutil.which("chromium")
    if found is None:
        raise FileNotFoundError("chromium is not found: install it, or leave these tests out (make test does).")
    return found


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(), args=_ARGUMENTS, timeout=_PATIENCE)
        try:
            yield browser
        finally:
            browser.close()


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """A browser as somebody else has it, without cookies; *options* are Playwright's."""
    context = browser.new_context(**options)
    context.set_default_timeout(_PATIENCE)
    return context


def watched(page: Page) -> list[str]:
    """Every address that the page asks for from now on, and everything that its console says."""
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.url))
    page.on("console", lambda message: seen.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: seen.append(f"error: {error}"))
    return seen
