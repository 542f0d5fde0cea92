"""Why the rows in a picture do not sum to 1, in a sentence: a sink, keys of another text, or no softmax."""

from __future__ import annotations

from analysis.joined import apart, first_query
from analysis.stand_in import row_notes
from model_runner.capture import COMPRESSED, TOKENS, Capture

N_ = str  # marks a text for Babel without translating it here

SCALED_AFTER = ("granite_swa", "granitemoe_swa")  # transformers' types that scale the output once the softmax is taken
IN_SOFTMAX = N_("A learned sink takes part of every row; the map shows the rest, which goes to tokens.")
AFTER = N_(
    "A learned sink scales every row after the softmax; the map shows the scaled weights, not the softmax’s own."
)
REST_IN = {
    "decoder": N_("One softmax weighs both texts: the rest of each row is in the decoder’s own map."),
    COMPRESSED: N_(
        "One softmax weighs tokens and keys that stand for several tokens: the latter get the rest of each row."
    ),
    TOKENS: N_("One softmax weighs tokens and keys that stand for several tokens: tokens have the rest of each row."),
    "cross": N_("One softmax weighs both texts: the rest of each row is in the map of cross-attention."),
}


def sink_words(capture: Capture, layer: int, head: int, family: str) -> str:
    """One sentence, to be translated: about a sink or, for a layer without softmax, about what its rows are.

    Empty for a head without a sink, or with substituted softmax. ``family`` is the model's transformers type. Both
    kinds of sinks are the same numbers, an additional term in the softmax's sum, but in SCALED_AFTER the model's own
    ``output_attentions`` leave the sink out.
    """
    record = capture.record(layer)
    if record.unrolled is not None:
        return row_notes(capture, layer, shares=False)[0]
    if record.sinks is None or head in record.substituted:
        return ""
    if record.rest_in is not None:
        return REST_IN[record.rest_in]
    return AFTER if family in SCALED_AFTER else IN_SOFTMAX


def n_elsewhere(capture: Capture, layer: int, query: int) -> int:
    """The number of keys of another text in this row's softmax; 0 if it covers one text."""
    rest = apart(capture).rest_of(layer)
    if rest is None:
        return 0
    row = query - first_query(capture)
    other = rest.record(layer)
    return int(other.mask.tile(slice(row, row + 1), slice(0, other.k.shape[1]), other.q.device).sum())
