"""Which keys the queries of a layer see, in a sentence, where no window or causal mask tells it."""

from __future__ import annotations

from attention.masks import BlockSparse
from model_runner.errors import Reason
from model_runner.record import LayerRecord

N_ = str  # marks a text for Babel without translating it here

IN_BLOCKS = N_(
    "Block-sparse attention: a token attends to its own block of {size} tokens, the two next to it, and the first and "
    "the last block; tokens in the first and the last block attend to everything."
)
FIRST_DRAWN = N_(
    "Outside training, transformers takes the first block in place of random ones: each of its keys counts {times} "
    "times."
)
OTHERS_DRAWN = N_("Random blocks added to each block: {count}. A key that comes n times counts n times.")


def keys_seen(record: LayerRecord) -> tuple[Reason, ...]:
    """Sentences to be translated; none where the picture of the mask says it all."""
    rule = record.mask.own
    if not isinstance(rule, BlockSparse):
        return ()
    blocks, count = Reason(IN_BLOCKS, {"size": rule.size}), len(rule.drawn[0])
    drawn = FIRST_DRAWN if not any(map(any, rule.drawn)) else OTHERS_DRAWN
    return blocks, Reason(drawn, {"count": count, "times": 1 + count})
