"""Help texts for the views of the page Zoo."""

from __future__ import annotations

from pages.zoo.state import View
from ui.shared.help_card import show_reading
from ui.wording.i18n import _


def explain(view: View) -> None:
    """Show the open view's help."""
    {
        "maps": _maps, "linear": _linear, "model": _model, "hybrid": _hybrid, "weights": _weights, "flash": _flash,
        "cost": _cost,
    }[view]()  # fmt: skip  # a few a line


def _maps() -> None:
    show_reading(
        [
            _("Left, the open head in the model. Beside it the same queries, keys and values with "
              "another rule instead of softmax: the map that it computes or implies, rows looking, "
              "columns looked at."),
            _("At the right, where the two differ, or a second rule. The table says how far the head’s output moves, "
              "how widely it looks, and how many patterns its map is made of (its numerical rank). A map in indigo "
              "and orange has weights above and below 0, on a scale of its own."),
            _("The model was trained with softmax: a large error says that the rule does not copy it, "
              "not that a model trained with it would be worse."),
        ],
        formula="softmax: exp(q·k/√d) / Σ exp(q·k/√d)\nkernel:  φ(q)·φ(k) / Σ φ(q)·φ(k)\n"
        "(φ(Q) φ(K)ᵀ) V = φ(Q) (φ(K)ᵀ V)",
        source="Katharopoulos et al. 2020, arXiv:2006.16236; Tay et al. 2020, arXiv:2009.06732",
        attempt=_("Choose Performer and let the number of features grow: does its map approach softmax’s? "
                  "Then choose a head that attends to a single token."),
    )  # fmt: skip  # one sentence a paragraph


def _linear() -> None:
    show_reading(
        [
            _("Softmax needs every score of a row before any weight is known, so (Q Kᵀ) comes first. Without it the "
              "brackets may move: Q (Kᵀ V) gives the same output, and no map of all pairs is made."),
            _("Then each token adds one product, its key times its value, to a state of d × d numbers. A query reads "
              "the state and not the tokens, so that one token more costs the same in a short text and in a long one."),
            _("Lightning does both: inside a block of tokens it multiplies from the left, for all blocks "
              "before it reads the state. Blocks of one token are just the state, one block as long as "
              "the text is the map."),
        ],
        formula="(φ(Q) φ(K)ᵀ) V = φ(Q) (φ(K)ᵀ V)\nS_t = λ S_{t−1} + k_t v_tᵀ,  o_t = q_tᵀ S_t\n"
        "Lightning: O = intra (left) + inter (right)",
        source="Katharopoulos et al. 2020, arXiv:2006.16236; Qin et al. 2024, arXiv:2401.04658",
        attempt=_("Write a text of more tokens than a head has dimensions: which order is less work? Then choose "
                  "Lightning’s blocks and find the size with the fewest multiply-adds."),
    )  # fmt: skip  # one sentence a paragraph


def _flash() -> None:
    show_reading(
        [
            _("Softmax of the open head, computed a tile at a time: a block of queries meets a block of keys in the "
              "small fast memory (SRAM), and no score is ever written to the large slow one (HBM)."),
            _("A softmax needs the largest score of its row, which may come last. So a row keeps the largest so far, "
              "m, and the sum of e to the scores less m, ℓ; where a larger score comes, all before it is multiplied by "
              "e^(m − m′). After its last tile the row is softmax, exactly."),
            _("Plain attention writes all scores and all weights to HBM and reads them again. Tiles read queries, keys "
              "and values more than once instead; in a long text, with tiles of some size, that is far less."),
        ],
        formula="m′ = max(m, max s)\nℓ′ = ℓ · e^(m − m′) + Σ e^(s − m′)\n"
        "O′ = (O · ℓ · e^(m − m′) + Σ e^(s − m′) v) / ℓ′",
        source="Dao et al. 2022, arXiv:2205.14135; Dao 2023, arXiv:2307.08691",
        attempt=_("Choose own tiles of one key: how often is the sum corrected? Then let the loops change places and "
                  "compare what is written."),
    )  # fmt: skip  # one sentence a paragraph


def _model() -> None:
    show_reading(
        [
            _("The variant replaces softmax in the running model, untrained: all later layers work on "
              "its output. At the left the open head as it is, in the middle the map that the variant "
              "implies."),
            _("At the right what the model then says: the next token, how far its distribution moved "
              "(KL), how well it predicts the text (perplexity; lower is better), and how the text "
              "continues."),
            _("“Use on every page” carries the change to all pages; a head without softmax has no scores there."),
        ],
        formula="output = softmax(q·k/√d) · v  →  variant(q, k, v)\nKL = Σ p before · log₂ (p before / p after)",
        source="Kasai et al. 2021, arXiv:2103.13076; Mercat et al. 2024, arXiv:2405.06640",
        attempt=_("Replace one head, then its layer, then all layers: where does the model stop making sense?"),
    )  # fmt: skip  # one sentence a paragraph


def _hybrid() -> None:
    show_reading(
        [
            _("Each button is a layer, the first at the left; a filled one keeps softmax, the others have the variant, "
              "untrained. MiniMax-01 has seven layers of Lightning attention to one of softmax."),
            _("The curve: a code is hidden in a text and asked for at the end, while fewer and fewer layers keep "
              "softmax, evenly apart. The single point is the stack above it."),
            _("A model that was trained as a hybrid recalls with one softmax layer of eight; this one was not."),
            _("TransNormer has no whole softmax: its lower layers attend inside blocks of the text, for what is near, "
              "its upper ones by normalised linear attention, for all of it."),
        ],
        formula="layer l keeps softmax:  ⌊(l + 1) s / n⌋ > ⌊l s / n⌋,  s of n layers",
        source="MiniMax 2025, arXiv:2501.08313; Arora et al. 2023, arXiv:2312.04927; Qin et al. 2022, arXiv:2210.10340",
        attempt=_("Give back the softmax of a single layer: which one does the recall need most?"),
    )  # fmt: skip  # one sentence a paragraph


def _weights() -> None:
    show_reading(
        [
            _("Every matrix is a sum of simple ones, each with a direction that it reads, one that it writes, and how "
              "strongly: its singular value. A slider multiplies one of the strongest by z; at 1 it stays."),
            _("At the left the open head before and after, at the right what the model then says. Other layers’ heads "
              "move too: “use on every page” shows them."),
            _("Transformer² learns one z for each singular value of every matrix and kind of task, and mixes these "
              "vectors for a text. Here they are set by hand, nothing is learned."),
        ],
        formula="W = U · Σ · Vᵀ\nW′ = U · (Σ · diag(z)) · Vᵀ",
        source="Sun, Cetin & Tang 2025, arXiv:2501.06252",
        attempt=_("Set the first singular value of the query matrix to 0, then that of the down projection: which "
                  "one changes the prediction more?"),
    )  # fmt: skip  # one sentence a paragraph


def _cost() -> None:
    show_reading(
        [
            _("Each line is the work of attention in this model, if all of its heads had that rule; both axes are "
              "logarithmic, so a line twice as steep grows with the square."),
            _("Softmax is cheap in short texts: a rule that is linear in the length pays off once the text has more "
              "tokens than there are features, or dimensions of a head."),
            _("The formulas count matrix products only; real machines depend on much else. The "
              "measurement computes one head here over ever longer texts and plots its seconds and bytes."),
        ],
        formula="softmax: 2 n² d\nkernel:  2 n m (d + 1),  m features\nhybrid:  (7 · Lightning + softmax) / 8",
        source="Katharopoulos et al. 2020, arXiv:2006.16236; MiniMax 2025, arXiv:2501.08313",
        attempt=_("Choose the diagonal blocks and let a block grow: which line does theirs approach?"),
    )  # fmt: skip  # one sentence a paragraph
