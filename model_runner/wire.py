"""Serializes values to bytes and back: questions, answers, captures.

Tensors are safetensors, with JSON in their header. Only the classes named here are restored, each through its own
constructor; nothing is unpickled, and no function named in the data is called.

An outline of a capture omits its large tensors. They are its parts, numbered in the order of occurrence, and are
fetched one by one (:mod:`model_runner.lazy_tensor`). Captures of one request by one model have the same parts.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
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
    token_questions,
)
from model_runner.adapter import AdapterInfo
from model_runner.capture import Capture
from model_runner.head_difference import HeadDifference
from model_runner.key_choice import KeyChoice
from model_runner.layer_edit import LayerEdit
from model_runner.layer_origin import LayerOrigin
from model_runner.lazy_tensor import Fetch, lazy_tensor
from model_runner.mask_rule import MaskRule
from model_runner.preview import ModelPreview
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

FORMAT = "attention atlas 2"  # name of the one header entry, which holds the values
PART = 4096  # bytes: of a larger tensor, an outline has only the shape
LONG = 64  # characters: a longer text is stored separately, once
MANY = 16  # integers: more of them are stored as a tensor
COLUMNS = (torch.uint8, torch.int16, torch.int32, torch.int64)  # integer types, of which the smallest that fits is used
BROKEN = (SafetensorError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)

CLASSES: tuple[type[Any], ...] = (
    AdapterInfo,
    Capture, Check, RelativeKeyBias, DistanceTerm, HeadDifference, KeyChoice, LayerEdit, LayerOrigin, LayerRecord,
    MaskRule,
    ModelInfo, ModelPreview, RelativeBias, RepeatedKeys, Rotation, Sampling, Sound, Step, Token, TokenizerInfo,
    request.CaptureRequest, request.GenerateRequest,
    *edits.KINDS.values(),
    masks.Full, masks.Causal, masks.Recent, masks.Band, masks.SameChunk, masks.SameDocument, masks.Without,
    masks.Written, masks.Chosen, masks.And, masks.Or, masks.BlockSparse, masks.SortedChunks, masks.LargestKeys,
    masks.BlocksAndGlobals, masks.ClosedBlocks,
    KeyBias, ProfileBias,
    question.Logits, question.DirectLogits, question.HeadWrites,
    token_questions.VerifyLayer, token_questions.Surprisals, token_questions.TopLogits, token_questions.LikelyTokens,
    questions.NextToken, questions.NextRaceStep, questions.EndRun, questions.Beams, questions.WhichHeads,
    questions.PatchStream, questions.PatchHeads, questions.PatchFfn, questions.MeanStream,
    questions.CacheLayers, questions.NextLogits,
    questions.LearnedPositions, questions.HeadAnswers,
    beams.Beam, beams.Finished, beams.BeamStep, beams.BeamSearch, kv.CachedLayer, kv.RaceStep,
    block_questions.LogitLens, block_questions.Lens, block_questions.StreamAdditions, block_questions.Additions,
    block_questions.AddedByPart,
    block_questions.StepName, block_questions.WhatItIsMadeOf, block_questions.Architecture, block_questions.Block,
    block_questions.Part, block_questions.Weight, block_questions.TrainingStep, block_questions.Learned,
    block_questions.FeedForwardUnits, block_questions.Units,
    block_questions.EmbeddingRow, block_questions.TokenEmbedding,
    block_questions.FeedForwardSums, block_questions.UnitSums,
    block_questions.ConvolvedFeedForward, block_questions.Convolved,
    expert_questions.ExpertRouting, expert_questions.RandomRouting, expert_questions.Routing, expert_questions.Routed,
    expert_questions.DenseModule, projection_questions.HeadProjections, projection_questions.Projections,
    projection_questions.Projected, projection_questions.LayerMatrices, projection_questions.HeadMatrices,
    matrix_edit.SingularValues, matrix_edit.Singulars,
    errors.Reason,
)  # fmt: skip  # by room
REMEMBERED = ("_lse", "_logits")  # of a capture: it changes while the capture is queried
KINDS = ("special", "hidden", "silent")  # kinds of tokens
COLUMN_NAMES = ("ids", "starts", "lengths", "sizes")
_BY_NAME: dict[str, Any] = {one.__name__: one for one in CLASSES}


def to_bytes(value: Any) -> bytes:
    """Serialize a question, an answer, a capture or an error completely. Raises TypeError for anything else.

    A capture includes its cached answers to earlier questions, so that logits already computed are available without
    the model. Copies the tensors once.
    """
    return _Writer().bytes_of(value)


def outline(capture: Capture) -> bytes:
    """Serialize a capture without its large tensors and without its cached answers."""
    return _Writer(apart=True).bytes_of(capture)


def parts(capture: Capture) -> list[Tensor]:
    """The tensors that its outline omits, in order."""
    writer = _Writer(apart=True)
    writer.plain(capture)
    return writer.parts


def from_bytes(data: bytes, *, asked: Answerer | None = None, fetch: Callable[[int], Fetch] | None = None) -> Any:
    """Deserialize a value, with tensors on the CPU. Its captures send questions about logits to ``asked``.

    Raises Unreadable. ``fetch`` returns, for a number, a function that fetches this part of an outline; without it,
    outlines are refused.
    """
    try:
        length = int.from_bytes(data[:8], "little")
        plain = json.loads(data[8 : 8 + length])["__metadata__"][FORMAT]
        return _Reader(load(data), asked, fetch).value(json.loads(plain))
    except BROKEN as error:
        raise errors.Unreadable() from error


class _Writer:
    """Writes values as JSON; a tensor that occurs twice is stored once. ``apart``: large tensors become parts."""

    def __init__(self, *, apart: bool = False) -> None:
        self.tensors: dict[str, Tensor] = {}
        self.parts: list[Tensor] = []
        self._apart = apart
        self._places: dict[Any, Any] = {}

    def bytes_of(self, value: Any) -> bytes:
        plain = json.dumps(self.plain(value), separators=(",", ":"))
        return save(self.tensors, metadata={FORMAT: plain})

    def plain(self, value: Any) -> Any:
        if value is None or isinstance(value, (bool, int, float)):
            return value
        if isinstance(value, str):
            return value if len(value) < LONG else {"text": self._bytes(value.encode("utf-8", "surrogatepass"))}
        if isinstance(value, (tuple, list)) and value and all(type(one) is Token for one in value):
            return {"tokens": self._tokens(value)}
        if isinstance(value, (tuple, list)) and len(value) > MANY and all(type(one) is int for one in value):
            return {"numbers": self._numbers(value)} if all(abs(one) < 2**63 for one in value) else list(value)
        if isinstance(value, (tuple, list)):
            return [self.plain(one) for one in value]
        if isinstance(value, dict):
            return {"map": [[self.plain(key), self.plain(one)] for key, one in value.items()]}
        if isinstance(value, bytes):
            return {"bytes": self._bytes(value)}
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, errors.UserFacingError):
            return {"error": type(value).__name__, "values": self.plain(value.values)}
        if type(value).__name__ in _BY_NAME and _BY_NAME[type(value).__name__] is type(value):
            left_out = REMEMBERED if self._apart else ()
            fields = {name: self.plain(getattr(value, name)) for name in _fields(type(value)) if name not in left_out}
            return {"class": type(value).__name__, "fields": fields}
        raise TypeError(f"{type(value).__name__} cannot be written down")

    def _tensor(self, tensor: Tensor) -> dict[str, Any]:
        tensor = tensor.detach()
        place = (tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride())
        if place not in self._places and self._apart and tensor.dim() and tensor.nbytes > PART:
            told = {"shape": list(tensor.shape), "dtype": str(tensor.dtype).removeprefix("torch.")}
            self._places[place] = {"part": len(self.parts), **told}
            self.parts.append(tensor)
        elif place not in self._places:
            self._places[place] = {"tensor": self._kept(tensor.to("cpu", copy=True).contiguous())}
        return self._places[place]

    def _kept(self, tensor: Tensor) -> str:
        name = str(len(self.tensors))
        self.tensors[name] = tensor
        return name

    def _bytes(self, data: bytes) -> str:
        if data not in self._places:
            bytes_ = torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else torch.zeros(0, dtype=torch.uint8)
            self._places[data] = self._kept(bytes_)
        return self._places[data]

    def _numbers(self, values: Sequence[int]) -> str:
        least, most = min(values), max(values)
        fits = (one for one in COLUMNS if torch.iinfo(one).min <= least and most <= torch.iinfo(one).max)
        return self._kept(torch.tensor(values, dtype=next(fits)))

    def _tokens(self, tokens: Sequence[Token]) -> dict[str, Any]:
        """Encode tokens by column; each start is stored as the distance from the one before, to fit in a byte."""
        starts, texts = [one.start for one in tokens], [one.text.encode("utf-8", "surrogatepass") for one in tokens]
        return {
            "ids": self._numbers([one.id for one in tokens]),
            "starts": self._numbers([starts[0], *(b - a for a, b in pairwise(starts))]),
            "lengths": self._numbers([one.end - one.start for one in tokens]),
            "sizes": self._numbers(list(map(len, texts))),
            "texts": self._bytes(b"".join(texts)),
            **{kind: [at for at, one in enumerate(tokens) if getattr(one, kind)] for kind in KINDS},
        }


class _Reader:
    def __init__(
        self, tensors: dict[str, Tensor], asked: Answerer | None, fetch: Callable[[int], Fetch] | None
    ) -> None:
        self._tensors = tensors
        self._asked, self._fetch = asked, fetch
        self._parts: dict[int, Tensor] = {}

    def value(self, plain: Any) -> Any:
        match plain:
            case list():
                return tuple(map(self.value, plain))
            case {"bytes": name}:
                return self._tensors[name].numpy().tobytes()
            case {"tensor": name}:
                return self._tensors[name]
            case {"part": int(number), "shape": [*shape], "dtype": str(dtype)}:
                return self._part(number, shape, dtype)
            case {"text": name}:
                return self._tensors[name].numpy().tobytes().decode("utf-8", "surrogatepass")
            case {"numbers": name}:
                return tuple(self._tensors[name].tolist())
            case {"tokens": columns}:
                return self._tokens(columns)
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

    def _part(self, number: int, shape: list[int], dtype: str) -> Tensor:
        if self._fetch is None:
            raise LookupError("an outline, and nobody who has its parts")
        if number not in self._parts:
            self._parts[number] = lazy_tensor(shape, getattr(torch, dtype), self._fetch(number), number)
        return self._parts[number]

    def _tokens(self, columns: dict[str, Any]) -> tuple[Token, ...]:
        ids, steps, lengths, sizes = (self._tensors[columns[one]].tolist() for one in COLUMN_NAMES)
        texts = self._tensors[columns["texts"]].numpy().tobytes()
        kinds = [set(columns[kind]) for kind in KINDS]
        ends, starts = list(accumulate(sizes)), accumulate(steps)
        return tuple(
            Token(
                token_id,
                texts[end - size : end].decode("utf-8", "surrogatepass"),
                start,
                start + length,
                *(at in kind for kind in kinds),
            )
            for at, (token_id, start, length, size, end) in enumerate(
                zip(ids, starts, lengths, sizes, ends, strict=True)
            )
        )


def _fields(made: type[Any]) -> list[str]:
    return [field.name for field in dataclasses.fields(made) if field.name != "asked"]
