"""One token that a model wrote, and what it did."""

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
    """One token drawn, and what it did: ``capture`` reaches from the first token of the text to this one, the last row.

    ``logits`` (float32) are the distribution it was drawn from, by ``sampling``. ``stop`` says that none follows: this
    is an end-of-text token ("end"), or there is no room for more ("limit"). ``seconds`` were needed to draw this token
    and send it through the model, ``prefill_seconds`` for all the tokens before the first one that was drawn.
    """

    index: int  # 0 for the first token drawn
    position: int  # in the text: as many tokens come before it
    token: Token
    logits: Float[Tensor, "vocab"]
    sampling: Sampling
    seconds: float
    prefill_seconds: float
    stop: Stop
    capture: Capture = field(repr=False)  # views of what is kept: later steps do not change it

    def __repr__(self) -> str:
        """One line: which token was drawn, where it stands, and how likely it was."""
        likely = f"probability {self.probability:.3g}, rank {self.rank}"
        return f"<Step {self.index}: {self.token.text!r} at position {self.position}, {likely}>"

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The distribution after each transform of the sampling; the token was drawn from the last."""
        previous = [token.id for token in self.capture.tokens[: self.position]]
        return drawing.stages(self.logits, self.sampling, previous)

    @cached_property
    def probability(self) -> float:
        """Of this token in the model's own distribution."""
        return float(torch.softmax(self.logits, dim=0)[self.token.id])

    @cached_property
    def rank(self) -> int:
        """1 if no token is more likely by the model's own distribution."""
        return 1 + int((self.logits > self.logits[self.token.id]).sum())
