"""A model with an adapter's changes in its weights, beside the model itself: what neither changes is held once.

W' = W + s·B·A (LoRA, Hu et al. 2021, arXiv:2106.09685), s = α/r or α/√r (rsLoRA, Kalajdzievski 2023, arXiv:2312.03732);
its rows brought to a learned length (DoRA, Liu et al. 2024, arXiv:2402.09353); rows or columns times a number (IA³, Liu
et al. 2022, arXiv:2205.05638); and whole weights in the place of others. Computed in float32 and rounded once. So the
adapted model is a model as any other, and everything that reads weights reads those that are multiplied by.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from model_runner.adapter import AdapterIncomplete, AdapterInfo, AdapterRefused
from model_runner.errors import N_, Reason
from model_runner.local.loading.adapter_files import ADAPTER_WEIGHTS, AdapterFiles
from model_runner.local.loading.adapter_targets import by_pattern, kept_whole, targeted

PREFIX = "base_model.model."  # which peft's own classes prepend to the names of the base
A, B, BIAS, LENGTHS, SCALES = "lora_A", "lora_B", "lora_B.bias", "lora_magnitude_vector", "ia3_l"
PARTS = {  # by the end of a key
    "lora_A.weight": A, "lora_B.weight": B, "lora_B.bias": BIAS, "lora_embedding_A": A, "lora_embedding_B": B,
    "lora_magnitude_vector.weight": LENGTHS, "lora_magnitude_vector": LENGTHS, "ia3_l": SCALES,
}  # fmt: skip

NO_MODULE = N_("its tensor {tensor} belongs to no module of the base")
NOT_NAMED = N_("its tensor {tensor} is for a module that its settings do not name")
NO_MATRIX = N_("it changes {module}, which is not a matrix or embedding of the base")
NO_TENSOR = N_("{count} tensors that its settings ask for are missing, {first} first")
OTHER_SHAPE = N_("its tensor {tensor} has the shape {shape}, not {wanted}")
BESIDE = N_("its tensor {tensor} stands beside others for the same weight")
NO_CHANGES = N_("its settings name no module of the base")


@dataclass
class Change:
    """The changes to one module: the keys of its tensors in the file, by part."""

    module: nn.Module
    parts: dict[str, str] = field(default_factory=dict[str, str])


def adapted(model: Any, files: AdapterFiles, base: str) -> tuple[Any, AdapterInfo]:
    """Return a copy of the model with the adapter applied, which shares unchanged weights with ``model``, and its info.

    Every tensor of the file is used, and every tensor that the settings require must be there. Raises AdapterRefused,
    AdapterIncomplete.
    """
    changes, whole = _checked(model, files)
    info = AdapterInfo(
        base=base,
        kind=files.settings.name,
        ranks=tuple(sorted({files.shapes[one.parts[A]][0] for one in changes.values() if A in one.parts})),
        modules=tuple(dict.fromkeys(name.rpartition(".")[2] for name in (*changes, *(at for at, _ in whole)))),
        on=True,
    )
    held = {id(one): one for one in (*model.parameters(), *model.buffers())}
    other: Any = copy.deepcopy(model, memo=dict(held))  # copies modules, not the tensors they hold
    scale = _scales(files, list(changes))
    with safe_open(files.folder / ADAPTER_WEIGHTS, framework="pt") as file:
        for (name, parameter), key in whole.items():
            module = other.get_submodule(name)
            _put(module, parameter, file.get_tensor(key).to(getattr(module, parameter).dtype))
        for name, change in changes.items():
            tensors = {part: file.get_tensor(key) for part, key in change.parts.items()}
            _change(other.get_submodule(name), tensors, scale[name])
    return other, info


def memory_of_changes(files: AdapterFiles, shapes: Mapping[str, tuple[int, ...]]) -> int:
    """Roughly how many numbers are held twice: those of the base's matrices (``shapes``) that the adapter changes."""
    ends = {_end(key.removesuffix(f".{end}")) for key in files.shapes for end in PARTS if key.endswith(f".{end}")}
    kept = sum(math.prod(shape) for key, shape in files.shapes.items() if not key.endswith(tuple(PARTS)))
    return kept + sum(math.prod(shape) for key, shape in shapes.items() if _end(key.rpartition(".")[0]) in ends)


def _end(module: str) -> str:
    """The last parts of a name, which a model's file and its adapter's file have in common."""
    return ".".join(module.split(".")[-4:])


# -- what is in the file, against the model ---------------------------------------------------------------------------


def _checked(model: Any, files: AdapterFiles) -> tuple[dict[str, Change], dict[tuple[str, str], str]]:
    """The changes by module, and the keys of replaced weights by module and parameter."""
    modules = dict(model.named_modules(remove_duplicate=False))
    names = [name for name in modules if name]
    head = model.get_output_embeddings()
    linear = {name for name in names if _is_matrix(modules[name]) and modules[name] is not head}
    wanted = targeted(files, names, linear)
    for name in sorted(wanted):
        if not (_is_matrix(modules[name]) or (isinstance(modules[name], nn.Embedding) and not _is_ia3(files))):
            raise _refused(files, NO_MATRIX, module=name)
    changes, whole = _by_module(model, files, modules)
    for name, change in changes.items():
        if name not in wanted:
            raise _refused(files, NOT_NAMED, tensor=next(iter(change.parts.values())))
    if not changes and not whole and not wanted:
        raise AdapterRefused(name=files.name, reason=NO_CHANGES)
    held = {name: change.parts.keys() for name, change in changes.items()}
    needed = [SCALES] if _is_ia3(files) else [A, B, LENGTHS] if files.settings.dora else [A, B]
    missing = [f"{name}.{part}" for name in sorted(wanted) for part in needed if part not in held.get(name, ())]
    missing += [
        f"{name}.{inner}"
        for name in sorted(kept_whole(files, names))
        for inner, _ in modules[name].named_parameters()
        if _place(f"{name}.{inner}") not in whole
    ]
    if missing:
        values = {"count": len(missing), "first": PREFIX + missing[0]}
        raise AdapterIncomplete(name=files.name, reason=Reason(NO_TENSOR, values))
    _check_shapes(files, changes)
    for (name, parameter), key in whole.items():
        _check_shape(files, key, tuple(getattr(modules[name], parameter).shape))
    return changes, whole


def _by_module(
    model: Any, files: AdapterFiles, modules: Mapping[str, nn.Module]
) -> tuple[dict[str, Change], dict[tuple[str, str], str]]:
    """Every tensor under its module's name; an adapter trained on the bare base model lacks the prefix added here."""
    changes: dict[str, Change] = {}
    whole: dict[tuple[str, str], str] = {}
    for key in sorted(files.shapes):
        name = key.removeprefix(PREFIX)
        end = next((end for end in PARTS if name.endswith(f".{end}")), "")
        at, parameter = (name.removesuffix(f".{end}"), "") if end else _place(name.replace(".base_layer.", "."))
        if at not in modules and f"{model.base_model_prefix}.{at}" in modules:
            at = f"{model.base_model_prefix}.{at}"
        if not key.startswith(PREFIX) or at not in modules:
            raise _refused(files, NO_MODULE, tensor=key)
        if end:
            parts = changes.setdefault(at, Change(modules[at])).parts
            if PARTS[end] in parts:
                raise _refused(files, BESIDE, tensor=key)
            parts[PARTS[end]] = key
        elif isinstance(getattr(modules[at], parameter, None), nn.Parameter) and (at, parameter) not in whole:
            whole[at, parameter] = key
        else:
            raise _refused(files, NO_MODULE, tensor=key)
    return changes, whole


def _check_shapes(files: AdapterFiles, changes: Mapping[str, Change]) -> None:
    """Raises AdapterRefused for a tensor whose shape does not fit its module and the rank, or that has no use."""
    rank = by_pattern(files, list(changes), dict(files.settings.ranks), files.settings.rank)
    for name, change in changes.items():
        rows, columns = _outputs_inputs(change.module)
        wanted: dict[str, tuple[int, ...]] = {SCALES: (1, columns)}
        if not _is_ia3(files):
            wanted = {A: (rank[name], columns), B: (rows, rank[name])}
            wanted |= {LENGTHS: (rows,)} if files.settings.dora else {}
            wanted |= {} if isinstance(change.module, nn.Embedding) else {BIAS: (rows,)}
        for part, key in change.parts.items():
            if part not in wanted:
                raise _refused(files, NOT_NAMED, tensor=key)
            if part != SCALES or files.shapes[key] != (rows, 1):
                _check_shape(files, key, wanted[part])


def _check_shape(files: AdapterFiles, key: str, wanted: tuple[int, ...]) -> None:
    if files.shapes[key] != wanted:
        raise _refused(files, OTHER_SHAPE, tensor=key, shape=str(files.shapes[key]), wanted=str(wanted))


def _refused(files: AdapterFiles, text: str, **values: Any) -> AdapterRefused:
    return AdapterRefused(name=files.name, reason=Reason(text, values))


def _place(name: str) -> tuple[str, str]:
    module, _, parameter = name.rpartition(".")
    return module, parameter


def _is_ia3(files: AdapterFiles) -> bool:
    return files.settings.kind == "IA3"


def _is_matrix(module: nn.Module) -> bool:
    weight: Any = getattr(module, "weight", None)
    return isinstance(module, (nn.Linear, Conv1D)) and weight.dim() == 2 and weight.is_floating_point()


def _outputs_inputs(module: nn.Module) -> tuple[int, int]:
    """Rows and columns of W as it multiplies a column vector; an embedding's inputs are its entries."""
    weight: Any = module.weight
    rows, columns = weight.shape
    return (columns, rows) if _is_turned(module) else (rows, columns)


def _is_turned(module: nn.Module) -> bool:
    return isinstance(module, (Conv1D, nn.Embedding))


# -- what is computed -------------------------------------------------------------------------------------------------


def _scales(files: AdapterFiles, names: list[str]) -> dict[str, float]:
    """The factor of B·A, by module."""
    settings = files.settings
    if _is_ia3(files):
        return dict.fromkeys(names, 1.0)
    ranks = by_pattern(files, names, dict(settings.ranks), settings.rank)
    alphas = by_pattern(files, names, dict(settings.alphas), settings.alpha)
    of: Callable[[int], float] = math.sqrt if settings.rslora else float
    return {name: float(alphas[name] / of(ranks[name])) for name in names}


def _change(module: nn.Module, tensors: Mapping[str, Tensor], scale: float) -> None:
    """Give this module new weights; the old ones are not modified."""
    old: Any = module.weight
    like = torch.promote_types(old.dtype, torch.float32)
    part = {name: tensor.to(old.device, like) for name, tensor in tensors.items()}
    weight = old.detach().to(like)
    weight = weight.T if _is_turned(module) else weight
    bias: Any = getattr(module, "bias", None)
    if SCALES in part:
        weight = weight * part[SCALES]
        if bias is not None and part[SCALES].shape == (len(weight), 1):  # of outputs, which the bias is one of
            _put(module, "bias", (bias.detach().to(like) * part[SCALES][:, 0]).to(bias.dtype))
    else:
        weight = weight + scale * (part[B] @ part[A])
        if LENGTHS in part:
            weight = weight * (part[LENGTHS] / weight.norm(dim=1))[:, None]
        if BIAS in part:
            before = 0 if bias is None else bias.detach().to(like)
            _put(module, "bias", (before + scale * part[BIAS]).to(old.dtype))
    _put(module, "weight", (weight.T if _is_turned(module) else weight).to(old.dtype).contiguous())


def _put(module: nn.Module, name: str, tensor: Tensor) -> None:
    old: Any = getattr(module, name, None)
    device = tensor.device if old is None else old.device
    setattr(module, name, nn.Parameter(tensor.to(device), requires_grad=False))
