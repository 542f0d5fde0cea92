"""One step of gradient descent on a copy of the model: what each part of it would learn from this text."""

from __future__ import annotations

import copy
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from model_runner.block_questions import Learned
from model_runner.errors import N_, EditNotPossible, NoAttribution, NotSeparable
from model_runner.local.cancelling import pause
from model_runner.local.engine import Engine
from model_runner.local.numbers import is_quantized
from model_runner.local.reading import explained
from model_runner.request import CaptureRequest

LARGEST = 200_000_000  # parameters: a copy and its gradient take three times the model's memory
TOO_LARGE = N_("a copy of it to train would take three times its memory")
QUANTIZED = N_("its weights are quantized, and whole numbers have no gradient")
ONE_TOKEN = N_("the text is one token long, so that there is nothing to predict")


def training_step(engine: Engine, request: CaptureRequest, rates: tuple[float, ...]) -> Learned:
    """Gradient, its norms, and the losses after a step of each of these rates. Raises RunnerError."""
    engine.check_head()
    if request.edits:
        raise EditNotPossible(reason=N_("a training step is made on the unmodified model only"))
    tokens = engine.write(request).tokens
    if len(tokens) < 2:
        raise NotSeparable(reason=ONE_TOKEN)
    if is_quantized(engine.model):
        raise NotSeparable(reason=QUANTIZED)
    if engine.info.n_parameters > LARGEST:
        raise NotSeparable(reason=TOO_LARGE)
    given = engine.given.of(tokens)
    with explained(engine.info, len(tokens)):
        copied = copy.deepcopy(engine.model).requires_grad_(True)
        with torch.enable_grad():
            before = _losses(copied, given)
            before.mean().backward()
        gradients = {name: one.grad for name, one in copied.named_parameters() if one.grad is not None}
        starts = {name: one.detach().clone() for name, one in copied.named_parameters() if name in gradients}
        after = [_stepped(copied, starts, gradients, rate, given) for rate in rates]
    return Learned(
        rates=rates,
        before=before.detach().cpu(),
        after=torch.stack(after).cpu() if after else before.detach().cpu()[None][:0],
        layers=torch.tensor([_norm(engine, gradients, layer) for layer in range(engine.info.n_layers)]),
        heads=_heads(engine, gradients),
        whole=float(torch.stack([one.float().square().sum() for one in gradients.values()]).sum().sqrt()),
    )


def _losses(model: Any, given: dict[str, Tensor]) -> Float[Tensor, "predicted"]:
    logits = model(**given, use_cache=False, return_dict=True).logits[0].float()
    return nn.functional.cross_entropy(logits[:-1], given["input_ids"][0, 1:], reduction="none")


def _stepped(
    model: Any, starts: dict[str, Tensor], gradients: dict[str, Tensor], rate: float, given: dict[str, Tensor]
) -> Float[Tensor, "predicted"]:
    pause()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name in starts:
                parameter.copy_(starts[name] - rate * gradients[name])
        return _losses(model, given)


def _norm(engine: Engine, gradients: dict[str, Tensor], layer: int) -> float:
    within = f"{engine.anatomy.names[id(engine.anatomy.layers[layer])]}."
    own = [one.float().square().sum() for name, one in gradients.items() if name.startswith(within)]
    return float(torch.stack(own).sum().sqrt()) if own else float("nan")


def _heads(engine: Engine, gradients: dict[str, Tensor]) -> Float[Tensor, "layers heads"]:
    """Of each head's columns of the output projection, where the direct path knows it."""
    heads = engine.anatomy.n_heads
    found = torch.full((engine.info.n_layers, heads), torch.nan)
    try:
        path = engine.direct_path()
    except NoAttribution:
        return found
    for layer, way in enumerate(path.layers):
        projection = None if isinstance(way, str) else way.projection
        if projection is None:
            continue
        gradient = gradients[f"{engine.anatomy.names[id(projection)]}.weight"]
        columns = gradient.T if isinstance(projection, Conv1D) else gradient
        found[layer] = columns.float().unflatten(1, (heads, -1)).square().sum(dim=(0, 2)).sqrt().cpu()
    return found
