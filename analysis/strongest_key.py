"""Where one token of a head attends most, for a sentence about a map."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from analysis.first_hidden import weights_without_first
from analysis.made_there import far_maker, head_is_here
from model_runner.capture import Capture

N_ = str  # marks a text for Babel without translating it here
LOOKS = N_("{head}: {query} ({query_index}) puts {value} on {key} ({key_index})")


def strongest_key(
    capture: Capture, layer: int, head: int, query: int | None, key: int | None = None, *, hide_first: bool = False
) -> tuple[int, int, float] | None:
    """(query, key, weight) of the strongest key, or of ``key``; None without a query. O(keys).

    ``hide_first`` as in a map's HeadQuantity: None if the key is left out, or the row had no other. Computed where the
    tensors are, unless this head's are local already.
    """
    if query is None or (hide_first and key == 0):
        return None
    maker = None if hide_first else far_maker(capture)
    if maker is not None and not head_is_here(capture, layer, head):
        return maker.strongest(capture.request, layer, head, query, key)
    read = weights_without_first if hide_first else partial(Capture.weights, shares=True)
    row = read(capture, layer, head, queries=slice(query, query + 1), keys=slice(0, len(capture.tokens)))[0]
    if not row.any():
        return None
    key = int(row.argmax()) if key is None else key
    return query, key, float(row[key])


def look_words(
    capture: Capture,
    head: str,
    found: tuple[int, int, float] | None,
    translate: Callable[[str], str],
    number: Callable[[float, str], str],
) -> str:
    """A sentence about ``found`` after the head's name: "L3H1: ·it (7) puts 62 % on ·dog (2)"."""
    if found is None:
        return head
    query, key, weight = found
    return translate(LOOKS).format(
        head=head,
        query=capture.tokens[query].text,
        query_index=query,
        value=number(weight, "share"),
        key=capture.tokens[key].text,
        key_index=key,
    )
