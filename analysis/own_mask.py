"""A description of what a mask computed by the model leaves for one query of a head: Doge's, made of its values."""

from __future__ import annotations

from attention import masks
from model_runner.capture import Capture

N_ = str  # marks a text for Babel without translating it here

LEFT_OUT = N_(
    "This head reads only {kept} of the {visible} keys up to the chosen query: those to which "
    "the model’s own mask gives the largest numbers."
)


def keys_read(capture: Capture, layer: int, head: int, query: int) -> tuple[int, int] | None:
    """How many keys the query uses, and of how many; None if the model's mask selects none for it.

    O(keys) memory.
    """
    own = capture.record(layer).mask.own
    if not (isinstance(own, masks.And) and isinstance(own.second, masks.LargestKeys)):
        return None
    cells = slice(query, query + 1), slice(0, own.second.values.shape[1])
    device = own.second.values.device
    kept, visible = (int(masks.tile(rule, *cells, device=device, head=head).sum()) for rule in (own, own.first))
    return (kept, visible) if kept < visible else None
