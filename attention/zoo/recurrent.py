"""A variant read a token at a time: what a head keeps of all that came before, and the work of one token more.

A kernel of features keeps Σ φ(k) vᵀ and, to divide by, Σ φ(k) (Katharopoulos et al. 2020, eq. 18 to 20); a memory keeps
its matrix; a window or a segment the keys and values in it. Softmax keeps all keys and values. What is the same for
every text (random directions, a decay, persistent tokens) is not kept of it.
"""

from __future__ import annotations

from dataclasses import dataclass

from attention.zoo.formula import Formula


@dataclass(frozen=True)
class Recurrent:
    """``state``: numbers that a head keeps between two tokens. ``step``: multiply-adds of one token's products.

    ``by_query``: queries went into the state, so that heads which share keys and values have one each.
    """

    state: Formula
    step: Formula
    by_query: bool = False


CACHE = Recurrent(  # of softmax, which grows
    Formula("n (d + d_v)", lambda n, d, v, **_: n * (d + v)), Formula("n (d + d_v)", lambda n, d, v, **_: n * (d + v))
)
POSITIVE = Recurrent(  # as many features as a head has dimensions
    Formula("d (d_v + 1)", lambda n, d, v: d * (v + 1)), Formula("2 d (d_v + 1)", lambda n, d, v: 2 * d * (v + 1))
)
PERFORMER = Recurrent(  # features of the query and the key are made besides
    Formula("m (d_v + 1)", lambda n, d, v, features, seed: features * (v + 1)),
    Formula("2 m (d + d_v + 1)", lambda n, d, v, features, seed: 2 * features * (d + v + 1)),
)
COSFORMER = Recurrent(
    Formula("2 d (d_v + 1)", lambda n, d, v: 2 * d * (v + 1)), Formula("4 d (d_v + 1)", lambda n, d, v: 4 * d * (v + 1))
)
POLAFORMER = Recurrent(  # the features of keys, and so their sum, are the same for both halves; those of queries not
    Formula("2 d (d_v + 1)", lambda n, d, v, **_: 2 * d * (v + 1)),
    Formula("2 d (2 d_v + 3)", lambda n, d, v, **_: 2 * d * (2 * v + 3)),
)
UNDIVIDED = Recurrent(  # written and read
    Formula("d d_v", lambda n, d, v, **_: d * v), Formula("2 d d_v", lambda n, d, v, **_: 2 * d * v)
)
DELTA = Recurrent(  # asked before
    Formula("d d_v", lambda n, d, v, **_: d * v), Formula("3 d d_v", lambda n, d, v, **_: 3 * d * v)
)
TITANS = Recurrent(  # the memory, and the change that is carried on
    Formula("2 d d_v", lambda n, d, v, **_: 2 * d * v), Formula("3 d d_v", lambda n, d, v, **_: 3 * d * v)
)
GATE = Recurrent(  # as they are, where the last of them is the token's own
    Formula("2 d d_v + w (d + d_v)", lambda n, d, v, window, **_: 2 * d * v + window * (d + v)),
    Formula(
        "3 d d_v + (w + p) (d + d_v)",
        lambda n, d, v, window, persistent, **_: 3 * d * v + (window + persistent) * (d + v),
    ),
)
LAYER = Recurrent(GATE.state, GATE.step, by_query=True)  # its window holds what each query read
CONTEXT = Recurrent(  # of keys and values: memory, change, the memory before the segment; the segment, and its reads
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
