"""Sliders of the component: drawn in the browser, which computes their effects, and reported when released."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pages.steps.state import StepsState
from ui.state.page_state import change, setting_of
from ui.state.url_parsing import UrlUnreadable, read
from ui.wording.i18n import _
from viz.components.step_by_step.chain import DrawnKnob

DRAWN = ("wide", "temperature", "gap", "largest", "cutoff")  # fields that have sliders


@dataclass(frozen=True)
class Knob:
    """A numeric field of the page's state, within the field's bounds or one of ``values``."""

    name: str
    value: float
    step: float = 1.0
    values: tuple[float, ...] | None = None

    def drawn(self) -> DrawnKnob:
        """The knob for the component."""
        about = setting_of(StepsState, self.name)
        ends = (about.min, about.max) if self.values is None else (self.values[0], self.values[-1])
        return DrawnKnob(
            name=self.name,
            label=_(about.label),
            value=self.value,
            least=ends[0],
            most=ends[1],
            step=self.step,
            values=self.values,
        )


def turn(told: Any) -> None:
    """Store the sliders' values; invalid ones are ignored."""
    for name, value in told.items():
        with suppress(UrlUnreadable, TypeError, ValueError):
            if name in DRAWN:
                change(StepsState, **{name: read(StepsState, name, f"{value:.15g}")})
