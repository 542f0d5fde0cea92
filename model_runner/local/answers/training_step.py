"""One step of gradient descent on a copy of the model: what each part would learn from this text."""

from __future__ import annotations

import copy
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from model_runner.block_questions import Learned
from model_runner.errors import N_, EditNotPossible, NotSeparable
from model_runner.local.answers.gradient_hooks import TrainingExample, encoder_decoder_example, next_token_example
from model_runner.local.cancellation import pause
from model_runner.local.encoder_decoder import EncoderDecoder
from model_runner.local.engine import Engine
from model_runner.local.loading.dtypes import is_quantized
from model_runner.local.request_tokens import explained
from model_runner.request import CaptureRequest

LARGEST = 200_000_000  # parameters: a copy and its gradient take three times the model's memory
TOO_LARGE = N_("a copy of it to train would take three times its memory")
QUANTIZED = N_("its weights are quantized, and whole numbers have no gradient")
SEVERAL_IN_ONE = N_("several of its layers share one module, so that the gradient cannot be split by layer")
ONE_TOKEN = N_("the text is one token long, so that there is nothing to predict")


def training_step(engine: Engine | EncoderDecoder, request: CaptureRequest, rates: tuple[float, ...]) -> Learned:
    """The gradient's norms, and the losses after a step with each of these rates. Raises RunnerError."""
    if request.edits:
        raise EditNotPossible(reason=N_("a training step runs only on the unmodified model"))
    if is_quantized(engine.model):
        raise NotSeparable(reason=QUANTIZED)
    if engine.info.n_parameters > LARGEST:
        raise NotSeparable(reason=TOO_LARGE)
    if isinstance(engine, Engine) and engine.structure.shared:
        raise NotSeparable(reason=SEVERAL_IN_ONE)
    lesson = (
        next_token_example(engine, request) if isinstance(engine, Engine) else encoder_decoder_example(engine, request)
    )
    if not len(lesson.wanted):
        raise NotSeparable(reason=ONE_TOKEN)
    with explained(engine.info, sum(one.shape[1] for one in lesson.given.values())):
        copied = copy.deepcopy(engine.model).requires_grad_(True)
        with torch.enable_grad():
            before = _losses(copied, lesson)
            before.mean().backward()
        gradients = {name: one.grad for name, one in copied.named_parameters() if one.grad is not None}
        starts = {name: one.detach() for name, one in engine.model.named_parameters() if name in gradients}
        after = [_stepped(copied, starts, gradients, rate, lesson) for rate in rates]
    names = engine.structure.names
    return Learned(
        rates=rates,
        before=before.detach().cpu(),
        after=torch.stack(after).cpu() if after else before.detach().cpu()[None][:0],
        layers=torch.tensor([_norm(gradients, f"{names[id(layer)]}.") for layer in lesson.layers]),
        heads=torch.stack([_by_head(gradients, names, one, lesson.n_heads) for one in lesson.projections]),
        whole=_norm(gradients, ""),
    )


def _losses(model: Any, lesson: TrainingExample) -> Float[Tensor, "predicted"]:
    logits = model(**lesson.given, use_cache=False, return_dict=True).logits[0].float()
    return nn.functional.cross_entropy(logits[: len(lesson.wanted)], lesson.wanted, reduction="none")


def _stepped(
    model: Any, starts: dict[str, Tensor], gradients: dict[str, Tensor], rate: float, lesson: TrainingExample
) -> Float[Tensor, "predicted"]:
    pause()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name in starts:
                torch.add(starts[name], gradients[name], alpha=-rate, out=parameter)  # in one pass, without new memory
        return _losses(model, lesson)


def _norm(gradients: dict[str, Tensor], within: str) -> float:
    own = [torch.linalg.vector_norm(one.float()) for name, one in gradients.items() if name.startswith(within)]
    return float(torch.linalg.vector_norm(torch.stack(own))) if own else float("nan")


def _by_head(
    gradients: dict[str, Tensor], names: dict[int, str], projection: nn.Module | None, heads: int
) -> Float[Tensor, "heads"]:
    """Norms of each head's columns of the output projection; NaN if that is unknown."""
    if projection is None:
        return torch.full((heads,), torch.nan)
    gradient = gradients[f"{names[id(projection)]}.weight"]
    columns = gradient.T if isinstance(projection, Conv1D) else gradient
    return columns.float().unflatten(1, (heads, -1)).square().sum(dim=(0, 2)).sqrt().cpu()
