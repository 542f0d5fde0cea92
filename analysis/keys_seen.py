"""A description of which keys a layer's queries attend to, beyond windows and causal masks."""

from __future__ import annotations

from dataclasses import dataclass

from attention.masks import BlocksAndGlobals, BlockSparse, SortedChunks
from model_runner.errors import Reason
from model_runner.record import LayerRecord

N_ = str  # marks a text for Babel without translating it here

IN_BLOCKS = N_(
    "Block-sparse attention: a token attends to its own block of {size} tokens, the two next to it, and the first and "
    "the last block; tokens in the first and the last block attend to everything."
)
WITH_GLOBALS = N_(
    "Local and global attention (PEGASUS-X): a token of the text attends to its own block of "
    "{size} tokens and to the {count} global tokens, which are the model's own and come after "
    "the text; a global token attends to everything."
)
SHIFTED = N_("The blocks of this layer begin half a block earlier, so that the text is cut in other places.")
FIRST_DRAWN = N_(
    "Outside training, transformers takes the first block in place of random ones: each of its keys counts {times} "
    "times."
)
OTHERS_DRAWN = N_("Random blocks added to each block: {count}. A key that comes n times counts n times.")


HASHED = N_(
    "Hashing attention (Reformer): queries and keys are one projection, and keys are scaled to length 1, so a score is "
    "q · k, with scale 1. Each of {rounds} hash rounds sorts the tokens by bucket and cuts the order into chunks of "
    "{size}: a token attends to its own chunk, {before} before it and {after} after it."
)
NOT_HASHED = N_(
    "Hashing attention (Reformer): queries and keys are one projection, and keys are scaled to length 1, so a score is "
    "q · k, with scale 1. The text fits in one chunk, so it is not hashed."
)
NOT_ITSELF = N_("A token attends to itself only if it can attend to nothing else.")
EACH_ROUND = N_("A key that is met n times, in several rounds or chunks, counts n times.")
IN_CHUNKS = N_(
    "Chunked attention: the text is cut into chunks of {size} tokens; a token attends to its own chunk, {before} "
    "before it and {after} after it, and the first chunk follows the last one."
)


CONVOLVED = N_(
    "Beside its attention, each head adds a convolution of neighbouring values to its output: that is not in this map."
)


def keys_seen(record: LayerRecord) -> tuple[Reason, ...]:
    """Sentences to be translated; empty if the picture of the mask is enough."""
    rule = record.mask.own
    if isinstance(rule, BlockSparse):
        more = OTHERS_DRAWN if any(map(any, rule.drawn)) else FIRST_DRAWN
        values = {"count": len(rule.drawn[0]), "times": 1 + len(rule.drawn[0])}
        return Reason(IN_BLOCKS, {"size": rule.size}), Reason(more, values)
    if isinstance(rule, BlocksAndGlobals):
        values = {"size": rule.size, "count": record.k.shape[1] - rule.first_global}
        return (Reason(WITH_GLOBALS, values), *((Reason(SHIFTED, {}),) if rule.missing else ()))
    return _in_chunks(rule, same_vectors=record.scale == 1) if isinstance(rule, SortedChunks) else ()


def _in_chunks(rule: SortedChunks, *, same_vectors: bool) -> tuple[Reason, ...]:
    """``same_vectors``: queries and keys are one projection."""
    values = {"rounds": rule.places.shape[1], "size": rule.size, "before": rule.before, "after": rule.after}
    if not same_vectors:
        return (Reason(IN_CHUNKS, values),)
    own = Reason(NOT_ITSELF, {})
    if rule.buckets is None:
        return Reason(NOT_HASHED, {}), own
    return (Reason(HASHED, values), own, *((Reason(EACH_ROUND, {}),) if rule.most > 1 else ()))


def beside_attention(family: str) -> tuple[Reason, ...]:
    """What is added to every head's output besides its attention, by the model's transformers type."""
    return (Reason(CONVOLVED, {}),) if family == "nystromformer" else ()


@dataclass(frozen=True)
class Bucket:
    """A non-empty bucket of one hashing round, and the positions of its tokens."""

    round: int
    bucket: int
    tokens: tuple[int, ...]


def buckets_of(record: LayerRecord, head: int) -> tuple[Bucket, ...]:
    """The buckets of this head, by round; empty for a layer that does not hash."""
    rule = record.mask.own
    if not isinstance(rule, SortedChunks) or rule.buckets is None:
        return ()
    found: list[Bucket] = []
    for place, buckets in enumerate(rule.buckets[head].tolist()):
        for bucket in sorted(set(buckets)):
            found.append(Bucket(place, bucket, tuple(i for i, one in enumerate(buckets) if one == bucket)))
    return tuple(found)
