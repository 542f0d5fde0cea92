"""Finds tensors that a model's forward reads but its files lack.

transformers fills a tensor that is in no file with new numbers, mostly random ones, and reports its name. It leaves out
of that report what the class lists in ``_keys_to_ignore_on_load_missing`` (5.23). Whether such a tensor matters is
measured: put NaN in its place, and see whether NaN reaches the output. For complete files, nothing is run.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from model_runner.errors import N_, ModelIncomplete, Reason
from model_runner.local.loading.folder_files import numbers
from model_runner.local.recording.cannot_record import CannotRecord
from model_runner.local.recording.model_inspection import last_states
from model_runner.local.recording.parity_check import BROKEN, said

LACKS = N_("{count} weights are missing, {first} first")
LACKS_ONE = N_("the weight {first} is missing")


@dataclass(frozen=True)
class MissingWeights:
    """What a model lacks and can be shown without. ``filled``: tensors that its own class fills with fixed numbers."""

    has_head: bool = True
    filled: tuple[str, ...] = ()


def tied_against(model: Any, config: Mapping[str, Any]) -> set[str]:
    """The output layer, if the class ties it to the embedding although config.json declares a separate one.

    T5's classes always tie it (transformers 5.23), unless the files hold both.
    """
    said_tied = [value for key, value in numbers(config) if re.fullmatch("tie_(word_)?embeddings?", key)]
    if not said_tied or any(said_tied):
        return set()
    head, embedding = model.get_output_embeddings(), model.get_input_embeddings()
    if head is None or getattr(head, "weight", None) is not getattr(embedding, "weight", 0):
        return set()
    return {f"{name}.weight" for name, module in model.named_modules() if module is head}


def check_missing(name: str, model: Any, reported: Collection[str], forward: Callable[[], Any]) -> MissingWeights:
    """Return what the files lack that can be done without. Raises ModelIncomplete if they lack what is shown.

    ``reported`` are transformers' ``missing_keys``; ``forward`` runs the model over a few tokens, before any of our
    hooks are installed. A model with a single stack may lack its output layer: then no logits are shown.
    """
    tensors = model.state_dict(keep_vars=True)
    never_saved = model._keys_to_ignore_on_save or ()  # tensors that the class never saves are not weights
    lacks = (key for key in tensors if key in reported or _left_out(model, key, tensors[key]))
    missing = [key for key in lacks if key not in never_saved]
    if not missing:
        return MissingWeights()
    fixed = [key for key in missing if _may_be_missing(model, key) and _is_filled_alike(model, tensors[key], key)]
    asked = [key for key in missing if key not in fixed]
    try:
        in_layers = _in_layers_that_run(model, missing, forward)
    except (*BROKEN, CannotRecord):
        raise _incomplete(name, missing) from None
    outside = [key for key in asked if key not in in_layers]

    def arrives(at: Callable[[Any, Sequence[Any]], Tensor]) -> Callable[[Sequence[str]], bool]:
        return lambda keys: _nan_arrives([tensors[key] for key in keys], model, forward, at)

    read = {*_those(outside, arrives(_last_hidden_state)), *(key for key in asked if key in in_layers)}
    if not read and getattr(model.config, "is_encoder_decoder", False):  # these write by their output layer
        read = {*_those(outside, arrives(_what_is_said))}
    if read:
        raise _incomplete(name, [key for key in missing if key in read])
    has_head = not arrives(_what_is_said)(outside)
    _fill([tensors[key] for key in outside])
    filled = (key for key in fixed if key in in_layers or arrives(_what_is_said)([key]))
    return MissingWeights(has_head, tuple(filled))


@torch.no_grad()
def _fill(tensors: Sequence[Tensor]) -> None:
    """Fill tensors that affect nothing shown with the same numbers at each load; some are uninitialized memory."""
    generator = torch.Generator().manual_seed(0)
    for one in tensors:
        if one.is_floating_point():
            one.copy_(0.02 * torch.randn(one.shape, generator=generator))


def _incomplete(name: str, keys: Sequence[str]) -> ModelIncomplete:
    return ModelIncomplete(
        name=name, reason=Reason(LACKS if len(keys) > 1 else LACKS_ONE, {"count": len(keys), "first": keys[0]})
    )


def _may_be_missing(model: Any, key: str) -> bool:
    return any(re.search(pattern, key) for pattern in model._keys_to_ignore_on_load_missing or ())


def _left_out(model: Any, key: str, tensor: Tensor) -> bool:
    """Whether the tensor is missing but not reported; tensors loaded from a file are marked (transformers 5.23)."""
    return _may_be_missing(model, key) and not getattr(tensor, "_is_hf_initialized", False)


@torch.no_grad()
def _is_filled_alike(model: Any, tensor: Tensor, key: str) -> bool:
    """Whether the class that declares this tensor fills it with the same numbers for any seed."""
    if not tensor.is_floating_point():
        return False
    parent = model.get_submodule(key.rpartition(".")[0])
    owners: list[Any] = [module for module in _path_to(model, key) if isinstance(module, PreTrainedModel)]
    made: list[Tensor] = []
    with torch.random.fork_rng(devices=[]), _nan_in([tensor]):
        for seed in (0, 1):
            torch.manual_seed(seed)
            owners[-1]._init_weights(parent)
            made.append(tensor.detach().clone())
    return torch.equal(*made)  # false for NaN, i.e. if nothing filled it


def _path_to(model: nn.Module, key: str) -> list[nn.Module]:
    """The modules around a tensor, from the model inwards."""
    names = key.split(".")[:-1]
    return [model.get_submodule(".".join(names[:depth])) for depth in range(len(names) + 1)]


def _in_layers_that_run(model: nn.Module, keys: Sequence[str], forward: Callable[[], Any]) -> set[str]:
    """The keys inside a member of a module list that a forward runs.

    These weights are read, if not for these few tokens: an expert is only chosen for some texts.
    """
    ran: set[int] = set()
    hooks = [one.register_forward_pre_hook(lambda module, _: ran.add(id(module))) for one in model.modules()]
    try:
        forward()
    finally:
        for hook in hooks:
            hook.remove()

    def runs(key: str) -> bool:
        path = _path_to(model, key)
        lists = (nn.ModuleList, nn.ModuleDict)
        return any(isinstance(outer, lists) and id(one) in ran for outer, one in itertools.pairwise(path))

    return {key for key in keys if runs(key)}


def _those(keys: Sequence[str], arrives: Callable[[Sequence[str]], bool]) -> list[str]:
    """The keys whose NaN reaches the output, found by bisection."""
    if not keys or not arrives(keys):
        return []
    if len(keys) == 1:
        return list(keys)
    middle = len(keys) // 2
    return _those(keys[:middle], arrives) + _those(keys[middle:], arrives)


def _nan_arrives(
    tensors: Sequence[Tensor],
    model: nn.Module,
    forward: Callable[[], Any],
    at: Callable[[Any, Sequence[Any]], Tensor],
) -> bool:
    """Whether NaN in place of these tensors shows up in a forward's output or last hidden state.

    It may show up as NaN or as other numbers: scaled_dot_product_attention turns a NaN query into zeros (torch 2.13,
    CPU).
    """
    if not tensors:
        return False
    if any(type(one) not in (Tensor, nn.Parameter) or one.is_meta or not one.is_floating_point() for one in tensors):
        return True  # NaN cannot be stored there; treat it as read
    try:
        with last_states(model) as finished:
            before = at(forward(), finished)
        with _nan_in(tensors), last_states(model) as finished:
            after = at(forward(), finished)
    except BROKEN:
        return True
    return not torch.equal(before, after)


def _last_hidden_state(output: Any, finished: Sequence[Any]) -> Tensor:
    return finished[-1][1].last_hidden_state if finished else said(output)


def _what_is_said(output: Any, _finished: Sequence[Any]) -> Tensor:
    return said(output)


@contextlib.contextmanager
def _nan_in(tensors: Sequence[Tensor]) -> Generator[None]:
    """Replace the values of these tensors with NaN inside the block."""
    with torch.no_grad():
        held = [one.detach().clone() for one in tensors]
        try:
            for one in tensors:
                one.fill_(torch.nan)
            yield
        finally:
            for one, value in zip(tensors, held, strict=True):
                one.copy_(value)
