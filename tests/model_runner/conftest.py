"""A complete model folder, a copy of it that a test may break, and a machine without a network."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path
from typing import NoReturn

import pytest

from tests.model_runner.folders import save


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any attempt to reach another machine fails the test."""

    def refuse(*_: object) -> NoReturn:
        raise AssertionError("this must work without a network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture(scope="session")
def whole_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("models") / "whole")


@pytest.fixture
def folder(whole_folder: Path, tmp_path: Path) -> Path:
    """A copy that a test may break."""
    return Path(shutil.copytree(whole_folder, tmp_path / "model"))
