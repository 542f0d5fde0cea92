"""The loaded model's tokenizer, and the source and target languages of a translation model."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from ui.state import session
from ui.state.controls import pick
from ui.state.known_tokenizers import embedding_rows, known
from ui.state.selection import ModelOptions
from ui.wording.i18n import _
from ui.wording.language_names import by_name, named

if TYPE_CHECKING:  # torch is imported only after the frame is painted
    from model_runner.tokens import TokenizerInfo

N_ = str  # marks a text for Babel without translating it here
FILE = "tokenizer.json"
PLAIN = ("TokenizersBackend", "PreTrainedTokenizerFast")  # generic classes, whose name says nothing
AS_IT_IS = N_("tokenizer.json as it is.")
OVERRULED = N_("tokenizer.json as it is: the class {name} would cut otherwise.")
BY_CLASS = N_("The class {name}, which cuts as tokenizer.json says.")
BY_PIECES = N_("SentencePiece, by the file {file}, with the ids of the class {name}.")
CLASS_ALONE = N_("The class {name}.")


def choose_languages() -> None:
    """Show the language boxes. The default is what the model's folder declares."""
    found, held = known(session.model()), session.model_options()
    if found is None:
        return
    with st.container(key="languages", gap="small"):
        boxes = (
            ("source_language", found.source, _("Source language")),
            ("target_language", found.target, _("Target language")),
        )
        for name, usual, label in boxes:
            value = getattr(held, name)
            first = _("{language}, by its folder").format(language=named(usual) if usual else _("none"))
            names = {"": first, **by_name(found.languages)}
            pick(ModelOptions, name, value, names if value in names else {**names, value: value}, label=label)


def show_card() -> None:
    """Describe the open model's tokenizer in a few lines."""
    found = known(session.model())
    if found is None:
        return
    with st.popover(_("tokenizer"), type="tertiary", key="tokenizer_card"):
        for line in in_words(found, embedding_rows(session.model())):
            st.html(f"<p class='atlas-caption'>{escape(line)}</p>")


def in_words(found: TokenizerInfo, n_rows: int | None = None) -> list[str]:
    """Describe the tokenizer's kind, its vocabulary size, the embedding's rows and the number of languages."""
    if found.overruled:
        words = OVERRULED
    elif found.file == FILE:
        words = AS_IT_IS if found.name in PLAIN else BY_CLASS
    else:
        words = BY_PIECES if found.file else CLASS_ALONE
    lines = [_(words).format(name=found.name, file=found.file)]
    lines.append(_("It knows {count} tokens.").format(count=f"{found.count:,}"))
    if n_rows is not None:
        lines.append(_("The model’s embedding has {count} rows.").format(count=f"{n_rows:,}"))
    if found.languages:
        lines.append(_("It has tokens for {count} languages.").format(count=len(found.languages)))
    return lines
