"""Holds one model and its tokenizer in this process, and runs its forwards, for a fixed text or a growing one.

Everything here runs on the model's single thread, see :class:`model_runner.local.worker.Worker`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model_runner.beams import BeamSearch
from model_runner.byte_lru import ByteBudgetCache
from model_runner.capture import Capture
from model_runner.edits import check_growing
from model_runner.errors import (
    N_,
    CannotContinue,
    ContextFull,
    EditNotPossible,
    MarksAnswers,
    NoAttribution,
    NoLogits,
    ScoresClasses,
    ScoresTokens,
)
from model_runner.local.answers.attribution import DirectPath, prove
from model_runner.local.answers.block_path import BlockPath, block_paths
from model_runner.local.answers.block_probe import LayerRun, probe
from model_runner.local.answers.feed_forward import FeedForward, feed_forward
from model_runner.local.answers.position_table import learned_lengths
from model_runner.local.beam_search import search_beams
from model_runner.local.cancellation import pause
from model_runner.local.capture_batch import TextOfBatch, capture_batch
from model_runner.local.capture_cache import CaptureCache
from model_runner.local.classifier import class_logits, class_names, is_classifier, logits_of_state, scale_of
from model_runner.local.generation import Generation, end_tokens, prove_continuation, view
from model_runner.local.loading.sandboxed_tokenizer import Tokenizer
from model_runner.local.output_layer import output_logits
from model_runner.local.preallocated_cache import preallocated_cache
from model_runner.local.recording.arena import ALIGNMENT, Arena
from model_runner.local.recording.changed_matrices import Decomposed, changed_matrices
from model_runner.local.recording.chunked_feed_forward import chunked_feed_forward, is_long, row_wise_parts
from model_runner.local.recording.compressed_keys import Compression, compressed_capture, compression_of
from model_runner.local.recording.forward_edit import EditShape, ForwardEdit, forward_edit
from model_runner.local.recording.growing_buffers import GrowingBuffers
from model_runner.local.recording.indexer import change_of
from model_runner.local.recording.model_inspection import declared_lengths, describe, inspect_model
from model_runner.local.recording.parity_check import text_config
from model_runner.local.recording.probe_rotation import probe_rotation
from model_runner.local.recording.recorder import ActivationRecorder, CannotRecord, module_of_call, record_with
from model_runner.local.recording.scratch_block import ScratchBlock
from model_runner.local.request_tokens import check_memory, explained, numbers_alone, write
from model_runner.local.token_types import ModelInputs
from model_runner.local.tokenizing import Writer
from model_runner.local.weights_state import AnswererOfThen, WeightsState
from model_runner.mask_rule import MaskRule
from model_runner.question import Answerer
from model_runner.record import LayerRecord
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.rotation_edit import RotationEdit

TOGETHER = 1024  # tokens of one forward on a CPU, padding included; beyond that each takes longer
READS_MORE = N_("its class scores come from more than one final hidden state")
NO_ATTENTION = N_("its layers have no softmax attention, but a recurrence each")
UNSEEN_WAY = N_("it has code of its own between its heads and their output projection")


class Engine:
    """Holds an unmodified Hugging Face model. ``asked``: whom its captures call for logits."""

    def __init__(
        self,
        model: Any,
        tokenizer: Tokenizer,
        asked: Answerer,
        *,
        name: str,
        revision: str | None,
        has_head: bool,
        kept: ByteBudgetCache,
        weights: WeightsState,
    ) -> None:
        """Raises NotCapturable, with the reason, for a model whose attention cannot be recorded exactly."""
        self.model = model.eval().requires_grad_(False)
        self.tokenizer = tokenizer
        self.structure = inspect_model(self.model, name)
        self.given = ModelInputs(self.model, self.structure.backbone.module, self.tokenizer)
        self.has_head = has_head and self.structure.backbone.has_head
        learned = learned_lengths(self.model)
        self.info = describe(self.model, self.tokenizer, self.structure, name, revision, learned)
        if self.has_head and is_classifier(self.model):
            own = self.model.config
            self.info = replace(self.info, classes=class_names(own), class_scale=scale_of(own))
        self.weights = weights
        self.cache = CaptureCache(kept, weights.count)
        self.entered: dict[tuple[int, bool], bool] = {}  # layers that were entered directly, see Rerun.proven
        self.decomposed: dict[int, Decomposed] = {}  # weight matrices, decomposed when they are first edited
        self._asked = asked
        self._spare = ScratchBlock()
        self._thetas: tuple[Tensor, ...] | None = None  # probed on first use
        self._path: DirectPath | None = None  # proven on first use
        self._row_wise: tuple[nn.Module, ...] | None = None  # determined for the first long text
        self._ways: tuple[BlockPath | None, ...] | None = None  # determined on first use
        self._ffns: tuple[FeedForward | None, ...] | None = None
        self._rules: dict[str, MaskRule] | None = None  # proven for the first continuation

    # -- one text -----------------------------------------------------------------------------------------------------

    def kept(self, request: CaptureRequest) -> Capture | None:
        """The cached capture of a resolved request, if any; on any thread."""
        return self.cache.get(request)

    def capture(self, request: CaptureRequest) -> Capture:
        """The capture of a resolved request, cached or by one forward."""
        known = self.kept(request)
        if known is not None:
            return known
        writer, state = self.write(request), self.weights.count()
        with explained(self.info, len(writer.tokens)):
            capture = self._forward(request, writer)
        pause()  # what hung and was given up is not cached
        self.cache.put(request, capture, state)
        return capture

    def capture_together(self, requests: Sequence[CaptureRequest]) -> list[Capture]:
        """The captures of several requests; those not cached are made by one forward if the model allows it.

        Raises as :meth:`capture`, for the first request that cannot be captured.
        """
        missing = list(dict.fromkeys(one for one in requests if self.kept(one) is None))
        if len(missing) > 1 and not any(one.edits for one in missing) and not self.info.classes:
            made = self._capture_batches(missing)
            return [made.get(one) or self.capture(one) for one in requests]
        return [self.capture(one) for one in requests]

    def _capture_batches(self, requests: Sequence[CaptureRequest]) -> dict[CaptureRequest, Capture]:
        """What can be captured of these in one or several batched forwards."""
        writers, state = [self.write(one) for one in requests], self.weights.count()
        longest = max(len(writer.tokens) for writer in writers)
        size = max(1, TOGETHER // longest) if self.model.device.type == "cpu" else len(writers)
        made: dict[CaptureRequest, Capture] = {}
        for start in range(0, len(requests), size):
            part = slice(start, start + size)
            with explained(self.info, longest):
                found = capture_batch(self.model, self.structure, self.given, writers[part])
            if found is None:
                break
            pause()
            for request, writer, left in zip(requests[part], writers[part], found, strict=True):
                made[request] = self._captured(request, writer, left)
                self.cache.put(request, made[request], state)
        return made

    def forget(self) -> None:
        """Drop everything made with weights that have changed since: captures, and what was determined with them."""
        self.cache.clear()
        self.decomposed.clear()
        self._thetas = self._path = self._ways = self._ffns = None

    def write(self, request: CaptureRequest | GenerateRequest) -> Writer:
        """The request's tokens, after checking that their capture fits into memory. Raises RunnerError."""
        writer = write(self.tokenizer, request, self.info)
        self._check_memory(len(writer.tokens))
        return writer

    def edit(self, request: CaptureRequest | GenerateRequest) -> ForwardEdit | None:
        """The request's edits combined; the rotation is probed at its first edit. Raises RunnerError."""
        structure = self.structure
        if structure.recurrent and request.edits:
            raise EditNotPossible(reason=NO_ATTENTION)
        if isinstance(request, GenerateRequest):
            check_growing(request.edits)
        if self._thetas is None and any(isinstance(edit, RotationEdit) for edit in request.edits):
            limits = [self.info.max_tokens, *declared_lengths(text_config(self.model))]  # dynamic scalings reach beyond
            self._thetas = probe_rotation(structure, min(limits))
        shape = EditShape(structure.attention, structure.kinds, structure.n_heads, structure.n_kv_heads)
        found = forward_edit(request.edits, shape, self._thetas or ())
        matrices = changed_matrices(request.edits, structure.layers, self.decomposed, structure.origins)
        indexers = change_of(request.edits, self.model)
        return None if found is None else replace(found, matrices=matrices, indexers=indexers)

    def _forward(self, request: CaptureRequest, writer: Writer) -> Capture:
        """Run one forward of the unmodified model with every layer recorded."""
        arena = self._arena(len(writer.tokens))
        recording = self.structure.recording(keep=arena.keep, edit=self.edit(request))
        residuals: list[Tensor] = []
        parts, n_tokens = self._in_blocks(len(writer.tokens)), len(writer.tokens)
        stream = self.structure.watched(
            lambda _, x: residuals.append(arena.keep(x[:n_tokens]))
        )  # Longformer's are padded
        with torch.no_grad(), stream, chunked_feed_forward(parts), record_with(recording):
            given = self.given.of(writer.tokens)
            output = self.structure.backbone.module(**given, use_cache=False, return_dict=True)
        classes = self.class_logits(output, given)[0] if self.info.classes else None
        hidden = numbers_alone(arena.keep(output.last_hidden_state[0]))
        left = TextOfBatch(recording.records, tuple(residuals), hidden)
        capture = replace(self._captured(request, writer, left), class_logits=classes)
        compressed = compressed_capture(capture, *self._compressed(recording)) if recording.compressed else None
        return capture if compressed is None else replace(capture, others=(compressed,))

    def _captured(self, request: CaptureRequest, writer: Writer, left: TextOfBatch) -> Capture:
        """Build the capture from what a text left behind in a forward."""
        return Capture(
            request=request,
            tokens=tuple(writer.tokens),
            kinds=self.structure.kinds,
            records=tuple(
                left.records.get(self.structure.attention.get(layer, "")) for layer in range(len(self.structure.layers))
            ),
            origins=self.structure.origins,
            residuals=left.residuals,
            hidden=left.hidden,
            asked=AnswererOfThen(self._asked, self.weights),
            fingerprint=self.weights.fingerprint(),
            written=writer.text_of(len(writer.tokens)),
        )

    def _compressed(self, recording: ActivationRecorder) -> tuple[dict[int, LayerRecord], dict[int, Compression]]:
        """Return, by layer, the records of attention to compressed keys, and how those keys are made."""
        names = self.structure.attention
        made = {layer: compression_of(self.model.get_submodule(name)) for layer, name in names.items()}
        read = {layer: recording.compressed[name] for layer, name in names.items() if name in recording.compressed}
        return read, {layer: one for layer, one in made.items() if one is not None}

    def _in_blocks(self, n_tokens: int) -> tuple[nn.Module, ...]:
        """The parts of the model that process a text of this length in blocks of rows."""
        if not is_long(n_tokens, self.model.device):
            return ()
        if self._row_wise is None:
            structure = self.structure
            attention = frozenset(self.model.get_submodule(module_of_call(key)) for key in structure.attention.values())
            layers = list(dict.fromkeys(structure.layers[layer] for layer in sorted(structure.attention)))
            self._row_wise = row_wise_parts(self.model, layers, attention)
        return self._row_wise

    # -- a text that grows --------------------------------------------------------------------------------------------

    def begin(self, request: GenerateRequest) -> Generation:
        """Prefill: run all tokens of the request through the model, with room for those to come.

        Raises RunnerError.
        """
        writer, capacity = self.to_continue(request)
        rules, edit = self.proven_rules(), self.edit(request)
        asked = AnswererOfThen(self._asked, self.weights)

        def room() -> tuple[GrowingBuffers, ActivationRecorder]:
            arena = self._arena(capacity)
            series = GrowingBuffers(arena, capacity, preallocated_cache(self.model, arena, capacity))
            return series, self.structure.recording(consumer=series, known=rules, edit=edit)

        def seen(series: GrowingBuffers, n_tokens: int) -> Capture:
            seen = view(request, self.structure, writer, series, n_tokens, asked=asked)
            return replace(seen, fingerprint=self.weights.fingerprint())

        generation = Generation(self.model, self.structure, self.logits_after, seen, writer, room, request.sampling)
        with explained(self.info, len(writer.tokens)):
            generation.begin()
        return generation

    def to_continue(self, request: GenerateRequest) -> tuple[Writer, int]:
        """The tokens so far, and the most that the text may have.

        Raises NoLogits, ContextFull, and other RunnerErrors.
        """
        writer = self.write(request)
        count, limit = len(writer.tokens), self.info.max_tokens
        self.check_head()
        if count >= limit:  # beyond it where an edit stretches the rotation
            raise ContextFull(tokens=count, limit=limit)
        capacity = min(limit, count + request.max_new_tokens)
        self._check_memory(capacity)
        return writer, capacity

    def beams(self, request: GenerateRequest, width: int) -> BeamSearch:
        """Continuations of the text by beam search. Raises RunnerError."""
        writer, capacity = self.to_continue(request)
        self.proven_rules()
        ids, ends = [token.id for token in writer.tokens], sorted(end_tokens(self.model))
        with explained(self.info, len(ids)):
            return search_beams(self.model, ids, request, width=width, limit=capacity - len(ids), ends=ends)

    def proven_rules(self) -> dict[str, MaskRule]:
        """The mask rule of every attention layer over all positions. Raises CannotContinue."""
        if self._rules is None:
            try:
                self._rules = prove_continuation(self.model, self.structure)
            except CannotRecord as error:
                raise CannotContinue(name=self.info.name, family=self.info.family, reason=error.reason) from error
        return self._rules

    # -- what the model says ------------------------------------------------------------------------------------------

    def check_head(self) -> None:
        """Raises NoLogits for a model without an output layer, ScoresClasses for a classifier."""
        if self.info.classes:
            raise ScoresClasses(name=self.info.name, count=len(self.info.classes))
        if not self.has_head:
            raise self._without_head()

    def _without_head(self) -> NoLogits:
        """The error for a model without an output layer; it tells from the class its folder names what it was trained
        for.
        """
        architectures = " ".join(self.model.config.architectures or ())
        if "ForTokenClassification" in architectures:
            return ScoresTokens(name=self.info.name, count=self.model.config.num_labels)
        return (MarksAnswers if "ForQuestionAnswering" in architectures else NoLogits)(name=self.info.name)

    def logits(self, hidden: Float[Tensor, "batch tokens d_model"]) -> Float[Tensor, "batch tokens vocab"]:
        """Apply the model's output layer to hidden states by its own code, including soft-caps and scales."""
        self.check_head()
        return output_logits(self.model, self.structure.backbone, hidden)

    def logits_after(self, hidden: Float[Tensor, "1 1 d_model"]) -> Float[Tensor, "vocab"]:
        """The same for a single position."""
        return output_logits(self.model, self.structure.backbone, hidden)[0, 0]

    def class_logits(self, output: Any, given: Mapping[str, Tensor]) -> Float[Tensor, "batch classes"]:
        """The scores of a classifier; ``output`` is what its backbone returned for ``given``."""
        with torch.no_grad():
            return class_logits(self.model, self.structure.backbone, output, given)

    @property
    def reads_positions(self) -> nn.Module:
        """The module that receives the positions of the tokens."""
        return self.structure.backbone.module

    def direct_path(self) -> DirectPath:
        """From every head to the logits, see :mod:`model_runner.local.answers.attribution`; proven at the first call.

        Raises NoLogits, NoAttribution.
        """
        if not self.info.classes:
            self.check_head()
        if self.structure.legacy:
            raise NoAttribution(reason=UNSEEN_WAY)
        if self._path is None:
            self._path = prove(self.model, self.structure, self._head_alone)
        return self._path

    def _head_alone(self, hidden: Float[Tensor, "d_model"]) -> Float[Tensor, "vocab"]:
        """Apply the output layer, or a classifier's head, to a single hidden state. Raises NoAttribution."""
        if not self.info.classes:
            return self.logits_after(hidden[None, None])
        try:
            return logits_of_state(self.model, self.structure.backbone, hidden)
        except (AttributeError, LookupError, TypeError) as error:  # BERT's head takes the output of its pooler
            raise NoAttribution(reason=READS_MORE) from error

    def layer_runs(self) -> list[LayerRun]:
        """The inputs and outputs of every module inside the layers, for a few tokens."""
        backbone = self.structure.backbone.module
        begins = self.structure.begins
        return probe(
            self.model, self.structure.layers, lambda ids: backbone(input_ids=ids, use_cache=False), begins=begins
        )

    def block_paths(self) -> tuple[BlockPath | None, ...]:
        """How each layer adds to the stream, see :mod:`model_runner.local.answers.block_path`; tried at the first
        call.
        """
        if self._ways is None:
            structure = self.structure
            self._ways = block_paths(
                self.layer_runs(), [structure.attention_in(place) for place in range(len(structure.layers))]
            )
        return self._ways

    def feed_forwards(self) -> tuple[FeedForward | None, ...]:
        """How the feed-forward part of each layer works; tried at the first call."""
        if self._ffns is None:
            outside = [() if path is None else path.parts[:1] for path in self.block_paths()]
            layers = zip(self.layer_runs(), outside, self.block_paths(), strict=True)
            self._ffns = tuple(feed_forward(*layer) for layer in layers)
        return self._ffns

    # -- memory -------------------------------------------------------------------------------------------------------

    def _check_memory(self, count: int) -> None:
        check_memory(count, self.structure.bytes_per_token, self.model.device)

    def _arena(self, n_tokens: int) -> Arena:
        """Room for everything kept for so many tokens: five tensors a layer, and the stream before and after each
        layer.
        """
        pieces = 5 * len(self.structure.attention) + len(self.structure.layers) + 2
        needed = math.ceil(self.structure.bytes_per_token * n_tokens) + pieces * ALIGNMENT
        return Arena(self._spare.take(needed, self.model.device))
