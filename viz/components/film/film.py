"""A text being generated, as a film: each frame is one token, how it was drawn, where it looked, the cache it joined.

Frames arrive in chunks and are kept by the script, which steps, plays, rewinds and scrubs through them without asking.
It sends "more" = {film, have, at, wanted, ask} when it needs frames beyond those it has, "rest" = {film, have, at} once
the reader stays at a frame, "force" = {film, frame, token} for a token clicked in the list, and "head" = [layer, head]
for a row clicked in the picture of all heads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viz.color import palette
from viz.components.packing import JSON, pack
from viz.components.source import read_source

N_ = str  # marks a text for Babel without translating it here

TEXTS: dict[str, str] = {
    "start": N_("Back to the prompt"),
    "back": N_("One token back"),
    "play": N_("Play"),
    "pause": N_("Pause"),
    "step": N_("Next token"),
    "scrub": N_("Frame"),
    "speed": N_("Speed"),
    "per_second": N_("{number} tokens/s"),
    "one_per_second": N_("1 token/s"),
    "frame": N_("token {frame} of {count}"),
    "prompt": N_("the prompt"),
    "waiting": N_("generating …"),
    "end": N_("The model ended the text here."),
    "limit": N_("Stopped at the length set."),
    "prefill": N_("prefill {count} tokens in {time}"),
    "decode": N_("decode {time} a token"),
    "milliseconds": N_("{number} ms"),
    "seconds": N_("{number} s"),
    "chips": N_("The text so far: the prompt, then {count} generated tokens"),
    "chip": N_("{label}, position {position}"),
    "chip_drawn": N_("{label}, position {position}: the model gives it {probability}, rank {rank}"),
    "next": N_("What comes next?"),
    "comes": N_("then {token}"),
    "token": N_("“{token}”"),
    "after": N_("After {label}"),
    "chosen": N_("probability {probability}, rank {rank}"),
    "sampled": N_("drawn"),
    "sampled_with": N_("drawn with u = {number}"),
    "greedy": N_("greedy: the most likely"),
    "forced": N_("forced"),
    "beam": N_("from a beam"),
    "entropy": N_("entropy {bits} bits"),
    "own": N_("All numbers: the model’s own distribution."),
    "after_settings": N_("Filled: after sampling settings. Outline: raw model distribution ({bits} bits)."),
    "kept": N_("The settings keep {kept} of {total} tokens, {mass} of the model’s probability."),
    "kept_all": N_("The settings keep all {total} tokens."),
    "kept_one": N_("Greedy: only the most likely token is kept."),
    "cut": N_("removed by the settings"),
    "others": N_("{count} more tokens"),
    "candidate": N_("{label}: the model gives it {probability}"),
    "candidate_final": N_("{label}: the model gives it {probability}, drawn with {final}"),
    "candidate_removed": N_("{label}: the model gives it {probability}, removed by the settings"),
    "force": N_("Click another token to put it there instead: a branch."),
    "force_next": N_("Click a token to force it as the next one."),
    "look": N_("{query} looks {weight} at {key}"),
    "masked": N_("{query} cannot look at {key}: masked"),
    "of_layer": N_("L{layer}, the largest of its heads: {words}"),
    "line_width": N_("head {head} · the wider a line, the larger the share"),
    "cache_k": N_("K cache"),
    "cache_v": N_("V cache"),
    "cache": N_("KV cache of the model: {count} tokens, {bytes}"),
    "formula": N_("2 · layers {layers} · kv heads {heads} · numbers {depth} · tokens {tokens} · bytes {size}"),
    "pooled": N_("Each column is {count} tokens, the largest value of them."),
    "pooled_rows": N_("Each row of the cache is {count} dimensions, the largest value of them."),
    "legend_heads": N_(
        "Rows are layers, each the largest share of its heads; L{layer} is open, a row a head. Hatched is masked. "
        "Framed: {head}."
    ),
    "legend_head": N_("The row is {head}: the stronger the colour, the larger the share; hatched is masked."),
    "legend_open": N_("Click a row to open its head."),
    "legend_cache": N_(
        "K and V of {head}, a row a dimension: indigo is above zero, orange below, strongest at ±{k} in K, at ±{v} "
        "in V. Framed: what {label} adds."
    ),
    "vector": N_("{name} of {label}: {count} numbers from {low} to {high}"),
    "percent": N_("{number} %"),
}  # fmt: skip

SOURCE = read_source(Path(__file__).parent, "film", '<div class="film"></div>\n')


@dataclass(frozen=True, eq=False)
class Frame:
    """One frame as it is drawn. The first one of a film is the prompt: nothing chosen, ``label`` its last token.

    ``position`` is where the token stands. ``tokens``, ``probabilities``, ``finals`` and ``kept`` list the candidates
    by falling probability of the model, the chosen one among them; ``finals`` are what they were drawn with.
    ``probability``, ``rank`` and ``entropy`` are the model's own, ``final`` and all named after it belong to what the
    settings make of it, which is another distribution where ``changed``. ``row`` is the open head's attention row, a
    value per column, NaN where masked; ``keys`` the positions of the tokens that have these, where a column has
    several; ``strip`` the rows of the heads and layers shown, 0..254 as 0..1, and 255 where masked.
    """

    token: int | None
    label: str
    special: bool
    position: int
    how: str
    probability: float | None
    rank: int | None
    entropy: float
    changed: bool
    final: float | None
    final_rank: int | None
    final_entropy: float
    final_rest: float
    uniform: float | None
    seconds: float | None
    n_kept: int
    kept_mass: float
    tokens: Sequence[int]
    probabilities: Sequence[float]
    finals: Sequence[float]
    kept: Sequence[bool]
    row: NDArray[np.floating]
    strip: NDArray[np.uint8] | None
    keys: NDArray[np.integer] | None = None


@dataclass(frozen=True)
class Prompt:
    """The tokens before the first generated one.

    ``units`` are its chips: a label, the first token that it stands for (the bytes of a character share one), and
    whether that is a special one.
    """

    labels: Sequence[str]
    units: Sequence[tuple[str, int, bool]]


@dataclass(frozen=True, eq=False)
class Cache:
    """Keys and values of the open head's cache from column ``first`` on: [columns, d]."""

    k: NDArray[np.floating]
    v: NDArray[np.floating]
    first: int
    pooled: int  # dimensions in one row of the picture
    growth: Mapping[str, Any] | None  # how it grows, over all layers, as payload.d.ts says; None where there is none
    before: int = 0  # positions of the picture that are read and not written


@dataclass(frozen=True)
class FilmView:
    """What the picture shows beside the frames: a head, and the rows of the strip as (layer, head), or none.

    A row without a head is the largest of its layer's heads.
    """

    head: tuple[int, int]
    heads: Sequence[tuple[int, int | None]]
    n_heads: int  # of the whole model
    bin: int  # tokens in one column
    group: int = 1  # neighbouring heads that share one key and value head


def payload(
    *,
    film: str,
    start: int,
    frames: Sequence[Frame],
    prompt: Prompt,
    prefill: tuple[int, float] | None,
    cache: Cache,
    view: FilmView,
    n_vocab: int,
    limit: int,
    stop: str,
    ahead: Frame | None = None,
    at: int,
    goal: int,
    pending: bool,
    answered: int,
    alive: bool,
    labels: Mapping[int, str],
    texts: Mapping[str, str],
) -> bytes:
    """The frames from number ``start`` on of the film named ``film``; with ``start`` 0 the script forgets all others.

    ``prefill`` is how many tokens were read at once, and in how many seconds. ``limit`` is how many tokens the film may
    have, ``stop`` why it has no more ("" while it may go on), ``ahead`` what may come after the last frame, ``at`` the
    frame a new film opens at, ``goal`` up to which one it is fetched unasked, ``answered`` the last ask heard.
    ``pending``: there is more to make beside it. ``labels`` name the candidates. Not ``alive``: a file, where nobody
    answers.
    """
    _check(frames, cache, view)
    meta: dict[str, JSON] = {
        "film": film,
        "start": start,
        "prompt": _prompt(prompt) if start == 0 else None,
        "prefill": None if prefill is None else list(prefill),
        "frames": [_meta(frame) for frame in frames],
        "widths": [frame.row.size for frame in frames],
        "cache": _cache(cache),
        "view": _view(view),
        "vocab": n_vocab,
        "limit": limit,
        "stop": stop,
        "ahead": None if ahead is None else _meta(ahead),
        "at": at,
        "goal": goal,
        "pending": pending,
        "answered": answered,
        "alive": alive,
        "labels": {str(token): label for token, label in labels.items()},
        "texts": dict(texts),
        "palette": palette(),
    }
    return pack(meta, _arrays(frames) | {"k": cache.k.astype(np.float32), "v": cache.v.astype(np.float32)})


def _check(frames: Sequence[Frame], cache: Cache, view: FilmView) -> None:
    n_heads = len(view.heads)
    if any(frame.strip is not None and frame.strip.shape != (n_heads, frame.row.size) for frame in frames):
        raise ValueError(f"a strip does not have {n_heads} heads and as many columns as its row")
    named = [frame.keys.size for frame in frames if frame.keys is not None]
    if named != [frame.row.size for frame in frames] * (view.bin > 1):
        raise ValueError("where a column has several tokens a row has a key for each")
    if cache.k.shape[0] != cache.v.shape[0]:
        raise ValueError(f"{cache.k.shape[0]} keys but {cache.v.shape[0]} values")


def _arrays(frames: Sequence[Frame]) -> dict[str, NDArray[Any]]:
    """Rows and strips one after the other; their widths are in the meta."""
    strips = [frame.strip.ravel() for frame in frames if frame.strip is not None]
    keys = [frame.keys for frame in frames if frame.keys is not None]
    return {
        "rows": np.concatenate([np.zeros(0, np.float32), *(frame.row.astype(np.float32) for frame in frames)]),
        "keys": np.concatenate([np.zeros(0), *keys]).astype(np.int32),
        "strips": np.concatenate([np.zeros(0, np.uint8), *strips]),
    }


def _cache(cache: Cache) -> JSON:
    growth = None if cache.growth is None else dict(cache.growth)
    return {"first": cache.first, "pooled": cache.pooled, "before": cache.before, "growth": growth}


def _view(view: FilmView) -> JSON:
    return {
        "head": list(view.head),
        "heads": [list(head) for head in view.heads],
        "total": view.n_heads,
        "bin": view.bin,
        "group": view.group,
    }


def _prompt(prompt: Prompt) -> JSON:
    units = [[label, start, bool(special)] for label, start, special in prompt.units]
    return {"labels": list(prompt.labels), "units": units}


def _meta(frame: Frame) -> JSON:
    """A frame's numbers with six digits: more than a screen shows, and a third of the bytes."""
    return {
        "token": frame.token,
        "label": frame.label,
        "special": frame.special,
        "position": frame.position,
        "how": frame.how,
        "probability": _short(frame.probability),
        "rank": frame.rank,
        "entropy": _short(frame.entropy),
        "changed": frame.changed,
        "final": _short(frame.final),
        "finalRank": frame.final_rank,
        "finalEntropy": _short(frame.final_entropy),
        "finalRest": _short(frame.final_rest),
        "uniform": _short(frame.uniform),
        "seconds": _short(frame.seconds),
        "nKept": frame.n_kept,
        "keptMass": _short(frame.kept_mass),
        "tokens": list(frame.tokens),
        "probabilities": [_short(value) for value in frame.probabilities],
        "finals": [_short(value) for value in frame.finals],
        "kept": [bool(kept) for kept in frame.kept],
    }


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")
