"""The components of a composite variant: their masks, and their shares of attention if they do not overlap."""

from __future__ import annotations

from html import escape

import numpy as np
import streamlit as st

from attention.zoo.head import Head
from attention.zoo.variant import Variant
from ui.shell.components import show_html
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.mask_strip import mask_strip


def show_parts(variant: Variant, values: dict[str, int], weights: np.ndarray, *, key: str) -> None:
    """Show a small picture of each part, with its share of these weights [tokens, tokens] if parts do not overlap."""
    if variant.parts is None:
        return
    n_tokens = len(weights)
    masks = [one.numpy() for one in variant.parts(n_tokens, **variant.numbers(values, n_tokens))]
    names = [_(one) for one in variant.part_names]
    if np.sum(masks, axis=0).max() <= 1:
        shares = shares_of(weights, masks)
        names = [f"{name} · {number(share, 'share')}" for name, share in zip(names, shares, strict=True)]
    show_html(mask_strip(masks, names), key=key)


def show_persistent(variant: Variant, head: Head, values: dict[str, int]) -> None:
    """Show the mean attention on persistent tokens that are not part of the text, and what they are."""
    if variant.persistent is None:
        return
    shares = variant.persistent(head, **variant.numbers(values, head.n_tokens)).mean(0).tolist()
    if not shares:
        return
    each = " · ".join(f"p{at}\u00a0{number(share, 'share')}" for at, share in enumerate(shares))
    words = _("mean over the text. The paper learns them; here their keys are random and their values are 0, so that "
              "they take attention and add nothing.")  # fmt: skip
    heading = _("Attention on persistent tokens:")
    st.html(f"<p class='atlas-caption'><b>{escape(heading)}</b> {escape(f'{each}; {words}')}</p>")


def shares_of(weights: np.ndarray, masks: list[np.ndarray]) -> list[float]:
    """The share of each row's absolute weight in a mask, averaged over non-zero rows."""
    sizes = np.abs(np.nan_to_num(weights))
    total = sizes.sum(1)
    return [float((np.where(mask, sizes, 0.0).sum(1)[total > 0] / total[total > 0]).mean()) for mask in masks]
