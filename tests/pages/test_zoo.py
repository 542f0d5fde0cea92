"""The page Zoo: its maps and numbers are those of the variants on the open head; bad input is one sentence."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
import streamlit as st

from analysis.zoo import captured_head, own, substituted
from attention.zoo import titans, titans_ways
from attention.zoo.table import BY_NAME
from model_runner import CaptureRequest, load_runner
from tests.pages.test_masks import values_in
from tests.pages.zoo_driving import PAGE, close, head, maps, offering, opened
from tests.ui.driving import beside_head, html, open_app, payloads, send, sentences
from ui.state.url_state import DEFAULT_TEXT
from viz.share_text import share_digits


@pytest.fixture
def offered(monkeypatch):
    return offering(monkeypatch)


def test_softmax_the_variant_and_their_difference_stand_beside_each_other():
    app = opened(variant="performer", **{"values.performer.features": "32", "values.performer.seed": "7"})
    found = substituted(head(), BY_NAME["performer"], {"features": 32, "seed": 7})
    usual, variant, difference = maps(app)
    close(usual, own(head()).weights)
    close(variant, found.weights)
    close(difference, found.difference)
    page = html(app)
    assert "Substituted, not trained" in page
    assert f"<td>{found.error:.2g}</td>" in page
    assert f"<td>{found.direction:.2f}</td>" in page
    assert f"<td>{found.entropy:.1f} bits</td>" in page
    assert f"<td>{found.rank} of 8</td>" in page
    assert "that shows in texts of more than 32 tokens. This one has 8." in page  # and softmax may have fewer
    assert f"<td>{share_digits(float(found.elsewhere))} %</td>" in page
    assert f"+{share_digits(float(found.looks[0].more))} %" in page
    assert sentences(app) == []


def test_two_variants_stand_beside_each_other_and_a_signed_one_has_two_colours():
    app = opened(variant="off_by_one", beside="lightning", **{"values.lightning.half_life": "3"})
    lightning = substituted(head(), BY_NAME["lightning"], {"half_life": 3})
    usual, first, second = payloads(app, "head_map")
    close(second[1]["values"], lightning.weights)
    assert [one[0]["scale"] for one in (usual, first, second)] == ["sequential", "sequential", "diverging"]
    assert second[0]["high"] == pytest.approx(np.nanmax(np.abs(lightning.weights)))
    assert "Qin et al. 2024, arXiv:2401.04658" in html(app)


def test_a_number_of_hundredths_is_a_decimal_and_a_code_is_a_word():
    app = opened(variant="polaformer", **{"values.polaformer.power": "250", "values.polaformer.opposite": "1"})
    power, *gates = app.slider
    assert [(one.label.split(" · ")[0], one.value) for one in gates] == [("gate Gˢ", 1.0), ("gate Gᵒ", 1.0)]
    assert (power.value, power.min, power.max, power.proto.format) == (2.5, 0.5, 10.0, "%.2f")
    (drawn,) = (one for one in app.segmented_control if one.key.endswith("polaformer.opposite"))
    assert (drawn.value, drawn.options) == (1, ["of the same sign", "of opposite signs"])
    app.slider[0].set_value(0.75).run()
    app.segmented_control(key=drawn.key).set_value(0).run()
    assert beside_head(app)["zoo.values.polaformer.power"] == "75"  # as in addresses since before
    assert beside_head(app).get("zoo.values.polaformer.opposite", "0") == "0"
    close(maps(app)[1], substituted(head(), BY_NAME["polaformer"], {"power": 75, "opposite": 0}).weights)


def test_a_click_in_a_map_pins_the_cell_in_all_of_them():
    app = send(opened(), "head_map", "cell", [4, 2])
    assert (app.query_params["query"], app.query_params["key"]) == ("4", "2")
    assert [meta["selected"] for meta, _arrays in payloads(app, "head_map")] == [[4, 2]] * 3
    app = send(app, "head_map", "window", [2, 6, 0, 5])
    assert [values.shape for values in maps(app)] == [(4, 5)] * 3


@pytest.mark.parametrize(
    "values, said",
    [
        ({"variant": "nystrom", "values.nystrom.landmarks": "99"}, "The landmarks is 99; it may be at most 8."),
        ({"variant": "linformer", "values.linformer.rank": "0"}, "The segments is 0; it must be at least 1."),
        ({"variant": "reformer", "values.reformer.buckets": "5"}, "The buckets is 5; it must be a multiple of 2."),
        (
            {"variant": "performer", "values.performer.features": "10000"},
            "The features is 10000; it may be at most 1024.",
        ),
        ({"variant": "best"}, "“best” is not an option for variant."),
        ({"values.delta.kept": "much"}, "“much” is not a number for kept α."),
    ],
)
def test_what_is_not_possible_is_one_sentence_and_the_maps_stay(values, said):
    app = opened(**values)
    assert sentences(app) == [said]
    assert len(maps(app)) == 3


def test_a_variant_that_only_looks_back_has_no_place_in_an_encoder_and_the_rest_stays():
    app = opened(model="encoder", text=DEFAULT_TEXT, layer="1", head="1", variant="delta", beside="linear")
    assert sentences(app) == [
        "DeltaNet reads a text from left to right; this layer is bidirectional, so the variant does not apply."
    ]
    assert len(maps(app)) == 2
    close(maps(app)[0], own(head("encoder", 1, 1)).weights)
    close(maps(app)[1], substituted(head("encoder", 1, 1), BY_NAME["linear"], {}).weights)


def test_what_sees_the_future_is_said_and_drawn():
    app = opened(variant="linformer")
    assert np.isfinite(maps(app)[1]).all()
    assert "Linformer mixes keys before they are compared and cannot hide any" in html(app)


LONG = ("the dog and 猫🐱 the cat " * 60).strip()


def test_of_a_long_text_the_first_tokens_are_drawn_and_that_is_said():
    app = opened(text=LONG, query="600", key="3")
    usual, *_others = payloads(app, "head_map")
    assert usual[1]["values"].shape == (256, 256)
    assert "texts of more than 32 tokens" not in html(app)  # where the bound shows
    assert usual[0]["selected"] is None
    assert "Showing the first 256 of 661 tokens." in html(app)
    assert "(600) is not among them: move the first token drawn." in html(app)


def test_the_tokens_drawn_of_a_long_text_are_moved_by_a_slider():
    app = opened(text=LONG, query="600", key="590", start="390")
    expected = captured_head(load_runner("default").capture(CaptureRequest(text=LONG)), 3, 5, 390)
    close(maps(app)[0], own(expected).weights)
    assert payloads(app, "head_map")[0][0]["selected"] == [210, 200]
    assert "Showing tokens 390 to 645 of 661, as if there were none before them." in html(app)
    assert "softmax over only these tokens" in html(app)
    app = send(app, "head_map", "cell", [4, 2])
    assert (app.query_params["query"], app.query_params["key"]) == ("394", "392")
    app = opened(text=LONG, start="5000")  # as far as the text goes
    assert "Showing tokens 405 to 660 of 661" in html(app)


def test_one_token_and_the_three_attentions_of_a_translator(folder_of):
    app = opened(text="a", model=folder_of("bert"), layer="0", head="0", variant="nystrom")
    assert sentences(app) == []
    for attention in ("encoder", "decoder", "cross"):
        for name in ("linear", "flash", "log_n", "linformer"):
            app = open_app(
                page=PAGE, model="translator", text="The dog sleeps.", attention=attention, **{"zoo.variant": name}
            )
            assert (sentences(app), len(maps(app))) == ([], 3)
            assert all(np.isfinite(one[~np.isnan(one)]).all() for one in maps(app))
            if name == "flash":
                assert "<td>1.00</td><td>1.00</td>" in html(app)  # the cosine of rows that look alone
        for name in ("delta", "titans_mal"):
            app = open_app(
                page=PAGE, model="translator", text="The dog sleeps.", attention=attention, **{"zoo.variant": name}
            )
            why = {"encoder": "is bidirectional", "decoder": "", "cross": "attends to another text"}[attention]
            assert why in " ".join([*sentences(app), html(app)])
            assert ("does not apply" in " ".join([*sentences(app), html(app)])) is bool(why)
        app = open_app(page=PAGE, model="translator", attention=attention, **{"zoo.variant": "linear"})
        if attention == "cross":
            whole = maps(app)[0]
            assert whole.shape[0] != whole.shape[1]  # what is written at what is read
            assert np.isfinite(whole).all()


def test_layer_and_head_are_chosen_on_the_page():
    app = opened()
    send(app, "model_strip", "head", [int(app.query_params["layer"]), 2, ""])
    assert app.query_params["head"] == "2"
    close(maps(app)[0], own(head(number=2)).weights)


def test_the_film_has_the_heads_own_scores_and_its_blocks_follow_the_memory():
    app = opened(view="flash", sram="4", query="3")
    (meta, arrays), *_others = payloads(app, "flash_film")
    close(arrays["scores"][head().keep], head().scores.numpy()[head().keep])
    assert np.isneginf(arrays["scores"][~head().keep]).all()
    assert (meta["rows"], meta["columns"], meta["sram"], meta["row"]) == (8, 8, 1024, 3)  # ⌈1024 / (4 · 32)⌉
    app = send(app, "flash_film", "row", 5)
    app = send(app, "flash_film", "frame", 3)
    assert (app.query_params["query"], app.query_params["zoo.frame"]) == ("5", "3")
    app = opened(view="flash", blocks="own", rows="3", columns="200")
    meta, _arrays = payloads(app, "flash_film")[0]
    assert (meta["rows"], meta["columns"]) == (3, 8)  # a tile is no larger than the text
    assert sentences(opened(view="flash", sram="5")) == ["“5” is not an option for SRAM."]


def test_titans_tells_how_much_each_token_surprised_it():
    app = opened(variant="titans", **{"values.titans.momentum": "0"})
    told = titans.surprise(head(), 0.5, 0.0, 0.01).tolist()
    assert all(f"\u00a0{one:.2f}" in html(app) for one in told)


def masks_in(page: str) -> list[str]:
    return re.findall(r"<img alt='([^']*)' width='84'", page)


@pytest.mark.parametrize("name, parts", [
    ("titans_mac", ["softmax: the segment", "softmax: what its tokens read", "learned by the memory that is read"]),
    ("titans_mag", ["softmax: the window", "learned by the memory"]),
    ("titans_mal", ["softmax: outputs of the memory", "learned by the memory"]),
])  # fmt: skip
def test_each_way_of_titans_has_its_flow_its_masks_and_its_surprise(name, parts):
    app = opened(variant=name)
    page = html(app)
    assert "atlas-flow" in page
    assert masks_in(page) == parts
    assert page.index(parts[0]) < page.index("Gives up:")  # below the map at once: a screen ends soon after
    told = titans.surprise(head(), 0.5, 0.3, 0.01).tolist()
    assert values_in(charts(app)[0]["data"][0]["y"]) == pytest.approx(told)


def charts(app) -> list[dict[str, Any]]:
    return [json.loads(one.proto.spec) for one in app.get("plotly_chart")]


def test_the_memory_runs_over_the_whole_text_and_the_slider_says_how_far_it_read():
    app = opened(text=LONG, variant="titans")
    (chart,) = charts(app)
    assert len(values_in(chart["data"][0]["y"])) == 661  # of which 256 are in the map
    app = opened(variant="titans", read="2")
    told = titans.surprise(head(), 0.5, 0.3, 0.01).tolist()
    assert f"(2) {told[2]:.2f}" in json.dumps(charts(app)[0]["layout"], ensure_ascii=False)
    assert f"\u00a0{told[2]:.2f}</p>" in html(app)  # the last one said
    next(one for one in app.slider if one.label == "read up to token").set_value(4).run()
    assert app.query_params["zoo.read"] == "4"
    assert f"\u00a0{told[4]:.2f}</p>" in html(app)


def test_dual_chunk_says_how_much_of_the_attention_is_in_each_part():
    values = {"chunk": 3, "local": 2}
    app = opened(variant="dual_chunk", **{f"values.dual_chunk.{name}": str(one) for name, one in values.items()})
    weights = np.nan_to_num(substituted(head(), BY_NAME["dual_chunk"], values).weights)
    back = np.arange(8)[:, None] // 3 - np.arange(8)[None, :] // 3
    found = masks_in(html(app))
    for name, part in (
        ("within the chunk (intra)", 0),
        ("the chunk before (successive)", 1),
        ("farther back (inter)", 2),
    ):
        share = (weights * (back == part)).sum() / 8
        assert f"{name} · {share_digits(float(share))} %" in found


def test_a_layer_without_softmax_is_one_sentence_in_every_view(folder_of):
    place = {"model": folder_of("jamba"), "text": "some words", "layer": "0", "head": "0"}
    for view in ("maps", "flash", "cost", "model", "hybrid"):
        app = open_app(page=PAGE, **place, **{"zoo.view": view})
        words = "Layer 0 has no softmax attention (linear). Choose another layer. Showing L1H1 instead."
        assert sentences(app) == [words]


def test_dual_chunk_has_no_place_where_nothing_is_turned(folder_of):
    app = opened(variant="dual_chunk", **{"values.dual_chunk.chunk": "8"})
    close(np.nan_to_num(maps(app)[1]), np.nan_to_num(maps(app)[0]))  # one chunk is softmax
    app = opened(model=folder_of("bloom"), text="some words of a text", layer="0", head="1", variant="dual_chunk")
    words = "dual chunk turns queries and keys to other distances; this layer has no rotation (RoPE)."
    assert sentences(app) == [words]


def test_a_model_with_a_bias_says_that_kernels_leave_it_out(folder_of):
    app = opened(model=folder_of("bloom"), text="some words of a text", layer="0", head="1")
    assert "what this model adds to its scores, or caps them by, is left out" in html(app)


def test_a_switch_that_is_told_what_it_is_already_leaves_no_edit_in_the_address(monkeypatch):
    """Of a run that was cut off Streamlit (1.67) forgets the switch; what it is told next is a change to it."""
    shown = st.toggle

    def toggle(words: str, value: bool, *, key: str, on_change: Any) -> bool:
        drawn = shown(words, value, key=key, on_change=on_change)
        on_change()
        return drawn

    monkeypatch.setattr(st, "toggle", toggle)
    app = opened(view="model", variant="log_n").run()
    assert "edits" not in app.query_params
    monkeypatch.undo()
    app.toggle(key="everywhere").set_value(True).run()
    assert app.query_params["everywhere"] == "1"
    app.toggle(key="everywhere").set_value(False).run()
    assert "everywhere" not in app.query_params


def test_exact_tiles_replace_nothing_and_only_letters_of_the_formula_are_explained():
    page = html(opened(variant="flash"))
    assert "2 n² d (n tokens, d dimensions of a vector) · replaces nothing: it is exact" in page
    assert "With these numbers it never is less work than softmax." in page
    assert "It never keeps less than softmax." in page
    assert "2 n b d (n tokens, d dimensions of a vector, b block) · replaces the mask" in html(opened(variant="blocks"))


def test_log_n_begins_with_rows_that_it_changes():
    found = substituted(head(), BY_NAME["log_n"], {})
    assert found.error > 0.01
    assert found.entropy < own(head()).entropy


def test_a_map_of_shares_is_summed_up_in_per_cent_and_another_in_numbers():
    app = opened(variant="sigmoid", query="7")
    softmax, other, _difference = (meta["texts"]["summary"] for meta, _arrays in payloads(app, "head_map"))
    assert re.search(r" puts [<>]? ?[\d.]+ % on ", softmax)
    assert re.search(r" puts \d\.\d\d on ", other)


def test_persistent_tokens_of_titans_say_what_they_take_and_what_they_are():
    numbers = {"window": 4, "persistent": 2, "seed": 0}
    shares = titans_ways.window_persistent(head(), **numbers).mean(0).tolist()
    page = html(opened(variant="titans_mag"))
    assert " · ".join(f"p{at}\u00a0{share_digits(one)} %" for at, one in enumerate(shares)) in page
    assert "their keys are random and their values are 0" in page
    assert "Attention on persistent" not in html(opened(variant="titans_mag", **{"values.titans_mag.persistent": "0"}))
