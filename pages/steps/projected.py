"""X · W of the loaded model: each number of Q, K and V spelled out, by its largest terms and the sum of the rest."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from analysis.changed_vectors import changed_vectors
from analysis.projected import Spelled, largest_dims, reads_stream, spelled
from analysis.sentences import joined
from analysis.step_chain import StepChain
from analysis.step_window import DIMENSIONS
from model_runner.errors import OneStackOnly
from model_runner.projection_questions import HeadProjections, Projected, Projections
from ui.shell.page import PageContext, asked, translated
from ui.wording.i18n import _
from viz.components.step_by_step import step_by_step

SIDES = {"q": "query", "k": "key", "v": "value"}


def projections_of(opened: PageContext, chain: StepChain) -> Projections | None:
    """Of the tokens in view; None for an encoder–decoder. Raises RunnerError."""
    places = tuple(sorted({*chain.window.queries, *chain.window.keys}))
    with suppress(OneStackOnly):
        return asked(opened, HeadProjections(opened.capture.request, opened.layer, opened.head, places))
    return None


def spell_out(opened: PageContext, chain: StepChain, made: dict[str, Any]) -> None:
    """Add to the chain, as the component has it, what each of its projections reads, its matrix, and its sums."""
    found = projections_of(opened, chain)
    changed = changed_vectors(opened.capture, opened.layer, opened.head, _)
    places = sorted({*chain.window.queries, *chain.window.keys})
    for step in (one for one in made["steps"] if one["id"] in SIDES):
        own = getattr(found, step["id"], None)
        if own is not None:
            plain = reads_stream(own, opened.capture.residual(opened.layer)[places])
            normed = _(
                "The layer’s norm, then a product with {matrix}: each of these numbers is a sum of {count} products."
            )
            words = (
                _("A product with {matrix}: each of these numbers is a sum of {count} products.") if plain else normed
            )
            step["note"] = words.format(matrix=f"W_{step['id'].upper()}", count=own.read.shape[1])
            _spell(step, own, chain, made, places, "X" if plain else "norm(X)")
        elif step["id"] in changed:
            step["note"] = changed[step["id"]].replace("{vectors}", step["id"].upper())
        elif found is not None:
            step["note"] = _("More than a product with one matrix: not spelled out here.")


def _spell(
    step: dict[str, Any], own: Projected, chain: StepChain, made: dict[str, Any], places: list[int], name: str
) -> None:
    letter = step["id"].upper()
    shown = chain.matrices[letter]
    rows = [places.index(position) for position in shown.rows]
    dims = largest_dims(own, list(shown.columns), DIMENSIONS)
    across = [str(dim) for dim in dims]
    matrix, names = made["matrices"], made["matrices"][letter]
    read = own.read.double().numpy()[np.ix_(rows, dims)]
    weight = own.matrix.double().numpy()[np.ix_(dims, list(shown.columns))]
    matrix[f"N{letter}"] = _matrix(name, read, names["rows"], across, [shown.shape[0], own.read.shape[1]], "")
    matrix[f"W{letter}"] = _matrix(
        f"W_{letter}", weight, across, names["columns"], list(own.matrix.shape), SIDES[step["id"]]
    )
    columns = list(shown.columns)
    whole = own.read[rows].double() @ own.matrix[:, columns].double()
    step |= {
        "rest": (whole.numpy() - read @ weight).tolist(), "more": [own.read.shape[1] - len(dims)] * len(rows),
        "of": "dimensions", "kind": "told", "left": f"N{letter}", "right": f"W{letter}",
        "lights": [{"matrix": f"N{letter}", "row": "i"}, {"matrix": f"W{letter}", "column": "j"}],
        "lines": [
            [
                _lines(
                    f"{letter}[{names['rows'][i]}, {column}]", spelled(own, row, column), name.lower(), bool(own.norm)
                )
                for column in columns
            ]
            for i, row in enumerate(rows)
        ],
    }  # fmt: skip  # a pair a name
    if bool(own.bias.any()):
        words = _("A bias b of each column is added.")
        biases = [own.bias[columns].tolist()] * len(rows)
        step |= {"note": joined(step["note"], words), "biased": True, "bias": biases}
    if own.norm:
        words = _("A norm follows, {module}: each sum is multiplied by the number beside it.")
        step |= {"note": joined(step["note"], words.format(module=own.norm)), "normed": own.norm}
        step |= {"less": own.less[rows][:, columns].tolist(), "times": own.factor[rows][:, columns].tolist()}


def _matrix(
    name: str, values: np.ndarray, rows: list[str], columns: list[str], shape: list[int], side: str
) -> dict[str, Any]:
    return {
        "name": name, "values": values.tolist(), "shape": shape, "side": side, "rows": rows, "columns": columns,
        "unit": "", "vector": "",
    }  # fmt: skip  # a pair a name


def _lines(name: str, sum_of: Spelled, read: str, normed: bool) -> list[str]:
    """Which dimensions, then their numbers, then the sum; each number rounded to three decimals."""
    words = translated(step_by_step.TEXTS)["more_dimensions"]
    more = [words.format(count=sum_of.more)] if sum_of.more else []
    bias = [_("bias")] if sum_of.bias else []
    factors = [f"{read}{_below(term.dim)}·w{_below(term.dim)}" for term in sum_of.terms]
    numbers = [f"{_number(term.read)}·{_number(term.weight)}" for term in sum_of.terms]
    rest = [sum_of.rest] if more else []
    last = [sum_of.bias] if bias else []
    products = [*(term.read * term.weight for term in sum_of.terms), *rest, *last]
    sums = [
        " + ".join([*factors, *more, *bias]),
        " + ".join([*numbers, *map(_number, rest), *map(_number, last)]),
        " + ".join(map(_number, products)),
    ]
    if normed:
        mean = f" − {_number(sum_of.less)}" if sum_of.less else ""
        sums = [f"({one}{mean}) · {_number(sum_of.factor)}" for one in sums]
    return [f"{name} = {sums[0]}", f"≈ {sums[1]}", f"≈ {sums[2]} ≈ {_number(sum_of.total).strip('()')}"]


def _below(dim: int) -> str:
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(dim))


def _number(value: float) -> str:
    """Three decimals, a negative number in brackets."""
    text = f"{round(value, 3) + 0.0:g}".replace("-", "−")
    return f"({text})" if text.startswith("−") else text
