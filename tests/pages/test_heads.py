"""The page Heads: its numbers are the model's, and every control changes what it says."""

from __future__ import annotations

import html as markup
import re

import numpy as np
import pytest
import torch

from analysis.number_text import figure_number
from model_runner import CaptureRequest, load_runner
from model_runner.edits import ScaledHead
from tests.pages.expected import ROUNDING, capture, masked, runner, weights
from tests.ui.driving import finding, html, open_app, payload, send, sentences, type_text
from viz.share_text import share_digits

HERE = {"layer": "3", "head": "7"}
LAST = 7  # of the default text's eight tokens
PIG = "The pig is behind the dog. It"
WITHOUT = (ScaledHead(5, 5, 0.0), ScaledHead(5, 4, 0.0))


def choose(app, key: str, value: object):
    """Set a control by what it looks like, and run the page again."""
    kind = {"metric": app.selectbox, "other": app.selectbox, "hide_first": app.toggle, "shade": app.toggle}.get(
        key, app.button_group
    )
    kind(key=f"heads.{key}").set_value(value)
    app.run()
    return app


# -- what it shows ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layer, head", [(0, 0), (3, 7), (7, 2)])
def test_the_map_is_the_weights_of_the_open_head(layer, head):
    app = open_app(layer=str(layer), head=str(head))
    meta, arrays = payload(app, "head_map")
    np.testing.assert_allclose(arrays["values"], masked(weights(layer, head)), atol=ROUNDING)
    labels = [token.text for token in capture().tokens]
    assert (meta["row_labels"], meta["col_labels"]) == (labels, labels)
    assert (meta["scale"], meta["low"], meta["high"], meta["number"]) == ("sequential", 0, 1, "percent")
    assert f"L{layer}H{head}" in finding(app)


def test_an_example_opens_on_the_head_of_its_story_and_says_what_to_see():
    app, first = open_app(text=PIG), load_runner("default").capture(CaptureRequest(PIG))
    share = 100 * float(first.weights(5, 5)[-1, 2])
    assert finding(app).startswith(f"“It” puts {share:.0f} % on “pig” L5H5 · the animal that is named first · ")
    assert html(app).count(f"puts {share:.0f} %") == 1  # said once
    logits = [
        first.logits(-1),
        load_runner("default").capture(CaptureRequest(PIG, edits=WITHOUT)).logits(-1),
    ]
    before, after = (100 * float(row.softmax(-1).max()) for row in logits)
    assert re.search(rf"That is why .*oinks.* comes next: <b>{before:.0f} %</b>", html(app))
    assert re.search(rf"Without L5H5 \+ L5H4 it has <b>{after:.0f} %</b>; without L5H1 \+ L5H3 of the same", html(app))
    assert "the animal" not in html(choose(app, "hide_first", True))
    assert "the animal" not in html(open_app(**HERE))
    assert "the animal" not in html(open_app(layer="6", head="4", query="3"))


def test_of_an_own_text_the_page_says_why_this_head_and_what_its_rows_have_in_common():
    text = "My grandmother baked a cake because she"
    said, sharpest = html(app := open_app(text=text)), np.zeros((8, 8))
    own = capture(text)
    for layer in range(8):
        sharpest[layer] = own.layer_weights(layer, slice(LAST, LAST + 1))[:, 0, 1:-2].amax(-1).numpy()
    layer, head = divmod(int(sharpest.argmax()), 8)
    assert f"L{layer}H{head}" in finding(app)
    assert re.search(r"Why this head: of all heads, .*she.* \(7\).* gives one token the most attention here", said)
    assert app.query_params["head"] == str(head)
    said = html(open_app(text="我奶奶做了一个蛋糕，因为她", lang="zh", layer="3", head="6"))
    exact = weights(3, 6, "我奶奶做了一个蛋糕，因为她")
    rows = len(exact) - 1
    hits = sum(int(exact[query].argmax()) == query - 2 for query in range(1, rows + 1))
    assert f"在这段文本上的习惯（换一段未必如此）：<b>往回第二个词元</b>，{rows} 行中有 {hits} 行" in said
    assert hits / rows > 0.8
    assert "Why this head" not in html(open_app(text=text, layer="3", head="6"))


def test_all_heads_are_ranked_by_the_cell_of_two_tokens():
    app = open_app(query="7", key="5", **HERE)
    meta, arrays = payload(app, "head_bars")
    every = {(layer, head): float(weights(layer, head)[7, 5]) for layer in range(8) for head in range(8)}
    order = sorted(every, key=lambda place: -every[place])
    assert [tuple(head) for head in meta["heads"]] == order[:8]
    np.testing.assert_allclose(arrays["values"], [every[place] for place in order[:8]], atol=ROUNDING)
    assert (meta["total"], meta["place"]) == (64, order.index((3, 7)) + 1)
    assert meta["most_left"] == pytest.approx(every[order[8]], abs=ROUNDING)
    assert meta["texts"]["summary"] == "Heads by how much ·it (7) looks at ·squirrel (5)"
    app = send(app, "head_bars", "head", list(order[0]))
    assert f"L{order[0][0]}H{order[0][1]}" in finding(app)
    assert payload(app, "head_bars")[0]["selected"] == list(order[0])
    app.selectbox(key="by_cell_key").set_value(2).run()
    app.selectbox(key="by_cell_query").set_value(6).run()
    assert (app.query_params["query"], app.query_params["key"]) == ("6", "2")
    assert payload(app, "head_bars")[0]["heads"][0] == list(max(every, key=lambda place: float(weights(*place)[6, 2])))
    app = send(app, "token_strip", "key", 4)
    assert (app.query_params["query"], app.query_params["key"]) == ("6", "4")
    assert "cannot see" in html(send(app, "token_strip", "key", 7))
    assert "Choose two tokens" in html(send(app, "token_strip", "token", None))


def test_without_a_pinned_key_the_ranking_is_of_the_one_that_the_open_head_looks_at_most():
    meta = payload(open_app(**HERE), "head_bars")[0]
    assert f"at {capture().tokens[int(weights()[LAST].argmax())].text} (" in meta["texts"]["summary"]


def test_an_example_shows_that_a_look_is_no_reason():
    text = "The dog chased the squirrel because it"
    said = html(app := open_app(text=text))
    assert finding(app).startswith("“it” puts 77 % on “dog” L6H4")
    assert "Why this head: the example is about it." in said
    assert (
        "Habit on this text, not on every text: <b>the token <bdi>·dog</bdi> (2)</b>, in 86 % of the rows (6 of 7)."
        in said
    )
    assert re.search(r"Two heads, two answers: L6H3, in the same layer, puts <b>97 %</b> on .*squirrel", said)
    assert re.search(r"without L6H4 “.*was.*” has <b>59\.\d %</b> instead of <b>59\.\d %</b>", said)


def test_of_a_changed_model_nothing_is_said_that_was_measured_of_another():
    app = open_app(text=PIG, edits="ScaledHead(0,1,0.0)", everywhere="1", layer="5", head="5")
    assert "That is why" not in html(app)
    assert "That is why" in html(open_app(text=PIG, layer="5", head="5"))


def test_the_model_is_read_in_the_dtype_of_the_address():
    app = open_app(dtype="bfloat16", **HERE)
    assert re.search(r"atlas-badge ok.*bfloat16</span>", html(app))
    _meta, arrays = payload(app, "head_map")
    coarse = load_runner(dtype="bfloat16").capture(CaptureRequest(capture().request.text)).weights(3, 7)
    np.testing.assert_allclose(arrays["values"], masked(coarse), atol=ROUNDING)
    assert np.nanmax(abs(arrays["values"] - masked(weights(3, 7)))) > 2 * ROUNDING
    app.button_group(key="dtype").set_value("auto").run()
    assert "dtype" not in app.query_params
    assert "float32" in html(app)


def test_a_device_that_is_not_there_is_said_and_can_be_left(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    app = open_app(device="cuda")
    assert sentences(app) == [
        "This machine has no device “cuda” that torch can compute on. Choose another device, or “auto”."
    ]
    assert "cuda" in app.button_group(key="device").options  # so that what is held is seen
    app.button_group(key="device").set_value("cpu").run()
    assert app.query_params["device"] == "cpu"
    monkeypatch.setattr("ui.shell.frame.devices", lambda: ("cpu", "mps"))
    assert app.run().button_group(key="device").options == ["auto", "cpu", "mps"]


@pytest.mark.parametrize(
    "text, lang, said",
    [
        ("The Shawshank", "en", "gives <b><bdi>{token}</bdi></b> <b>{share} %</b>, the beginning of “Redemption”"),
        ("床前明月光，", "zh", "模型给 <b><bdi>{token}</bdi></b> 的概率是 <b>{share}%</b>，它是“疑是地上霜”的开头"),
    ],
)
def test_what_is_known_by_heart_is_said_after_the_last_token_alone(text, lang, said):
    app = open_app(text=text, lang=lang)
    last = capture(text).logits(-1).softmax(dim=-1)
    expected = said.format(token=runner().token_text(int(last.argmax())), share=share_digits(float(last.max())))
    assert expected in html(app)
    assert expected.split("“")[1] not in html(open_app(text=text, lang=lang, query="1"))


@pytest.mark.parametrize(
    "lang, said", [("en", "Each row is a token looking back; "), ("zh", "每一行是一个往回看的词元；")]
)
@pytest.mark.parametrize("reading", [{}, {"heads.what": "scores"}, {"heads.what": "values"}, {"heads.other": "L3H7"}])
def test_the_sentence_below_the_map_says_which_way_a_token_looks(lang, said, reading):
    assert said in html(open_app(lang=lang, **reading))


def test_another_text_gives_its_own_numbers():
    text = "The capital of France is"
    app = type_text(open_app(**HERE), text)
    np.testing.assert_allclose(payload(app, "head_map")[1]["values"], masked(weights(text=text)), atol=ROUNDING)
    assert payload(app, "token_strip")[0]["labels"] == [token.text for token in capture(text).tokens]


def test_the_grid_shows_every_head_of_every_layer():
    meta, arrays = payload(open_app(), "head_grid")
    assert arrays["thumbnails"].shape == (8, 8, 8, 8)
    for layer in range(8):
        for head in range(8):
            exact = 255 * weights(layer, head)
            assert np.abs(arrays["thumbnails"][layer, head] - exact).max() <= 0.5 + 255 * ROUNDING, (layer, head)
    assert (arrays["keep"] == np.tri(8)).all()
    assert meta["layer_has_weights"] == [True] * 8


def metric_of(name: str, w: np.ndarray) -> float:
    """By loops over one head's weights."""
    n = len(w)
    rows = {
        "previous": [w[i, i - 1] for i in range(1, n)],
        "first": [w[i, 0] for i in range(1, n)],
        "current": [w[i, i] for i in range(1, n)],
        "entropy": [-sum(p * np.log2(p) for p in w[i] if p > 0) for i in range(n)],
        "distance": [sum(w[i, j] * abs(i - j) for j in range(n)) for i in range(n)],
    }
    return float(np.mean(rows[name]))


@pytest.mark.parametrize("name", ["previous", "first", "current", "entropy", "distance"])
def test_a_metric_is_the_mean_over_the_rows_of_each_head(name):
    arrays = payload(open_app(metric=name), "head_grid")[1]
    expected = [[metric_of(name, weights(layer, head).astype(np.float64)) for head in range(8)] for layer in range(8)]
    np.testing.assert_allclose(arrays["metric"], expected, atol=1e-5)  # sums of eight float32


def test_the_heading_says_the_metric_of_the_open_head():
    share = 100 * metric_of("previous", weights())
    assert f"previous token {share:.0f} %" in html(open_app(**HERE))


def test_the_strip_is_shaded_by_the_row_of_the_pinned_token():
    meta, arrays = payload(app := open_app(**HERE), "token_strip")
    np.testing.assert_allclose(arrays["metric"], weights()[LAST], atol=ROUNDING)
    assert meta["values"][2] == f"{share_digits(float(weights()[LAST, 2]))} %"
    assert meta["texts"]["shade"] == "Shade: how much of the attention of “·it” in L3H7 each token gets"
    np.testing.assert_allclose(arrays["rows"], masked(weights()), atol=ROUNDING)
    meta, arrays = payload(send(app, "token_strip", "token", 3), "token_strip")
    np.testing.assert_allclose(arrays["metric"], masked(weights())[3], atol=ROUNDING)
    assert meta["values"][4] == "masked"
    assert "“·chased”" in meta["texts"]["shade"]
    meta, arrays = payload(send(app, "token_strip", "token", None), "token_strip")
    assert np.isnan(arrays["metric"]).all()
    assert meta["texts"]["shade"] == ""


def test_a_bar_under_each_chip_is_the_metric_of_the_open_head_where_its_reader_wants_it():
    app = open_app(**HERE)
    assert "bars" not in payload(app, "token_strip")[1]
    meta, arrays = payload(choose(app, "shade", True), "token_strip")
    assert "rows" in arrays  # the tints are the row's, with bars and without
    assert re.fullmatch(r"bar: “.+” of L\d+H\d+, token by token", meta["bars_said"])
    np.testing.assert_allclose(arrays["bars"][1:], np.diag(weights(), -1), atol=ROUNDING)
    assert np.isnan(arrays["bars"][0])  # the first token has none before it
    assert meta["bar_words"][0] == ""
    assert meta["bar_words"][LAST] == f"previous token {share_digits(float(weights()[LAST, LAST - 1]))} %"


def test_the_lines_are_the_same_weights():
    meta, arrays = payload(open_app(**HERE), "token_lines")
    np.testing.assert_allclose(arrays["weights"], weights()[None], atol=ROUNDING)
    assert meta["head_labels"] == ["L3H7"]
    assert meta["selected"] == LAST


def test_the_next_token_is_the_models():
    shown = re.search(r"<table class=.atlas-next.*?</table>", html(open_app()), re.DOTALL)[0]
    top = torch.softmax(capture().logits(-1).double(), -1).topk(5)
    rows = re.findall(r"<bdi>(.*?)</bdi>.*?<span class=.number.>(.*?)</span>", shown, re.DOTALL)
    assert [markup.unescape(label) for label, _ in rows[:5]] == [runner().token_text(int(i)) for i in top.indices]
    likely = [p for p in top.values.tolist() if p > 0.001]  # what is rarer has words of its own
    assert [number for _, number in rows[: len(likely)]] == [f"{share_digits(p)} %" for p in likely]
    assert likely
    assert float(rows[5][1].rstrip(" %")) == pytest.approx(100 * (1 - top.values.sum().item()), abs=0.051)


def test_the_caption_says_who_looks_at_whom():
    key = int(weights()[LAST].argmax())
    share = share_digits(float(weights()[LAST, key]))
    assert finding(open_app(**HERE)).startswith(
        f"“it” puts {share} % on “{capture().tokens[key].text.strip('·')}” L3H7"
    )
    alike = finding(open_app(text="The dog saw the dog", layer="3", head="7", query="5", key="2"))
    assert re.match(r"“dog”\s\(5\) puts [\d.<> ]+ % on “dog”\s\(2\) L3H7", alike)


# -- what its controls change -----------------------------------------------------------------------------------------


def test_scores_are_shown_before_the_softmax_and_around_0():
    app = choose(open_app(**HERE), "what", "scores")
    meta, arrays = payload(app, "head_map")
    scores = capture().scores(3, 7).numpy()
    expected = np.where(np.isfinite(scores), scores, np.nan)
    np.testing.assert_allclose(arrays["values"], expected, rtol=1e-5, atol=1e-5)
    assert (meta["scale"], meta["number"]) == ("diverging", "plain")
    assert meta["high"] == -meta["low"] == pytest.approx(np.nanmax(np.abs(expected)))
    assert "before the softmax" in meta["texts"]["note"]
    assert meta["texts"]["cell"] == "{query} → {key}: score {value}"
    assert app.query_params["heads.what"] == "scores"
    for other in ("color", "unit"):
        assert app.button_group(key=f"heads.{other}").disabled  # they would change nothing here
    assert app.toggle(key="heads.hide_first").disabled


def test_weighted_values_are_weight_times_length_of_the_value():
    app = choose(open_app(**HERE), "what", "value")
    meta, arrays = payload(app, "head_map")
    lengths = np.linalg.norm(capture().v(3)[7 // capture().record(3).group].numpy(), axis=-1)
    np.testing.assert_allclose(arrays["values"], masked(weights() * lengths), rtol=1e-5, atol=ROUNDING)
    assert (meta["number"], meta["low"]) == ("plain", 0)
    assert meta["high"] == pytest.approx(np.nanmax(arrays["values"]))


def test_a_logarithmic_colour_changes_the_scale_and_no_number():
    app = open_app(**HERE)
    before = payload(app, "head_map")[1]["values"]
    meta, arrays = payload(choose(app, "color", "log"), "head_map")
    assert (meta["log"], meta["low"], meta["high"]) == (True, pytest.approx(1e-4), 1)
    np.testing.assert_array_equal(arrays["values"], before)


def test_words_sum_over_the_looked_at_and_average_over_the_looking():
    text = "The unhappiest squirrelologist chased it"
    app = choose(open_app(text=text, **HERE), "unit", "words")
    meta, arrays = payload(app, "head_map")
    words = ["⟨bos⟩", *text.split()]
    assert [label.lstrip("·") for label in meta["row_labels"]] == words
    ends = [0, *(text.index(word) + len(word) for word in words[1:])]
    word_of = [sum(end < token.end for end in ends) for token in capture(text).tokens]
    of_word = [[token for token, word in enumerate(word_of) if word == n] for n in range(len(words))]
    assert max(map(len, of_word)) > 1
    exact = weights(text=text).astype(np.float64)
    expected = [[np.mean([sum(exact[q, k] for k in keys) for q in queries]) for keys in of_word] for queries in of_word]
    np.testing.assert_allclose(arrays["values"], masked(np.array(expected)), atol=ROUNDING)
    assert "averaged" in meta["texts"]["note"]


def test_without_the_first_token_each_row_adds_up_again():
    app = choose(open_app(**HERE), "hide_first", True)
    meta, arrays = payload(app, "head_map")
    exact = weights().astype(np.float64)
    exact[:, 0] = 0
    expected = masked(exact / np.maximum(exact.sum(-1, keepdims=True), 1e-300))
    expected[:, 0] = np.nan
    # what is left of a row may be small, and its rounding grows when it is divided by that
    np.testing.assert_allclose(arrays["values"], expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(np.nansum(arrays["values"][1:], -1), 1, atol=1e-5)
    assert "renormalised" in meta["texts"]["note"]
    np.testing.assert_allclose(payload(app, "token_strip")[1]["rows"], expected, rtol=1e-4, atol=1e-5)
    lines = payload(app, "token_lines")[1]["weights"][0]
    np.testing.assert_allclose(np.where(np.tri(len(lines), dtype=bool), lines, np.nan), expected, rtol=1e-4, atol=1e-5)
    key = int(np.nanargmax(expected[LAST]))
    share = f"{share_digits(float(expected[LAST, key]))} %"
    assert f"puts {share} on {capture().tokens[key].text} ({key})" in meta["texts"]["summary"]
    assert f"puts {share} on" in finding(app)  # one answer on the screen
    assert app.query_params["heads.hide_first"] == "1"


def test_ranked_puts_the_heads_with_the_largest_metric_first():
    app = open_app(metric="entropy")
    assert "order" not in payload(app, "head_grid")[1]
    arrays = payload(choose(app, "order", "rank"), "head_grid")[1]
    assert arrays["metric"].ravel()[arrays["order"]].tolist() == sorted(arrays["metric"].ravel().tolist(), reverse=True)


def test_numbers_instead_of_maps():
    app = open_app()
    assert payload(app, "head_grid")[0]["mode"] == "maps"
    assert payload(choose(app, "grid", "metric"), "head_grid")[0]["mode"] == "metric"


def test_the_metric_changes_grid_strip_and_heading():
    app = choose(open_app(**{"heads.shade": "1"}, **HERE), "metric", "entropy")
    meta, arrays = payload(app, "head_grid")
    assert (meta["texts"]["metric"], meta["number"]) == ("entropy", "plain")
    bits = metric_of("entropy", weights().astype(np.float64))
    assert arrays["metric"][3, 7] == pytest.approx(bits, abs=1e-5)
    assert f"entropy {figure_number(bits)} bits" in html(app)  # as the line below the grid, which has it of its script
    assert payload(app, "token_strip")[0]["bar_words"][0] == "entropy 0.0 bits"
    assert "how widely a token spreads its attention" in html(app)


def test_a_second_head_is_subtracted_and_drawn_beside():
    app = choose(open_app(**HERE), "other", "L2H1")
    meta, arrays = payload(app, "head_map")
    np.testing.assert_allclose(arrays["values"], masked(weights() - weights(2, 1)), atol=ROUNDING)
    assert meta["scale"] == "diverging"
    assert app.button_group(key="heads.color").disabled  # it would change nothing here
    assert not app.button_group(key="heads.unit").disabled
    assert "L3H7 minus L2H1" in meta["texts"]["note"]
    assert meta["texts"]["cell"] == "{query} → {key}: difference {value}"  # no head looks −99 % at anything
    assert payload(app, "head_grid")[0]["compare"] == [2, 1]
    lines, both = payload(app, "token_lines")
    assert lines["head_labels"] == ["L3H7", "L2H1"]
    np.testing.assert_allclose(both["weights"], np.stack([weights(), weights(2, 1)]), atol=ROUNDING)


def test_on_a_repeated_sequence_the_ranked_induction_heads_copy_what_followed():
    text = "lamp river seven cloud lamp river seven cloud lamp river seven"
    app = open_app(text=text, metric="induction", order="rank")
    best = int(payload(app, "head_grid")[1]["order"][0])
    exact, ids = weights(best // 8, best % 8, text), [token.id for token in capture(text).tokens]
    followed = [sum(row[j] for j in range(1, i + 1) if ids[j - 1] == ids[i]) for i, row in enumerate(exact)]
    repeats = [value for i, value in enumerate(followed) if ids[i] in ids[:i]]
    assert np.mean(repeats) > 0.5  # more than half of the attention, as the page says of its first head
