"""A variant in place of a captured head: the head is the model's own, and the variant's numbers equal loops."""

from __future__ import annotations

import functools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from analysis.zoo import LARGEST, captured_head, compared, own, substituted
from attention.zoo.table import BY_NAME, VARIANTS
from model_runner import CaptureRequest, load_runner
from model_runner.edits import Masked
from model_runner.relative_bias import RelativeBias
from tests.attention.zoo.made import made

TEXT = "The dog chased the squirrel because it was fast"


@functools.cache
def capture(model: str = "default", text: str = TEXT, *edits: Masked):
    return load_runner(model).capture(CaptureRequest(text=text, edits=edits))


@pytest.mark.parametrize("model", ["default", "encoder"])
@pytest.mark.parametrize("layer, head", [(0, 0), (2, 3)])
def test_the_heads_own_softmax_and_output_are_the_models(model, layer, head):
    found = own(captured_head(capture(model), layer, head))
    weights = capture(model).weights(layer, head).double().numpy()
    np.testing.assert_allclose(np.nan_to_num(found.weights), weights, atol=1e-6)
    output = capture(model).record(layer).output[:, head].double().numpy()
    np.testing.assert_allclose(found.output, output, atol=1e-5)
    assert (found.error, found.elsewhere, found.looks) == (0, 0, ())
    assert found.direction == pytest.approx(1)


ADDED = {
    "softcap": {"softcap": 2.0},
    "sinks": {"sinks": torch.linspace(-1, 2, 8)},
    "bias": {"bias": RelativeBias(torch.linspace(0, 3, 8 * 21).reshape(8, 21), -10)},
}


@pytest.mark.parametrize("added", ADDED)
def test_soft_caps_sinks_and_biases_are_those_of_the_head(added):
    record = replace(capture().record(3), **ADDED[added])
    changed = replace(capture(), records=(None, None, None, record), _lse={})
    head = captured_head(changed, 3, 5)
    assert not head.plain
    np.testing.assert_allclose(head.softmax(), changed.weights(3, 5).double(), atol=1e-6)


def test_the_second_head_is_the_next_one_and_the_last_has_the_first():
    for head, second in ((3, 4), (7, 0)):
        beside = captured_head(capture(), 3, head).beside
        assert beside is not None
        torch.testing.assert_close(beside.softmax(-1).float(), capture().weights(3, second), atol=1e-6, rtol=1e-5)


def test_the_mask_of_the_head_is_obeyed_also_where_the_request_changed_it():
    edited = capture("default", TEXT, Masked("window", (("window", 3),)))
    head = captured_head(edited, 3, 5)
    assert not head.sees_past
    for name in ("linear", "relu", "sigmoid", "flash", "performer"):
        weights, _output = BY_NAME[name].on(head, {})
        assert (weights.tril(-3) == 0).all()


def test_of_a_long_text_the_first_tokens_are_drawn_as_the_model_has_them():
    long = capture("default", "the dog and the cat " * 80)
    assert len(long.tokens) > LARGEST
    found = own(captured_head(long, 1, 2))
    assert found.weights.shape == (LARGEST, LARGEST)
    weights = long.weights(1, 2, queries=slice(0, LARGEST), keys=slice(0, LARGEST)).double().numpy()
    np.testing.assert_allclose(np.nan_to_num(found.weights), weights, atol=1e-6)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_the_numbers_are_those_of_loops_on_the_models_own_head(variant):
    head = captured_head(capture(), 3, 5)
    found = substituted(head, variant, {})
    weights, output = (tensor.tolist() for tensor in variant.on(head, {}))
    usual = head.softmax().tolist()
    expected = (head.softmax() @ head.v).tolist()
    n, width = len(weights), len(output[0])
    off = math.fsum((output[i][c] - expected[i][c]) ** 2 for i in range(n) for c in range(width))
    size = math.fsum(expected[i][c] ** 2 for i in range(n) for c in range(width))
    assert found.error == pytest.approx(math.sqrt(off / size), abs=1e-12)
    bits, elsewhere, cosines, more = [], [], [], []
    difference: list[list[float]] = []
    for i in range(n):
        total = math.fsum(abs(one) for one in weights[i])
        shares = [abs(one) / total if total else 0.0 for one in weights[i]]
        if total:
            bits.append(-math.fsum(one * math.log2(one) for one in shares if one))
        elsewhere.append(math.fsum(max(0.0, a - b) for a, b in zip(shares, usual[i], strict=True)))
        looked = shares if variant.signed else weights[i]
        more += [(a - b, i, j) for j, (a, b) in enumerate(zip(looked, usual[i], strict=True))]
        difference.append([a - b for a, b in zip(looked, usual[i], strict=True)])
        dot = math.fsum(a * b for a, b in zip(output[i], expected[i], strict=True))
        lengths = math.hypot(*output[i]) * math.hypot(*expected[i])
        cosines.append(dot / lengths if lengths else 0.0)
    np.testing.assert_allclose(np.nan_to_num(found.difference), difference, atol=1e-12)
    assert found.entropy == pytest.approx(sum(bits) / len(bits), abs=1e-9)
    assert found.elsewhere == pytest.approx(sum(elsewhere) / n, abs=1e-9)
    assert found.direction == pytest.approx(sum(cosines) / n, abs=1e-9)
    assert found.rank == np.linalg.matrix_rank(np.array(weights), rtol=0.01)
    most = sorted(more, reverse=True)[:3]
    assert [cell.more for cell in found.looks] == pytest.approx([one[0] for one in most if one[0] > 1e-6])
    for cell in found.looks:
        assert (cell.more, cell.query, cell.key) == pytest.approx(
            next(one for one in more if one[1:] == (cell.query, cell.key))
        )


def test_cells_that_the_model_hides_are_drawn_only_where_a_rival_looks_there():
    head = captured_head(capture(), 3, 5)
    hidden = ~head.keep.numpy()
    assert np.isnan(substituted(head, BY_NAME["linear"], {}).weights[hidden]).all()
    assert np.isfinite(substituted(head, BY_NAME["linformer"], {"rank": 1}).weights).all()


def test_exact_softmax_by_tiles_is_no_error_and_a_sink_is_a_known_one():
    head = captured_head(capture(), 3, 5)
    flash = substituted(head, BY_NAME["flash"], {})
    assert flash.error < 1e-14
    assert flash.elsewhere < 1e-14
    nothing = head.v.clone()
    nothing[0] = 0  # and so the first token's output, which then has no direction to be compared with
    assert substituted(replace(head, v=nothing), BY_NAME["flash"], {}).direction == pytest.approx(1)
    gone = substituted(head, BY_NAME["off_by_one"], {"sink": 100})  # e^10 beside the keys: little is left
    assert gone.error > 0.5
    assert gone.elsewhere == pytest.approx(0, abs=1e-12)  # what is left lies where it lay
    assert gone.direction == pytest.approx(1)


def test_a_map_of_one_token():
    found = compared(made(1), torch.ones(1, 1).double(), made(1).v)
    assert (found.rank, found.entropy, found.looks) == (1, 0, ())
