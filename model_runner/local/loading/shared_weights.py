"""Builds a model's twin: a second set of modules over the same weights, so that the original stays untouched.

Recording puts hooks on modules, chooses another attention implementation and sets evaluation mode. All of that happens
to the twin. No weight is copied: the twin's parameters are views of the model's, without gradients. Buffers are copied,
since a forward may write into them (the frequencies of LongRoPE).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from model_runner.errors import ModelChanged, ModelNotCopied, first_line
from model_runner.local.weights_state import state_of, tensors_in

HOOKS = (
    "_forward_hooks",
    "_forward_pre_hooks",
    "_backward_hooks",
    "_backward_pre_hooks",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)  # from torch 2.13
PLACEMENT = "_hf_hook"  # with which accelerate moves inputs, and offloaded weights, to a module's device


@dataclass(eq=False)
class _Followed:
    """A tensor of the model, where its twin is, and the version that the twin has."""

    held: dict[str, Tensor | None]
    name: str
    twin: dict[str, Tensor | None]
    state: tuple[int, int]


class SharedWeights:
    """``twin`` shares the weights of ``model``: an in-place change to them is visible in both at once."""

    def __init__(self, model: Any, name: str) -> None:
        """Raises ModelNotCopied if a module holds something that Python cannot copy."""
        self._name = name
        memo = {id(one): twin for one, twin in _kept(model)}
        try:
            self.twin: Any = copy.deepcopy(model, memo)
        except (TypeError, RuntimeError, AttributeError, NotImplementedError) as error:
            raise ModelNotCopied(name=name, reason=first_line(error)) from error
        pairs = zip(model.modules(), self.twin.modules(), strict=True)
        self._followed = [
            _Followed(held, key, twin, state_of(tensor))
            for mine, its in pairs
            for held, twin in zip(tensors_in(mine), tensors_in(its), strict=True)
            for key, tensor in held.items()
            if tensor is not None
        ]

    def follow(self) -> None:
        """Point the twin's tensors to the model's current ones. Raises ModelChanged for one of another kind."""
        for one in self._followed:
            now, twin = one.held.get(one.name), one.twin.get(one.name)
            if now is None or twin is None:
                raise ModelChanged(name=self._name)
            if state_of(now) == one.state:
                continue
            if (now.shape, now.dtype, now.device) != (twin.shape, twin.dtype, twin.device):
                raise ModelChanged(name=self._name)
            if isinstance(now, nn.Parameter):
                twin.data = now.detach()  # a tied tensor is in several places
            else:
                one.twin[one.name] = now.detach().clone()
            one.state = state_of(now)


def _kept(model: nn.Module) -> Iterator[tuple[object, object]]:
    """Objects that are not copied, with their stand-ins: weights are shared, and the caller's hooks are called as they
    are.
    """
    own = set(map(id, model.modules()))
    for module in model.modules():
        plain = {name: one for name, one in vars(module).items() if isinstance(one, Tensor)}
        for held in (*tensors_in(module), plain):
            for tensor in held.values():
                if tensor is not None:
                    yield tensor, _shared(tensor) if isinstance(tensor, nn.Parameter) else tensor.detach().clone()
        for hook in (hook for name in HOOKS for hook in vars(module).get(name, {}).values()):
            if id(getattr(hook, "__self__", None)) not in own:
                yield hook, hook
        if (placement := vars(module).get(PLACEMENT)) is not None:
            yield placement, placement


def _shared(parameter: nn.Parameter) -> Tensor:
    """The same values without a gradient; a quantized weight, which has none, is returned as it is."""
    if type(parameter) is not nn.Parameter and not parameter.requires_grad:
        return parameter
    shared = nn.Parameter(parameter.detach(), requires_grad=False)
    vars(shared).update(vars(parameter))
    return shared
