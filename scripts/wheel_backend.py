"""The build backend of pyproject.toml: puts the repository's packages into one, and builds a wheel with setuptools.

In the repository, ``analysis``, ``model_runner`` and the others are top-level packages, and import one another by these
names. In the wheel they are inside ``attention_atlas``, and this prefix is added to their imports.
"""

from __future__ import annotations

import ast
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from setuptools import build_meta

ROOT = Path(__file__).resolve().parents[1]
STAGED = ROOT / "build" / "package"
PACKAGE = "attention_atlas"
ROOMS = (
    "analysis", "attention", "classroom", "hosting", "inline", "jobs", "lessons", "model_runner", "pages", "served",
    "ui", "viz",
)  # fmt: skip
# files that the app reads
BESIDE = ("app.py", ".streamlit/config.toml", "docs/privacy.md", "docs/privacy.zh.md", "LICENSE")
LEFT_OUT = ("_repository.py",)


class UnsupportedOperation(Exception):
    """Raised for distributions that this backend does not build."""


def stage(target: Path) -> None:
    """Write the package into this folder, which is emptied first."""
    shutil.rmtree(target, ignore_errors=True)
    package = target / PACKAGE
    for room in (PACKAGE, *ROOMS):
        inside = package if room == PACKAGE else package / room
        shutil.copytree(ROOT / room, inside, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    for name in BESIDE:
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, package / name)
    for name in LEFT_OUT:
        (package / name).unlink()
    for path in package.rglob("*.py"):
        try:
            path.write_text(prefixed(path.read_text(encoding="utf-8")), encoding="utf-8")
        except ValueError as error:
            raise ValueError(f"{path.relative_to(package)}, {error}") from None


def prefixed(source: str) -> str:
    """Rewrite ``from analysis.x import y`` as ``from attention_atlas.analysis.x import y``, for every package.

    Raises ValueError for ``import analysis``, which would bind another name.
    """
    lines = source.splitlines(keepends=True)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import) and (ours := [one.name for one in node.names if _of_a_room(one.name)]):
            raise ValueError(f"line {node.lineno}: write “from … import …” for {', '.join(ours)}")
        if isinstance(node, ast.ImportFrom) and node.level == 0 and _of_a_room(node.module or ""):
            line = lines[node.lineno - 1]
            assert line[node.col_offset :].startswith(f"from {node.module}"), line
            lines[node.lineno - 1] = f"{line[: node.col_offset]}from {PACKAGE}.{line[node.col_offset + 5 :]}"
    return "".join(lines)


def _of_a_room(module: str) -> bool:
    return module.partition(".")[0] in ROOMS


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Build the wheel (PEP 517); returns the name of the file."""
    stage(STAGED)
    return build_meta.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """Always raises UnsupportedOperation, since the repository is the source; frontends show the message of this error
    only.
    """
    raise UnsupportedOperation("There is no source distribution: build the wheel (python -m build --wheel).")


def get_requires_for_build_wheel(config_settings: Any = None) -> Sequence[str]:
    """Required by PEP 517."""
    stage(STAGED)
    return build_meta.get_requires_for_build_wheel(config_settings)


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Any = None) -> str:
    """Required by PEP 517."""
    stage(STAGED)
    return build_meta.prepare_metadata_for_build_wheel(metadata_directory, config_settings)
