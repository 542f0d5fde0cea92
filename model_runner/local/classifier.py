"""The class scores of a classifier: its own classification head, run on its backbone's output.

Nothing is assumed about the head. It is run by the model's own code, with the backbone's output substituted; which
tokens it reads is determined by the gradient of the scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers.modeling_outputs import BaseModelOutput
from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES

from model_runner.class_scores import Scale
from model_runner.local.recording.model_inspection import Backbone
from model_runner.local.recording.residual_stream import standing_in

CLASSIFIERS = frozenset(MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES.values())


def is_classifier(model: nn.Module) -> bool:
    """True if the model is one of transformers' sequence classifiers, or a subclass."""
    return any(parent.__name__ in CLASSIFIERS for parent in type(model).__mro__)


def class_names(config: Any) -> tuple[str, ...]:
    """The class names by id, from the configuration."""
    names: Mapping[int, str] = config.id2label
    return tuple(str(names.get(place, f"LABEL_{place}")) for place in range(config.num_labels))


def scale_of(config: Any) -> Scale:
    """How its scores are interpreted: by ``problem_type`` or, if unset, by the number of classes.

    A single class is a number (a reranker's relevance, a regression), as transformers trains it.
    """
    several = "number" if config.num_labels == 1 else "softmax"
    stated: dict[Any, Scale] = {
        "single_label_classification": "softmax",
        "multi_label_classification": "sigmoid",
        "regression": "number",
    }
    return stated.get(config.problem_type, several)


def class_logits(
    model: Any, backbone: Backbone, output: Any, given: Mapping[str, Tensor]
) -> Float[Tensor, "batch classes"]:
    """The class scores, float32; ``output`` is the backbone's output for ``given``."""
    rows = len(output.last_hidden_state)
    if rows > 1:  # without a padding token some heads take one text at a time
        return torch.cat([class_logits(model, backbone, _row(output, i), _each(given, i)) for i in range(rows)])
    with standing_in([backbone.module], lambda *_: lambda *_, **__: output):
        return model(**given, use_cache=False, return_dict=True).logits.float()


def logits_of_state(model: Any, backbone: Backbone, hidden: Float[Tensor, "d_model"]) -> Float[Tensor, "classes"]:
    """The scores for a single final hidden state, if the head reads nothing else of the backbone.

    Raises what the model's own code raises if it does.
    """
    output = backbone.output(last_hidden_state=hidden[None, None])
    pad = model.config.get_text_config(decoder=True).pad_token_id
    tokens = torch.full((1, 1), 1 if pad == 0 else 0, device=hidden.device)
    return class_logits(model, backbone, output, {"input_ids": tokens})[0]


def positions_read(model: Any, last: nn.Module, given: Mapping[str, Tensor]) -> tuple[int, ...]:
    """The positions of the last layer's output on which the scores depend: those with a gradient."""
    leaves: list[Tensor] = []

    def leaf(_: nn.Module, __: Any, output: Any) -> Any:
        stream = (output if torch.is_tensor(output) else output[0]).detach().requires_grad_()
        leaves.append(stream)
        return stream if torch.is_tensor(output) else (stream, *output[1:])

    hook = last.register_forward_hook(leaf)
    try:
        with torch.enable_grad():
            logits = model(**given, use_cache=False, return_dict=True).logits
            weights = torch.linspace(1.0, 2.0, logits.numel(), device=logits.device, dtype=logits.dtype)
            (gradient,) = torch.autograd.grad((logits.flatten() * weights).sum(), leaves[-1])
    finally:
        hook.remove()
    read = gradient.reshape(-1, gradient.shape[-1]).abs().sum(dim=-1) > 0
    return tuple(read.nonzero().flatten().tolist())


class _DecoderAsked(Exception):
    """Ends a forward once the decoder's input is known."""


def decoder_tokens(model: Any, given: Mapping[str, Tensor]) -> tuple[int, ...]:
    """The token ids that a classifier's decoder reads for a text, shifted by the model's own code."""
    asked: list[Tensor] = []
    width = model.config.get_text_config(decoder=True).hidden_size
    text = given["input_ids"]
    encoded = BaseModelOutput(last_hidden_state=torch.zeros(*text.shape, width, device=text.device, dtype=model.dtype))  # type: ignore[arg-type]

    def stop(_: nn.Module, __: Any, kwargs: dict[str, Any]) -> None:
        asked.append(kwargs["input_ids"])
        raise _DecoderAsked

    decoder = model.base_model.get_decoder()
    hook = decoder.register_forward_pre_hook(stop, with_kwargs=True)
    try:
        with torch.no_grad(), standing_in([model.base_model.get_encoder()], lambda *_: lambda *_, **__: encoded):
            model(**given, use_cache=False, return_dict=True)
    except _DecoderAsked:
        pass
    finally:
        hook.remove()
    return tuple(asked[0][0].tolist())


def _row(output: Any, row: int) -> Any:
    return type(output)(**{name: one[row : row + 1] if torch.is_tensor(one) else one for name, one in output.items()})


def _each(given: Mapping[str, Tensor], row: int) -> dict[str, Tensor]:
    return {name: one[row : row + 1] for name, one in given.items()}
