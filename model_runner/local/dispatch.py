"""Dispatch of every question, by its type, to the module that computes its answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import torch

from model_runner.block_questions import (
    AddedByPart,
    ConvolvedFeedForward,
    EmbeddingRow,
    FeedForwardSums,
    FeedForwardUnits,
    LogitLens,
    StreamAdditions,
    TrainingStep,
    WhatItIsMadeOf,
)
from model_runner.errors import Cancelled, NotSeparable, OneStackOnly
from model_runner.expert_questions import ExpertRouting, RandomRouting
from model_runner.local.answers.architecture import architecture
from model_runner.local.answers.convolved_ffn import convolved_ffn
from model_runner.local.answers.embedding_row import embedding_row
from model_runner.local.answers.encoder_decoder_cache import encoder_decoder_cached_layers, start_encoder_decoder_race
from model_runner.local.answers.encoder_decoder_rerun import encoder_decoder_rerun_of
from model_runner.local.answers.experts import random_routing, routing
from model_runner.local.answers.ffn_effects import ffn_ablation, ffn_patches
from model_runner.local.answers.ffn_sums import feed_forward_sums
from model_runner.local.answers.ffn_units import feed_forward_units
from model_runner.local.answers.head_effects import head_answers, head_patches, mean_streams, residual_patches
from model_runner.local.answers.kv_race import Race
from model_runner.local.answers.kv_trials import cached_layers, next_logits, start_race
from model_runner.local.answers.logit_lens import logit_lens
from model_runner.local.answers.position_table import position_table
from model_runner.local.answers.projections import layer_matrices, projections
from model_runner.local.answers.rerun import Rerun, rerun_of
from model_runner.local.answers.stream_additions import added_by_part, stream_additions
from model_runner.local.answers.token_scores import likely_tokens, surprisals
from model_runner.local.answers.training_step import training_step
from model_runner.local.cancellation import pause
from model_runner.local.encoder_decoder import EncoderDecoder
from model_runner.local.engine import Engine
from model_runner.local.generation import Generation
from model_runner.local.recording.changed_matrices import singulars
from model_runner.local.request_tokens import explained
from model_runner.local.translation import Translation
from model_runner.matrix_edit import CHANGED, ScaledSingulars, SingularValues
from model_runner.projection_questions import HeadProjections, LayerMatrices
from model_runner.question import DirectLogits, HeadWrites, Logits, Question
from model_runner.questions import (
    Beams,
    CacheLayers,
    EndRun,
    LearnedPositions,
    MeanStream,
    NextLogits,
    NextRaceStep,
    NextToken,
    PatchFfn,
    PatchHeads,
    PatchStream,
    WhichHeads,
)
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.token_questions import Surprisals, TopLogits, VerifyLayer

Run = TypeVar("Run", bound=Generation | Race | Translation)


class QuestionDispatcher:
    """Answers for one engine, including growing texts: ``session`` is their owner."""

    def __init__(self, engine: Engine | EncoderDecoder) -> None:
        self._engine = engine
        self._runs: dict[str, tuple[str | None, Generation | Race | Translation]] = {}

    def answer(self, question: Any, session: str | None) -> Any:  # noqa: C901  a table: one case a kind of question
        """Answer on the model's thread; the question's requests are resolved. Raises RunnerError."""
        engine = self._engine
        pause()
        _check_matrices(question)
        match question:
            case CaptureRequest():
                return engine.capture(question)
            case NextToken(request, run, index):
                generation = self._run(run, index, session, lambda: engine.begin(request))
                return self._step(run, lambda: _token(engine, generation))
            case EndRun(run):
                self._runs.pop(run, None)
                return None
            case Beams(request, width):
                return engine.beams(request, width)
            case LearnedPositions():
                return position_table(engine.reads_positions, engine.info.n_vocab // 2)
            case WhatItIsMadeOf():
                return architecture(engine)
            case LogitLens(request, top):
                return logit_lens(engine, request, top)
            case StreamAdditions(request, position):
                return stream_additions(engine, request, position)
            case AddedByPart(request, layer, part):
                return added_by_part(engine, request, layer, part)
            case FeedForwardUnits(request, layer, position, top):
                return feed_forward_units(engine, request, layer, position, top)
            case EmbeddingRow(request, token, nearest):
                return embedding_row(engine, request, token, nearest)
            case FeedForwardSums(request, layer, position, units):
                return feed_forward_sums(engine, request, layer, position, units)
            case ConvolvedFeedForward(request, layer, kernel, ahead):
                return convolved_ffn(engine, request, layer, kernel, ahead)
            case TrainingStep(request, rates):
                return training_step(engine, request, rates)
            case RandomRouting(ids, n_vocab):
                return random_routing(ids, n_vocab)
            case Logits(hidden):
                return engine.logits(hidden.to(engine.model.device)[None])[0]
            case DirectLogits(layer, head, output, stream, hidden):
                vectors = (vector.to(engine.model.device) for vector in (output, stream, hidden))
                with torch.no_grad():
                    return engine.direct_path().logits(layer, head, *vectors)
            case HeadWrites(layer, outputs):
                with torch.no_grad():
                    path, outputs = engine.direct_path(), outputs.to(engine.model.device)
                    return torch.stack([path.written(layer, head, one) for head, one in enumerate(outputs)])
            case NextRaceStep(request, run, index):
                race = self._run(run, index, session, lambda: _line_up(engine, request))
                return self._step(run, lambda: _race_step(engine, race))
            case WhichHeads(request, layer, target, against):
                rerun = _rerun_of(engine, request)
                answers = head_answers(rerun, layer, target, against)
                return replace(answers, ffn=ffn_ablation(engine, rerun, answers.layer, target, against))
            case PatchStream(request, source, layer, tokens):
                return residual_patches(_rerun_of(engine, request), layer, engine.capture(source), tokens)
            case PatchHeads(request, source, layer, head, tokens):
                return head_patches(_rerun_of(engine, request), layer, head, engine.capture(source), tokens)
            case PatchFfn(request, source, layer, tokens):
                return ffn_patches(engine, _rerun_of(engine, request), layer, engine.capture(source), tokens)
            case MeanStream(request, layer, target):
                return mean_streams(_rerun_of(engine, request), layer, target)
            case CacheLayers(request):
                one = isinstance(engine, Engine)
                return cached_layers(engine, request) if one else encoder_decoder_cached_layers(engine, request)
            case VerifyLayer(request, layer):
                return engine.capture(request).verify(layer)
            case Surprisals(request):
                return surprisals(engine.capture(request), engine.logits)
            case TopLogits(request, position, top):
                return likely_tokens(engine.capture(request), engine.logits, position, top)
            case NextLogits(request):
                return next_logits(engine, request)
            case Question() if isinstance(engine, Engine):
                return self._of_one_stack(engine, question)
            case Question():
                raise OneStackOnly(name=engine.info.name)
            case _:
                raise _no_question(question)

    def _of_one_stack(self, engine: Engine, question: Question[Any]) -> Any:
        match question:
            case HeadProjections():
                return projections(engine, question)
            case LayerMatrices():
                return layer_matrices(engine, question)
            case SingularValues():
                return singulars(question, engine.structure.layers, engine.decomposed)
            case ExpertRouting(request):
                return routing(engine, request)
            case _:
                raise _no_question(question)

    def end_all_runs(self) -> None:
        """End all runs, as their first tokens were read with other weights."""
        self._runs.clear()

    def end_runs(self, session: str) -> None:
        """End this session's runs."""
        for run, (owner, _) in list(self._runs.items()):
            if owner == session:
                self._runs.pop(run, None)

    def _run(self, run: str, index: int, session: str | None, begin: Callable[[], Run]) -> Run:
        """The run of this name. Raises Cancelled if it has ended, or is not at this index."""
        if index == 0:
            self._runs.pop(run, None)
            grown = begin()
            self._runs[run] = session, grown
            return grown
        held: Any = self._runs.get(run, (None, None))[1]
        if held is None or held.index != index:
            raise Cancelled()
        return held

    def _step(self, run: str, step: Callable[[], Any]) -> Any:
        """One step; one that fails, is cancelled or is the last ends the run."""
        try:
            made = step()
        except BaseException:
            self._runs.pop(run, None)
            raise
        if made is None or getattr(made, "stop", ""):
            self._runs.pop(run, None)
        return made


def _check_matrices(question: Any) -> None:
    """Raises NotSeparable if a question reads matrices that its request edits."""
    reads = isinstance(question, (WhichHeads, HeadProjections, LayerMatrices, FeedForwardUnits, FeedForwardSums))
    if reads and any(isinstance(edit, ScaledSingulars) for edit in question.request.edits):
        raise NotSeparable(reason=CHANGED)


def _token(engine: Engine | EncoderDecoder, generation: Generation | Translation) -> Any:
    pause()
    with explained(engine.info, len(generation.writer.tokens) + 1):
        return generation.step()


def _rerun_of(engine: Engine | EncoderDecoder, request: CaptureRequest) -> Rerun:
    return rerun_of(engine, request) if isinstance(engine, Engine) else encoder_decoder_rerun_of(engine, request)


def _line_up(engine: Engine | EncoderDecoder, request: GenerateRequest) -> Race:
    return start_race(engine, request) if isinstance(engine, Engine) else start_encoder_decoder_race(engine, request)


def _race_step(engine: Engine | EncoderDecoder, race: Race) -> Any:
    with explained(engine.info, len(race.cached.writer.tokens)):
        return race.step()


def _no_question(asked: object) -> TypeError:
    return TypeError(f"A {type(asked).__name__} is no question; model_runner.questions has those that there are.")
