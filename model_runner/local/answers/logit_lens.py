"""The model's own final norm and output layer, applied to the stream before each layer.

Nothing is assumed about a family: the model runs unmodified, with layers that pass the given stream on. The result for
the last layer's output must equal the model's own, or the model is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from attention.distributions import entropy, kl
from model_runner.block_questions import Lens
from model_runner.capture import Capture
from model_runner.errors import N_, EncoderSaysNothing, ForwardFails, NotSeparable
from model_runner.local.answers.layer_stack import LayerStack, stack_of
from model_runner.local.cancellation import pause
from model_runner.local.encoder_decoder import EncoderDecoder
from model_runner.local.engine import Engine
from model_runner.local.recording.parity_check import BROKEN
from model_runner.local.recording.residual_stream import standing_in
from model_runner.request import CaptureRequest

ROWS = 128  # positions whose distributions are computed at a time: O(ROWS × vocab) memory
ROUNDINGS = 16  # units of the dtype, of the largest number
NOT_ALONE = N_("what follows its last layer cannot be run by itself")

End = Callable[[Float[Tensor, "tokens d_model"]], Float[Tensor, "tokens d_model"]]


def logit_lens(engine: Engine | EncoderDecoder, request: CaptureRequest, top: int) -> Lens:
    """Every row of the lens over the text of this request. Raises RunnerError."""
    if isinstance(engine, Engine):
        engine.check_head()
    elif request.attention == "encoder":
        raise EncoderSaysNothing()
    capture = engine.capture(request)
    end = end_of(stack_of(engine, request), capture)
    states = [*(end(stream) for stream in capture.residuals[:-1]), capture.hidden]
    blocks = [
        _block(engine, [state[start : start + ROWS] for state in states], top)
        for start in range(0, len(capture.tokens), ROWS)
    ]
    return Lens(*(torch.cat(parts, dim=1) for parts in zip(*blocks, strict=True)))


def end_of(stack: LayerStack, capture: Capture) -> End:
    """The function from a stream after the last layer to the output layer's input. Raises NotSeparable."""

    def ending(returned: Callable[[Tensor], Any]) -> End:
        def end(stream: Tensor) -> Tensor:
            def hand_on(*_: Any, **__: Any) -> Any:
                pause()
                return returned(stream[None])

            with standing_in(list(dict.fromkeys(stack.layers)), lambda *_: hand_on):
                return stack.forward()

        return end

    # as layers of transformers 5 return it, older ones, those that pass on a selection of keys (GLM-5), and those that
    # pass on a position bias (T5)
    counts = (lambda stream: stream, *(partial(_beside_nothing, count=count) for count in (0, 1, 2)))
    for returned in counts:
        try:
            if _agrees(ending(returned)(capture.residuals[-1]), capture.hidden):
                return ending(returned)
        except (*BROKEN, ForwardFails):
            continue
    raise NotSeparable(reason=NOT_ALONE)


def _beside_nothing(stream: Tensor, count: int) -> tuple[Tensor | None, ...]:
    return stream, *(None,) * count


def _agrees(found: Tensor, known: Tensor) -> bool:
    if found.shape != known.shape:
        return False
    allowed = ROUNDINGS * torch.finfo(known.dtype).eps * float(known.abs().max())
    return bool(((found - known).abs() <= allowed).all())


def _block(engine: Engine | EncoderDecoder, states: list[Tensor], top: int) -> tuple[Tensor, ...]:
    """The rows of some positions, concatenated."""
    own = torch.log_softmax(engine.logits(states[-1][None])[0], dim=-1)
    said = own.argmax(dim=-1, keepdim=True)
    rows = [_row(torch.log_softmax(engine.logits(state[None])[0], dim=-1), own, said, top) for state in states]
    return tuple(torch.stack(part).cpu() for part in zip(*rows, strict=True))


def _row(
    found: Float[Tensor, "tokens vocab"], own: Float[Tensor, "tokens vocab"], said: Tensor, top: int
) -> tuple[Tensor, ...]:
    """The fields of :class:`Lens`, from log-probabilities and the model's own; a token that it excludes counts as 0."""
    pause()
    best, ids = found.topk(min(top, found.shape[-1]), dim=-1)
    final = found.gather(-1, said)
    rank = (found > final).sum(dim=-1)
    return ids, best.exp(), entropy(found.exp()), kl(own, found), final[:, 0].exp(), rank
