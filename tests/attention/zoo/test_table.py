"""Every row of the table of variants: its map gives its output, and its work equals what torch counts."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import torch
from torch.nn.functional import relu
from torch.utils.flop_counter import FlopCounterMode

from attention.zoo import cosformer, linear, polaformer
from attention.zoo.head import head_of
from attention.zoo.performer import directions
from attention.zoo.table import BY_NAME, VARIANTS
from attention.zoo.variant import BOTH_WAYS, FUTURE, NO_LAYER, NOT_TURNED, ONE_HEAD, PAST, VECTORS, VariantNotPossible
from tests.attention.zoo.made import made, windowed

# A row of these is made of other rows too.
ROWS_TOGETHER = ("rollout", "rollout_mixed", "awrsr", "awrsr_values", "awrsr_added", "awrsr_stochastic")
EVERY = [pytest.param(variant, id=variant.name) for variant in VARIANTS]
HEADS = {
    "causal": made(),
    "around": made(causal=False),
    "one token": made(1),
    "two tokens": made(2),
    "long": made(150, 4),
    "wide values": made(9, 4, width=7),
    "window": windowed(made(13), 4),
}
PLACES = [
    pytest.param(variant, head, id=f"{variant.name}-{name}")
    for variant in VARIANTS
    for name, head in HEADS.items()
    if not variant.refusal(head)
]


def settings(variant, n_tokens):
    """The usual numbers, the least and the largest."""
    yield {}
    yield {one.name: one.least for one in variant.parameters}
    yield {one.name: min(one.most_of(n_tokens), 10 * one.per) for one in variant.parameters}


@pytest.mark.parametrize("variant", EVERY)
def test_a_number_is_read_as_it_is_meant_and_a_code_has_words(variant):
    for one in variant.parameters:
        assert not re.search("hundredth|tenth|[0-9] ?:", one.counts)
        assert one.written(3 * one.per) == "3"
        assert len(one.choices) in (0, (one.most or 0) - one.least + 1)


@pytest.mark.parametrize("variant", EVERY)
def test_the_document_can_say_whether_it_is_the_papers_rule(variant):
    assert re.match("(as|the rule as) published|simplified: |ours", variant.published)
    assert ("ours" in variant.source) == variant.published.startswith("ours")


@pytest.mark.parametrize("variant, head", PLACES)
def test_the_map_drawn_gives_the_output(variant, head):
    for values in settings(variant, head.n_tokens):
        weights, output = variant.on(head, values)
        assert torch.isfinite(weights).all()
        assert weights.shape == (head.n_tokens, head.n_tokens)
        assert output.shape == head.v.shape
        if variant.name == "polaformer":  # whose halves of the values have a map each
            half = -(-head.v.shape[1] // 2)
            other, _ = variant.on(head, {**values, "opposite": 1 - values.get("opposite", 0)})
            maps = (other, weights) if values.get("opposite") else (weights, other)
            expected = torch.cat([maps[0] @ head.v[:, :half], maps[1] @ head.v[:, half:]], dim=1)
        elif variant.values is not None:  # whose map multiplies values of its own
            expected = weights @ variant.values(head, **variant.numbers(values, head.n_tokens))
        else:
            expected = weights @ head.v
        torch.testing.assert_close(output, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("variant", [one for one in VARIANTS if one.mask != "none"], ids=lambda one: one.name)
@pytest.mark.parametrize("sink", [None, 0.5])
def test_heads_that_are_asked_for_together_are_what_each_is_alone(variant, sink):
    heads = [replace(made(23, 6, width=5, seed=seed), sink=sink) for seed in range(3)]
    heads[1] = windowed(heads[1], 4)
    for values in settings(variant, 23):
        together = variant.mixed_of(heads, values)
        for one, output in zip(heads, together, strict=True):
            torch.testing.assert_close(output, variant.mixed(one, values), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize(
    "variant",  # whose rows are each made alone
    [one for one in VARIANTS if one.mask != "none" and one.name not in ROWS_TOGETHER],
    ids=lambda one: one.name,
)
def test_a_sink_of_each_query_counts_in_its_row_as_one_of_all_queries_does(variant):
    head = made(11, 4)
    sinks = torch.linspace(-2, 3, head.n_tokens, dtype=torch.float64)
    own = variant.mixed(replace(head, sink=sinks), values := next(iter(settings(variant, 11))))
    for query in (0, 5, 10):
        alike = variant.mixed(replace(head, sink=float(sinks[query])), values)
        torch.testing.assert_close(own[query], alike[query], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("variant, head", PLACES)
def test_what_the_mask_hides_weighs_nothing_unless_the_variant_says_otherwise(variant, head):
    weights, _output = variant.on(head, {})
    hidden = weights[~head.keep]
    if not variant.left_out(head):
        assert (hidden == 0).all()
    if variant.mask == "causal":
        assert (weights.triu(1) == 0).all()


@pytest.mark.parametrize("variant, head", PLACES)
def test_a_map_that_is_not_signed_has_no_negative_weight(variant, head):
    weights, _output = variant.on(head, {})
    assert variant.signed or (weights >= 0).all()


@pytest.mark.parametrize("variant", EVERY)
def test_the_work_that_is_written_is_the_work_that_is_counted(variant):
    n, d = 4096, 64
    numbers = variant.numbers({}, n)
    letters = {"n": n, "d": d} | {one.letter: numbers[one.name] for one in variant.parameters if one.letter}
    written = variant.work.replace("²", "**2").replace("³", "**3")
    written = re.sub(r"(?<=[\w)]) (?=[\w(])", " * ", written)
    assert eval(written, {}, letters) == variant.multiply_adds(n, d, **numbers)


BY_SCORES = (
    "no_positions", "flash", "log_n", "sigmoid", "off_by_one", "blocks", "reformer", "differential", "dual_chunk",
    "rollout", "rollout_mixed", "value_norms", "drawn_keys", "awrsr", "awrsr_values", "awrsr_added",
    "awrsr_stochastic", "titans_mac", "titans_mag", "titans_mal",
)  # fmt: skip
COUNTED = [variant for variant in VARIANTS if variant.name not in BY_SCORES]


@pytest.mark.parametrize("variant", COUNTED, ids=lambda variant: variant.name)
@pytest.mark.parametrize("n_tokens, d_head", [(32, 8), (48, 12)])
def test_the_multiply_adds_are_those_that_torch_counts(variant, n_tokens, d_head):
    head = made(n_tokens, d_head, causal=variant.mask == "causal")
    numbers = variant.numbers({"tile": 16} if variant.name == "lightning" else {}, n_tokens)
    with FlopCounterMode(display=False) as counted:
        variant.output(head, **numbers)
    assert variant.multiply_adds(n_tokens, d_head, **numbers) == counted.get_total_flops() / 2


@pytest.mark.parametrize("name", ["rollout", "rollout_mixed", "value_norms", "differential"])
def test_what_is_made_of_the_map_works_as_much_as_its_products_and_its_scores(name):
    variant, head, n_tokens = BY_NAME[name], made(24, 8), 24
    maps = 2 if name == "differential" else 1
    with FlopCounterMode(display=False) as counted:
        variant.mixed(head, {})
        for _one in range(maps):
            _ = head.q @ head.k.T
    assert variant.multiply_adds(n_tokens, 8, **variant.numbers({}, n_tokens)) == counted.get_total_flops() / 2


@pytest.mark.parametrize("name", ["no_positions", "flash", "log_n", "sigmoid", "off_by_one"])
def test_what_stands_on_the_scores_works_as_much_as_softmax(name):
    n_tokens, head = 24, made(24, 8)
    with FlopCounterMode(display=False) as counted:
        _ = head.softmax() @ head.v + (head.q @ head.k.T).sum() * 0
    numbers = BY_NAME[name].numbers({}, n_tokens)
    assert BY_NAME[name].multiply_adds(n_tokens, 8, **numbers) == counted.get_total_flops() / 2


@pytest.mark.parametrize("variant", EVERY)
def test_a_number_out_of_bounds_is_one_sentence(variant):
    head = made(6)
    for one in variant.parameters:
        with pytest.raises(VariantNotPossible, match="must be at least"):
            variant.on(head, {one.name: one.least - 1})
        wrong = one.most_of(6) + 1
        with pytest.raises(
            VariantNotPossible, match=f"The {re.escape(one.label)} is {wrong / one.per:g}; it may be at most"
        ):
            variant.on(head, {one.name: wrong})


def test_rank_0_and_more_landmarks_than_tokens_are_one_sentence():
    with pytest.raises(VariantNotPossible, match="The segments is 0; it must be at least 1."):
        BY_NAME["linformer"].on(made(6), {"rank": 0})
    with pytest.raises(VariantNotPossible, match="The landmarks is 7; it may be at most 6."):
        BY_NAME["nystrom"].on(made(6), {"landmarks": 7})


def test_ten_thousand_features_are_too_many():
    head = made(6, size=0.6)
    with pytest.raises(VariantNotPossible, match="The features is 10000; it may be at most 1024."):
        BY_NAME["performer"].on(head, {"features": 10_000})
    weights, _output = BY_NAME["performer"].on(head, {"features": 1024})
    assert (weights - head.softmax()).abs().max() < 0.05


def test_who_has_no_place_says_why():
    around, causal, window = made(5, causal=False), made(5), windowed(made(9), 3)
    for variant in VARIANTS:
        assert variant.refusal(causal) == ""
        assert variant.refusal(around) == (BOTH_WAYS if variant.mask == "causal" else "")
        assert variant.left_out(around) == ([PAST] if variant.mask == "causal" else [])
        assert variant.left_out(causal) == ([FUTURE] if variant.mask == "none" else [])
        assert variant.left_out(window) == {"any": [], "causal": [PAST], "none": [FUTURE]}[variant.mask]
    alone = replace(causal, beside=None)
    assert [variant.name for variant in VARIANTS if variant.refusal(alone) == ONE_HEAD] == ["differential"]
    assert causal.layer is not None
    still = replace(causal, layer=replace(causal.layer, turn_at=None))
    assert [variant.name for variant in VARIANTS if variant.refusal(still) == NOT_TURNED] == ["dual_chunk"]
    hidden = replace(causal, layer=None)
    assert [variant.name for variant in VARIANTS if variant.refusal(hidden) == NO_LAYER] == [
        "no_positions", "mla", "dual_chunk",
    ]  # fmt: skip
    with pytest.raises(VariantNotPossible, match="has only one"):
        BY_NAME["differential"].on(alone, {})


def test_what_a_model_adds_to_its_scores_is_left_out_of_what_begins_with_queries_and_keys():
    head = made(5, causal=False)
    biased = replace(head, scores=head.scores + torch.arange(5.0).double())
    sink = replace(head, sink=0.5)
    for variant in (one for one in VARIANTS if one.mask == "any"):
        for other in (biased, sink):
            told = variant.left_out(other) == [VECTORS]
            moved = not torch.allclose(variant.weights(biased, **variant.numbers({}, 5)), variant.on(head, {})[0])
            assert told != moved if other is biased else told != variant.on_scores


@pytest.mark.parametrize("variant", EVERY)
def test_a_row_of_the_table_is_filled(variant):
    assert all((variant.label, variant.work, variant.does, variant.gives_up, variant.buys, variant.identity))
    assert re.search(r"arXiv:\d{4}\.\d{5}", variant.source)
    assert all(one.usual(8) >= max(1, one.least) or one.least < 1 for one in variant.parameters)


def test_heads_of_zeros_are_no_division_by_zero():
    zero = made(5, size=0.0)
    for variant in VARIANTS:
        weights, output = variant.on(zero, {})
        assert torch.isfinite(weights).all(), variant.name
        assert torch.equal(output, torch.zeros_like(output)), variant.name


@pytest.mark.parametrize("variant", EVERY)
def test_a_row_stays_when_the_text_goes_on_unless_the_variant_says_otherwise(variant):
    long = made(40)
    layer, first = long.layer, slice(17)
    assert layer is not None
    long = replace(
        head_of(long.q + 3, long.k, long.v, causal=True), beside=long.beside, layer=layer, kv_head=1
    )  # in one bucket
    short = head_of(long.q[:17], long.k[:17], long.v[:17], causal=True)
    beside = None if long.beside is None else long.beside[:17, :17]
    turning = made(17).layer
    assert turning is not None
    fewer = replace(turning, k=layer.k[:, first], v=layer.v[:, first])
    short = replace(short, beside=beside, layer=fewer, kv_head=1)
    values = {one.name: 8 if one.name == "buckets" else one.usual(17) for one in variant.parameters}
    same = torch.allclose(variant.mixed(short, values), variant.mixed(long, values)[:17], rtol=1e-9, atol=1e-12)
    assert same is not variant.whole


def test_values_under_the_map_are_the_output_where_each_half_has_its_own():
    head, row = made(), BY_NAME["polaformer"]
    torch.testing.assert_close(row.by_map(head, {}), row.mixed(head, {}), rtol=1e-10, atol=1e-12)


def test_what_a_kernel_holds_is_its_features_of_queries_and_keys_its_output_and_its_sums():
    head, m = made(), 7
    n, v = head.n_tokens, head.v.shape[1]
    features = {
        "linear": linear.features(head.q), "relu": relu(head.q), "cosformer": cosformer.features(head.q, n),
        "polaformer": polaformer.features(head, 1.0, 0)[0], "performer": head.q @ directions(m, head.q.shape[1], 0).T,
    }  # fmt: skip  # of the queries
    for name, rows in features.items():
        numbers = {"features": m, "seed": 0} if name == "performer" else {}
        width = rows.shape[1]  # of a state, with one more column for the sum that divides
        assert BY_NAME[name].memory.of(n, head.q.shape[1], v, **numbers) == n * (2 * width + v) + width * (v + 1)
