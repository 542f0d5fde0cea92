"""A stack of layers of which some keep softmax, and whether the model still recalls what it has read with it.

MiniMax-01 has seven layers of Lightning attention to one of softmax, the eighth of every eight (arXiv:2501.08313,
section 2). TransNormer has softmax inside blocks of the text in its lower layers and normalised linear attention in
the others (arXiv:2210.10340, section 4). What is asked for is a code that the text says twice, by
:func:`analysis.needle.recalled`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.needle import Needle
from model_runner import Capture
from model_runner.substitution import Substituted

PER_SOFTMAX = 8  # layers to one that keeps softmax
POINTS = 9  # of the curve, from every layer to none
CODES = {
    "en": Needle("The code is", " 7412", ". The code is 7412."),
    "zh": Needle("密码是", "7412", "。密码是7412。"),
}


def softmax_layers(layers: Sequence[int], count: int) -> tuple[int, ...]:
    """So many of these layers, evenly apart, the last of each stretch: of eight one is the eighth."""
    n = len(layers)
    return tuple(layer for at, layer in enumerate(layers) if (at + 1) * count // n > at * count // n)


def seven_to_one(layers: Sequence[int]) -> tuple[int, ...]:
    """The layers that keep softmax in a stack as MiniMax-01 has it; of fewer than eight the last."""
    return softmax_layers(layers, max(1, len(layers) // PER_SOFTMAX))


def lower_half(layers: Sequence[int]) -> tuple[int, ...]:
    """The layers that have softmax inside blocks in a stack as TransNormer has it; of an odd number the fewer."""
    return tuple(layers[: len(layers) // 2])


def counts(n_layers: int) -> tuple[int, ...]:
    """How many layers keep softmax at the points of the curve, all of them first."""
    steps = min(POINTS - 1, n_layers)
    return tuple(dict.fromkeys(round(n_layers * (steps - step) / steps) for step in range(steps + 1)))


def attending(capture: Capture) -> tuple[int, ...]:
    """The layers that have softmax attention in the model as it is."""
    return tuple(layer for layer in range(capture.n_layers) if capture.has_weights(layer))


def code(language: str = "en") -> Needle:
    """The one in this language, or else the English one."""
    return CODES.get(language, CODES["en"])


def stack(
    variant: str, values: Mapping[str, int], layers: Sequence[int], softmax: Sequence[int], block: int = 0
) -> tuple[Substituted, ...]:
    """The variant in the layers that do not keep softmax; with ``block`` the others keep it inside blocks of tokens."""
    other = tuple(layer for layer in layers if layer not in softmax)
    edits = (Substituted(variant, tuple(values.items()), other),) if other else ()
    kept = tuple(layer for layer in layers if layer in softmax)
    return (*edits, Substituted("blocks", (("size", block),), kept)) if block and kept else edits
