"""What does a class lose on a cluster? Two replicas on Ray, the app, a teacher, twenty phones, three notebooks.

    python -m benchmarks.lab [--phones 20] [--seconds 30]

One replica is killed in the middle, then every replica is replaced (SIGHUP). The teacher, in a real Chromium, types
texts and opens heads; phones follow, without a browser (_followers.py); notebooks capture, check a layer, and let texts
grow, each compared with the same model in this process. All of them share this machine. The script needs Ray
(requirements-ray.txt), and runs in a network namespace with only the loopback (tests/served/namespace.py).
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import psutil
from playwright.sync_api import Page

import attention_atlas as aa
from benchmarks import _followers
from benchmarks._app import App, opened_page, running_app, settle
from benchmarks._chromium import chromium
from benchmarks._table import machine, print_table
from benchmarks._teaching import PATIENCE, all_there, click_head, opened_room
from model_runner.errors import RunnerError
from model_runner.runner import Runner
from served import serve
from tests.browser import Watch
from tests.served.namespace import alone, command, missing
from tests.served.server import free_port

NOTEBOOKS = 3
TOKENS = 12
TOLERANCE = 1e-5  # of a weight: other threads sum in another order
UP, REPLACED = "The models are at", "The replicas were replaced"
LONGEST = 300.0  # seconds for the cluster to start, or to be replaced
BETWEEN = 1.0  # seconds between two actions of the teacher
TEXTS = (
    "The dog chased the squirrel because it was hungry",
    "The capital of France is Paris and the capital of Italy is",
    "She opened the old book that her grandmother had left on the table",
    "One two three four one two three four one two",
)
SETTINGS = """[server]
port = {port}
[ray]
grace = 30
[[applications]]
name = "small"
models = ["default"]
replicas = 2
cpus = 0.5
"""


@dataclass
class Cluster:
    """``python -m served.ray`` in a process of its own."""

    process: subprocess.Popen[bytes]
    log: Path
    url: str
    key: str

    def replicas(self) -> set[int]:
        """The process ids of the replicas."""
        found = set[int]()
        for one in psutil.Process(self.process.pid).children(recursive=True):
            try:
                if " ".join(one.cmdline()).startswith("ray::ServeReplica"):
                    found.add(one.pid)
            except psutil.Error:
                continue
        return found

    def wait(self, words: str) -> None:
        """Wait until this line is in its log."""
        wait_for(lambda: words in self.log.read_text(), lambda: self.process.poll() is None)


@dataclass
class Notebook:
    """One client: how long each question took, and what was lost."""

    url: str
    key: str
    number: int
    own: Runner
    ended: threading.Event
    waits: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    lost: list[str] = field(default_factory=list[str])

    def work(self) -> None:
        """Capture one text after another, and let every third grow."""
        runner, count = aa.load_runner(f"{self.url}/default", key=self.key), 0
        while not self.ended.is_set():
            count += 1
            words = f"{self.number} {count} {TEXTS[count % len(TEXTS)]}"
            self.do("a text that grows" if count % 3 == 0 else "a capture and its check", runner, words, count % 3 == 0)

    def do(self, name: str, runner: Runner, words: str, grows: bool) -> None:
        """Ask, and compare with this process."""
        began = time.monotonic()
        try:
            if grows:
                request = aa.GenerateRequest(words, TOKENS, sampling=aa.Sampling(temperature=0.9, seed=self.number))
                found, expected = ([step.token.id for step in one.generate(request)] for one in (runner, self.own))
                same = found == expected
            else:
                capture = runner.capture(words)
                layer = self.number % capture.n_layers
                found, expected = (one.weights(layer, 0) for one in (capture, self.own.capture(words)))
                same = capture.verify(layer).ok and bool((found - expected).abs().max() < TOLERANCE)
            if not same:
                self.lost.append(f"{name}: other numbers")
        except RunnerError as error:
            self.lost.append(f"{name}: {error}")
        self.waits.append((time.monotonic() - began, name))


@dataclass
class Teacher:
    """The teacher's actions: when, and until nothing was running."""

    page: Page
    done: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    sentences: list[str] = field(default_factory=list[str])

    def teach(self, seconds: float, until: Callable[[], bool] = lambda: True) -> None:
        """Teach for this long, and until the condition holds: a text, then three heads of it."""
        end, began = time.monotonic() + seconds, time.monotonic()
        while time.monotonic() < end or not until():
            if time.monotonic() - began > LONGEST:
                raise TimeoutError
            self._one(len(self.done))

    def _one(self, number: int) -> None:
        at = time.time()
        if number % 4 == 0:
            box = self.page.locator(".st-key-text_box textarea")
            box.fill(f"{number} {TEXTS[number // 4 % len(TEXTS)]}")
            box.press("Control+Enter")
        else:
            click_head(self.page, number)
        self.page.wait_for_timeout(200)
        settle(self.page)
        self.done.append((at, time.time() - at))
        self.sentences += self.page.locator("[data-testid=stAlertContentError]").all_inner_texts()
        self.page.wait_for_timeout(BETWEEN * 1000)


def main() -> None:
    """Start a network namespace unless this process is in one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--phones", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=30, help="before, between and after")
    options = parser.parse_args()
    if not alone():
        if why := missing():
            print(f"Not measured: {why}.")
            return
        inside = command("-m", "benchmarks.lab", *sys.argv[1:])
        os.execvp(inside[0], inside)
    print(machine())
    watch = Watch()
    with tempfile.TemporaryDirectory() as folder, running_cluster(Path(folder)) as cluster:
        app_asks = running_app(watch, ATLAS_RUNNER=cluster.url, ATLAS_RUNNER_KEY=cluster.key)
        with app_asks as app, chromium() as browser, opened_page(browser, watch) as page:
            lesson(cluster, app, page, watch, options)


@contextmanager
def running_cluster(folder: Path) -> Generator[Cluster]:
    """A running cluster with two replicas."""
    port = free_port()
    key, _, lines = serve.new_key("lab").partition("\n")
    (folder / "lab.toml").write_text(SETTINGS.format(port=port) + lines)
    log = folder / "log"
    with log.open("wb") as out:
        served = [sys.executable, "-m", "served.ray", str(folder / "lab.toml")]
        process = subprocess.Popen(served, stdout=out, stderr=subprocess.STDOUT)
    cluster = Cluster(process, log, f"http://127.0.0.1:{port}", key)
    try:
        began = time.monotonic()
        cluster.wait(UP)
        print(f"Two replicas were up after {time.monotonic() - began:.0f} s.")
        yield cluster
    finally:
        process.terminate()
        process.wait(60)


def lesson(cluster: Cluster, app: App, page: Page, watch: Watch, options: argparse.Namespace) -> None:
    """Run the whole measurement, and print the table."""
    code = opened_room(page, app)
    followers = _followers.started(app.url, code, options.phones)
    all_there(page, options.phones)
    ended, own = threading.Event(), aa.load_runner("default", device="cpu")
    notebooks = [Notebook(cluster.url, cluster.key, number, own, ended) for number in range(NOTEBOOKS)]
    threads = [threading.Thread(target=one.work) for one in notebooks]
    teacher, times = Teacher(page), dict[str, float]()
    for one in threads:
        one.start()
    try:
        teacher.teach(options.seconds)
        first = cluster.replicas()
        victim, began = min(first), time.monotonic()
        os.kill(victim, signal.SIGKILL)
        teacher.teach(options.seconds, lambda: len(cluster.replicas() - {victim}) == len(first))
        times["one replica killed, until there were two again"] = time.monotonic() - began
        before, began = cluster.replicas(), time.monotonic()
        cluster.process.send_signal(signal.SIGHUP)
        teacher.teach(0, lambda: REPLACED in cluster.log.read_text())
        times["every replica replaced, one after the other"] = time.monotonic() - began
        teacher.teach(options.seconds)
        stayed = before & cluster.replicas()
    finally:
        ended.set()
    for one in threads:
        one.join()
    page.locator(".st-key-end_room button").click(timeout=PATIENCE)
    page.locator(".st-key-end_it button").click()
    page.locator(".st-key-open_room").wait_for()
    report(teacher, notebooks, _followers.told(followers), options.phones, times)
    errors = [*watch.errors, *watch.outside, *(f"{len(stayed)} replicas were not replaced" for _ in stayed)]
    print("\n".join(errors) if errors else "No error in the browser, and no request to elsewhere.")


def report(
    teacher: Teacher, notebooks: list[Notebook], heard: list[_followers.Told], phones: int, times: dict[str, float]
) -> None:
    """Print what was requested, what was lost, and how long clients waited."""
    rows = []
    for name in sorted({name for one in notebooks for _, name in one.waits}):
        waits = [wait for one in notebooks for wait, what in one.waits if what == name]
        lost = [words for one in notebooks for words in one.lost if words.startswith(name)]
        rows.append((f"notebooks: {name}", f"{len(waits):,}", str(len(lost)), *took(waits)))
        print("\n".join(lost[:5]))
    waits = [wait for _, wait in teacher.done]
    rows.append(
        ("teacher: a text or a head, until all is at rest", str(len(waits)), str(len(teacher.sentences)), *took(waits))
    )
    print("\n".join(teacher.sentences[:5]))
    told = [_followers.waits(at, wait + BETWEEN, heard, "figure", "head_map") for at, wait in teacher.done]
    expected = phones * len(told)
    reached = [wait for one in told for wait in one]
    rows.append(("phones: the teacher's map", f"{expected:,}", str(expected - len(reached)), *took(reached)))
    print_table("The lab", ("", "asked", "lost", "median", "longest"), rows)
    for name, seconds in times.items():
        print(f"{name}: {seconds:.0f} s")


def took(waits: list[float]) -> tuple[str, str]:
    """Median and maximum."""
    return f"{1000 * median(waits):.0f} ms", f"{max(waits):.1f} s"


def wait_for(condition: Callable[[], bool], going: Callable[[], bool]) -> None:
    """Wait until the condition holds; ends the script if it does not."""
    end = time.monotonic() + LONGEST
    while not condition():
        if time.monotonic() > end or not going():
            sys.exit("The cluster did not start; Ray’s own logs say why.")
        time.sleep(0.2)


if __name__ == "__main__":
    main()
