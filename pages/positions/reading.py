"""How each view of the page Positions is read."""

from __future__ import annotations

from analysis.positions import Turned
from attention.position_biases import POSITIONS
from pages.positions.others import FORMULAS
from pages.positions.state import View
from ui.shared.help_card import show_reading
from ui.wording.i18n import _

ROPE = "Su et al. 2021, arXiv:2104.09864"


def explain(view: View, layout: Turned | None) -> None:
    """The explanation of the view that is open; ``layout`` None is a layer without rotation."""
    if view == "others" or layout is None:
        return _others()
    rest = " + rest" if 2 * len(layout.theta) < layout.d_head else ""  # what is not turned has a score too
    return {
        "rotation": _rotation,
        "difference": lambda: _difference(rest),
        "frequencies": lambda: _frequencies(rest),
        "distance": lambda: _distance(rest),
        "what_if": _what_if,
    }[view]()


def _rotation() -> None:
    show_reading(
        [
            _("Each dial is a pair of dimensions of one token, its query blue, its key red: faint as they were "
              "projected, strong as they are once turned to the position of the slider."),
            _("At position m a pair is turned by m · θ: the first dials race and tell neighbours apart, the last "
              "hardly move within a text."),
            _("The strip below has the same pairs, by the tokens that a full turn takes: the higher a dot, the longer "
              "the vector, and the more such a pair can add to a score."),
        ],
        formula="q′ = R(m·θ) q,  k′ = R(m·θ) k\nwavelength = 2π / θ",
        source=ROPE,
        attempt=_("Choose a longer range and drag the position up from 0: which dials have gone all the way round "
                  "while the slowest has hardly moved?"),
    )  # fmt: skip  # one sentence a paragraph


def _difference(rest: str) -> None:
    show_reading(
        [
            _("The contents of two tokens are held fixed, and only their positions change: m is the query’s, n the "
              "key’s. What is drawn is their score before softmax and mask."),
            _("The square shows it for every m and n, indigo above zero, orange below: along a diagonal the difference "
              "m − n is the same, and so is the colour."),
            _("The curves say it again: moved together the two keep their score, moved apart it rises and falls with "
              "the difference."),
        ],
        formula=f"q′ · k′ = Σ |qᵢ||kᵢ| cos(φᵢ + (m − n)·θᵢ){rest}",
        source=ROPE,
        attempt=_("Drag a slider while the difference is kept: the score stays. Then untick the box, drag again, and "
                  "look for the difference at which the two score highest."),
    )  # fmt: skip  # one sentence a paragraph


def _frequencies(rest: str) -> None:
    show_reading(
        [
            _("A score is a sum over the pairs that are turned. Left, a bar for each, the fastest at the top: "
              "indigo adds, orange takes away, each begins where the one above ended, and the lowest one is the sum."),
            _("Right, the same for every key that this query may see, a column for each; the lowest strip is the "
              "score, the framed column the key on the left."),
            _("Fast pairs at the top change with every step of distance, so they can point at a neighbour; slow ones "
              "hardly turn within a text, so they compare contents."),
        ],
        formula=f"score = scale · (Σᵢ |qᵢ||kᵢ| cos(φᵢ + (m − n)·θᵢ){rest})",
        source="Su et al. 2021, arXiv:2104.09864; Barbero et al. 2024, arXiv:2410.06205",
        attempt=_("Click one column on the right and then another: is it the rows at the top or those further down "
                  "that make their scores differ?"),
    )  # fmt: skip  # one sentence a paragraph


def _distance(rest: str) -> None:
    show_reading(
        [
            _("The contents are those of this text, and only the distance from key to query is changed: the curve is "
              "the score that the open head would give them, before softmax and mask."),
            _("Beside it stands every head of this layer: a flat line does not mind the distance, a falling one "
              "prefers what is near, and waves come from pairs that have turned all the way round."),
            _("“Whole text” is a mean over many pairs of tokens, which shows the habit of a head; “this cell” is one "
              "query and one key alone."),
        ],
        formula=f"score(d) = scale · (Σᵢ |qᵢ||kᵢ| cos(φᵢ + d·θᵢ){rest}),  d = m − n",
        source=ROPE,
        attempt=_("Click through the small panels for the steepest line, then choose “this cell”: how much of the "
                  "slope is left for these two tokens?"),
    )  # fmt: skip  # one sentence a paragraph


def _what_if() -> None:
    show_reading(
        [
            _("The model runs once more with another rotation in its layers; the text and all that was learned stay "
              "the same."),
            _("Left the open head as it is, in the middle with the other rotation, right what the model then predicts: "
              "a head that lives on distances loses its way, one that looks for contents may keep it."),
            _("Scores depend on differences of positions alone. So to add one number to all positions changes nothing "
              "beyond rounding; to stretch, cut or drop the differences does."),
        ],
        formula="R(m·θ) → 1\nR(m·θ) → R(m·a·θ)\nbase → base · a^(d / (d − 2))\nR(m·θ) → R((m + c)·θ)",
        source="Su et al. 2021, arXiv:2104.09864; Chen et al. 2023, arXiv:2306.15595; Peng et al. 2023, "
        "arXiv:2309.00071; Krell et al. 2021, arXiv:2107.02027",
        attempt=_("Choose “all positions plus”, then “no rotation”: which of the two leaves the map as it was?"),
    )  # fmt: skip  # one sentence a paragraph


def _others() -> None:
    show_reading(
        [
            _("Five ways to tell a model where its tokens stand, each as the number it gives to a query and a key "
              "whatever they say: indigo above zero, orange below."),
            _("A square has it for every pair of positions, the curve under it by distance. Read down a card: where "
              "the positions enter the model, what must be stored, and what becomes of longer texts."),
            _("The words under a curve say whose numbers it shows: this model’s, a formula’s, or those of a small "
              "model that comes with the app."),
        ],
        formula="\n".join(f"{_(scheme.label)}: {FORMULAS[scheme.name]}" for scheme in POSITIONS),
        source="; ".join(f"{scheme.paper} ({_(scheme.label)})" for scheme in POSITIONS),
        attempt=_("Follow the diagonals of the five squares: in which one does the colour change along them?"),
    )  # fmt: skip  # one sentence a paragraph
