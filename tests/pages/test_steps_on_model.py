"""The page Step by step on a loaded model: what its layers do that small numbers do not is drawn and said."""

from __future__ import annotations

import pytest

from model_runner import CaptureRequest, load_runner
from tests.node import run_module
from tests.pages.test_steps import PAGE
from tests.ui.driving import html, open_app, payload
from viz.components.step_by_step.step_by_step import TEXTS


@pytest.mark.parametrize(
    "family, said, unsaid",
    [
        ("gemma2", "The soft-cap keeps every score between −{cap:g} and {cap:g}.", "bias b"),
        ("gpt2", "A bias b of each column", "soft-cap"),
    ],
)
def test_what_a_layer_does_beside_scaling_and_projecting_is_said(family, said, unsaid, folder_of):
    app = open_app(page=PAGE, model=folder_of(family), text="some text", **{"steps.source": "model"})
    chain = payload(app, "step_by_step")[0]["chain"]
    notes = {step["id"]: step.get("note", "") for step in chain["steps"]}
    cap = load_runner(folder_of(family)).capture(CaptureRequest("some text")).record(0).softcap or 0
    assert said.format(cap=cap) in " ".join(notes.values())
    assert unsaid not in " ".join(notes.values())
    assert [step["id"] for step in chain["steps"] if step.get("biased")] == (list("qkv") if family == "gpt2" else [])
    assert bool(notes["scale"]) == (family == "gemma2")  # else the usual words are true


@pytest.mark.parametrize(
    "edits, letters, said",
    [
        ("SharpenedHead(6,4,0.5)", "q", "divided by the edit’s temperature 0.5"),
        ("SharedKeys(1)", "kv", "the mean over the key/value heads that the edit merges into one"),
        pytest.param("Int8Cache()", "kv", "stored in 8 bits (int8)", marks=pytest.mark.long),
        pytest.param("ScaledHead(6,4,0.0)", "", "", marks=pytest.mark.long),
        ("SharpenedHead(6,5,0.5)", "", ""),  # another head
    ],
)
def test_vectors_that_an_edit_changes_are_called_no_product_of_one_matrix(edits, letters, said):
    carried = {"edits": edits, "everywhere": "1", "layer": "6", "head": "4"}
    chain = payload(open_app(page=PAGE, **carried, **{"steps.source": "model"}), "step_by_step")[0]["chain"]
    notes = {step["id"]: step["note"] for step in chain["steps"] if step["id"] in "qkv"}
    assert {id for id, note in notes.items() if "a product with W_" not in note} == set(letters)
    assert all(said in notes[letter] and notes[letter].startswith(letter.upper()) for letter in letters)
    for page in ("cell", "positions"):
        words = html(open_app(page=f"pages/{page}/page.py", **carried))
        assert said in words if letters else "the change" not in words


@pytest.mark.parametrize("model, name", [("default", "norm(X)"), ("encoder", "X"), ("olmo2", "X")])
def test_what_a_projection_reads_is_the_norm_of_x_only_where_there_is_one(model, name, folder_of):
    model = folder_of(model) if model == "olmo2" else model
    chain = payload(open_app(page=PAGE, model=model, **{"steps.source": "model"}), "step_by_step")[0]["chain"]
    for step in (one for one in chain["steps"] if one["id"] in "qkv"):
        assert chain["matrices"][step["left"]]["name"] == name
        assert ("The layer’s norm, then a product" in step["note"]) == (name != "X")
        assert ("norm(x)" in step["lines"][0][0][0]) == (name != "X")


def test_across_sizes_are_of_the_text_that_looks_and_of_the_one_that_is_looked_at():
    app = open_app(page=PAGE, model="translator", text="The wolf loves Mary.", **{"steps.source": "model"})
    shapes = {name: one["shape"] for name, one in payload(app, "step_by_step")[0]["chain"]["matrices"].items()}
    capture = load_runner("translator").capture(CaptureRequest("The wolf loves Mary.", attention="cross"))
    assert shapes["A"] == [len(capture.tokens), len(capture.keys)]
    assert f"the tokens that it looks at most, {len(capture.keys)} of {len(capture.keys)}." in html(app)


@pytest.mark.parametrize("model", ["default", "encoder", "qwen3", "olmo2"])
def test_what_a_class_is_told_of_a_number_of_the_models_own_gives_that_number(model, folder_of):
    model = model if model in ("default", "encoder") else folder_of(model)
    chain = payload(open_app(page=PAGE, model=model, **{"steps.source": "model"}), "step_by_step")[0]["chain"]
    code = """
import { askable, classQuestion } from "./viz/components/step_by_step/class_question.js"
const [chain, texts] = given
const lines = (step) => classQuestion(chain, step, 0, 1, texts).text.split("\\n").slice(1)
const ask = (step) => [step.id, askable(chain, step, 0, 1), lines(step)]
answer(chain.steps.filter(({ id }) => "xqkv".includes(id)).map(ask))
"""
    asked = {step: (may, lines) for step, may, lines in run_module(code, [chain, TEXTS])}
    assert asked.pop("x") == (False, [])  # there is nothing that it could be computed from
    for step, (may, (left, right, *more)) in asked.items():
        read, weights = ([number(one) for one in line.split(": ")[1].split(", ")] for line in (left, right))
        beside = {name: number(value) for name, value in (line.rsplit(" = ", 1) for line in more)}
        assert {name for name in beside if "norm" not in name and "more dimensions" not in name} <= {"b"}
        total = sum(a * b for a, b in zip(read, weights, strict=True))
        total += sum(value for name, value in beside.items() if "norm" not in name)
        total *= next((value for name, value in beside.items() if name.endswith("norm: ·")), 1.0)
        assert may
        assert total == pytest.approx(chain["matrices"][step.upper()]["values"][0][1], abs=2e-3)


def number(words: str) -> float:
    return float(words.replace("−", "-"))
