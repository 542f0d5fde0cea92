"""One head as a map: a window of its queries × keys, at most ``PIXELS`` per side, exact if it fits.

For a longer text only the requested window is computed, and each pixel stands for several cells; the view-model says
how many, and whether it shows their maximum or their mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from analysis.chosen_keys import leaves_out, left_out_cells
from analysis.first_hidden import weights_without_first
from analysis.joined import first_query
from analysis.pooling import How, fixed_bins, pool
from analysis.units import Unit, token_units, word_units
from model_runner.capture import ROWS, Capture

PIXELS = 256

N_ = str  # marks a text for Babel without translating it here

What = Literal["weights", "scores", "value", "difference"]
Pooled = Literal["max", "mean"]
Cells = Callable[[tuple[Unit, ...], tuple[Unit, ...]], tuple[Tensor, Tensor]]
# of query units and key units: one number per pair, and whether any of its cells is visible


@dataclass(frozen=True)
class Reading:
    """Which quantity of a head is shown.

    ``value`` is the weight times the norm of its value vector, ``difference`` what a pair of heads multiplies values by
    in a model that subtracts one from the other. ``hide_first`` leaves the first token out and renormalizes each row
    over the rest; ``words`` sums weights over the tokens of a key word and averages them over the tokens of the query
    word. Scores are shown unchanged.
    """

    what: What = "weights"
    hide_first: bool = False
    words: bool = False

    @property
    def hides_first(self) -> bool:
        """True if it applies here: scores and differences have no rows to renormalize."""
        return self.hide_first and self.what not in ("scores", "difference")

    def notes(self) -> list[str]:
        """How the numbers were processed, a sentence each; empty for plain weights."""
        if self.what == "scores":
            return [N_("Scores before the softmax, scaled and masked.")]
        told = [N_("Weight × length of the value vector it carries.")] if self.what == "value" else []
        if self.what == "difference":
            told = [N_("Map 1 of the pair minus λ × map 2: a row sums to 1 − λ, not to 1, and cells can be negative.")]
        told += [N_("First token hidden, each row renormalised over the others.")] if self.hides_first else []
        merged = N_("Words: summed over the tokens looked at, averaged over the tokens looking.")
        return [*told, merged] if self.words else told


@dataclass(frozen=True)
class Window:
    """Units ``q0`` to ``q1`` attending to units ``k0`` to ``k1`` (both stops exclusive)."""

    q0: int
    q1: int
    k0: int
    k1: int


@dataclass(frozen=True, eq=False)
class HeadMap:
    """``values`` is NaN where masked.

    ``pool`` is (rows, columns) of units per pixel, and ``how`` says how they were pooled. ``whole`` is the largest
    window: all units, but for two combined texts those of the second attending to the first.
    """

    values: Float[np.ndarray, "rows columns"]
    window: Window
    whole: Window
    units: tuple[Unit, ...]
    pool: tuple[int, int]
    how: Literal["exact", "max", "mean"]
    left_out: Bool[np.ndarray, "rows columns"] | None = None  # masked because an indexer did not select the keys

    @property
    def total(self) -> tuple[int, int]:
        """Total number of query units and key units."""
        return self.whole.q1 - self.whole.q0, self.whole.k1 - self.whole.k0

    @property
    def inside(self) -> tuple[int, int, int, int]:
        """The window relative to the first query unit and the first key unit."""
        window, (q, k) = self.window, (self.whole.q0, self.whole.k0)
        return window.q0 - q, window.q1 - q, window.k0 - k, window.k1 - k

    @property
    def largest(self) -> float:
        """The largest magnitude in the window; 0 if all is masked."""
        return float(np.nanmax(np.abs(self.values))) if np.isfinite(self.values).any() else 0.0

    @property
    def row_labels(self) -> list[str]:
        """One label per unit of the window; empty for a pooled map, whose pixels stand for several."""
        return [unit.label for unit in self.units[self.window.q0 : self.window.q1]] if self.how == "exact" else []

    @property
    def column_labels(self) -> list[str]:
        """See ``row_labels``."""
        return [unit.label for unit in self.units[self.window.k0 : self.window.k1]] if self.how == "exact" else []

    def units_at(self, query: int | None, key: int | None) -> tuple[int, int | None] | None:
        """The units that contain these tokens, counted as in ``inside``; None without a query, or if it is not one."""
        if query is None or self._unit_at(query) < self.whole.q0:
            return None
        at = None if key is None else self._unit_at(key) - self.whole.k0
        return self._unit_at(query) - self.whole.q0, at if at is not None and at < self.total[1] else None

    def _unit_at(self, token: int) -> int:
        return next(i for i, unit in enumerate(self.units) if token < unit.stop)

    def tokens_at(self, row: int, column: int) -> tuple[range, range]:
        """Query and key tokens of the pixel that contains these two units of the window."""
        window = self.window
        return (
            self._tokens(row, window.q0, window.q1, self.pool[0]),
            self._tokens(column, window.k0, window.k1, self.pool[1]),
        )

    def _tokens(self, unit: int, first: int, last: int, pool: int) -> range:
        start = first + (unit - first) // pool * pool
        return range(self.units[start].start, self.units[min(start + pool, last) - 1].stop)


def units_of(capture: Capture, reading: Reading) -> tuple[Unit, ...]:
    """The rows and columns of the whole map."""
    return word_units(capture) if reading.words and reading.what != "scores" else token_units(capture)


def whole_window(capture: Capture, units: tuple[Unit, ...]) -> Window:
    """All units; for two combined texts those of the second attending to those of the first."""
    n_units, first = len(units), first_query(capture)
    if not first:
        return Window(0, n_units, 0, n_units)
    apart = next(i for i, unit in enumerate(units) if unit.start >= first)
    return Window(apart, n_units, 0, apart)


def clip_window(window: Window | None, whole: Window) -> Window:
    """A window inside the text; ``whole`` for None or a window that is empty or outside."""
    if window is None:
        return whole
    q0, q1 = max(whole.q0, window.q0), min(whole.q1, window.q1)
    k0, k1 = max(whole.k0, window.k0), min(whole.k1, window.k1)
    return Window(q0, q1, k0, k1) if q0 < q1 and k0 < k1 else whole


def head_map(
    capture: Capture,
    layer: int,
    head: int,
    *,
    reading: Reading = Reading(),
    window: Window | None = None,
    pixels: int = PIXELS,
    how: Pooled | None = None,
) -> HeadMap:
    """At most ``pixels`` per side; ``how`` they are pooled is by default the mean for signed numbers, else the maximum.

    Raises NoWeights, NoSuchPlace, NoDifference. O(window) time, O(ROWS × keys of the window) memory; all keys if the
    first is hidden.
    """
    how = how or ("mean" if reading.what in ("scores", "difference") else "max")

    def cells(looking: tuple[Unit, ...], looked_at: tuple[Unit, ...]) -> tuple[Tensor, Tensor]:
        return _unit_cells(capture, layer, head, reading, looking, looked_at)

    units = units_of(capture, reading)
    found = cells_map(capture, units, window, cells, how=how, pixels=pixels)
    if not leaves_out(capture, layer):
        return found

    def left_out(looking: tuple[Unit, ...], looked_at: tuple[Unit, ...]) -> tuple[Tensor, Tensor]:
        return _left_out(capture, layer, head, looking, looked_at)

    others = cells_map(capture, units, found.window, left_out, how="max", pixels=pixels)
    return replace(found, left_out=np.isnan(found.values) & (others.values > 0))


def _left_out(
    capture: Capture, layer: int, head: int, looking: tuple[Unit, ...], looked_at: tuple[Unit, ...]
) -> tuple[Float[Tensor, "rows columns"], Bool[Tensor, "rows columns"]]:
    """1 for each pair of units with a cell that only an indexer's selection masks, 0 for the others."""
    queries, keys = slice(looking[0].start, looking[-1].stop), slice(looked_at[0].start, looked_at[-1].stop)
    cells = left_out_cells(capture, layer, head, queries, keys).to(torch.uint8)
    for axis, span, units in ((1, keys, looked_at), (0, queries, looking)):
        cells = pool(cells, axis, [slice(unit.start - span.start, unit.stop - span.start) for unit in units], "max")
    return cells.float(), torch.ones_like(cells, dtype=torch.bool)


def cells_map(
    capture: Capture, units: tuple[Unit, ...], window: Window | None, cells: Cells, *, how: Pooled, pixels: int = PIXELS
) -> HeadMap:
    """A map of any number per pair of units, in blocks of at most ``ROWS`` rows; ``how`` pixels are pooled."""
    whole = whole_window(capture, units)
    window = clip_window(window, whole)
    pixel_rows = fixed_bins(window.q1 - window.q0, pixels)
    pixel_columns = fixed_bins(window.k1 - window.k0, pixels)
    per_block = max(1, ROWS // pixel_rows[0].stop)
    blocks = []
    for first in range(0, len(pixel_rows), per_block):
        rows = pixel_rows[first : first + per_block]
        looking = units[window.q0 + rows[0].start : window.q0 + rows[-1].stop]
        values, visible = cells(looking, units[window.k0 : window.k1])
        inside = [slice(part.start - rows[0].start, part.stop - rows[0].start) for part in rows]
        blocks.append(_pixels(values, visible, inside, pixel_columns, how))
    per_pixel = (pixel_rows[0].stop, pixel_columns[0].stop)
    pooled = "exact" if per_pixel == (1, 1) else how
    return HeadMap(torch.cat(blocks).cpu().numpy(), window, whole, units, per_pixel, pooled)


def _unit_cells(
    capture: Capture, layer: int, head: int, reading: Reading, looking: tuple[Unit, ...], looked_at: tuple[Unit, ...]
) -> tuple[Float[Tensor, "rows columns"], Bool[Tensor, "rows columns"]]:
    """One value per pair of units, and whether any of its cells is visible."""
    queries = slice(looking[0].start, looking[-1].stop)
    keys = slice(looked_at[0].start, looked_at[-1].stop)
    record = capture.record(layer)
    visible = record.mask.tile(queries, keys, record.q.device, head=head)
    if reading.what == "scores":
        return capture.scores(layer, head, queries=queries, keys=keys).masked_fill(~visible, 0.0), visible
    if reading.what == "difference":
        values = capture.difference(layer, head, queries=queries, keys=keys)
    elif reading.hides_first:
        values = weights_without_first(capture, layer, head, queries=queries, keys=keys)
        if keys.start == 0:
            visible = visible.clone()
            visible[:, 0] = False
    else:
        values = capture.weights(layer, head, queries=queries, keys=keys)
    if reading.what == "value":
        values = values * record.v[head // record.group, keys].to(values.dtype).norm(dim=-1)
    if values.shape == (len(looking), len(looked_at)):  # one token per unit
        return values, visible
    key_bins = [slice(unit.start - keys.start, unit.stop - keys.start) for unit in looked_at]
    query_bins = [slice(unit.start - queries.start, unit.stop - queries.start) for unit in looking]
    merged = pool(pool(values, 1, key_bins, "sum"), 0, query_bins, "mean")
    shown = pool(pool(visible.to(torch.uint8), 1, key_bins, "max"), 0, query_bins, "max").bool()
    return merged, shown


def _pixels(
    values: Tensor, visible: Tensor, rows: list[slice], columns: list[slice], how: How
) -> Float[Tensor, "pixel_rows pixel_columns"]:
    """Pool units into pixels over their visible cells; NaN where a pixel has none."""
    shown = pool(pool(visible.to(torch.uint8), 0, rows, "max"), 1, columns, "max").bool()
    if how == "mean":
        total = pool(pool(values, 0, rows, "sum"), 1, columns, "sum")
        pooled = total / pool(pool(visible.to(values.dtype), 0, rows, "sum"), 1, columns, "sum").clamp_min(1)
    else:
        pooled = pool(pool(values, 0, rows, "max"), 1, columns, "max")
    return pooled.float().masked_fill(~shown, torch.nan)
