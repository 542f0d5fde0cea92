"""Tests one family with a capture, and writes the table of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import torch
from jaxtyping import Float
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from torch import Tensor
from transformers import PreTrainedTokenizerFast, WhisperFeatureExtractor

from analysis.architecture import stages
from attention.masks import ClosedBlocks
from model_runner.block_questions import StreamAdditions, WhatItIsMadeOf
from model_runner.capture import Capture
from model_runner.errors import NotCapturable, RunnerError, first_line
from model_runner.local.loading.class_of_family import LISTENS, NO_TEXT
from model_runner.local.loading.known_families import NEEDS
from model_runner.local.recording.parity_check import text_config
from model_runner.local.runner import LocalRunner
from model_runner.repeated_keys import RepeatedKeys
from model_runner.request import CaptureRequest
from model_runner.sound import rising_tone
from scripts.families.own_sizes import LONGEST, SHORT, Form
from scripts.families.small import families, small_model

WRITTEN = "jumps over"
CLOSE = 1e-4  # of a weight: eager attention in float32 against ours
NOT_DRAWN = ", The block does not draw it: "
UNROLLED = "no softmax, its recurrence written out as a matrix and multiplied by its inputs"
SINK = ", a learned sink in the softmax"
MERGED = ", one softmax over what is written and what is read drawn as two maps"
COUNTED = ", keys that its softmax counts several times drawn with their whole weight"
SCALED = ", a learned sink scales the weights after the softmax: drawn are the scaled ones"
OF_TOKENS = ", one softmax over tokens and keys that stand for several drawn as two maps"
CHOSEN = ", an indexer chooses keys"
OUTCOMES = ("captured", "captured, without a reference", "wrong", "refused", "not tried")


@dataclass(frozen=True)
class Tried:
    """``outcome``: one of OUTCOMES; ``said``: the mechanism and the largest difference of a weight, or the reason."""

    mapping: str
    family: str
    outcome: str
    said: str


def letters(n_vocab: int = 128, text: str = SHORT) -> PreTrainedTokenizerFast:
    """A tokenizer with a token per letter: its code or, if the model has fewer tokens, its index among the text's
    letters.
    """
    codes = [chr(code) for code in range(128)] if n_vocab >= 128 else sorted({*text, *WRITTEN, "?"})
    tokenizer = Tokenizer(models.WordLevel({letter: place for place, letter in enumerate(codes)}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=LONGEST)


def tried(mapping: str, family: str) -> Tried:
    """Build the model, capture it, and compare with its own eager attention.

    Models that do not read or write text are tried like all others, and refused with the app's reason.
    """
    library, missing = NEEDS.get(family, ("", ""))
    if library and find_spec(library) is None:
        return Tried(mapping, family, "not tried", missing)
    found = tried_with(mapping, family, {})
    if found.outcome in OUTCOMES[:2]:
        return found
    if family in NO_TEXT:
        return replace(found, outcome="refused", said=NO_TEXT[family])
    return found


def tried_form(form: Form) -> Tried:
    """The same for one of FORMS, which the row of its family does not cover."""
    mapping = form.mapping or {family: mapping for mapping, family in families()}[form.family]
    return replace(tried_with(mapping, form.family, form.own, form.text), family=form.name)


def tried_with(mapping: str, family: str, own: dict[str, Any], text: str = SHORT) -> Tried:
    """The same with these further settings, and for this text."""
    try:
        model = small_model(mapping, family, own)
    except Exception as error:  # noqa: BLE001  # of whatever kind: a configuration of sizes that its family did not expect
        return Tried(mapping, family, "not tried", f"no small model: {_short(error)}")
    try:
        ears = ears_of(model)
        runner = LocalRunner(model, letters(text_config(model).vocab_size, text), name=family, feature_extractor=ears)
        target = WRITTEN if runner.info.attentions else None
        asked = CaptureRequest(text) if ears is None else CaptureRequest(sound=rising_tone())
        capture = runner.capture(replace(asked, target=target))
    except NotCapturable as error:
        return Tried(mapping, family, "refused", str(error.values["reason"]))
    except RunnerError as error:
        return Tried(mapping, family, "refused", str(error))
    except Exception as error:  # noqa: BLE001
        return Tried(mapping, family, "wrong", f"an error of ours: {_short(error)}")
    every = [capture.attention(name) for name in capture.attentions] or [capture]
    both = [*every, *([] if capture.compressed is None else [capture.compressed])]
    if not all(one.verify(layer).ok for one in both for layer in range(one.n_layers) if one.has_weights(layer)):
        return Tried(mapping, family, "wrong", "its badge refuses it")
    unrolled = any(record is not None and record.unrolled is not None for one in both for record in one.records)
    error, apart = (None, False) if unrolled else _against_eager(mapping, family, own, every)  # RWKV returns outputs
    mechanism = _mechanism(runner, both, apart)
    mechanism += _not_drawn(runner, every)
    if error is None:
        return Tried(mapping, family, "captured, without a reference", mechanism)
    return Tried(mapping, family, "captured" if error < CLOSE else "wrong", f"{mechanism}, {error:.0e}")


def _mechanism(runner: LocalRunner, every: Sequence[Capture], sinks_apart: bool) -> str:
    """How its numbers are recorded, and anything unusual about its softmax."""
    records = [record for one in every for record in one.records if record]
    mechanism = "eager function" if any(record.eager for record in records) else "attention interface"
    mechanism = "products of its own code" if runner.engine.structure.legacy else mechanism
    mechanism = UNROLLED if any(record.unrolled for record in records) else mechanism
    if getattr(runner.engine.structure, "legacy_encoder", False):
        mechanism = "attention interface, and products of the encoder's own code"
    if every[0].compressed is not None:
        mechanism += OF_TOKENS
    elif any(record.rest_in for record in records):
        mechanism += MERGED
    elif any(record.sinks is not None for record in records):
        mechanism += SCALED if sinks_apart else SINK
    if any(isinstance(record.bias, RepeatedKeys) for record in records):
        mechanism += COUNTED
    if any(one.has_indexer(layer) for one in every for layer in range(one.n_layers)):
        mechanism += CHOSEN
    return mechanism


def ears_of(model: Any) -> WhisperFeatureExtractor | None:
    """The feature extractor of an audio model: fifty frames per second, as published."""
    if not model.config.is_encoder_decoder or model.config.model_type not in LISTENS:
        return None
    seconds: Any = model.config.max_source_positions // 50
    return WhisperFeatureExtractor(feature_size=model.config.num_mel_bins, chunk_length=seconds)


def _not_drawn(runner: LocalRunner, every: Sequence[Capture]) -> str:
    """Empty if the page The block shows all modules, with what each adds to a token; otherwise the reason."""
    try:
        made = runner.submit(WhatItIsMadeOf()).result()
        # for an encoder and a decoder, the parts are drawn without vectors
        alone = every[0] if len(every) == 1 else None
        added = alone and runner.submit(StreamAdditions(alone.request, 1)).result()
        found = stages(made, 0, alone, added, 1)
        outer = sum(one.n_parameters for one in found if one.block is None or one.role == "block")
        if outer != made.n_parameters:
            return f"{NOT_DRAWN}{made.n_parameters - outer} parameters are in no part"
    except Exception as error:  # noqa: BLE001
        return f"{NOT_DRAWN}{_short(error)}"
    return ""


@torch.no_grad()
def _against_eager(
    mapping: str, family: str, own: dict[str, Any], every: Sequence[Capture]
) -> tuple[float | None, bool]:
    """The largest difference of a weight, and whether the model's weights come before a sink takes its share.

    The difference is None if the model does not return its weights; the sink is left out of ours for the comparison.
    """
    # the source, or the tokens of a model with a single stack
    ids = torch.tensor([[token.id for token in every[-1].keys]])
    given: dict[str, Any] = {"input_ids": ids}
    if every[0].request.sound is not None:
        heard: Any = ears_of(small_model(mapping, family, own))
        given = dict(heard(rising_tone().samples().numpy(), sampling_rate=rising_tone().rate, return_tensors="pt"))
    names = ["attentions"]
    if len(every) > 1:
        given["decoder_input_ids"] = torch.tensor([[token.id for token in every[1].tokens]])
        names = ["encoder_attentions", "decoder_attentions", "cross_attentions"]
    try:
        model = small_model(mapping, family, own, attn_implementation="eager")
        output = model(**given, output_attentions=True, use_cache=False, return_dict=True)
    except Exception:  # noqa: BLE001  # of whatever kind: the model's own code, asked for something it does not do
        return None, False
    worst: float | None = None
    apart = False
    for capture, name in zip(every, names, strict=True):
        said = [with_globals(one, len(every[-1].keys)) for one in getattr(output, name, None) or ()]
        theirs = [one for one in said if torch.is_tensor(one)]
        layers = [layer for layer in range(capture.n_layers) if capture.has_weights(layer)]
        if len(theirs) != len(layers):
            return None, False
        for layer, weights in zip(layers, theirs, strict=True):
            ours = with_compressed(capture, layer, weights.shape[-1])
            rows = whole_rows(weights[0].float(), ours.shape[-1])
            if rows.shape != ours.shape:
                return None, False
            if isinstance(bias := capture.record(layer).bias, RepeatedKeys):  # BigBird returns each key once
                every_head = (slice(0, len(ours)), slice(0, ours.shape[1]), slice(0, ours.shape[2]))
                ours = ours / bias.tile(*every_head, ours.device).exp()
            if float((rows - ours).abs().max()) > CLOSE and capture.record(layer).sinks is not None:
                ours, apart = ours / ours.sum(dim=-1, keepdim=True), True  # as Granite returns them
            worst = max(worst or 0.0, float((rows - ours).abs().max()))
    return worst, apart


def with_compressed(capture: Capture, layer: int, columns: int) -> Float[Tensor, "heads tokens keys"]:
    """A layer's weights, followed by those of its compressed keys if transformers has more ``columns``."""
    every, compressed = slice(0, len(capture.tokens)), capture.compressed
    ours = capture.layer_weights(layer, every)
    if compressed is None or not compressed.has_weights(layer):
        return ours
    rule = compressed.record(layer).mask.before_choice.own
    first = rule.first_key if isinstance(rule, ClosedBlocks) else 0
    own = slice(first, first + columns - ours.shape[-1])
    return torch.cat([ours, compressed.layer_weights(layer, every)[..., own]], dim=-1)


def with_globals(weights: Any, n_tokens: int) -> Any:
    """The weights, with those of PEGASUS-X's encoder assembled from blocks and global tokens, which come last in ours.

    Layers whose blocks begin half a block earlier have one more block.
    """
    if not isinstance(weights, dict):
        return weights
    local, own = weights["local"][0], weights["global"][0]
    heads, blocks, size, columns = local.shape
    n_globals, n_rows = columns - size, blocks * size
    wide = local.new_zeros(heads, n_rows + n_globals, n_rows + n_globals)
    for block in range(blocks):
        rows = slice(block * size, (block + 1) * size)
        wide[:, rows, rows] = local[:, block, :, n_globals:]
        wide[:, rows, n_rows:] = local[:, block, :, :n_globals]
    wide[:, n_rows:] = torch.cat([own[:, :, n_globals:], own[:, :, :n_globals]], dim=-1)
    start = size // 2 if n_rows - n_tokens >= size else 0
    seen = torch.tensor([*range(start, start + n_tokens), *range(n_rows, n_rows + n_globals)])
    return wide[None, :, seen][..., seen]


def whole_rows(weights: Float[Tensor, "*any rows columns"], n_keys: int) -> Float[Tensor, "heads tokens keys"]:
    """The weights, with those of windows and blocks assembled.

    In Longformer's windows, the middle column is the token itself; LongT5's blocks each include the blocks before and
    after.
    """
    if weights.dim() == 4:
        blocks, heads, size, columns = weights.shape
        wide = weights.new_zeros(heads, blocks * size, (blocks + 2) * size)
        for block in range(blocks):
            rows, seen = slice(block * size, (block + 1) * size), slice(block * size, block * size + columns)
            wide[:, rows, seen] = weights[block]
        return wide[:, :n_keys, size : size + n_keys]
    heads, n_tokens, columns = weights.shape
    if columns == n_keys or columns % 2 == 0:
        return weights
    reach = columns // 2
    wide = weights.new_zeros(heads, n_tokens, n_keys + 2 * reach)
    away = torch.arange(n_tokens)[:, None] + torch.arange(columns)
    return wide.scatter(-1, away.expand(heads, -1, -1), weights)[..., reach : reach + n_keys]


def table(found: Sequence[Tried], forms: Sequence[Tried], version: str) -> Iterator[str]:
    """The lines of docs/families.md."""
    count = Counter(one.outcome for one in found)
    captured = count["captured"] + count["captured, without a reference"]
    yield "# Families"
    yield ""
    yield "Written by `python -m scripts.families`: it captures a small random model of every type of language"
    yield f"model that transformers {version} maps, and compares the weights with those that the model's own eager"
    yield "attention returns. The app refuses unsupported types with the reason given here."
    yield ""
    yield f"{len(found)} types: {captured} captured and right ({count[OUTCOMES[0]]} against the model's own weights,"
    yield f"{count[OUTCOMES[1]]} by the badge alone, because the model returns none), {count['wrong']} wrong,"
    yield f"{count['refused']} refused (reason listed), {count['not tried']} not tried."
    drawn = sum(one.outcome in OUTCOMES[:2] and NOT_DRAWN not in one.said for one in found)
    yield f"The page The block draws {drawn} of the captured types, with every parameter in one of its parts."
    yield from (
        f"{family} was tried with the library {library}, which it needs." for family, (library, _) in NEEDS.items()
    )
    yield ""
    yield "| family | read as | outcome | mechanism and largest difference of a weight, or the reason |"
    yield "| --- | --- | --- | --- |"
    for one in sorted(found, key=lambda one: (OUTCOMES.index(one.outcome), one.mapping, one.family)):
        yield _row(one)
    yield ""
    yield "Some families have further forms:"
    yield ""
    yield "| form | read as | outcome | mechanism and largest difference of a weight, or the reason |"
    yield "| --- | --- | --- | --- |"
    yield from (_row(one) for one in forms)


def _row(one: Tried) -> str:
    return f"| {one.family} | {one.mapping} | {one.outcome} | {one.said.replace('|', '/')} |"


def _short(error: BaseException) -> str:
    return f"{type(error).__name__}: {first_line(error)}"[:160]
