"""Sliders of the component: drawn in the browser, which computes what follows, and told when they rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from pages.steps.state import StepsState
from ui.state.page_state import change, setting_of
from ui.state.url_parsing import UrlUnreadable, read
from ui.wording.i18n import _

JSON = Any
DRAWN = ("wide", "temperature", "gap", "largest", "cutoff")  # fields that have sliders


@dataclass(frozen=True)
class Knob:
    """A field of the page's state that is a number between the field's bounds, or one of ``values``."""

    name: str
    value: float
    step: float = 1.0
    values: tuple[float, ...] | None = None

    def as_json(self) -> dict[str, JSON]:
        """As payload.d.ts has it."""
        about = setting_of(StepsState, self.name)
        ends = (about.min, about.max) if self.values is None else (self.values[0], self.values[-1])
        return {
            "name": self.name, "label": _(about.label), "value": self.value, "least": ends[0], "most": ends[1],
            "step": self.step, "values": None if self.values is None else list(self.values),
        }  # fmt: skip  # a pair a name


def live_row(
    kind: str, row: str, usual: np.ndarray, *, scaled: bool = True, dtype: str = "", notes: Mapping[str, str] = {}
) -> dict[str, JSON]:
    """What the browser follows by itself; ``usual``: a row for each value of the first knob, or one to be multiplied.

    ``notes``: of a step, what is said of it with a {d} and a {factor}.
    """
    return {
        "kind": kind, "row": row, "usual": usual.tolist(), "scaled": scaled, "dtype": dtype, "notes": dict(notes),
    }  # fmt: skip  # a line


def with_knobs(knobs: Sequence[Knob], live: Mapping[str, JSON]) -> dict[str, JSON]:
    """The part of a chain."""
    return {"knobs": [knob.as_json() for knob in knobs], "live": dict(live)}


def turn(told: Any) -> None:
    """Where the browser says that they stand; what is no such number is passed over."""
    for name, value in told.items():
        with suppress(UrlUnreadable, TypeError, ValueError):
            if name in DRAWN:
                change(StepsState, **{name: read(StepsState, name, f"{value:.15g}")})
