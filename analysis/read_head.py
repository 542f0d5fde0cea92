"""A head as a map, or its difference from another head: its description, and the code that gives it.

Descriptions here are for files, in English; on the screen, figures show the sentences of HeadQuantity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from analysis.head_map import PIXELS, HeadMap, Reading, Window, head_map
from analysis.stand_in import has_shares, row_notes
from analysis.units import Unit
from model_runner.capture import Capture

WEIGHTS = Reading()
NAMES = {
    "weights": "weights after softmax",
    "scores": "scores before softmax",
    "value": "weight × ‖v‖",
    "difference": "map 1 − λ·map 2 of the pair, whose rows sum to 1 − λ",
}

STOOD_IN = "weights in the place of softmax, whose rows do not sum to 1"
UNROLLED = "entries of the matrix of the layer's recurrence, not softmax"
SIGNED, CHANNELS = ": signed, rows do not sum to 1", ", the mean over {count} channels"


@dataclass(frozen=True, eq=False)
class ReadHead:
    """``view`` is a window of the head's map, minus that of ``other`` (a layer and a head) if given."""

    capture: Capture
    layer: int
    head: int
    reading: Reading
    other: tuple[int, int] | None
    view: HeadMap

    @property
    def name(self) -> str:
        return f"L{self.layer}H{self.head}"

    @cached_property
    def shares(self) -> bool:
        """True if its weights, and those of ``other``, are shares; O(tokens²) if softmax is substituted."""
        heads = [(self.layer, self.head), *([] if self.other is None else [self.other])]
        return all(has_shares(self.capture, *head) for head in heads)

    def notes(self) -> list[str]:
        """How the numbers were processed, and what they are if they are not shares, a sentence each."""
        own = row_notes(self.capture, self.layer, shares=self.shares) if self.reading.what == "weights" else []
        return [*self.reading.notes(), *own]

    @property
    def shows(self) -> str:
        """What a cell of the map is, as named by its component."""
        if self.other is not None:
            return "difference"
        if self.reading.what == "difference":
            return "weight"
        return "weight" if self.reading.what == "weights" and not self.shares else self.reading.what


def read_head(
    capture: Capture,
    layer: int,
    head: int,
    reading: Reading = WEIGHTS,
    other: tuple[int, int] | None = None,
    *,
    window: Window | None = None,
    pixels: int = PIXELS,
) -> ReadHead:
    """At most ``pixels`` per side. Raises NoWeights, NoSuchPlace."""
    view = head_map(capture, layer, head, reading=reading, window=window, pixels=pixels)
    if other is not None:
        second = head_map(capture, *other, reading=reading, window=window, pixels=pixels)
        view = replace(view, values=view.values - second.values)
    return ReadHead(capture, layer, head, reading, other, view)


def maps_of(read: ReadHead) -> dict[str, HeadMap]:
    """The map under its name; for a difference, also both heads' own."""
    if read.other is None:
        return {read.name: read.view}
    one, two = (
        read_head(read.capture, *head, read.reading, window=read.view.window)
        for head in ((read.layer, read.head), read.other)
    )
    return {f"{one.name} − {two.name}": read.view, one.name: one.view, two.name: two.view}


def positions(view: HeadMap) -> tuple[dict[int, str], dict[int, str]]:
    """For each row and column the position of its first token, and its label; a pixel's label has both ends."""
    window, (rows, columns) = view.window, view.pool
    return _labels(view.units[window.q0 : window.q1], rows), _labels(view.units[window.k0 : window.k1], columns)


def _labels(units: Sequence[Unit], pool: int) -> dict[int, str]:
    pixels = [units[first : first + pool] for first in range(0, len(units), pool)]
    return {
        one[0].start: one[0].label + (f" … {one[-1].start} {one[-1].label}" if len(one) > 1 else "") for one in pixels
    }


def labels(view: HeadMap) -> tuple[list[str], list[str]]:
    """The labels of rows and columns."""
    if view.how == "exact":
        return view.row_labels, view.column_labels
    rows, columns = positions(view)
    return list(rows.values()), list(columns.values())


def described(read: ReadHead) -> str:
    """How the numbers were made: "weights after softmax, minus L2H1"."""
    reading, view = read.reading, read.view
    parts = [NAMES[reading.what] if reading.what != "weights" or read.shares else STOOD_IN]
    if (own := read.capture.record(read.layer).unrolled) is not None and reading.what == "weights":
        mean = CHANNELS.format(count=own.channels) if own.channels > 1 else ""
        parts = [f"{UNROLLED}{mean}{SIGNED if own.signed else ''}"]
    if reading.hides_first:
        parts.append("first token hidden, rows renormalised")
    if reading.words and reading.what != "scores":
        parts.append("words: keys summed, queries averaged")
    if read.other is not None:
        parts.append(f"minus L{read.other[0]}H{read.other[1]}")
    if view.how != "exact":
        parts.append(f"{view.how} of {view.pool[0]}×{view.pool[1]} cells")
    return ", ".join(parts)


def python_lines(read: ReadHead) -> str:
    """Code for the same array by the same function, given ``capture``."""
    reading, window, n_units = read.reading, read.view.window, len(read.view.units)
    heads = [(read.layer, read.head), *([read.other] if read.other is not None else [])]
    lines = ["\nfrom attention_atlas.analysis.head_map import Reading, Window, head_map\n"]
    lines.append(f"reading = Reading(what={reading.what!r}, hide_first={reading.hide_first}, words={reading.words})")
    lines.append(f"window = Window({window.q0}, {window.q1}, {window.k0}, {window.k1})")
    calls = [f"head_map(capture, {layer}, {head}, reading=reading, window=window).values" for layer, head in heads]
    lines.append("values = " + " - ".join(calls))
    if reading == WEIGHTS and read.other is None and read.view.how == "exact":
        whole = window == Window(0, n_units, 0, n_units)
        tile = f", queries=slice({window.q0}, {window.q1}), keys=slice({window.k0}, {window.k1})"
        lines.append(f"# or, in plain torch: capture.weights({read.layer}, {read.head}{'' if whole else tile})")
    return "\n".join(lines)
