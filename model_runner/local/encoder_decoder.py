"""An encoder-decoder and its tokenizer in this process: the encoder's source, the decoder's target.

Like :class:`model_runner.local.engine.Engine`, on the model's single thread, for questions about two texts. A
generation step is a forward over the whole target, since text and translation are short.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import WhisperFeatureExtractor

from model_runner.beams import BeamSearch
from model_runner.byte_lru import ByteBudgetCache
from model_runner.capture import Capture
from model_runner.edits import ATTENTIONS, check_growing
from model_runner.errors import N_, NoAttribution, ScoresClasses, WrittenFull
from model_runner.local.answers.attribution import DirectPath
from model_runner.local.answers.block_path import BlockPath, block_paths
from model_runner.local.answers.block_probe import LayerRun, probe
from model_runner.local.answers.feed_forward import FeedForward, feed_forward
from model_runner.local.beam_search import ALONE, search_beams
from model_runner.local.cache_argument import cache_argument
from model_runner.local.cancellation import pause
from model_runner.local.capture_cache import CaptureCache
from model_runner.local.classifier import class_logits, class_names, decoder_tokens, is_classifier, scale_of
from model_runner.local.decoder_start import DecoderStart
from model_runner.local.encoder_input import EncoderInput, growing_caches, masked, text_to_read
from model_runner.local.generation import end_tokens
from model_runner.local.loading.sandboxed_tokenizer import Tokenizer
from model_runner.local.loading.tokenizer_languages import languages_of
from model_runner.local.output_layer import output_logits
from model_runner.local.recording.encoder_decoder_edits import encoder_decoder_edit
from model_runner.local.recording.encoder_decoder_inspection import (
    AlreadyRead,
    inspect_encoder_decoder,
    run_both,
    two_lengths,
)
from model_runner.local.recording.forward_edit import ForwardEdit
from model_runner.local.recording.global_tokens import global_tokens, without_padding
from model_runner.local.recording.model_inspection import describe
from model_runner.local.recording.recorder import ActivationRecorder, module_of_call, record_with
from model_runner.local.recording.residual_stream import outputs_of, watched
from model_runner.local.request_tokens import append_all, check_ids, check_memory, explained, numbers_alone, write
from model_runner.local.sound_input import sound_input_of
from model_runner.local.task_tokens import task_tokens
from model_runner.local.tokenizing import Encoded, Writer, encode
from model_runner.local.translation import Translation
from model_runner.local.weights_state import AnswererOfThen, WeightsState
from model_runner.question import Answerer
from model_runner.record import LayerRecord
from model_runner.request import FREE_RUN, CaptureRequest, GenerateRequest
from model_runner.sound_errors import ListensOnly, NoSound


class EncoderDecoder:
    """Holds an unmodified Hugging Face model. ``asked``: whom its captures call for logits."""

    def __init__(
        self,
        model: Any,
        tokenizer: Tokenizer,
        asked: Answerer,
        *,
        name: str,
        revision: str | None,
        kept: ByteBudgetCache,
        weights: WeightsState,
        feature_extractor: WhisperFeatureExtractor | None = None,
    ) -> None:
        """``feature_extractor`` prepares sounds for an audio model.

        Raises NotCapturable if attention cannot be recorded.
        """
        self.model = model.eval().requires_grad_(False)
        self.tokenizer = tokenizer
        self.sound_input = None if feature_extractor is None else sound_input_of(model, feature_extractor)
        self.structure = inspect_encoder_decoder(
            self.model, name, sound := self.sound_input and self.sound_input.to_try()
        )
        info = two_lengths(describe(self.model, self.tokenizer, self.structure, name, revision), self.model, sound)
        self.beginning = DecoderStart(self.model, self.structure.start, languages_of(self.tokenizer))
        known = replace(info.tokenizer, target=self.beginning.language or info.tokenizer.target)
        hears = 0.0 if self.sound_input is None else self.sound_input.seconds
        self.info = replace(info, tokenizer=known, attentions=ATTENTIONS, hears=hears)
        if is_classifier(self.model):
            own = self.model.config
            self.info = replace(self.info, classes=class_names(own), class_scale=scale_of(own))
        self.weights = weights
        self.cache = CaptureCache(kept, weights.count)
        self.entered: dict[str, dict[tuple[int, bool], bool]] = {}  # by attention, see Rerun.proven
        self._asked, self._tasks = asked, dict[str, tuple[int, ...]]()
        self._ways: dict[str, tuple[tuple[BlockPath | None, ...], tuple[FeedForward | None, ...]]] = {}

    def kept(self, request: CaptureRequest) -> Capture | None:
        """The requested attention's capture, if its forward is cached; on any thread."""
        known = self.cache.get(replace(request, attention="decoder"))
        if known is None or (wanted := request.attention or "decoder") == "decoder":
            return known
        return known.attention(wanted) if wanted in known.attentions else None

    def capture(self, request: CaptureRequest) -> Capture:
        """The requested attention's capture, with the others of the same forward. Raises RunnerError."""
        wanted, whole = request.attention or "decoder", replace(request, attention="decoder")
        known = self.cache.get(whole)
        if known is None:
            state = self.weights.count()
            source, written = self.texts(request)
            with explained(self.info, len(source) + len(written.tokens)):
                edit = encoder_decoder_edit(request.edits, self.structure.shapes)
                if request.target is None and not request.continuation and not self.info.classes:
                    check_growing(request.edits)
                    append_all(written, self._free_run(source, written, edit), self.info)
                known = self.read(request, source, written, edit)
            pause()
            self.cache.put(whole, known, state)
        return known if wanted == "decoder" else known.attention(wanted)

    def forget(self) -> None:
        """Drop everything that was made with weights that have changed since."""
        self.cache.clear()
        self._ways.clear()

    def source(self, request: CaptureRequest | GenerateRequest) -> EncoderInput:
        """The encoder's input. Raises RunnerError."""
        if self.sound_input is None:
            return text_to_read(write(self.tokenizer, replace(request, continuation=()), self.info), self.model.device)
        if request.text:
            raise ListensOnly(name=self.info.name)
        if request.sound is None:
            raise NoSound(name=self.info.name)
        return self.sound_input.hear(request.sound)

    def texts(self, request: CaptureRequest | GenerateRequest) -> tuple[EncoderInput, Writer]:
        """The source, and the target's tokens so far. Raises RunnerError."""
        source = self.source(request)
        if self.info.classes:  # its decoder reads the text again, shifted by one: nothing is generated
            if request.target or request.continuation:
                self.check_head()
            first, *rest = decoder_tokens(self.model, source.given)
            written = Writer(self.tokenizer, Encoded((first,), ((0, 0),), ""))
            append_all(written, rest, self.info)
            return source, written
        first, *task = self._task(request, source)
        written, task = Writer(self.tokenizer, Encoded((first,), ((0, 0),), "")), tuple(task)
        given = self._given(request.target, task) if request.target else ()
        if given or request.continuation[: len(task)] != task:
            append_all(written, task, self.info)
        append_all(written, (*given, *request.continuation), self.info)
        if len(written.tokens) > self.info.room:
            raise WrittenFull(tokens=len(written.tokens), limit=self.info.room)
        check_memory(len(source) + len(written.tokens), self.structure.bytes_per_token, self.model.device)
        return source, written

    def _task(self, request: CaptureRequest | GenerateRequest, source: EncoderInput) -> tuple[int, ...]:
        """The prefix of the target: the start token, and the language or, for audio, the task tokens."""
        if request.sound is None:
            return self.beginning.of(request.target_language)
        if request.sound.digest not in self._tasks:  # detecting its language takes a forward
            self._tasks = {request.sound.digest: task_tokens(self.model, source.given)}
        return (self.structure.start, *self._tasks[request.sound.digest])

    def _given(self, target: str, task: tuple[int, ...]) -> tuple[int, ...]:
        """The ids of a target, without the ``task`` prefix and the end token that a decoder adds itself.

        For audio, after a single space, as in Whisper's training (github.com/openai/whisper, decoding.py).
        """
        if self.sound_input is not None:
            return encode(self.tokenizer, f" {target.strip()}", special=False).ids
        ids = encode(self.tokenizer, target, special=not self.beginning.languages, written=True).ids
        check_ids(ids, self.info)
        ids = ids[:-1] if ids and ids[-1] in end_tokens(self.model) else ids
        return ids[len(task) :] if ids[: len(task)] == task else ids

    def _free_run(self, source: EncoderInput, written: Writer, edit: ForwardEdit | None) -> tuple[int, ...]:
        """The model's own greedy output: transformers' generation, up to its end.

        With an edit, the whole target is read again for each token, so that masks count from its start. For audio,
        transformers' wrapper of generation for Whisper is bypassed: it splits longer sounds.
        """
        given, recording = masked(source.given), ActivationRecorder(self.structure.names, edit=edit, keeps=False)
        before = torch.tensor([[token.id for token in written.tokens]], device=self.model.device)
        generate = self.model.generate
        if before[0].tolist() != [self.structure.start]:  # which it prepends itself
            given |= {"decoder_input_ids": before, "decoder_start_token_id": int(before[0, 0])}
        if self.sound_input is not None:
            generate = functools.partial(ALONE.generate, self.model)
        with torch.no_grad(), record_with(recording), _each_anew(self.model, recording):
            made = generate(
                **given,
                max_new_tokens=min(FREE_RUN, self.info.room - before.shape[1]),
                num_beams=1,
                do_sample=False,
                use_cache=edit is None,
                **cache_argument(self.model, growing_caches(self.model) if edit is None else None),
            )
        new = made[0, before.shape[1] :].tolist()
        return tuple(new[:-1] if new and new[-1] in end_tokens(self.model) else new)

    def read(
        self, request: CaptureRequest, source: EncoderInput, written: Writer, edit: ForwardEdit | None = None
    ) -> Capture:
        """One forward over both texts, with every layer recorded: the decoder's attention, and the others with it."""
        recording = ActivationRecorder(self.structure.names, edit=edit)
        streams: dict[str, list[Tensor]] = {"encoder": [], "decoder": []}
        encoder, decoder, n_globals = self.structure.encoder, self.structure.decoder, self.structure.n_globals
        read = (*source.tokens, *global_tokens(n_globals, len(source.text)))
        with (
            watched(encoder.layers, lambda _, x: streams["encoder"].append(without_padding(x, len(read), n_globals))),
            watched(decoder.layers, lambda _, x: streams["decoder"].append(x.clone())),
            outputs_of(self.structure.backbone.module) as last,
            record_with(recording),
        ):
            output = run_both(self.reader, source.given, self.ids(written))
            classes = self.class_logits(output, source.given)[0] if self.info.classes else None
        wrote = tuple(written.tokens)
        made = numbers_alone(output.encoder_last_hidden_state[0])
        # these are not normalized by the model any more: nothing reads them
        beside = streams["encoder"][-1][len(source.tokens) :]

        def records(names: tuple[str, ...]) -> tuple[LayerRecord, ...]:
            return tuple(recording.records[name] for name in names)

        reading = Capture(
            request=replace(request, attention="encoder"),
            tokens=read,
            kinds=("full",) * len(encoder.layers),
            records=records(encoder.own),
            residuals=tuple(streams["encoder"]),
            hidden=torch.cat([made, beside]),
            class_logits=classes,
            written=source.text,
        )
        writing = Capture(
            request=replace(request, attention="decoder"),
            tokens=wrote,
            kinds=("full",) * len(decoder.layers),
            records=records(decoder.own),
            residuals=tuple(streams["decoder"]),
            hidden=numbers_alone(last[-1].last_hidden_state[0]).clone(),
            asked=AnswererOfThen(self._asked, self.weights),
            fingerprint=self.weights.fingerprint(),
            class_logits=classes,
            written=written.text_of(len(wrote)),
        )
        across = replace(
            writing,
            request=replace(request, attention="cross"),
            records=records(decoder.cross),
            source=source.tokens,
            _lse={},
        )
        return replace(writing, others=(reading, across))

    def ids(self, writer: Writer) -> Tensor:
        """The ids as a tensor for the model, ``[1, tokens]``."""
        return torch.tensor([[token.id for token in writer.tokens]], device=self.model.device)

    # -- a translation that grows -------------------------------------------------------------------------------------

    def begin(self, request: GenerateRequest) -> Translation:
        """What exists is read when the first token is drawn. Raises RunnerError."""
        self.check_head()
        source, written = self.texts(request)
        count, limit = len(written.tokens), self.info.room
        if count == limit:
            raise WrittenFull(tokens=count, limit=limit)
        check_growing(request.edits)
        edit = encoder_decoder_edit(request.edits, self.structure.shapes)
        return Translation(self, request, source, written, min(limit, count + request.max_new_tokens), edit)

    def beams(self, request: GenerateRequest, width: int) -> BeamSearch:
        """Beam search for the target. Raises RunnerError."""
        found = self.begin(request)
        prompt = [token.id for token in found.writer.tokens]
        limit, ends = found.capacity - len(prompt), sorted(end_tokens(self.model))
        with explained(self.info, len(prompt)):
            given = found.source.given
            return search_beams(self.model, prompt, request, width=width, limit=limit, ends=ends, read=given)

    # -- its layers ---------------------------------------------------------------------------------------------------

    @property
    def reader(self) -> Any:
        """The module that reads and generates: for a classifier its backbone, since its head needs an end token (BART,
        T5).
        """
        return self.structure.backbone.module if self.info.classes else self.model

    def layer_runs(self, stack: str) -> list[LayerRun]:
        """Inputs and outputs of every module inside the layers of "encoder" or "decoder", for a few tokens."""
        layers, read = (
            getattr(self.structure, stack).layers,
            None if self.sound_input is None else self.sound_input.to_try(),
        )
        return probe(self.model, layers, self.try_on, cut=None if read is None else len(read))

    def try_on(self, ids: Tensor) -> Any:
        """One forward over a few tokens, which the encoder reads too unless it takes audio."""
        return run_both(
            self.reader, {"input_ids": ids} if self.sound_input is None else self.sound_input.to_try().given, ids
        )

    def block_paths(self, stack: str) -> tuple[BlockPath | None, ...]:
        """How each layer adds to the stream; determined at the first call."""
        return self._of(stack)[0]

    def feed_forwards(self, stack: str) -> tuple[FeedForward | None, ...]:
        """The structure of each layer's feed-forward network; determined at the first call."""
        return self._of(stack)[1]

    def attention_names(self, stack: str) -> tuple[tuple[str, ...], ...]:
        """Names of each layer's self-attention and cross-attention, relative to the layer."""
        found = getattr(self.structure, stack)
        layers = [f"{self.structure.names[id(layer)]}." for layer in found.layers]
        names = zip(layers, *(one for one in (found.own, found.cross) if one), strict=True)
        return tuple(
            tuple(dict.fromkeys(module_of_call(key).removeprefix(layer) for key in own)) for layer, *own in names
        )

    def _of(self, stack: str) -> tuple[tuple[BlockPath | None, ...], tuple[FeedForward | None, ...]]:
        if stack not in self._ways:
            runs, names = self.layer_runs(stack), self.attention_names(stack)
            paths = block_paths(runs, [own[0] for own in names])
            apart = [(*own, *(path.parts[:-1] if path else ())) for own, path in zip(names, paths, strict=True)]
            found = tuple(feed_forward(*layer) for layer in zip(runs, apart, paths, strict=True))
            self._ways[stack] = paths, found
        return self._ways[stack]

    # -- what the model says ------------------------------------------------------------------------------------------

    @property
    def reads_positions(self) -> nn.Module:
        """The module whose positions are probed, the encoder; the decoder has a table of its own.

        For audio, whose encoder has fixed positions and no tokens to probe with, it is the decoder.
        """
        return self.model.get_encoder() if self.sound_input is None else self.model.get_decoder()

    def direct_path(self) -> DirectPath:
        """Raises NoAttribution: an encoder head reaches the logits through every token that attends to it."""
        raise NoAttribution(reason=N_("this does not support encoder–decoders yet"))

    def check_head(self) -> None:
        """Raises ScoresClasses for a classifier."""
        if self.info.classes:
            raise ScoresClasses(name=self.info.name, count=len(self.info.classes))

    def class_logits(self, output: Any, given: Mapping[str, Tensor]) -> Float[Tensor, "batch classes"]:
        """A classifier's scores; ``output`` is what its two stacks made of ``given``."""
        with torch.no_grad():
            return class_logits(self.model, self.structure.backbone, output, given)

    def logits(self, hidden: Float[Tensor, "batch tokens d_model"]) -> Float[Tensor, "batch tokens vocab"]:
        """The output layer's logits for these decoder states. Raises ScoresClasses."""
        self.check_head()
        of_encoder: Any = hidden.new_zeros(*hidden.shape[:2], self.structure.read_width)
        unread = AlreadyRead(last_hidden_state=of_encoder)
        return output_logits(self.model, self.structure.backbone, hidden, encoder_outputs=unread)


@contextlib.contextmanager
def _each_anew(model: nn.Module, recording: ActivationRecorder) -> Generator[None]:
    """Treat each forward of the model as a separate one, in which a layer may attend again."""
    hook = model.register_forward_pre_hook(lambda *_: recording.called.clear())
    try:
        yield
    finally:
        hook.remove()
