"""A runner in this process: one model, one worker thread, one cache of captures."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from model_runner import memory
from model_runner.anatomy import examine
from model_runner.arena import ALIGNMENT, Arena
from model_runner.attribution import DirectPath, prove
from model_runner.cache import CaptureCache
from model_runner.capture import Capture
from model_runner.errors import (
    N_,
    NoLogits,
    NotCapturable,
    OutOfMemory,
    Reason,
    SequenceTooLong,
    TextExceedsMemory,
    WrongModel,
)
from model_runner.recording import CannotRecord, Recording, active
from model_runner.request import CaptureRequest
from model_runner.runner import ModelInfo
from model_runner.tokens import Encoded, display, encode, longest_start, tokens_of
from model_runner.worker import Job, Worker

CACHE_BYTES = 1 << 30
READING = N_("reading {tokens} tokens")


class LocalRunner:
    """Holds an unmodified Hugging Face model and its tokenizer, and answers for it."""

    def __init__(
        self,
        model: Any,
        tokenizer: PreTrainedTokenizerBase,
        *,
        name: str,
        revision: str | None = None,
        device: str | None = None,
        has_head: bool = True,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        """Raises NotCapturable, with the reason, for a model whose attention cannot be recorded exactly."""
        self.model = model.to(device or model.device).eval().requires_grad_(False)
        self.tokenizer = tokenizer
        self.anatomy = examine(self.model, name)
        self.has_head = has_head and self.anatomy.trunk.has_head
        self.info = self._describe(name, revision)
        self.cache = CaptureCache(cache_bytes)
        self.worker = Worker(f"model {name}")
        self._path: DirectPath | None = None  # proven when it is first asked for

    def capture(self, request: CaptureRequest) -> Capture:
        """The capture of this request, from the cache or by one forward; waits for its turn. Raises RunnerError."""
        return self.submit(request).result()

    def submit(self, request: CaptureRequest, *, session: str | None = None) -> Job[Capture]:
        """The same without waiting; a newer request of the same session cancels this one."""
        request = self._resolve(request)
        return self.worker.submit(lambda job: self._capture(request, job), session)

    def token_text(self, token_id: int) -> str:
        """A token of the vocabulary as it is drawn."""
        return display(self.tokenizer, token_id)

    def _describe(self, name: str, revision: str | None) -> ModelInfo:
        config = self.model.config
        limits = [getattr(config, "max_position_embeddings", None), self.tokenizer.model_max_length]
        return ModelInfo(
            name=name,
            revision=revision,
            family=str(config.model_type),
            dtype=str(self.model.dtype).removeprefix("torch."),
            device=str(self.model.device),
            n_layers=len(self.anatomy.layers),
            n_heads=self.anatomy.n_heads,
            n_kv_heads=self.anatomy.n_kv_heads,
            n_parameters=self.model.num_parameters(),
            n_vocab=config.vocab_size,
            max_tokens=int(min(limit for limit in limits if limit)),
        )

    def _resolve(self, request: CaptureRequest) -> CaptureRequest:
        """The request with the model, revision and dtype of this runner. Raises WrongModel if it names others."""
        own = {"model": self.info.name, "revision": self.info.revision, "dtype": self.info.dtype}
        for name, value in own.items():
            if getattr(request, name) not in (None, value):
                raise WrongModel(wanted=getattr(request, name), held=value)
        return replace(request, **own)

    def _capture(self, request: CaptureRequest, job: Job[Capture]) -> Capture:
        known = self.cache.get(request)
        if known is not None:
            return known
        job.check()
        encoded = encode(self.tokenizer, request.text)
        self._check_length(request.text, encoded)
        try:
            capture = self._forward(request, encoded, job)
        except (torch.OutOfMemoryError, MemoryError) as error:
            raise OutOfMemory(stage=Reason(READING, {"tokens": len(encoded.ids)})) from error
        except RuntimeError as error:
            if "allocate memory" not in str(error):
                raise
            raise OutOfMemory(stage=Reason(READING, {"tokens": len(encoded.ids)})) from error
        self.cache.put(request, capture)
        return capture

    def _check_length(self, text: str, encoded: Encoded) -> None:
        """Raises SequenceTooLong beyond the model's positions, TextExceedsMemory beyond this machine's memory."""
        count, limit = len(encoded.ids), self.info.max_tokens
        if count > limit:
            characters = longest_start(self.tokenizer, text, encoded, limit)
            raise SequenceTooLong(tokens=count, limit=limit, characters=characters)
        free = memory.available(self.model.device) // 2  # the other half is for the forward's own temporaries
        needed = self.anatomy.bytes_per_token * count
        if needed > free:
            fits = int(free / self.anatomy.bytes_per_token)
            raise TextExceedsMemory(
                tokens=count, limit=fits, needed=memory.readable(needed), free=memory.readable(free)
            )

    def _forward(self, request: CaptureRequest, encoded: Encoded, job: Job[Capture]) -> Capture:
        """One forward of the unmodified model with every layer recorded."""
        arena = self._arena(len(encoded.ids))
        recording = Recording(self.anatomy.names, keep=arena.keep, check=job.check)
        residuals: list[Tensor] = []
        layers = self.anatomy.layers
        hooks = [layer.register_forward_pre_hook(_keep_input(residuals, arena), with_kwargs=True) for layer in layers]
        hooks.append(layers[-1].register_forward_hook(_keep_output(residuals, arena)))
        try:
            with torch.no_grad(), active(recording):
                ids = torch.tensor([encoded.ids], device=self.model.device)
                output = self.anatomy.trunk.module(input_ids=ids, use_cache=False, return_dict=True)
        except CannotRecord as error:
            raise NotCapturable(name=self.info.name, family=self.info.family, reason=error.reason) from error
        finally:
            for hook in hooks:
                hook.remove()
        records = recording.records
        return Capture(
            request=request,
            tokens=tokens_of(self.tokenizer, encoded),
            kinds=self.anatomy.kinds,
            records=tuple(records.get(self.anatomy.attention.get(i, "")) for i in range(len(layers))),
            residuals=tuple(residuals),
            hidden=arena.keep(output.last_hidden_state[0]),
            logits_of=self._logits,
            push_of=self._push,
        )

    def _arena(self, n_tokens: int) -> Arena:
        """Room for all that is kept of so many tokens: four vectors a layer, the stream before and after each."""
        pieces = 4 * len(self.anatomy.attention) + len(self.anatomy.layers) + 2
        needed = math.ceil(self.anatomy.bytes_per_token * n_tokens) + pieces * ALIGNMENT
        return Arena(needed, self.model.device)

    def _logits(self, hidden: Float[Tensor, "d_model"]) -> Float[Tensor, "vocab"]:
        """What the model's output layer makes of one position; its own code, soft-caps and scales included."""
        if not self.has_head:
            raise NoLogits(name=self.info.name)
        return self.worker.submit(lambda _: self._run_head(hidden[None, None])).result()

    def _push(self, layer: int, head: int, output: Tensor, stream: Tensor, hidden: Tensor) -> Float[Tensor, "vocab"]:
        """What one head's output adds to the logits of one position, see :mod:`model_runner.attribution`."""
        if not self.has_head:
            raise NoLogits(name=self.info.name)
        return self.worker.submit(lambda _: self._run_push(layer, head, output, stream, hidden)).result()

    def _run_push(
        self, layer: int, head: int, output: Tensor, stream: Tensor, hidden: Tensor
    ) -> Float[Tensor, "vocab"]:
        if self._path is None:
            self._path = prove(self.model, self.anatomy, lambda one: self._run_head(one[None, None]))
        with torch.no_grad():
            return self._path.push(layer, head, output, stream, hidden)

    def _run_head(self, hidden: Float[Tensor, "1 1 d_model"]) -> Float[Tensor, "vocab"]:
        """The model's forward without its trunk: the stored hidden state stands in for what the trunk would return."""
        trunk = self.anatomy.trunk
        trunk.module.forward = lambda *_, **__: trunk.output(last_hidden_state=hidden)
        try:
            with torch.no_grad():
                one_token = torch.zeros(1, 1, dtype=torch.long, device=self.model.device)
                return self.model(input_ids=one_token, use_cache=False, return_dict=True).logits[0, 0].float()
        finally:
            del trunk.module.forward  # the class's own forward again


def _keep_input(residuals: list[Tensor], arena: Arena) -> Any:
    def hook(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        hidden = args[0] if args else kwargs["hidden_states"]
        residuals.append(arena.keep(hidden[0]))

    return hook


def _keep_output(residuals: list[Tensor], arena: Arena) -> Any:
    def hook(_: Any, __: Any, output: Any) -> None:
        hidden = output if torch.is_tensor(output) else output[0]
        residuals.append(arena.keep(hidden[0]))

    return hook
