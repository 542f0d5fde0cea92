"""What torch's threads lose by sleeping while they wait for one another, see jobs/torch_threads.py.

    python -m benchmarks.torch_teams [--tokens 128] [--times 9]

A capture of the embedded model, and one with linear attention in every head of every layer: each in a fresh process,
without the settings and with them, in turns, as often as requested. One thread loads the model and another runs it, as
in the app, so each of the two has a team of threads.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from statistics import median

from benchmarks._table import Target, machine, print_table
from jobs.torch_threads import SETTINGS, meet_awake
from tests.browser import ROOT

PLAIN, SUBSTITUTED = "a capture", "linear attention in all heads"
FASTER = Target(1.0, "×")
ROUNDS = 3  # processes of each kind


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--times", type=int, default=9, help="captures of each kind in a process")
    parser.add_argument("--within", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.within:
        print(json.dumps(_measured(options.tokens, options.times)))
        return
    found = {(what, awake): list[float]() for what in (PLAIN, SUBSTITUTED) for awake in (False, True)}
    for turn in range(2 * ROUNDS):
        for what, times in _process(awake := turn % 2 == 1, options).items():
            found[what, awake] += times
    rows = []
    for what in (PLAIN, SUBSTITUTED):
        asleep, awake = (median(found[what, one]) for one in (False, True))
        ratio = awake / asleep
        rows.append([what, f"{asleep:.0f} ms", f"{awake:.0f} ms", f"{ratio:.2f}×", FASTER.verdict(ratio)])
    print_table(f"Teams of threads, {options.tokens} tokens", ["", "asleep", "awake", "ratio", ""], rows)
    print(f"{machine()}.")


def _process(awake: bool, options: argparse.Namespace) -> dict[str, list[float]]:
    environment = {name: value for name, value in os.environ.items() if name not in {*SETTINGS, "OMP_NUM_THREADS"}}
    if awake:
        meet_awake(environment)
    command = [sys.executable, "-m", "benchmarks.torch_teams", "--within"]
    command += ["--tokens", str(options.tokens), "--times", str(options.times)]
    said = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    return json.loads(said.splitlines()[-1])


def _measured(n_tokens: int, times: int) -> dict[str, list[float]]:
    """Milliseconds of each capture."""
    from benchmarks.page_latency import text_of
    from model_runner import CaptureRequest, load_runner
    from model_runner.substitution import Substituted

    runner = load_runner()
    found: dict[str, list[float]] = {}
    for what, edits in ((PLAIN, ()), (SUBSTITUTED, (Substituted("linear", (), None, None),))):
        took = []
        for turn in range(times + 1):  # one to warm up
            request = CaptureRequest(text_of(n_tokens, turn), edits=edits)
            began = time.perf_counter()
            runner.capture(request)
            took.append((time.perf_counter() - began) * 1000)
        found[what] = took[1:]
    return found


if __name__ == "__main__":
    main()
