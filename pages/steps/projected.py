"""X · W of the loaded model: each number of Q, K and V as a sum of its largest terms and the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

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
from viz.components.step_by_step.chain import DrawnChain, DrawnMatrix, DrawnStep, Light, rows_of

SIDES = {"q": "query", "k": "key", "v": "value"}


def projections_of(opened: PageContext, chain: StepChain) -> Projections | None:
    """The projections of the tokens in view; None for an encoder-decoder model. Raises RunnerError."""
    places = tuple(sorted({*chain.window.queries, *chain.window.keys}))
    with suppress(OneStackOnly):
        return asked(opened, HeadProjections(opened.capture.request, opened.layer, opened.head, places))
    return None


def spelled_out(
    opened: PageContext, chain: StepChain, matrices: Mapping[str, DrawnMatrix], steps: Sequence[DrawnStep]
) -> DrawnChain:
    """The chain with each projection's input, its matrix and its sums."""
    found = projections_of(opened, chain)
    changed = changed_vectors(opened.capture, opened.layer, opened.head, _)
    places = sorted({*chain.window.queries, *chain.window.keys})
    made, more = list(steps), dict(matrices)
    for at, step in enumerate(steps):
        if step.id not in SIDES:
            continue
        own = getattr(found, step.id, None)
        if own is not None:
            plain = reads_stream(own, opened.capture.residual(opened.layer)[places])
            normed = _(
                "The layer’s norm, then a product with {matrix}: each of these numbers is a sum of {count} products."
            )
            words = (
                _("A product with {matrix}: each of these numbers is a sum of {count} products.") if plain else normed
            )
            noted = replace(step, note=words.format(matrix=f"W_{step.id.upper()}", count=own.read.shape[1]))
            made[at], read = _spelled(noted, own, chain, matrices, places, "X" if plain else "norm(X)")
            more |= read
        elif step.id in changed:
            made[at] = replace(step, note=changed[step.id].replace("{vectors}", step.id.upper()))
        elif found is not None:
            made[at] = replace(step, note=_("More than a product with one matrix: not spelled out here."))
    return DrawnChain(more, made)


def _spelled(
    step: DrawnStep,
    own: Projected,
    chain: StepChain,
    matrices: Mapping[str, DrawnMatrix],
    places: list[int],
    name: str,
) -> tuple[DrawnStep, dict[str, DrawnMatrix]]:
    """The step with its sums, and the two matrices that it multiplies."""
    letter = step.id.upper()
    shown, names = chain.matrices[letter], matrices[letter]
    rows = [places.index(position) for position in shown.rows]
    dims = largest_dims(own, list(shown.columns), DIMENSIONS)
    across, columns = [str(dim) for dim in dims], list(shown.columns)
    read = own.read.double().numpy()[np.ix_(rows, dims)]
    weight = own.matrix.double().numpy()[np.ix_(dims, columns)]
    read_matrix = DrawnMatrix(name, rows_of(read), names.rows, across, (shown.shape[0], own.read.shape[1]))
    side = SIDES[step.id]
    weights = DrawnMatrix(f"W_{letter}", rows_of(weight), across, names.columns, tuple(own.matrix.shape), side=side)
    whole = own.read[rows].double() @ own.matrix[:, columns].double()
    lines = [
        [
            _lines(f"{letter}[{names.rows[i]}, {column}]", spelled(own, row, column), name.lower(), bool(own.norm))
            for column in columns
        ]
        for i, row in enumerate(rows)
    ]
    step = replace(
        step,
        kind="told",
        left=f"N{letter}",
        right=f"W{letter}",
        rest=(whole.numpy() - read @ weight).tolist(),
        more=[own.read.shape[1] - len(dims)] * len(rows),
        of="dimensions",
        lights=[Light(f"N{letter}", row="i"), Light(f"W{letter}", column="j")],
        lines=lines,
    )
    if bool(own.bias.any()):
        words = joined(step.note or "", _("A bias b of each column is added."))
        step = replace(step, note=words, biased=True, bias=[own.bias[columns].tolist()] * len(rows))
    if own.norm:
        words = _("A norm follows, {module}: each sum is multiplied by the number beside it.").format(module=own.norm)
        step = replace(
            step,
            note=joined(step.note or "", words),
            normed=own.norm,
            less=own.less[rows][:, columns].tolist(),
            times=own.factor[rows][:, columns].tolist(),
        )
    return step, {f"N{letter}": read_matrix, f"W{letter}": weights}


def _lines(name: str, sum_of: Spelled, read: str, normed: bool) -> list[str]:
    """The dimensions, their numbers, and the sum, each number rounded to three decimals."""
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
    """Three decimals, with a negative number in brackets."""
    text = f"{round(value, 3) + 0.0:g}".replace("-", "−")
    return f"({text})" if text.startswith("−") else text
