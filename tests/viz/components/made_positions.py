"""Small made-up arguments for the components on positions, consistent with each other and random otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from viz.components.rotation import position_schemes, rotation, score_shift, score_split, score_sweep
from viz.components.rotation.position_schemes import SchemePicture

PAIRS, KEYS, HEADS, DISTANCES = 8, 6, 4, 40
MARKUP = "<img src=x onerror=alert(1)>"


def theta(n_pairs: int = PAIRS) -> np.ndarray:
    return 10000.0 ** (-np.arange(n_pairs) / n_pairs)


def vectors(seed: int, n_pairs: int = PAIRS) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n_pairs, 2)).astype(np.float32).astype(np.float64)


def turning(n_pairs: int = PAIRS, **changes: Any) -> bytes:
    """One token at position 7 of a model built for 2048."""
    arguments: dict[str, Any] = {
        "head": "L3H2",
        "token": MARKUP,
        "own": 7,
        "position": 7,
        "context": 2048,
        "q": vectors(0, n_pairs),
        "k": vectors(1, n_pairs),
        "theta": theta(n_pairs),
        "dimensions": np.stack([np.arange(n_pairs), np.arange(n_pairs) + n_pairs], axis=1),
        "factor": 1.0,
        "difference": "3e-7",
        "texts": rotation.TEXTS,
    }
    return rotation.RotationPicture(**(arguments | changes)).packed()


def shifting(n_pairs: int = PAIRS, **changes: Any) -> bytes:
    """A query of position 7 and a key of position 2."""
    arguments: dict[str, Any] = {
        "head": "L3H2",
        "tokens": (MARKUP, "·dog"),
        "own": (7, 2),
        "positions": (7, 2),
        "context": 2048,
        "causal": True,
        "q": vectors(0, n_pairs),
        "k": vectors(1, n_pairs),
        "theta": theta(n_pairs),
        "scale": 0.25,
        "rest": 0.5,
        "softcap": None,
        "deviation": "1e-14",
        "texts": score_shift.TEXTS,
    }
    return score_shift.ScoreShiftPicture(**(arguments | changes)).packed()


def contributions(n_pairs: int = PAIRS, n_keys: int = KEYS) -> np.ndarray:
    return np.random.default_rng(2).normal(size=(n_pairs, n_keys)).astype(np.float32)


def splitting(n_pairs: int = PAIRS, n_keys: int = KEYS, **changes: Any) -> bytes:
    """The query at the last position but one; the last key is masked."""
    arguments: dict[str, Any] = {
        "head": "L3H2",
        "query": ("·it", n_keys - 2),
        "key": 2,
        "labels": [MARKUP, *(f"·t{i}" for i in range(1, n_keys))],
        "positions": np.arange(n_keys),
        "theta": theta(n_pairs),
        "contributions": contributions(n_pairs, n_keys),
        "rest": np.zeros(n_keys),
        "n_rest": 0,
        "keep": np.arange(n_keys) < n_keys - 1,
        "softcap": None,
        "note": "",
        "texts": score_split.TEXTS,
    }
    return score_split.ScoreSplitPicture(**(arguments | changes)).packed()


def curves() -> np.ndarray:
    """Head 0 is flat, head 1 peaks at distance 1, the others are noise."""
    scores = np.random.default_rng(4).normal(size=(HEADS, DISTANCES)).astype(np.float32)
    scores[0] = 1.0
    scores[1, 1] = 9.0
    return scores


def sweeping(**changes: Any) -> bytes:
    arguments: dict[str, Any] = {
        "layer": 3,
        "head": 2,
        "distances": np.arange(DISTANCES),
        "scores": curves(),
        "facts": [f"{10 * i} %" for i in range(HEADS)],
        "notes": ["all pairs"],
        "texts": score_sweep.TEXTS,
    }
    return score_sweep.ScoreSweepPicture(**(arguments | changes)).packed()


def picture(name: str, **changes: Any) -> SchemePicture:
    words = ("formula", "note", "enters", "stores", "depends", "extrapolates", "paper")
    arguments: dict[str, Any] = {word: f"{word} of {name}" for word in words}
    return SchemePicture(**(arguments | {"name": name, "label": name} | changes))


def comparing(**changes: Any) -> bytes:
    """Two schemes: one of two heads and nothing masked, one of a short table."""
    grid = np.arange(16)[:, None] - np.arange(16)[None, :]
    numbers = {"matrix": -np.abs(grid) / 2, "curves": -np.outer([1, 0.5], np.arange(16))}
    drawn = picture("alibi", **(numbers | changes))
    return position_schemes.PositionSchemesPicture(
        schemes=[drawn, picture("learned", matrix=np.eye(4), curves=np.ones((1, 4)))], texts=position_schemes.TEXTS
    ).packed()
