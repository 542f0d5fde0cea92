"""Determines the frequencies of a model's rotation from its own cosines and sines at suitable positions."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from model_runner.layer_edit import LayerEdit
from model_runner.local.recording.edited_rotation import thetas_from
from model_runner.local.recording.forward_edit import ForwardEdit
from model_runner.local.recording.model_inspection import ModelStructure
from model_runner.local.recording.recorder import record_with

DOUBLINGS = 11  # the furthest probed position is 2^10, or less for a model with fewer positions


@dataclass(eq=False)
class _Listener:
    """Stands in for an edit of the rotation: changes nothing and records the calls."""

    seen: list[tuple[Tensor, Tensor]] = field(default_factory=list)

    def apply(self, cos: Tensor, sin: Tensor, *, start: int, call: int) -> tuple[Tensor, Tensor]:
        self.seen.append((cos.reshape(-1, cos.shape[-1]), sin.reshape(-1, sin.shape[-1])))
        return cos, sin


def probe_rotation(structure: ModelStructure, max_tokens: int) -> tuple[Float[Tensor, "columns"], ...]:
    """θ in rad/token of every column of every rotary call of a forward, in order. Raises EditNotPossible."""
    places = [0, *(2**k for k in range(DOUBLINGS) if 2**k < max_tokens)]
    listener, backbone = _Listener(), structure.backbone.module
    if "position_ids" in inspect.signature(backbone.forward).parameters:
        device = next(backbone.parameters()).device
        ids = torch.zeros(1, len(places), dtype=torch.long, device=device)
        edit = ForwardEdit(dict.fromkeys(structure.attention.values(), LayerEdit()), rotation=listener)
        with torch.no_grad(), record_with(structure.recording(edit=edit)):
            backbone(
                input_ids=ids,
                position_ids=torch.tensor([places], device=device),
                attention_mask=torch.ones_like(ids),  # otherwise transformers takes the gaps for packed documents
                use_cache=False,
            )
    return thetas_from(listener.seen)
