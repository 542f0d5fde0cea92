"""A stack in which only some layers keep softmax, and its recall of what it has read.

MiniMax-01 has seven Lightning layers per softmax layer, the last of every eight (arXiv:2501.08313, section 2).
TransNormer has block-wise softmax in its lower layers and normalized linear attention in the others (arXiv:2210.10340,
section 4). Recall is tested with a code that occurs twice in the text, see :func:`analysis.needle.recalled`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.needle import Needle
from model_runner import Capture
from model_runner.substitution import Substituted

PER_SOFTMAX = 8  # layers per layer that keeps softmax
POINTS = 9  # of the curve, from every layer to none
CODES = {
    "en": Needle("The code is", " 7412", ". The code is 7412."),
    "zh": Needle("密码是", "7412", "。密码是7412。"),
}


def softmax_layers(layers: Sequence[int], count: int) -> tuple[int, ...]:
    """This many of the layers at equal distances, the last of each stretch: for one of eight, the eighth."""
    n = len(layers)
    return tuple(layer for at, layer in enumerate(layers) if (at + 1) * count // n > at * count // n)


def seven_to_one(layers: Sequence[int]) -> tuple[int, ...]:
    """The softmax layers of a stack like MiniMax-01's; for fewer than eight layers the last."""
    return softmax_layers(layers, max(1, len(layers) // PER_SOFTMAX))


def lower_half(layers: Sequence[int]) -> tuple[int, ...]:
    """The layers with block-wise softmax in a stack like TransNormer's: the lower half, rounded down."""
    return tuple(layers[: len(layers) // 2])


def counts(n_layers: int) -> tuple[int, ...]:
    """Numbers of softmax layers at the points of the curve, starting with all."""
    steps = min(POINTS - 1, n_layers)
    return tuple(dict.fromkeys(round(n_layers * (steps - step) / steps) for step in range(steps + 1)))


def attending(capture: Capture) -> tuple[int, ...]:
    """The layers with softmax attention in the unedited model."""
    return tuple(layer for layer in range(capture.n_layers) if capture.has_weights(layer))


def code(language: str = "en") -> Needle:
    """The code in this language, or else the English one."""
    return CODES.get(language, CODES["en"])


def stack(
    variant: str, values: Mapping[str, int], layers: Sequence[int], softmax: Sequence[int], block: int = 0
) -> tuple[Substituted, ...]:
    """The variant in the layers that do not keep softmax; with ``block``, the others apply softmax within blocks."""
    other = tuple(layer for layer in layers if layer not in softmax)
    edits = (Substituted(variant, tuple(values.items()), other),) if other else ()
    kept = tuple(layer for layer in layers if layer in softmax)
    return (*edits, Substituted("blocks", (("size", block),), kept)) if block and kept else edits
