"""A classifier's scores for the text, and how an edit of the model changes them."""

from __future__ import annotations

import pandas as pd

from analysis.class_scores import ClassChange, ClassScores, class_change, class_scores
from analysis.number_text import significant
from model_runner import Capture
from ui.shell.components import show_html
from ui.shell.page import PageContext, translated
from ui.wording.i18n import _
from viz.distribution import TEXTS, next_token_bars, next_token_changes, number_rows


def show_classes(opened: PageContext) -> ClassScores | None:
    """Show a bar per class, or the number of a model that scores one. Returns None if the model is no classifier."""
    found = class_scores(opened.capture, opened.runner.info)
    if found is None:
        return None
    if found.scale == "number":
        html = number_rows(list(found.names), [[value] for value in found.values], heading=_("Score"))
    else:
        html = next_token_bars(
            list(found.names), list(found.values), rest=0.0, heading=_("Class"), beside=meaning(found), texts=_words()
        )
    show_html(html, key="classes")
    return found


def show_class_change(opened: PageContext, after: Capture) -> ClassChange | None:
    """Show the scores before and after a change. Returns None if the model is no classifier. Raises CapturesDiffer."""
    found = class_change(opened.capture, after, opened.runner.info)
    if found is None:
        return None
    if found.scale == "number":
        pairs = [list(pair) for pair in zip(found.before, found.after, strict=True)]
        html = number_rows(list(found.names), pairs, heading=_("Score"), columns=[_("before"), _("after")])
    else:
        moved = "" if found.kl is None else _("KL {kl} bits").format(kl=significant(found.kl, 3))
        before, after_values = list(found.before), list(found.after)
        html = next_token_changes(
            list(found.names), before, after_values, heading=_("Class"), beside=moved, texts=_words()
        )
    show_html(html, key="class_change")
    return found


def meaning(found: ClassScores) -> str:
    """What the percentages mean."""
    several = found.scale == "sigmoid"
    return _("each class by itself: several may hold") if several else _("of the whole text")


def class_table(found: ClassScores) -> pd.DataFrame:
    """A table with one row per class, by decreasing score."""
    column = _("Score") if found.scale == "number" else _("probability")
    return pd.DataFrame({column: found.values}, index=list(found.names))


def class_change_table(found: ClassChange) -> pd.DataFrame:
    """A table with one row per class and both captures' scores."""
    return pd.DataFrame({_("before"): found.before, _("after"): found.after}, index=list(found.names))


def _words() -> dict[str, str]:
    return translated(TEXTS) | {"token": _("Class")}
