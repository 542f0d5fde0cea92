"""Turns a request's text into the tokens that go through the model, or refuses it; and maps errors of a forward."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable
from dataclasses import replace

import torch
from torch import Tensor

from model_runner import memory
from model_runner.errors import (
    N_,
    BrokenNumbers,
    ForwardFails,
    NoSuchPlace,
    NotCapturable,
    OutOfMemory,
    Reason,
    SequenceTooLong,
    TextAndIds,
    TextExceedsMemory,
    TokenizerDiffers,
    TokenizerStops,
    TooManyIds,
    first_line,
)
from model_runner.local.loading.sandboxed_tokenizer import Tokenizer
from model_runner.local.loading.tokenizer_languages import languages_of
from model_runner.local.recording.recorder import CannotRecord
from model_runner.local.tokenizing import Encoded, Writer, encode, longest_start
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.rotation_edit import stretch
from model_runner.runner import ModelInfo
from model_runner.sound_errors import ReadsTextOnly

READING = N_("reading {tokens} tokens")


def write(tokenizer: Tokenizer, request: CaptureRequest | GenerateRequest, info: ModelInfo) -> Writer:
    """The tokens of the request's text, in its chat template if requested, and of its continuation.

    Raises ReadsTextOnly for a sound; TextAndIds for token ids beside a text; TooManyIds and SequenceTooLong beyond the
    model's positions, or those that its stretched rotation reaches; TokenizerDiffers if the text makes a token that the
    model does not have; NoSuchPlace for a token id outside its vocabulary; and what
    :func:`model_runner.local.tokenizing.encode` raises.
    """
    if request.sound is not None:
        raise ReadsTextOnly(name=info.name)
    if request.input_ids:
        encoded = _of_ids(tokenizer, request, info)
    else:
        encoded = _in_language(tokenizer, encode(tokenizer, request.text, chat=request.chat), request, info)
    count, limit = len(encoded.ids) + len(request.continuation), int(info.max_tokens * stretch(request.edits))
    if count > limit and request.input_ids:
        raise TooManyIds(tokens=count, limit=limit)
    if count > limit:
        alone = encode(tokenizer, request.text)
        room = max(0, limit - (count - len(alone.ids)))
        characters = longest_start(tokenizer, request.text, alone, room) if room else 0
        too_long = TokenizerStops if info.unbounded else SequenceTooLong
        raise too_long(tokens=count, limit=limit, characters=characters)
    check_ids(encoded.ids, info)
    writer = Writer(tokenizer, encoded)
    append_all(writer, request.continuation, info)
    return writer


def _of_ids(tokenizer: Tokenizer, request: CaptureRequest | GenerateRequest, info: ModelInfo) -> Encoded:
    """The ids themselves, and the characters that each adds to the decoded text. Raises TextAndIds, NoSuchPlace."""
    if request.text or request.chat:
        raise TextAndIds()
    writer = Writer(tokenizer, Encoded((), (), ""))
    append_all(writer, request.input_ids, info)
    spans = tuple((token.start, token.end) for token in writer.tokens)
    return Encoded(tuple(request.input_ids), spans, writer.text_of(len(spans)))


def check_ids(ids: Iterable[int], info: ModelInfo) -> None:
    """Raises TokenizerDiffers if a text made a token that the model does not have."""
    for token_id in ids:
        if not 0 <= token_id < info.n_vocab:
            raise TokenizerDiffers(token=token_id, count=info.n_vocab)


def _in_language(
    tokenizer: Tokenizer, encoded: Encoded, request: CaptureRequest | GenerateRequest, info: ModelInfo
) -> Encoded:
    """The same with the request's language token in place of the default one, before or after the text."""
    if request.source_language in (None, info.tokenizer.source) or info.tokenizer.source is None:
        return encoded
    known = languages_of(tokenizer)
    usual, own = known[info.tokenizer.source], known[request.source_language]
    around = zip(encoded.ids, encoded.spans, strict=True)
    ids = tuple(own if token_id == usual and start == end else token_id for token_id, (start, end) in around)
    return replace(encoded, ids=ids)


def append_all(writer: Writer, ids: Iterable[int], info: ModelInfo) -> None:
    """Append these tokens to the text. Raises NoSuchPlace for one outside the model's vocabulary."""
    for token_id in ids:
        if not 0 <= token_id < info.n_vocab:
            raise NoSuchPlace(what=N_("token id"), value=token_id, count=info.n_vocab)
        writer.append(token_id)


def check_memory(n_tokens: int, bytes_per_token: float, device: torch.device) -> None:
    """Raises TextExceedsMemory if what is kept for so many tokens would not fit."""
    free = memory.available(device) // 2  # the other half is for the forward's own temporaries
    needed = bytes_per_token * n_tokens
    if needed > free:
        sizes = {"needed": memory.readable(needed), "free": memory.readable(free)}
        raise TextExceedsMemory(tokens=n_tokens, limit=int(free / bytes_per_token), **sizes)


def numbers_alone(made: Tensor) -> Tensor:
    """The model's output, checked to be finite. Raises BrokenNumbers."""
    if not all(bool(end.isfinite()) for end in torch.aminmax(made)):  # for a NaN, both ends are NaN; no copy is made
        raise BrokenNumbers()
    return made


@contextlib.contextmanager
def explained(info: ModelInfo, n_tokens: int) -> Generator[None]:
    """Map the errors of a forward over so many tokens to messages for the user."""
    stage = Reason(READING, {"tokens": n_tokens})
    try:
        yield
    except CannotRecord as error:
        raise NotCapturable(name=info.name, family=info.family, reason=error.reason) from error
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise OutOfMemory(stage=stage) from error
    except (RuntimeError, IndexError, ValueError) as error:
        if "allocate memory" in str(error):
            raise OutOfMemory(stage=stage) from error
        raise ForwardFails(tokens=n_tokens, error=first_line(error)) from error
