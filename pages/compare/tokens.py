"""The last view of the page Compare: two tokenizations of a text, or two texts, one above the other."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from analysis.aligned_heads import sides_of
from analysis.alignment import Piece, aligned
from model_runner import Capture
from pages.compare.names import is_written, model_of
from ui.shared import cached
from ui.shared.finding import show_finding
from ui.shell.components import show_html
from ui.shell.page import PageContext, translated
from ui.wording.i18n import _
from viz.aligned_tokens import TEXTS, Match, aligned_tokens

MOST_TOKENS = 1000  # per side; longer ones are too long to draw


@dataclass(frozen=True)
class TokenCounts:
    """One side's counts: tokens with characters, the characters, and special tokens."""

    tokens: int
    characters: int
    special: int

    @property
    def each(self) -> float:
        """Characters per token; NaN without tokens."""
        return self.characters / self.tokens if self.tokens else float("nan")


@dataclass(frozen=True, eq=False)
class Cuts:
    """Both sides' names, counts and pieces as drawn; ``kinds`` of the pieces that have characters."""

    names: tuple[str, str]
    counts: tuple[TokenCounts, TokenCounts]
    blocks: tuple[Match, ...]
    kinds: tuple[str, ...]


def counts_of(capture: Capture) -> TokenCounts:
    own = [token for token in capture.tokens if token.end > token.start]
    characters = {i for token in own for i in range(token.start, token.end)}
    return TokenCounts(len(own), len(characters), len(capture.tokens) - len(own))


def show_tokens(opened: PageContext, other: PageContext) -> Cuts | None:
    """Show the strips and the counts. None, with a sentence, for longer texts."""
    longest = max(len(side.capture.tokens) for side in (opened, other))
    if longest > MOST_TOKENS:
        words = _("Tokens are compared for texts of up to {most} tokens; here one has {count}.")
        st.info(words.format(most=f"{MOST_TOKENS:,}", count=f"{longest:,}"))
        return None
    found = cuts_of(opened, other)
    own, others = (counts.tokens for counts in found.counts)
    said = _("{count} tokens on both sides") if own == others else _("{count} tokens in A, {other} in B")
    each = " · ".join(f"{side} {counts.each:.1f}" for side, counts in zip("AB", found.counts, strict=True))
    beside = _("characters per token: {each}").format(each=each) if own and others else ""
    show_finding(said.format(count=own, other=others), beside)
    show_html(strips(found), key="aligned_tokens")
    st.html(f"<p class='atlas-caption'>{_about(opened, other, found)}</p>")
    table = counts_table(found)
    st.table(table.map(lambda value: f"{value:.2f}".removesuffix(".00")))
    return found


def cuts_of(opened: PageContext, other: PageContext) -> Cuts:
    key = ("cuts", repr(opened.capture.request), repr(other.capture.request))
    pieces = cached.made(key, lambda: aligned(*sides_of(opened.capture, other.capture)))
    counts = counts_of(opened.capture), counts_of(other.capture)
    blocks = tuple(Match(_texts(opened, piece, 0), _texts(other, piece, 1)) for piece in pieces)
    names = f"A · {model_of(opened)}", f"B · {model_of(other)}"
    captures = opened.capture, other.capture
    kinds = tuple(block.kind for piece, block in zip(pieces, blocks, strict=True) if is_written(piece, captures))
    return Cuts(names, counts, blocks, kinds)


def strips(found: Cuts) -> str:
    """Both tokenizations; HTML."""
    label = _("Both texts, token above token where they stand for the same characters.")
    return aligned_tokens(found.blocks, names=found.names, label=label, texts=translated(TEXTS))


def counts_table(found: Cuts) -> pd.DataFrame:
    """The counts of both tokenizations."""
    rows = {
        _("tokens"): [one.tokens for one in found.counts],
        _("characters"): [one.characters for one in found.counts],
        _("characters per token"): [one.each for one in found.counts],
        _("special tokens beside the text"): [one.special for one in found.counts],
    }
    return pd.DataFrame(rows.values(), index=list(rows), columns=list(found.names), dtype=float)


def _texts(side: PageContext, piece: Piece, number: int) -> tuple[str, ...]:
    run = piece.of(number)
    return () if run is None else tuple(side.capture.tokens[i].text for i in run)


def _about(opened: PageContext, other: PageContext, found: Cuts) -> str:
    if opened.runner is other.runner and opened.capture.text == other.capture.text:
        return _(
            "Both sides are cut by the same tokenizer. Choose another model for B to see another cut of this text."
        )
    kinds = found.kinds
    words = _(
        "Pairs of one token each: {same}. Cut differently (orange): {other}. On one side only "
        "(dashed): {alone}. Tokens that stand for no text, such as ⟨bos⟩, are not counted."
    )
    return words.format(same=kinds.count("same"), other=kinds.count("other"), alone=kinds.count("alone"))
