"""How a token is chosen: the full distribution, every transform in order with what it removes, and samples.

The payload is the model's logits and every token's label; everything that follows from the settings is computed in the
browser, so that a slider redraws while it is dragged. Sends the trigger "settings" when a control is released: a
mapping with "a" and "b" (each bench's settings: one per transform, "order" and "seed"), "compare", "draws", "find" and
the "number" of the settings that it started from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

from viz.components.packing import JSON
from viz.components.picture import ColoredPicture, Floats, IntList, Texts, TypeScript
from viz.components.source import read_source

N_ = str

MOST_DRAWS = 10_000

TEXTS: dict[str, str] = {
    "bench": N_("How the next token is chosen"),
    "model": N_("model"),
    "effect": N_("{kept} kept · {mass} of the mass · {bits} bits"),
    "effect_off": N_("off · {bits} bits"),
    "effect_shape": N_("{bits} bits · {kept} tokens"),
    "gauge": N_("entropy: {bits} of at most {most} bits"),
    "off": N_("off"),
    "on": N_("{name} on"),
    "value": N_("{name}, value"),
    "earlier": N_("{name} earlier"),
    "later": N_("{name} later"),
    "reset": N_("reset"),
    "compare": N_("compare two settings"),
    "edited": N_("Settings {name}"),
    "not_number": N_("“{value}” is not a number for {what}."),
    "one_left": N_("One token is left. Whatever the settings, at least one always stays."),
    "broken": N_("The model's logits are not numbers (NaN or infinite), so no token can be chosen from them."),
    "token_at": N_("{label} {percent} · rank {rank}"),
    "token_removed": N_("{label} removed"),
    "legend_model": N_("the model’s own probability"),
    "legend_final": N_("after your settings"),
    "legend_removed": N_("removed"),
    "numbers": N_("bars and numbers: after your settings"),
    "outlines": N_("outlines: the model’s own probability"),
    "legend_drawn": N_("share of the draws"),
    "after": N_("after “… {text}”"),
    "after_all": N_("after “{text}”"),
    "went_on": N_("the text continues with {label}"),
    "rest": N_("{count} others"),
    "rest_one": N_("1 other"),
    "cut_off": N_("This bar continues beyond the end of the axis."),
    "stay": N_("{count} kept"),
    "times": N_("{count}×"),
    "percent": N_("{number} %"),
    "curve": N_("All {count} tokens, the most likely first"),
    "curve_axis": N_("rank"),
    "curve_point": N_("rank {rank}: {label} {percent} → {final}"),
    "find": N_("Find a token"),
    "find_hint": N_("any token, or its id"),
    "found_none": N_("No token contains this."),
    "found_more": N_("and {count} more"),
    "found": N_("{label} · the model gives it {percent}, rank {rank} · id {id}"),
    "unmark": N_("mark no token"),
    "draw": N_("Draw"),
    "clear": N_("clear"),
    "seed": N_("seed"),
    "seed_rule": N_("The seed is {value}; it must be a whole number."),
    "drawn": N_("{count} drawn"),
    "none_drawn": N_("None drawn yet. The same seed always draws the same tokens."),
    "most_drawn": N_("{count} draws are the most shown here."),
    "chi": N_("χ² = {value}, degrees of freedom {freedom}: by chance alone about {freedom} ± {spread}"),
    "chi_none": N_("χ² needs two groups of tokens expected at least 5 times each"),
    "chi_about": N_("Σ (drawn − expected)² / expected; tokens expected less than 5 times count together."),
    "summary": N_("{count} of {all} tokens can be drawn, {bits} bits: {tokens}"),
    "summary_token": N_("{label} {percent}"),
}

SOURCE = read_source(Path(__file__).parent, "sampling_bench", '<div class="sampling-bench">\n</div>')


SettingsOfBench: TypeAlias = Annotated[Mapping[str, JSON], TypeScript("Record<string, any>")]


@dataclass(frozen=True)
class Start:
    """The bench's initial state: the settings A and B, whether B is shown beside A, samples, and a marked token."""

    a: SettingsOfBench
    b: SettingsOfBench
    compare: bool
    draws: int
    find: int | None
    number: int = 0
    """A new number makes a mounted bench take over these settings, whatever was set in it."""


@dataclass(frozen=True, eq=False)
class SamplingBenchPicture(ColoredPicture):
    """The logits for the token at `position`, and the table of the transforms.

    A seed is a text, since it may exceed JavaScript's integers. Raises ValueError if labels or settings do not match.
    """

    logits: Floats
    """[vocab]"""
    labels: Sequence[str]
    """Labels of every token."""
    previous: IntList
    """Ids to which the repetition penalty applies."""
    position: int
    after: str
    """The token before the distribution."""
    actual: int | None
    """The id of the text's next token; null at its end."""
    start: Start
    transforms: Annotated[Mapping[str, Mapping[str, JSON]], TypeScript("Record<string, any>")]
    """By name, in their default order: rows of the table in model_runner/transforms.py, with their texts."""
    texts: Texts
    most_draws: int = MOST_DRAWS

    def __post_init__(self) -> None:
        """Check labels and settings."""
        if self.logits.shape != (len(self.labels),):
            raise ValueError(f"logits of shape {self.logits.shape} for {len(self.labels)} labels")
        names = {*self.transforms, "order", "seed"}
        for settings in (self.start.a, self.start.b):
            if set(settings) != names:
                raise ValueError(f"settings {sorted(settings)} instead of {sorted(names)}")
