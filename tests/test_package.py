"""`pip install .` installs one package, with the app and everything that our Python examples need."""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import venv
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import attention_atlas as aa
from model_runner import CaptureRequest, load_runner
from model_runner.edits import KeepLast
from model_runner.python_lines import python_start
from scripts import wheel_backend
from scripts.wheel_backend import BESIDE, LEFT_OUT, PACKAGE, ROOMS, prefixed
from tests.browser import free_port
from tests.test_repository import ROOT, libraries

LIBRARY = ("analysis", "attention", "inline", "model_runner", "viz")
LARGEST = 40 * 1024 * 1024  # bytes of the wheel
SOURCE = ("pyproject.toml", "README.md", "scripts/wheel_backend.py", *BESIDE)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built of a copy, without network."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    for name in (PACKAGE, *ROOMS):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in SOURCE:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    pip("wheel", "--no-build-isolation", "--wheel-dir", str(built), str(source))
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The folder that the wheel was installed into, with nothing else in it."""
    target = tmp_path_factory.mktemp("target")
    pip("install", "--target", str(target), str(wheel))
    return target


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory) -> Path:
    """The commands' folder of a fresh environment: the wheel, and by a path file what it requires."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (packages / "required.pth").write_text(sysconfig.get_path("purelib"))
    pip("--python", str(folder / "bin" / "python"), "install", str(wheel))
    return folder / "bin"


def pip(*arguments: str) -> None:
    place = arguments.index("install") if "install" in arguments else arguments.index("wheel")
    quietly = ("--quiet", "--no-deps", "--no-index", "--disable-pip-version-check")
    command = [sys.executable, "-m", "pip", *arguments[: place + 1], *quietly, *arguments[place + 1 :]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def run(code: str, installed: Path, folder: Path) -> str:
    """Run this code in `folder`, where of ours only what was installed can be imported; what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(installed), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.table
def test_every_file_of_the_rooms_is_installed_below_one_name(installed, wheel):
    assert wheel.stat().st_size <= LARGEST
    info = "attention_atlas-*.dist-info"
    assert not (installed / PACKAGE / "_repository.py").exists()  # it would look for rooms beside the package
    tops = {path.name for path in installed.iterdir()} - {path.name for path in installed.glob(info)}
    assert tops <= {PACKAGE, "bin"}
    found = {str(path.relative_to(installed / PACKAGE)) for path in (installed / PACKAGE).rglob("*") if path.is_file()}
    ours = (path for name in ROOMS for path in (ROOT / name).rglob("*") if path.is_file())
    own = (path.name for path in (ROOT / PACKAGE).iterdir() if path.is_file() and path.name not in LEFT_OUT)
    expected = {*(str(path.relative_to(ROOT)) for path in ours if "__pycache__" not in path.parts), *own, *BESIDE}
    assert {name for name in found if "__pycache__" not in name} == expected


def test_an_import_of_a_room_is_given_the_packages_name_and_nothing_else_is():
    source = 'from viz.a import (\n    b,\n)\nif 1:\n    from ui import c\nfrom os import d\ne = "from viz import f"\n'
    renamed = source.replace("from viz.a", "from attention_atlas.viz.a").replace("from ui", "from attention_atlas.ui")
    assert prefixed(source) == renamed
    with pytest.raises(ValueError, match=r"line 1.*viz"):
        prefixed("import viz.color\n")


def test_a_source_distribution_is_refused_in_the_way_that_frontends_know(tmp_path):
    with pytest.raises(wheel_backend.UnsupportedOperation, match=r"build the wheel \(python -m build --wheel\)"):
        wheel_backend.build_sdist(str(tmp_path))


def test_in_the_repository_a_room_is_the_same_module_under_both_names():
    import model_runner.edits

    edits = importlib.import_module("attention_atlas.model_runner.edits")
    assert edits is model_runner.edits
    assert edits.__spec__ is not None
    assert edits.__spec__.name == "model_runner.edits"
    assert aa.CaptureRequest is CaptureRequest
    assert aa.KeepLast is KeepLast
    assert {"load_runner", "show", "CaptureRequest", "ScaledHead", "KeepLast"} <= set(dir(aa))
    assert all(hasattr(aa, name) for name in dir(aa))
    listed = re.findall(
        r"^ *from \S+ import \w+ as (\w+)$", Path(aa.__file__).read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(listed) == dir(aa)  # what an editor offers
    with pytest.raises(AttributeError, match="no attribute 'load_model'"):
        _ = aa.load_model


@pytest.mark.long
def test_the_lines_of_the_readme_and_of_a_page_give_the_same_numbers_outside_the_repository(installed, tmp_path):
    runner = load_runner()
    request = CaptureRequest(text="The dog chased it", model="default", edits=(KeepLast(2, sinks=1),))
    edited = runner.capture(request)
    readme, *_ = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    plain = runner.capture(CaptureRequest(text="The capital of France is"))
    lines = [
        readme,
        "import numpy",
        "numpy.save('readme.npy', capture.weights(3, 7).numpy())",
        python_start(edited.request),
        "numpy.save('page.npy', capture.weights(3, 7).numpy())",
        f"assert aa.__file__.startswith({str(installed)!r})",
    ]
    run("\n".join(lines), installed, tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "readme.npy"), plain.weights(3, 7).numpy())
    np.testing.assert_array_equal(np.load(tmp_path / "page.npy"), edited.weights(3, 7).numpy())


@pytest.mark.table
def test_what_the_package_requires_is_what_it_imports(installed):
    (info,) = importlib.metadata.distributions(path=[str(installed)])
    named = [re.fullmatch(r"([\w-]+)[^;]*(?:; extra == \"(\w+)\")?", one) for one in info.requires or ()]
    required = {(found[2], found[1].lower()) for found in named if found}
    # torchao and typst: int8 and a PDF alone import them, when they are asked for, and say so where they are missing;
    # protobuf: transformers does, for SentencePiece's files
    optional = {"torchao", "typst", "ipython", "ray"}  # and IPython is there where a notebook asks
    library = {name.lower() for name in libraries(*LIBRARY)} - optional
    assert library == {name for extra, name in required if extra is None} - {"protobuf"}
    app = {name.lower() for name in libraries(PACKAGE, *ROOMS)} - library - optional | {"typst"}
    assert ("pdf", "typst") in required
    assert app <= {name for extra, name in required if extra == "app"}
    developers = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8")
    assert {name for extra, name in required if extra == "dev"} == set(
        re.findall(r"^([\w-]+)==", developers, re.MULTILINE)
    )
    assert info.version == aa.__version__


@pytest.mark.long
def test_the_lines_of_the_notebook_page_run_outside_the_repository_where_they_need_no_other_model(installed, tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/notebook.md").read_text(encoding="utf-8"), re.DOTALL)
    other = r'(load_runner|from_pretrained)\("[\w-]+/|\.compressed|RayWorkers'
    ours = [block for block in blocks if not re.search(other, block)]
    assert len(blocks) - len(ours) == 7  # own, many languages, classes, sound, keys of several tokens, no softmax, Ray
    end = f"import attention_atlas\nassert attention_atlas.__file__.startswith({str(installed)!r})"
    run("\n".join([*ours, end]), installed, tmp_path)


@pytest.mark.long
def test_importing_it_imports_no_torch_and_what_is_asked_for_none_of_the_repositorys_names(installed, tmp_path):
    code = "import sys, attention_atlas as aa\nprint('torch' in sys.modules)\naa.load_runner, aa.show\n"
    code += f"print([name for name in sys.modules if name.partition('.')[0] in {ROOMS}])"
    assert run(code, installed, tmp_path).split("\n")[:2] == ["False", "[]"]


@pytest.mark.long
def test_the_command_says_its_version_and_what_is_wrong_with_a_port(environment, tmp_path):
    command = str(environment / "attention-atlas")
    done = subprocess.run([command, "--version"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == f"Attention Atlas {aa.__version__}\n"
    done = subprocess.run([command, "--port", "99999"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "99999 is no port: choose a number from 1 to 65535" in done.stderr
    done = subprocess.run([command, "serve", "no.toml"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "no.toml cannot be read" in done.stderr


@pytest.mark.long
@pytest.mark.browser
def test_the_command_opens_the_app_from_a_fresh_environment(environment, tmp_path, page):
    port = free_port()
    command = [str(environment / "attention-atlas"), "--port", str(port), "--no-browser"]
    with (tmp_path / "log.txt").open("wb") as log:
        process = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=subprocess.STDOUT)
    try:
        wait_for_port(port)
        page.goto(f"http://127.0.0.1:{port}/masks?lang=zh")
        page.locator(".atlas-badge.ok").wait_for(timeout=120_000)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def wait_for_port(port: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.2)
    raise AssertionError(f"nothing listens on port {port}")
