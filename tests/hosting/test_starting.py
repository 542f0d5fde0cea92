"""Starting a server: its messages and its log name unknown models, but no files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hosting.listed import EMBEDDED, not_here
from hosting.serve import missing_models, prepared
from hosting.settings import VARIABLE, WrongSetting, read
from model_runner.local.loading import model_folder
from tests.browser import ROOT

LOADS = "from hosting.serve import prepared; prepared({arguments}); from model_runner import load_runner; load_runner()"


@pytest.fixture
def listing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The arguments of a start with a model that there is not; the models of the hub are in a folder of its own."""
    for name in (VARIABLE, "FORWARDED_ALLOW_IPS", "WEBSOCKETS_MAX_LINE_LENGTH", "HF_HUB_CACHE"):
        monkeypatch.setenv(name, "")  # set again by what is tested, and as before afterwards
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    (tmp_path / "hub" / "models--owner--kept").mkdir(parents=True)
    file = tmp_path / "hosting.toml"
    file.write_text('[models]\nlisted = ["default", "owner/kept@v1", "nosuchmodel"]\n')
    return [str(file)]


def test_the_models_that_come_with_the_app_are_known():
    assert set(EMBEDDED) == set(model_folder.EMBEDDED)
    assert not_here(EMBEDDED) == []


def test_a_listed_model_that_is_not_here_is_named_at_the_start(listing, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    prepared(listing)
    assert missing_models(read(Path(listing[0]))) == ["nosuchmodel"]  # of which the log has a line each


def test_a_listed_model_that_can_never_be_there_stops_the_start(listing, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(WrongSetting, match="models.listed has “nosuchmodel”, and this machine has no such model"):
        prepared(listing)


@pytest.mark.long
def test_a_model_that_is_loaded_writes_nothing_into_the_log(tmp_path):
    (tmp_path / "hosting.toml").write_text("")
    code = LOADS.format(arguments=[str(tmp_path / "hosting.toml")])
    left_out = ("HF_HUB_DISABLE_PROGRESS_BARS", "TRANSFORMERS_VERBOSITY")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert done.stdout == ""
