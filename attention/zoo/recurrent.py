"""A variant as a recurrence: the size of a head's state between tokens, and the work per token.

A feature kernel stores Σ φ(k) vᵀ and, for the division, Σ φ(k) (Katharopoulos et al. 2020, eq. 18 to 20); a memory
stores its matrix; a window or segment stores its keys and values. Softmax stores all keys and values. What is the same
for every text (random directions, a decay, persistent tokens) is not counted.
"""

from __future__ import annotations

from dataclasses import dataclass

from attention.zoo.formula import Formula


@dataclass(frozen=True)
class Recurrent:
    """``state``: numbers stored per head between two tokens. ``step``: multiply-adds of one token's products.

    ``by_query``: the state depends on queries, so that heads which share keys and values need one each.
    """

    state: Formula
    step: Formula
    by_query: bool = False


CACHE = Recurrent(  # softmax's, which grows
    Formula("n (d + d_v)", lambda n, d, v, **_: n * (d + v)), Formula("n (d + d_v)", lambda n, d, v, **_: n * (d + v))
)
POSITIVE = Recurrent(  # as many features as a head has dimensions
    Formula("d (d_v + 1)", lambda n, d, v: d * (v + 1)), Formula("2 d (d_v + 1)", lambda n, d, v: 2 * d * (v + 1))
)
PERFORMER = Recurrent(  # plus the features of the query and the key
    Formula("m (d_v + 1)", lambda n, d, v, features, seed: features * (v + 1)),
    Formula("2 m (d + d_v + 1)", lambda n, d, v, features, seed: 2 * features * (d + v + 1)),
)
COSFORMER = Recurrent(
    Formula("2 d (d_v + 1)", lambda n, d, v: 2 * d * (v + 1)), Formula("4 d (d_v + 1)", lambda n, d, v: 4 * d * (v + 1))
)
POLAFORMER = Recurrent(  # the features of keys, and so their sum, are shared by both halves, those of queries are not
    Formula("2 d (d_v + 1)", lambda n, d, v, **_: 2 * d * (v + 1)),
    Formula("2 d (2 d_v + 3)", lambda n, d, v, **_: 2 * d * (2 * v + 3)),
)
UNDIVIDED = Recurrent(  # written and read
    Formula("d d_v", lambda n, d, v, **_: d * v), Formula("2 d d_v", lambda n, d, v, **_: 2 * d * v)
)
DELTA = Recurrent(  # queried first
    Formula("d d_v", lambda n, d, v, **_: d * v), Formula("3 d d_v", lambda n, d, v, **_: 3 * d * v)
)
TITANS = Recurrent(  # the memory, and the momentum
    Formula("2 d d_v", lambda n, d, v, **_: 2 * d * v), Formula("3 d d_v", lambda n, d, v, **_: 3 * d * v)
)
GATE = Recurrent(  # after the token itself was added
    Formula("2 d d_v + w (d + d_v)", lambda n, d, v, window, **_: 2 * d * v + window * (d + v)),
    Formula(
        "3 d d_v + (w + p) (d + d_v)",
        lambda n, d, v, window, persistent, **_: 3 * d * v + (window + persistent) * (d + v),
    ),
)
LAYER = Recurrent(GATE.state, GATE.step, by_query=True)  # its window stores what each query read
CONTEXT = Recurrent(  # for keys and values: memory, momentum, the memory before the segment; the segment, and its reads
    Formula("(3 d + 2 c) (d + d_v)", lambda n, d, v, segment, **_: (3 * d + 2 * segment) * (d + v)),
    Formula(
        "(3 d + 2 c + p) (d + d_v)",
        lambda n, d, v, segment, persistent, **_: (3 * d + 2 * segment + persistent) * (d + v),
    ),
    by_query=True,
)
BLOCKS = Recurrent(  # at the end of a block
    Formula("b (d + d_v)", lambda n, d, v, size: size * (d + v)),
    Formula("b (d + d_v)", lambda n, d, v, size: size * (d + v)),
)
