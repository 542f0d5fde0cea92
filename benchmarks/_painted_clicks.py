"""Clicks on heads in Chromium, until the map is painted: for the app with a local model, and with one on a server."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from statistics import median
from urllib.parse import quote

from playwright.sync_api import Page

from benchmarks._app import opened_page, running_app, settle
from benchmarks._chromium import chromium
from benchmarks.page_latency import point_at_another_head, text_of
from tests.browser import Watch


def painted_clicks(url: str, key: str, lengths: Sequence[int], count: int) -> dict[int, tuple[float, float]]:
    """Seconds from a click to the painted map, locally and with the model at ``url``, for texts of so many tokens.

    Medians of ``count`` clicks each, in turns; every click is on a head that was not opened before.
    """
    watch = Watch()
    asking = running_app(watch, ATLAS_RUNNER=url, ATLAS_RUNNER_KEY=key)
    with chromium() as browser, running_app(watch) as own, asking as far:
        found = dict[int, tuple[float, float]]()
        for n_tokens in lengths:
            with ExitStack() as stack:
                pages = [stack.enter_context(opened_page(browser, watch)) for _ in (own, far)]
                for app, page in zip((own, far), pages, strict=True):
                    app.open(page, f"/?text={quote(text_of(n_tokens, 0))}")
                    page.evaluate("probe.opened('heads')")
                found[n_tokens] = _in_turns(pages, n_tokens, count)
    for problem in [*watch.outside, *watch.errors]:
        print(f"! {problem}")
    return found


def _in_turns(pages: list[Page], n_tokens: int, count: int) -> tuple[float, float]:
    """The medians of both pages, in seconds."""
    shuffled, opened = [random.Random(n_tokens) for _ in pages], [set[str]() for _ in pages]
    times: list[list[float]] = [[] for _ in pages]
    for turn in range(count + 2):  # two to warm up
        for at in (0, 1) if turn % 2 else (1, 0):
            took = _click(pages[at], shuffled[at], opened[at])
            if turn >= 2:
                times[at].append(took)
    for where, column in zip(("here", "at a server"), times, strict=True):
        print(f"  clicks at {n_tokens}, {where}: {[round(ms) for ms in column]}", file=sys.stderr)
    here, there = (median(column) / 1000 for column in times)
    return here, there


def _click(page: Page, shuffled: random.Random, opened: set[str]) -> float:
    """Milliseconds from a click on a head that is not in ``opened`` to its painted map."""
    page.bring_to_front()
    settle(page)
    name = point_at_another_head(page, shuffled)
    while name in opened:
        name = point_at_another_head(page, shuffled)
    opened.add(name)
    page.evaluate("name => void probe.head(name)", name)
    page.mouse.down()
    page.mouse.up()
    took = page.evaluate("probe.answer")
    page.evaluate("probe.words")  # the page has run
    return took
