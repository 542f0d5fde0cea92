"""Help texts for the views of the page Compare."""

from __future__ import annotations

from pages.compare.state import View
from ui.shared.help_card import show_reading
from ui.wording.i18n import _

VASWANI = "Vaswani et al. 2017, arXiv:1706.03762"


def explain(view: View) -> None:
    """Show the open view's help."""
    {"maps": _maps, "metrics": _metrics, "next": _next, "matrices": _matrices, "tokens": _tokens}[view]()


def _whole() -> str:
    return _(
        "Whole layers: the mean of all heads of the layer that A is in, and of B’s. No single head need look like it: "
        "half the heads on one word and half on another make a map with both."
    )


def _maps() -> None:
    show_reading(
        [
            _("A is the current selection: the model, the text and the head of the other pages. B is the "
              "same model on the same text, or whatever you choose instead."),
            _("In the box of B’s model, a version such as @step1000 is the same model of the hub after other steps of "
              "training."),
            _("The third map is A minus B: indigo where A looks more, orange where B does, and hatched where one "
              "of them cannot look."),
            _("Rows and columns are pieces of the text, not token numbers: where two tokenizers cut it differently, "
              "weights are summed over the tokens looked at and averaged over those looking, so that each row still "
              "adds up to 100 %."),
            _whole(),
        ],
        formula="difference = A − B\nelsewhere = mean over rows of ½ Σ |A − B|",
        source=VASWANI,
        attempt=_("Type another text for B with one word exchanged: in which rows does the head change its mind?"),
    )  # fmt: skip  # one sentence a paragraph


def _metrics() -> None:
    show_reading(
        [
            _("Each line is one number that says what a head does, for A and for B, with the difference at the right."),
            _("Bars of shares run to 100 %; those of entropy and distance run to the larger of the two."),
            _whole(),
            _("A dash means that the text has nothing to measure: for induction, no repeated token."),
        ],
        formula="entropy = −Σ p · log₂ p",
        source="Clark et al. 2019, arXiv:1906.04341; Olsson et al. 2022, arXiv:2209.11895",
        attempt=_("Take the induction example as text: which head B has the largest share of induction?"),
    )


def _next() -> None:
    show_reading(
        [
            _("Each line is a token that one of the sides finds likely, with its probability on both."),
            _("Heads do not matter here: it is the whole model that predicts. Change the text or the model of B."),
            _("KL says in one number how far B’s distribution is from A’s; it is 0 where they are the same."),
        ],
        formula="KL(A ‖ B) = Σ p_A · (log₂ p_A − log₂ p_B)",
        source="Kullback & Leibler 1951, doi:10.1214/aoms/1177729694",
        attempt=_("Exchange the word on which the prediction rests: “The capital of Italy is” against France."),
    )


def _matrices() -> None:
    show_reading(
        [
            _("Each bar is one head: how far its matrix in A is from the one in B, as a share of B’s."),
            _("An adapter such as LoRA changes some matrices and leaves the others: their bars are 0 %."),
            _("A small change of a matrix can move a head’s weights far, and a large one may not: see the maps."),
        ],
        formula="‖W_A − W_B‖_F / ‖W_B‖_F",
        source="Hu et al. 2021, arXiv:2106.09685",
        attempt=_("Open a model with an adapter and choose “without the adapter” for B: which heads changed most?"),
    )


def _tokens() -> None:
    show_reading(
        [
            _("A tokenizer cuts a text into tokens before a model sees it. Tokens that stand for the same characters "
              "are above one another."),
            _("Orange is what the two cut differently; a dashed box is what only one side has."),
            _("Fewer tokens for the same text mean longer tokens from a larger vocabulary: less to attend over, more "
              "to learn by heart."),
        ],
        formula=_("characters per token = characters / tokens"),
        source="Sennrich et al. 2016, arXiv:1508.07909; Kudo & Richardson 2018, arXiv:1808.06226",
        attempt=_("Choose another model for B and type a rare name, an emoji or a Chinese sentence."),
    )  # fmt: skip  # one sentence a paragraph
