"""What the view "edit" gives away: the numbers of both sides as tables, and the open head after the edits as files."""

from __future__ import annotations

import pandas as pd

from ui.edit_view import EditView
from ui.i18n import _
from ui.page import Opened
from ui.tables import labelled
from ui.what_if import tables_of_change, take_change_away


def edit_tables(opened: Opened, found: EditView) -> dict[str, pd.DataFrame]:
    """The open head before and after, the next tokens, and how far every head moved."""
    if found.changed is None:
        weights = opened.capture.weights(opened.layer, opened.head).cpu().numpy()
        tokens = {position: token.text for position, token in enumerate(opened.capture.tokens)}
        return {f"L{opened.layer}H{opened.head} · {_('before')}": labelled(weights, tokens, tokens)}
    tables = tables_of_change(opened, found.changed)
    if found.change is not None:
        tokens = [opened.runner.token_text(token) for token in found.change.ids]
        data = {_("before"): found.change.before, _("after"): found.change.after}
        tables[_("Next token")] = pd.DataFrame(data, index=tokens)
    if found.drift is not None:
        layers, heads = found.drift.shape
        names = [f"L{layer}" for layer in range(layers)], [f"H{head}" for head in range(heads)]
        tables[_("Attention elsewhere")] = pd.DataFrame(found.drift, index=names[0], columns=names[1])
    return tables


def take_edit_away(_opened: Opened, found: EditView) -> None:
    """The menu of the view; none where the edits cannot be made. Every file names the edits, the code has them."""
    if found.changed is not None:
        take_change_away(found.changed)
