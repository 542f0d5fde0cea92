"""What `pip install .` puts in place: all that the Python lines of README and "Export" need, and no app."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from model_runner import CaptureRequest, load_runner
from model_runner.edits import KeepLast
from model_runner.python_lines import python_start
from tests.test_repository import ROOT, libraries

PACKAGES = ("analysis", "attention", "inline", "model_runner", "viz")
BESIDE = ("pyproject.toml", "requirements-package.txt", "README.md", "LICENSE")


def files(folder: Path) -> set[str]:
    """What the packages in this folder consist of."""
    found = (path for name in PACKAGES for path in (folder / name).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)) for path in found if "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder that the built wheel was installed into, with nothing else in it. Built of a copy, without network."""
    source, built, target = (tmp_path_factory.mktemp(name) for name in ("source", "built", "target"))
    for name in PACKAGES:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in BESIDE:
        shutil.copy(ROOT / name, source)
    quietly = ("--quiet", "--disable-pip-version-check", "--no-deps", "--no-index")
    pip("wheel", *quietly, "--no-build-isolation", "--wheel-dir", str(built), str(source))
    (wheel,) = built.glob("*.whl")
    pip("install", *quietly, "--target", str(target), str(wheel))
    return target


def pip(*arguments: str) -> None:
    done = subprocess.run([sys.executable, "-m", "pip", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def run(code: str, installed: Path, folder: Path) -> None:
    """Run this code in `folder`, where of ours only what was installed can be imported."""
    environment = {**os.environ, "PYTHONPATH": str(installed), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.table
def test_every_file_of_the_packages_is_installed_and_nothing_of_the_app(installed):
    assert files(installed) == files(ROOT)
    modules = {path.name for path in installed.iterdir()} - {path.name for path in installed.glob("*.dist-info")}
    assert modules == set(PACKAGES)


@pytest.mark.long
def test_the_lines_of_the_readme_and_of_a_page_give_the_same_numbers_outside_the_repository(installed, tmp_path):
    runner = load_runner()
    request = CaptureRequest(text="The dog chased it", model="default", edits=(KeepLast(2, sinks=1),))
    edited = runner.capture(request)
    readme, *_ = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    plain = runner.capture(CaptureRequest(text="The capital of France is"))
    lines = [
        readme,
        "import numpy, model_runner",
        "numpy.save('readme.npy', capture.weights(3, 7).numpy())",
        python_start(edited.request),
        "numpy.save('page.npy', capture.weights(3, 7).numpy())",
        f"assert model_runner.__file__.startswith({str(installed)!r})",
    ]
    run("\n".join(lines), installed, tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "readme.npy"), plain.weights(3, 7).numpy())
    np.testing.assert_array_equal(np.load(tmp_path / "page.npy"), edited.weights(3, 7).numpy())


@pytest.mark.table
def test_what_the_packages_require_is_what_they_import(installed):
    (info,) = importlib.metadata.distributions(path=[str(installed)])
    required = {requirement.partition("==")[0] for requirement in info.requires or ()}
    # torchao: int8 alone imports it, where it is asked for; protobuf: transformers does, for SentencePiece's files
    assert libraries(*PACKAGES) - {"torchao"} == required - {"protobuf"}


@pytest.mark.long
def test_the_lines_of_the_notebook_page_run_outside_the_repository_where_they_need_no_other_model(installed, tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/notebook.md").read_text(encoding="utf-8"), re.DOTALL)
    ours = [block for block in blocks if not re.search(r'load_runner\("\w+/', block)]
    assert len(blocks) - len(ours) == 4  # many languages, classes, sound, no softmax
    code = "\n".join([*ours, f"import model_runner\nassert model_runner.__file__.startswith({str(installed)!r})"])
    run(code, installed, tmp_path)
