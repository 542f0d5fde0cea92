"""Which families can be captured: a small random model of every type that transformers maps, through the capture.

python -m scripts.families                          print the table
python -m scripts.families --write docs/families.md write it, and model_runner/local/known_families.json
python -m scripts.families --only llama,t5          of these alone; what is written keeps the rows of the others

Of each it is asked whether it is captured, and whether the weights are those that the model's own eager attention
returns. Each runs in a process of its own, with limits of time and memory. A random model proves the way through
transformers' code, not the weights of anybody.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import transformers

from model_runner.local.known_families import TABLE
from scripts.families.earlier import earlier, in_order, still_refused
from scripts.families.known import known, refused_otherwise, to_be_asked
from scripts.families.own_sizes import FORMS
from scripts.families.small import families
from scripts.families.trying import Tried, table, tried, tried_form

SECONDS, MEMORY = 90, 12 << 30


def main(arguments: list[str] | None = None) -> None:
    """Run the command line (``arguments``: as in ``sys.argv[1:]``)."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.families", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", type=Path)
    parser.add_argument("--only", default="")
    args = parser.parse_args(arguments)
    only = {name for name in args.only.split(",") if name}
    found: list[Tried] = []
    for mapping, family in families():
        if not only or family in only:
            began = time.monotonic()
            found.append(_apart(mapping, family, lambda mapping=mapping, family=family: tried(mapping, family)))
            print(f"{time.monotonic() - began:5.1f} s  {found[-1]}", file=sys.stderr, flush=True)
    asked = [form for form in FORMS if not only or form.family in only]
    forms = [_apart("", form.name, lambda form=form: tried_form(form)) for form in asked]
    if not args.write:
        sys.stdout.write("\n".join(table(found, forms, transformers.__version__)) + "\n")
        return
    kept, kept_forms = earlier(args.write, only) if only else ([], [])
    always = [one for one in to_be_asked(found) if refused_otherwise(*one[:2])] + still_refused(TABLE, kept)
    found, forms = [*found, *kept], in_order([*forms, *kept_forms])
    args.write.write_text("\n".join(table(found, forms, transformers.__version__)) + "\n", "utf-8")
    TABLE.write_text(known(found, forms, always), "utf-8")


def _apart(mapping: str, family: str, work: Callable[[], Tried]) -> Tried:
    """In a fork: what it may hang, end or fill is its own."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.alarm(SECONDS)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 2)
            os.dup2(nowhere.fileno(), 1)
            try:
                os.write(write, json.dumps(work().__dict__).encode())
            finally:
                os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    if not said:
        return Tried(mapping, family, "not tried", f"it took more than {SECONDS} seconds or {MEMORY >> 30} GiB")
    return Tried(**json.loads(said))


if __name__ == "__main__":
    main()
