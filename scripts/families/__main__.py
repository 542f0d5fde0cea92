"""Tests which families can be captured, with a small random model of every type that transformers maps.

python -m scripts.families                          print the table
python -m scripts.families --write docs/families.md write it, and model_runner/local/loading/known_families.json
python -m scripts.families --only llama,t5          only these; rows of other families are kept
python -m scripts.families --jobs 4                 several at a time

For each, the script tests whether a capture succeeds, and whether the weights equal those that the model's own eager
attention returns. Each runs in its own process, with limits on CPU time and memory. A random model tests the path
through transformers' code, not any published weights.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import transformers

from model_runner.local.loading.known_families import NEEDS, TABLE
from scripts.families.earlier import earlier, in_order, still_refused
from scripts.families.known import known, refused_otherwise, to_be_asked
from scripts.families.own_sizes import FORMS
from scripts.families.small import families
from scripts.families.trying import Tried, table, tried, tried_form

SECONDS, MEMORY = 90, 12 << 30  # seconds of CPU time, and bytes
WAITING = 10  # times the CPU time, for a process that sleeps or shares a busy machine
Work = tuple[str, str, Callable[[], Tried]]  # mapping and name, and the test to run


def main(arguments: list[str] | None = None) -> None:
    """Run the command line (``arguments``: as in ``sys.argv[1:]``)."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.families", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args(arguments)
    only = {name for name in args.only.split(",") if name}
    asked = [(mapping, family) for mapping, family in families() if not only or family in only]
    found = _each([(*one, partial(tried, *one)) for one in asked], args.jobs)
    forms_asked = [form for form in FORMS if not only or form.family in only]
    forms = _each([("", form.name, partial(tried_form, form)) for form in forms_asked], args.jobs)
    if not args.write:
        sys.stdout.write("\n".join(table(found, forms, transformers.__version__)) + "\n")
        return
    lacking = {one.family for one in found if one.outcome == "not tried" and one.family in NEEDS}
    # other families keep what was found where their library was installed
    tried_here = {family for _, family in asked} - lacking
    kept, kept_forms = earlier(args.write, tried_here) if only or lacking else ([], [])
    found = [one for one in found if one.family not in {other.family for other in kept}]
    always = [one for one in to_be_asked(found) if refused_otherwise(*one[:2])] + still_refused(TABLE, kept)
    found, forms = [*found, *kept], in_order([*forms, *kept_forms])
    args.write.write_text("\n".join(table(found, forms, transformers.__version__)) + "\n", "utf-8")
    TABLE.write_text(known(found, forms, always), "utf-8")


def _each(every: Sequence[Work], jobs: int) -> list[Tried]:
    """Run all of them, ``jobs`` at a time; results are in order."""
    found: dict[int, Tried] = {}
    waiting, running = iter(enumerate(every)), dict[int, tuple[int, int, float, bytearray]]()

    def start(count: int) -> None:
        for place, (_, _, work) in itertools.islice(waiting, count):
            child, pipe = _apart(work)
            running[pipe] = place, child, time.monotonic(), bytearray()

    start(jobs)
    while running:
        for pipe in select.select(list(running), [], [])[0]:
            place, child, began, said = running[pipe]
            if more := os.read(pipe, 1 << 16):
                said.extend(more)
                continue
            del running[pipe]
            os.close(pipe)
            os.waitpid(child, 0)
            found[place] = _read(every[place], bytes(said))
            print(f"{time.monotonic() - began:5.1f} s  {found[place]}", file=sys.stderr, flush=True)
            start(1)
    return [found[place] for place in range(len(every))]


def _read(one: Work, said: bytes) -> Tried:
    mapping, family, _ = one
    if not said:
        return Tried(mapping, family, "not tried", f"it took more than {SECONDS} seconds or {MEMORY >> 30} GiB")
    return Tried(**json.loads(said))


def _apart(work: Callable[[], Tried]) -> tuple[int, int]:
    """Fork a process, and return its id and a pipe for its result; it may hang, crash or fill its memory."""
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        return child, read
    os.close(read)
    signal.alarm(WAITING * SECONDS)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
        os.dup2(nowhere.fileno(), 1)
        try:
            os.write(write, json.dumps(work().__dict__).encode())
        finally:
            os._exit(0)


if __name__ == "__main__":
    main()
