"""A forward from one layer on, for several variants at once; the layers below return what they did in the capture.

Whether a model's layers can be skipped like this is tested once for each layer, on a row without a change: it must
reproduce the capture, or the model is refused. In the last layer only the last position is computed beyond the
attention, if that row still reproduces the capture: nothing else is read.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from model_runner.capture import Capture
from model_runner.class_scores import log_shares
from model_runner.errors import N_, EditNotPossible, NoAttribution
from model_runner.layer_edit import LayerEdit
from model_runner.local.answers.attribution import DirectPath
from model_runner.local.classifier import positions_read
from model_runner.local.engine import Engine
from model_runner.local.recording.forward_edit import ForwardEdit
from model_runner.local.recording.model_inspection import ModelStructure
from model_runner.local.recording.recorder import ActivationRecorder, record_with
from model_runner.local.recording.residual_stream import OF_TEXT_AND_GLOBALS, Forward, standing_in
from model_runner.request import CaptureRequest

SEVERAL_READ = N_("its class scores are read from several tokens at once")
INSIDE_A_BLOCK = N_("this layer starts inside a block, and the model cannot be run from there")

Change = Callable[[Float[Tensor, "batch queries heads d_value"]], Tensor]
PartChange = Callable[[Float[Tensor, "variants tokens d_model"]], Tensor]


@dataclass(frozen=True, eq=False)
class Variants(LayerEdit):
    """The heads' output of a layer, with another change in each row of the batch."""

    by_row: tuple[Change, ...] = ()

    @property
    def changes(self) -> bool:
        """True if anything changes."""
        return bool(self.by_row) or super().changes

    def head_output_edited(self, output: Float[Tensor, "batch queries heads d_value"]) -> Tensor:
        for change in self.by_row:
            output = change(output)
        return output


@dataclass(frozen=True, eq=False)
class Rerun:
    """``known`` are the capture's logits after the text, ``path`` returns the model's direct path.

    ``proven`` are layers that can be entered directly, with more than one token or not, and whether the last position
    is then enough in the last layer.
    """

    capture: Capture
    known: Float[Tensor, "vocab"]
    path: Callable[[], DirectPath]
    proven: dict[tuple[int, bool], bool]

    def read_at(self) -> int:
        """The position at which the final hidden state is read. Raises NoAttribution if there are several."""
        return -1

    def log_probs(
        self, layer: int, stream: Float[Tensor, "variants tokens d_model"], change: Change | None = None
    ) -> Float[Tensor, "variants vocab"]:
        """Natural log-probabilities of the token after the text for each variant, relative to no change.

        ``stream`` enters the layer; ``change`` is applied to its heads' output. Raises EditNotPossible.
        """
        if self.capture.request.edits:
            raise EditNotPossible(reason=N_("the upper layers can be run by themselves only in the unchanged model"))
        own = self.capture.residual(layer)[None]
        place = layer, own.shape[1] > 1  # a text of a single token has only its last position, which proves nothing
        if place not in self.proven:
            self.proven[place] = self._prove(layer, own)
        if own.dtype == torch.float32:
            return self._run(layer, stream, change, self.proven[place]) - self._known()
        # Rounding in coarse dtypes depends on the batch size; it cancels against a row of the same batch.
        beside = None if change is None else lambda output: torch.cat([output[:1], change(output[1:])])
        found = self._run(layer, torch.cat([own, stream.to(own)]), beside, self.proven[place])
        return found[1:] - found[:1]

    def with_part(self, layer: int, count: int, part: nn.Module, change: PartChange) -> Float[Tensor, "variants vocab"]:
        """The same for this many variants when the output of a module in this layer is changed, ``[variants, tokens,
        d]``.

        Raises EditNotPossible.
        """
        own = self.capture.residual(layer)[None]
        self.log_probs(layer, own)  # whether it can be entered at all
        coarse = own.dtype != torch.float32  # then relative to a row of the same batch, as above
        rows = count + coarse

        def hook(_: nn.Module, __: Any, output: Any) -> Any:
            made = output[0] if isinstance(output, tuple) else output
            whole = made.reshape(rows, -1, made.shape[-1]).clone()
            whole[coarse:] = change(whole[coarse:])
            whole = whole.reshape(made.shape)
            return (whole, *output[1:]) if isinstance(output, tuple) else whole

        handle = part.register_forward_hook(hook)
        try:
            found = self._run(layer, own.expand(rows, -1, -1), None, False)
        finally:
            handle.remove()
        return found[1:] - found[:1] if coarse else found - self._known()

    def _prove(self, layer: int, own: Float[Tensor, "1 tokens d_model"]) -> bool:
        """Whether the last position is enough in the last layer. Raises EditNotPossible if not even all of them are."""
        for last_only in (True, False):
            try:
                if self._agrees(self._run(layer, own, None, last_only)[0]):
                    return last_only
            except (RuntimeError, ValueError):  # shapes that do not fit, or layers that pass on more than the stream
                continue
        raise EditNotPossible(reason=N_("the layers of this model cannot be run by themselves"))

    def _agrees(self, found: Float[Tensor, "vocab"]) -> bool:
        known = self._known()
        seen = known > known.max() - 10  # log-probabilities of the tail are mostly rounding
        allowed = 1e-3 if self.capture.hidden.dtype == torch.float32 else 0.3
        return bool(((found - known)[seen].abs() <= allowed).all())

    def _known(self) -> Float[Tensor, "vocab"]:
        return torch.log_softmax(self.known.double(), dim=-1)

    def _run(self, layer: int, stream: Tensor, change: Change | None, last_only: bool) -> Float[Tensor, "batch vocab"]:
        """Natural log-probabilities after the text; ``last_only``: as little as possible of the last layer."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class UpperLayers(Rerun):
    """For one stack; ``head`` makes logits of final hidden states ``[batch, tokens, d_model]``.

    ``given`` are the model's arguments for the capture's text.
    """

    structure: ModelStructure
    given: dict[str, Int[Tensor, "1 tokens"]]
    head: Callable[[Tensor], Float[Tensor, "batch tokens vocab"]]

    def _run(self, layer: int, stream: Tensor, change: Change | None, last_only: bool) -> Float[Tensor, "batch vocab"]:
        layers, attention = self.structure.layers, self.structure.attention
        changes: dict[int, tuple[Change, ...]] = {} if change is None else {layer: (change,)}
        reached: list[bool] = []
        if last_only and len(layers) - 1 in attention:
            changes[len(layers) - 1] = (*changes.get(len(layers) - 1, ()), _reaching(reached))
        edits: dict[str, LayerEdit] = {name: LayerEdit() for name in attention.values()}
        edits |= {attention[place]: Variants(by_row=own) for place, own in changes.items()}
        given = {name: one.expand(len(stream), -1) for name, one in self.given.items()}
        recording = self.structure.recording(edit=ForwardEdit(edits), keeps=False)
        start = layer
        while start in self.structure.begins:  # within a module's run, which can only be entered as a whole
            start -= 1
        if start != layer:
            stream = self._whole_run(layer, start, stream)
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch.no_grad())
            stack.enter_context(self._entered(start, stream, recording))
            stack.enter_context(_cut(layers[-1], given["input_ids"].shape, reached))
            stack.enter_context(record_with(recording))
            output = self.structure.backbone.module(**given, use_cache=False, return_dict=True)
            return self._log_shares(output, given)

    def _log_shares(self, output: Any, given: dict[str, Tensor]) -> Float[Tensor, "batch vocab"]:
        return torch.log_softmax(self.head(output.last_hidden_state[:, -1:])[:, 0].double(), dim=-1)

    def _whole_run(self, layer: int, start: int, stream: Tensor) -> Tensor:
        """The capture's own stream at ``start``, if this is its own at ``layer``. Raises EditNotPossible."""
        own = self.capture.residual(layer)
        if not torch.equal(stream, own.to(stream).expand_as(stream)):
            raise EditNotPossible(reason=INSIDE_A_BLOCK)
        return self.capture.residual(start).to(stream).expand_as(stream)

    @contextlib.contextmanager
    def _entered(self, layer: int, stream: Tensor, recording: ActivationRecorder) -> Generator[None]:
        """The stream enters this layer; those below it return immediately, in the format of transformers' layers.

        A layer below runs normally if the layer after it is not the next one, which then reads its output (HRM-Text's
        two stacks read each other's).
        """
        layers, breaks = self.structure.layers, self.structure.breaks
        own, begins = self.capture.residual, self.structure.begins
        starts = [place for place in range(len(layers)) if place not in begins]
        ends = dict(zip(starts, [*(one - 1 for one in starts[1:]), len(layers) - 1], strict=True))
        modules, reached = list(dict.fromkeys(layers)), 0

        def instead(number: int, forward: Forward) -> Forward:
            places = [place for place in starts if layers[place] is modules[number]]

            def run(*args: Any, **kwargs: Any) -> Any:
                nonlocal reached
                place = next((one for one in places if one >= reached), places[0])
                reached = place + 1
                if place > layer:
                    return forward(*args, **kwargs)
                if place < layer and ends[place] + 1 not in breaks:
                    for left_out in range(place, ends[place] + 1):
                        if (key := self.structure.attention.get(left_out)) is not None:
                            recording.pass_over(key)
                    return stream
                given = stream if place == layer else own(place).to(stream).expand_as(stream)
                return forward(given, *args[1:], **kwargs) if args else forward(**{**kwargs, "hidden_states": given})

            return run

        with standing_in(modules, instead):
            yield


@dataclass(frozen=True, eq=False)
class OfClasses(UpperLayers):
    """For a classifier: classes replace the vocabulary, and any position may be read."""

    engine: Engine

    def read_at(self) -> int:
        """The one position from which the classes are scored. Raises NoAttribution."""
        found = positions_read(self.engine.model, self.structure.layers[-1], self.given)
        if len(found) != 1:
            raise NoAttribution(reason=SEVERAL_READ)
        return found[0]

    def _known(self) -> Float[Tensor, "classes"]:
        return log_shares(self.known, self.engine.info.class_scale)

    def _run(
        self, layer: int, stream: Tensor, change: Change | None, last_only: bool
    ) -> Float[Tensor, "batch classes"]:
        return super()._run(layer, stream, change, False)

    def _log_shares(self, output: Any, given: dict[str, Tensor]) -> Float[Tensor, "batch classes"]:
        return log_shares(self.engine.class_logits(output, given), self.engine.info.class_scale)


def rerun_of(engine: Engine, request: CaptureRequest) -> Rerun:
    """The upper layers of this request's capture. Raises RunnerError."""
    capture = engine.capture(request)
    given = engine.given.of(capture.tokens)
    path, entered, structure, head = engine.direct_path, engine.entered, engine.structure, engine.logits
    if capture.class_logits is not None:
        return OfClasses(capture, capture.class_logits, path, entered, structure, given, head, engine)
    known = engine.logits(capture.hidden[None, -1:])[0, 0]
    return UpperLayers(capture, known, path, entered, structure, given, head)


def _reaching(reached: list[bool]) -> Change:
    """Changes nothing, but records that the attention was computed."""

    def noted(output: Tensor) -> Tensor:
        reached.append(True)
        return output

    return noted


@contextlib.contextmanager
def _cut(layer: nn.Module, shape: torch.Size, reached: list[bool]) -> Generator[None]:
    """Once ``reached``, this layer's matrices process only the last position; their output is added to all."""

    def last(_: nn.Module, args: tuple[Any, ...]) -> Any:
        cut = bool(reached) and args[0].dim() == 3 and args[0].shape[:2] == shape
        return (args[0][:, -1:], *args[1:]) if cut else None

    matrices = [module for module in layer.modules() if isinstance(module, (nn.Linear, Conv1D))]
    hooks = [module.register_forward_pre_hook(last) for module in matrices]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


@contextlib.contextmanager
def entered(layer: nn.Module, stream: Tensor) -> Generator[None]:
    """The stream enters this layer, whatever came before it."""

    def replace(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if type(layer).__name__ == OF_TEXT_AND_GLOBALS:
            text, beside, *rest = args
            n_tokens = stream.shape[1] - beside.shape[1]
            return (torch.cat([stream[:, :n_tokens], text[:, n_tokens:]], dim=1), stream[:, n_tokens:], *rest), kwargs
        return ((stream, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": stream})

    hook = layer.register_forward_pre_hook(replace, with_kwargs=True)
    try:
        yield
    finally:
        hook.remove()
