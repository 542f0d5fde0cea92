"""Enforce docs/architecture.md: which package may import which, and what must never be written."""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Room:
    """What a room may import: rooms of ours, and libraries beside the standard one. None: anything."""

    ours: frozenset[str]
    libraries: frozenset[str] | None


def room(ours: str = "", libraries: str | None = "") -> Room:
    return Room(frozenset(ours.split()), None if libraries is None else frozenset(libraries.split()))


EVERYWHERE = frozenset({"numpy"})
TYPES = frozenset({"torch"})  # whose names may stand in annotations everywhere
APP = (
    "attention model_runner analysis viz inline attention_atlas hosting jobs served classroom lessons ui "
    "hosting/visitors pages app"
)
ROOMS = {
    "attention": room(libraries="torch jaxtyping"),
    "model_runner": room(
        "attention",
        "torch torchao transformers safetensors tokenizers sentencepiece huggingface_hub httpx2 tqdm psutil jaxtyping",
    ),
    "analysis": room("attention model_runner", "torch pandas jaxtyping"),
    "viz": room(libraries="plotly PIL typst"),
    "inline": room("attention model_runner analysis viz attention_atlas", "IPython"),
    "attention_atlas": room("attention model_runner analysis viz inline hosting served", "streamlit"),
    **dict.fromkeys(("hosting", "lessons"), room()),
    "jobs": room("attention model_runner analysis hosting"),
    "served": room("attention model_runner analysis hosting jobs", "starlette uvicorn ray torch pandas"),
    "classroom": room("viz", "starlette segno"),
    "ui": room(
        "attention model_runner analysis viz hosting jobs classroom lessons attention_atlas", "streamlit babel pandas"
    ),
    "hosting/visitors": room("viz hosting jobs ui", "streamlit starlette uvicorn psutil"),
    "pages": room("attention model_runner analysis viz hosting jobs classroom ui", "streamlit pandas"),
    "app": room("pages ui viz hosting hosting/visitors jobs classroom app", "streamlit starlette"),
    "deploy": room("app", "streamlit"),
    "benchmarks": room(f"{APP} tests benchmarks", None),
    "scripts": room("attention model_runner analysis viz ui attention_atlas scripts", None),
    "tests": room(f"{APP} benchmarks scripts tests", None),
}
MADE = ("build", "node_modules")  # folders that are not ours
OUTSIDE_THE_APP = ("benchmarks", "deploy", "scripts", "tests")

VISITORS = "hosting/visitors"  # a room of its own in that of hosting/: it alone knows Streamlit

LIBRARY = "attention_atlas"  # imports a room when one of its names is asked for

# The engine is for who loads a model: the other rooms speak of its values, and ask through the Runner protocol.
ENGINE = "model_runner.local"
WHO_LOAD = ("ui/state/session.py", "attention_atlas/__init__.py")

CDN = re.compile(
    r"""(src|href)\s*=\s*["']?(https?:)?//|@import(?! \{)|url\(\s*["']?(https?:)?//|\bimport\b[^;\n]*["']https?://"""
    r"""|unpkg\.com|jsdelivr|cdnjs|googleapis\.com|cdn\.|include_plotlyjs\s*=\s*["']""",
    re.IGNORECASE,
)
MARKUP_FROM_DATA = re.compile(r"\.(inner|outer)HTML\b|insertAdjacentHTML|document\.write|\beval\(|new Function\(")
parsed = functools.cache(ast.parse)  # several rules read the same
UNPICKLERS = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}


def sources(*suffixes: str) -> list[str]:
    """Paths, from the root, of our files with these suffixes."""
    ours = [path for path in ROOT.iterdir() if path.name not in MADE and not path.name.startswith(".")]
    files = (path for top in ours for path in ([top] if top.is_file() else top.rglob("*")))
    return sorted(str(path.relative_to(ROOT)) for path in files if path.name.endswith(suffixes))


def room_of(path: str) -> str:
    if path in ("ui/shell/entry/atlas.py", "pages/extras.py"):  # app.py's script, which has to stand elsewhere
        return "app"
    return VISITORS if path.startswith(f"{VISITORS}/") else Path(path).parts[0].removesuffix(".py")


@functools.cache
def statements(tree: ast.AST) -> tuple[ast.stmt, ...]:
    """All statements in it; expressions, most of a tree, contain none."""
    found = list[ast.stmt]()
    open_ones: list[ast.AST] = [tree]
    while open_ones:
        for _, value in ast.iter_fields(open_ones.pop()):
            inner = [one for one in value if not isinstance(one, ast.expr)] if isinstance(value, list) else []
            open_ones += [one for one in inner if isinstance(one, ast.AST)]
            found += [one for one in inner if isinstance(one, ast.stmt)]
    return tuple(found)


def imports(path: str, tree: ast.AST) -> Iterator[tuple[int, str, str]]:
    """(line, module, name): the name is "" for `import module`; relative modules are given in full."""
    package = Path(path).parent.parts
    for node in statements(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((node.lineno, module, alias.name) for alias in node.names)


def only_typed(tree: ast.AST) -> set[int]:
    """Lines that no program runs: what is imported there names types alone."""
    blocks = (
        node for node in statements(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    return {inner.lineno for block in blocks for inner in block.body}


def forbidden_imports(path: str, text: str) -> list[str]:
    """One sentence for each import that the table does not allow."""
    here, wrong = room_of(path), list[str]()
    allowed, typed = ROOMS[here], only_typed(parsed(text))
    for line, module, name in imports(path, parsed(text)):
        top = VISITORS if f"{module}.".startswith("hosting.visitors.") else module.split(".")[0]
        where = f"{path}:{line}: {here}"
        if top in ROOMS:
            if top != here and top not in allowed.ours:
                wrong.append(f"{where} imports {top}, which its room may not")
            elif is_engine(module, name) and not may_load(path):
                wrong.append(f"{where} imports {name or module}, which is the engine's")
            elif here == top == "pages" and module.split(".")[1:2] != list(Path(path).parts[1:2]):
                wrong.append(f"{where} imports {module}, which is of another page")
        elif line in typed and top in TYPES:
            continue
        elif allowed.libraries is not None and top not in sys.stdlib_module_names | EVERYWHERE | allowed.libraries:
            wrong.append(f"{where} imports {top}, which its room may not")
    return wrong


def is_engine(module: str, name: str) -> bool:
    """Whether this import reaches a model, not a value or a question."""
    return f"{module}.".startswith(f"{ENGINE}.") or (module, name) in {
        ("model_runner", ""),
        ("model_runner", "local"),
        ("model_runner", "load_runner"),
    }


def may_load(path: str) -> bool:
    """Whether this file holds models."""
    here = room_of(path)
    if here == "model_runner":  # of the values only the package itself offers load_runner
        return path.startswith("model_runner/local/") or path == "model_runner/__init__.py"
    return here in (*OUTSIDE_THE_APP, "served") or path in WHO_LOAD


def forbidden_calls(path: str, text: str) -> list[str]:
    """One sentence for each call or import of ours that is never written in this room."""
    here, tree, wrong = room_of(path), parsed(text), list[str]()
    if here != "tests":  # a test that shows a pickled model refused has to make one
        wrong += [
            f"{path}:{n}: unpickling" for n, module, _ in imports(path, tree) if module.split(".")[0] in UNPICKLERS
        ]
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = ast.unparse(call.func)
        keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
        where = f"{path}:{call.lineno}"
        if name == "print" and here not in ("scripts", "benchmarks"):
            wrong.append(f"{where}: print; use logging")
        if name in ("importlib.import_module", "import_module", "__import__") and here not in (
            *OUTSIDE_THE_APP,
            LIBRARY,
        ):
            wrong.append(f"{where}: an import that this test cannot read")
        unsafe = name == "torch.load" and keywords.get("weights_only") != "True"
        if unsafe or keywords.get("allow_pickle") == "True" or name.endswith("read_pickle"):
            wrong.append(f"{where}: unpickling")
        if name == "st.button" and path != "ui/state/kept_click.py" and here not in OUTSIDE_THE_APP:
            wrong.append(f"{where}: its first click may be lost; ui/state/kept_click.py has one that is not")
        if name == "st.stop":
            wrong.append(f"{where}: it stops the sidebar and the class as well; raise StopException")
    return wrong


def forbidden_text(path: str, text: str) -> list[str]:
    """One sentence for each line that would fetch from the network, or let data become markup."""
    script = path.endswith(".js")
    wrong: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if CDN.search(line):
            wrong.append(f"{path}:{number}: fetched from the network: {line.strip()}")
        if script and MARKUP_FROM_DATA.search(line):
            wrong.append(f"{path}:{number}: data could become markup: {line.strip()}")
    return wrong


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_every_python_file_is_in_a_room():
    assert {room_of(path) for path in sources(".py")} <= set(ROOMS)


def test_the_document_has_this_table():
    rows = re.findall(r"^\| `([\w/.]+)` \| [^|]+ \| ([^|]+) \| [^|]+ \|$", read("docs/architecture.md"), re.MULTILINE)
    written = {name.strip("/").removesuffix(".py"): set(re.findall(r"[\w/]+", ours)) for name, ours in rows}
    del written["model_runner/local"], written["model_runner/remote"]  # parts of their room
    assert written == {name: set(ROOMS[name].ours) - {name} for name in ROOMS if name not in OUTSIDE_THE_APP}


def test_imports_follow_the_table():
    assert [wrong for path in sources(".py") for wrong in forbidden_imports(path, read(path))] == []


# Where something without a type comes in, or a type is a value: widgets and their callbacks, what a browser sends, and
# the fields of a page's state, whose types decide how an address is read.
UNTYPED = {
    "ui/state/inputs.py": 3,
    "ui/state/url_parsing.py": 2,
    "ui/state/url_values.py": 3,
    "ui/shell/components.py": 1,
    "ui/shell/first_picture.py": 1,
    "ui/classroom/class_number.py": 1,
    "ui/classroom/sidebar.py": 1,
    "pages/film/views.py": 3,
    "pages/next_token/views.py": 1,
    "pages/positions/what_if.py": 1,
    "pages/steps/knobs.py": 1,
    # The pictures of Step by step are dicts yet, as their component has them.
    "pages/steps/numbers.py": 1,
    "pages/steps/small.py": 2,
}


def untyped_signatures(path: str, text: str) -> list[str]:
    """The functions of a file in whose signature `Any` stands."""
    found: list[str] = []
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            named = [one.annotation for one in ast.walk(node.args) if isinstance(one, ast.arg)] + [node.returns]
            names = {inner.id for one in named if one for inner in ast.walk(one) if isinstance(inner, ast.Name)}
            found += [f"{path}:{node.lineno}: {node.name}"] if "Any" in names else []
    return found


def test_signatures_of_the_app_name_their_types():
    paths = [path for path in sources(".py") if room_of(path) in ("ui", "jobs", "pages")]
    found = {path: untyped_signatures(path, read(path)) for path in paths}
    assert [words for path, some in found.items() if len(some) > UNTYPED.get(path, 0) for words in some] == []


def test_nothing_prints_unpickles_or_hides_an_import():
    assert [wrong for path in sources(".py") for wrong in forbidden_calls(path, read(path))] == []


def test_nothing_is_fetched_and_no_data_becomes_markup():
    paths = [path for path in sources(".py", ".js", ".css") if room_of(path) not in OUTSIDE_THE_APP]
    assert [wrong for path in paths for wrong in forbidden_text(path, read(path))] == []


@pytest.mark.parametrize(
    "path, text",
    [
        ("viz/a.py", "import streamlit"),
        ("viz/a.py", "from analysis.head_map import HeadMap"),
        ("viz/components/a.py", "from ...analysis import head_map"),
        ("viz/a.py", "import torch.nn as nn"),
        ("attention/a.py", "def f():\n    from model_runner.capture import Capture"),
        ("attention/a.py", "from transformers import AutoModel"),
        ("model_runner/a.py", "if TYPE_CHECKING:\n    from analysis import head_map"),
        ("analysis/a.py", "import plotly.graph_objects as go"),
        ("analysis/a.py", "try:\n    import streamlit\nexcept ImportError:\n    pass"),
        ("ui/a.py", "import torch"),
        ("ui/a.py", "from tests.browser import Server"),
        ("pages/a.py", "import plotly"),
        ("app.py", "from analysis import head_map"),
        ("model_runner/a.py", "import requests"),
    ],
)
def test_the_referee_sees_a_forbidden_import(path, text):
    assert len(forbidden_imports(path, text)) == 1


@pytest.mark.parametrize(
    "path, text",
    [
        ("viz/components/a.py", "from .packing import pack\nimport json, numpy as np\nfrom plotly import io"),
        ("model_runner/a.py", "from . import errors\nfrom attention.softmax import lse\nimport torch"),
        ("pages/a/page.py", "from model_runner import CaptureRequest, errors\nfrom pages.a.state import State"),
        ("tests/a.py", "import streamlit, torch\nfrom ui.shell.page import frame"),
    ],
)
def test_the_referee_lets_an_allowed_import_pass(path, text):
    assert forbidden_imports(path, text) == []


@pytest.mark.parametrize(
    "path, text",
    [
        ("viz/a.py", "print(1)"),
        ("pages/a.py", "st.button('x')"),
        ("tests/a.py", "def f():\n    print(1)"),
        ("analysis/a.py", "import importlib\nimportlib.import_module('streamlit')"),
        ("model_runner/a.py", "import pickle"),
        ("scripts/a.py", "torch.load('model.bin')"),
        ("model_runner/a.py", "torch.load('model.bin', weights_only=False)"),
        ("analysis/a.py", "np.load('a.npz', allow_pickle=True)"),
    ],
)
def test_the_referee_sees_a_forbidden_call(path, text):
    assert len(forbidden_calls(path, text)) == 1


@pytest.mark.parametrize(
    "path, text",
    [
        ("viz/a.js", "import d3 from 'https://example.org/d3.js'"),
        ("viz/a.js", "root.innerHTML = label"),
        ("viz/a.css", "@import 'fonts.css';"),
        ("viz/a.css", "@import url(fonts.css);"),
        ("viz/a.css", "a { background: url(//example.org/a.png) }"),
        ("viz/a.py", "HEAD = '<script src=\"https://example.org/plotly.js\"></script>'"),
        ("viz/a.py", "figure.write_html(path, include_plotlyjs='cdn')"),
    ],
)
def test_the_referee_sees_what_would_be_fetched_or_become_markup(path, text):
    assert len(forbidden_text(path, text)) == 1


def test_the_referee_lets_names_and_sources_pass():
    text = "const SVG = 'http://www.w3.org/2000/svg' // see https://arxiv.org/abs/2108.12409\nlabel.textContent = token"
    assert forbidden_text("viz/a.js", text) == []
