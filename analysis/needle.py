"""A needle in a haystack: a fact hidden at some depth and queried at the end, and which heads retrieve it.

The model is given the question again and then the answer, token by token. Its prediction before each token is its
greedy answer as long as it is right, so one forward tells how far it gets; and a head has copied a token of the needle
if its strongest weight was on it when that token was predicted: a retrieval head (Wu et al. 2024, arXiv:2404.15574).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from model_runner import Capture

PAUSE = re.compile(r"[.!?,;:。！？，；：][\"”’」]?\s+|[。！？，；：]|\n+")

FIRST_UNSPACED = "\u2e80"  # start of Chinese and Japanese characters in Unicode


@dataclass(frozen=True)
class Needle:
    """``question`` begins the hidden sentence and is repeated at the end; ``answer`` completes it."""

    question: str
    answer: str
    end: str = "."

    @property
    def sentence(self) -> str:
        return f"{self.question}{self.answer}{self.end}"


def own_needle(question: str, answer: str) -> Needle | None:
    """A needle of the reader's own words, without spaces in scripts that have none; None if one of them is empty."""
    question, answer = question.strip(), answer.strip().rstrip(".。")
    if not question or not answer:
        return None
    if max(question[-1], answer[0]) >= FIRST_UNSPACED:
        return Needle(question, answer, "。")
    return Needle(question, f" {answer}")


NEEDLES = (
    Needle("Repeat after me: lamp river seven cloud", " stone window green apple"),
    Needle("The list: seven, lamp, river,", " cloud, seven, lamp"),
    Needle("The secret word is", " lamp river seven cloud"),
    Needle("花园老师医生春天", "河流苹果窗户", "。"),
)
DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Trial:
    """A needle at ``depth`` (0 at the start, 1 at the end) of this many characters of a text."""

    needle: Needle
    depth: float
    characters: int


def hidden(text: str, trial: Trial) -> str:
    """The text with the needle at the sentence break nearest to its depth, followed by the question."""
    text = text[: trial.characters]
    ends = [0, *(found.end() for found in PAUSE.finditer(text)), len(text)]
    place = min(ends, key=lambda end: abs(end - trial.depth * len(text)))
    before, after = text[:place].rstrip(), text[place:].strip()
    joint = "" if trial.needle.end.startswith("。") else " "
    return joint.join(part for part in (before, trial.needle.sentence, after, trial.needle.question) if part)


@dataclass(frozen=True, eq=False)
class Retrieval:
    """``right`` of ``asked`` tokens are predicted correctly before the first error; ``said`` are the likeliest.

    ``n_tokens`` are those of the text up to the question's end, without the answer. ``share`` of them is right, each
    after the right ones before it; ``probability`` is the mean of the right tokens. ``copied``: the share of the
    needle's tokens that each head copied; ``looked``: its mean attention on the token to be predicted. NaN in layers
    without softmax attention.
    """

    n_tokens: int
    asked: int
    right: int
    said: tuple[int, ...]
    share: float
    probability: float
    copied: Float[np.ndarray, "layers heads"]
    looked: Float[np.ndarray, "layers heads"]


@dataclass(frozen=True)
class Recalled:
    """The model's prediction of the answer token by token: the likeliest ones, and the probability of the right ones.

    ``start`` is the position of the needle's answer in the text, ``first`` the query that predicts its first token.
    """

    start: int
    first: int
    said: tuple[int, ...]
    hits: tuple[bool, ...]
    probability: float

    @property
    def share(self) -> float:
        """Share of right tokens, each after the right ones before it."""
        return float(np.mean(self.hits))


def recalled(capture: Capture, answer: Sequence[int]) -> Recalled | None:
    """The recall in a capture of :func:`hidden`, continued by all but the last token of the answer.

    None if the answer's tokens in the text differ from those alone. Raises NoLogits.
    """
    ids, n_asked = [token.id for token in capture.tokens], len(answer)
    first = len(ids) - n_asked
    start = next((at for at in range(first - n_asked + 1) if ids[at : at + n_asked] == list(answer)), None)
    if start is None:
        return None
    said: list[int] = []
    probabilities: list[float] = []
    for step, wanted in enumerate(answer):
        chances = capture.logits(first + step).double().softmax(-1)
        said.append(int(chances.argmax()))
        probabilities.append(float(chances[wanted]))
    hits = tuple(told == wanted for told, wanted in zip(said, answer, strict=True))
    return Recalled(start, first, tuple(said), hits, float(np.mean(probabilities)))


def retrieval(capture: Capture, answer: Sequence[int]) -> Retrieval | None:
    """The recall, and the heads that retrieved it; None as in :func:`recalled`. Raises NoLogits."""
    found = recalled(capture, answer)
    if found is None:
        return None
    n_asked = len(answer)
    right = next((step for step, hit in enumerate(found.hits) if not hit), n_asked)
    copied, looked = _heads(capture, found.first, found.start, list(found.hits))
    return Retrieval(found.first + 1, n_asked, right, found.said, found.share, found.probability, copied, looked)


def _heads(
    capture: Capture, first: int, start: int, right: list[bool]
) -> tuple[Float[np.ndarray, "layers heads"], Float[np.ndarray, "layers heads"]]:
    """Token number s of the needle is copied if it is predicted correctly and has the head's strongest weight then."""
    copied, looked = (np.full((capture.n_layers, capture.n_heads), np.nan) for _ in range(2))
    for layer in range(capture.n_layers):
        if not capture.has_weights(layer):
            continue
        rows = capture.layer_weights(layer, slice(first, first + len(right)), shares=True).double().cpu().numpy()
        heads, steps = slice(0, len(rows)), np.arange(len(right))
        strongest = rows.argmax(-1)  # (heads, steps)
        copied[layer, heads] = ((strongest == start + steps) & np.array(right)).mean(-1)
        looked[layer, heads] = rows[:, steps, start + steps].mean(-1)
    return copied, looked


def strongest_heads(copied: Float[np.ndarray, "layers heads"], looked: np.ndarray, count: int) -> list[tuple[int, int]]:
    """(layer, head) of the best retrieval heads; ties are resolved by attention."""
    order = np.lexsort((-np.nan_to_num(looked.ravel(), nan=-1.0), -np.nan_to_num(copied.ravel(), nan=-1.0)))
    known = [int(at) for at in order if not np.isnan(copied.ravel()[at])]
    return [divmod(at, copied.shape[1]) for at in known[:count]]
