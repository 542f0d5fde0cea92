"""What happens on Ray when replicas hang, die and are replaced: python -m tests.served.on_ray, a line of JSON each.

In a network namespace alone (tests/served/namespace.py). Every client is a thread of this process.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import psutil

from hosting.settings import WrongSetting
from model_runner.errors import RunnerError
from model_runner.remote.models import RemoteModels
from model_runner.remote.runner import RemoteRunner
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.transforms import Sampling
from served.ray import start
from served.ray.replica import Replica
from served.settings import RayApplication, RayCluster
from tests.served.namespace import alone
from tests.served.server import KEY, settings

SICK = "sick"  # the first text with this word hangs the replica that reads it
HUNG = "ATLAS_TEST_HUNG"  # the file that says that one did
READERS = 8
SILENCE = 4  # seconds


class HangingReplica(Replica):
    """Hangs once, as a kernel would: in a layer that never comes to its end."""

    def models(self) -> Any:
        models = super().models()
        open_, marker = models.open, Path(os.environ[HUNG])

        def opened(name: str, **other: Any) -> Any:
            loading = open_(name, **other)
            if not loading.future.done():
                loading.future.add_done_callback(lambda done: _hurt(done.result(), marker))
            return loading

        models.open = opened
        return models


def _hurt(runner: Any, marker: Path) -> None:
    write = runner.engine.write

    def hang(request: Any) -> Any:
        if SICK in request.text and not marker.exists():
            marker.touch()
            time.sleep(600)
        return write(request)

    runner.engine.write = hang


def replicas(of: str = "") -> dict[int, psutil.Process]:
    """The replicas of this process's cluster, of one application."""
    found: dict[int, psutil.Process] = {}
    for one in psutil.Process().children(recursive=True):
        try:
            if " ".join(one.cmdline()).startswith(f"ray::ServeReplica:{of}"):
                found[one.pid] = one
        except psutil.Error:
            continue
    return found


def wait_for(condition: Callable[[], bool], seconds: float = 120.0) -> float:
    """How long it took until this held."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > seconds:
            raise TimeoutError(f"not within {seconds:g} s")
        time.sleep(0.2)
    return time.monotonic() - began


def under_load(url: str, act: Callable[[], Any], seconds: float) -> dict[str, Any]:
    """Eight readers with a text after the other, until the act has been done for so long: errors and waits."""
    waits, errors, ended = list[float](), list[str](), threading.Event()

    def reader(number: int) -> None:
        runner, count = opened(url), 0
        while not ended.is_set():
            count, began = count + 1, time.monotonic()
            try:
                capture = runner.capture(
                    CaptureRequest(f"{number} {count} The dog sat because it was late {time.time()}")
                )
                capture.weights(0, 0)
            except RunnerError as error:
                errors.append(repr(error)[:200])
            waits.append(time.monotonic() - began)

    with ThreadPoolExecutor(READERS) as pool:
        reading = [pool.submit(reader, number) for number in range(READERS)]
        time.sleep(2)
        try:
            found = act()
            time.sleep(seconds)
        finally:
            ended.set()
        for one in reading:
            one.result()
    return {"asked": len(waits), "errors": errors, "longest": max(waits), "found": found}


def opened(url: str, name: str = "default") -> RemoteRunner:
    """A client of its own."""
    return RemoteModels(url, KEY).open(name).result()


def listeners() -> list[str]:
    """What listens at another address than the loopback's, by the name of its process."""
    lines = subprocess.run(["ss", "-ltnpH"], capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [line.split() for line in lines]
    return [" ".join(row[5:]) for row in rows if not row[3].startswith(("127.0.0.1", "[::ffff:127.0.0.1]", "[::1]"))]


class Scenarios:
    """Each returns what its test looks at."""

    def __init__(self, url: str, told: Any) -> None:
        self.url, self.told = url, told

    def addresses(self) -> Any:
        """Which processes can be reached from other machines, were there any; and who may use Ray."""
        stranger = os.environ | {"RAY_AUTH_TOKEN": "0" * 64}
        code = "import ray; ray.init(address='auto', logging_level='ERROR'); print(ray.cluster_resources())"
        done = subprocess.run([sys.executable, "-c", code], env=stranger, capture_output=True, text=True, timeout=90)
        return {"open": listeners(), "stranger": done.returncode, "told": done.stderr[-2000:]}

    def applications(self) -> Any:
        """Two of them: each model is asked at its own."""
        names = httpx2.get(f"{self.url}/v1/names", headers={"authorization": f"Bearer {KEY}"}).json()
        wrong = httpx2.get(f"{self.url}/v1/models/default", headers={"authorization": "Bearer no"}).status_code
        texts = {name: len(opened(self.url, name).capture("A cat").tokens) for name in names}
        return {"names": names, "wrong key": wrong, "tokens": texts, "health": httpx2.get(f"{self.url}/health").text}

    def affinity(self) -> Any:
        """A text is kept where it was read: asked again by another client, it is not read again."""
        text = CaptureRequest(" ".join(f"word{number}" for number in range(300)))
        seconds = []
        for _ in range(6):
            runner, began = opened(self.url), time.monotonic()
            runner.capture(text)
            seconds.append(time.monotonic() - began)
        return {"seconds": seconds}

    def killed(self) -> Any:
        """One of two replicas is killed under load."""
        victim = next(iter(replicas("main")))
        found = under_load(self.url, lambda: os.kill(victim, signal.SIGKILL), 8)
        found["again"] = wait_for(lambda: len(replicas("main")) == 2 and victim not in replicas("main"))
        return found

    def growing(self) -> Any:
        """The replica of a text that grows is killed after five tokens."""
        asked = GenerateRequest("The dog", 12, sampling=Sampling(temperature=0.9, top_k=40, seed=7))
        expected = [step.token.id for step in opened(self.url).generate(asked)]
        steps, found, waits = opened(self.url).generate(asked), list[int](), list[float]()
        worked = {pid: sum(one.cpu_times()[:2]) for pid, one in replicas("main").items()}
        for number in range(len(expected)):
            if number == 5:  # the replica that has it worked most
                now = {pid: sum(one.cpu_times()[:2]) for pid, one in replicas("main").items()}
                os.kill(max(now, key=lambda pid: now[pid] - worked[pid]), signal.SIGKILL)
            began = time.monotonic()
            found.append(next(steps).token.id)
            waits.append(time.monotonic() - began)
        wait_for(lambda: len(replicas("main")) == 2 and set(worked) != set(replicas("main")))
        return {"expected": expected, "found": found, "longest": max(waits)}

    def hung(self) -> Any:
        """A replica hangs in a layer; whoever asked is answered by another, and it is replaced."""
        before, began = set(replicas("main")), time.monotonic()
        tokens = len(opened(self.url).capture(CaptureRequest(f"{SICK} is the dog")).tokens)
        answered = time.monotonic() - began
        replaced = wait_for(lambda: len(set(replicas("main")) - before) == 1 and len(replicas("main")) == 2)
        return {"tokens": tokens, "answered": answered, "replaced": replaced + answered}

    def stopped(self) -> Any:
        """A replica's whole process stands still, under load."""
        before = set(replicas("main"))
        victim = min(before)
        found = under_load(self.url, lambda: os.kill(victim, signal.SIGSTOP), 20)
        found["again"] = wait_for(lambda: len(replicas("main")) == 2 and victim not in replicas("main"))
        return found

    def rolling(self) -> Any:
        """Every replica is replaced under load, while a text grows."""
        before = set(replicas("main"))
        asked = GenerateRequest("The dog", 12, sampling=Sampling(temperature=0.9, top_k=40, seed=7))
        expected = [step.token.id for step in opened(self.url).generate(asked)]
        steps, grown = opened(self.url).generate(asked), list[int]()
        grown += [next(steps).token.id for _ in range(4)]
        found = under_load(self.url, lambda: start.deploy(self.told, HangingReplica), 2)
        grown += [step.token.id for step in steps]
        return found | {"stayed": len(before & set(replicas("main"))), "same": grown == expected}

    def grows(self) -> Any:
        """The application of up to two replicas has a second one while many ask."""
        before = len(replicas("small"))

        def reader(number: int) -> None:
            runner = opened(self.url, "encoder")
            while not ended.is_set():
                runner.capture(CaptureRequest(f"the dog sat {number} {time.time()}"))

        ended = threading.Event()
        with ThreadPoolExecutor(6) as pool:
            reading = [pool.submit(reader, number) for number in range(6)]
            try:
                seconds = wait_for(lambda: len(replicas("small")) == 2, 90)
            finally:
                ended.set()
            for one in reading:
                one.result()
        return {"before": before, "seconds": seconds}

    def too_many(self) -> Any:
        """More GPUs than there are, and a model that does not load: a sentence, and what runs goes on."""
        import ray  # pyright: ignore[reportMissingModuleSource]  # optional

        from served.ray.layout import shortage

        main, small = self.told.applications
        gpus = replace(self.told, applications=(replace(main, gpus=2.0), small))
        absent = replace(
            self.told,
            models=replace(self.told.models, listed=("default", "encoder", "owner/not-here")),
            applications=(main, small, RayApplication("absent", ("owner/not-here",), cpus=0.2)),
        )
        try:
            start.deploy(absent, HangingReplica)
            said = ""
        except WrongSetting as error:
            said = str(error)
        health = httpx2.get(f"{self.url}/health").status_code
        return {"gpus": shortage(gpus, ray.cluster_resources()), "absent": said, "health": health}


def main(wanted: list[str]) -> None:
    """Start it, go through all, or through those named, and end it."""
    if not alone():
        sys.exit("There are other network interfaces than lo here; Ray is started in a namespace without.")
    with tempfile.TemporaryDirectory() as folder:
        os.environ[HUNG] = f"{folder}/hung"
        told = replace(
            settings(("default", "encoder"), silence=SILENCE),
            ray=RayCluster(grace=20),
            applications=(
                RayApplication("main", ("default",), replicas=2, cpus=0.5),
                RayApplication("small", ("encoder",), replicas=1, most=2, questions=2, cpus=0.3),
            ),
        )
        began = time.monotonic()
        try:
            start.start(told, cpus=4)
            start.deploy(told, HangingReplica)
            say("start", {"seconds": time.monotonic() - began})
            scenarios = Scenarios(start.url(told), told)
            for name in wanted or [name for name in vars(Scenarios) if not name.startswith("_")]:
                try:
                    say(name, getattr(scenarios, name)())
                except Exception as error:  # noqa: BLE001  its test says it
                    say(name, {"failed": f"{type(error).__name__}: {error}"})
        finally:
            start.stop(told)


def say(name: str, found: Any) -> None:
    """A line for the test."""
    sys.stdout.write(json.dumps({"name": name, "found": found}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
