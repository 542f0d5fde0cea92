"""Help texts for the views of the page Positions."""

from __future__ import annotations

from analysis.positions import Turned
from attention.position_biases import POSITIONS
from pages.positions.others import FORMULAS
from pages.positions.state import Sine, View
from ui.shared.help_card import show_reading
from ui.wording.i18n import _

ROPE = "Su et al. 2021, arXiv:2104.09864"
VASWANI = "Vaswani et al. 2017, arXiv:1706.03762"


def explain(view: View, layout: Turned | None, sine: Sine = "table") -> None:
    """Show the open view's help; ``layout`` is None for a layer without rotation."""
    if view == "sinusoid":
        return {"table": _table, "turn": _turn, "terms": _terms, "shuffled": _shuffled}[sine]()
    if view == "others" or layout is None:
        return _others()
    # dimensions that are not rotated also contribute to the score
    rest = " + rest" if 2 * len(layout.theta) < layout.d_head else ""
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
            _("A score is a sum over the pairs that are turned. Left, a bar for each, the fastest at the "
              "top: indigo adds, orange subtracts, each begins where the one above ended, and the lowest "
              "one is the sum."),
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
            _("Beside it is every head of this layer: a flat line ignores the distance, a falling one "
              "prefers what is near, and waves come from pairs that have turned all the way round."),
            _("“Whole text” is a mean over many pairs of tokens, which shows the habit of a head; “this "
              "cell” is just one query and one key."),
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
            _("Left: the open head as it is; middle: with the other rotation; right: what the model then "
              "predicts. A head that lives on distances loses its way, one that looks for contents may "
              "keep it."),
            _("Scores depend only on differences of positions. So adding one number to all positions "
              "changes nothing beyond rounding; stretching, cutting or dropping the differences does."),
        ],
        formula="R(m·θ) → 1\nR(m·θ) → R(m·a·θ)\nbase → base · a^(d / (d − 2))\nR(m·θ) → R((m + c)·θ)",
        source="Su et al. 2021, arXiv:2104.09864; Chen et al. 2023, arXiv:2306.15595; Peng et al. 2023, "
        "arXiv:2309.00071; Krell et al. 2021, arXiv:2107.02027",
        attempt=_("Choose “all positions plus”, then “no rotation”: which of the two leaves the map as it was?"),
    )  # fmt: skip  # one sentence a paragraph


def _others() -> None:
    show_reading(
        [
            _("Five ways to tell a model where its tokens are, each as the number it gives to a query "
              "and a key regardless of content: indigo above zero, orange below."),
            _("A square has it for every pair of positions, the curve under it by distance. Read down a "
              "card: where the positions enter the model, what must be stored, and what happens in "
              "longer texts."),
            _("The words under a curve say whose numbers it shows: this model’s, a formula’s, or those of a small "
              "model that comes with the app."),
        ],
        formula="\n".join(f"{_(scheme.label)}: {FORMULAS[scheme.name]}" for scheme in POSITIONS),
        source="; ".join(f"{scheme.paper} ({_(scheme.label)})" for scheme in POSITIONS),
        attempt=_("Follow the diagonals of the five squares: in which one does the colour change along them?"),
    )  # fmt: skip  # one sentence a paragraph


def _table() -> None:
    show_reading(
        [
            _("A row is a token at its position, a column a dimension: even ones are sines, odd ones cosines of the "
              "same angle, indigo above zero, orange below. The formula alone makes these numbers; the vector of a "
              "row is added to the token’s embedding."),
            _("The first two columns turn once in 6.28 tokens, each later pair more slowly; the chart has the tokens "
              "of one turn, RoPE’s beside it. Both stop before 20000π, since the last pair has the exponent "
              "(d − 2)/d."),
            _("Click a number to see its formula above."),
        ],
        formula="PE(pos, 2i) = sin(pos / 10000^(2i/d))\nPE(pos, 2i + 1) = cos(pos / 10000^(2i/d))\n"
        "wavelength = 2π · 10000^(2i/d)",
        source=VASWANI,
        attempt=_("Choose 4 dimensions and compute one number of the second word on paper, then 512: which columns "
                  "hardly change within your text?"),
    )  # fmt: skip  # one sentence a paragraph


def _turn() -> None:
    show_reading(
        [
            _("A pair (cos, sin) is a point on a circle. Δ steps further on it has turned by Δ · ω: faint before, "
              "strong after."),
            _("The red pair is p(0), the blue one the chosen token’s: both turn by the same angle. So p(pos + Δ) is "
              "one matrix times p(pos), the same for every pos, and a model can learn “three tokens back”."),
            _("RoPE does the same turn, but to queries and keys instead of to what is added."),
        ],
        formula="(cos(ω(pos + Δ)), sin(ω(pos + Δ))) = R(ω·Δ) (cos(ω·pos), sin(ω·pos))",
        source=VASWANI,
        attempt=_("Choose another token: does the angle between faint and strong change?"),
    )  # fmt: skip  # one sentence a paragraph


def _terms() -> None:
    show_reading(
        [
            _("x is what the open head reads of each token, p its sinusoidal position. The score of x + "
              "p splits into four products; in every cell the four maps add up to the last one."),
            _("The first map knows only words, the fourth only positions, so it would be the same for "
              "any text; the two between mix them."),
            _("This model has RoPE or positions of its own and never learned with p: the maps show how "
              "the product splits, not what it would have learned. Biases, rotation and mask are left "
              "out."),
        ],
        formula="(x + p)ᵀ W_Qᵀ W_K (x + p) =\nxᵀW_Qᵀ W_K x + xᵀW_Qᵀ W_K p + pᵀW_Qᵀ W_K x + pᵀW_Qᵀ W_K p",
        source="Dai et al. 2019, arXiv:1901.02860; Ke et al. 2021, arXiv:2006.15595",
        attempt=_("Type another text of as many tokens: which of the four maps stays as it is?"),
    )  # fmt: skip  # one sentence a paragraph


def _shuffled() -> None:
    show_reading(
        [
            _("The open head’s own W_Q, W_K and W_V on what it reads, every token looking at every other: first in the "
              "text’s order, then in another."),
            _("Without positions each token keeps its weights and its output; only their order changes. That is "
              "called permutation-equivariant. A mean over the outputs would not change at all, which is invariant; "
              "attention alone is not."),
            _("With positions added, the same words at other positions are different vectors. A causal "
              "mask would tell the order too, so there is none here."),
        ],
        formula="attention(P x) = P attention(x)  for every permutation P",
        source="Yun et al. 2020, arXiv:1912.10077; Lee et al. 2019, arXiv:1810.00825",
        attempt=_("Switch “add positions” on and off: which of the bars change?"),
    )  # fmt: skip  # one sentence a paragraph
