"""The hash buckets of the open head, one row per bucket and round, for models that use hashing (Reformer)."""

from __future__ import annotations

from html import escape

import pandas as pd

from analysis.keys_seen import buckets_of
from ui.shell.components import show_html
from ui.shell.page import PageContext
from ui.wording.i18n import _


def show_buckets(opened: PageContext) -> None:
    """Show the table with the pinned query's buckets in bold; nothing for a layer that does not hash."""
    buckets = buckets_of(opened.capture.record(opened.layer), opened.head)
    if not buckets:
        return
    names = "".join(f"<th scope='col'>{escape(one)}</th>" for one in (_("hash round"), _("bucket"), _("tokens in it")))
    rows = "".join(
        f"<tr><th scope='row'>{one.round + 1}</th><td>{one.bucket}</td><td>{_tokens(opened, one.tokens)}</td></tr>"
        for one in buckets
    )
    show_html(
        f"<table class='atlas-costs atlas-buckets'><thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>",
        key="heads_buckets",
    )


def bucket_table(opened: PageContext) -> dict[str, pd.DataFrame]:
    """The buckets as a table for export, one row per token and one column per round, by name; or empty."""
    buckets = buckets_of(opened.capture.record(opened.layer), opened.head)
    if not buckets:
        return {}
    columns: dict[str, list[int]] = {}
    for one in buckets:
        column = columns.setdefault(f"{_('hash round')} {one.round + 1}", [0] * len(opened.capture.tokens))
        for token in one.tokens:
            column[token] = one.bucket
    return {_("bucket"): pd.DataFrame(columns, [token.text for token in opened.capture.tokens])}


def _tokens(opened: PageContext, tokens: tuple[int, ...]) -> str:
    """Tokens with their positions in small type."""
    tag = {token: "strong" if token == opened.query else "span" for token in tokens}
    return " ".join(
        f"<{tag[token]}>{escape(opened.capture.tokens[token].text)}<sub>{token}</sub></{tag[token]}>"
        for token in tokens
    )
