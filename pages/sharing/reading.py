"""Help texts for the views of the page Sharing heads."""

from __future__ import annotations

from pages.sharing.state import View
from ui.shared.help_card import show_reading
from ui.shell.page import PageContext
from ui.wording.i18n import _

POOLED = "k_shared = mean of k over a group,  v_shared = mean of v"
SOURCE = "Shazeer 2019, arXiv:1911.02150; Ainslie et al. 2023, arXiv:2305.13245"


def explain(opened: PageContext, view: View) -> None:
    """Show the open view's help."""
    alone = opened.capture.n_kv_heads == 1  # nothing is left to share, and nothing is drawn below the groupings
    (_counts if view == "counts" else _on_model)(alone)


def _elsewhere() -> str:
    return _("This model already shares one key/value head among all: open another at the left and average its heads.")


def _on_model(alone: bool) -> None:
    show_reading(
        [
            _("At the top every way to share: each query head its own keys and values (MHA), one for a "
              "group (GQA), one for all (MQA). Click one; below it you see who reads what, now and "
              "averaged."),
            _("Neighbours read the mean of their keys and values, at once and in every layer. The two maps are the "
              "open head before and after."),
            _("At the right, what the model then predicts, what its cache takes if it has one, and how far every head "
              "has moved: layers down, heads across."),
        ],
        formula=f"{POOLED}\ncache = 2 · layers · kv_heads · d_head · tokens",
        source=SOURCE,
        attempt=_elsewhere() if alone else _("Average to a single key/value head: which layers drift most, and does "
                                             "the model still predict the same?"),
    )  # fmt: skip  # one sentence a paragraph


def _counts(alone: bool) -> None:
    show_reading(
        [
            _("The model runs once for every number of key/value heads that its own can be averaged to: a bar for "
              "each, in colour the one that is chosen at the top."),
            _("First, how far the prediction moves from the unchanged model’s (KL); beside it, where the model has "
              "them, the perplexity of the text and the bytes of the cache."),
            _("Bytes fall in proportion to the heads; the loss does not, and depends on the text."),
        ],
        formula=f"{POOLED}\nKL(p ‖ q) = Σ p · (ln p − ln q)",
        source=SOURCE,
        attempt=_elsewhere() if alone else _("Choose another example at the left: does the same number of heads lose "
                                             "as much there?"),
    )  # fmt: skip  # one sentence a paragraph
