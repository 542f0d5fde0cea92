"""What every test runs under: no network for models, and a reason where a test cannot run on this machine."""

from __future__ import annotations

import os

# before anything imports huggingface_hub, which reads it once
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # its threads and a forked server would wait for each other
os.environ.setdefault("OMP_NUM_THREADS", "1")  # on tiny models torch's threads only wait for each other: twice the CPU

from collections.abc import Generator
from contextlib import suppress

import pytest
from playwright.sync_api import Error

pytest_plugins = ("tests.browser", "tests.axe")

WORTH_READING = 3000  # characters of a page that a failed test left
_BROWSER_FIXTURES = {"browser", "new_page", "page", "static_page", "mount"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses a browser, and run it last: see tests/browser.py, and quick tests fail first.

    It has a second try, as Playwright's own runner gives: three browsers and their servers on two cores now and then
    miss a moment. The first failure is printed whole all the same; one that returns is looked into.
    """
    for item in items:
        if _BROWSER_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.flaky(reruns=1))
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test marked gpu where there is no CUDA device."""
    if item.get_closest_marker("gpu") is not None:
        import torch

        if not torch.cuda.is_available():
            pytest.skip("needs a CUDA device")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say with a failed browser test what its page showed: on a build machine nobody saw it."""
    report = yield
    page = getattr(item, "funcargs", {}).get("page")
    if report.failed and call.when == "call" and hasattr(page, "inner_text"):
        with suppress(Error):  # it may be closed
            words = " · ".join(page.inner_text("body").split("\n"))
            report.sections.append(("the page", f"{page.url}\n{words[:WORTH_READING]}"))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what a second try made good."""
    for report in terminalreporter.stats.get("rerun", ()):
        terminalreporter.section(f"passed or failed at a second try, after this: {report.nodeid}")
        terminalreporter.line(str(report.longreprtext))
        for name, words in report.sections:
            terminalreporter.line(f"{name}: {words}")
