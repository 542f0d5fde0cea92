"""Attention written out in plain Python floats: the slow reference of the tests beside it."""

from __future__ import annotations

import math

Row = list[float]
Matrix = list[Row]


def scores_of(q: Matrix, k: Matrix, keep: list[list[bool]], *, scale: float, softcap: float | None) -> Matrix:
    """One head: scale, then soft-cap, then mask."""
    scores = []
    for i, query in enumerate(q):
        row = []
        for j, key in enumerate(k):
            score = scale * math.fsum(a * b for a, b in zip(query, key, strict=True))
            if softcap is not None:
                score = softcap * math.tanh(score / softcap)
            row.append(score if keep[i][j] else -math.inf)
        scores.append(row)
    return scores


def log_sum_exp_of(row: Row, sink: float | None) -> float:
    terms = [*row, sink] if sink is not None else row
    top = max(terms)
    if top == -math.inf:
        return -math.inf
    return top + math.log(math.fsum(math.exp(term - top) for term in terms))


def softmax_of(row: Row, sink: float | None) -> Row:
    """Shares of the softmax; a sink takes its own and leaves the row with less than 1. All 0 where nothing is seen."""
    terms = [*row, sink] if sink is not None else row
    top = max(terms)
    if top == -math.inf:
        return [0.0] * len(row)
    total = math.fsum(math.exp(term - top) for term in terms)
    return [math.exp(score - top) / total for score in row]


def mix(weights: Row, values: Matrix) -> Row:
    return [math.fsum(w * value[d] for w, value in zip(weights, values, strict=True)) for d in range(len(values[0]))]
