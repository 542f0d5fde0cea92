"""The types that scripts are checked with are those of what Python packs: the same names, none more and none fewer."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import viz.components

FOLDER = Path(viz.components.__file__ or "").parent
META = {"texts", "svg"}  # one of these is in every meta
INTERFACE = re.compile(r"export interface (\w+)(?: extends [^{]*)? \{\n(.*?)\n\}", re.DOTALL)
# The module that packs → the interface of its meta, where payloads.d.ts of a folder has several
NAMES = {
    "rotation": "Rotation",
    "position_schemes": "Schemes",
    "score_shift": "Shift",
    "score_split": "Split",
    "score_sweep": "Sweep",
}
MODULES = sorted(path for path in FOLDER.glob("*/*.py") if "SOURCE = read_source(" in path.read_text(encoding="utf-8"))


def declared(module: Path) -> dict[str, set[str]]:
    """Names of an interface's fields, by its name."""
    (types,) = module.parent.glob("payload*.d.ts")
    found = INTERFACE.findall(types.read_text(encoding="utf-8"))
    return {name: set(re.findall(r"^  (\w+)\??:", body, re.MULTILINE)) for name, body in found}


def packed(module: Path) -> set[str]:
    """Names of what the dictionary written as `meta` in payload() holds."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "payload")
    dictionaries = [node for node in ast.walk(function) if isinstance(node, ast.Dict)]
    whole = max(dictionaries, key=lambda node: len(node.keys) if any(_name(key) in META for key in node.keys) else 0)
    return {_name(key) for key in whole.keys}


def _name(key: ast.expr | None) -> str:
    return str(key.value) if isinstance(key, ast.Constant) else ""


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_the_payloads_type_names_what_is_packed(module):
    assert declared(module)[f"{NAMES.get(module.stem, '')}Meta"] == packed(module)


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
