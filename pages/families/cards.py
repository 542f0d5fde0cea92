"""The four kinds side by side: which tokens each token may attend to, by their own models' masks; one is open."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

import numpy as np

from analysis.families import Kind
from analysis.sentences import joined
from jobs.families import MODEL_OF
from pages.families.readings import OfKind
from pages.families.state import open_kind
from ui.shared.finding import show_finding
from ui.shell.components import mount
from ui.shell.models_offered import EMBEDDED
from ui.shell.page import PageContext, translated
from ui.state import session
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.components.family_masks import family_masks

N_ = str  # marks a text for Babel without translating it here

TITLES: dict[Kind, str] = {
    "causal": N_("Causal"),
    "prefix": N_("Prefix"),
    "encoder": N_("Encoder"),
    "two": N_("Encoder–decoder"),
}
USES: dict[Kind, str] = {
    "causal": N_("For continuing a text: each token sees itself and what came before."),
    "prefix": N_("For continuing a text whose beginning is read as a whole, in both directions."),
    "encoder": N_("For understanding a text: each token sees all of it. It fills gaps, classifies and retrieves."),
    "two": N_("For turning one text into another: it reads all of it, and attends back to it while it writes."),
}
WHO: dict[Kind, str] = {
    "causal": "GPT · Llama · Qwen",
    "prefix": "GLM · UniLM",
    "encoder": "BERT · RoBERTa · ModernBERT",
    "two": "T5 · BART · Marian",
}


def show_cards(opened: PageContext, found: Mapping[Kind, OfKind], chosen: Kind, own: Kind) -> bytes:
    """Show what differs between the kinds and the cards, and return their payload; a click opens a kind."""
    show_finding(*_finding(found))
    kinds = [
        family_masks.Kind(
            name=kind,
            title=_(TITLES[kind]),
            use=_(USES[kind]),
            who=WHO[kind],
            note=_note(opened, one, own),
            tokens=one.mask.tokens,
            cells=one.mask.cells,
            n_read=one.mask.n_read,
            cut=one.mask.cut,
        )
        for kind, one in found.items()
    ]
    payload = family_masks.FamilyMasksPicture(
        kinds=kinds, selected=chosen, texts=translated(family_masks.TEXTS)
    ).packed()

    def choose(kind: str) -> None:
        if kind in TITLES:
            open_kind(next(one for one in TITLES if one == kind), chosen)

    mount(family_masks.SOURCE, payload, key="family_masks", on={"kind": choose})
    return payload


def _finding(found: Mapping[Kind, OfKind]) -> tuple[str, str]:
    """Which part of all cells each kind leaves to be seen, of those that are drawn; HTML."""
    shares = {kind: number(float(np.mean(one.mask.cells > 0)), "share") for kind, one in found.items()}
    said = _("Who sees whom: causal {causal}, prefix {prefix}, encoder {encoder}, encoder–decoder {two}")
    return escape(said.format(**shares)), escape(_("of cells visible"))


def _note(opened: PageContext, one: OfKind, own: Kind) -> str:
    """Say which model's mask it is, and where the open model belongs."""
    name = _(EMBEDDED[MODEL_OF[one.kind]][0])
    here = (
        _("{name} with another mask, which it was not trained with").format(name=name) if one.kind == "prefix" else name
    )
    parts = [one.problem or _("Here: {model}.").format(model=here)]
    if own == one.kind and session.model() not in MODEL_OF.values():
        parts.append(_("The open model is of this kind: {name}.").format(name=opened.runner.info.name))
    return joined(*parts)
