"""Tables of the page Generation film: every generated token, and what the one in view attends to."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.film import attention_rows
from jobs.generation_tree import GenerationTree
from ui.shell.page import PageContext
from ui.wording.i18n import _

N_ = str  # marks a text for Babel without translating it here

COLUMNS = {
    N_("id of the token"): "token",
    N_("the model’s own probability"): "probability",
    N_("its logarithm"): "log_probability",
    N_("the model’s own rank"): "rank",
    N_("the model’s own entropy, bits"): "entropy",
    N_("probability after your settings"): "final",
    N_("rank after your settings"): "final_rank",
    N_("entropy after your settings, bits"): "final_entropy",
    N_("tokens kept"): "n_kept",
}  # of the table: a word for each number of a TokenChoice


def position_in_view(film: GenerationTree) -> int:
    """The position of the open frame's token."""
    return film.n_prompt - 1 + min(film.at, len(film.take.tokens))


def tables_of(opened: PageContext, film: GenerationTree) -> dict[str, pd.DataFrame]:
    """Every generated token with its numbers, and what the one in view attends to."""
    take, capture = film.take, film.capture(lambda: None)
    columns = {_(words): [getattr(one, name) for one in take.choices[1:]] for words, name in COLUMNS.items()}
    columns[_("forced")] = [one.how in ("forced", "beam") for one in take.choices[1:]]
    columns[_("milliseconds")] = [np.nan if one.seconds is None else 1000 * one.seconds for one in take.choices[1:]]
    index = [f"{film.n_prompt + i} {token.text}" for i, token in enumerate(take.tokens)]
    query = position_in_view(film)
    row = attention_rows(capture, opened.layer, opened.head, first=query)[0]
    keys = [f"{i} {token.text}" for i, token in enumerate(capture.tokens[: query + 1])]
    title = f"L{opened.layer}H{opened.head} · {_('Query (looking)')} {query} {capture.tokens[query].text}"
    return {
        _("Generated tokens"): pd.DataFrame(columns, index=index, dtype=float),
        title: pd.DataFrame({_("weight"): row}, index=keys),
    }
