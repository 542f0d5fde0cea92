"""What a server keeps in memory: visitors who open new texts one after another, under two budgets (ATLAS_MEMORY).

Each budget has a process of its own. "Start" is after the first page; a visitor opens two texts on Heads and starts a
film. The table compares the kernel's count of the process's memory with what the budget says is kept.

Run: python -m benchmarks.memory_kept
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

import psutil

from benchmarks._table import machine, print_table

BUDGETS = ("32 MB", "512 MB")
VISITORS, LOOK = 60, 15
WORDS = "the dog chased the squirrel because it was fast and the river was cold when she came home and said that "


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--budget")
    given = options.parse_args()
    if given.budget:
        _visit(given.budget)
        return
    print(machine())
    rows: list[list[str]] = []
    for budget in BUDGETS:
        command = [sys.executable, "-m", "benchmarks.memory_kept", "--budget", budget]
        environment = {**os.environ, "ATLAS_MEMORY": budget, "HF_HUB_OFFLINE": "1"}
        told = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True).stdout
        rows += [line.split("|") for line in told.splitlines() if line.count("|") == 4]
    print_table(
        f"{VISITORS} visitors who leave, two texts of 100 tokens and a film each",
        ["budget", "visitors", "kept", "process", "above start"],
        rows,
    )


def _visit(budget: str) -> None:
    from tests.ui.driving import go, open_app, type_text
    from ui.state import session

    own, first = psutil.Process(), open_app()
    start = own.memory_info().rss
    for number in range(VISITORS):
        app = open_app(text=f"{number} {WORDS * 5}")
        type_text(app, f"{number} again {WORDS * 5}")
        go(app, "pages/film/page.py")
        del app
        if number % LOOK == LOOK - 1:
            now = own.memory_info().rss
            kept = session.model_cache().kept.nbytes
            print(budget, number + 1, *(f"{size / 1e6:,.0f} MB" for size in (kept, now, now - start)), sep="|")
    del first


if __name__ == "__main__":
    main()
