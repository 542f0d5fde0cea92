"""Export of the open kind: its map, its mask and its output, as tables and files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.joined import Joined
from analysis.tables import labelled
from jobs.families import DecodedPosition, Guess
from pages.families.cards import TITLES
from pages.families.readings import OfKind
from pages.families.sentences import python_lines
from ui.shared.export_bundle import ExportBundle, arrays_of
from ui.shared.head_export import head_view
from ui.shared.head_views import DrawnHead
from ui.shared.what_if import output_name
from ui.wording.i18n import _


def kind_view(drawn: DrawnHead, one: OfKind) -> ExportBundle:
    """The head's map, with the mask and the outputs."""
    view = head_view(drawn)
    whole = "capture.cross" if isinstance(drawn.opened.capture, Joined) else "capture"  # it has all three masks
    masked = python_lines(drawn.opened) if one.kind == "encoder" else ""
    return replace(
        view,
        name=f"{one.kind}-{view.name}",
        title=f"{_(TITLES[one.kind])} · {view.title}",
        tables=lambda: {**view.tables(), **_tables(one)},
        arrays=lambda: {**arrays_of(view), "mask": one.mask.cells, "tokens": np.array(one.mask.tokens)},
        code=f"{view.code}{masked}\n\nfrom attention_atlas.analysis.families import family_mask\n\n"
        f"mask = family_mask({whole}).cells",
    )


def _tables(one: OfKind) -> Mapping[str, pd.DataFrame]:
    tokens = dict(enumerate(one.mask.tokens))
    heading = _("0 not seen, 1 seen at or before the query, 2 seen after it, 3 seen across")
    tables = {heading: labelled(one.mask.cells.astype(np.float64), tokens, tokens)}
    if one.read is not None and one.read.guess is not None:
        tables |= _guess(one, one.read.guess)
    if one.read is not None and one.read.said:
        tables |= _forced(one.read.said)
    return tables


def _guess(one: OfKind, guess: Guess) -> dict[str, pd.DataFrame]:
    heading = output_name(guess.position if one.kind == "encoder" else None)
    return {heading: pd.DataFrame({_("probability"): list(guess.probabilities)}, index=list(guess.labels))}


def _forced(said: tuple[DecodedPosition, ...]) -> dict[str, pd.DataFrame]:
    rows = [f"{position} {one.given} → {one.wanted or '–'}" for position, one in enumerate(said)]
    columns = {
        _("of the word to say"): [one.probability for one in said],
        _("of its own choice"): [one.own_probability for one in said],
        _("of what it says freely"): [one.free_probability for one in said],
    }
    return {_("Teacher forcing"): pd.DataFrame(columns, index=rows)}
