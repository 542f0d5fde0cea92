"""Help texts for the views of the page Long texts."""

from __future__ import annotations

from analysis.mask_effect import looks_ahead
from ui.shared.help_card import show_reading
from ui.shell.page import PageContext
from ui.wording.i18n import _


def explain(opened: PageContext, view: str) -> None:
    """Show the open view's help."""
    ahead = looks_ahead(opened.capture)
    turns = opened.capture.record(opened.layer).rotation is not None
    {
        "map": lambda: _map(ahead), "heads": lambda: _heads(ahead, turns), "curves": lambda: _curves(ahead),
        "needle": _needle,
    }[view]()  # fmt: skip  # a view a name


def _map(ahead: bool) -> None:
    past = _(
        "The diagonal is the text just before. What lies far below it is what the head fetches from long ago; "
        "the list at the right leads there."
    )
    around = _(
        "Around the diagonal is the text just before and just after, for this model looks both ways. What lies "
        "far from it is what the head fetches from far away; the list at the right leads there."
    )
    show_reading(
        [
            _("Each row is a token that looks, each column a token that is looked at. From afar a pixel stands for "
              "many cells and shows the largest of them, or their mean; closer, each cell is one exact weight."),
            _("The thin column at the left is just the first token: heads with nothing to say park their "
              "attention there (an attention sink), and in a pixel with others it would hide them."),
            around if ahead else past,
        ],
        formula="weights = softmax(q · k / √d),  computed tile by tile: exp(score − log Σ exp(scores of the row))",
        source="Xiao et al. 2023, arXiv:2309.17453; Milakov & Gimelshein 2018, arXiv:1805.02867",
        attempt=_("Open half a chapter of a book above, open in “every head” one with points far from the "
                  "diagonal, and follow its strongest distant link: does the text say the same there?"),
    )  # fmt: skip  # one sentence a paragraph


def _heads(ahead: bool, turns: bool) -> None:
    beyond = _(
        "Beyond the lengths that a model was trained on, stripes along the diagonal are its rotation, which has "
        "never turned so far."
    )
    past = _(
        "A thin diagonal: a head that looks at the text just before. Columns: tokens that all "
        "others look at. Scattered points far from the diagonal: a head that fetches single tokens "
        "from long ago."
    )
    around = _(
        "A thin diagonal: a head that looks at the text just before or just after. Columns: tokens "
        "that all others look at. Scattered points far from the diagonal: a head that fetches "
        "single tokens."
    )
    show_reading(
        [
            _("Every head of every layer over the whole text, a few rows at a time; a pixel shows the largest weight "
              "under it, the first token left out. A click opens the head on the map."),
            around if ahead else past,
            *([beyond] if turns else []),
        ],
        formula="effective distance = Σ w·|q − k| / Σ w,  over the keys k but the first",
        source="Xiao et al. 2023, arXiv:2309.17453; Clark et al. 2019, arXiv:1906.04341",
        attempt=_("Choose the effective distance: which heads look farthest, and what do their pictures have in "
                  "common?"),
    )  # fmt: skip


def _curves(ahead: bool) -> None:
    near = _(
        "Above, layer by layer: how much attention is parked on the first token, how much stays with the tokens "
        "less than 64 away, before and after, and how far away the rest is."
    )
    last = _(
        "Above, layer by layer: how much attention is parked on the first token, how much stays with the last "
        "64 tokens, and how far away the rest is."
    )
    growing = _(
        "Entropy grows with the number of keys to choose from; the gray line is a head that cannot choose at all."
    )
    even = _(
        "Every token has the whole text to choose from; the gray line is the entropy of a head that cannot choose "
        "at all."
    )
    deeper = _("Open another head on the map: is its V deeper, and does its entropy grow as fast?")
    below = _("Open another head on the map: is its V deeper, and how far below the gray line is its entropy?")
    show_reading(
        [
            near if ahead else last,
            _("Below, the open head. By relative position attention often has the shape of a V: the beginning and "
              "the end of a text are looked at, its middle is not."),
            even if ahead else growing,
        ],
        formula="entropy = −Σ w·log₂ w ≤ log₂(number of keys)",
        source="Liu et al. 2023, arXiv:2307.03172; Xiao et al. 2023, arXiv:2309.17453",
        attempt=below if ahead else deeper,
    )  # fmt: skip


def _needle() -> None:
    show_reading(
        [
            _("A sentence is hidden in the text at the chosen depth, and its beginning is repeated at "
              "the end. The model predicts each token of the answer from the right ones before it; wrong "
              "predictions are crossed out."),
            _("A head has copied a token when the model said it while it had the head’s strongest "
              "attention. Heads that copy much of the needle are retrieval heads."),
            _("If these heads fetch the needle, the model fails without them, and does not without as many others."),
        ],
        formula="copied = |tokens of the needle said while argmax of the row is on them| / |tokens of the needle|",
        source="Wu et al. 2024, arXiv:2404.15574",
        attempt=_("Make the text longer, step by step: at which length does this model stop finding the needle?"),
    )  # fmt: skip
