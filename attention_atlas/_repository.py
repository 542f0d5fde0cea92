"""In the repository, make ``attention_atlas.analysis`` an alias of the top-level package ``analysis``.

Not part of the wheel, where the packages are inside ``attention_atlas`` (scripts/wheel_backend.py).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]


class _SameModule(Loader):
    def __init__(self, name: str) -> None:
        self._name = name
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Import the module under its own name."""
        module = import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: it is executed already, and keeps its own attributes."""
        module.__spec__ = self._spec


class _Rooms(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, name = fullname.partition(".")
        if package != __package__ or not (ROOT / name.partition(".")[0]).is_dir():
            return None
        return ModuleSpec(fullname, _SameModule(name), is_package=True)


def find_rooms() -> None:
    """Install the aliases for this process."""
    if not any(isinstance(finder, _Rooms) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Rooms())
