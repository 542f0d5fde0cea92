"""``python -m tests.walk``: long walks by hand; prints every step and, at the end, the failures."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser import kept, running_app
from tests.walk.walk import SIZES, Stumbled, Walk
from ui.wording.i18n import LANGUAGES


def main() -> int:
    options = argparse.ArgumentParser(prog="make walk")
    options.add_argument("--seed", type=int, default=random.randrange(10_000))
    options.add_argument("--steps", type=int, default=100)
    options.add_argument("--language", choices=(*LANGUAGES, "all"), default="all")
    options.add_argument("--size", choices=(*SIZES, "all"), default="all")
    options.add_argument("--walks", type=int, default=1, help="so many seeds, one after the other")
    options.add_argument("--anew", type=int, default=3, help="a fresh browser opens the address every so many steps")
    given = options.parse_args()
    stumbled = 0
    for seed in range(given.seed, given.seed + given.walks):
        for language in LANGUAGES if given.language == "all" else (given.language,):
            for size in SIZES if given.size == "all" else (given.size,):
                stumbled += not _walk(seed, given.steps, language, size, given.anew)
    _say(f"walks that stumbled: {stumbled}")
    return min(stumbled, 1)


def _walk(seed: int, steps: int, language: str, size: str, anew: int) -> bool:
    _say(f"== SEED={seed} STEPS={steps} LANGUAGE={language} SIZE={size} ANEW={anew}")
    with (
        tempfile.TemporaryDirectory() as folder,
        running_app(Path(folder) / "log.txt") as server,
        sync_playwright() as playwright,
    ):
        browser, another = (kept(playwright, Path(folder) / name) for name in ("browser", "another"))
        try:
            Walk(browser, another, server, seed, language, size, anew, say=_say).run(steps)
        except Stumbled as error:
            _say(f"STUMBLED: {error}")
            return False
        finally:
            another.close()
            browser.close()
    return True


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
