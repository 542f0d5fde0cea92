"""Settings for every test: no network for models, and a reason if a test cannot run on this machine."""

from __future__ import annotations

import gc
import os
import sys

# before anything imports huggingface_hub, which reads it once
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # its threads and a forked server would wait for each other
os.environ.setdefault("OMP_NUM_THREADS", "1")  # on tiny models torch's threads only wait for each other: twice the CPU

from collections import defaultdict
from collections.abc import Generator
from contextlib import suppress

import pytest
from playwright.sync_api import Error

gc.disable()  # until all tests are collected: what is imported stays, and looking through it took a third of the time

pytest_plugins = ("tests.browser", "tests.axe")

WORTH_READING = 3000  # characters of a page that a failed test left
FEW = 2  # cases of one test that are in each whole run
TABLES = ("tests/pages/", "tests/viz/components/", "tests/model_runner/")  # of a page, a component, a model each
WHOLE = (
    "local/test_families.py",
    "local/loading/test_hostile_folders.py",
    "pages/test_smoke.py",
    "pages/test_browser_axe.py",
)
_BROWSER_FIXTURES = {"browser", "new_page", "page", "static_page", "mount"}
_SERVER_FIXTURES = {"hosted", "nginx"}  # a whole server, or two, in processes of their own


def pytest_addoption(parser: pytest.Parser) -> None:
    words = (
        f"of a test with more than {FEW} cases so many, evenly apart, are in each run, and of a page in the browser "
    )
    words += "one: the others are marked long"
    parser.addoption("--few", action="store_true", help=words)


def _fixtures(item: pytest.Item) -> set[str]:
    return set(getattr(item, "fixturenames", ()))


def _mark_all_but_few(items: list[pytest.Item]) -> None:
    """Of each test with many cases, and of each component in the browser; contracts, guards of a server are whole."""
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        path = item.nodeid.split("::")[0]
        if path.startswith(TABLES) and not path.endswith(WHOLE):
            component = path.startswith("tests/viz/components/") and "browser" in path  # of one component each
            cases[path if component else item.nodeid.split("[")[0]].append(item)
    for name, same in cases.items():
        often = [item for item in same if item.get_closest_marker("long") is None]
        if name.startswith("tests/pages/") and _fixtures(same[0]) & _BROWSER_FIXTURES:  # one, in one of the languages
            for item in often[1:] if len(name) % 2 else often[:-1]:
                item.add_marker(pytest.mark.long)
            continue
        # From the first to the last, and not every second: where names meet dtypes, those would all be of one dtype.
        last, count = len(often) - 1, min(FEW, len(often))
        picked = {round(one * last / max(1, count - 1)) for one in range(count)}
        for number, item in enumerate(often):
            if number not in picked:
                item.add_marker(pytest.mark.long)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what uses a browser, and run it last: see tests/browser.py, and quick tests fail first.

    It has a second try, as Playwright's own runner gives, and so has what speaks to a server of its own: three
    browsers and their servers on two cores now and then miss a moment. The first failure is printed whole all the
    same; one that returns is looked into.
    """
    if config.getoption("few"):
        _mark_all_but_few(items)
    for item in items:
        if _fixtures(item) & _BROWSER_FIXTURES:
            item.add_marker(pytest.mark.browser)
        if _fixtures(item) & (_BROWSER_FIXTURES | _SERVER_FIXTURES):
            item.add_marker(pytest.mark.flaky(reruns=1))
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


def pytest_collection_finish() -> None:
    """From here on the collector looks at what tests make, and not at what was there before."""
    gc.freeze()
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test marked gpu where there is no CUDA device."""
    if item.get_closest_marker("gpu") is not None:
        import torch

        if not torch.cuda.is_available():
            pytest.skip("needs a CUDA device")


def pytest_runtest_teardown() -> None:
    """A test that leaves torch without gradients is named here, not by the next that trains."""
    torch = sys.modules.get("torch")
    if torch is not None and not torch.is_grad_enabled():
        torch.set_grad_enabled(True)
        pytest.fail("this test left torch without gradients")


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
    """Print what tests measured, and what a second try made good."""
    for report in (*terminalreporter.stats.get("passed", ()), *terminalreporter.stats.get("failed", ())):
        for words in (words for name, words in report.user_properties if name == "measured"):
            terminalreporter.section(f"measured: {report.nodeid}")
            terminalreporter.line(str(words))
    for report in terminalreporter.stats.get("rerun", ()):
        terminalreporter.section(f"passed or failed at a second try, after this: {report.nodeid}")
        terminalreporter.line(str(report.longreprtext))
        for name, words in report.sections:
            terminalreporter.line(f"{name}: {words}")
