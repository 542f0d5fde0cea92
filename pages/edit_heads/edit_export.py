"""Export of the view "edit": tables of both sides, and the open head after the edits as files."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from analysis.tables import labelled
from pages.edit_heads.edit import EditView
from ui.shared.class_scores import class_change_table
from ui.shared.export_bundle import show_export_menu
from ui.shared.tables import show_tables
from ui.shared.what_if import change_view, output_name
from ui.shell.page import PageContext
from ui.wording.i18n import _


def edit_tables(opened: PageContext, found: EditView) -> dict[str, pd.DataFrame]:
    """The open head before and after, the next tokens, and how far every head moved."""
    if found.changed is None:
        weights = opened.capture.weights(opened.layer, opened.head).cpu().numpy()
        tokens = {position: token.text for position, token in enumerate(opened.capture.tokens)}
        return {f"L{opened.layer}H{opened.head} · {_('before')}": labelled(weights, tokens, tokens)}
    tables = dict(change_view(found.changed).tables())
    if found.change is not None:
        tokens = [opened.runner.token_text(token) for token in found.change.ids]
        data = {_("before"): found.change.before, _("after"): found.change.after}
        tables[output_name(found.change.position)] = pd.DataFrame(data, index=tokens)
    if found.classes is not None:
        tables[_("Class")] = class_change_table(found.classes)
    if found.drift is not None:
        layers, heads = found.drift.shape
        names = [f"L{layer}" for layer in range(layers)], [f"H{head}" for head in range(heads)]
        tables[_("Attention elsewhere")] = pd.DataFrame(found.drift, index=names[0], columns=names[1])
    return tables


def offer_edit(opened: PageContext, found: EditView) -> None:
    """Show both export menus; no files if the edits cannot be applied.

    Files name the edits, and the code applies them.
    """
    if found.changed is None:
        show_tables(lambda: edit_tables(opened, found))
        return
    view = change_view(found.changed)
    show_export_menu(opened, replace(view, tables=lambda: edit_tables(opened, found)))
