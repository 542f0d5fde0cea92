"""Values as bytes and back: questions, answers, captures. Tensors as safetensors, the rest as JSON in its header.

Only the classes named here come back, each through its own constructor; nothing is unpickled, and no function is
called that bytes name.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from attention import masks
from model_runner import (
    beams,
    block_questions,
    edits,
    errors,
    expert_questions,
    kv,
    matrix_edit,
    projection_questions,
    question,
    questions,
    request,
)
from model_runner.adapter import AdapterInfo
from model_runner.capture import Capture
from model_runner.head_difference import HeadDifference
from model_runner.key_choice import KeyChoice
from model_runner.layer_edit import LayerEdit
from model_runner.layer_origin import LayerOrigin
from model_runner.mask_rule import MaskRule
from model_runner.question import Answerer
from model_runner.record import LayerRecord
from model_runner.relative_bias import RelativeBias
from model_runner.relative_key_bias import DistanceTerm, RelativeKeyBias
from model_runner.repeated_keys import RepeatedKeys
from model_runner.rotary import Rotation
from model_runner.runner import ModelInfo
from model_runner.sound import Sound
from model_runner.step import Step
from model_runner.token_bias import KeyBias, ProfileBias
from model_runner.tokens import Token, TokenizerInfo
from model_runner.transforms import Sampling
from model_runner.verification import Check

FORMAT = "attention atlas 1"  # of the one entry in the header that holds the values
BROKEN = (SafetensorError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)

CLASSES: tuple[type[Any], ...] = (
    AdapterInfo,
    Capture, Check, RelativeKeyBias, DistanceTerm, HeadDifference, KeyChoice, LayerEdit, LayerOrigin, LayerRecord,
    MaskRule,
    ModelInfo, RelativeBias, RepeatedKeys, Rotation, Sampling, Sound, Step, Token, TokenizerInfo,
    request.CaptureRequest, request.GenerateRequest,
    *edits.KINDS.values(),
    masks.Full, masks.Causal, masks.Recent, masks.Band, masks.SameChunk, masks.SameDocument, masks.Without,
    masks.Written, masks.Chosen, masks.And, masks.Or, masks.BlockSparse, masks.SortedChunks, masks.LargestKeys,
    masks.BlocksAndGlobals, masks.ClosedBlocks,
    KeyBias, ProfileBias,
    question.Logits, question.DirectLogits, question.HeadWrites,
    questions.NextToken, questions.NextRaceStep, questions.EndRun, questions.Beams, questions.WhichHeads,
    questions.PatchStream, questions.PatchHeads, questions.CacheLayers, questions.NextLogits,
    questions.LearnedPositions, questions.HeadAnswers,
    beams.Beam, beams.Finished, beams.BeamStep, beams.BeamSearch, kv.CachedLayer, kv.RaceStep,
    block_questions.LogitLens, block_questions.Lens, block_questions.StreamAdditions, block_questions.Additions,
    block_questions.AddedByPart,
    block_questions.StepName, block_questions.WhatItIsMadeOf, block_questions.Architecture, block_questions.Block,
    block_questions.Part, block_questions.Weight, block_questions.TrainingStep, block_questions.Learned,
    block_questions.FeedForwardUnits, block_questions.Units,
    expert_questions.ExpertRouting, expert_questions.RandomRouting, expert_questions.Routing, expert_questions.Routed,
    expert_questions.DenseModule, projection_questions.HeadProjections, projection_questions.Projections,
    projection_questions.Projected, projection_questions.LayerMatrices, projection_questions.HeadMatrices,
    matrix_edit.SingularValues, matrix_edit.Singulars,
    errors.Reason,
)  # fmt: skip  # by room
_BY_NAME: dict[str, Any] = {one.__name__: one for one in CLASSES}


def to_bytes(value: Any) -> bytes:
    """A question, an answer, a capture or an error, whole. Raises TypeError for what is none of them.

    A capture takes along what it remembers of earlier questions: logits asked for before are told where its model is
    not. Copies the tensors once.
    """
    writer = _Writer()
    plain = json.dumps(writer.plain(value))
    return save(writer.tensors, metadata={FORMAT: plain})


def from_bytes(data: bytes, *, asked: Answerer | None = None) -> Any:
    """The value, its tensors on the CPU. Captures in it ask ``asked`` for logits. Raises Unreadable."""
    try:
        length = int.from_bytes(data[:8], "little")
        plain = json.loads(data[8 : 8 + length])["__metadata__"][FORMAT]
        return _Reader(load(data), asked).value(json.loads(plain))
    except BROKEN as error:
        raise errors.Unreadable() from error


class _Writer:
    """JSON of values; a tensor that occurs twice is kept once."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self._places: dict[Any, str] = {}

    def plain(self, value: Any) -> Any:
        if value is None or isinstance(value, (str, bool, int, float)):
            return value
        if isinstance(value, (tuple, list)):
            return [self.plain(one) for one in value]
        if isinstance(value, dict):
            return {"map": [[self.plain(key), self.plain(one)] for key, one in value.items()]}
        if isinstance(value, bytes):
            return {"bytes": self._bytes(value)}
        if isinstance(value, Tensor):
            return {"tensor": self._tensor(value)}
        if isinstance(value, errors.UserFacingError):
            return {"error": type(value).__name__, "values": self.plain(value.values)}
        if type(value).__name__ in _BY_NAME and _BY_NAME[type(value).__name__] is type(value):
            fields = {name: self.plain(getattr(value, name)) for name in _fields(type(value))}
            return {"class": type(value).__name__, "fields": fields}
        raise TypeError(f"{type(value).__name__} cannot be written down")

    def _tensor(self, tensor: Tensor) -> str:
        tensor = tensor.detach()
        place = (tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride())
        if place not in self._places:
            self._places[place] = str(len(self.tensors))
            self.tensors[self._places[place]] = tensor.to("cpu", copy=True).contiguous()
        return self._places[place]

    def _bytes(self, data: bytes) -> str:
        if data not in self._places:
            self._places[data] = str(len(self.tensors))
            self.tensors[self._places[data]] = torch.frombuffer(bytearray(data), dtype=torch.uint8)
        return self._places[data]


class _Reader:
    def __init__(self, tensors: dict[str, Tensor], asked: Answerer | None) -> None:
        self._tensors = tensors
        self._asked = asked

    def value(self, plain: Any) -> Any:
        match plain:
            case list():
                return tuple(map(self.value, plain))
            case {"bytes": name}:
                return self._tensors[name].numpy().tobytes()
            case {"tensor": name}:
                return self._tensors[name]
            case {"map": pairs}:
                return {self.value(key): self.value(one) for key, one in pairs}
            case {"error": name, "values": values}:
                return errors.by_name(name)(**self.value(values))
            case {"class": name, "fields": fields}:
                made = {key: self.value(one) for key, one in fields.items()}
                return _BY_NAME[name](**made, **({"asked": self._asked} if name == Capture.__name__ else {}))
            case dict():
                raise ValueError("nothing that was written down")
            case _:
                return plain


def _fields(made: type[Any]) -> list[str]:
    return [field.name for field in dataclasses.fields(made) if field.name != "asked"]
