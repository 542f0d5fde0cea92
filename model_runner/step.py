"""One generated token, with its capture."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from model_runner import sampling as drawing
from model_runner.capture import Capture
from model_runner.sampling import Stage
from model_runner.tokens import Token
from model_runner.transforms import Sampling

Stop = Literal["", "end", "limit"]


@dataclass(frozen=True, eq=False)
class Step:
    """One sampled token; ``capture`` reaches from the first token of the text to this one, the last row.

    ``logits`` (float32) are the distribution it was drawn from, by ``sampling``. ``stop`` tells why none follows: "end"
    for an end-of-text token, or "limit" if there is no room for more. ``seconds`` is the time to sample this token and
    run it through the model, ``prefill_seconds`` the time for all tokens before the first sampled one.
    """

    index: int  # 0 for the first sampled token
    position: int  # in the text: the number of tokens before it
    token: Token
    logits: Float[Tensor, "vocab"]
    sampling: Sampling
    seconds: float
    prefill_seconds: float
    stop: Stop
    capture: Capture = field(repr=False)  # views of the buffers; later steps do not change it

    def __repr__(self) -> str:
        """One line: which token was drawn, its position, and its probability."""
        likely = f"probability {self.probability:.3g}, rank {self.rank}"
        return f"<Step {self.index}: {self.token.text!r} at position {self.position}, {likely}>"

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The distribution after each transform of the sampling; the token was drawn from the last."""
        previous = [token.id for token in self.capture.tokens[: self.position]]
        return drawing.stages(self.logits, self.sampling, previous)

    @cached_property
    def probability(self) -> float:
        """The token's probability in the model's own distribution."""
        return float(torch.softmax(self.logits, dim=0)[self.token.id])

    @cached_property
    def rank(self) -> int:
        """1 if no token is more likely in the model's own distribution."""
        return 1 + int((self.logits > self.logits[self.token.id]).sum())
