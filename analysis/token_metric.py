"""A head's metric token by token, which tints the token strip."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float

from analysis.joined import first_query
from analysis.units import Unit
from attention.metrics import Metric, Rows
from model_runner.capture import ROWS, Capture


def token_metric(capture: Capture, layer: int, head: int, metric: Metric) -> Float[np.ndarray, "tokens"]:
    """One value per query, NaN if the metric is undefined; O(ROWS × tokens) memory.

    If the metric has candidates, the head's largest one is used, and the weights are computed twice.
    """
    first = first_query(capture)
    device, n_tokens = capture.q(layer).device, len(capture.tokens)
    token_ids = torch.tensor([token.id for token in capture.tokens], device=device)

    def read() -> Iterator[Rows]:
        for start in range(first, n_tokens, ROWS):
            rows = slice(start, min(start + ROWS, n_tokens))
            weights = capture.weights(layer, head, queries=rows, shares=True)[None]
            yield Rows(weights, torch.arange(rows.start, rows.stop, device=device), token_ids)

    chosen = None
    if metric.candidates is not None:
        chosen = torch.stack([metric.candidates(rows) for rows in read()]).sum(0).argmax(-1)
    values = [metric.of(replace(rows, chosen=chosen))[0] for rows in read()]
    return torch.cat([torch.full((first,), torch.nan, device=device), *values]).cpu().numpy()


def largest(values: Float[np.ndarray, "tokens"]) -> float:
    """The largest of some tokens' values, such as a chip's; NaN if all are undefined."""
    if len(values) == 1:  # the usual case; a long text has thousands of chips
        return float(values[0])
    return float(np.nanmax(values)) if np.isfinite(values).any() else float("nan")


def of_units(
    capture: Capture, layer: int, head: int, metric: Metric, units: Sequence[Unit]
) -> tuple[list[float], float]:
    """The largest value of each unit, NaN if undefined, and the value with the full tint."""
    values = token_metric(capture, layer, head, metric)
    found = [largest(values[unit.tokens]) for unit in units]
    return found, 1.0 if metric.unit == "share" else max(largest(values), 1e-9)
