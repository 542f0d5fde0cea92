"""The settings of torch's OpenMP before it is loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jobs.torch_threads import SETTINGS, meet_awake

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="GNU's OpenMP comes with torch for Linux")
@pytest.mark.parametrize(
    "code",
    [
        "import sys, app; assert 'torch' not in sys.modules; import torch",
        "from pathlib import Path; from served.__main__ import run; run(Path('no.toml'))",
    ],
    ids=["app", "server of models"],
)
def test_openmp_is_told_to_stay_awake_before_torch_is_loaded(code: str):
    environment = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    said = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**environment, "OMP_DISPLAY_ENV": "VERBOSE"},  # it says what it was told when it is loaded
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    assert "OMP_WAIT_POLICY = 'ACTIVE'" in said
    assert "GOMP_SPINCOUNT = '300000'" in said


def test_what_is_set_by_whoever_starts_it_stands():
    own = {"OMP_WAIT_POLICY": "PASSIVE"}
    meet_awake(own)
    assert own == {"OMP_WAIT_POLICY": "PASSIVE"}


def test_nothing_is_told_to_another_system(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    untouched: dict[str, str] = {}
    meet_awake(untouched)
    assert untouched == {}
