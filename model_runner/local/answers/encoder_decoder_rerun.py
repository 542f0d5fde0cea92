"""A forward of an encoder-decoder for several variants at once, each with another change of one of its attentions.

The encoder's output is taken from the capture if the change is in the decoder. The layers below the change are
recomputed, as both texts are short. As in :mod:`model_runner.local.answers.rerun`, a row without a change must
reproduce the capture.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model_runner.class_scores import log_shares
from model_runner.layer_edit import LayerEdit
from model_runner.local.answers.rerun import Change, Rerun, Variants, entered
from model_runner.local.encoder_decoder import EncoderDecoder
from model_runner.local.recording.encoder_decoder_inspection import AlreadyRead, run_both
from model_runner.local.recording.forward_edit import ForwardEdit
from model_runner.local.recording.recorder import ActivationRecorder, record_with
from model_runner.request import CaptureRequest


@dataclass(frozen=True, eq=False)
class EncoderDecoderLayers(Rerun):
    """``capture`` is that of the changed attention."""

    engine: EncoderDecoder

    def _run(self, layer: int, stream: Tensor, change: Change | None, last_only: bool) -> Float[Tensor, "batch vocab"]:
        attention, structure, model = (
            self.capture.request.attention or "decoder",
            self.engine.structure,
            self.engine.model,
        )
        reading, writing = self.capture.attention("encoder"), self.capture.attention("decoder")
        edits = {name: LayerEdit() for shape in structure.shapes.values() for name in shape.attention.values()}
        if change is not None:
            edits[structure.attends(attention)[layer]] = Variants(by_row=(change,))
        rows = len(stream)
        written = torch.tensor([[token.id for token in writing.tokens]], device=model.device).expand(rows, -1)
        made: Any = reading.hidden[: len(self.capture.attention("cross").keys)].expand(rows, -1, -1)
        given: dict[str, Any] = {"encoder_outputs": AlreadyRead(last_hidden_state=made)}
        if attention == "encoder":
            given = dict(self.engine.source(self.capture.request).of(rows))
        recording = ActivationRecorder(structure.names, edit=ForwardEdit(edits), keeps=False)
        inside = structure.stack(attention).layers[layer]
        if self.engine.info.classes:
            with torch.no_grad(), entered(inside, stream), record_with(recording):
                output = run_both(structure.backbone.module, given, written)
                ids = self.engine.source(self.capture.request).of(rows)
                return log_shares(self.engine.class_logits(output, ids), self.engine.info.class_scale)
        with torch.no_grad(), entered(inside, stream), _last_alone(model), record_with(recording):
            logits = run_both(model, given, written).logits[:, -1]
        return torch.log_softmax(logits.double(), dim=-1)

    def _known(self) -> Float[Tensor, "vocab"]:
        info = self.engine.info
        return log_shares(self.known, info.class_scale) if info.classes else super()._known()


def encoder_decoder_rerun_of(engine: EncoderDecoder, request: CaptureRequest) -> EncoderDecoderLayers:
    """The forward of this request's capture, to be changed in its attention. Raises RunnerError."""
    capture = engine.capture(request)
    known = capture.class_logits
    if known is None:
        known = engine.logits(capture.attention("decoder").hidden[None, -1:])[0, 0]
    proven = engine.entered.setdefault(request.attention or "decoder", {})
    return EncoderDecoderLayers(capture, known, engine.direct_path, proven, engine)


@contextlib.contextmanager
def _last_alone(model: Any) -> Generator[None]:
    """Compute the output layer for the last position only, if the model says which module it is."""
    output: nn.Module | None = model.get_output_embeddings()
    hook = output and output.register_forward_pre_hook(lambda _, args: (args[0][:, -1:], *args[1:]))
    try:
        yield
    finally:
        if hook is not None:
            hook.remove()
