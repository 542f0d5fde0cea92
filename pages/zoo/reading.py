"""How each view of the page Zoo is read."""

from __future__ import annotations

from pages.zoo.state import View
from ui.i18n import _
from ui.reading import show_reading


def explain(view: View) -> None:
    """The explanation of the view that is open."""
    (_cost if view == "cost" else _maps)()


def _maps() -> None:
    show_reading(
        [
            _("Left, the open head as the model has it. Beside it the same queries, keys and values with another rule "
              "in the place of softmax: the map that it draws or implies, rows looking, columns looked at."),
            _("At the right, where the two differ, or a second rule. The table says how far the head’s output moves, "
              "how widely it looks, and how much of the map a few patterns make up (its rank)."),
            _("The model was trained with softmax: a large error says that the rule is not a copy of it, and not that "
              "a model trained with it would be worse."),
        ],
        formula="softmax: exp(q·k/√d) / Σ exp(q·k/√d)\nkernel:  φ(q)·φ(k) / Σ φ(q)·φ(k)\n"
        "(φ(Q) φ(K)ᵀ) V = φ(Q) (φ(K)ᵀ V)",
        source="Katharopoulos et al. 2020, arXiv:2006.16236; Tay et al. 2020, arXiv:2009.06732",
        attempt=_("Choose Performer and let the number of features grow: does its map come near to softmax’s? Then "
                  "choose a head that looks at one token alone."),
    )  # fmt: skip  # one sentence a paragraph


def _cost() -> None:
    show_reading(
        [
            _("Each line is the work of attention in this model, if all of its heads had that rule; both axes are "
              "logarithmic, so a line twice as steep grows with the square."),
            _("Softmax is cheap in short texts: a rule that is linear in the length pays off once the text is longer "
              "than its features or its head."),
            _("Counted are products of matrices alone, by formula: what a machine makes of them depends on much else."),
        ],
        formula="softmax: 2 n² d\nkernel:  2 n m (d + 1),  m features\nhybrid:  (7 · Lightning + softmax) / 8",
        source="Katharopoulos et al. 2020, arXiv:2006.16236; MiniMax 2025, arXiv:2501.08313",
        attempt=_("Choose the diagonal blocks and let a block grow: which line does theirs come near to?"),
    )  # fmt: skip  # one sentence a paragraph
