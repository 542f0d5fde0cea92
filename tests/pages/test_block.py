"""The page The block: each view shows the model's own numbers, what cannot be shown is one sentence."""

from __future__ import annotations

import functools
import json

import numpy as np
import pytest

from model_runner import CaptureRequest, load_runner
from model_runner.block_questions import FeedForwardUnits, LogitLens, StreamAdditions
from model_runner.expert_questions import RandomRouting
from tests.ui.driving import html, open_app, payload, payloads, send, sentences, tell
from ui.state.url_state import DEFAULT_TEXT
from viz.share_text import share_digits

pytestmark = pytest.mark.table  # its tests take a second each

PAGE = "pages/block/page.py"
REQUEST = CaptureRequest(DEFAULT_TEXT)


@functools.cache
def runner():
    return load_runner("default")


def view(name: str, **address: str):
    return open_app(page=PAGE, **{"block.view": name}, **address)


def test_the_architecture_shows_every_part_and_the_stream_of_the_chosen_token():
    app = view("architecture", query="3", **{"block.block": "2"})
    meta, arrays = payload(app, "model_stages")
    titles = [row["title"] for row in meta["rows"]]
    assert titles == [
        "tokenizer", "embedding", "L0", "L1", "L2", "RMSNorm before attention", "attention: GQA 8 → 4",
        "RMSNorm before FFN", "FFN: gated SiLU", "L3", "L4", "L5", "L6", "L7", "RMSNorm before output layer",
        "output layer", "next token",
    ]  # fmt: skip
    capture = runner().capture(REQUEST)
    np.testing.assert_allclose(arrays["vectors"][4], capture.residual(3)[3].numpy(), atol=1e-4)
    assert "7,901,440 parameters" in html(app)
    app = send(app, "model_stages", "block", 5)
    assert app.query_params["block.block"] == "5"
    assert [row["open"] for row in payload(app, "model_stages")[0]["rows"]].index(True) == 7


@pytest.mark.parametrize("name, rows", [("architecture", 8), ("stream", 1)])
def test_a_length_above_a_thousand_is_written_in_full(name: str, rows: int, monkeypatch) -> None:
    usual = np.linalg.norm
    monkeypatch.setattr(np.linalg, "norm", lambda *of, **ways: 500 * usual(*of, **ways))
    lengths = [row["length"] for row in payload(view(name), "model_stages")[0]["rows"] if row["length"]]
    assert sum("," in one for one in lengths) >= rows
    assert not any("e" in one for one in lengths)


def last_row(app):
    return payload(app, "model_stages")[0]["rows"][-1]


@pytest.mark.parametrize("query", ["3", "7"])
def test_the_way_ends_with_the_likeliest_next_token_and_its_probability(query: str):
    row = last_row(view("architecture", query=query))
    capture = runner().capture(REQUEST)
    best, token = capture.logits(int(query)).double().softmax(0).max(0)
    assert row["title"] == "next token"
    assert row["module"] == f"after {capture.tokens[int(query)].text} ({query})"
    word, share = row["shapes"].split(" · ")
    assert word == runner().token_text(int(token))
    assert share == f"{share_digits(float(best))} %"


@pytest.mark.long
def test_an_encoders_way_ends_with_its_guess_for_a_hidden_word_if_there_is_one():
    row = last_row(view("architecture", model="encoder", text="We met on [MASK] morning."))
    assert row["title"] == "hidden word"
    assert row["module"].startswith("in place of ⟨MASK⟩ (")
    assert " · " in row["shapes"]
    assert last_row(view("architecture", model="encoder", text="We met on Monday."))["title"] == "output layer"


@pytest.mark.parametrize("attention", ["encoder", "decoder", "cross"])
def test_a_token_of_the_translator_goes_through_its_own_stack(attention: str):
    text = "A dog sleeps."
    own = load_runner("translator").capture(CaptureRequest(text, attention=attention))
    read = len(own.attention("encoder").tokens) if attention == "cross" else 0
    query = {"query": str(read + 2)}
    app = view("architecture", model="translator", attention=attention, text=text, **query)
    meta, arrays = payload(app, "model_stages")
    stack = "encoder" if attention == "encoder" else "decoder"
    for row, vector in zip(meta["rows"], arrays["vectors"], strict=True):
        if row["kind"] == "block":
            name, layer = row["title"].split(" L")
            assert bool(row["length"]) == (name == stack)
            if name == stack:
                np.testing.assert_allclose(vector, own.residual(int(layer) + 1)[2].numpy(), atol=1e-4)
    assert f"{own.tokens[2].text} ({read + 2})" in meta["columns"][3]
    assert meta["rows"][-1]["title"] == "next token"
    written = own.attention("decoder").tokens
    last = 2 if stack == "decoder" else len(written) - 1
    assert meta["rows"][-1]["module"] == f"after {written[last].text} ({read + last})"
    if attention == "cross":  # a token that is read, clicked in the same strip
        app = view("architecture", model="translator", attention=attention, text=text, key="1", **query)
        meta, arrays = payload(app, "model_stages")
        (row,) = [place for place, one in enumerate(meta["rows"]) if one["title"] == "encoder L3"]
        encoder = own.attention("encoder")
        np.testing.assert_allclose(arrays["vectors"][row], encoder.residual(4)[1].numpy(), atol=1e-4)
        assert f"{encoder.tokens[1].text} (1)" in meta["columns"][3]


def test_the_strips_of_the_stream_are_its_additions():
    app = view("stream", query="4")
    found = runner().submit(StreamAdditions(REQUEST, 4)).result()
    meta, arrays = payload(app, "model_stages")
    np.testing.assert_allclose(arrays["vectors"], found.vectors.numpy(), atol=1e-4)
    titles = [row["title"] for row in meta["rows"]]
    assert titles[:4] == ["embedding", "L0 attention", "L0 FFN", "L1 attention"]
    norms = {title: np.linalg.norm(vector) for title, vector in zip(titles, arrays["vectors"], strict=True)}
    layer, part = max((one for one in norms if one[0] == "L"), key=norms.__getitem__).split(" ", 1)
    assert f"{layer}’s {part} adds most</b>" in html(app)
    assert len(app.get("plotly_chart")) == 2


def test_the_lens_is_the_models_and_a_click_opens_its_cell():
    app = view("lens")
    lens = runner().submit(LogitLens(REQUEST)).result()
    meta, arrays = payload(app, "layer_head_map")
    np.testing.assert_allclose(arrays["values"][:-1], lens.probabilities[..., 0].numpy(), atol=1e-5)
    assert np.isnan(arrays["values"][-1]).all()
    column = lens.ids[:, -1, 0].tolist()
    stays = next(row for row in range(9) if set(column[row:]) == {column[-1]})
    token = runner().token_text(column[-1]).strip("·")
    assert f"“<bdi>{token}</bdi>” is on top from L{stays - 1} on</b>" in html(app)
    assert meta["words"][8] == [runner().token_text(int(token)) for token in lens.ids[-1, :, 0]]
    assert (meta["open"], meta["row_labels"][-2:]) == ([8, 7], ["model (L7)", "first on top at layer"])
    app = send(app, "layer_head_map", "head", [3, 5])
    assert (app.query_params["block.row"], app.query_params["query"]) == ("3", "5")
    assert "after L2" in html(app)
    first = int((lens.ids[..., 0] == lens.ids[-1:, :, 0]).int().argmax(0)[5])
    app = send(app, "layer_head_map", "head", [9, 5])  # the line that says from where on it is on top
    assert app.query_params["block.row"] == str(first)
    meta, arrays = payload(view("lens", **{"block.shade": "kl"}), "layer_head_map")
    shades = arrays["values"][:-1]
    assert meta["high"] == pytest.approx(shades[1:].max())  # the embedding's is many times as large
    assert meta["clipped"] == [False, True]
    np.testing.assert_allclose(shades, lens.kl.numpy().clip(0), atol=1e-4)


def test_norms_are_of_the_stream_that_enters_the_chosen_layer():
    app = view("norms", query="3", **{"block.layer": "2"})
    meta, arrays = payload(app, "model_stages")
    assert [row["title"] for row in meta["rows"]] == ["before", "LayerNorm", "RMSNorm", "BatchNorm"]
    x = runner().capture(REQUEST).residual(2)[3].double().numpy()
    np.testing.assert_allclose(arrays["vectors"][0], x, atol=1e-4)
    np.testing.assert_allclose(arrays["vectors"][2], x / np.sqrt((x**2).mean()), atol=1e-4)
    assert "This model uses RMSNorm." in html(app)


def test_the_units_of_the_chosen_layer_are_told():
    app = view("ffn", **{"block.layer": "7"})
    units = runner().submit(FeedForwardUnits(REQUEST, 7, 7)).result()
    page = html(app)
    assert float(units.active[7, 7]) == pytest.approx(float((units.before > 0).double().mean()))
    assert f"688 units · {share_digits(float(units.active[7, 7]))} % of them are active" in page
    assert "(the activation reads more than 0)" in page
    for unit, tokens in zip(units.top.tolist(), units.promoted.tolist(), strict=True):
        assert f"<th>{unit}</th>" in page
        assert runner().token_text(tokens[0]) in page


def test_experts_of_a_random_mixtral_are_offered_where_the_model_has_none_and_are_its_own_numbers():
    app = view("experts")
    assert "no layer has experts" in html(app)
    assert not payloads(app, "layer_head_map")
    app.button(key="show_mixture").click().run()
    assert app.query_params["block.experts"] == "random"
    app = view("experts", query="3", **{"block.experts": "random", "block.expert_layer": "2"})
    ids = tuple(token.id for token in runner().capture(REQUEST).tokens)
    routing = runner().submit(RandomRouting(ids, runner().info.n_vocab + 1)).result()
    picks, loads = payloads(app, "layer_head_map")
    assert picks[1]["values"].shape == (8, 8)
    for token, (experts, weights) in enumerate(zip(routing.layers[2].picks, routing.layers[2].weights, strict=True)):
        np.testing.assert_allclose(picks[1]["values"][experts.tolist(), token], weights, atol=1e-6)
    assert np.isfinite(picks[1]["values"]).sum() == 16
    np.testing.assert_allclose(loads[1]["values"].sum(axis=1), 1, atol=1e-6)
    assert "nothing in it is learned" in html(app)
    idle = 4 * 6 * 3 * 64 * 64  # of 4 layers six experts each, of three matrices
    assert f"{routing.n_parameters - idle:,}" in html(app)
    maps = [element.proto for element in app.get("bidi_component") if element.proto.component_name == "layer_head_map"]
    app = tell(app, maps[1], "head", [1, 4])
    assert app.query_params["block.expert_layer"] == "1"


@pytest.mark.long
def test_experts_of_a_mixtral_and_a_layer_that_has_none(folder_of):
    app = view("experts", model=folder_of("deepseek-v3"), text="some text", **{"block.expert_layer": "0"})
    assert sentences(app) == ["Layer 0 has no experts; L1 is shown."]
    assert "block.expert_layer" not in app.query_params
    assert "shared_experts · DeepseekV3MLP" in html(app)


ONE_STACK = "So far this works only for models with one stack of layers"
SAID = {
    ("translator", "architecture"): None, ("translator", "learning"): None,
    ("encoder", "norms"): None,
    ("encoder", "lens"): None, ("encoder", "stream"): None, ("encoder", "ffn"): None, ("encoder", "architecture"): None,
    ("encoder", "learning"): "This model sees the tokens that it would have to predict",
    ("llama-base", "lens"): "comes without an output layer", ("mixtral", "ffn"): "experts", ("gptj", "stream"): None,
    ("gptj", "ffn"): None, ("jamba", "architecture"): None, ("encoder", "experts"): None,
    ("translator", "experts"): ONE_STACK, ("jamba", "experts"): None, ("llama4", "experts"): None,
}  # fmt: skip


@pytest.mark.parametrize(
    "model, name",
    [pytest.param(*one, marks=[] if one[0] in ("encoder", "translator") else [pytest.mark.long]) for one in SAID],
)
def test_what_a_model_cannot_show_is_one_sentence(folder_of, model: str, name: str):
    where = model if model in ("encoder", "translator") else folder_of(model)
    text = {} if model in ("encoder", "translator") else {"text": "some text"}
    app = view(name, model=where, **text)
    expected = SAID[model, name]
    said = sentences(app)
    assert len(said) == (expected is not None), said
    assert expected is None or expected in said[0].replace("\\", "")


@pytest.mark.parametrize("name", ["stream", "norms", "ffn", "lens"])
@pytest.mark.parametrize("attention", ["encoder", "decoder", "cross"])
def test_both_stacks_of_the_translator_are_shown(name: str, attention: str):
    app = view(name, model="translator", attention=attention, text="A dog sleeps.")
    assert len(sentences(app)) == (attention == "encoder" and name == "lens")
    if name != "lens" or attention == "encoder":
        return
    own = load_runner("translator").capture(CaptureRequest("A dog sleeps.", attention="decoder"))
    meta, _arrays = payload(app, "layer_head_map")
    assert meta["column_labels"] == [token.text for token in own.tokens]
    app = send(app, "layer_head_map", "head", [2, 1])
    read = len(own.attention("encoder").tokens) if attention == "cross" else 0
    assert app.query_params["query"] == str(read + 1)


@pytest.mark.parametrize("name", ["architecture", "stream", "norms", "ffn", "lens", "learning"])
def test_a_token_has_the_number_that_it_has_on_the_strip(name: str):
    """Of two texts in a row what is written is numbered on from what is read: on the strip, and everywhere below it."""
    own = load_runner("translator").capture(CaptureRequest("A dog sleeps.", attention="cross"))
    read, written = len(own.keys), own.tokens
    address = {"model": "translator", "attention": "cross", "text": "A dog sleeps.", "query": str(read + 2)}
    app = view(name, **address)
    strip, arrays = payload(app, "token_strip")
    named = dict(zip(arrays["positions"].tolist(), strip["labels"], strict=True))
    assert named[read + 2] == written[2].text
    here = f"{written[2].text} ({read + 2})"
    if name in ("architecture", "stream", "norms"):
        assert here in payload(app, "model_stages")[0]["columns"][3]
    elif name == "learning":
        forced, _gradient = payloads(app, "layer_head_map")
        assert forced[0]["first_column"] == read
        assert forced[0]["column_labels"] == [str(read + place) for place in range(len(written))]
    else:
        assert here in html(app)
    if name == "lens":
        assert payload(app, "layer_head_map")[0]["first_column"] == read
    if name == "norms":
        charts = [json.loads(one.proto.spec) for one in app.get("plotly_chart")]
        (sizes,) = [one for one in charts if one["layout"]["yaxis"]["title"]["text"] == "root mean square"]
        assert [min(line["x"]) for line in sizes["data"]] == [read] * len(sizes["data"])


@pytest.mark.parametrize("name", ["architecture", "stream", "norms", "ffn", "lens", "learning"])
@pytest.mark.parametrize("text", ["a", "日本語 🙂"])
def test_every_text_is_shown(folder_of, name: str, text: str):
    app = view(name, model=folder_of("llama"), text=text)
    said = sentences(app)
    alone = name == "learning" and text == "a"
    assert len(said) == alone
    assert not alone or "one token long" in said[0]


@pytest.mark.parametrize(
    "name, setting, value", [("architecture", "block", "99"), ("lens", "row", "99"), ("ffn", "layer", "99")]
)
def test_what_the_model_does_not_have_is_said_and_dropped(name: str, setting: str, value: str):
    app = view(name, **{f"block.{setting}": value})
    assert len(sentences(app)) == 1
    assert f"block.{setting}" not in app.query_params


@pytest.mark.parametrize("attention, stack", [("cross", "decoder"), ("decoder", "decoder"), ("encoder", "encoder")])
def test_of_a_translator_the_block_that_opens_is_of_the_stack_that_is_looked_at(attention, stack):
    app = open_app(page=PAGE, model="translator", attention=attention, layer="3")
    rows = payload(app, "model_stages")[0]["rows"]
    assert [row["title"] for row in rows if row.get("open")] == [f"{stack} L3"]
