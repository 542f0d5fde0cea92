"""Help texts for the views of the page Masks."""

from __future__ import annotations

from pages.masks.state import View
from ui.shared.help_card import show_reading
from ui.wording.i18n import _

MASKED = "weights = softmax(scores + mask),  mask = 0 or −∞"


def explain(view: View) -> None:
    """Show the open view's help."""
    {"gallery": _gallery, "model": _on_model, "sweep": _sweep}[view]()


def _gallery() -> None:
    show_reading(
        [
            _("A mask says which keys a query may look at. Each small picture is one way to choose them, rows looking, "
              "columns looked at, what is seen in colour; the large one is the same over your text."),
            _("What one layer hides, several can pass on: with the slider under it, cells of the second "
              "colour are tokens that can reach it through those in between."),
            _("At the right, what a pattern saves: a window costs the same for every token, full "
              "attention more with each one."),
        ],
        formula=f"{MASKED}\nwindow of w, L layers: reach = L · (w − 1)",
        source="Child et al. 2019, arXiv:1904.10509; Beltagy et al. 2020, arXiv:2004.05150",
        attempt=_("Choose the sliding window, make it small and let the layers grow: after how many does the "
                  "first token reach the last?"),
    )  # fmt: skip  # one sentence a paragraph


def _on_model() -> None:
    show_reading(
        [
            _("The model runs once more with the pattern laid over its own mask. Left the open head as it is, beside "
              "it the same head under the pattern; hatched cells are masked."),
            _("What a hidden key was given is not lost: the softmax shares it out among the keys that are left, and "
              "all later layers work with what comes of that."),
            _("At the right, what the model then predicts, and how much of its attention every head had on cells that "
              "are now hidden: layers down, heads across."),
            _("A head may look elsewhere with more than was cut from it: what the layers below give it has changed, "
              "too."),
        ],
        formula=f"{MASKED}\nattention cut = Σ weight before, over the hidden keys, mean over queries",
        source="Beltagy et al. 2020, arXiv:2004.05150; Xiao et al. 2023, arXiv:2309.17453",
        attempt=_("Choose the sliding window and make it small; then choose “sinks and window” with a single token at "
                  "the start: how much of the prediction comes back?"),
    )  # fmt: skip  # one sentence a paragraph


def _sweep() -> None:
    show_reading(
        [
            _("Each point is one run of the model under a pattern. To the right the window grows; the higher the "
              "point, the more the text surprises the model (its perplexity)."),
            _("At the same place all patterns keep about as many cells, so their lines can be compared; the level one "
              "is full attention."),
            _("Where a line comes down to that level, so few keys are enough for this text. The patterns are laid over "
              "the model as it is: it was not trained for them."),
        ],
        formula="perplexity = exp(−1/n · Σ ln p(xᵢ | x₁ … xᵢ₋₁))",
        source="Beltagy et al. 2020, arXiv:2004.05150; Xiao et al. 2023, arXiv:2309.17453",
        attempt=_("Type a longer text: from which window on does perplexity stay near full attention, and which "
                  "pattern gets there first?"),
    )  # fmt: skip  # one sentence a paragraph
