"""``python -m tests.fuzz --seed 1 --addresses 10000 --texts 2000``: tracebacks at made-up addresses and of texts.

With ``--hosted`` as a visitor of a hosted server meets them.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports huggingface_hub, which reads it once

from hosting.settings import VARIABLE
from tests.fuzz.look import tracebacks_at, tracebacks_of
from tests.fuzz.made import addresses, texts

SETTINGS = "[limits]\nlooks = 1000000\ntext = 5000\ntokens = 60\n"  # nobody has to wait between two addresses


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.fuzz")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--addresses", type=int, default=10_000)
    options.add_argument("--texts", type=int, default=2_000)
    options.add_argument("--first", type=int, default=0, help="go on from this one")
    options.add_argument("--hosted", action="store_true")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.hosted:
            settings = Path(folder) / "hosting.toml"
            settings.write_text(SETTINGS)
            os.environ[VARIABLE] = str(settings)
        return _looked(given)


def _looked(given: argparse.Namespace) -> int:
    found, begun = 0, time.monotonic()
    for number, (page, address) in enumerate(addresses(given.seed, given.addresses)):
        if number >= given.first:
            found += _told(f"address {number}", tracebacks_at(page, address), f"{page} {address}"[:2000])
        if number % 500 == 499:
            _say(f"{number + 1} addresses, {found} tracebacks, {time.monotonic() - begun:.0f} s")
    for number, text in enumerate(texts(given.seed, given.texts)):
        found += _told(f"text {number}", tracebacks_of(text, number), repr(text))
    _say(f"{given.addresses} addresses, {given.texts} texts: {found} tracebacks, {time.monotonic() - begun:.0f} s")
    return min(found, 1)


def _told(name: str, tracebacks: list[str], of: str) -> int:
    if tracebacks:
        _say(f"== {name}: {of}\n" + "\n".join(tracebacks))
    return bool(tracebacks)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
