"""A file that lacks a tensor of its model is refused, or what is shown of it is what the whole file shows."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import (
    AutoConfig,
    AutoModelForSeq2SeqLM,
    MT5EncoderModel,
    T5EncoderModel,
    T5GemmaEncoderModel,
    UMT5EncoderModel,
)

from model_runner.capture import Capture
from model_runner.errors import ModelIncomplete, NoLogits
from model_runner.local.loading.known_families import NEEDS, TABLE
from model_runner.local.loading.loader import load_runner
from model_runner.local.recording.parity_check import text_config
from model_runner.local.runner import LocalRunner
from model_runner.request import CaptureRequest
from model_runner.sound import rising_tone
from scripts.families.own_sizes import SHORT
from scripts.families.small import families, small_model
from scripts.families.trying import WRITTEN, ears_of, letters
from tests.model_runner.folders import WEIGHTS, change_config, refused, save
from tests.model_runner.local.recording.test_encoder_decoders import GEMMA
from tests.model_runner.tiny import VOCAB, tiny

pytestmark = [pytest.mark.table, pytest.mark.usefixtures("no_network")]

OFTEN = {"llama", "gpt2", "distilbert", "t5", "marian", "mixtral", "llama4_text"}
CAPTURED = json.loads(TABLE.read_text("utf-8"))["captured"]
NO_FOLDER = {"emu3", "mllama", "nemo_speechlm"}  # transformers 5.23 does not read what it saves of the small model
SWEEP = [
    pytest.param(mapping, family, id=family, marks=[] if family in OFTEN else [pytest.mark.long])
    for mapping, family in families()
    if family in CAPTURED and family not in NO_FOLDER and find_spec(NEEDS.get(family, ("torch", ""))[0])
]


def saved(folder: Path, mapping: str, family: str, **own: Any) -> Path:
    """A small model of this family as transformers writes it, and a tokenizer of letters."""
    model = small_model(mapping, family, own)
    model.save_pretrained(folder)
    letters(text_config(model).vocab_size).save_pretrained(folder)
    if (ears := ears_of(model)) is not None:
        ears.save_pretrained(folder)
    return folder


def loaded(folder: Path) -> LocalRunner:
    return load_runner(str(folder), device="cpu", dtype="float32")


def shown(runner: LocalRunner) -> dict[str, Tensor]:
    """Every tensor of a capture, and the logits at its last token where there are any."""
    target = WRITTEN if runner.info.attentions else None
    asked = CaptureRequest(sound=rising_tone()) if runner.info.hears else CaptureRequest(SHORT)
    whole = runner.capture(replace(asked, target=target))
    found: dict[str, Tensor] = {}
    for capture in [whole.attention(name) for name in whole.attentions] or [whole]:
        found |= {f"{capture.request.attention} {name}": value for name, value in _tensors(capture)}
    with suppress(NoLogits):
        found["logits"] = whole.logits(-1)
    return found


def _tensors(capture: Capture) -> Iterator[tuple[str, Tensor]]:
    yield "hidden", capture.hidden
    for layer, stream in enumerate(capture.residuals):
        yield f"stream {layer}", stream
    for layer, record in enumerate(capture.records):
        if record is not None:
            yield from ((f"{name} {layer}", getattr(record, name)) for name in ("q", "k", "v", "output"))


def one_of_each_kind(names: Iterable[str]) -> list[str]:
    """Of names that differ by numbers alone, the one in the middle."""
    alike: dict[str, list[str]] = defaultdict(list)
    for name in names:
        alike[re.sub(r"\d+", "N", name)].append(name)
    return [same[len(same) // 2] for same in alike.values()]


def names_in(folder: Path) -> list[str]:
    data = (folder / WEIGHTS).read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return [name for name in header if name != "__metadata__"]


@contextmanager
def without(folder: Path, names: Sequence[str]) -> Generator[None]:
    """The file has these tensors under names that no model asks for: in its header, so that its bytes stay."""
    path = folder / WEIGHTS
    with path.open("r+b") as file:
        length = int.from_bytes(file.read(8), "little")
        header = file.read(length)
        changed = header
        for name in names:
            entry = json.dumps(name).encode() + b":"
            assert changed.count(entry) == 1, name
            changed = changed.replace(entry, json.dumps(name[::-1]).encode() + b":")
        file.seek(8)
        file.write(changed)
        file.flush()
        yield
        file.seek(8)
        file.write(header)


def different(found: dict[str, Tensor], whole: dict[str, Tensor]) -> list[str]:
    """What is shown and is not bit by bit what the whole file shows."""
    return [name for name, value in found.items() if not torch.equal(value, whole[name])]


@pytest.mark.parametrize("mapping, family", SWEEP)
def test_what_a_file_lacks_is_not_made_up(mapping: str, family: str, tmp_path: Path) -> None:
    """One tensor of each kind is taken out of the file, wherever it is in the model."""
    folder = saved(tmp_path, mapping, family)
    first, again = loaded(folder), loaded(folder)
    assert first.info.filled == ()
    whole = shown(first)
    assert different(shown(again), whole) == []
    silent: dict[str, list[str]] = {}
    refused = 0
    for name in one_of_each_kind(names_in(folder)):
        with without(folder, [name]):
            try:
                runner = loaded(folder)
            except ModelIncomplete:
                refused += 1
                continue
            if not runner.info.filled and (changed := different(shown(runner), whole)):
                silent[name] = changed[:3]
    assert silent == {}
    assert refused


T5 = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 3, "num_heads": 4, "decoder_start_token_id": 258}
ENCODERS = {"t5": T5EncoderModel, "mt5": MT5EncoderModel, "umt5": UMT5EncoderModel, "t5gemma": T5GemmaEncoderModel}


def translator(folder: Path, family: str = "t5", **config: Any) -> Path:
    return save(folder, tiny(family, AutoModelForSeq2SeqLM, **T5, **config)())


@pytest.mark.parametrize("lost, count, first", [
    (r"decoder\.block\.1\.layer\.0\.SelfAttention\.q\.", 1, "decoder.block.1.layer.0.SelfAttention.q.weight"),
    (r"decoder\.block\.1\.layer\.1\.EncDecAttention\.k\.", 1, "decoder.block.1.layer.1.EncDecAttention.k.weight"),
    (r"decoder\.block\.2\.", 13, "decoder.block.2.layer.0.SelfAttention.q.weight"),
    (r"encoder\.final_layer_norm", 1, "encoder.final_layer_norm.weight"),
    (r"shared|(en|de)coder\.embed_tokens|lm_head", 4, "shared.weight"),  # one table under four names
])  # fmt: skip
def test_a_translator_with_a_hole_is_refused(lost: str, count: int, first: str, tmp_path: Path) -> None:
    folder = translator(tmp_path)
    with without(folder, [name for name in names_in(folder) if re.match(lost, name)]):
        said = refused(folder, ModelIncomplete)
    lacks = f"{count} weights are missing, {first} first" if count > 1 else f"the weight {first} is missing"
    assert f"is not complete: {lacks}." in said


def test_a_translator_without_its_output_layer_is_refused(tmp_path: Path) -> None:
    """It would write by its embedding, to which T5's class ties what is missing, though its settings say otherwise."""
    folder = translator(tmp_path)
    loaded(folder)
    change_config(folder, tie_word_embeddings=False)
    assert "the weight lm_head.weight is missing" in refused(folder, ModelIncomplete)


@pytest.mark.long
@pytest.mark.parametrize("family", ["t5", "umt5"])
def test_a_translator_without_its_decoder_is_read_as_its_encoder(family: str, tmp_path: Path) -> None:
    """So are the text encoders of models that draw published: with the settings of the whole model."""
    folder = translator(tmp_path, family)
    whole = loaded(folder).capture(CaptureRequest(SHORT, target=WRITTEN)).attention("encoder")
    with without(folder, [name for name in names_in(folder) if name.startswith(("decoder.", "lm_head."))]):
        runner = loaded(folder)
        alone = runner.capture(CaptureRequest(SHORT))
    assert runner.info.attentions == ()
    assert different(dict(_alone(alone)), dict(_alone(whole))) == []
    with pytest.raises(NoLogits):
        alone.logits(-1)


def _alone(capture: Capture) -> Iterator[tuple[str, Tensor]]:
    for layer in range(capture.n_layers):
        assert capture.verify(layer).ok
    return _tensors(capture)


@pytest.mark.long
@pytest.mark.parametrize("family, guarded", [
    *((family, False) for family in ENCODERS),
    *(pytest.param(family, True, marks=pytest.mark.long) for family in ("t5", "t5gemma")),  # tried apart
])  # fmt: skip
def test_an_encoder_by_itself_is_captured(family: str, guarded: bool, tmp_path: Path) -> None:
    """Against the weights that transformers' own eager attention returns."""
    sizes: dict[str, Any] = {"encoder": GEMMA, "decoder": GEMMA} if family == "t5gemma" else T5
    config = AutoConfig.for_model(family, **sizes, vocab_size=VOCAB, is_encoder_decoder=False)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = ENCODERS[family](config).eval()
        for parameter in model.parameters():
            parameter.data.normal_(std=0.4)
    runner = load_runner(str(save(tmp_path, model)), device="cpu", sandboxed=guarded)
    capture = runner.capture(CaptureRequest(SHORT))
    eager = ENCODERS[family].from_pretrained(tmp_path, attn_implementation="eager", dtype=torch.float32)
    with torch.no_grad():
        theirs = eager(torch.tensor([[token.id for token in capture.tokens]]), output_attentions=True)
    assert len(theirs.attentions) == capture.n_layers
    for layer, weights in enumerate(theirs.attentions):
        assert capture.verify(layer).ok
        torch.testing.assert_close(capture.layer_weights(layer, slice(None)), weights[0], atol=1e-5, rtol=0)
    with pytest.raises(NoLogits):
        capture.logits(-1)


def test_what_a_class_fills_by_itself_is_told_and_what_it_never_saves_is_none_of_it(tmp_path: Path) -> None:
    folder = saved(tmp_path, "sequence-to-sequence", "marian")
    assert not any("embed_positions" in name for name in names_in(folder))  # sines
    assert loaded(folder).info.filled == ()
    with without(folder, ["final_logits_bias"]):
        assert loaded(folder).info.filled == ("final_logits_bias",)


@pytest.mark.parametrize("family, unread", [("big_bird", "bert.pooler."), ("xlnet", "transformer.mask_emb")])
def test_what_no_shown_number_uses_may_be_missing(family: str, unread: str, tmp_path: Path) -> None:
    folder = saved(tmp_path, "masked" if family == "big_bird" else "causal", family)
    whole = shown(loaded(folder))
    lost = [name for name in names_in(folder) if name.startswith(unread)]
    assert lost
    with without(folder, lost):
        found = shown(loaded(folder))
    assert "logits" in found
    assert different(found, whole) == []


def test_what_other_texts_may_use_of_a_layer_is_missed_too(tmp_path: Path) -> None:
    """No token of these few goes through the other language's adapter, or through an expert that none of them chose."""
    folder = saved(tmp_path, "masked", "xmod", languages=["en_XX", "de_DE"])
    lost = "roberta.encoder.layer.1.output.adapter_modules.de_DE.dense1.weight"
    with without(folder, [lost]):
        assert f"the weight {lost} is missing" in refused(folder, ModelIncomplete)
