"""Scripts are checked with types that their pictures have written, and ask only for words that there are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from scripts.picture_types import picture_modules, types_file, types_of

MODULES = picture_modules()


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_the_types_are_those_that_the_picture_writes(module):
    assert types_file(module).read_text(encoding="utf-8") == types_of(module), "run python -m scripts.picture_types"


def test_every_component_has_a_picture():
    mounted = {one for one in module_folder().glob("*/*.py") if "SOURCE = read_source(" in one.read_text("utf-8")}
    assert mounted == set(MODULES)
    assert {path.name for path in module_folder().glob("*/*_picture.d.ts")} == {types_file(one).name for one in MODULES}


def module_folder() -> Path:
    return MODULES[0].parents[1]


def _name(key: ast.expr | None) -> str:
    return str(key.value) if isinstance(key, ast.Constant) else ""


def words(module: Path) -> set[str]:
    """The names in TEXTS of a module; none where it has no words of its own."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    texts = [n.value for n in tree.body if isinstance(n, ast.AnnAssign) and ast.unparse(n.target) == "TEXTS"]
    return {_name(key) for value in texts if isinstance(value, ast.Dict) for key in value.keys}


# What a page adds to the words of a component's module.
ADDED = {
    "head_map": {"summary", "note"},
    "head_grid": {"metric", "unit"},
    "token_strip": {"shade"},
    "head_bars": {"summary"},
}
# five components share the scripts of rotation/, each with words of its own
SPEAKING = [module for module in MODULES if words(module) and module.parent.name != "rotation"]


@pytest.mark.parametrize("module", SPEAKING, ids=lambda path: path.stem)
def test_scripts_ask_only_for_words_that_there_are(module):
    """What they look up by a variable is not read here."""
    scripts = "\n".join(path.read_text(encoding="utf-8") for path in module.parent.glob("*.js"))
    asked = set(re.findall(r"\btexts\??\.(\w+)", scripts))
    assert asked - words(module) - ADDED.get(module.stem, set()) == set()
