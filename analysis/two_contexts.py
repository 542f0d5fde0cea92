"""One word in two texts: the similarity of its vectors after every layer, and with two other words' vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from model_runner.capture import Capture
from model_runner.tokens import Token


@dataclass(frozen=True)
class ContextPair:
    """Two sentences that end with the same word, and a word for its meaning in each."""

    topic: str
    first: str
    second: str
    words: tuple[str, str]


PAIRS: dict[str, tuple[ContextPair, ...]] = {
    "en": (
        ContextPair("a fruit, a company", "The boy ate a sweet apple", "The phone was made by apple",
                    ("fruit", "company")),
        ContextPair("a river, money", "The fish swam to the river bank", "The man put his money in the bank",
                    ("river", "money")),
        ContextPair("a device, a model", "The power station has a transformer", "The language model is a transformer",
                    ("electricity", "language")),
    ),
    "zh": (
        ContextPair("水果与公司", "树上有一个苹果", "这个手机是苹果", ("水果", "手机")),
        ContextPair("粮食与公司", "锅里煮着小米", "这部手机是小米", ("米饭", "手机")),
    ),
}  # fmt: skip  # a pair in two lines


@dataclass(frozen=True, eq=False)
class WordPaths:
    """Rows are streams: the input of the first layer, then the output of each.

    ``alike``: the cosine of both texts' vectors; ``others``: the mean cosine of the first text's with its other tokens,
    NaN if it has none. ``first`` and ``second`` are the cosines of each with the two words' vectors, after the same
    layer; None without words.
    """

    alike: Float[np.ndarray, "rows"]
    others: Float[np.ndarray, "rows"]
    first: Float[np.ndarray, "rows words"] | None
    second: Float[np.ndarray, "rows words"] | None


def word_paths(
    first: Capture, second: Capture, places: tuple[int, int], words: tuple[Capture, Capture] | None
) -> WordPaths:
    """For the tokens at these positions; each of ``words`` is represented by its last token.

    O(layers × tokens × d_model).
    """
    rest = [place for place, one in enumerate(first.tokens) if place != places[0] and not one.special]
    alike: list[float] = []
    others: list[float] = []
    ways: tuple[list[list[float]], list[list[float]]] = ([], [])
    for row in range(len(first.residuals)):
        stream, beside = _stream(first, row), _stream(second, row)
        own, other = stream[places[0]], beside[places[1]]
        alike.append(_cosine(own, other))
        others.append(float(np.mean([_cosine(own, stream[place]) for place in rest])) if rest else np.nan)
        if words is not None:
            ends = [_stream(word, row)[last_place(word.tokens)] for word in words]
            for way, vector in zip(ways, (own, other), strict=True):
                way.append([_cosine(vector, end) for end in ends])
    lines = (None, None) if words is None else tuple(np.array(way) for way in ways)
    return WordPaths(np.array(alike), np.array(others), *lines)


def place_of(tokens: Sequence[Token], token: int, near: int) -> int | None:
    """The position of the token in a text: ``near`` if it is there, else the last occurrence; None if there is none."""
    found = [place for place, one in enumerate(tokens) if one.id == token]
    return None if not found else near if near in found else found[-1]


def last_place(tokens: Sequence[Token]) -> int:
    """The last token that covers characters of the text."""
    return next((place for place in reversed(range(len(tokens))) if not tokens[place].special), len(tokens) - 1)


def telling_words(first: Sequence[Token], second: Sequence[Token]) -> tuple[str, str] | None:
    """The last word of each text that the other lacks, as displayed; None if one has no such word."""
    pair = [_only_in(one, other) for one, other in ((first, second), (second, first))]
    return None if pair[0] is None or pair[1] is None else (pair[0], pair[1])


def _only_in(tokens: Sequence[Token], other: Sequence[Token]) -> str | None:
    lacking = {one.id for one in other}
    words = [one.text.strip("·") for one in tokens if one.id not in lacking and not one.special]
    return next((word for word in reversed(words) if len(word) > 1 or not word.isascii()), None)


def _stream(capture: Capture, row: int) -> Float[np.ndarray, "tokens d_model"]:
    return capture.residuals[row].double().cpu().numpy()


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else np.nan
