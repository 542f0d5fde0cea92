"""A generation as a film: each frame is one token, how it was drawn, its attention, and the cache that it was added to.

Frames arrive in chunks and are kept by the script, which steps, plays, rewinds and scrubs without the server. It sends
"more" = {film, have, at, wanted, ask} when it needs further frames, "rest" = {film, have, at} when the reader stays at
a frame, "force" = {film, frame, token} for a click in the list of tokens, and "head" = [layer, head] for a click on a
row in the picture of all heads.
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
    """One frame. The first one is the prompt: nothing is chosen, and `label` is its last token.

    Candidates are listed by decreasing model probability and include the chosen one. `probability`, `rank` and
    `entropy` are the model's own; `final` and the fields after it are those after the sampling settings.
    """

    token: int | None
    label: str
    special: bool
    position: int
    """The token's position."""
    how: str
    probability: ShortOrNone
    rank: int | None
    entropy: Short
    changed: bool
    """Whether the settings change the model's distribution."""
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
    """The random number with which a candidate was drawn."""
    kept: Sequence[bool]
    row: Floats
    """The open head's attention row, one value per column; NaN where masked."""
    strip: Bytes | None
    """The rows of the heads and layers shown: 0..254 for 0..1, 255 where masked."""
    keys: Ints | None = None
    """Positions of the tokens with the values in `row`, if columns have several tokens."""


@dataclass(frozen=True)
class Prompt:
    """The tokens before the first generated one."""

    labels: Sequence[str]
    units: Sequence[Annotated[tuple[str, int, bool], Parts(("label", "start", "special"))]]
    """Its chips: a label, the index of its first token (bytes of one character share a chip), whether it is special."""


@dataclass(frozen=True)
class GrowingBytes:
    """Bytes of the cache in all layers: `fixed`, plus bytes per token for each part, up to a number of tokens."""

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
    """null if unknown."""
    before: int = 0
    """Positions in the picture that belong to the source."""


@dataclass(frozen=True)
class FilmView:
    """What the picture shows beside the frames: a head, and the rows of the strip, if any."""

    head: HeadPlace
    heads: Sequence[Annotated[tuple[int, int | None], Parts(("layer", "head"))]]
    """A row without a head is the maximum over its layer's heads."""
    n_heads: int
    """Of the whole model."""
    bin: int
    """Tokens in one column."""
    group: int = 1
    """Adjacent heads that share a key/value head."""


@dataclass(frozen=True, eq=False)
class FilmPicture(ColoredPicture):
    """The film's frames from number `start` on; with `start` 0 the script drops all others.

    Raises ValueError if rows, strips and keys do not match.
    """

    film: str
    """Its name."""
    start: int
    frames: Sequence[Frame]
    prompt: Prompt | None
    prefill: Annotated[tuple[int, float], Parts(("tokens", "seconds"))] | None
    """Number of tokens of the prefill, and its seconds."""
    cache: Cache
    view: FilmView
    n_vocab: int
    limit: int
    """Longest possible film, in tokens."""
    stop: str
    """Why it does not continue; empty while it may."""
    at: int
    """The frame at which a new film opens."""
    goal: int
    """The number of frames to fetch in advance."""
    pending: bool
    """Other branches are still to be generated."""
    answered: int
    """The last request that was handled."""
    alive: bool
    """False in a file, where no server answers."""
    labels: Mapping[int, str]
    """Of the candidates."""
    texts: Texts
    ahead: Frame | None = None
    """Candidates after the last frame; its position is 0."""

    def __post_init__(self) -> None:
        """Check the shapes; the prompt is sent with the first frame only."""
        _check(self.frames, self.cache, self.view)
        if self.start:
            self._set(prompt=None)

    @sent
    def widths(self) -> Sequence[int]:
        """Number of columns in each frame's attention row."""
        return [frame.row.size for frame in self.frames]

    @sent
    def rows(self) -> Floats:
        """The frames' rows, concatenated."""
        return np.concatenate([np.zeros(0, np.float32), *(frame.row.astype(np.float32) for frame in self.frames)])

    @sent
    def keys(self) -> Ints:
        """If columns have several tokens, the position of the one with each weight."""
        keys = [frame.keys for frame in self.frames if frame.keys is not None]
        return np.concatenate([np.zeros(0, np.int32), *keys]).astype(np.int32)

    @sent
    def strips(self) -> Bytes:
        """The frames' strips, concatenated."""
        strips = [frame.strip.ravel().astype(np.uint8) for frame in self.frames if frame.strip is not None]
        return np.concatenate([np.zeros(0, np.uint8), *strips])

    @sent
    def k(self) -> Floats:
        """[columns, d]: keys in the cache."""
        return self.cache.k

    @sent
    def v(self) -> Floats:
        """[columns, d]: values in the cache."""
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
