"""Attention step by step: every matrix with its numbers, and each number as the sum that it is.

Small numbers are computed in the browser, so that an edit reaches every later matrix; a model's are sent. Sends "step",
the open one, "numbers", the edited ones, "ask", whether results are hidden, "knobs", the positions of a chain's
sliders, and "class", the hidden number that a class is asked about: its step, row and column, its name, and its
expression as text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from viz.components.picture import ColoredPicture, Texts, TypeScript
from viz.components.source import read_source
from viz.components.step_by_step.chain import DrawnChain, StepSettings

N_ = str  # marks a text for Babel without translating it here

MOST = 1000  # largest number that can be typed

TEXTS: dict[str, str] = {
    "way": N_("The steps"),
    "back": N_("previous step"),
    "next": N_("next step"),
    "play": N_("play"),
    "stop": N_("stop"),
    "ask": N_("What comes here?"),
    "show_all": N_("show all numbers"),
    "ask_hint": N_("What comes here? A click shows it."),
    "ask_hint_class": N_("What comes here? Ask the class; a second click shows it."),
    "ask_class": N_("Ask the class for this number"),
    "reset": N_("the first numbers again"),
    "hint": N_("Point at a number of the last matrix: what it is computed from lights up, and its sum is "
               "here."),
    "not_number": N_("“{value}” is not possible here: type a number from −{most} to {most}. The one before "
                     "stays."),
    "cell_name": N_("{matrix}, row {row}, column {column}"),
    "shape_part": N_("{rows} × {columns}, {shown} × {across} shown"),
    "colors_to": N_("colours to ±{most}"),
    "given_cell": N_("Number {column} of {row}. Type another, or use the arrow keys: all that follows changes."),
    "model_cell": N_("As the model has it."),
    "more_dimensions": N_("{count} more dimensions"),
    "more_heads": N_("{count} more heads"),
    "more_keys": N_("{count} more keys"),
    "one_dimensions": N_("1 more dimension"),
    "one_heads": N_("1 more head"),
    "one_keys": N_("1 more key"),
    "not_scaled": N_("the score stays as it is"),
    "bias": N_("with what the model adds for the distance"),
    "hidden_cell": N_("{key} is hidden from {query}: −∞ takes the place of {value}, and its weight will be 0."),
    "seen_cell": N_("{query} may look at {key}: {value} stays."),
    "seen_all": N_("No mask: every query may look at every key, {value} stays."),
    "no_share": N_("What is hidden gets nothing."),
    "concat_cell": N_("Copied from head {head}: {row} is {value} here."),
    "not_turned": N_("This dimension is not turned: {value} stays."),
    "turning": N_("turned"),
    "more_units": N_("{count} more units"),
    "one_units": N_("1 more unit"),
    "step_ffn_x": N_("X: what the feed-forward part reads"),
    "about_ffn_x": N_("A row is a token. The part works on each row separately: no token sees another here."),
    "step_ffn_gate": N_("X W_gate: what the activation reads"),
    "about_ffn_gate": N_("A column is a unit: each asks one question of the token’s vector."),
    "step_ffn_first": N_("X W₁: from d dimensions to many units"),
    "about_ffn_first": N_("A column is a unit: each asks one question of the token’s vector."),
    "step_ffn_bias": N_("+ b₁: each unit’s own threshold"),
    "about_ffn_bias": N_("The same number for every token."),
    "step_ffn_act": N_("The activation: most of what is below 0 is held back"),
    "about_ffn_act": N_("One number at a time. Without it two matrices in a row would be one."),
    "step_ffn_times": N_("A ⊙ H: the gate times what it lets through"),
    "about_ffn_times": N_("Number by number in the same place, no sum."),
    "step_ffn_second": N_("· W₂: each unit adds its row, times its value"),
    "about_ffn_second": N_("A unit that is 0 adds nothing. Back to d dimensions."),
    "step_ffn_out": N_("+ b₂: what the part adds to the stream"),
    "about_ffn_out": N_("This is added to each token’s vector."),
    "short_mask": N_("mask"),
    "short_concat": N_("concat"),
    "step_x": N_("X: a vector for each token"),
    "about_x": N_("A row is a token: its vector, indigo above 0 and orange below. All that follows is "
                  "computed from these numbers and the matrices W, which are learned."),
    "step_q": N_("Q: what each token asks"),
    "about_q": N_("Every row of X times W_Q."),
    "step_k": N_("K: what each token offers to be found by"),
    "about_k": N_("Every row of X times W_K."),
    "step_v": N_("V: what each token hands on"),
    "about_v": N_("Every row of X times W_V."),
    "step_rq": N_("Q, turned by its position"),
    "about_rq": N_("RoPE turns pairs of dimensions: the later in the text, the farther."),
    "step_rk": N_("K, turned by its position"),
    "about_rk": N_("The same turn for the keys: a product of both knows only how far apart they are."),
    "step_scores": N_("Q Kᵀ: every query with every key"),
    "about_scores": N_("A row of Q times a row of K, one number: how well they match."),
    "step_scale": N_("÷ √d: scores of a usable size"),
    "about_scale": N_("The typical size of a sum of d products grows as √d; divided by √d, it stays as it is."),
    "step_mask": N_("Mask: nobody looks ahead"),
    "about_mask": N_("Where a query may not look, the score becomes −∞."),
    "step_unmasked": N_("Mask: nothing is hidden here"),
    "about_unmasked": N_("Every query that is shown may look at every key: the scores stay as they are."),
    "step_unscaled": N_("Not divided by √d"),
    "about_unscaled": N_("The typical size of a sum of d products grows as √d, and here nothing divides it."),
    "step_softmax": N_("Softmax: every row becomes shares of 1"),
    "about_softmax": N_(
        "e to the score, divided by the sum of its row. A row sums to 1 before its numbers are rounded."
    ),
    "step_mix": N_("A · V: the values, mixed by these shares"),
    "about_mix": N_("A row of weights times V: what the token takes in."),
    "short_rq": N_("Q turned"),
    "short_rk": N_("K turned"),
    "step_concat": N_("Concat: the heads side by side"),
    "about_concat": N_("Every head has mixed its own part; here they are side by side."),
    "step_out": N_("· W_O: what attention adds to each token"),
    "about_out": N_("The last matrix mixes what the heads have found; it is added to the token’s vector."),
}  # fmt: skip  # a text a line

SOURCE = read_source(Path(__file__).parent, "step_by_step", '<div class="step-by-step">\n</div>')


@dataclass(frozen=True, eq=False)
class StepByStepPicture(ColoredPicture):
    """Small numbers, or a model's chain: its matrices and its steps. Raises ValueError unless exactly one is given."""

    usual: Annotated[Mapping[str, Sequence[Sequence[float]]] | None, TypeScript("Numbers | null")]
    """Small numbers by matrix, before any edits."""
    edits: str
    """The edited ones, see edits.js."""
    settings: StepSettings
    chain: DrawnChain | None
    """Of a model."""
    step: str
    ask: bool
    """Results are hidden."""
    texts: Texts
    room: bool = False
    """A class follows, and can be asked about a hidden number."""
    most: int = MOST
    """Largest number that can be typed."""

    def __post_init__(self) -> None:
        """Check that exactly one of the two is given."""
        if (self.usual is None) == (self.chain is None):
            raise ValueError("either small numbers or a model's chain")
