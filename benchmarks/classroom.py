"""How long does a class wait? A room of 200 followers, in processes of their own, and a teacher in a real Chromium.

    python -m benchmarks.classroom [--followers 200] [--clicks 10]

Click: from the teacher's click on a head to the map's new data at a follower, whole and unpacked; a phone draws it in a
frame or two more (see page_latency). Votes: every follower answers at a random moment within two seconds; counted is
what the teacher's page then says. All of it shares this machine: server, browser and followers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import secrets
import shutil
import struct
import subprocess
import sys
import time
import zlib
from statistics import quantiles
from typing import Any

from playwright.sync_api import Page, sync_playwright
from websockets.asyncio.client import connect

from benchmarks._app import opened_page, running_app, settle
from benchmarks._table import Target, machine, print_table
from tests.browser import CHROMIUM, FLAGS, ROOT, Watch

PROCESSES = 4
VOTING = 2.0  # seconds
PAUSE = 2000  # ms between two clicks
CLICK = Target(500, " ms")
KEY = "head_map"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--followers", type=int, default=200)
    parser.add_argument("--clicks", type=int, default=10, help="clicks of the teacher on heads")
    parser.add_argument("--follow", nargs=3, metavar=("PORT", "CODE", "COUNT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.follow:
        port, code, count = options.follow
        asyncio.run(_follow_all(int(port), code, int(count)))
        return
    executable = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if executable is None:
        sys.exit(f"No Chromium on this machine (looked for {', '.join(CHROMIUM)}).")
    watch = Watch()
    with sync_playwright() as playwright, running_app(watch) as app:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        with opened_page(browser, watch) as page:
            app.open(page)
            page.locator(".st-key-open_room button").click(timeout=60_000)
            code = page.locator(".atlas-huge").inner_text()
            page.locator(".st-key-hide_code button").click()
            settle(page)
            followers = _started(app.port, code, options.followers)
            page.locator(f".room-link[data-there='{options.followers}']").wait_for()
            clicks = [_click(page, number) for number in range(options.clicks)]
            counted = _vote(page, options.followers)
            page.locator(".st-key-end_room button").click()
            heard = [line for process in followers for line in _said(process)]
        browser.close()
    waits = [wait for at in clicks for wait in _waits(at, heard)]
    print_table(
        f"A room of {options.followers} followers · {machine()}",
        ("measured", "value", "target", ""),
        [
            _row(f"click → data, 95 % of {len(waits)}", quantiles(waits, n=20)[-1] * 1000, CLICK),
            (f"click → data, median of {len(waits)}", f"{quantiles(waits, n=2)[0] * 1000:.0f} ms", "", ""),
            ("click → data, the last follower", f"{max(waits) * 1000:.0f} ms", "", ""),
            ("clicks that reached everybody", f"{len(waits) // options.followers} of {options.clicks}", "", ""),
            (f"votes counted, sent within {VOTING:g} s", f"{counted} of {options.followers}", "all", ""),
        ],
    )
    if counted != options.followers or len(waits) != options.followers * options.clicks:
        sys.exit("Not everybody saw and was counted.")


def _row(name: str, value: float, target: Target) -> tuple[str, ...]:
    return name, f"{value:.0f} ms", str(target), target.verdict(value)


def _click(page: Page, number: int) -> float:
    """When, in seconds since the epoch, another head was clicked."""
    page.wait_for_timeout(PAUSE)
    canvas = page.locator(".head-grid canvas")
    box = canvas.bounding_box()
    assert box
    share = 0.25 + 0.5 * (number % 2)
    x, y = box["x"] + share * box["width"], box["y"] + (0.3 + 0.05 * (number % 8)) * box["height"]
    page.mouse.move(x, y)
    at = time.time()
    page.mouse.click(x, y)
    return at


def _vote(page: Page, followers: int) -> int:
    page.wait_for_timeout(PAUSE)
    page.locator(".st-key-ask_class button").first.click()
    page.locator(".st-key-ask_ablate button").click()
    page.locator(".class-answered").wait_for()
    deadline = time.monotonic() + VOTING + 5
    while time.monotonic() < deadline and page.locator(".class-answered").inner_text() != str(followers):
        page.wait_for_timeout(50)
    return int(page.locator(".class-answered").inner_text())


def _waits(at: float, heard: list[dict[str, Any]]) -> list[float]:
    """Of each follower that was sent a map within the time until the next click, how long it took."""
    first: dict[str, float] = {}
    for event in heard:
        if at <= event["at"] < at + PAUSE / 1000:
            first[event["who"]] = min(first.get(event["who"], event["at"]), event["at"])
    return [came - at for came in first.values()]


# -- followers, in processes of their own -----------------------------------------------------------------------------


def _started(port: int, code: str, count: int) -> list[subprocess.Popen[str]]:
    shares = [count // PROCESSES + (number < count % PROCESSES) for number in range(PROCESSES)]
    command = [sys.executable, "-m", "benchmarks.classroom", "--follow", str(port), code]
    return [
        subprocess.Popen([*command, str(share)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for share in shares
        if share
    ]


def _said(process: subprocess.Popen[str]) -> list[dict[str, Any]]:
    output, _ = process.communicate(timeout=60)
    return [json.loads(line) for line in output.splitlines()]


async def _follow_all(port: int, code: str, count: int) -> None:
    heard = await asyncio.gather(*(_follow(port, code) for _ in range(count)))
    for number, times in enumerate(heard):
        for at in times:
            print(json.dumps({"who": f"{os.getpid()} {number}", "at": at}))


async def _follow(port: int, code: str) -> list[float]:
    """When the map's data came, each time, until the room ended."""
    times: list[float] = []
    origin: Any = f"http://127.0.0.1:{port}"  # typed as a string of its own
    address = f"ws://127.0.0.1:{port}/classroom/talk"
    async with connect(address, origin=origin, compression=None, max_size=None, open_timeout=30) as socket:
        await socket.send(json.dumps({"kind": "join", "code": code, "who": secrets.token_hex(16)}))
        async for frame in socket:
            if isinstance(frame, bytes):
                (length,) = struct.unpack("<I", frame[:4])
                if json.loads(frame[4 : 4 + length])["key"] == KEY:
                    zlib.decompress(frame[4 + length :], wbits=31)
                    times.append(time.time())
                continue
            told = json.loads(frame)
            if told["kind"] == "ended":
                break
            if told["kind"] == "poll" and told["state"] == "open":
                await asyncio.sleep(random.random() * VOTING)
                await socket.send(
                    json.dumps({"kind": "vote", "round": told["round"], "answer": "likelier", "name": ""})
                )
    return times


if __name__ == "__main__":
    main()
