"""Help texts for the views of the page KV cache."""

from __future__ import annotations

from pages.kv_cache.state import View
from ui.shared.help_card import show_reading
from ui.wording.i18n import _


def explain(view: View, *, across: bool) -> None:
    """Show the open view's help; ``across``: for a model with cross-attention."""
    {"race": lambda: _race(across=across), "bytes": _bytes, "what_if": _what_if}[view]()


def _race(*, across: bool) -> None:
    words = _("positions that are read")
    first, second, told = (" + n", " + n · t", f"\nn: {words}") if across else ("", "", "")
    show_reading(
        [
            _("The same text is continued twice. Each new token needs the keys and values of all tokens "
              "before it: with the cache they are kept once made, without it they are all made again at "
              "every step."),
            _("Left, how fast each way is on this machine, measured. Right, what attention multiplies at each step, "
              "counted: one row of the map with the cache, the whole map without."),
            _("Below, the tokens of both: the cache changes no number beyond rounding, so they are the same."),
        ],
        formula=f"q · k, {_('with the cache')}: t{first}\nq · k, {_('without')}: t · (t + 1) / 2{second}{told}",
        source="Pope et al. 2023, arXiv:2211.05102; Alammar & Grootendorst 2024",
        attempt=_("Let 200 tokens race: does the one without the cache fall further behind, the longer the text?"),
    )  # fmt: skip  # one sentence a paragraph


def _bytes() -> None:
    show_reading(
        [
            _("Left, what the cache holds of this text: the formula with this model’s numbers in it, and what its "
              "tensors really take."),
            _("The bars under it are the same model if more or fewer of its query heads shared their "
              "keys and values: the bytes depend on the key/value heads, not on how many query heads "
              "share them."),
            _("Right, well-known models at a length that you choose. Their caches grow with every token; layers with a "
              "window stop once it is full."),
            _("An encoder–decoder has two caches: one of its output, a row longer at each step, and one "
              "of the source, which is made once."),
        ],
        formula="bytes = 2 · layers · kv_heads · d_head · tokens · bytes per number",
        source="Shazeer 2019, arXiv:1911.02150; Ainslie et al. 2023, arXiv:2305.13245; "
        "DeepSeek-AI 2024, arXiv:2405.04434",
        attempt=_("Drag the length to 4,096 tokens and compare Llama-2-7b with Llama-3.1-8B, which has as many "
                  "layers: what does sharing save?"),
    )  # fmt: skip  # one sentence a paragraph


def _what_if() -> None:
    show_reading(
        [
            _("Here the cache forgets: only the last W tokens stay in it, with or without the first S; or all stay, "
              "rounded to int8."),
            _("The curves are how far the next token’s distribution moves from that of the full cache, "
              "for every W; the vertical line is your W, and to its right are the tokens that it changes."),
            _("Below, how the text continues with the full cache and with yours, the first difference "
              "marked."),
        ],
        formula="KL(p ‖ q) = Σ p · (log₂ p − log₂ q)",
        source="Xiao et al. 2023, arXiv:2309.17453",
        attempt=_("Choose “the last W”, then “first S + last W” with S = 1: what is it worth to keep the very first "
                  "token?"),
    )  # fmt: skip  # one sentence a paragraph
