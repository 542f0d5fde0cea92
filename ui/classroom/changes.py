"""The edits of a model in one line, for a class."""

from __future__ import annotations

from collections.abc import Iterable

from model_runner.edit_words import edit_name
from model_runner.edits import Edit
from ui.wording.i18n import _

MOST_EDITS = 6  # edits that are named


def in_words(edits: Iterable[Edit]) -> str:
    """Describe the edits; empty for an unedited model."""
    named = tuple(dict.fromkeys(edits))
    more = _("and {count} more").format(count=len(named) - MOST_EDITS) if len(named) > MOST_EDITS else ""
    words = " · ".join(filter(None, [*(edit_name(edit, _) for edit in named[:MOST_EDITS]), more]))
    return _("changed: {edits}").format(edits=words) if words else ""
