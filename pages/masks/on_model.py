"""The second view of the page Masks: the pattern applied to the model, and the effect on its attention."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np
import streamlit as st

from analysis.comparison import NextTokenChange
from analysis.head_names import group_size
from analysis.mask_effect import cut_mass, looks_ahead, perplexity
from analysis.number_text import three_digits
from analysis.sentences import joined
from attention.patterns import BY_NAME
from model_runner import Capture
from model_runner.edits import Edit
from model_runner.errors import NoLogits
from pages.masks.state import (
    BY_CHOICE,
    MaskChoice,
    MasksState,
    Painted,
    Where,
    edits_of,
    mask_chosen,
    names,
    painted,
    show_places,
    show_sliders,
    state,
    values_of,
)
from ui.shared.what_if import show_change, show_maps
from ui.shell.components import mount, show_heading
from ui.shell.page import PageContext, edited, translated
from ui.state import session
from ui.state.controls import pick
from ui.state.edit_list import show_everywhere
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.components.head_grid import head_grid as grid_component


@dataclass(frozen=True, eq=False)
class MaskOnModel:
    """Before and after: ``cut`` [layers, heads] is the attention that was cut; perplexities are None if undefined."""

    choice: MaskChoice
    edits: tuple[Edit, ...]
    after: Capture
    cut: np.ndarray
    change: NextTokenChange | None
    perplexities: tuple[float, float] | None
    payload: bytes  # of the map of what was cut


def show_on_model(opened: PageContext) -> MaskOnModel:
    """Show the controls, the open head before and after, and the changes. Raises RunnerError."""
    n_tokens = len(opened.capture.tokens)
    with st.container(key="mask_controls", horizontal=True, vertical_alignment="center", gap="small"):
        choice, where = mask_chosen(), state().where
        labels = {name: _(BY_CHOICE[name].label) for name in names(masks_only=True)}
        pick(MasksState, "pattern", choice.name, labels, width=190)
        wheres: dict[Where, str] = {
            "all": _("on all layers"),
            "second": _("on every second layer"),
            "chosen": _("on chosen layers"),
        }
        pick(MasksState, "where", where, wheres, width=200)
        layers, heads = show_places(opened, where)
        st.html(f"<p class='atlas-caption'>{escape(_where_words(where, layers, opened.layer))}</p>", width="stretch")
    left, right = st.columns([0.76, 0.24], gap="medium")
    with left:
        values = values_of(choice, n_tokens)
        show_sliders(choice, values, n_tokens, beside=True, causal=not looks_ahead(opened.capture))
        found = painted(opened.capture, choice, values)
        edits = edits_of(choice, values, found.hidden, layers, heads)
        after = edited(opened, edits)
        show_maps(opened, after)
        _show_hidden(found)
    with right:
        change = _show_next(opened, after)
        perplexities = _show_perplexity(opened, after, choice, values)
        show_everywhere(after.request.edits)
        cut = cut_mass(opened.capture, after)
        payload = _show_cut(opened, cut)
    return MaskOnModel(choice, edits, after, cut, change, perplexities, payload)


def _where_words(where: str, layers: tuple[int, ...] | None, open_layer: int) -> str:
    if layers == ():
        return _("No layer is chosen, so nothing changes.")
    parts: list[str] = []
    if where == "second" and layers:
        parts.append(_("Layers {layers} get the pattern, as in GPT-3 (Brown et al. 2020).").format(
            layers=", ".join(map(str, layers))))  # fmt: skip
    if layers is not None and open_layer not in layers:
        parts.append(_("Layer {layer}, which is open, stays as it is.").format(layer=open_layer))
    return joined(*parts)


def _show_hidden(found: Painted) -> None:
    if found.hidden:
        words = _("Cells hidden by hand in the gallery, {count}, are hidden here too.").format(count=len(found.hidden))
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>")


def _show_next(opened: PageContext, after: Capture) -> NextTokenChange | None:
    try:
        return show_change(opened, after)
    except NoLogits:
        return None


def _show_perplexity(
    opened: PageContext, after: Capture, choice: MaskChoice, values: dict[str, int]
) -> tuple[float, float] | None:
    """Show perplexity of the whole text; for bidirectional models or patterns, only where the target is not visible."""
    first, words = 1, _("Perplexity of the text: {before} before, {after} after.")
    if looks_ahead(opened.capture):
        words = _("Perplexity is undefined for bidirectional models.")
    elif n_ahead := BY_NAME[choice.name].n_ahead(values):
        first = max(1, n_ahead)
        words = _("Perplexity of the tokens after the prefix, which sees itself: {before} before, {after} after.")
    try:
        found = perplexity(opened.capture, first), perplexity(after, first)
    except NoLogits:
        return None
    shown = [three_digits(value) for value in found]
    st.html(f"<p class='atlas-caption'>{escape(words.format(before=shown[0], after=shown[1]))}</p>")
    return None if looks_ahead(opened.capture) else found


def _show_cut(opened: PageContext, cut: np.ndarray) -> bytes:
    """Show the layer × head map of the attention that was cut; a click opens a head."""
    layers, heads = cut.shape
    here = number(float(cut[opened.layer, opened.head]), "share")
    heading = _("attention cut")
    aside = _("of L{layer}H{head}: {share}").format(layer=opened.layer, head=opened.head, share=here)
    show_heading(escape(heading), escape(aside))
    payload = grid_component.HeadGridPicture(
        thumbnails=np.zeros((layers, heads, 1, 1), np.uint8),
        keep=np.ones((layers, 1, 1), np.uint8),
        metric=cut,
        mode="metric",
        order=None,
        layer_has_weights=[opened.capture.has_weights(layer) for layer in range(layers)],
        selected=(opened.layer, opened.head),
        compare=None,
        groups=group_size(opened.capture, opened.layer),
        texts=translated(grid_component.TEXTS)
        | {"metric": heading, "summary": _("The attention cut from every head: layers down, heads across.")},
        metric_range=(0.0, 1.0),
        number="percent",
        max_height=250,
        shows="map_before",
    ).packed()
    mount(grid_component.SOURCE, payload, key="mask_cut", on={"head": _open_head})
    return payload


def _open_head(place: list[int] | None) -> None:
    if place is not None:
        session.move(layer=int(place[0]), head=int(place[1]))
