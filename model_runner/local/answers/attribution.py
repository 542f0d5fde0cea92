"""Direct logit attribution: what one head adds to the next-token logits on the direct path.

The path goes through the head's slice of the output projection, the final norm with its statistics fixed at this
position, and the output layer (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", section "direct
path").

Nothing is assumed about a family. The modules are found, and the linearity of the path is proven, by running a few
tokens through the model; what cannot be proven is refused with the reason. The effect through later layers is not
included.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from model_runner.errors import NoAttribution
from model_runner.local.loading.dtypes import matrix_of
from model_runner.local.recording.model_inspection import PROBE_TOKENS, ModelStructure
from model_runner.local.recording.parity_check import text_config
from model_runner.local.recording.recorder import ActivationRecorder, record_with

N_ = str  # marks a text for Babel without translating it here

NO_PROJECTION = N_("something lies between its heads and their output projection")
NOT_ADDED = N_("its attention is not simply added to the residual stream; a norm may stand in between")
NOT_PASSED_ON = N_("a later layer does not pass the residual stream on unchanged")
NO_NORM = N_("no LayerNorm or RMSNorm was found between its last layer and its output layer")
NOT_LINEAR = N_("its output layer is not linear; a soft-cap may follow it")

ROUNDINGS = 8  # units of the model's dtype by which a sum of three, or a norm, may differ in one number
SMALLEST_SHARE = 1e-3  # a module with a smaller factor in the sum is not part of it
PROBE_SIZE = 64.0  # large compared with any norm's epsilon, and a power of two, so that multiplication is exact

Head = Callable[[Float[Tensor, "d_model"]], Float[Tensor, "vocab"]]


@dataclass(frozen=True, eq=False)
class LayerPath:
    """One layer's part: ``stream out = skip · stream in + factor · projection(heads) + …``."""

    skip: float
    projection: nn.Module | None  # None: a layer without softmax attention
    factor: float


@dataclass(frozen=True, eq=False)
class Norm:
    """A norm, ``gain · (x or x − mean) · statistic + bias``; the statistic is determined at each position."""

    gain: Float[Tensor, "d_model"]
    bias: Float[Tensor, "d_model"]
    unit: float  # of the model's dtype

    def frozen(
        self, x: Float[Tensor, "*parts d_model"], stream: Float[Tensor, "d_model"], hidden: Float[Tensor, "d_model"]
    ) -> Float[Tensor, "*parts d_model"]:
        """Parts ``x`` of the stream through the norm that made ``hidden`` of the whole. Raises NoAttribution."""
        stream, hidden = stream.float(), hidden.float()
        found: list[tuple[float, Tensor]] = []
        for mean_share in (0.0, 1.0):  # RMSNorm, LayerNorm
            mean = mean_share * stream.mean()
            shaped = (stream - mean) * self.gain
            statistic = ((hidden - self.bias) @ shaped) / (shaped @ shaped)
            error = (shaped * statistic + self.bias - hidden).abs()
            size = (stream.abs() + mean.abs()) * (self.gain * statistic).abs() + self.bias.abs() + hidden.abs()
            if (error <= ROUNDINGS * self.unit * size).all():
                found.append(
                    (float(error.sum()), (x - mean_share * x.mean(dim=-1, keepdim=True)) * self.gain * statistic)
                )
        if not found:
            raise NoAttribution(reason=NO_NORM)
        return min(found, key=lambda candidate: candidate[0])[1]


@dataclass(frozen=True, eq=False)
class DirectPath:
    """The path from every layer's heads to the logits, as far as it is proven; a text gives the reason if not."""

    layers: tuple[LayerPath | str, ...]
    norm: Norm | str
    # the output layer's logits for a zero vector, its bias; a text if it is not linear
    offset: Float[Tensor, "vocab"] | str
    head: Head
    breaks: frozenset[int] = frozenset()  # layers whose input is not the previous layer's output

    def downstream_factor(self, layer: int) -> float | None:
        """The factor of a layer's output stream up to the last layer; None if it is not proven."""
        factor = 1.0
        for place, following in enumerate(self.layers[layer + 1 :], layer + 1):
            if isinstance(following, str) or place in self.breaks:
                return None
            factor *= following.skip
        return factor

    def written(self, layer: int, head: int, output: Float[Tensor, "d_value"]) -> Float[Tensor, "d_model"]:
        """What one head's ``output`` adds to the stream, through its slice of the projection. Raises NoAttribution."""
        own = self.layers[layer]
        if isinstance(own, str) or own.projection is None:
            raise NoAttribution(reason=own if isinstance(own, str) else NO_PROJECTION)
        columns = matrix_of(own.projection)[:, head * len(output) : (head + 1) * len(output)]
        return own.factor * (columns.float() @ output.float())

    def logits(
        self,
        layer: int,
        head: int,
        output: Float[Tensor, "d_value"],
        stream: Float[Tensor, "d_stream"],
        hidden: Float[Tensor, "d_model"],
    ) -> Float[Tensor, "vocab"]:
        """Logits added by one head's ``output``; ``stream`` is the last layer's output and ``hidden`` the final norm's.

        Raises NoAttribution.
        """
        written = self.written(layer, head, output)
        if isinstance(self.norm, str):
            raise NoAttribution(reason=self.norm)
        if isinstance(self.offset, str):
            raise NoAttribution(reason=self.offset)
        factor = self.downstream_factor(layer)
        if factor is None:
            raise NoAttribution(reason=NOT_PASSED_ON)
        read = self.norm.frozen(factor * written, stream, hidden)
        return self.head(read.to(hidden.dtype)) - self.offset


def prove(model: Any, structure: ModelStructure, head: Head) -> DirectPath:
    """The direct path of this model, from one forward of a few tokens; ``head`` runs its own output layer."""
    recording, probe = structure.recording(), _Probe(structure)
    handles = probe.watch(recording, model)
    try:
        with torch.no_grad(), record_with(recording):
            ids = torch.arange(PROBE_TOKENS, device=model.device)[None] % text_config(model).vocab_size
            hidden = structure.backbone.module(input_ids=ids, use_cache=False, return_dict=True).last_hidden_state
    finally:
        for handle in handles:
            handle.remove()
    norm = probe.final_norm(hidden)
    with torch.no_grad():
        return DirectPath(
            layers=tuple(probe.layer_path(layer) for layer in range(len(structure.layers))),
            norm=NO_NORM if norm is None else measured_norm(norm, hidden[0, 0]),
            offset=_offset(head, hidden[0]),
            head=head,
            breaks=structure.breaks,
        )


class _Probe:
    """What a small forward shows of the stream: the input and output of each layer, and its parts' outputs."""

    def __init__(self, structure: ModelStructure) -> None:
        self.structure = structure
        self.entering: dict[int, Tensor] = {}
        self.leaving: dict[int, Tensor] = {}
        self.parts: dict[int, list[Tensor]] = {layer: [] for layer in range(len(structure.layers))}
        self.projections: dict[int, tuple[nn.Module, Tensor]] = {}
        self.after: list[tuple[nn.Module, Tensor]] = []  # leaf modules whose input is the last layer's output
        self.now = -1  # the layer that is running

    def watch(self, recording: ActivationRecorder, model: Any) -> list[Any]:
        handles: list[Any] = []
        inside: set[nn.Module] = set()
        for layer in dict.fromkeys(self.structure.layers):
            inside |= set(layer.modules())
            handles.append(layer.register_forward_pre_hook(self._enter(layer), with_kwargs=True))
            handles += [child.register_forward_hook(self._part(layer)) for child in _children(layer)]
            linear = [module for module in layer.modules() if isinstance(module, (nn.Linear, Conv1D))]
            handles += [module.register_forward_hook(self._project(layer, recording)) for module in linear]
            handles.append(layer.register_forward_hook(self._leave(layer)))
        for second in dict.fromkeys(self.structure.begins.values()):
            handles.append(second.register_forward_pre_hook(self._begin(second), with_kwargs=True))
        leaves = [module for module in model.modules() if module not in inside and not list(module.children())]
        return handles + [module.register_forward_hook(self._follow) for module in leaves]

    def layer_path(self, layer: int) -> LayerPath | str:
        """The layer's sum, solved for its factors."""
        entering, leaving = self.entering[layer], self.leaving[layer]
        others = [part for part in self.parts[layer] if part.shape == leaving.shape]
        if layer not in self.structure.attention:
            for some in itertools.chain(itertools.combinations(others, 1), itertools.combinations(others, 2)):
                factors = factors_of(leaving, [entering, *some])
                if factors is not None:
                    return LayerPath(factors[0], None, 0.0)
            return NOT_PASSED_ON
        if layer not in self.projections:
            return NO_PROJECTION
        module, projected = self.projections[layer]
        in_one_run = layer in self.structure.begins or layer + 1 in self.structure.begins
        for count in (1, 2) if in_one_run else (1,):  # LongCat-Flash adds its experts' output later
            for some in itertools.combinations(others, count):
                factors = factors_of(leaving, [entering, projected, *some])
                if factors is not None:
                    return LayerPath(factors[0], module, factors[1])
        return NOT_ADDED

    def final_norm(self, hidden: Tensor) -> nn.Module | None:
        return next((module for module, output in self.after if torch.equal(output, hidden)), None)

    def _enter(self, layer: nn.Module) -> Any:
        def hook(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            self.now = self._next(self.structure.layers.index, layer)
            self.entering[self.now] = (args[0] if args else kwargs["hidden_states"]).clone()

        return hook

    def _begin(self, second: nn.Module) -> Any:
        """A layer starts within the run of the previous one."""
        begins = [self.structure.begins.get(place) for place in range(len(self.structure.layers))]

        def hook(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            stream = (args[0] if args else kwargs["hidden_states"]).clone()
            before, self.now = self.now, self._next(begins.index, second)
            self.leaving[before] = self.entering[self.now] = stream
            self.parts[self.now] = list(self.parts[before])

        return hook

    def _next(self, index: Callable[[nn.Module, int], int], module: nn.Module) -> int:
        """The next index at which the module runs; the first one if it has run at all of them."""
        try:
            return index(module, self.now + 1)
        except ValueError:
            return index(module, 0)

    def _part(self, layer: nn.Module) -> Any:
        def hook(_: Any, __: Any, output: Any) -> None:
            part = output if torch.is_tensor(output) else output[0] if isinstance(output, tuple) else None
            if torch.is_tensor(part) and self._runs(layer):  # cloned, since some families add to it in place
                self.parts[self.now].append(part.clone() if part.dim() == 3 else part[None].clone())

        return hook

    def _project(self, layer: nn.Module, recording: ActivationRecorder) -> Any:
        def hook(module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
            name = self.structure.attention.get(self.now) if self._runs(layer) else None
            record = None if name is None else recording.records.get(name)
            heads = None if record is None else record.output.flatten(-2)
            if heads is None or self.now in self.projections or not torch.is_tensor(output):
                return
            if not args or args[0].numel() != heads.numel():
                return
            if args[0].shape[-1] == heads.shape[-1] and torch.equal(args[0].reshape(heads.shape), heads):
                self.projections[self.now] = module, output.reshape(1, len(heads), -1).clone()

        return hook

    def _leave(self, layer: nn.Module) -> Any:
        def hook(_: Any, __: Any, output: Any) -> None:
            self.leaving[self.now] = (output if torch.is_tensor(output) else output[0]).clone()

        return hook

    def _runs(self, layer: nn.Module) -> bool:
        return self.now >= 0 and self.structure.layers[self.now] is layer

    def _follow(self, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        last = self.leaving.get(len(self.structure.layers) - 1)
        if last is None or not args or not torch.is_tensor(args[0]) or not torch.is_tensor(output):
            return
        if torch.equal(args[0], last):
            self.after.append((module, output.clone()))


def _children(layer: nn.Module) -> list[nn.Module]:
    """The submodules of a layer that run by themselves; those of a ModuleList are its items."""
    found: list[nn.Module] = []
    for child in layer.children():
        found += child.children() if isinstance(child, nn.ModuleList) else [child]
    return found


def factors_of(total: Tensor, parts: list[Tensor]) -> list[float] | None:
    """Non-zero factors with ``total = Σ factor · part`` elementwise within rounding, or None.

    A plain sum is tried first, then one in which only the first part is plain, so that such factors are exactly 1.
    """
    columns = torch.stack([part.flatten().double().cpu() for part in parts], dim=1)
    wanted = total.flatten().double().cpu()
    size = (columns.abs().sum(dim=1) + wanted.abs()).clamp_min(torch.finfo(torch.float32).tiny)
    allowed = ROUNDINGS * torch.finfo(total.dtype).eps * size
    for n_plain in (len(parts), 1, 0):
        factors = torch.ones(len(parts), dtype=torch.float64)
        left = (wanted - columns[:, :n_plain].sum(dim=1)) / size
        if n_plain < len(parts):
            free = columns[:, n_plain:] / size[:, None]
            factors[n_plain:] = torch.linalg.lstsq(free, left[:, None], driver="gelsd").solution[:, 0]
        if ((columns @ factors - wanted).abs() <= allowed).all() and (factors.abs() > SMALLEST_SHARE).all():
            return factors.tolist()
    return None


def measured_norm(norm: nn.Module, like: Float[Tensor, "d_model"]) -> Norm:
    """Gain and bias, from the norm's output for two vectors of mean 0 and constant magnitude."""
    signs = torch.ones_like(like)
    signs[1::2] = -1
    up, down = norm(PROBE_SIZE * signs[None, None])[0, 0].float(), norm(-PROBE_SIZE * signs[None, None])[0, 0].float()
    return Norm((up - down) / 2 * signs.float(), (up + down) / 2, torch.finfo(like.dtype).eps)


def _offset(head: Head, hidden: Float[Tensor, "tokens d_model"]) -> Float[Tensor, "vocab"] | str:
    """The output layer's logits for a zero vector, if the rest is linear: scaling the input scales the output."""
    offset, unit = head(torch.zeros_like(hidden[0])), torch.finfo(hidden.dtype).eps
    for vector in hidden:
        once = head(vector) - offset
        for multiple in (PROBE_SIZE, -PROBE_SIZE):
            size = PROBE_SIZE * once.abs() + (PROBE_SIZE + 1) * offset.abs()
            if ((head(multiple * vector) - offset - multiple * once).abs() > ROUNDINGS * unit * size).any():
                return NOT_LINEAR
    return offset
