"""Two texts with padding and a step with a cache on the page Step by step: the code gives what is drawn."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pages.steps.numbers import numbers_of
from pages.steps.small_code import cached_lines, padded_lines
from tests.ui.driving import html, open_app, payload, send, sentences
from tests.ui.taken import offers, ran
from ui.shared.code_pane import code_text

PAGE = "pages/steps/page.py"
VIEW = {"steps.view": "batch"}


@pytest.mark.parametrize(
    "address, item",
    [
        ({}, 1),
        ({"steps.item": "0", "steps.heads": "2"}, 0),
        ({"steps.side": "left", "steps.fill": "1e9", "steps.causal": "0"}, 1),
        ({"steps.side": "left", "steps.dropout": "1", "steps.heads": "2"}, 1),
        ({"steps.batch": "cached", "steps.cached": "3", "steps.dropout": "1"}, 0),
    ],
)
def test_the_lines_give_the_matrices_of_the_open_text(monkeypatch, address: dict[str, str], item: int):
    taken = offers(monkeypatch)
    app = open_app(page=PAGE, **VIEW, **address, **{"steps.numbers": "X01_7.5"})
    names = ran(taken[-1].snippet)
    made = taken[-1].arrays
    for name, one in (("Q", "q"), ("K", "k"), ("C", "scores"), ("S", "scaled"), ("A", "weights"), ("O", "mixed")):
        np.testing.assert_allclose(made[name], names[one][item, 0].numpy(), atol=1e-9)
    np.testing.assert_allclose(made["M"], names["masked"][item, 0].numpy(), atol=1e-9)
    assert ("D" in made) == ("dropped" in names) == ("steps.dropout" in address and "steps.batch" not in address)
    if "D" in made:
        np.testing.assert_allclose(made["D"], names["dropped"][item, 0].numpy(), atol=1e-9)
    assert payload(app, "step_by_step")[0]["chain"]["matrices"]["X"]["values"] == names["x"][item].tolist()
    assert not sentences(app)


def test_a_row_that_sees_nothing_is_nan_on_the_screen_and_says_so():
    app = open_app(page=PAGE, **VIEW, **{"steps.side": "left", "steps.step": "softmax"})
    meta = payload(app, "step_by_step")[0]
    assert meta["chain"]["matrices"]["A"]["values"][0] == ["NaN"] * 4
    assert "0 ÷ 0 = NaN" in html(app)
    assert meta["chain"]["steps"][3]["lines"][2] == [
        ["PAD0 is padding: hidden from every query."],
        ["PAD1 is padding: hidden from every query."],
        ["x0 is a real token that x0 may attend to: the score stays."],
        ["x1 comes after x0: hidden by the causal mask."],
    ]


def test_dropout_is_a_step_between_softmax_and_the_mixture():
    app = open_app(page=PAGE, **VIEW, **{"steps.dropout": "1", "steps.step": "dropout", "steps.item": "0"})
    chain = payload(app, "step_by_step")[0]["chain"]
    assert [step["id"] for step in chain["steps"]][-3:] == ["softmax", "dropout", "mix"]
    assert chain["steps"][-1]["left"] == "D"
    weights, dropped = (np.array(chain["matrices"][name]["values"]) for name in "AD")
    (step,) = (step for step in chain["steps"] if step["id"] == "dropout")
    struck = (dropped == 0) & (weights > 0)
    assert struck.any()
    for (row, column), gone in np.ndenumerate(struck):
        assert step["lines"][row][column][0].endswith("→ 0") == gone
    (code,) = (one.value for one in app.code if one.value.startswith("import torch\n\nb, n"))
    assert [line.split(" ")[0] for line in re.findall(r".*◀.*", code)] == ["kept", "dropped"]


def test_the_open_steps_line_is_lit_and_the_mask_of_a_cached_step_is_a_rectangle():
    app = open_app(page=PAGE, **VIEW, **{"steps.batch": "cached", "steps.step": "mask"})
    (code,) = (one.value for one in app.code if one.value.startswith("import torch\n\nb, n_cache"))
    lit = re.findall(r".*◀.*", code)
    assert [line.rsplit("◀ ")[1] for line in lit] == ["[2, 4]", "[1, 1, 2, 4]"]
    send(app, "step_by_step", "step", "mix")
    (code,) = (one.value for one in app.code if one.value.startswith("import torch\n\nb, n_cache"))
    assert re.findall(r".*◀.*", code)[0].startswith("mixed = weights @ v")


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("causal", [True, False])
def test_every_line_makes_the_shape_that_it_says(side, causal):
    numbers = numbers_of(5, 8, "")
    cases = [
        padded_lines(numbers, 3, n_heads=2, causal=causal, side=side, fill="inf"),
        padded_lines(numbers, 3, n_heads=2, causal=causal, side=side, fill="1e9", dropout=True),
        cached_lines(numbers, 0, n_heads=4),
        cached_lines(numbers, 4, n_heads=4),
    ]
    for lines in cases:
        names = ran(code_text(lines, "mask"))
        for line in lines:
            name = line.code.partition(" = ")[0]
            if line.shape and name in names and not line.code.startswith(("text", " ")):
                assert tuple(names[name].shape) == line.shape, line


@pytest.mark.parametrize("which", ["padding", "cached"])
@pytest.mark.parametrize("named, opened", [({}, "softmax"), ({"steps.step": "scores"}, "scores")])
def test_it_opens_on_the_softmax_unless_the_address_names_a_step(which: str, named: dict[str, str], opened: str):
    app = open_app(page=PAGE, **VIEW, **{"steps.batch": which}, **named)
    assert payload(app, "step_by_step")[0]["step"] == opened
    lit = [line for one in app.code for line in one.value.split("\n") if "◀" in line]
    assert lit
    assert all(("softmax" in line) == (opened == "softmax") for line in lit)


def test_the_scores_that_were_clicked_are_in_the_address():
    app = send(open_app(page=PAGE, **VIEW), "step_by_step", "step", "scores")
    assert app.query_params["steps.step"] == "scores"
    assert payload(app, "step_by_step")[0]["step"] == "scores"
