"""The page Step by step: its numbers are torch's and the model's, and bad input is one sentence."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from attention.small_attention import small_attention, usual_numbers
from model_runner import CaptureRequest, load_runner
from pages.steps.numbers import numbers_of
from pages.steps.on_model import _note_of_shares
from pages.steps.small import Small, small_code, tables_of
from tests.ui.driving import components, html, open_app, payload, payloads, send, sentences
from ui.state.url_state import DEFAULT_TEXT

pytestmark = pytest.mark.table

PAGE = "pages/steps/page.py"


def test_small_numbers_are_there_and_what_is_changed_is_in_the_address():
    app = open_app(page=PAGE)
    meta, _ = payload(app, "step_by_step")
    assert meta["usual"]["WQ"] == usual_numbers(4, 4).w_q.tolist()
    send(app, "step_by_step", "numbers", "X01_1.5")
    send(app, "step_by_step", "step", "softmax")
    send(app, "step_by_step", "ask", True)
    meta, _ = payload(app, "step_by_step")
    assert (meta["edits"], meta["step"], meta["ask"]) == ("X01_1.5", "softmax", True)
    assert {app.query_params[f"steps.{name}"] for name in ("numbers", "step", "ask")} == {"X01_1.5", "softmax", "1"}


def test_what_is_taken_away_is_what_torch_computes():
    numbers = numbers_of(4, 6, "Q00_3~X13_-1.25")
    found = Small(numbers, small_attention(numbers, n_heads=2), heads=2, head=1, causal=True, scaled=True, payload=b"")
    lines: dict[str, Any] = {}
    exec(small_code(found), lines)
    output = scaled_dot_product_attention(lines["q"], lines["k"], lines["v"], is_causal=True)
    torch.testing.assert_close(found.steps.output, output, rtol=0, atol=1e-12)
    torch.testing.assert_close(found.steps.added, lines["added"], rtol=0, atol=1e-12)
    assert (float(lines["w_q"][0, 0]), float(lines["x"][1, 3])) == (3, -1.25)
    tables = {table.name: table.values for table in tables_of(found)}
    assert tables["A"].sum(1) == pytest.approx(np.ones(4))
    assert len(tables) == 15


@pytest.mark.parametrize("written", ["X01_nan", "X01_inf~X00_1", "X01_1e308", "Z00_1", "X99_1", "X01_1e5", "𝒳", "X01_"])
def test_numbers_of_an_address_that_are_none_are_said_and_left_out(written):
    app = open_app(page=PAGE, **{"steps.numbers": written})
    (said,) = sentences(app)
    assert "is not a valid number here" in said
    assert payload(app, "step_by_step")[0]["edits"] == ("X00_1" if "X00_1" in written else "")


def test_heads_that_cannot_share_the_dimensions_are_said():
    app = open_app(page=PAGE, **{"steps.d": "7", "steps.heads": "2"})
    assert sentences(app) == ["7 dimensions cannot be shared out among 2 heads of at least two; one head is shown."]


def test_on_the_model_the_weights_are_its_own():
    app = open_app(page=PAGE, layer="6", head="4", query="7", **{"steps.source": "model"})
    chain = payload(app, "step_by_step")[0]["chain"]
    capture = load_runner("default").capture(CaptureRequest(text=DEFAULT_TEXT))
    places = [int(name.split()[-1]) for name in chain["matrices"]["A"]["rows"]]
    expected = capture.weights(6, 4)[places][:, places].double().numpy()
    np.testing.assert_allclose(chain["matrices"]["A"]["values"], expected, atol=2e-5)
    assert "H4, H5 share these keys and values (GQA)." in html(app)
    assert {"rq", "rk", "out"} <= {step["id"] for step in chain["steps"]}


@pytest.mark.parametrize("address", [{"model": "encoder"}, {"model": "translator"}, {"text": "a"}, {"text": "日本 😀"}])
def test_every_model_and_text_has_its_steps(address):
    app = open_app(page=PAGE, **{"steps.source": "model", **address})
    assert sentences(app) == []
    assert "step_by_step" in components(app)


@pytest.mark.parametrize("address", [{"text": ""}, pytest.param({"model": "fnet"}, marks=pytest.mark.long)])
def test_small_numbers_stay_where_no_text_or_model_can_be_read(address, folder_of):
    address = {name: folder_of(value) if name == "model" else value for name, value in address.items()}
    app = open_app(page=PAGE, **address)
    assert len(sentences(app)) == 1
    assert "step_by_step" in components(app)


@pytest.mark.parametrize("scaled, temperature", [("1", "1"), ("0", "1"), ("1", "2.5")])
def test_the_gradient_shown_is_autograds(scaled, temperature):
    address = {"steps.wide": "64", "steps.scaled": scaled, "steps.temperature": temperature}
    app = open_app(page=PAGE, **{"steps.view": "scale", **address})
    matrices = payload(app, "step_by_step")[0]["chain"]["matrices"]
    factor = (1 / 8 if scaled == "1" else 1) / float(temperature)
    scores = torch.tensor(matrices["P"]["values"][0], dtype=torch.float64) * factor
    expected = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, 0), scores)
    np.testing.assert_allclose(matrices["G"]["values"], expected.numpy(), atol=1e-12)
    assert matrices["G"]["most"] == 0.25  # the largest that any gradient has: pale where nothing moves


def test_the_naive_softmax_overflows_on_the_page_and_the_safe_one_does_not():
    app = open_app(page=PAGE, **{"steps.view": "softmax", "steps.largest": "12"})
    matrices = payload(app, "step_by_step")[0]["chain"]["matrices"]
    assert "Infinity" in matrices["E"]["values"][0]
    assert "NaN" in matrices["N"]["values"][0]
    assert sum(matrices["A"]["values"][0]) == pytest.approx(1, abs=2e-3)  # float16
    assert sum(matrices["O"]["values"][0]) == pytest.approx(1)


def test_the_costs_of_a_vocabulary_stand_there_by_formula_and_counted():
    app = open_app(page=PAGE, **{"steps.view": "softmax"})
    shown = app.table[0].value
    assert list(shown.columns) == ["4,096", "50,257", "151,936"]
    assert [name.split(", ")[1] for name in shown.index] == ["by formula", "counted"] * 3
    rows = shown.to_numpy().tolist()
    assert rows[0::2] == rows[1::2]
    assert rows[0] == ["262,144", "3,216,448", "9,723,904"]
    assert html(app).count("<img src='data:image/svg+xml") == 2


@pytest.mark.parametrize("view, name", [("softmax", "S"), ("scale", "P")])
def test_a_row_can_be_typed_and_all_that_follows_is_of_it(view, name):
    app = open_app(page=PAGE, **{"steps.view": view, "steps.numbers": f"{name}02_5~{name}07_1~X00_1"})
    assert sentences(app) == []
    meta, _ = payload(app, "step_by_step")
    matrices = meta["chain"]["matrices"]
    row, usual = matrices[name]["values"][0], matrices[name]["usual"][0]
    assert row[2] == 5 != usual[2]
    assert row[:2] + row[3:] == usual[:2] + usual[3:]
    factor = 1 if view == "softmax" else 1 / 8
    expected = torch.softmax(torch.tensor(row, dtype=torch.float64) * factor, 0)
    np.testing.assert_allclose(matrices["A"]["values"][0], expected.numpy(), atol=1e-3 if view == "softmax" else 1e-12)
    send(app, "step_by_step", "numbers", f"{name}00_-1")
    assert payload(app, "step_by_step")[0]["chain"]["matrices"][name]["values"][0][0] == -1
    app = open_app(page=PAGE, **{"steps.view": view, "steps.numbers": f"{name}02_1e308~{name}01_nan"})
    (said,) = sentences(app)
    assert "is not a valid number here" in said
    matrix = payload(app, "step_by_step")[0]["chain"]["matrices"][name]
    assert matrix["values"] == matrix["usual"]


def test_x_times_w_of_the_model_is_spelled_out_and_gives_its_number():
    app = open_app(page=PAGE, layer="6", head="4", query="7", **{"steps.source": "model", "steps.step": "q"})
    chain = payload(app, "step_by_step")[0]["chain"]
    capture, model = (
        load_runner("default").capture(CaptureRequest(text=DEFAULT_TEXT)),
        load_runner("default").engine.model,
    )
    own = {"q": capture.q_unrotated(6)[4], "k": capture.k_unrotated(6)[2], "v": capture.v(6)[2]}
    for step in chain["steps"]:
        if step["id"] not in own:
            continue
        result, weight = chain["matrices"][step["result"]], chain["matrices"][step["right"]]
        head = 4 if step["id"] == "q" else 2
        whole = model.model.layers[6].self_attn.get_submodule(f"{step['id']}_proj").weight
        for i, name in enumerate(result["rows"]):
            for j, column in enumerate(map(int, result["columns"])):
                number = float(own[step["id"]][int(name.split()[-1]), column])
                assert result["values"][i][j] == pytest.approx(number, abs=1e-4)
                first, _numbers, last = step["lines"][i][j]
                terms, total = last.replace("−", "-").removeprefix("≈ ").split(" ≈ ")
                read = [float(term.strip("()")) for term in terms.split(" + ")]
                assert len(read) == 6
                assert sum(read) == pytest.approx(number, abs=5e-3)  # six numbers of three decimals
                assert float(total) == pytest.approx(number, abs=6e-4)
                assert "251 more dimensions" in first
                for dim, row in zip(weight["rows"], weight["values"], strict=True):
                    assert row[j] == pytest.approx(float(whole[32 * head + column, int(dim)]), abs=1e-7)


def test_rows_of_the_softmax_that_do_not_sum_to_one_are_said():
    def note(**address: str) -> str:
        app = open_app(page=PAGE, layer="6", head="4", **{"steps.source": "model", **address})
        steps = payload(app, "step_by_step")[0]["chain"]["steps"]
        return next(step for step in steps if step["id"] == "softmax").get("note", "")

    assert "not to 1: tokens that are not in view have the rest" in note(query="7")
    assert note(text="The dog") == ""


def test_rows_that_are_written_as_100_percent_are_not_said_to_sum_to_less():
    rows = SimpleNamespace(values=np.array([[0.9, 0.0996], [0.5, 0.5]]))
    assert _note_of_shares(cast(Any, SimpleNamespace(matrices={"A": rows}))) == ""


def test_the_split_of_the_models_products_is_theirs():
    app = open_app(page=PAGE, layer="6", head="4", query="7", **{"steps.view": "similarity", "steps.source": "model"})
    matrices = payload(app, "step_by_step")[0]["chain"]["matrices"]
    values = {name: np.array(one["values"]) for name, one in matrices.items()}
    np.testing.assert_allclose(values["NQ"] * values["NK"].T * values["COS"], values["S"], atol=1e-9)
    capture = load_runner("default").capture(CaptureRequest(text=DEFAULT_TEXT))
    places = [int(name.split()[-1]) for name in matrices["S"]["rows"]]
    q, k = capture.q(6)[4, places].double(), capture.k(6)[2, places].double()
    np.testing.assert_allclose(values["S"], (q @ k.T).numpy(), atol=1e-9)


def test_every_cell_of_the_open_head_is_split_on_maps_and_a_click_pins_it_on_all_three():
    app = open_app(page=PAGE, layer="6", head="4", query="7", **{"steps.view": "similarity", "steps.source": "model"})
    capture = load_runner("default").capture(CaptureRequest(text=DEFAULT_TEXT))
    q, k, n = capture.q(6)[4].double(), capture.k(6)[2].double(), len(capture.tokens)
    products, lengths = q @ k.T, q.norm(dim=1)[:, None] * k.norm(dim=1)[None]
    seen = np.tril(np.ones((n, n), bool))
    scales: list[str] = []
    for (meta, arrays), expected in zip(
        payloads(app, "head_map"), (products / lengths, lengths, products), strict=True
    ):
        assert (meta["total"], meta["pool"], meta["selected"][0]) == ([n, n], [1, 1], 7)
        values = arrays["values"].reshape(n, n)
        np.testing.assert_allclose(values[seen], expected.numpy()[seen], rtol=1e-5, atol=1e-5)
        assert np.isnan(values[~seen]).all()
        scales.append(meta["scale"])
    assert scales == ["diverging", "sequential", "diverging"]
    send(app, "head_map", "cell", [5, 2])
    assert [meta["selected"] for meta, _ in payloads(app, "head_map")] == [[5, 2]] * 3
    send(app, "head_map", "window", [2, 6, 0, 4])
    assert [meta["window"] for meta, _ in payloads(app, "head_map")] == [[2, 6, 0, 4]] * 3


def test_the_additive_measure_can_be_traced_to_its_own_numbers():
    app = open_app(page=PAGE, **{"steps.view": "similarity"})
    matrices = {
        name: np.array(one["values"]) for name, one in payload(app, "step_by_step")[0]["chain"]["matrices"].items()
    }
    np.testing.assert_allclose(matrices["QW"], matrices["Q"] @ matrices["W"], atol=1e-9)
    np.testing.assert_allclose(matrices["KU"], matrices["K"] @ matrices["U"], atol=1e-9)
    inner = np.tanh(matrices["QW"][:, None] + matrices["KU"][None])
    np.testing.assert_allclose(matrices["ADD"], inner @ matrices["V"][0], atol=1e-9)


@pytest.mark.parametrize("source", ["small", "model"])
@pytest.mark.parametrize("view", ["steps", "scale", "softmax", "similarity"])
def test_every_step_that_can_be_opened_is_in_the_address(view, source):
    page = {"steps.view": view, "steps.source": source}
    chain = payload(open_app(page=PAGE, **page), "step_by_step")[0].get("chain")
    for step in chain["steps"] if chain else []:
        app = send(open_app(page=PAGE, **page), "step_by_step", "step", step["id"])
        assert app.query_params.get("steps.step", "scores") == step["id"]


VIEWS = ["scale", "length", "softmax", "similarity", "others"]
ODD = [{"model": "encoder"}, {"model": "translator"}, {"text": "a", "lang": "zh"}]
SOME = [("length", ODD[1]), ("others", ODD[0]), ("length", ODD[2])]  # the rest are looked at by make long


@pytest.mark.parametrize(
    "view, address",
    [
        pytest.param(view, address, marks=[] if (view, address) in SOME else [pytest.mark.long])
        for view in VIEWS
        for address in ODD
    ],
)
def test_every_view_stands_for_every_model_and_text(view, address):
    app = open_app(page=PAGE, **{"steps.view": view, **address})
    assert sentences(app) == []


def test_where_a_slider_came_to_rest_is_in_the_address_and_what_is_no_such_number_is_passed_over():
    app = open_app(page=PAGE, **{"steps.view": "scale", "steps.wide": "256"})
    assert [knob["value"] for knob in payload(app, "step_by_step")[0]["chain"]["knobs"]] == [256, 1]
    send(app, "step_by_step", "knobs", {"wide": 16, "temperature": 2.5})
    meta, _ = payload(app, "step_by_step")
    assert [knob["value"] for knob in meta["chain"]["knobs"]] == [16, 2.5]
    assert {name: app.query_params[f"steps.{name}"] for name in ("wide", "temperature")} == {
        "wide": "16", "temperature": "2.5",
    }  # fmt: skip
    (scale,) = (step for step in meta["chain"]["steps"] if step["id"] == "scale")
    assert scale["factor"] == 1 / 4 / 2.5
    for wrong in ({"wide": 17}, {"temperature": 1e308}, {"temperature": "x"}, {"nothing": 1}, {"scaled": 1}):
        send(app, "step_by_step", "knobs", wrong)
        assert [knob["value"] for knob in payload(app, "step_by_step")[0]["chain"]["knobs"]] == [16, 2.5]
    assert sentences(app) == []


def test_the_gap_is_a_slider_of_its_chart():
    app = open_app(page=PAGE, **{"steps.view": "length", "steps.gap": "4.2"})
    knob = payload(app, "chart")[0]["knob"]
    assert (knob["at"], len(knob["values"]), len(knob["frames"])) == (4.2, 24, 24)
    assert knob["said"][knob["values"].index(7.0)] == "half at 1,098 keys"
    send(app, "chart", "knob", 7.5)
    assert app.query_params["steps.gap"] == "7.5"
    assert payload(app, "chart")[0]["knob"]["at"] == 7.5
