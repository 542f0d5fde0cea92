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
from typing import Annotated, TypeAlias

import numpy as np

from viz.components.picture import Bytes, ColoredPicture, Digits, Floats, HeadPlace, Ints, Parts, Texts, sent
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
    "look": N_("{query} puts {weight} on {key}"),
    "masked": N_("{query} cannot look at {key}: masked"),
    "of_layer": N_("L{layer}, the largest of its heads: {words}"),
    "line_width": N_("head {head} · the wider a line, the larger the share"),
    "cache_k": N_("K cache"),
    "cache_v": N_("V cache"),
    "cache": N_("KV cache of the model: {count} tokens, {bytes}"),
    "formula": N_("2 × {layers} layers × {heads} kv heads × {depth} numbers × {tokens} tokens × {size} bytes"),
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


Short: TypeAlias = Annotated[float, Digits(6)]
ShortOrNone: TypeAlias = Annotated[float | None, Digits(6)]
Shorts: TypeAlias = Annotated[Sequence[float], Digits(6)]


@dataclass(frozen=True, eq=False)
class Frame:
    """One frame as it is drawn. The first one of a film is the prompt: nothing chosen, `label` its last token.

    The candidates are listed by falling probability of the model, the chosen one among them. `probability`, `rank` and
    `entropy` are the model's own; `final` and all named after it belong to what the settings make of it.
    """

    token: int | None
    label: str
    special: bool
    position: int
    """Where the token stands."""
    how: str
    probability: ShortOrNone
    rank: int | None
    entropy: Short
    changed: bool
    """Whether the settings make another distribution of it than the model's own."""
    final: ShortOrNone
    final_rank: int | None
    final_entropy: Short
    final_rest: Short
    uniform: ShortOrNone
    seconds: ShortOrNone
    n_kept: int
    kept_mass: Short
    tokens: Sequence[int]
    probabilities: Shorts
    finals: Shorts
    """What the candidates were drawn with."""
    kept: Sequence[bool]
    row: Floats
    """The open head's attention row, a value per column; NaN where masked."""
    strip: Bytes | None
    """The rows of the heads and layers shown, 0..254 as 0..1, and 255 where masked."""
    keys: Ints | None = None
    """The positions of the tokens that have the values of `row`, where a column has several."""


@dataclass(frozen=True)
class Prompt:
    """The tokens before the first generated one."""

    labels: Sequence[str]
    units: Sequence[Annotated[tuple[str, int, bool], Parts(("label", "start", "special"))]]
    """Its chips: a label, the first token that it stands for (the bytes of a character share one), a special one."""


@dataclass(frozen=True)
class GrowingBytes:
    """Bytes of the cache, over all layers: `fixed`, and of each part so many a token, up to so many tokens."""

    parts: Sequence[Annotated[tuple[int, int | None], Parts(("each", "most"))]]
    fixed: int
    read: int
    shape: tuple[int, int, int, int] | None


@dataclass(frozen=True, eq=False)
class Cache:
    """Keys and values of the open head's cache from column `first` on."""

    k: Floats
    """[columns, d]"""
    v: Floats
    first: int
    pooled: int
    """Dimensions in one row of the picture."""
    growth: GrowingBytes | None
    """null where none is known."""
    before: int = 0
    """Positions of the picture that are read and not written."""


@dataclass(frozen=True)
class FilmView:
    """What the picture shows beside the frames: a head, and the rows of the strip, or none."""

    head: HeadPlace
    heads: Sequence[Annotated[tuple[int, int | None], Parts(("layer", "head"))]]
    """A row without a head is the largest of its layer's heads."""
    n_heads: int
    """Of the whole model."""
    bin: int
    """Tokens in one column."""
    group: int = 1
    """Neighbouring heads that share one key and value head."""


@dataclass(frozen=True, eq=False)
class FilmPicture(ColoredPicture):
    """The frames from number `start` on of a film; with `start` 0 the script forgets all others.

    ValueError where rows, strips and keys do not fit one another.
    """

    film: str
    """Its name."""
    start: int
    frames: Sequence[Frame]
    prompt: Prompt | None
    prefill: Annotated[tuple[int, float], Parts(("tokens", "seconds"))] | None
    """How many tokens were read at once, and in how many seconds."""
    cache: Cache
    view: FilmView
    n_vocab: int
    limit: int
    """How many tokens the film may have."""
    stop: str
    """Why it does not go on; empty while it may."""
    at: int
    """The frame a new film opens at."""
    goal: int
    """Up to which one it is fetched unasked."""
    pending: bool
    """There is more to make beside it."""
    answered: int
    """The last ask heard."""
    alive: bool
    """Not in a file, where nobody answers."""
    labels: Mapping[int, str]
    """Of the candidates."""
    texts: Texts
    ahead: Frame | None = None
    """What may come after the last frame; its position is 0."""

    def __post_init__(self) -> None:
        """Check the shapes; the prompt is sent with the first frame alone."""
        _check(self.frames, self.cache, self.view)
        if self.start:
            self._set(prompt=None)

    @sent
    def widths(self) -> Sequence[int]:
        """Columns of each frame's attention row."""
        return [frame.row.size for frame in self.frames]

    @sent
    def rows(self) -> Floats:
        """The frames' rows, one after the other."""
        return np.concatenate([np.zeros(0, np.float32), *(frame.row.astype(np.float32) for frame in self.frames)])

    @sent
    def keys(self) -> Ints:
        """Where a column has several tokens, the position of the one that has each of these weights."""
        keys = [frame.keys for frame in self.frames if frame.keys is not None]
        return np.concatenate([np.zeros(0, np.int32), *keys]).astype(np.int32)

    @sent
    def strips(self) -> Bytes:
        """The frames' strips, one after the other."""
        strips = [frame.strip.ravel().astype(np.uint8) for frame in self.frames if frame.strip is not None]
        return np.concatenate([np.zeros(0, np.uint8), *strips])

    @sent
    def k(self) -> Floats:
        """[columns, d] of the cache."""
        return self.cache.k

    @sent
    def v(self) -> Floats:
        """[columns, d] of the cache."""
        return self.cache.v


def _check(frames: Sequence[Frame], cache: Cache, view: FilmView) -> None:
    n_heads = len(view.heads)
    if any(frame.strip is not None and frame.strip.shape != (n_heads, frame.row.size) for frame in frames):
        raise ValueError(f"a strip does not have {n_heads} heads and as many columns as its row")
    named = [frame.keys.size for frame in frames if frame.keys is not None]
    if named != [frame.row.size for frame in frames] * (view.bin > 1):
        raise ValueError("where a column has several tokens a row has a key for each")
    if cache.k.shape[0] != cache.v.shape[0]:
        raise ValueError(f"{cache.k.shape[0]} keys but {cache.v.shape[0]} values")
