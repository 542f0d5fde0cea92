"""The neuron view of a head: for one query, the products of each dimension with each key, whose sums are the scores."""

from __future__ import annotations

import numpy as np

from analysis.cell import cell
from model_runner.capture import Capture, index
from viz.components.head_map import head_map
from viz.share_text import share_digits
from viz.token_text import ems, shortened

NOTE = (
    "{query}: q × k of each dimension, scaled. A row sums to the score{more}; "
    "the softmax over all keys gives the percentage."
)


LONGEST = 11.0  # em, longest row label in pictures; cuts a long token, not its numbers


def _name(token: str, place: int, weight: float) -> str:
    numbers = f" {place} · {share_digits(weight)} %"
    return shortened(token, LONGEST - ems(numbers)) + numbers


def products_payload(capture: Capture, layer: int, head: int, query: int, key: int | None, *, max_height: int) -> bytes:
    """Payload with keys as rows and dimensions as columns, for up to 48 keys with the largest weights.

    Raises as Capture does.
    """
    found = cell(capture, layer, head, query, index("key", key if key is not None else 0, len(capture.tokens)))
    drawn = [int(place) for place in found.row.drawn if found.row.keep[place]]
    rows = [int(np.flatnonzero(found.row.drawn == place)[0]) for place in drawn]
    values = (found.q[None, :] * found.row.k[rows] * found.scale).astype(np.float32)
    names = [_name(capture.tokens[place].text, place, found.row.weights[place]) for place in drawn]
    largest = float(np.abs(values).max()) or 1.0
    more = " before the cap" if found.softcap is not None else " without its bias" if found.bias is not None else ""
    texts = head_map.TEXTS | {
        "cell": "{key} of {query}: {value}",
        "axis_query": "looked at (key)",
        "axis_key": "dimension of q and k",
        "summary": f"L{layer}H{head}: {capture.tokens[query].text} ({query}), q × k by dimension",
        "note": NOTE.format(query=f"{capture.tokens[query].text} ({query})", more=more),
    }
    return head_map.HeadMapPicture(
        values=values,
        window=(0, len(drawn), 0, values.shape[1]),
        total=(len(drawn), values.shape[1]),
        row_labels=names,
        col_labels=[str(dimension) for dimension in range(values.shape[1])],
        scale="diverging",
        low=-largest,
        high=largest,
        log=False,
        selected=(drawn.index(key), None) if key in drawn else None,
        pool=(1, 1),
        number="plain",
        texts=texts,
        max_height=max_height,
    ).packed()
