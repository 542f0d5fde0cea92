"""A forward from one layer on, for several variants at once: the layers below give what they gave in the capture.

Every batch has one more row without any change. It is what the variants are compared with, and it must say what the
capture said: a model whose layers cannot be left out like this is refused.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model_runner.anatomy import Anatomy
from model_runner.capture import Capture
from model_runner.errors import N_, EditNotPossible
from model_runner.layer_edit import ForwardEdit, LayerEdit
from model_runner.recording import Recording, active

Change = Callable[[Float[Tensor, "batch queries heads d_value"]], Tensor]


@dataclass(frozen=True, eq=False)
class Variants(LayerEdit):
    """What the heads of a layer pass on, changed in another way in each row of the batch."""

    change: Change | None = None

    def passed_on(self, output: Float[Tensor, "batch queries heads d_value"]) -> Tensor:
        return output if self.change is None else self.change(output)


@dataclass(frozen=True, eq=False)
class Rerun:
    """``head`` makes logits of final hidden states ``[batch, tokens, d_model]``; ``check`` raises to cancel.

    ``known`` are the capture's logits after the text.
    """

    anatomy: Anatomy
    head: Callable[[Tensor], Float[Tensor, "batch tokens vocab"]]
    capture: Capture
    known: Float[Tensor, "vocab"]
    check: Callable[[], None]

    def log_probs(
        self, layer: int, stream: Float[Tensor, "variants tokens d_model"], change: Change | None = None
    ) -> Float[Tensor, "variants vocab"]:
        """Natural log-probabilities of the token after the text, of each variant, less those without a change.

        ``stream`` enters the layer; ``change`` is applied to what its heads pass on. Raises EditNotPossible.
        """
        own = self.capture.residual(layer)[None]
        stream = torch.cat([own, stream.to(own)])
        edits: dict[str, LayerEdit] = {name: LayerEdit() for name in self.anatomy.attention.values()}
        if change is not None:
            edits[self.anatomy.attention[layer]] = Variants(change=_after_the_first(change))
        ids = torch.tensor([[token.id for token in self.capture.tokens]], device=own.device).expand(len(stream), -1)
        layers = self.anatomy.layers
        recording = Recording(self.anatomy.names, check=self.check, edit=ForwardEdit(edits), keeps=False)
        with torch.no_grad(), _left_out(layers[:layer], stream), _entered(layers[layer], stream), active(recording):
            output = self.anatomy.trunk.module(input_ids=ids, use_cache=False, return_dict=True)
            logits = self.head(output.last_hidden_state[:, -1:])[:, 0]
        found = torch.log_softmax(logits.double(), dim=-1)
        self._must_agree(found[0])
        return found[1:] - found[:1]

    def _must_agree(self, found: Float[Tensor, "vocab"]) -> None:
        known = torch.log_softmax(self.known.double(), dim=-1)
        seen = known > known.max() - 10  # the tail's log-probabilities are mostly rounding
        allowed = 1e-3 if self.capture.hidden.dtype == torch.float32 else 0.3
        if not bool(((found - known)[seen].abs() <= allowed).all()):
            raise EditNotPossible(reason=N_("the layers of this model cannot be run by themselves"))


def _after_the_first(change: Change) -> Change:
    return lambda output: torch.cat([output[:1], change(output[1:])])


@contextlib.contextmanager
def _left_out(layers: Sequence[nn.Module], stream: Tensor) -> Generator[None]:
    """These layers hand on the stream at once, as transformers' layers return it."""
    for layer in layers:
        layer.forward = lambda *_, **__: stream  # type: ignore[method-assign]  # for this forward only
    try:
        yield
    finally:
        for layer in layers:
            del layer.forward  # the class's own forward again


@contextlib.contextmanager
def _entered(layer: nn.Module, stream: Tensor) -> Generator[None]:
    """The stream enters this layer, whatever came before it."""

    def replace(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return ((stream, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": stream})

    hook = layer.register_forward_pre_hook(replace, with_kwargs=True)
    try:
        yield
    finally:
        hook.remove()
