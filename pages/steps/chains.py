"""Chains of steps computed on the server, and charts under their headings."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pages.steps.small import events
from pages.steps.state import USUAL, cover, open_step, state
from ui.shell.components import mount, show_heading
from ui.shell.page import translated
from ui.shell.progressive import show_chart
from ui.state import session
from viz.chart import Lines
from viz.components.step_by_step import step_by_step
from viz.components.step_by_step.chain import DrawnChain, StepSettings


def show_charts(charts: Sequence[Lines], key: str) -> None:
    """Show each chart under its heading."""
    for number, chart in enumerate(charts):
        show_heading(escape(chart.heading))
        show_chart(chart, key=f"{key}_{number}", alt=chart.heading, still=True)


def show_chain(
    key: str,
    chain: DrawnChain,
    *,
    edits: str = "",
    first: str = USUAL,
) -> bytes:
    """Show the steps with the one in the URL open, or ``first``; returns the payload.

    ``edits``: see pages.steps.numbers.
    """
    held, matrices, steps = state(), chain.matrices, [step.id for step in chain.steps]
    opened = open_step(steps, first)
    here = opened == (held.step or first)  # a step hidden in another view is not in this one
    payload = step_by_step.StepByStepPicture(
        usual=None,
        edits=edits,
        settings=StepSettings(),
        chain=chain,
        step=opened,
        ask=cover(held.ask and here),
        texts=translated(step_by_step.TEXTS),
        room=session.room() is not None,
    ).packed()
    numbers = {step.id: matrices[step.result].values for step in chain.steps}
    mount(step_by_step.SOURCE, payload, key=key, on=events(numbers))
    return payload
