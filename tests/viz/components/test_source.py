"""Modules become one script: each after those it imports, without the words import and export, or a clear refusal."""

from __future__ import annotations

import pytest

from viz.components.source import one_module, read_source

BASE = 'export const low = 1\nexport function high() {\n  return low + 1\n}\n'  # fmt: skip


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_every_module_comes_once_and_after_those_it_imports(write):
    write("base/base.js", BASE)
    write("own/left.js", 'import { low } from "../base/base.js"\n\nexport const left = low\n')
    write("own/right.js", 'import {\n  high,\n  low,\n} from "../base/base.js"\n\nexport const right = high() + low\n')
    entry = write(
        "own/main.js",
        'import { left } from "./left.js"\nimport { right } from "./right.js"\n\nexport default function () {\n'
        "  return left + right\n}\n",
    )
    script = one_module(entry)
    places = [script.index(word) for word in ("const low =", "function high(", "const left =", "const right =")]
    assert places == sorted(places)
    assert script.count("const low") == 1
    assert "import" not in script
    assert script.count("export") == script.count("export default function") == 1


def test_a_component_has_the_style_sheets_of_its_modules_the_shared_one_before_all(tmp_path, write):
    write("chip.js", "export const chip = 1\n")
    write("chip.css", ".strip .chip {}")
    write("strip.js", 'import { chip } from "./chip.js"\n\nexport default function () {\n  return chip\n}\n')
    write("strip.css", ".strip {}")
    source = read_source(tmp_path, "strip", "<div></div>")
    assert source.css.index("[data-theme]") < source.css.index(".strip {}") < source.css.index(".strip .chip {}")
    assert "\n" in source.html  # else Streamlit takes it for a path


@pytest.mark.parametrize(
    "text, why",
    [
        ('import { away } from "./base.js"\n', "main.js imports away, which base.js does not export"),
        ('import { inner } from "./base.js"\n', "main.js imports inner, which base.js does not export"),
        ('import { low } from "./base.js"\n\nconst high = 2\n', "'high' is declared in base.js and in main.js"),
        ('import * as base from "./base.js"\n', "another form"),
        ('import base from "./base.js"\n', "another form"),
        ('import { low as least } from "./base.js"\n', "another form|does not export"),
        ('import { low } from "plotly"\n', "another form"),
        ("const x = 1\nexport { x }\n", "another form"),
        ('import { low } from "./again.js"\n', "again.js imports main.js in a circle"),
    ],
)
def test_what_could_not_be_put_together_is_refused(write, text, why):
    write("base.js", f"{BASE}const inner = 3\n")
    write("again.js", 'import { x } from "./main.js"\n\nexport const low = 1\n')
    entry = write("main.js", f"{text}export const x = 1\n" if "circle" in why else text)
    with pytest.raises(ValueError, match=why):
        one_module(entry)
