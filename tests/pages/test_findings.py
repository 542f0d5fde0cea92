"""The finding above a picture says the numbers of the picture: each against another way to them."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
import torch
from transformers import AutoConfig

from analysis.families_published import KNOWN
from analysis.long_text import chapter
from analysis.number_text import significant
from analysis.zoo import substituted
from attention.small_attention import usual_numbers
from attention.small_feed_forward import usual_feed_forward
from attention.zoo.table import BY_NAME
from model_runner import CaptureRequest, load_runner
from model_runner.block_questions import FeedForwardUnits, WhatItIsMadeOf
from model_runner.expert_questions import RandomRouting
from model_runner.local.loading.model_folder import EMBEDDED
from model_runner.projection_questions import LayerMatrices
from tests.pages import patch_driving, zoo_driving
from tests.ui.driving import button, finding, html, open_app, payload, payloads, until
from ui.state.url_state import DEFAULT_TEXT
from viz.share_text import share_digits

pytestmark = pytest.mark.table  # its tests take a second each

STEPS, BLOCK, EDITS = "pages/steps/page.py", "pages/block/page.py", "pages/edit_heads/page.py"
ONE = "a"  # a text of one token
LONG = "Alice was beginning to get very tired of sitting by her sister on the bank. " * 6


def capture(text: str = DEFAULT_TEXT):
    return load_runner("default").capture(CaptureRequest(text))


# -- step by step -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gap, count", [("7", "1,098"), ("4.2", "68")])
def test_the_length_at_which_a_gap_has_half_of_the_weight(gap: str, count: str):
    said = finding(open_app(page=STEPS, **{"steps.view": "length", "steps.gap": gap}))
    assert said.startswith(f"Among {count} keys, a score {gap} above all others gets half of the weight ")
    n = int(count.replace(",", ""))
    assert math.exp(float(gap)) / (math.exp(float(gap)) + n - 1) == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("d", [16, 256])
def test_the_largest_weight_with_and_without_the_division_by_the_root_of_d(d: int):
    generator = torch.Generator().manual_seed(0)
    app = open_app(page=STEPS, **{"steps.view": "scale", "steps.wide": str(d)})
    q, k = (torch.randn(4096, 4096, generator=generator).double()[:, :d] for _ in range(2))
    rows = (q * k).sum(1)[: 4096 // 6 * 6].reshape(-1, 6)
    plain, divided = (float(torch.softmax(one, 1).amax(1).mean()) for one in (rows, rows / math.sqrt(d)))
    found = re.match(r"At d = (\d+) the largest weight is (\d+) %; divided by √d, (\d+) % ", finding(app))
    assert found
    assert int(found[1]) == d
    assert [float(one) for one in found.groups()[1:]] == pytest.approx([100 * plain, 100 * divided], abs=3)


@pytest.mark.parametrize("largest, dtype", [("12", "float16"), ("12", "float32"), ("100", "float32")])
def test_how_many_scores_the_naive_softmax_gets_wrong(largest: str, dtype: str):
    app = open_app(page=STEPS, **{"steps.view": "softmax", "steps.largest": largest, "steps.dtype": dtype})
    matrices = payload(app, "step_by_step")[0]["chain"]["matrices"]
    naive = [float(one) for one in matrices["N"]["values"][0]]
    right = torch.softmax(torch.tensor(matrices["S"]["values"][0], dtype=torch.float64), 0).tolist()
    wrong = sum(not abs(one - two) <= 0.005 + 0.05 * two for one, two in zip(naive, right, strict=True))
    expected = f"The naive softmax is wrong at {wrong} of 6 scores " if wrong else "The naive softmax is right here "
    assert finding(app).startswith(expected)
    assert bool(wrong) == ((largest, dtype) != ("12", "float32"))


def test_for_how_many_queries_cosine_and_dot_product_pick_other_keys():
    matrices = payload(app := open_app(page=STEPS, **{"steps.view": "similarity"}), "step_by_step")[0]["chain"][
        "matrices"
    ]
    products, cosines = (np.array(matrices[name]["values"]) for name in ("S", "COS"))
    apart = int((products.argmax(1) != cosines.argmax(1)).sum())
    words = f"different keys for {apart} of {len(products)} queries" if apart else "the same key for every query"
    assert finding(app) == f"Cosine and dot product pick {words}"


@pytest.mark.parametrize("text", [DEFAULT_TEXT, ONE])
def test_the_same_of_the_models_head_where_its_mask_hides_nothing(text: str):
    address = {"steps.view": "similarity", "steps.source": "model", "layer": "6", "head": "4"}
    app = open_app(page=STEPS, text=text, **address)
    record = capture(text).record(6)
    q, k = record.q[4].double(), record.k[4 // record.group].double()
    apart = 0
    for row in range(len(q)):
        products = k[: row + 1] @ q[row]
        apart += int(products.argmax()) != int((products / k[: row + 1].norm(dim=1)).argmax())
    words = f"different keys for {apart} of {len(q)} queries" if apart else "the same key for every query"
    assert finding(app).startswith(f"Cosine and dot product pick {words}")


def test_the_look_of_the_query_whose_steps_are_shown():
    address = {"layer": "6", "head": "4", "query": "7", "steps.source": "model"}
    row = capture().weights(6, 4)[7]
    key = int(row.argmax())
    said = finding(open_app(page=STEPS, **address))
    assert f"puts {share_digits(float(row[key]))} % on “{capture().tokens[key].text.strip('·')}” L6H4" in said
    assert "data-finding role" not in html(open_app(page=STEPS, **address, **{"steps.ask": "1"}))


@pytest.mark.parametrize("address", [{}, {"steps.tokens": "3", "steps.heads": "2", "steps.head": "1"}])
def test_the_key_that_the_last_of_a_few_small_tokens_looks_at_most(address: dict[str, str]):
    app = open_app(page=STEPS, **address)
    heads, head = int(address.get("steps.heads", "1")), int(address.get("steps.head", "0"))
    numbers = usual_numbers(int(address.get("steps.tokens", "4")), 4)
    q, k = (numbers.x @ w for w in (numbers.w_q, numbers.w_k))
    own = slice(head * 4 // heads, (head + 1) * 4 // heads)
    products = [float(q[-1, own] @ row[own]) for row in k]
    scores = [one / math.sqrt(4 // heads) for one in products]
    key = scores.index(max(scores))
    share = math.exp(scores[key]) / sum(map(math.exp, scores))
    last = len(k) - 1
    assert finding(app).startswith(f"x{last} matches x{key} best: {significant(products[key], 4)}")
    scaled = finding(open_app(page=STEPS, **address, **{"steps.step": "scale"}))
    assert scaled.startswith(f"x{last} matches x{key} best: {significant(scores[key], 4)}")
    weighed = finding(open_app(page=STEPS, **address, **{"steps.step": "softmax"}))
    assert weighed.startswith(f"x{last} puts {share_digits(share)} % on x{key} ")
    assert "data-finding role" not in html(open_app(page=STEPS, **address, **{"steps.ask": "1"}))


@pytest.mark.parametrize("text, steps", [(DEFAULT_TEXT, 7), (ONE, None)])
def test_the_steps_from_the_last_token_to_the_first(text: str, steps: int | None):
    app = open_app(page=STEPS, text=text, **{"steps.view": "others"})
    if steps is None:
        assert "data-finding role" not in html(app)
    else:
        assert len(capture(text).tokens) == steps + 1
        assert finding(app).startswith(
            f"From the first token to the last it is 1 step with attention, {steps} with a recurrent net "
        )


# -- the block --------------------------------------------------------------------------------------------------------


def test_how_much_the_stream_grows_and_what_size_a_norm_leaves():
    app = open_app(page=BLOCK, **{"block.view": "norms", "block.layer": "3"})
    lengths = [float(capture().residual(row).norm(dim=-1).mean()) for row in (0, 8)]
    stream = capture().residual(3).double()
    sizes = stream.square().mean(dim=-1).sqrt()
    said = finding(app)
    assert said.startswith(f"After 8 layers the stream has {lengths[1] / lengths[0]:.3g} times its first norm ")
    assert f"{float(sizes.min()):.3g} to {float(sizes.max()):.3g} before RMSNorm" in said


def test_the_unit_that_adds_most_and_the_token_that_it_promotes():
    app = open_app(page=BLOCK, **{"block.view": "ffn", "block.layer": "5"})
    units = load_runner("default").submit(FeedForwardUnits(CaptureRequest(DEFAULT_TEXT), 5, 7)).result()
    token = load_runner("default").token_text(int(units.promoted[0, 0])).strip("·")
    logit = f"{float(units.logits[0, 0]):+.2f}".replace("-", "−")
    said = f"Unit {int(units.top[0])} adds most: {logit} to the logit of “{token}” "
    assert int(units.lengths.argmax()) == 0
    assert finding(app).startswith(said)


@pytest.mark.parametrize("gated", [False, True])
def test_the_unit_that_adds_most_among_small_numbers(gated: bool):
    address = {"block.view": "ffn", "block.ffn": "small"} | ({"block.gated": "1"} if gated else {})
    numbers = usual_feed_forward()
    values = numbers.x @ numbers.w_1 + numbers.b_1
    values = (numbers.x @ numbers.w_gate).relu() * values if gated else values.relu()
    norms = {
        (token, unit): math.hypot(*(float(value * one) for one in numbers.w_2[unit]))
        for token, row in enumerate(values.tolist())
        for unit, value in enumerate(row)
    }
    (token, unit), norm = max(norms.items(), key=lambda one: one[1])
    said = f"Unit {unit} adds most to x{token}: a vector of norm {norm:.3g} "
    assert finding(open_app(page=BLOCK, **address)).startswith(said)
    assert "data-finding role" not in html(open_app(page=BLOCK, **address, **{"block.ask": "1"}))


def test_the_unit_of_the_model_that_adds_most_number_by_number():
    address = {"block.view": "ffn", "block.ffn": "own", "block.layer": "5", "query": "7"}
    units = load_runner("default").submit(FeedForwardUnits(CaptureRequest(DEFAULT_TEXT), 5, 7)).result()
    said = f"Unit {int(units.top[0])} adds most to “it”: a vector of norm {float(units.lengths[0]):.3g} "
    assert finding(open_app(page=BLOCK, **address)).startswith(said)
    assert "data-finding role" not in html(open_app(page=BLOCK, **address, **{"block.ask": "1"}))


def test_a_model_without_experts_offers_those_of_a_small_mixture():
    app = open_app(page=BLOCK, **{"block.view": "experts"})
    assert finding(app) == "Every token goes through all of this model: no layer has experts"
    app.button(key="show_mixture").click().run()
    assert "goes to E" in finding(app)


def test_the_experts_of_the_chosen_token():
    app = open_app(page=BLOCK, query="4", **{"block.view": "experts", "block.experts": "random"})
    ids = tuple(token.id for token in capture().tokens)
    held = load_runner("default")
    routed = held.submit(RandomRouting(ids, max(held.info.n_vocab, *ids) + 1)).result().layers[0]
    pairs = sorted(zip(routed.weights[4].tolist(), routed.picks[4].tolist(), strict=True), reverse=True)
    named = ", ".join(f"E{expert}" for _weight, expert in pairs)
    assert finding(app).startswith(f"“{capture().tokens[4].text.strip('·')}” goes to {named} ")
    assert f"E{pairs[0][1]} {pairs[0][0]:.2f} · E{pairs[1][1]} {pairs[1][0]:.2f}" in finding(app)


def test_the_share_of_the_parameters_in_the_blocks():
    app = open_app(page=BLOCK, **{"block.view": "architecture"})
    made = load_runner("default").submit(WhatItIsMadeOf()).result()
    outside = sum(math.prod(one.shape) for part in made.before for one in part.weights)
    outside += sum(math.prod(one.shape) for part in made.after for one in part.weights) * (not made.tied)
    share = 1 - outside / made.n_parameters
    found = re.match(r"The (\d+) layers hold (\d+) % of the parameters", finding(app))
    assert found
    assert int(found[1]) == len(made.blocks)
    assert int(found[2]) == pytest.approx(100 * share, abs=0.6)


# -- positions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", [5, 0])
def test_what_a_position_turns_and_how_far_its_fastest_and_its_slowest_pair(query: int):
    said = finding(open_app(page="pages/positions/page.py", query=str(query)))
    config = AutoConfig.from_pretrained(EMBEDDED["default"])
    slowest = query * config.rope_parameters["rope_theta"] ** (2 / config.head_dim - 1)
    fast, slow = (significant(one / (2 * math.pi), 3) for one in (query, slowest))
    token = capture().tokens[query].text.strip("·")
    named = token if token.startswith("⟨") else f"“{token}”"
    turns = f"Position {query} turns the query and key of {named}, so that scores depend on distance "
    stays = f"Position 0 leaves the query and key of {named} as they are; "
    assert said.startswith(turns if query else stays)
    assert said.endswith(f"the fastest pair of dimensions makes {fast} turns, the slowest {slow}")


# -- long texts -------------------------------------------------------------------------------------------------------


def test_how_much_of_the_attention_is_near_and_how_much_far():
    app = open_app(page="pages/long_texts/page.py", text=LONG, layer="6", head="6")
    weights = capture(LONG).weights(6, 6).double()
    n = len(weights)
    least = n // 8
    apart = torch.arange(n)[:, None] - torch.arange(n)
    shares = [float(weights[:, 1:][one[:, 1:]].sum() / n) for one in (apart < least, apart >= least)]
    near, far = map(share_digits, shares)
    assert finding(app).startswith(f"L6H6 puts {near} % on the last {least} tokens, {far} % farther back")
    bands = payload(app, "long_map")[0]["bands"]
    assert bands[0] == {
        "distance": 0, "words": f"near: {near} %, at most {least - 1} tokens back", "short": f"near: {near} %"
    }  # fmt: skip
    assert len(bands) == 1  # farther back its attention only falls


def test_a_band_far_back_is_named_by_its_distance():
    app = open_app(page="pages/long_texts/page.py", layer="6", head="6")  # half a chapter
    far = payload(app, "long_map")[0]["bands"][1]
    about = int(re.search(r"most often about ([\d,]+) tokens back", far["words"])[1].replace(",", ""))
    weights = capture(chapter().half).weights(6, 6).double()
    at = {back: float(weights.diagonal(-back).mean()) for back in range(len(weights) // 8, len(weights) // 2)}
    around = [sum(at[back] for back in range(middle - 20, middle + 20)) for middle in (about - 150, about, about + 150)]
    assert around[1] > 2 * max(around[0], around[2])
    assert about < far["distance"] < about + 150


# -- edit heads -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_head_that_matters_most_is_the_largest_cell_of_the_map(lang: str):
    app = open_app(page=EDITS, heads="effects", lang=lang)
    app = until(app, lambda app: not button(app, "effect_stop"))
    lost = payloads(app, "layer_head_map")[0][1]["values"]
    layer, head = np.unravel_index(int(np.nanargmax(np.abs(lost))), lost.shape)
    logits = torch.softmax(capture().logits(-1).double(), -1)
    share = float(logits.max())
    left = share * math.exp(-float(lost[layer, head]))
    said = finding(app)
    assert f"L{layer}H{head}" in said
    ends = [float(one) for one in re.findall(r"([\d.]+) ?%", said)]
    assert ends == pytest.approx([100 * share, 100 * left], abs=0.6)
    ffn = payloads(app, "layer_head_map")[3][1]["values"][0]
    assert f"L{int(np.abs(ffn).argmax())}" in said.replace(f"L{layer}H{head}", "")


def test_the_token_that_carries_the_answer_is_the_largest_cell_of_each_row():
    app = patch_driving.opened()
    carriers = np.abs(patch_driving.changes(app)).argmax(1)
    texts = [token.text.strip("·") for token in capture().tokens]
    said = re.match(r"“(.+)” carries the answer up to L(\d), “(.+)” from L(\d) on", finding(app))
    assert said, finding(app)
    turn = int(said[2])
    assert int(said[4]) == turn + 1
    assert [texts[place] for place in carriers] == [said[1]] * (turn + 1) + [said[3]] * (len(carriers) - turn - 1)


def test_the_cell_that_moves_the_answer_furthest():
    app = patch_driving.opened(**{"edit_heads.patched": "ffn"})
    meta, arrays = payload(app, "layer_head_map")
    values = arrays["values"]
    row, place = np.unravel_index(int(np.nanargmax(np.abs(values))), values.shape)
    share = share_digits(float(values[row, place]) / meta["whole"])
    name = capture().tokens[place].text.strip("·")
    said = f"{meta['row_labels'][row]} at “{name}” moves the answer furthest: {share} % of the way"
    assert finding(app).startswith(said)


# -- the zoo, families, compare ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["linear", "lightning", "flash"])
def test_where_a_rival_looks_or_how_its_output_turns(name: str):
    found = substituted(zoo_driving.head(), BY_NAME[name], {"half_life": 3} if name == "lightning" else {})
    said = finding(
        zoo_driving.opened(variant=name, **({"values.lightning.half_life": "3"} if name == "lightning" else {}))
    )
    if name == "lightning":
        assert f"L3H5’s output has cosine {found.direction:.2f} with softmax’s" in said
    elif name == "flash":
        assert "L3H5 attends as with softmax" in said
    else:
        own = zoo_driving.head().softmax()
        moved = float((np.nan_to_num(found.weights) - np.nan_to_num(own.numpy())).clip(0).sum(1).mean())
        assert f"{share_digits(moved)} % of L3H5’s attention goes to other tokens" in said


def test_the_work_at_the_longest_text_is_that_of_the_formulas():
    app = zoo_driving.opened(view="cost", variant="linear")
    record = capture().record(3)
    d, n = record.q.shape[-1], 1_024_000
    work = 64 * BY_NAME["linear"].multiply_adds(n, d)
    softmax = 64 * BY_NAME["flash"].multiply_adds(n, d)
    said = re.search(r"takes ([\d,.]+) times less work than softmax", finding(app))
    assert said, finding(app)
    assert float(said[1].replace(",", "")) == pytest.approx(softmax / work, rel=0.01)
    assert finding(app).startswith("At 1,024,000 tokens, ")


def test_which_order_of_the_products_is_less_work():
    n, d = zoo_driving.head().q.shape
    few, many = sorted((2 * n * n * d, 2 * n * d * d))
    assert n < d
    said = f"At {n} tokens, (Q Kᵀ) V is less work: {few:,} multiply-adds, not {many:,}"
    assert finding(zoo_driving.opened(view="linear")) == said


def test_which_part_of_the_cells_each_kind_leaves_to_be_seen():
    app = open_app(page="pages/families/page.py")
    meta, arrays = payload(app, "family_masks")
    seen = [
        share_digits(float((cells[: len(one["tokens"]), : len(one["tokens"])] > 0).mean()))
        for one, cells in zip(meta["kinds"], arrays["cells"], strict=True)
    ]
    causal, prefix, encoder, two = seen
    said = f"causal {causal} %, prefix {prefix} %, encoder {encoder} %, encoder–decoder {two} %"
    assert finding(app) == f"Who sees whom: {said} of cells visible"


def test_how_many_well_known_models_hide_the_future():
    causal = sum(one.mask == "each token sees itself and what came before" for one in KNOWN)
    app = open_app(page="pages/families/page.py", **{"families.view": "known"})
    assert finding(app).startswith(f"{causal} of these {len(KNOWN)} models hide the future from every token")


def test_the_matrix_that_differs_most_of_two_layers():
    app = open_app(
        page="pages/compare/page.py", layer="3", head="1", **{"compare.view": "matrices", "compare.head": "L5H1"}
    )
    held = load_runner("default")
    first, second = (held.submit(LayerMatrices(CaptureRequest(DEFAULT_TEXT), layer)).result() for layer in (3, 5))
    bars = [json.loads(one.proto.spec) for one in app.get("plotly_chart")]
    longest = max(max(one["data"][0]["x"]) for one in bars)
    assert first is not second
    assert f"differs most: {share_digits(longest)} %" in finding(app)
