"""The page Positions: every number it draws is the model's own, and what there is not is said in one sentence."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from analysis import positions as found_positions
from model_runner import Capture
from tests.model_runner.families import FAMILIES
from tests.pages.expected import capture
from tests.ui.driving import components, open_app, payload, send, sentences
from tests.ui.taken import Taken, offers, ran
from ui.shared import export_bundle as ui_view

PAGE = "pages/positions/page.py"
VIEWS = {
    "rotation": "rotation",
    "difference": "score_shift",
    "frequencies": "score_split",
    "distance": "score_sweep",
    "others": "position_schemes",
}
# float32 products of this model's q and k, which reach 100, against float64 ones
ROUNDING = 2e-4


@pytest.mark.parametrize("view, component", VIEWS.items())
def test_every_view_is_the_one_the_address_asks_for(view, component):
    app = open_app(page=PAGE, positions=view, layer="3", head="2")
    assert sentences(app) == []
    assert [name for name in components(app) if name in VIEWS.values()] == [component]


@pytest.mark.parametrize("layer, head, query", [(0, 0, 1), (3, 2, 7), (7, 5, 4)])
def test_the_pairs_turned_to_their_own_position_are_the_captured_vectors(layer, head, query):
    app = open_app(page=PAGE, layer=str(layer), head=str(head), query=str(query))
    meta, arrays = payload(app, "rotation")
    assert meta["own"] == meta["position"] == query
    angles = query * arrays["theta"].astype(np.float64)
    captured = {"q": capture().q(layer)[head, query], "k": capture().k(layer)[head // 2, query]}
    for name, vector in captured.items():
        turned = (arrays[name].astype(np.float64) @ [1, 1j]) * np.exp(1j * angles) * meta["factor"]
        wanted = vector.double().numpy()[arrays["dimensions"]] @ [1, 1j]
        np.testing.assert_allclose(turned, wanted, atol=2e-5)
    np.testing.assert_allclose(arrays["theta"], 10000.0 ** (-np.arange(16) / 16), rtol=1e-6)


def test_two_tokens_at_their_own_positions_have_the_models_score():
    app = open_app(page=PAGE, positions="difference", layer="3", head="2", query="7", key="2")
    meta, arrays = payload(app, "score_shift")
    q, k = (arrays[name].astype(np.float64).reshape(-1, 2) @ [1, 1j] for name in "qk")
    angles = (7 - 2) * arrays["theta"].astype(np.float64)
    score = meta["scale"] * float((q * np.conj(k) * np.exp(1j * angles)).real.sum()) + meta["rest"]
    assert score == pytest.approx(float(capture().scores(3, 2)[7, 2]), abs=ROUNDING)
    assert float(meta["deviation"].replace("−", "-")) < 1e-10
    assert meta["causal"]


def test_the_parts_of_every_key_add_up_to_the_models_scores():
    app = open_app(page=PAGE, positions="frequencies", layer="3", head="2", query="6", key="1")
    meta, arrays = payload(app, "score_split")
    assert (meta["key"], arrays["keep"].tolist()) == (1, [1] * 7 + [0])
    sums = arrays["contributions"].sum(axis=0) + arrays["rest"]
    np.testing.assert_allclose(sums[:7], capture().scores(3, 2)[6, :7].numpy(), atol=ROUNDING)


@pytest.mark.parametrize("query, key", [(7, 2), (5, 5)])
def test_a_cells_curve_passes_through_its_score_at_its_distance(query, key):
    app = open_app(page=PAGE, positions="distance", contents="cell", layer="3", query=str(query), key=str(key))
    meta, arrays = payload(app, "score_sweep")
    wanted = [float(capture().scores(3, head)[query, key]) for head in range(8)]
    np.testing.assert_allclose(arrays["scores"][:, query - key], wanted, atol=ROUNDING)
    assert "held fixed: only" in meta["notes"][0]


def test_the_reach_of_the_curves_ends_at_the_context():
    app = open_app(page=PAGE, positions="distance", reach="2048")
    assert payload(app, "score_sweep")[1]["distances"].tolist() == list(range(2048))


def test_a_released_slider_is_kept_in_the_address_and_its_own_position_is_not():
    app = send(open_app(page=PAGE), "rotation", "position", 300)
    assert app.query_params["positions.at"] == "300"
    assert payload(app, "rotation")[0]["position"] == 300
    app = send(app, "rotation", "position", 7)
    assert "positions.at" not in app.query_params


def test_a_pinned_pair_is_kept_in_the_address_and_one_that_there_is_not_is_said():
    app = send(open_app(page=PAGE), "rotation", "pair", 3)
    assert app.query_params["positions.pair"] == "3"
    assert payload(app, "rotation")[0]["pair"] == 3
    assert "positions.pair" not in send(app, "rotation", "pair", None).query_params
    app = open_app(page=PAGE, **{"positions.pair": "16"})
    assert sentences(app) == ["This head turns 16 pairs of dimensions, numbered from 0: there is no pair 16."]
    assert payload(app, "rotation")[0]["pair"] is None


def test_another_token_takes_the_sliders_with_it_and_the_range_stays():
    app = open_app(page=PAGE, at="300", m="20", n="10", **{"positions.span": "far"})
    app = send(app, "token_strip", "token", 3)
    assert payload(app, "rotation")[0]["position"] == 3
    assert {name for name in app.query_params if name.startswith("positions.")} == {"positions.span"}


def test_two_sliders_are_kept_in_the_address():
    app = send(open_app(page=PAGE, positions="difference", query="7", key="2"), "score_shift", "positions", [30, 25])
    assert (app.query_params["positions.m"], app.query_params["positions.n"]) == ("30", "25")
    assert payload(app, "score_shift")[0]["positions"] == [30, 25]


def test_whether_two_sliders_move_together_is_kept_in_the_address():
    app = send(open_app(page=PAGE, positions="difference"), "score_shift", "lock", False)
    assert app.query_params["positions.lock"] == "0"
    assert not payload(app, "score_shift")[0]["lock"]
    assert "positions.lock" not in send(app, "score_shift", "lock", True).query_params


def test_the_range_of_the_sliders_is_kept_in_the_address():
    app = send(open_app(page=PAGE), "rotation", "span", "far")
    assert app.query_params["positions.span"] == "far"
    assert payload(app, "rotation")[0]["span"] == "far"
    app = open_app(page=PAGE, **{"positions.view": "difference", "positions.span": "far"})
    assert payload(app, "score_shift")[0]["span"] == "context"  # its widest
    app = send(app, "score_shift", "span", "near")
    assert "positions.span" not in app.query_params


def test_the_dials_are_of_one_token_so_the_strip_marks_no_key():
    meta, _ = payload(open_app(page=PAGE, query="7", key="3"), "token_strip")
    assert "of the attention of “·it” in L" in meta["texts"]["shade"]
    assert (meta["selected"], meta["looked_at"]) == (7, None)
    meta, _ = payload(open_app(page=PAGE, query="7", key="3", positions="difference"), "token_strip")
    assert (meta["selected"], meta["looked_at"]) == (7, 3)


def test_a_click_on_a_key_or_a_panel_moves_the_place():
    app = send(open_app(page=PAGE, positions="frequencies", query="7"), "score_split", "key", 3)
    assert payload(app, "score_split")[0]["key"] == 3
    app = send(open_app(page=PAGE, positions="distance", layer="3", head="0"), "score_sweep", "head", 6)
    assert payload(app, "score_sweep")[0]["head"] == 6
    assert app.query_params["head"] == "6"


@pytest.mark.parametrize(
    "address, sentence",
    [
        ({"at": "abc"}, "“abc” is not a number for position."),
        ({"at": "-3"}, "The position is -3; it must be at least 0."),
        ({"positions": "zzz"}, "“zzz” is not an option for view."),
        ({"at": "99999"}, "Position 99999 is beyond the slider, which ends at 8191."),
        ({"positions": "difference", "m": "2048"}, "Position 2048 is beyond the slider, which ends at 2047."),
    ],
)
def test_a_place_that_does_not_exist_is_one_sentence_above_the_picture(address, sentence):
    app = open_app(page=PAGE, **address)
    assert any(sentence in shown for shown in sentences(app)), sentences(app)
    assert set(components(app)) & set(VIEWS.values())


def test_a_model_without_rotation_says_so_and_shows_its_own_table_of_positions(folder_of):
    app = open_app(page=PAGE, model=folder_of("gpt2"))
    assert any("has no rotation" in shown for shown in sentences(app)), sentences(app)
    meta, arrays = payload(app, "position_schemes")
    learned = next(i for i, scheme in enumerate(meta["schemes"]) if scheme["name"] == "learned")
    model: Any = next(family for family in FAMILIES if family.name == "gpt2").build()
    table = model.transformer.wpe.weight.detach().double()[:64].numpy()
    np.testing.assert_allclose(arrays[f"matrix{learned}"], table @ table.T, atol=1e-6)


def test_a_layer_without_rotation_says_so_and_its_neighbour_is_turned(folder_of):
    app = open_app(page=PAGE, model=folder_of("smollm3"), layer="1")
    assert any("Layer 1 has no rotation" in shown for shown in sentences(app)), sentences(app)
    assert app.button_group(key="positions.view").value == "others"  # what is drawn is what is chosen
    assert rotary_note(app).endswith("this layer has none of its own.")
    send(app, "model_strip", "head", [0, 0, ""])
    assert sentences(app) == []
    assert app.button_group(key="positions.view").value == "rotation"
    assert "rotation" in components(app)


def rotary_note(app):
    return next(one["note"] for one in payload(app, "position_schemes")[0]["schemes"] if one["name"] == "rotary")


def test_a_rotation_that_cannot_be_read_is_not_called_none(folder_of):
    app = open_app(page=PAGE, model=folder_of("llama-yarn"), text="a")
    assert any("no two of its tokens follow each other" in shown for shown in sentences(app)), sentences(app)
    assert rotary_note(app).endswith("this layer’s own cannot be read.")


@pytest.mark.parametrize("view, component", VIEWS.items())
def test_a_layer_with_a_sharpened_head_turns_as_it_did(view, component):
    app = open_app(page=PAGE, positions=view, layer="3", head="2", edits="SharpenedHead(3,2,0.5)", everywhere="1")
    assert sentences(app) == []
    assert component in components(app)
    if view == "rotation":
        pairs, plain = (payload(one, "rotation")[1] for one in (app, open_app(page=PAGE, layer="3", head="2")))
        np.testing.assert_allclose(pairs["q"], plain["q"] / 0.5, atol=1e-5)
        np.testing.assert_allclose(pairs["k"], plain["k"], atol=1e-5)


@pytest.mark.table
@pytest.mark.parametrize(
    "family", ["phi", *(pytest.param(name, marks=pytest.mark.long) for name in ("glm4", "deepseek-v3", "llama-yarn"))]
)
def test_other_layouts_are_drawn_in_every_view(folder_of, family):
    app = open_app(page=PAGE, model=folder_of(family))
    for view, component in VIEWS.items():
        app.button_group(key="positions.view").set_value(view).run()
        assert sentences(app) == []
        assert component in components(app)


def test_a_partial_rotation_says_how_much_stands_still(folder_of):
    meta, arrays = payload(open_app(page=PAGE, model=folder_of("phi")), "rotation")
    d_head = 2 * 2 * len(arrays["theta"])
    assert f"{d_head // 2} of the {d_head} dimensions are not turned in this layer." in meta["notes"]


def test_a_rotation_that_differs_from_the_captured_vectors_is_not_drawn(monkeypatch):
    real = found_positions.turned

    def off(asked: Capture, layer: int):
        found = real(asked, layer)
        return SimpleNamespace(**{**vars(found), "difference": 0.5, "ok": False})

    monkeypatch.setattr(found_positions, "turned", off)
    app = open_app(page=PAGE, layer="3")
    assert any("The rotation of layer 3 is not drawn" in shown and "5e−1" in shown for shown in sentences(app))
    assert set(VIEWS.values()).isdisjoint(components(app))


def test_sinusoidal_and_alibi_follow_their_formulas():
    meta, arrays = payload(open_app(page=PAGE, positions="others"), "position_schemes")
    at = {scheme["name"]: i for i, scheme in enumerate(meta["schemes"])}
    omega = 10000.0 ** (-np.arange(128) / 128)
    wanted = np.cos(np.outer(np.arange(64), omega)).sum(axis=1)
    np.testing.assert_allclose(arrays[f"curves{at['sinusoidal']}"][0], wanted, rtol=1e-5)
    slopes = 2.0 ** -np.arange(1, 9)
    np.testing.assert_allclose(arrays[f"curves{at['alibi']}"], -np.outer(slopes, np.arange(64)), rtol=1e-6)
    assert np.isnan(arrays[f"matrix{at['alibi']}"][0, 1])


@pytest.fixture
def offered(monkeypatch):
    """What a view offers to take away, with its menu open."""
    kept = offers(monkeypatch)

    def of(view: str) -> Taken:
        kept.clear()
        open_app(page=PAGE, positions=view, layer="3", head="2", query="7", key="2")
        return kept[0]

    return of


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_gives_away_picture_page_numbers_and_code(offered, view):
    take = offered(view)
    assert take.svg.startswith("<svg")
    assert "<!doctype html>" in take.html[:40].lower()
    assert "L3H2" in take.csv
    assert len(take.arrays) > 1


SNIPPETS = {
    "rotation": lambda names: (names["found"].q_after, capture().q(3)[2, 7].numpy()[names["layout"].pairs]),
    "difference": lambda names: (names["score"], float(capture().scores(3, 2)[7, 2])),
    "frequencies": lambda names: (names["parts"].sum(), float(capture().scores(3, 2)[7, 2])),
    "distance": lambda names: (names["scores"].shape, (64,)),
    "others": lambda names: (names["alibi"][0, :3], torch.tensor([0.0, -0.5, -1.0])),
}


@pytest.mark.parametrize("view", VIEWS)
def test_the_snippet_gives_the_numbers_of_the_picture(offered, view):
    names = ran(offered(view).snippet)
    found, wanted = SNIPPETS[view](names)
    np.testing.assert_allclose(found, wanted, atol=ROUNDING)


def test_the_table_of_frequencies_adds_up_to_its_last_row(monkeypatch):
    kept: list[Any] = []
    monkeypatch.setattr(ui_view, "show_tables", lambda make, _covered: kept.append(make()))
    open_app(page=PAGE, positions="frequencies", layer="3", head="2", query="7")
    (table,) = kept[0].values()
    np.testing.assert_allclose(table.iloc[:-1].sum(), table.iloc[-1], atol=1e-9)
    np.testing.assert_allclose(table.loc["score"], capture().scores(3, 2)[7].numpy(), atol=ROUNDING)


def test_a_learned_table_shorter_than_the_picture_is_drawn_as_far_as_it_goes(monkeypatch):
    monkeypatch.setattr("model_runner.local.dispatch.position_table", lambda *_: torch.ones(10, 4))
    app = open_app(page=PAGE, positions="others")
    assert payload(app, "position_schemes")[1]["curves1"].shape == (1, 10)
