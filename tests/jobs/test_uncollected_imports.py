"""Imports that the garbage collector passes over, in the app and in a server of models."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from types import ModuleType

import pytest

from jobs.uncollected_imports import uncollected_imports
from served.__main__ import run


class Node:
    """An object that garbage collection looks at."""


def test_what_is_made_inside_is_exempt_and_collection_goes_on_after_it():
    before = gc.get_freeze_count()
    with uncollected_imports():
        assert not gc.isenabled()
        made = [Node() for _ in range(1000)]
    assert gc.isenabled()
    assert gc.get_freeze_count() - before >= 1000
    assert not any(one is made[0] for one in gc.get_objects())


def test_it_ends_with_an_import_that_fails():
    with pytest.raises(ImportError), uncollected_imports():
        raise ImportError
    assert gc.isenabled()


def test_a_server_of_models_imports_its_engine_so(monkeypatch):
    class Serve(ModuleType):
        """Stands for served.serve, and says what collection does while it is read."""

        def __getattr__(self, name: str) -> object:
            if name != "main":
                raise AttributeError(name)
            enabled = gc.isenabled()
            return lambda _path: int(enabled)

    monkeypatch.setitem(sys.modules, "served.serve", Serve("served.serve"))
    assert run(Path("any.toml")) == 0
