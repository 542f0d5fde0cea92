"""The last view of the page Positions: five position encodings, each from its formula, in the same kind of picture."""

from __future__ import annotations

from html import escape

import numpy as np
import pandas as pd

from analysis.position_terms import N_POSITIONS, PositionTerm, position_terms
from analysis.positions import Turned
from attention.position_biases import POSITIONS, Scheme
from model_runner.questions import LearnedPositions
from pages.positions.places import titled
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shared.finding import show_finding
from ui.shell.components import mount
from ui.shell.page import PageContext, translated
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.components.rotation import position_schemes
from viz.components.rotation.position_schemes import SchemePicture
from viz.position_svg import panels_svg

N_ = str  # marks a text for Babel without translating it here

FORMULAS = {
    "sinusoidal": "p(m)·p(n) = Σ cos((m − n)·ωᵢ)",
    "learned": "p(m)·p(n)",
    "t5": "b[bucket(m − n)]",
    "alibi": "−2^(−8h/n) · (m − n)",
    "rotary": "1/n · Σ cos((m − n)·θᵢ)",
}
NOTES = {
    "sinusoidal": N_("In {size} dimensions, as many as here. One step on is one fixed rotation."),
    "learned": N_("This model’s own table of {size} vectors. The line is the mean along each diagonal."),
    "t5": N_("This layer’s own biases, a line a head, over the {size} tokens of this text; the matrix is head 0."),
    "alibi": N_("A line for each of {size} heads, as many as here; the matrix is the steepest."),
    "rotary": N_("With the frequencies of layer {layer}, for equal content in every pair."),
}
NOT_OWN = {
    "learned": N_("Not this model’s: {size} vectors of a small GPT-2 that comes with the app; their mean by distance."),
    "t5": N_(
        "Not this layer’s: the {size} buckets of the embedded translator’s decoder, learned on short sentences and "
        "drawn to distance {far}; the matrix is head 0."
    ),
    "rotary": N_("With θᵢ = 10000^(−2i/d): this layer has none of its own."),
}
UNREAD = N_("With θᵢ = 10000^(−2i/d): this layer’s own cannot be read.")


def show_others(opened: PageContext, layout: Turned | None) -> ExportBundle:
    """Show every scheme of the table; RoPE with this layer's frequencies if it has them."""
    table = opened.runner.submit(LearnedPositions()).result()
    terms = position_terms(opened.capture, opened.layer, layout, table)
    schemes = [_picture(opened, scheme, terms[scheme.name]) for scheme in POSITIONS]
    picture = position_schemes.PositionSchemesPicture(schemes=schemes, texts=translated(position_schemes.TEXTS))
    payload = picture.packed()
    show_finding(*_finding(terms))
    mount(position_schemes.SOURCE, payload, key="position_schemes", on={})
    names = {scheme.name: _(scheme.label) for scheme in POSITIONS}
    columns = {
        label if len(terms[name].curves) == 1 else f"{label} {line}": values
        for name, label in names.items()
        for line, values in enumerate(terms[name].curves)
    }
    arrays = {f"{name}_matrix": term.matrix for name, term in terms.items()}
    table = pd.DataFrame(
        np.stack([_filled(values) for values in columns.values()], axis=1),
        index=[str(distance) for distance in range(N_POSITIONS)],
        columns=list(columns),
    )
    title = titled(opened, _("the others"))
    return ExportBundle(
        name=f"positions-L{opened.layer}H{opened.head}-others",
        title=title,
        what="position term of q·k of five schemes against distance, each from its formula",
        tables=lambda: {title: table},
        page=component_page(position_schemes.SOURCE, payload),
        arrays=arrays | {f"{name}_by_distance": term.curves for name, term in terms.items()},
        code="\nfrom attention_atlas.analysis.position_terms import position_terms\n"
        "from attention_atlas.model_runner.questions import LearnedPositions\n"
        + ("" if layout is None else "from attention_atlas.analysis.positions import turned\n")
        + f"\nlayout = {'None' if layout is None else f'turned(capture, {opened.layer})'}\n"
        + f"terms = position_terms(capture, {opened.layer}, layout, runner.submit(LearnedPositions()).result())\n"
        + "alibi = terms['alibi'].curves",
        picture=lambda title, about: panels_svg(
            list(names.values()), [terms[name].curves for name in names], title=title, caption=about, shared=False
        ),
    )


def _finding(terms: dict[str, PositionTerm]) -> tuple[str, str]:
    """What remains at a large distance of the term of two tokens, under the two rotating schemes; HTML."""
    turned = (terms[name].curves[0] for name in ("rotary", "sinusoidal"))
    rotary, sinusoidal = (number(float(curve[-1] / curve[0]), "share") for curve in turned)
    words = _("{count} tokens apart, RoPE keeps {rotary} of its term, sinusoidal positions {sinusoidal}")
    said = words.format(count=N_POSITIONS - 1, rotary=rotary, sinusoidal=sinusoidal)
    return escape(said), escape(_("by formula"))


def _filled(values: np.ndarray) -> np.ndarray:
    """A line of N_POSITIONS numbers; NaN beyond the end of a short table."""
    return np.pad(values, (0, N_POSITIONS - len(values)), constant_values=np.nan)


def _picture(opened: PageContext, scheme: Scheme, term: PositionTerm) -> SchemePicture:
    note = (NOTES if term.own else NOT_OWN)[scheme.name]
    if scheme.name == "rotary" and not term.own and opened.capture.record(opened.layer).rotation is not None:
        note = UNREAD
    return SchemePicture(
        name=scheme.name,
        label=_(scheme.label),
        formula=FORMULAS[scheme.name],
        note=_(note).format(size=term.size, layer=opened.layer, far=term.curves.shape[1] - 1),
        enters=_(scheme.enters),
        stores=_(scheme.stores),
        depends=_(scheme.depends),
        extrapolates=_(scheme.extrapolates),
        paper=scheme.paper,
        matrix=term.matrix,
        curves=term.curves,
        steps=scheme.name == "t5",
    )
