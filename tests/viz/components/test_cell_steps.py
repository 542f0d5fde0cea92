"""The payload of the steps of a cell."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.viz.components.test_packing import unpacked
from viz.components.cell_steps.cell_steps import TEXTS, CellStepsPicture, Keys, LogitPush

WORDS = ["⟨bos⟩", "The", "·dog", "·chased", "<img src=x onerror=alert(1)>", "·it"]
QUERY, D, D_VALUE = 4, 8, 6


def cell(*, keys=None, key=2, softcap=None, sink=0.0, total=6, **changes):
    """A consistent cell of a causal row, computed here in float64; query 4 of six tokens sees keys 0 to 4."""
    rng, n, scale = np.random.default_rng(3), len(WORDS), D**-0.5
    q, k, v = rng.normal(size=D), rng.normal(size=(n, D)), rng.normal(size=(n, D_VALUE))
    dots = k @ q
    scaled = dots * scale
    scores = scaled if softcap is None else softcap * np.tanh(scaled / softcap)
    scores = np.where(np.arange(n) <= QUERY, scores, -np.inf)
    lse = math.log(np.exp(scores).sum() + sink)
    weights = np.exp(scores - lse)
    arguments: dict[str, Any] = {
        "head": "L3H7",
        "shared": ["L3H6", "L3H7"],
        "query": (WORDS[QUERY], QUERY),
        "key": key,
        "keys": Keys(
            **(
                {
                    "positions": list(range(n)),
                    "labels": WORDS,
                    "k": k,
                    "v": v,
                    "dots": dots,
                    "scores": scores,
                    "weights": weights,
                }
                | (keys or {})
            )
        ),
        "total": total,
        "n_visible": QUERY + 1,
        "window": None,
        "rotated": True,
        "scale": scale,
        "root": D,
        "softcap": softcap,
        "lse": lse,
        "sink": sink / math.exp(lse) if sink else None,
        "q": q,
        "rest": 0.0,
        "mixed": weights @ v,
        "difference": 2e-7,
        "next": [("·was", 0.6), ("·is", 0.3)],
        "push": LogitPush(
            promoted=[("·was", 1.25), ("·ran", 0.5)],
            suppressed=[("·the", -0.75)],
            mean=0.125,
            predicted=("·was", 1.25, 12.5),
        ),
        "texts": TEXTS,
        **changes,
    }
    return arguments


def test_the_payload_carries_the_numbers_as_they_are():
    given = cell()
    meta, arrays = unpacked(CellStepsPicture(**given).packed())
    for name in ("k", "v", "dots", "weights"):
        np.testing.assert_array_equal(arrays[name], getattr(given["keys"], name).astype(np.float32))
    for name in ("q", "mixed"):
        np.testing.assert_array_equal(arrays[name], given[name].astype(np.float32))
    np.testing.assert_array_equal(np.isnan(arrays["scores"]), np.isneginf(given["keys"].scores))
    assert (meta["key"], meta["query"], meta["lse"]) == (2, [WORDS[QUERY], QUERY], given["lse"])
    assert meta["shared"] == ["L3H6", "L3H7"]
    assert unpacked(CellStepsPicture(**cell(shared=["L3H7"])).packed())[0]["shared"] == []


def test_what_edits_let_pass_on_is_carried_only_where_there_is_something():
    given = cell()
    assert "passed_on" not in unpacked(CellStepsPicture(**given).packed())[1]
    _, arrays = unpacked(CellStepsPicture(**cell(passed_on=2 * given["mixed"])).packed())
    np.testing.assert_array_equal(arrays["passed_on"], (2 * given["mixed"]).astype(np.float32))


def test_a_row_that_sees_nothing_can_be_packed():
    empty = cell(keys={"scores": np.full(6, -np.inf), "weights": np.zeros(6)}, lse=-math.inf, n_visible=0)
    assert unpacked(CellStepsPicture(**empty).packed())[0]["lse"] is None


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"keys": {"labels": WORDS[:5]}}, "6 positions but 5 labels"),
        ({"keys": {"dots": np.zeros(5)}}, "6 positions but 5 dots"),
        ({"q": np.zeros(D + 1)}, "do not fit"),
        ({"mixed": np.zeros(D_VALUE + 1)}, "do not fit"),
        ({"passed_on": np.zeros(D_VALUE + 1)}, "do not fit"),
        ({"key": 9}, "the chosen key 9 is not among"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        CellStepsPicture(**cell(**changes)).packed()
