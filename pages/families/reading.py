"""Help texts for the views of the page Families."""

from __future__ import annotations

from pages.families.state import View
from ui.shared.help_card import show_reading
from ui.wording.i18n import _


def explain(view: View) -> None:
    """Show the open view's help."""
    (_known if view == "known" else _kinds)()


def _kinds() -> None:
    show_reading(
        [
            _("Each card is a kind of model, and its grid says who may look at whom on this text: a row is a token "
              "looking, a filled cell one that it may look at. The grids are the masks of the models themselves."),
            _("Click a card: below are a head’s weights, which lie only on the filled cells, and what "
              "the model says. An encoder–decoder is two texts in one grid: the one that is read, and "
              "below it the one it writes."),
            _("There is no prefix model here: the causal one is given that mask, for which it was not "
              "trained. Its grid has the same form as an encoder–decoder’s, in a single stack of layers."),
        ],
        formula="weights = softmax(q·k / √d + mask),  mask = 0 or −∞",
        source="Vaswani et al. 2017, arXiv:1706.03762; Raffel et al. 2019, arXiv:1910.10683",
        attempt=_("Open the encoder–decoder and type another translation above the table: at which word does "
                  "it disagree, and does it continue from your word or from its own?"),
    )  # fmt: skip  # one sentence a paragraph


def _known() -> None:
    show_reading(
        [
            _("Each row is a model that others were built on, with what its paper says about its parts."),
            _("The mask makes the kind: what a token may see decides what the model can be trained to "
              "predict. A model that sees the word cannot learn to predict it, so encoders hide it."),
            _("From left to right the parts that changed most: places as vectors, then as biases or turns; "
              "normalisation after each sublayer, then before it and without a mean."),
        ],
        formula="causal: Σ ln p(xᵢ | x₁ … xᵢ₋₁)\n"
        "hidden words: Σ ln p(xᵢ | all but the hidden)\n"
        "two texts: Σ ln p(yᵢ | x, y₁ … yᵢ₋₁)",
        source="Devlin et al. 2018, arXiv:1810.04805; Raffel et al. 2019, arXiv:1910.10683; Du et al. 2021, "
        "arXiv:2103.10360",
        attempt=_("Load a model of your own at the left and go back to the kinds: it is put into the row of its kind "
                  "by its mask, not by its name."),
    )  # fmt: skip  # one sentence a paragraph
