"""The project's own tests of a runner pass over HTTP, unchanged, with the same numbers."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.served.namespace import inside, missing
from tests.test_repository import ROOT

ASKED = (  # of the protocol: what reaches into the engine is left out
    "test_wire.py",
    "test_capture.py",
    "test_capture_file.py",
    "test_positions.py",
    "test_edits.py",
    "test_every_edit.py",
    "local/answers/test_patches.py",
)
ON_RAY = ("test_wire.py", "test_capture.py", "local/answers/test_patches.py")  # every kind of question, to be in time
LEFT_OUT = "not int8 and not print_one_line"  # one reads the engine, the other a line that ends with the server's URL


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_tests_of_a_runner_pass_over_http():
    command = [sys.executable, "-m", "pytest", "-p", "tests.served.over_http", "-n", "0", "-q", "--few", "-k", LEFT_OUT]
    paths = [f"tests/model_runner/{name}" for name in ASKED]
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    done = subprocess.run([*command, *paths], cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout[-3000:]
    passed = int(done.stdout.rsplit(" passed", 1)[0].split()[-1].lstrip("="))
    assert passed > 250, done.stdout[-500:]


@pytest.mark.long
@pytest.mark.timeout(1300)
@pytest.mark.skipif(bool(missing()), reason=missing() or "it can")
def test_the_tests_of_a_runner_pass_over_two_replicas_on_ray():
    command = ["-m", "pytest", "-p", "tests.served.over_ray", "-n", "0", "-q", "--few", "-k", LEFT_OUT]
    done = inside(*command, *(f"tests/model_runner/{name}" for name in ON_RAY), seconds=1200)
    assert done.returncode == 0, done.stdout[-3000:]
    passed = int(done.stdout.rsplit(" passed", 1)[0].split()[-1].lstrip("="))
    assert passed > 120, done.stdout[-500:]
