"""The browser's preview while a slider is dragged equals the host's answer when it rests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from attention.safe_softmax import DTYPES, every_way, example
from attention.score_scaling import DIMENSIONS, KEYS, first_products, random_products, random_row
from tests.node import run_module
from viz.components.picture import plain
from viz.components.step_by_step.chain import Live, rows_of

BASE = "./viz/components/step_by_step"
ROUNDING = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-21}  # one unit in the last place, of exponentials two


def followed(live: Live, cases: list[dict[str, Any]]) -> list[dict[str, np.ndarray]]:
    """Every matrix in each of these cases: a row of numbers and where the knobs stand."""
    code = f"""
import {{ followed }} from "{BASE}/live.js"
const [live, cases] = given
const matrices = Object.fromEntries([..."PCAGSENBLOR"].map((name) => [name, {{}}]))
answer(cases.map(({{ row, knobs }}) => {{
  const made = followed({{ live, matrices, steps: [] }}, row, knobs).matrices
  const found = Object.entries(made).filter(([, one]) => one.values)
  return Object.fromEntries(found.map(([name, {{ values }}]) => [name, values.map((line) => line.map(String))]))
}}))
"""
    found = run_module(code, [plain(live), cases])  # numbers as words, which float() reads: JSON has no ∞ and NaN
    return [{name: np.array(values, dtype=object).astype(float) for name, values in made.items()} for made in found]


@pytest.mark.parametrize("scaled", [True, False])
def test_a_row_of_products_and_its_gradient_follow_d_and_the_temperature(scaled):
    products = random_products(64)
    live = Live("scale", "P", rows_of(products[:KEYS].T.numpy()), scaled=scaled)
    places = [(d, temperature) for d in DIMENSIONS for temperature in (0.25, 1.0, 4.0)]
    cases = [{"row": first_products(products, d).tolist(), "knobs": {"wide": d, "temperature": t}} for d, t in places]
    for (d, temperature), made in zip(places, followed(live, cases), strict=True):
        row = random_row(first_products(products, d), (d**-0.5 if scaled else 1.0) / temperature)
        for name, expected in (("P", row.products), ("C", row.scores), ("A", row.weights)):
            np.testing.assert_allclose(made[name][0], expected.numpy(), rtol=1e-12, err_msg=name)
        np.testing.assert_allclose(made["G"], row.gradient.numpy(), atol=1e-14)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_softmax_follows_its_largest_score_in_every_dtype(dtype):
    rows = [example(largest) for largest in (1.0, 7.0, 11.0, 12.0, 60.0, 88.0, 89.0, 120.0)]
    rows.append(torch.tensor([1000.0, -1000.0, 0.1, 1e-9, -0.0, 3.3], dtype=torch.float64))
    cases = [{"row": row.tolist(), "knobs": {"largest": 1}} for row in rows]
    fields = {"S": "scores", "E": "powers", "N": "naive", "B": "below", "A": "subtracted", "L": "logs", "O": "one_pass"}
    for row, made in zip(
        rows, followed(Live("softmax", "S", rows_of(np.ones((1, 6))), dtype=dtype), cases), strict=True
    ):
        ways = every_way(row, dtype)
        for name, field in fields.items():
            expected = getattr(ways, field).numpy()
            np.testing.assert_allclose(made[name][0], expected, rtol=ROUNDING[dtype], atol=1e-12, err_msg=name)
            if dtype != "float32" and name != "O":  # rounded, exponentials agree but for a tie; O is of float64
                assert (made[name][0] == expected)[np.isfinite(expected)].mean() > 0.8, name
        np.testing.assert_allclose(made["R"], [[one.largest for one in ways.reads], [one.total for one in ways.reads]])
