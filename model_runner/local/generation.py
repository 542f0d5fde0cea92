"""A text that goes on token by token through the model's own cache of keys and values, with everything kept of it.

Each forward is the unmodified model's over the new tokens alone; what its layers show is added to a
:class:`GrowingBuffers`, so that the capture after any step is that of one whole forward over the same tokens; where a
model turns longer texts otherwise, the text is read anew there. Knows nothing of threads or requests
in a queue: that is the runner's.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import DynamicCache

from attention.masks import Written
from model_runner import sampling as drawing
from model_runner.capture import Capture
from model_runner.errors import N_, BrokenLogits
from model_runner.local.cache_argument import cache_argument
from model_runner.local.preallocated_cache import empty_cache, preallocated_cache
from model_runner.local.recording.arena import Arena
from model_runner.local.recording.compressed_keys import GROWING, compression_of
from model_runner.local.recording.growing_buffers import GrowingBuffers
from model_runner.local.recording.model_inspection import PROBE_TOKENS, ModelStructure, declared_lengths
from model_runner.local.recording.parity_check import run, text_config, tried
from model_runner.local.recording.recorder import (
    GROWING_BIAS,
    GROWING_STATE,
    UNKNOWN_MASK,
    ActivationRecorder,
    CannotRecord,
    record_with,
)
from model_runner.local.recording.residual_stream import outputs_of
from model_runner.local.recording.rope_switch import crosses, rope_switches
from model_runner.local.tokenizing import Writer
from model_runner.mask_rule import MaskRule
from model_runner.question import Answerer
from model_runner.request import GREEDY, GenerateRequest
from model_runner.step import Step
from model_runner.token_bias import TokenBias
from model_runner.transforms import Sampling

LONG_PROBE = 512  # tokens; for models in which only a text this long shows a window
NO_CACHE = N_("it does not accept the cache of keys and values that is kept here ({error})")


@dataclass(eq=False)
class Generation:
    """A text being generated: call ``begin`` once, then ``step`` until it says stop. Not thread-safe."""

    model: Any
    structure: ModelStructure
    head: Callable[[Float[Tensor, "1 1 d_model"]], Float[Tensor, "vocab"]]
    view: Callable[[GrowingBuffers, int], Capture]  # of the first n tokens
    writer: Writer
    room: Callable[
        [], tuple[GrowingBuffers, ActivationRecorder]
    ]  # the recording writes into the series, and knows the rules
    sampling: Sampling
    ends: frozenset[int] = field(init=False)
    series: GrowingBuffers = field(init=False)
    recording: ActivationRecorder = field(init=False)
    switches: Sequence[int] = field(init=False)
    logits: Float[Tensor, "vocab"] = field(init=False)  # after everything that has gone through the model
    index: int = 0
    prefill_seconds: float = 0.0

    def __post_init__(self) -> None:
        self.ends, self.switches = end_tokens(self.model), rope_switches(self.model)

    def begin(self) -> None:
        """Prefill: run one forward over all tokens of the prompt."""
        began = time.perf_counter()
        self._read()
        self.prefill_seconds = time.perf_counter() - began

    def _read(self) -> None:
        """Run all tokens through the model into a new series; captures already returned keep the old one."""
        self.series, self.recording = self.room()
        ids = [token.id for token in self.writer.tokens]
        with self._more(len(ids)):
            hidden = _run(self.structure.backbone.module, ids, self.series.cache).last_hidden_state[0]
        self.series.take_hidden(hidden)
        self.logits = self.head(hidden[None, -1:])  # only the last position, or a long text would have as many logits

    def step(self) -> Step:
        """Sample the next token and run it through the model. Raises BrokenLogits."""
        began = time.perf_counter()
        position, logits = len(self.writer.tokens), self.logits
        ids = [token.id for token in self.writer.tokens]
        token = self.writer.append(next_token(logits, self.sampling, ids))
        if crosses(self.switches, position, position + 1):
            self._read()
        else:
            self._go_on(token.id)
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
            capture=self.view(self.series, position + 1),
        )
        self.index += 1
        return step

    def _go_on(self, token_id: int) -> None:
        """Run one forward over this token, with the cache of those before it."""
        with self._more(1), outputs_of(self.structure.backbone.module) as outputs:
            output = _run(self.model, [token_id], self.series.cache)
        self.logits = output.logits[0, -1].float().clone()
        self.series.take_hidden(outputs[0].last_hidden_state[0])

    @contextlib.contextmanager
    def _more(self, n_tokens: int) -> Generator[None]:
        """Record one forward over ``n_tokens`` more tokens, which are added to the series."""
        self.series.add(n_tokens)
        self.recording.start, self.recording.n_rotary = self.series.start, 0
        with self.structure.watched(self.series.take_stream), record_with(self.recording):
            yield


def next_token(logits: Float[Tensor, "vocab"], sampling: Sampling, ids: Sequence[int]) -> int:
    """Sample the next token; the result depends only on the logits, the sampling and the position.

    Raises BrokenLogits.
    """
    if replace(sampling, seed=0) == GREEDY:  # the largest logit, whatever the transforms
        best = int(logits.argmax())
        if not math.isfinite(logits[best]):
            raise BrokenLogits()
        return best
    last = drawing.stages(logits, sampling, ids)[-1]
    return drawing.draw(last.probabilities, drawing.uniforms(sampling.seed, len(ids), 1)[0])


def view(
    request: GenerateRequest,
    structure: ModelStructure,
    writer: Writer,
    series: GrowingBuffers,
    n_tokens: int,
    *,
    asked: Answerer,
) -> Capture:
    """The capture of the first ``n_tokens`` of a series, as views of its rows. Its reruns use no cache."""
    return Capture(
        request=request.so_far(writer.continuation(n_tokens)),
        tokens=tuple(writer.tokens[:n_tokens]),
        kinds=structure.kinds,
        records=tuple(
            series.record(structure.attention.get(layer, ""), n_tokens) for layer in range(len(structure.layers))
        ),
        origins=structure.origins,
        residuals=tuple(stream[:n_tokens] for stream in series.streams),
        hidden=series.first_hidden(n_tokens),
        asked=asked,
        written=writer.text_of(n_tokens),
    )


def prove_continuation(model: Any, structure: ModelStructure) -> dict[str, MaskRule]:
    """Return the mask rule of every attention layer over all positions, determined by running a few tokens.

    Raises CannotRecord, with the reason, for a model that cannot continue a text, or whose cache changes its numbers.
    """
    backbone = structure.backbone.module
    if not model.can_generate():
        raise CannotRecord(N_("it was not made to predict the next token"))
    if structure.recurrent:
        raise CannotRecord(GROWING_STATE)
    if any(compression_of(module) is not None for module in model.modules()):
        raise CannotRecord(GROWING)
    ids, cache = range(PROBE_TOKENS), empty_cache(model)
    recording = structure.recording(whole_masks=True)
    with tried(NO_CACHE), record_with(recording):
        whole = _run(backbone, ids, cache).last_hidden_state[0]
    if all(getattr(layer, "keys", None) is None for layer in cache.layers):
        raise CannotRecord(N_("it keeps no cache of keys and values"))
    if any(record.bias is not None and not isinstance(record.bias, TokenBias) for record in recording.records.values()):
        raise CannotRecord(GROWING_BIAS)
    if structure.legacy:  # these name no rule: a window only shows in a longer text
        recording, config = structure.recording(), text_config(model)
        length = min([LONG_PROBE, *declared_lengths(config)])
        with tried(NO_CACHE), record_with(recording):
            run(model, torch.arange(length, device=model.device)[None] % config.vocab_size)
    rules = {name: record.mask.before_choice for name, record in recording.records.items()}
    if any(isinstance(rule.own, Written) for rule in rules.values()):
        raise CannotRecord(UNKNOWN_MASK)
    if any(rule.sees_ahead(LONG_PROBE) for rule in rules.values()):
        raise CannotRecord(N_("its attention looks ahead at later tokens"))
    with tried(NO_CACHE):
        cache = preallocated_cache(model, Arena(torch.empty(0, dtype=torch.uint8, device=whole.device)), PROBE_TOKENS)
        runs = [_run(backbone, ids[:2], cache), *(_run(backbone, [one], cache) for one in ids[2:])]
    parts = torch.cat([run.last_hidden_state[0] for run in runs])
    apart = float((parts.float() - whole.float()).norm() / whole.float().norm())
    if not apart <= torch.finfo(whole.dtype).eps ** 0.5:
        raise CannotRecord(N_("with its cache it gives different numbers than on the whole text at once"))
    return rules


def _run(model: Any, ids: Sequence[int], cache: DynamicCache) -> Any:
    """Run the model on these tokens; the returned tensors are inference tensors: not to be written to or
    differentiated.
    """
    with torch.inference_mode():  # a tenth faster than no_grad where a step does little work
        batch = torch.tensor([list(ids)], device=model.device)
        return model(input_ids=batch, **cache_argument(model, cache), use_cache=True, return_dict=True)


def end_tokens(model: Any) -> frozenset[int]:
    """The tokens at which the model's own generation stops."""
    ends = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    return frozenset([ends] if isinstance(ends, int) else ends or [])
