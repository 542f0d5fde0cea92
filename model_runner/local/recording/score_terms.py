"""Scores that are sums of products: q·k, and terms of the query and of the key with the distance between them.

DeBERTa multiplies its queries and its keys by a table of vectors, and gathers from each row by distance; XLNet adds
vectors to its queries, different ones for keys and for distances. Such a sum is accepted if it reproduces every cell of
the scores up to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from model_runner.errors import N_
from model_runner.local.recording.cannot_record import CannotRecord
from model_runner.local.recording.matmul_tracer import TracedAttention, TracedTerm
from model_runner.local.recording.op_trace import Origin
from model_runner.relative_bias import RelativeBias
from model_runner.relative_key_bias import DistanceTerm, RelativeKeyBias

MORE_IN_TERMS = N_("its scores hold more than q·k and what a query and a key each add for the distance alone")
CLOSE = 8.0  # units of the dtype of the factors: no rounding of one score is larger
Side = Literal["query", "key"]
PARTS = (1, 2, 3, 4)  # a sum of so many products may be divided by √(parts · d)


@dataclass(frozen=True)
class ScoreTerms:
    """Which vectors each further product uses, where its table begins, and the factors of q·k and of each product.

    ``shifts`` are for tables in the order of the distances: the index of distance 0, minus the number of tokens.
    """

    of: tuple[Side, ...]
    shifts: tuple[int, ...]
    factors: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class ExplainedScores:
    """The vectors as projections made them, and the terms of the scores made from them."""

    q: Tensor
    k: Tensor
    scale: float
    bias: RelativeBias | RelativeKeyBias | None


def find_score_terms(traced: TracedAttention, visible: Bool[Tensor, "heads queries keys"]) -> ScoreTerms:
    """The terms found in the first text. Raises CannotRecord if the scores are not such a sum."""
    for trial in _trials(traced):
        whole = slice(0, traced.q.shape[1])
        columns = [traced.products]
        for number, term in enumerate(traced.terms):
            made = _term(term, trial, number)
            columns.append(made.tile(term.left, term.left, slice(0, len(term.left)), whole, whole))
        cells = torch.stack([one.double()[visible] for one in columns], dim=1).cpu()
        found = torch.linalg.lstsq(cells, traced.scores.double()[visible].cpu()[:, None]).solution[:, 0]
        known = ScoreTerms(trial.of, trial.shifts, tuple(_known(float(factor), traced) for factor in found))
        if _fits(traced, visible, known):
            return known
    raise CannotRecord(MORE_IN_TERMS)


def explain_scores(
    traced: TracedAttention, visible: Bool[Tensor, "heads queries keys"], form: ScoreTerms
) -> ExplainedScores:
    """The record's part for one text. Raises CannotRecord if a cell contradicts it; O(tokens²) memory, for one head."""
    if len(form.of) != len(traced.terms) or not _fits(traced, visible, form):
        raise CannotRecord(MORE_IN_TERMS)
    of_q, of_k = traced.origins
    added = [term.origin.added for term, of in zip(traced.terms, form.of, strict=True) if of == "query"]
    kept = of_q.added is None or any(one is None or not torch.equal(one, of_q.added) for one in added)
    scale = form.factors[0] / of_q.by / of_k.by
    terms: list[DistanceTerm] = []
    for number, (heard_term, of) in enumerate(zip(traced.terms, form.of, strict=True)):
        one, origin = _term(heard_term, form, number), heard_term.origin
        own = origin.added if kept or of == "key" else None
        terms.append(DistanceTerm(of, one.table, one.rows, one.first, one.scale / origin.by, own))
    if kept and of_q.added is not None:  # a vector added to the queries for the keys only gives one number per key
        rows = torch.zeros_like(terms[0].rows)
        terms.append(DistanceTerm("key", of_q.added[:, None], rows, terms[0].first, scale))
    return ExplainedScores(of_q.base if kept else of_q.whole, of_k.whole, scale, RelativeKeyBias(tuple(terms)))


def _fits(traced: TracedAttention, visible: Tensor, form: ScoreTerms) -> bool:
    """Whether every visible cell is the sum, one head at a time."""
    n_tokens = traced.q.shape[1]
    if traced.k.shape != traced.q.shape:
        return False
    whole, unit = slice(0, n_tokens), max(torch.finfo(one.dtype).eps for one in (traced.scores, traced.q))
    terms = [_term(term, form, number) for number, term in enumerate(traced.terms)]
    largest = [term.largest(one.left, one.left) for term, one in zip(terms, traced.terms, strict=True)]
    for head in range(len(traced.q)):
        one = slice(head, head + 1)
        q, k = traced.q[head].double(), traced.k[head].double()
        rest = traced.scores[head].double() - form.factors[0] * (q @ k.T)
        size = abs(form.factors[0]) * q.norm(dim=-1)[:, None] * k.norm(dim=-1)
        for term, by, of in zip(terms, largest, traced.terms, strict=True):
            rest = rest - term.tile(of.left[one], of.left[one], one, whole, whole)[0].double()
            size = size + abs(by[head].double())
        if bool((rest.abs() > CLOSE * unit * (size + traced.scores[head].double().abs()))[visible[head]].any()):
            return False
    return True


def _trials(traced: TracedAttention) -> Iterator[ScoreTerms]:
    """Candidates for the terms; for a table in the order of the distances, its start is searched."""
    if traced.k.shape != traced.q.shape:
        return
    sides: list[Side | None] = [_side(traced, term.origin, term.index is None) for term in traced.terms]
    of: tuple[Side, ...] = tuple(side for side in sides if side is not None)
    if len(of) == len(traced.terms):
        spare = [term.table.shape[1] - traced.q.shape[1] + 1 for term in traced.terms if term.index is None]
        for shift in range(min(spare, default=1)):
            yield ScoreTerms(of, (shift,) * len(of), (1.0,) * (1 + len(of)))


def _side(traced: TracedAttention, origin: Origin, shifted: bool) -> Side | None:
    """Whose vectors a product uses."""
    of_q, of_k = traced.origins
    if _same(origin.base, of_q.base):
        return "query"
    return "key" if not shifted and _same(origin.base, of_k.base) else None


def _same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.equal(one, other)


def _term(traced: TracedTerm, form: ScoreTerms, number: int) -> DistanceTerm:
    """The vectors by distance. Raises CannotRecord if they are not chosen by distance alone."""
    n_tokens, of, factor = traced.left.shape[1], form.of[number], form.factors[1 + number]
    places = torch.arange(2 * n_tokens - 1, device=traced.table.device)
    if traced.index is None:
        rows = (places + form.shifts[number]).clamp(max=traced.table.shape[1] - 1)  # later keys may have none: masked
    else:
        index = traced.index.reshape(-1, *traced.index.shape[-2:])
        if index.shape[1:] != (n_tokens, n_tokens) or not bool((index == index[:1]).all()):
            raise CannotRecord(MORE_IN_TERMS)
        cells = index[0] if of == "query" else index[0].T
        rows = torch.cat([cells[:, 0].flip(0), cells[0, 1:]])
        if not torch.equal(_by_distance(rows, n_tokens), cells):
            raise CannotRecord(MORE_IN_TERMS)
    least, most = int(rows.min()), int(rows.max())
    table = traced.table[:, least : most + 1].clone()
    return DistanceTerm(of, table, rows - least, 1 - n_tokens, factor)


def _by_distance(rows: Int[Tensor, "distances"], n_tokens: int) -> Int[Tensor, "tokens tokens"]:
    places = torch.arange(n_tokens, device=rows.device)
    return rows[places - places[:, None] + n_tokens - 1]


def _known(factor: float, traced: TracedAttention) -> float:
    """1, the divisor of q or k, or 1/√(parts · d), if within rounding of it: a coarse dtype determines it no better."""
    d_head, unit = traced.q.shape[-1], max(torch.finfo(one.dtype).eps for one in (traced.scores, traced.q))
    divisors = [1 / origin.by for origin in traced.origins]
    for number in (1.0, *divisors, *((parts * d_head) ** -0.5 for parts in PARTS)):
        if abs(factor - number) <= 2 * unit * number:
            return number
    return factor
