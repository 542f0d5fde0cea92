"""The first view of the page Sharing heads: the model with averaged keys and values, on this text."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np
import streamlit as st

from analysis.comparison import NextTokenChange
from analysis.mask_effect import looks_ahead, perplexity
from analysis.number_text import three_digits
from analysis.sharing import output_drift, pooled_bytes
from model_runner import Capture
from model_runner.edits import SharedKeys
from model_runner.errors import NoLogits
from model_runner.memory import readable
from pages.sharing.picture import Shares, show_picture
from pages.sharing.state import Drift, SharingState, state
from ui.shared.code_pane import show_code
from ui.shared.model_code import attention_lines
from ui.shared.what_if import drift_of, output_finding, show_change, show_maps
from ui.shell.components import mount, name_figure, show_heading
from ui.shell.page import PageContext, edited, translated
from ui.state import session
from ui.state.controls import choose
from ui.state.edit_list import show_everywhere
from ui.wording.i18n import _
from viz.components.head_grid import head_grid as grid_component

N_ = str  # marks a text for Babel without translating it here

DRIFTS: dict[Drift, str] = {
    "attention": N_("Share of a head’s attention that lies elsewhere, mean over the tokens looking."),
    "output": N_("Change of what a head passes on, as a share of its length, over all tokens."),
}

DRIFT_NAMES: dict[Drift, str] = {"attention": N_("Drift of attention"), "output": N_("Drift of output")}


@dataclass(frozen=True, eq=False)
class Shared:
    """Before and after. Drifts are [layers, heads], NaN without attention; byte counts are before and after."""

    shares: Shares
    after: Capture
    attention: np.ndarray
    output: np.ndarray
    drift: Drift  # which of the two is drawn
    change: NextTokenChange | None
    perplexities: tuple[float, float] | None
    n_bytes: tuple[int, int] | None
    payload: bytes  # of the map of the drift

    @property
    def drawn(self) -> np.ndarray:
        return self.output if self.drift == "output" else self.attention


def show_on_model(opened: PageContext) -> Shared | None:
    """Show the groups, the open head before and after, and the effects. None if nothing is left to share.

    Raises RunnerError.
    """
    left, right = st.columns([0.76, 0.24], gap="medium")
    with left:
        finding = st.container()  # above what changes it
        shares = show_picture(opened)
        if shares.alone:
            st.info(_("This model has a single key/value head for all query heads (MQA): nothing is left to share."))
            return None
        after = edited(opened, (SharedKeys(shares.chosen),))
        show_maps(opened, after, said=output_finding(opened, after, _cause(shares)), finding=finding)
    with right:
        change = _show_next(opened, after)
        perplexities = _show_perplexity(opened, after)
        n_bytes = _show_bytes(opened, shares)
        show_everywhere(after.request.edits)
        drift = state().drift
        _ask_drift(drift)
        attention, output = drift_of(opened.capture, after), output_drift(opened.capture, after)
        payload = _show_drift(opened, output if drift == "output" else attention, DRIFTS[drift])
    if lines := attention_lines(opened.capture, opened.layer, shared=shares.chosen):
        words = _("The open layer in PyTorch: ◀ averages keys and values and copies them to the query heads")
        show_code(lines, "pool", words)
    return Shared(shares, after, attention, output, drift, change, perplexities, n_bytes, payload)


def _cause(shares: Shares) -> str:
    """The start of a sentence that names the edit; empty if nothing is shared further."""
    if shares.chosen == shares.own:
        return ""
    words = _("With {count} key/value heads") if shares.chosen > 1 else _("With 1 key/value head")
    return words.format(count=shares.chosen)


def _show_next(opened: PageContext, after: Capture) -> NextTokenChange | None:
    try:
        return show_change(opened, after)
    except NoLogits:
        return None


def _show_perplexity(opened: PageContext, after: Capture) -> tuple[float, float] | None:
    if looks_ahead(opened.capture):
        _say(_("Perplexity is undefined for bidirectional models."))
        return None
    try:
        found = perplexity(opened.capture), perplexity(after)
    except NoLogits:
        return None
    shown = [three_digits(value) for value in found]
    _say(_("Perplexity of the text: {before} before, {after} after.").format(before=shown[0], after=shown[1]))
    return found


def _show_bytes(opened: PageContext, shares: Shares) -> tuple[int, int] | None:
    """Show both sizes counted as keys and values, although a cache may hold a latent instead (MLA)."""
    if shares.cache is None:
        _say(_("No cache: this model reads a text at once and does not continue it."))
        return None
    before = pooled_bytes(opened.capture, shares.cache, shares.own)
    after = pooled_bytes(opened.capture, shares.cache, shares.chosen)
    words = _("The cache: {before} → {after}, {share} %.")
    _say(words.format(before=readable(before), after=readable(after), share=f"{100 * after / before:.0f}"))
    return before, after


def _say(words: str) -> None:
    st.html(f"<p class='atlas-caption'>{escape(words)}</p>")


def _ask_drift(drift: Drift) -> None:
    with st.container(key="drift_controls", horizontal=True, vertical_alignment="center", gap="small"):
        heading = _("Drift of")
        show_heading(escape(heading), width="content")
        choose(SharingState, "drift", drift, {"attention": _("attention"), "output": _("output")})


def _show_drift(opened: PageContext, drift: np.ndarray, meaning: str) -> bytes:
    """Show the layer × head map of how far every head moved; a click opens a head."""
    layers, heads = drift.shape
    _say(_(meaning))
    payload = grid_component.HeadGridPicture(
        thumbnails=np.zeros((layers, heads, 1, 1), np.uint8),
        keep=np.ones((layers, 1, 1), np.uint8),
        metric=drift,
        mode="metric",
        order=None,
        layer_has_weights=[opened.capture.has_weights(layer) for layer in range(layers)],
        selected=(opened.layer, opened.head),
        compare=None,
        groups=opened.capture.record(opened.layer).group,
        texts=translated(grid_component.TEXTS)
        | {"metric": _("drift"), "summary": _("How far every head moved: layers down, heads across.")},
        metric_range=(0.0, top_of(drift)),
        number="percent",
        max_height=230,
        shows="map_before",
    ).packed()
    name_figure(escape(_(DRIFT_NAMES[state().drift])), escape(_(meaning)))
    mount(grid_component.SOURCE, payload, key="sharing_drift", on={"head": _open_head})
    return payload


def top_of(drift: np.ndarray) -> float:
    """The upper end of the colour scale: 1, or the largest drift if an output moved by more than its norm."""
    return float(np.nanmax(drift, initial=1.0))


def _open_head(place: list[int] | None) -> None:
    if place is not None:
        session.move(layer=int(place[0]), head=int(place[1]))
