"""How much memory does a hosted server need per session? Separate servers with different numbers of sessions.

Each session goes to another head, text or page every ten seconds (_wanderers.py). The server's cache of texts is kept
small, so that it does not count towards them; every embedded model is used once before the first measurement.

Run: python -m benchmarks.session_memory [--counts 1 10 30 60] [--seconds 60]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psutil

from benchmarks import _wanderers
from benchmarks._table import machine, print_table
from tests.browser import ROOT, free_port

SETTINGS = """[server]
port = {port}
local_port = {local}
[limits]
memory = "64 MB"
sessions = 1000
address_sessions = 1000
requests = 1000000
"""


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--counts", type=int, nargs="+", default=[1, 10, 30, 60])
    options.add_argument("--seconds", type=float, default=60)
    given = options.parse_args()
    print(machine())
    rows: list[list[str]] = []
    for count in given.counts:
        size, busy, times = _measured(count, given.seconds)
        slow = sorted(times)[int(0.95 * len(times))] if times else 0.0
        rows.append([f"{count}", f"{size / 1e6:,.0f} MB", f"{100 * busy:.0f} %", f"{len(times)}", f"{slow:.2f} s"])
    print_table(
        f"sessions that act once in {_wanderers.PACE:.0f} s, for {given.seconds:.0f} s each",
        ["sessions", "server", "of a core", "actions", "95 % took"],
        rows,
    )


def _measured(count: int, seconds: float) -> tuple[int, float, list[float]]:
    """Bytes of the server, its share of a core, and seconds of every action."""
    with _serving() as (port, process):
        _wanderers.took(_wanderers.started(port, 1, 15))  # imports the engine and opens the model
        before, begun = sum(process.cpu_times()[:2]), time.monotonic()
        wandering = _wanderers.started(port, count, seconds)
        sizes = list[int]()
        while wandering.poll() is None:
            sizes.append(process.memory_info().rss)
            time.sleep(1)
        busy = (sum(process.cpu_times()[:2]) - before) / (time.monotonic() - begun)
        return max(sizes), busy, _wanderers.took(wandering)


@contextmanager
def _serving() -> Generator[tuple[int, psutil.Process]]:
    port, local = free_port(), free_port()
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder) / "hosting.toml"
        settings.write_text(SETTINGS.format(port=port, local=local))
        command = [sys.executable, "-m", "hosting.serve", str(settings)]
        environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
        try:
            _await_healthy(local, process)
            yield port, psutil.Process(process.pid)
        finally:
            process.kill()
            process.wait()


def _await_healthy(local: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{local}/healthz", timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit("The server did not start.")


if __name__ == "__main__":
    main()
