"""Export of the patching view: the map, both texts' next tokens, and Python code."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.patching import DECIMALS, likely_tokens, shares
from jobs.patching import PatchSetting
from model_runner.python_lines import python_start
from model_runner.request import CaptureRequest
from pages.edit_heads.patching import Patches, payload_of
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shell.page import PageContext, translated
from ui.wording.i18n import _
from viz import figure_svg
from viz.components.layer_head_map import layer_head_map
from viz.export import map_svg

WHAT = {
    "residual": "residual stream entering each layer",
    "attention": "output of all heads of each layer",
    "ffn": "what the feed-forward part of each layer adds",
    "heads": "output of each head of layer {layer}",
}  # in files, English like the rest of their captions


def patch_tables(opened: PageContext, found: Patches) -> dict[str, pd.DataFrame]:
    """The changes, absolute and as a share of the way to the other run, and the next tokens of both texts."""
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


def patches_view(opened: PageContext, found: Patches) -> ExportBundle:
    """The map, as changes of the logit difference."""
    setting, changes = found.setting, found.found.changes
    first, second = (opened.runner.token_text(token) for token in setting.tokens)
    what = WHAT[setting.kind].format(layer=setting.layer)
    extent = found.found.extent
    rows, columns = setting.row_labels, _columns(setting)
    axes = {"row_axis": _("heads") if setting.kind == "heads" else _("layers"), "column_axis": _("positions")}
    texts = translated(figure_svg.TEXTS) | axes | {"masked": _("not computed")}
    return ExportBundle(
        name=f"patched-{setting.kind}",
        title=_("change of the logit difference"),
        what=f"{what} patched with the run of {setting.other.request.text!r} into that of "
        f"{setting.plain.request.text!r}: change of logit({first}) − logit({second}), {found.found.plain:.6g} without "
        f"a patch, {found.found.other:.6g} in the other run",
        tables=lambda: patch_tables(opened, found),
        page=component_page(layer_head_map.SOURCE, payload_of(opened, found)),
        picture=lambda title, words: map_svg(
            changes, row_labels=rows, col_labels=columns, scale="diverging", low=-extent, high=extent, log=False,
            title=title, caption=words, number="plain", texts=texts,
        ),
        arrays={
            "changes": changes, "normalised": found.found.normalised, "plain": np.array(found.found.plain),
            "other": np.array(found.found.other), "tokens": np.array(setting.tokens),
        },
        code=patch_snippet(opened, found),
        starts_with_capture=False,
    )  # fmt: skip  # the map's many settings in two lines


def _columns(setting: PatchSetting) -> list[str]:
    return [f"{position} {token.text}" for position, token in enumerate(setting.plain.tokens)]


def _own(second: CaptureRequest, first: CaptureRequest) -> str:
    """What the second text's request changes; for an encoder-decoder also the target, written for the first."""
    names = [name for name in ("text", "target", "continuation") if getattr(second, name) != getattr(first, name)]
    return ", ".join(f"{name}={getattr(second, name)!r}" for name in names)


def patch_snippet(opened: PageContext, found: Patches) -> str:
    """Code for the map's numbers and both runs' logit differences."""
    setting = found.setting
    second = setting.plain if setting.reversed else setting.other
    capture = opened.capture
    runs = "other, capture" if setting.reversed else "capture, other"
    work = {
        "residual": "PatchStream(plain.request, donor.request, row, tokens)",
        "attention": "PatchHeads(plain.request, donor.request, row, None, tokens)",
        "ffn": "PatchFfn(plain.request, donor.request, row, tokens)",
        "heads": f"PatchHeads(plain.request, donor.request, {setting.layer}, row, tokens)",
    }[setting.kind]
    name = work.partition("(")[0]
    return (
        python_start(capture.request) + "\nfrom dataclasses import replace\n\nimport torch\n\n"
        f"from attention_atlas.analysis.patching import logit_difference\n"
        f"from attention_atlas.model_runner.questions import {name}\n\n"
        f"other = runner.capture(replace(capture.request, {_own(second.request, capture.request)}))\n"
        f"plain, donor = {runs}\ntokens = {setting.tokens!r}\n\n\n"
        f"def changes_of(row):\n    return runner.submit({work}).result()\n\n\n"
        f"changes = torch.stack([changes_of(row) for row in {list(setting.rows)!r}])\n"
        "before, goal = logit_difference(plain, tokens), logit_difference(donor, tokens)"
    )
