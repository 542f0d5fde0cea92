"""A text that goes on token by token through the model's own cache of keys and values, with everything kept of it.

Each forward is the unmodified model's over the new tokens alone; what its layers show is added to a :class:`Series`, so
that the capture after any step is that of one whole forward over the same tokens. Knows nothing of threads or requests
in a queue: that is the runner's.
"""

from __future__ import annotations

import contextlib
import inspect
import math
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import DynamicCache

from model_runner import sampling as drawing
from model_runner.anatomy import PROBE_TOKENS, Anatomy
from model_runner.arena import Arena
from model_runner.capture import Capture
from model_runner.errors import N_, BrokenLogits
from model_runner.mask_rule import MaskRule
from model_runner.recording import CannotRecord, Recording, active
from model_runner.request import GREEDY, CaptureRequest, GenerateRequest
from model_runner.row_cache import empty_cache, row_cache
from model_runner.sampling import Sampling, Stage
from model_runner.series import Series
from model_runner.stream import heard, watched
from model_runner.tokens import Token, Writer

Stop = Literal["", "end", "limit"]
Check = Callable[[], None]


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
    _tokens: Sequence[Token] = field(repr=False)  # of the whole text, however far it has got
    _view: Callable[[int], Capture] = field(repr=False)

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The distribution after each transform of the sampling; the token was drawn from the last."""
        previous = [token.id for token in self._tokens[: self.position]]
        return drawing.stages(self.logits, self.sampling, previous)

    @cached_property
    def probability(self) -> float:
        """Of this token in the model's own distribution."""
        return float(torch.softmax(self.logits, dim=0)[self.token.id])

    @cached_property
    def rank(self) -> int:
        """1 if no token is more likely by the model's own distribution."""
        return 1 + int((self.logits > self.logits[self.token.id]).sum())

    @cached_property
    def capture(self) -> Capture:
        """Views of what is kept: nothing is copied, and later steps do not change it."""
        return self._view(self.position + 1)


@dataclass(eq=False)
class Generation:
    """A text under way; ``begin`` once, then ``step`` until it says stop. Not safe to use from several threads."""

    model: Any
    anatomy: Anatomy
    head: Callable[[Float[Tensor, "1 1 d_model"]], Float[Tensor, "vocab"]]
    view: Callable[[int], Capture]  # of the first so many tokens
    writer: Writer
    series: Series
    recording: Recording  # into the series, knowing every layer's rule
    sampling: Sampling
    ends: frozenset[int] = field(init=False)
    greedy: bool = field(init=False)  # the largest logit, whatever the transforms
    logits: Float[Tensor, "vocab"] = field(init=False)  # after all that has gone through the model
    index: int = 0
    prefill_seconds: float = 0.0

    def __post_init__(self) -> None:
        self.ends = end_tokens(self.model)
        self.greedy = replace(self.sampling, seed=0) == GREEDY

    def begin(self, check: Check) -> None:
        """Prefill: one forward over everything that is there; ``check`` is called before each layer."""
        began = time.perf_counter()
        ids = [token.id for token in self.writer.tokens]
        with self._more(len(ids), check):
            hidden = _run(self.anatomy.trunk.module, ids, self.series.cache).last_hidden_state[0]
        self.series.take_hidden(hidden)
        self.logits = self.head(hidden[None, -1:])  # alone, or a long text would have as many logits
        self.prefill_seconds = time.perf_counter() - began

    def step(self, check: Check) -> Step:
        """Draw the next token and send it through the model. Raises BrokenLogits."""
        began = time.perf_counter()
        position, logits = len(self.writer.tokens), self.logits
        token = self.writer.append(self._next())
        with self._more(1, check), heard(self.anatomy.trunk.module) as outputs:
            output = _run(self.model, [token.id], self.series.cache)
        self.logits = output.logits[0, -1].float().clone()
        self.series.take_hidden(outputs[0].last_hidden_state[0])
        room = self.series.capacity - self.series.length
        step = Step(
            index=self.index,
            position=position,
            token=token,
            logits=logits,
            sampling=self.sampling,
            seconds=time.perf_counter() - began,
            prefill_seconds=self.prefill_seconds,
            stop="end" if token.id in self.ends else "" if room else "limit",
            _tokens=self.writer.tokens,
            _view=self.view,
        )
        self.index += 1
        return step

    @contextlib.contextmanager
    def _more(self, n_tokens: int, check: Check) -> Generator[None]:
        """A forward of so many more tokens, all of which the series hears of."""
        self.series.add(n_tokens)
        self.recording.check, self.recording.start, self.recording.turned = check, self.series.start, 0
        with watched(self.anatomy.layers, self.series.take_stream), active(self.recording):
            yield

    def _next(self) -> int:
        """The next token; the same for the same logits, sampling and position, anywhere."""
        if self.greedy:
            best = int(self.logits.argmax())
            if not math.isfinite(self.logits[best]):
                raise BrokenLogits()
            return best
        ids = [token.id for token in self.writer.tokens]
        last = drawing.stages(self.logits, self.sampling, ids)[-1]
        return drawing.draw(last.probabilities, drawing.uniforms(self.sampling.seed, len(ids), 1)[0])


def view(
    request: GenerateRequest,
    anatomy: Anatomy,
    writer: Writer,
    series: Series,
    n_tokens: int,
    *,
    logits_of: Callable[[Tensor], Tensor],
    push_of: Callable[[int, int, Tensor, Tensor, Tensor], Tensor],
) -> Capture:
    """The capture of the first ``n_tokens`` of a series: views of its rows. What runs it holds no cache."""
    named = {name: getattr(request, name) for name in ("text", "model", "revision", "dtype", "chat", "edits")}
    return Capture(
        request=CaptureRequest(**named, continuation=writer.continuation(n_tokens)),
        tokens=tuple(writer.tokens[:n_tokens]),
        kinds=anatomy.kinds,
        records=tuple(
            series.record(anatomy.attention.get(layer, ""), n_tokens) for layer in range(len(anatomy.layers))
        ),
        residuals=tuple(stream[:n_tokens] for stream in series.streams),
        hidden=series.first_hidden(n_tokens),
        logits_of=logits_of,
        push_of=push_of,
        written=writer.text_of(n_tokens),
    )


def prove_continuation(model: Any, anatomy: Anatomy) -> dict[str, MaskRule]:
    """The mask rule of every attention layer, over all positions, from a few tokens through the model.

    Raises CannotRecord, with the reason, for a model that does not continue texts, or whose cache changes its numbers.
    """
    trunk = anatomy.trunk.module
    if not model.can_generate():
        raise CannotRecord(N_("it was not made to predict the next token"))
    if "past_key_values" not in inspect.signature(trunk.forward).parameters:
        raise CannotRecord(N_("it keeps no cache of keys and values"))
    ids = range(PROBE_TOKENS)
    recording = Recording(anatomy.names, whole_masks=True)
    with active(recording):
        whole = _run(trunk, ids, empty_cache(model)).last_hidden_state[0]
    rules = {name: record.mask for name, record in recording.records.items()}
    if any(rule.tile(slice(0, 1), slice(1, 2), whole.device).any() for rule in rules.values()):
        raise CannotRecord(N_("its attention looks ahead at later tokens"))
    cache = row_cache(model, Arena(torch.empty(0, dtype=torch.uint8, device=whole.device)), PROBE_TOKENS)
    runs = [_run(trunk, ids[:2], cache), *(_run(trunk, [one], cache) for one in ids[2:])]
    parts = torch.cat([run.last_hidden_state[0] for run in runs])
    apart = float((parts.float() - whole.float()).norm() / whole.float().norm())
    if not apart <= torch.finfo(whole.dtype).eps ** 0.5:
        raise CannotRecord(N_("its cache gives other numbers than the whole text at once"))
    return rules


def _run(model: Any, ids: Sequence[int], cache: DynamicCache) -> Any:
    """What the model returns for these tokens: tensors that nothing may be written into, nor differentiated through."""
    with torch.inference_mode():  # a tenth faster than no_grad where a step is little work
        batch = torch.tensor([list(ids)], device=model.device)
        return model(input_ids=batch, past_key_values=cache, use_cache=True, return_dict=True)


def end_tokens(model: Any) -> frozenset[int]:
    """The tokens after which the model's own generation stops."""
    ends = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    return frozenset([ends] if isinstance(ends, int) else ends or [])
