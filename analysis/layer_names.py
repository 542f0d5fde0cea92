"""Names of layers in models that run modules repeatedly, attend several times per block, or subtract heads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from model_runner.capture import Capture
from model_runner.layer_origin import LayerOrigin

Translate = Callable[[str], str]

N_ = str  # marks a text for Babel without translating it here

RUN = N_("L{layer} is run {run} of {runs} of {module}: these layers share their parameters.")
CYCLE = N_("L{layer} is cycle {run} of {runs} through {module}: these layers share their parameters.")
PART = N_("L{layer} is attention {part} of {parts} of one block, {module}.")
PAIR = N_(
    "L{layer} subtracts heads in pairs: H{first} is map 1 of this pair, and H{second} (map 2) is subtracted with "
    "λ = {factor}."
)


def layer_name(capture: Capture, layer: int, translate: Translate) -> str:
    """L5, or in a list "L5 · run 6/12", "L5 · L_module 2/6" (a cycle through this stack), "L5 · block 2, 2/2"."""
    origin = capture.origin(layer)
    if origin is None:
        return f"L{layer}"
    return " · ".join([f"L{layer}", *short_words(origin, capture.origins, translate)])


def short_words(origin: LayerOrigin, origins: Sequence[LayerOrigin], translate: Translate) -> list[str]:
    """A layer's run, and its part of the block; empty if it is the only one."""
    words: list[str] = []
    if origin.parts > 1:
        block = translate(N_("block {number}")).format(number=origin.module.rpartition(".")[2])
        words.append(f"{block}, {origin.part + 1}/{origin.parts}")
    if origin.runs > 1 and has_cycles(origins):
        words.append(f"{stack_of(origin)} {origin.run + 1}/{origin.runs}")
    elif origin.runs > 1:
        words.append(translate(N_("run {run}/{runs}")).format(run=origin.run + 1, runs=origin.runs))
    return words


def layer_sentences(capture: Capture, layer: int, head: int, translate: Translate) -> list[str]:
    """What a reader has to know about a layer and head; empty for an ordinary model."""
    found: list[str] = []
    origin, difference = capture.origin(layer), capture.record(layer).difference
    if origin is not None and origin.parts > 1:
        values = {"part": origin.part + 1, "parts": origin.parts, "module": origin.module}
        found.append(translate(PART).format(layer=layer, **values))
    if origin is not None and origin.runs > 1:
        words = CYCLE if has_cycles(capture.origins) else RUN
        values = {"run": origin.run + 1, "runs": origin.runs, "module": origin.module}
        found.append(translate(words).format(layer=layer, **values))
    if difference is not None:
        first, second = difference.pair(head)
        factor = f"{difference.factor:.3g}".replace("-", "−")
        found.append(translate(PAIR).format(layer=layer, first=first, second=second, factor=factor))
    return found


def has_cycles(origins: Sequence[LayerOrigin]) -> bool:
    """True if several stacks alternate, and at least one runs several times."""
    return len({stack_of(one) for one in origins}) > 1 and any(one.runs > 1 for one in origins)


def stack_of(origin: LayerOrigin) -> str:
    """The module that holds the stack, by the last part of its name: "L_module" for model.L_module.layers.0."""
    return origin.module.rsplit(".", 2)[0].rpartition(".")[2]
