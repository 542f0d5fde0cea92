"""The browser's arithmetic is torch's, and every sum that is spelled out adds up as it is written."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from attention.small_attention import ExampleNumbers, small_attention, usual_numbers
from attention.small_feed_forward import small_feed_forward, usual_feed_forward
from tests.node import run_module
from tests.viz.components.test_packing import unpacked
from viz.components.step_by_step.step_by_step import TEXTS, StepByStepPicture

FIELDS = {"X": "x", "WQ": "w_q", "WK": "w_k", "WV": "w_v", "WO": "w_o"}
BASE = "./viz/components/step_by_step"
CHAIN = f'import {{ smallChain }} from "{BASE}/arithmetic.js"\n'
MADE = {"Q": "q", "K": "k", "V": "v", "S": "scores", "C": "scaled", "M": "masked", "A": "weights", "O": "output"}


def plain(numbers: ExampleNumbers) -> dict[str, Any]:
    return {name: getattr(numbers, field).tolist() for name, field in FIELDS.items()}


def steps(**changes: Any) -> bytes:
    """The component's bytes, of small numbers."""
    given = {
        "usual": plain(usual_numbers(4, 4)), "edits": "", "chain": None, "step": "scores", "ask": False, "texts": TEXTS,
        "settings": {"heads": 1, "head": 0, "causal": True, "scaled": True},
    }  # fmt: skip
    return StepByStepPicture(**{**given, **changes}).packed()


@pytest.mark.parametrize(
    "heads, head, kv_heads, causal, scaled",
    [
        (1, 0, None, True, True),
        (2, 1, 2, True, False),
        (4, 2, None, False, True),
        (4, 3, 2, True, True),
        (4, 2, 1, True, True),
    ],
)  # fmt: skip  # a case a bracket
def test_the_browser_computes_what_torch_does(heads, head, kv_heads, causal, scaled):
    numbers = usual_numbers(6, 8)
    settings = {"heads": heads, "head": head, "causal": causal, "scaled": scaled}
    settings |= {} if kv_heads is None else {"kv_heads": kv_heads}
    chain = run_module(f"{CHAIN}answer(smallChain(given[0], given[1]))", [plain(numbers), settings])
    found = small_attention(numbers, n_heads=heads, n_kv_heads=kv_heads, causal=causal, scaled=scaled)
    for name, field in MADE.items():
        values = [[-math.inf if one is None else one for one in row] for row in chain["matrices"][name]["values"]]
        np.testing.assert_allclose(values, getattr(found, field)[head].numpy(), rtol=0, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(chain["matrices"]["Z"]["values"], found.concat.numpy(), atol=1e-12)
    np.testing.assert_allclose(chain["matrices"]["Y"]["values"], found.added.numpy(), atol=1e-12)
    assert chain["matrices"]["WQ"]["shape"] == [8, 8 // heads]


def explained(chain: dict[str, Any]) -> list[dict[str, Any]]:
    """What is said of every number of every step."""
    code = f"""
import {{ explained }} from "{BASE}/explain.js"
const chain = given[0]
for (const one of Object.values(chain.matrices))
  one.values = one.values.map((row) => row.map((value) => value ?? -Infinity))
answer(chain.steps.flatMap((step) => chain.matrices[step.result].values.flatMap((row, i) => row.map((_, j) =>
  ({{ id: step.id, kind: step.kind, i, j, value: String(row[j]), ...explained(chain, step, i, j, given[1]) }})))))
"""
    return run_module(code, [chain, TEXTS])


def value_of(sum_: str) -> float:
    """The sum as a reader adds it up: ``0.5 − 0.25 + 3``."""
    signed = sum_.replace("− ", "-").replace("−", "-").replace("+ ", "")
    return sum(float(term) for term in re.findall(r"-?[\d.]+", signed))


def check_sums(chain: dict[str, Any]) -> int:
    """Every spelled-out sum adds up to the number that it is of, as far as its digits go; how many there were."""
    told = explained(chain)
    checked = 0
    for one in told:
        assert all("undefined" not in line and "NaN" not in line for line in one["lines"]), one
        if one["kind"] not in ("product", "sum"):
            continue
        _sign, rest = one["lines"][-1].split(" ", 1)
        terms, total = re.split(r" [=≈] ", rest)
        value = float(one["value"])
        if "10" in terms and "·" in terms:  # a power of ten among its terms
            continue
        exact = f" = {total}" in rest
        assert value_of(terms) == pytest.approx(value, abs=6e-4 if exact else 5e-3), one
        assert value_of(total) == pytest.approx(value, abs=6e-4), one
        checked += 1
    assert {tuple(sorted({lit["matrix"] for lit in one["lit"]})) for one in told}
    return checked


@pytest.mark.parametrize("heads, causal, scaled", [(1, True, True), (2, True, True), (1, False, False)])
def test_every_sum_of_small_numbers_is_true(heads, causal, scaled):
    settings = {"heads": heads, "head": heads - 1, "causal": causal, "scaled": scaled}
    numbers = plain(usual_numbers(4, 4))
    chain = run_module(f"{CHAIN}answer(smallChain(given[0], given[1]))", [numbers, settings])
    size = 4 // heads
    assert check_sums(chain) >= 3 * 4 * size + 16 + 4 * size


def test_a_cell_lights_the_row_and_the_column_that_it_is_made_of():
    settings = {"heads": 1, "head": 0, "causal": True, "scaled": True}
    chain = run_module(f"{CHAIN}answer(smallChain(given[0], given[1]))", [plain(usual_numbers(4, 4)), settings])
    told = {(one["id"], one["i"], one["j"]): one["lit"] for one in explained(chain)}
    assert told["scores", 2, 1] == [
        {"matrix": "Q", "row": 2},
        {"matrix": "K", "row": 1},
        {"matrix": "S", "row": 2, "column": 1},
    ]
    assert told["q", 2, 1][:2] == [{"matrix": "X", "row": 2}, {"matrix": "WQ", "column": 1}]
    assert told["softmax", 3, 0][0] == {"matrix": "M", "row": 3}
    assert told["concat", 3, 2][0] == {"matrix": "O0", "row": 3, "column": 2}


def test_the_payload_holds_small_numbers_or_a_chain():
    meta, arrays = unpacked(steps(edits="X01_2"))
    assert (meta["edits"], meta["chain"], len(meta["usual"]["X"]), arrays) == ("X01_2", None, 4, {})
    with pytest.raises(ValueError, match="either"):
        steps(chain={"matrices": {}, "steps": []})
    with pytest.raises(ValueError, match="either"):
        steps(usual=None)


@pytest.mark.parametrize(
    "causal, scaled, mask, scale",
    [
        (True, True, "Mask: nobody looks ahead", "÷ √d: scores of a usable size"),
        (False, False, "Mask: nothing is hidden here", "Not divided by √d"),
    ],
)
def test_a_step_that_masks_or_divides_nothing_says_so(causal, scaled, mask, scale):
    settings = {"heads": 1, "head": 0, "causal": causal, "scaled": scaled}
    named = f"""{CHAIN}import {{ aboutOf, titleOf }} from "{BASE}/named.js"
    const of = (id) => smallChain(given[0], given[1]).steps.find((one) => one.id === id)
    answer([titleOf(of("mask"), given[2]), titleOf(of("scale"), given[2]), aboutOf(of("mask"), given[2]),
            titleOf({{ id: "scale", title: "its own" }}, given[2]),
            aboutOf({{ id: "mask", note: "a note" }}, given[2])])"""
    found = run_module(named, [plain(usual_numbers(4, 4)), settings, TEXTS])
    assert found == [mask, scale, TEXTS["about_mask" if causal else "about_unmasked"], "its own", "a note"]


FEED_FORWARD = {"X": "x", "WG": "w_gate", "W1": "w_1", "B1": "b_1", "W2": "w_2", "B2": "b_2"}
PART = f'import {{ feedForwardChain }} from "{BASE}/feed_forward.js"\n'


@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("activation", ["ReLU", "SiLU", "GELU"])
def test_the_browsers_feed_forward_part_is_torchs_and_every_line_says_its_number(activation: str, gated: bool) -> None:
    numbers = usual_feed_forward()
    numbers = replace(numbers, x=numbers.x * torch.tensor([[1.0], [4.0]]))  # far out on the curve too
    plain_numbers = {name: getattr(numbers, field).tolist() for name, field in FEED_FORWARD.items()}
    code = f"{PART}answer(feedForwardChain(given[0], given[1]))"
    chain = run_module(code, [plain_numbers, {"activation": activation, "gated": gated}])
    found = small_feed_forward(numbers, activation, gated=gated)
    made = {"P": found.product, "H": found.hidden, "A": found.active, "S": found.written, "Y": found.added}
    made |= {} if found.gate is None else {"G": found.gate, "M": found.values}
    for name, values in made.items():
        np.testing.assert_allclose(chain["matrices"][name]["values"], values.numpy(), rtol=0, atol=1e-12, err_msg=name)
    assert [step["result"] for step in chain["steps"]] == list("XGAPHMSY" if gated else "XPHASY")
    for one in explained(chain):
        value = float(one["value"])
        last = re.split(" = | ≈ ", one["lines"][-1])[-1].replace("−", "-")
        digits, _, power = last.translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")).partition("·10")
        assert one["kind"] == "given" or float(digits) * 10.0 ** int(power or 0) == pytest.approx(value, abs=6e-4)
