"""Texts beside the maps of the page Zoo: their numbers, what a variant does and costs, and where it attends."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import streamlit as st

from analysis.number_text import significant
from analysis.sentences import joined
from analysis.zoo import Compared
from analysis.zoo_cost import crossing_by_formula, kept_of, work_of
from attention.zoo import flash
from attention.zoo.head import Head
from attention.zoo.recurrent import CACHE
from attention.zoo.variant import Variant
from ui.shell.components import show_html
from ui.shell.page import PageContext
from ui.wording.i18n import _
from ui.wording.sentences import number

FAR = 10**6  # tokens; longest text that is searched for a break-even length
LONGER = 2.0  # a larger error is not only one of direction: two outputs of equal norm differ by less

N_ = str  # marks a text for Babel without translating it here

REPLACES = {
    "kernel": N_("replaces the kernel, by which a query and a key are compared"),
    "mask": N_("replaces the mask: which keys are seen"),
    "memory": N_("replaces the memory: what is kept of the keys and values, and where they seem to be"),
    "weights": N_("replaces the rule that makes weights of scores"),
    "nothing": N_("replaces nothing: it is exact"),
}
ROWS = {
    "error": N_("output: error"),
    "direction": N_("output: cosine"),
    "elsewhere": N_("looks elsewhere"),
    "entropy": N_("entropy"),
    "rank": N_("numerical rank"),
}
MEANINGS = {
    "error": N_("Error: ‖the variant’s output − softmax’s‖ ÷ ‖softmax’s output‖, over all tokens; 0: the same."),
    "direction": N_("Cosine between the head’s two outputs, mean over the tokens: 1 is the same direction."),
    "elsewhere": N_("Share of a token’s attention that lies where softmax’s does not, mean over the tokens."),
    "entropy": N_("How widely a token spreads its attention: 0 bits is one token; mean over the tokens."),
    "rank": N_("Singular values of the map above a hundredth of the largest."),
}


def show_numbers(own: Compared, rivals: Sequence[tuple[Variant, Compared | None]], d: int) -> None:
    """Show one column for softmax and one per variant; ``d``: the dimension of the head's vectors."""
    found = {"softmax": own} | {_(variant.label): one for variant, one in rivals if one is not None}
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in found)
    body = "".join(
        f"<tr title='{escape(_(MEANINGS[name]), quote=True)}'>"
        f"<th scope='row' class='atlas-kept'>{escape(_(label))}</th>"
        + "".join(f"<td>{escape(variant_words(name, one))}</td>" for one in found.values())
        + "</tr>"
        for name, label in ROWS.items()
    )
    table = f"<table class='atlas-costs'><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table>"
    show_html(table, key="zoo_numbers")
    st.html(f"<p class='atlas-caption'>{escape(_(MEANINGS['error']))}</p>")
    if len(own.weights) <= d and any(few_patterns(variant) for variant, one in rivals if one is not None):
        words = _("A kernel’s map has no higher rank than it has features ({d} dimensions of a vector, or more): that "
                  "shows in texts of more than {d} tokens. This one has {count}.")  # fmt: skip
        words = words.format(d=d, count=len(own.weights))
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
    if any(one.error > LONGER for one in found.values()):
        words = _("An error above 2: a variant whose weights are not shares can give an output of any norm. "
                  "The cosine, which compares only directions, says more about it.")  # fmt: skip
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>")


def few_patterns(variant: Variant) -> bool:
    """Return True if its map is a product of query and key features, whose number bounds its rank."""
    return variant.replaces == "kernel" and variant.recurrent is not None


def variant_words(name: str, found: Compared) -> str:
    """One number formatted for display."""
    if name == "entropy":
        return number(found.entropy, "bits")
    if name == "elsewhere":
        return number(found.elsewhere if found.elsewhere > 1e-12 else 0.0, "share")
    if name == "rank":
        seen = ~np.isnan(found.weights)  # in two combined texts one text's tokens are queries and the other's are keys
        total = min(int(seen.any(axis=axis).sum()) for axis in (0, 1))
        return _("{count} of {total}").format(count=found.rank, total=total)
    value = found.error if name == "error" else found.direction
    if name == "error" and value < 1e-9:  # rounding in float64
        return "0"
    return "–" if value != value else significant(value, 2) if name == "error" else f"{value:.2f}"


def show_rule(variant: Variant) -> None:
    """Show what it does, gives up and gains, a sentence each."""
    does = _("It {does}.").format(does=_(variant.does))
    lines = {_("Gives up:"): _(variant.gives_up), _("Buys:"): _(variant.buys)}
    st.html(
        f"<p class='atlas-caption'>{escape(does)}</p>" + "".join(_line(name, words) for name, words in lines.items())
    )


def show_work(variant: Variant, values: Mapping[str, int], d: int, left_out: Sequence[str]) -> None:
    """Show its work with the meaning of the symbols, where it pays off, its paper, and what it ignores of the head."""
    letters = [_("n tokens"), _("d dimensions of a vector")]
    written = re.findall("[a-z]+", variant.work)  # explain only the symbols that occur in the formula
    letters += [f"{one.letter} {_(one.label)}" for one in variant.parameters if one.letter in written]
    work = f"{variant.work} ({', '.join(letters)}) · {_(REPLACES[variant.replaces])} · {_(variant.source)}"
    rest = "".join(f"<p class='atlas-caption'>{escape(words)}</p>" for words in left_out)
    st.html(_line(_("Work:"), work) + f"<p class='atlas-caption'>{escape(_work_from(variant, values, d))}</p>" + rest)


def show_recurrent(variant: Variant, head: Head, values: Mapping[str, int]) -> None:
    """Show the size of the head's state when reading token by token, and the work per token."""
    if (form := variant.recurrent) is None or head.looks_ahead or head.elsewhere or not head.sees_past:
        return  # with a window, softmax's own cache stops growing as well
    n, d, d_v = head.n_tokens, head.q.shape[-1], head.v.shape[-1]
    numbers = variant.numbers(values, n)
    words = _(
        "a head keeps {state} = {held} numbers, and one token more is {step} = {adds} multiply-adds (d_v numbers of a "
        "value). Softmax keeps {cache} = {cached} numbers of these {count} tokens, and more of each that follows."
    ).format(
        state=form.state.written, held=f"{form.state.of(n, d, d_v, **numbers):,}", step=form.step.written,
        adds=f"{form.step.of(n, d, d_v, **numbers):,}", cache=CACHE.state.written,
        cached=f"{CACHE.state.of(n, d, d_v):,}", count=n,
    )  # fmt: skip  # a formula and its number a line
    st.html(_line(_("Read a token at a time:"), joined(words, _kept_from(variant, values, d, d_v))))


def _kept_from(variant: Variant, values: Mapping[str, int], d: int, d_v: int) -> str:
    """From which length on its state is smaller than softmax's cache, by formula."""
    at = crossing_by_formula(lambda n: CACHE.state.of(n, d, d_v), kept_of(variant, values, d, d_v), FAR)
    if at is None:
        return _("It never keeps less than softmax.")
    return _("It keeps less than softmax from {count} tokens on.").format(count=f"{at:,}")


def _work_from(variant: Variant, values: Mapping[str, int], d: int) -> str:
    """From which length on a whole text is less work than with softmax, by formula."""
    at = crossing_by_formula(lambda n: flash.multiply_adds(n, d), work_of(variant, values, d), FAR)
    if at is None:
        return _("With these numbers it never is less work than softmax.")
    return _("With these numbers it is less work than softmax from {count} tokens on.").format(count=f"{at:,}")


def _line(name: str, words: str) -> str:
    return f"<p class='atlas-caption'><b>{escape(name)}</b> {escape(words)}</p>"


def show_looks(opened: PageContext, variant: Variant, found: Compared) -> None:
    """Show the cells that exceed softmax's weight most."""
    tokens = opened.capture.tokens
    heading = _("Where it looks more than softmax:")
    if not found.looks:
        nowhere = _("It looks nowhere more than softmax.")
        st.html(f"<p class='atlas-caption'>{escape(nowhere)}</p>")
        return
    rows = "".join(
        f"<p class='atlas-caption'>{escape(tokens[cell.query].text)} ({cell.query}) → "
        f"{escape(tokens[cell.key].text)} ({cell.key}) · +{escape(number(cell.more, 'share'))}</p>"
        for cell in found.looks
    )
    note = _(
        "Each row as shares of its sizes, less softmax’s: indigo where the variant looks more, orange where softmax "
        "does."
    )
    if not variant.signed:
        note = _("The variant less softmax: indigo where the variant looks more, orange where softmax does.")
    st.html(f"<p class='atlas-caption'>{escape(note)}</p><p class='atlas-caption'><b>{escape(heading)}</b></p>{rows}")
