"""What the patching view gives away: the map, both texts' next tokens, and the lines of Python that give the same."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.patching import DECIMALS, likely_tokens, shares
from ui.i18n import _
from ui.page import Opened, translated
from ui.patch_run import Setting
from ui.patch_view import Patches
from ui.take_away import TakeAway, caption, python_start, show_take_away
from viz import figure_svg
from viz.components.layer_head_map import layer_head_map
from viz.export import csv_bytes, map_svg, npz_bytes, standalone_html

WHAT = {
    "residual": "residual stream entering each layer",
    "attention": "output of all heads of each layer",
    "heads": "output of each head of layer {layer}",
}  # of files, in English like the rest of their captions


def patch_tables(opened: Opened, found: Patches) -> dict[str, pd.DataFrame]:
    """The changes, what they are of the way to the other run, and the next tokens of both texts."""
    setting = found.setting
    columns = _columns(setting)
    tokens = likely_tokens(setting.plain, setting.other)
    own = (setting.other, setting.plain) if setting.reversed else (setting.plain, setting.other)
    data = {_("this text"): shares(own[0], tokens), _("second text"): shares(own[1], tokens)}
    words = [opened.runner.token_text(token) for token in tokens]
    return {
        _("change of the logit difference"): pd.DataFrame(found.found.shown, setting.row_labels, columns),
        _("of the way to the other run"): pd.DataFrame(
            np.round(found.found.normalised, DECIMALS) + 0.0, setting.row_labels, columns
        ),
        _("Next token"): pd.DataFrame(data, index=words),
    }


def take_patches_away(opened: Opened, found: Patches) -> None:
    """The menu of the view."""
    setting, changes = found.setting, found.found.changes
    first, second = (opened.runner.token_text(token) for token in setting.tokens)
    what = WHAT[setting.kind].format(layer=setting.layer)
    words = caption(
        opened,
        f"{what} patched with the run of {setting.other.request.text!r} into that of {setting.plain.request.text!r}: "
        f"change of logit({first}) − logit({second}), {found.found.plain:.6g} without a patch, "
        f"{found.found.other:.6g} in the other run",
    )
    title = _("change of the logit difference")
    extent = found.found.extent
    rows, columns = setting.row_labels, _columns(setting)
    axes = {"row_axis": _("heads") if setting.kind == "heads" else _("layers"), "column_axis": _("positions")}
    texts = translated(figure_svg.TEXTS) | axes | {"masked": _("not computed")}
    show_take_away(
        TakeAway(
            name=f"patched-{setting.kind}",
            svg=lambda: map_svg(
                changes, row_labels=rows, col_labels=columns, scale="diverging", low=-extent, high=extent, log=False,
                title=title, caption=words, number="plain", texts=texts,
            ),
            html=lambda lang: standalone_html(
                layer_head_map.SOURCE, found.payload, title=title, caption=words, lang=lang
            ),
            csv=lambda: csv_bytes(changes, rows, columns, words),
            npz=lambda: npz_bytes(
                {
                    "changes": changes, "normalised": found.found.normalised, "plain": np.array(found.found.plain),
                    "other": np.array(found.found.other), "tokens": np.array(setting.tokens),
                },
                words,
            ),
            snippet=patch_snippet(opened, found),
        )
    )  # fmt: skip  # the map's many settings in two lines


def _columns(setting: Setting) -> list[str]:
    return [f"{position} {token.text}" for position, token in enumerate(setting.plain.tokens)]


def patch_snippet(opened: Opened, found: Patches) -> str:
    """The lines that give the map's numbers, and both runs' logit differences."""
    setting = found.setting
    second = setting.plain if setting.reversed else setting.other
    runs = "other, capture" if setting.reversed else "capture, other"
    work = {
        "residual": "residual_patches(rerun, row, donor, tokens)",
        "attention": "head_patches(rerun, row, None, donor, tokens)",
        "heads": f"head_patches(rerun, {setting.layer}, row, donor, tokens)",
    }[setting.kind]
    name = work.partition("(")[0]
    return (
        python_start(opened) + "\nfrom dataclasses import replace\n\nimport torch\n\n"
        f"from analysis.patching import logit_difference\nfrom model_runner.head_effects import {name}\n\n"
        f"other = runner.capture(replace(capture.request, text={second.request.text!r}))\n"
        f"plain, donor = {runs}\ntokens = {setting.tokens!r}\n\n\n"
        f"def changes_of(row):\n    return runner.rerun(plain, lambda rerun: {work}).result()\n\n\n"
        f"changes = torch.stack([changes_of(row) for row in {list(setting.rows)!r}])\n"
        "before, goal = logit_difference(plain, tokens), logit_difference(donor, tokens)"
    )
