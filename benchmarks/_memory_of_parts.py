"""Measures the memory of each part: the server without a model, with it and with captures; and the app that uses it."""

from __future__ import annotations

from urllib.parse import quote

import psutil

from benchmarks._app import opened_page, running_app, settle
from benchmarks._chromium import chromium
from benchmarks._model_server import model_server
from benchmarks.page_latency import text_of
from model_runner.remote.models import RemoteModels
from tests.browser import Watch

KEPT = "256 MB"  # for captures, on the server
CAPTURES, TOKENS = 20, 1024  # more than fit into it
HEAD = ("", "resident", "its share (PSS)")


def memory_of_parts() -> list[list[str]]:
    """The rows, in MB. A page shared by several processes counts in each one's resident memory, and once in PSS."""
    rows, watch = list[list[str]](), Watch()
    with model_server(KEPT) as server, chromium() as browser:
        rows.append(_row("server, no model yet", server.pid))
        runner = RemoteModels(server.url, server.key).open("default").result()
        rows.append(_row("server with the embedded model", server.pid))
        for number in range(CAPTURES):
            runner.capture(text_of(TOKENS, number)).verify(0)
        rows.append(_row(f"server after {CAPTURES} captures of {TOKENS:,} tokens, {KEPT} kept", server.pid))
        apps = {
            "app that asks the server": running_app(watch, ATLAS_RUNNER=server.url, ATLAS_RUNNER_KEY=server.key),
            "app with the model in its own process": running_app(watch),
        }
        for what, running in apps.items():
            with running as app, opened_page(browser, watch) as page:
                app.open(page, f"/?text={quote(text_of(TOKENS, 0))}")
                page.evaluate("probe.opened('heads')")
                settle(page)
                rows.append(_row(f"{what}, with all heads of {TOKENS:,} tokens", app.process.pid))
    for problem in [*watch.outside, *watch.errors]:
        print(f"! {problem}")
    return rows


def _row(what: str, pid: int) -> list[str]:
    """The row of a process and its children."""
    process = psutil.Process(pid)
    found = [one.memory_full_info() for one in (process, *process.children(recursive=True))]
    share = sum(getattr(one, "pss", 0) for one in found)  # only on Linux
    return [what, f"{sum(one.rss for one in found) / 1e6:.0f} MB", f"{share / 1e6:.0f} MB" if share else ""]
