"""A head's peak memory for a whole text, in numbers besides q, k and v, as the rule itself requires.

Maps, features, tiles, states, and the output. A program's further copies, such as a map before and after its
exponential, are a constant factor.
"""

from __future__ import annotations

from attention.zoo.formula import Formula

MAP = Formula("n (n + d_v)", lambda n, d, v, **_: n * (n + v))
TWO_MAPS = Formula("n (2 n + d_v)", lambda n, d, v, **_: n * (2 * n + v))
POSITIVE = Formula("n (2 d + d_v) + d (d_v + 1)", lambda n, d, v: n * (2 * d + v) + d * (v + 1))
PERFORMER = Formula(
    "n (2 m + d_v) + m (d_v + 1)", lambda n, d, v, features, seed: n * (2 * features + v) + features * (v + 1)
)
TWICE = Formula("n (4 d + d_v) + 2 d (d_v + 1)", lambda n, d, v, **_: n * (4 * d + v) + 2 * d * (v + 1))
UNDIVIDED = Formula("n (2 d + d_v) + d d_v", lambda n, d, v, **_: n * (2 * d + v) + d * v)
BLOCKS = Formula("n (b + d_v)", lambda n, d, v, size: n * (size + v))
HASHED = Formula(  # the own chunk of 2 n / b and the previous one, in every round
    "n (4 n h / b + d_v)", lambda n, d, v, buckets, hashes, seed: n * (hashes * min(n, 4 * n // buckets) + v)
)
SEGMENTS = Formula("n (k + d_v) + k (d + d_v)", lambda n, d, v, rank: n * (rank + v) + rank * (d + v))
LANDMARKS = Formula(
    "n (2 m + d_v) + 2 m d + m²",
    lambda n, d, v, landmarks, steps: n * (2 * landmarks + v) + 2 * landmarks * d + landmarks**2,
)
TILES = Formula("n (d_v + 2) + r c", lambda n, d, v, rows, columns: n * (v + 2) + rows * columns)
LATENT = Formula("n (n + r + d + 2 d_v)", lambda n, d, v, rank: n * (n + rank + d + 2 * v))
LIGHTNING = Formula("n (d + d_v) + b² + d d_v", lambda n, d, v, half_life, tile: n * (d + v) + tile**2 + d * v)
DUAL = Formula("n (d + d_v) + d d_v", lambda n, d, v, rate: n * (d + v) + d * v)
TITANS = Formula("n (2 d + d_v) + 2 d d_v", lambda n, d, v, **_: n * (2 * d + v) + 2 * d * v)
WINDOW = Formula(
    "n (2 d + w + p + 2 d_v) + 2 d d_v",
    lambda n, d, v, window, persistent, **_: n * (2 * d + window + persistent + 2 * v) + 2 * d * v,
)
CONTEXT = Formula(
    "n (3 d + 2 c + p + 2 d_v) + 2 d (d + d_v)",
    lambda n, d, v, segment, persistent, **_: n * (3 * d + 2 * segment + persistent + 2 * v) + 2 * d * (d + v),
)
