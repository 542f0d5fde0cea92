"""Check the scripts and style sheets: their imports, and the tests that node runs."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.node import node
from tests.test_architecture import ROOT, read, room_of, sources

COMPONENTS = Path("viz/components")
IMPORT = re.compile(r"""^\s*(?:import|export)\s+(?:(?:\{[^}]*\}|[\w*\s,]+)\s*from\s*)?["']([^"']+)["']""", re.MULTILINE)


def forbidden_imports(path: str, text: str) -> list[str]:
    """One sentence for each import of a script that is of neither its own folder nor viz/components/shared."""
    own = Path(path).parent
    wrong: list[str] = []
    for target in IMPORT.findall(text):
        folder = Path(os.path.normpath(own / target)).parent
        if not target.startswith(("./", "../")) or folder not in (own, COMPONENTS / "shared"):
            wrong.append(f"{path}: imports {target}, which is neither beside it nor in {COMPONENTS / 'shared'}")
    return wrong


@pytest.mark.parametrize("path", [path for path in sources(".js") if room_of(path) == "viz"])
def test_scripts_import_only_what_is_beside_them_or_shared(path):
    assert forbidden_imports(path, read(path)) == []


def test_pure_scripts_pass_their_own_tests():
    files = sources(".test.js")
    done = node("--test", *files)
    assert files
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "text",
    [
        'import { pack } from "../film/frames.js"',
        'import {\n  pack,\n} from "../film/frames.js"',
        'import "../../export.js"',
        'import d3 from "d3"',
        'export { pack } from "/viz/components/shared/packing.js"',
    ],
)
def test_the_referee_sees_a_script_that_imports_from_elsewhere(text):
    assert len(forbidden_imports("viz/components/head_map/a.js", text)) == 1


def test_the_referee_lets_shared_modules_and_neighbours_pass():
    text = (
        'import {\n  css,\n} from "../shared/theme.js"\nimport { at } from "./layout.js"\nexport const x = "../b/c.js"'
    )
    assert forbidden_imports("viz/components/head_map/a.js", text) == []


def test_every_script_is_read_into_some_component():
    """What no component imports is never shown, and nobody would notice it breaking."""
    scripts = [path for path in sources(".js") if Path(path).is_relative_to(COMPONENTS)]
    imported = {
        os.path.normpath(Path(path).parent / target) for path in scripts for target in IMPORT.findall(read(path))
    }
    entries = {path for path in scripts if "export default function" in read(path)}
    assert set(scripts) - imported - entries == set()
    assert (ROOT / COMPONENTS / "shared").is_dir()
