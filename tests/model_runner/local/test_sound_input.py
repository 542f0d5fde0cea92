"""Speech models: their three attentions equal what transformers itself computes from the same sound."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from model_runner import CaptureRequest, GenerateRequest, load_runner, wire
from model_runner.block_questions import FeedForwardUnits, LogitLens, StreamAdditions, TrainingStep, WhatItIsMadeOf
from model_runner.capture import Capture
from model_runner.edits import OfAttention, ScaledHead
from model_runner.errors import ContextFull, ModelIncomplete, NoAttribution
from model_runner.local.loading.loader import load_runner as load
from model_runner.questions import Beams, CacheLayers, LearnedPositions, PatchHeads, WhichHeads
from model_runner.request import GREEDY
from model_runner.sound import rising_tone
from model_runner.sound_errors import ListensOnly, NoSound, ReadsTextOnly, SoundTooLong
from model_runner.transforms import Sampling
from model_runner.verification import verify
from tests.model_runner.folders import change_config, refused
from tests.model_runner.listening import (
    ENGLISH,
    FRAMES,
    GERMAN,
    NO_TIMES,
    RATE,
    START,
    TRANSCRIBE,
    ears,
    runner,
    save_whisper,
    tone,
    whisper,
)
from tests.model_runner.tiny import EOS, byte_tokenizer

pytestmark = pytest.mark.table

TARGET = "two dogs"
ASKED = CaptureRequest(sound=tone(), target=TARGET)


def features(seconds: float = 0.6) -> Tensor:
    """What transformers' own extractor makes of the tone, given to it directly."""
    made: Any = ears()(tone(seconds).samples().numpy(), sampling_rate=RATE, return_tensors="pt")
    return made["input_features"]


def three(capture: Capture) -> list[Capture]:
    return [capture.attention(name) for name in ("encoder", "decoder", "cross")]


def weights(capture: Capture, layer: int) -> Tensor:
    return torch.stack([capture.weights(layer, head) for head in range(capture.n_heads)])


def test_weights_logits_and_streams_are_those_of_eager_attention():
    capture, model = runner().capture(ASKED), whisper()()
    model.set_attn_implementation("eager")
    written = torch.tensor([[token.id for token in capture.tokens]])
    with torch.no_grad():
        theirs: Any = model(
            input_features=features(), decoder_input_ids=written, output_attentions=True, output_hidden_states=True
        )
    expected = (theirs.encoder_attentions, theirs.decoder_attentions, theirs.cross_attentions)
    for ours, attentions in zip(three(capture), expected, strict=True):
        assert ours.n_layers == len(attentions)
        for layer, theirs_here in enumerate(attentions):
            torch.testing.assert_close(weights(ours, layer), theirs_here[0], atol=3e-5, rtol=0)
            assert ours.verify(layer).ok
    found = torch.stack([capture.logits(position) for position in range(len(capture.tokens))])
    torch.testing.assert_close(found, theirs.logits[0], atol=1e-4, rtol=1e-5)
    for ours, states in ((three(capture)[0], theirs.encoder_hidden_states), (capture, theirs.decoder_hidden_states)):
        for layer in range(ours.n_layers):
            torch.testing.assert_close(ours.residual(layer), states[layer][0], atol=1e-4, rtol=1e-5)


def test_the_badge_sees_one_per_cent_in_each_of_the_three():
    for ours in three(runner().capture(ASKED)):
        layer = ours.n_layers - 1
        record = ours.record(layer)
        assert ours.verify(layer).ok
        for part in ("k", "v"):
            assert not verify(replace(record, **{part: getattr(record, part) * 1.01}), None, 128).ok


def test_the_tokens_that_are_read_are_all_frames_by_their_time():
    cross = runner().capture(replace(ASKED, attention="cross"))
    assert (len(cross.keys), cross.weights(0, 0).shape[1]) == (FRAMES, FRAMES)
    assert [token.text for token in cross.keys][:3] == ["0.00 s", "0.02 s", "0.04 s"]
    assert [token.silent for token in cross.keys] == [False] * 30 + [True] * 120
    text = cross.attention("encoder").text
    assert [text[token.start : token.end] for token in cross.keys] == [token.text for token in cross.keys]


def heard_by_decoder(model: Any, **more: Any) -> tuple[list[int], list[int]]:
    """The tokens that transformers' own generation begins with, and those that it writes after them."""
    given: list[list[int]] = []
    hook = model.model.decoder.register_forward_pre_hook(
        lambda _module, _args, kwargs: given.append(kwargs["input_ids"][0].tolist()), with_kwargs=True
    )
    made = model.generate(features(), max_new_tokens=20, num_beams=1, do_sample=False, **more)
    hook.remove()
    begins = max(given, key=len)
    ids = made[0].tolist()
    return begins, ids[len(begins) :] if ids[: len(begins)] == begins else ids


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"forced_decoder_ids": None},  # as the newest are published
        {"language": "de", "task": "transcribe"},
        {"lang_to_id": {}, "task_to_id": {}, "forced_decoder_ids": None, "no_timestamps_token_id": None},
    ],
)
def test_it_begins_and_goes_on_as_transformers_own_generation_does(settings):
    model: Any = whisper(**settings)()
    for name in [name for name, value in settings.items() if not value]:
        delattr(model.generation_config, name)
    begins, writes = heard_by_decoder(model)
    ids = [token.id for token in runner(**settings).capture(CaptureRequest(sound=tone())).tokens]
    assert ids[: len(begins)] == begins
    assert ids[len(begins) :][: len(writes)] == [one for one in writes if one != EOS][: len(ids)]
    assert len(writes) > 3


def test_a_target_stands_after_the_tokens_of_the_task():
    capture = runner().capture(ASKED)
    ids = [token.id for token in capture.tokens]
    assert ids[0] == START
    assert ids[1] in (ENGLISH, GERMAN)
    assert ids[2:4] == [TRANSCRIBE, NO_TIMES]
    assert ids[4:] == byte_tokenizer()(f" {TARGET}")["input_ids"]
    assert capture.text == f" {TARGET}"
    followed = runner().capture(CaptureRequest(sound=tone(), target="", continuation=tuple(ids[1:])))
    for one, other in zip(three(capture), three(followed), strict=True):
        assert torch.equal(weights(one, 1), weights(other, 1))


def test_another_sound_is_another_request_of_any_rate():
    held = runner()
    first, second = (held.capture(replace(ASKED, sound=tone(pitch=pitch))) for pitch in (200.0, 900.0))
    assert not torch.allclose(first.logits(-1), second.logits(-1), atol=1e-3)
    assert repr(first.request) != repr(second.request)  # what pictures of it are kept by
    other = held.capture(replace(ASKED, sound=tone(rate=44_100)))  # the same tone, recorded at another rate
    torch.testing.assert_close(other.logits(-1), held.capture(ASKED).logits(-1), atol=0.05, rtol=0.01)


@pytest.mark.parametrize("sampling", [GREEDY, Sampling(seed=3)])
def test_every_step_of_a_generation_is_the_capture_of_what_is_written(sampling):
    held = runner()
    steps = list(held.generate(GenerateRequest(sound=tone(), max_new_tokens=4, sampling=sampling)))
    assert steps
    for step in steps:
        own = held.capture(step.capture.request)
        assert [token.id for token in own.tokens] == [token.id for token in step.capture.tokens]
        for one, other in zip(three(own), three(step.capture), strict=True):
            torch.testing.assert_close(weights(one, 1), weights(other, 1), atol=1e-6, rtol=0)
        torch.testing.assert_close(step.logits, own.logits(step.position - 1), atol=1e-5, rtol=0)


def test_beams_score_as_the_model_itself_does():
    held = runner()
    found = held.submit(Beams(GenerateRequest(sound=tone(), target=TARGET), 3)).result()
    best = found.ranking[0].beam
    forced = held.capture(CaptureRequest(sound=tone(), target="", continuation=(*found.prompt[1:], *best.ids)))
    at = len(found.prompt) - 1
    for place, log_prob in enumerate(best.log_probs):
        own = torch.log_softmax(forced.logits(at + place), 0)[best.ids[place]]
        assert log_prob == pytest.approx(float(own), abs=1e-4)


def test_a_race_ends_alike_and_the_cache_holds_all_frames():
    held = runner()
    steps = list(held.race(GenerateRequest(sound=tone(), target=TARGET, max_new_tokens=3)))
    assert all(step.cached.id == step.uncached.id for step in steps)
    layers = held.submit(CacheLayers(replace(ASKED, attention="cross"))).result()
    assert [layer.k_shape[1] for layer in layers] == [FRAMES] * 3
    own = held.submit(CacheLayers(replace(ASKED, attention="decoder"))).result()
    assert [layer.k_shape[1] for layer in own] == [4 + 1 + len(TARGET)] * 3


def test_heads_that_are_switched_off_are_told_by_a_forward_of_the_whole_model():
    held = runner()
    for attention in ("encoder", "decoder", "cross"):
        request = replace(ASKED, attention=attention)
        answers = held.submit(WhichHeads(request, 1, 65)).result()
        assert answers.ablated is not None
        off = held.capture(replace(request, edits=(OfAttention(attention, ScaledHead(1, 2, 0.0)),)))
        plain = held.capture(request)
        change = [torch.log_softmax(one.attention("decoder").logits(-1).double(), 0)[65] for one in (off, plain)]
        assert float(answers.ablated[2]) == pytest.approx(float(change[0] - change[1]), abs=1e-4)


def test_the_heads_of_another_sound_can_be_put_in_place():
    held = runner()
    other = replace(ASKED, sound=tone(pitch=900.0), attention="cross")
    found = held.submit(PatchHeads(replace(ASKED, attention="cross"), other, 1, None, (65, 66))).result()
    assert found.abs().max() > 1e-6


def test_its_layers_are_drawn_and_add_up():
    held = runner()
    made = held.submit(WhatItIsMadeOf()).result()
    assert made.n_parameters == held.info.n_parameters
    for attention in ("encoder", "decoder"):
        request = replace(ASKED, attention=attention)
        added = held.submit(StreamAdditions(request, 3)).result()
        total = added.vectors.double().sum(0)
        leaves = held.capture(request).residual(held.capture(request).n_layers)[3].double()
        torch.testing.assert_close(total, leaves, atol=1e-4, rtol=1e-5)
        units = held.submit(FeedForwardUnits(request, 1, 3, 4)).result()
        assert (len(units.top), units.active.shape[1]) == (4, len(held.capture(request).tokens))
    assert held.submit(LogitLens(ASKED, 3)).result().ids.shape[0] == 4
    learned = held.submit(TrainingStep(ASKED, (1e-3,))).result()
    assert learned.after.mean() < learned.before.mean()
    assert len(learned.before) == 3 + 1 + len(TARGET)  # the tokens of the task too
    table = held.submit(LearnedPositions()).result()
    assert table is not None
    assert torch.equal(table, whisper()().model.decoder.embed_positions.weight.float())


def test_it_comes_back_from_bytes():
    held = runner()
    capture = held.capture(replace(ASKED, attention="cross"))
    data = wire.to_bytes(capture)
    back = wire.from_bytes(data, asked=held)
    assert back.request == capture.request
    assert back.keys == capture.keys
    for one, other in zip(three(capture), three(back), strict=True):
        assert torch.equal(weights(one, 0), weights(other, 0))
    assert data.count(ASKED.sound.data if ASKED.sound else b"") == 1  # of the three captures together


def test_what_cannot_be_asked_says_so():
    held = runner()
    with pytest.raises(NoSound, match="whisper listens: without a sound"):
        held.capture(CaptureRequest())
    with pytest.raises(ListensOnly, match="it reads sound, not text"):
        held.capture(CaptureRequest("a text", sound=tone()))
    with pytest.raises(SoundTooLong, match=r"lasts 3\.5 seconds, and up to 3 can"):
        held.capture(CaptureRequest(sound=tone(3.5)))
    with pytest.raises(ContextFull):
        held.capture(replace(ASKED, target="a" * 70))
    with pytest.raises(NoAttribution):
        held.capture(ASKED).direct_logits(0, 0, 0)
    for name in ("default", "translator"):
        with pytest.raises(ReadsTextOnly, match="reads text, not sound"):
            load_runner(name).capture(CaptureRequest("A cat", sound=tone()))


def test_it_is_loaded_from_its_folder(tmp_path):
    folder = save_whisper(tmp_path / "whisper")
    for guarded in (False, True):
        held = load(str(folder), device="cpu", sandboxed=guarded)
        assert (held.info.hears, held.info.max_tokens) == (3.0, 64)
        ours, theirs = (one.capture(ASKED) for one in (held, runner()))
        assert torch.equal(ours.logits(-1), theirs.logits(-1))


def test_a_folder_whose_sounds_do_not_fit_is_refused(tmp_path):
    folder = save_whisper(tmp_path / "whisper")
    file = folder / "preprocessor_config.json"
    own = file.read_text("utf-8")
    for wrong, words in (
        (own.replace('"chunk_length": 3', '"chunk_length": 2'), "has 2 as chunk_length"),
        (own.replace('"n_fft": 400', '"n_fft": 4000000000'), "has 4000000000 as n_fft"),
        (own.replace('"feature_size": 16', '"feature_size": "16"'), "has 16 as feature_size"),
        (own.replace('"feature_size": 16', '"feature_size": 80'), "has 80 as feature_size"),
        (own.replace('"dither": 0.0', '"dither": 0.1'), "adds noise to every sound"),
        (own.replace("WhisperFeatureExtractor", "ClapFeatureExtractor"), "preprocessor_config.json is missing"),
        ("[]", "is not a JSON object"),
    ):
        assert wrong != own
        file.write_text(wrong, "utf-8")
        assert words in refused(folder, ModelIncomplete)
    file.unlink()
    assert "preprocessor_config.json is missing" in refused(folder, ModelIncomplete)
    (folder / "processor_config.json").write_text(f'{{"feature_extractor": {own}}}', "utf-8")
    assert load(str(folder), device="cpu").info.hears == 3.0
    change_config(folder, num_mel_bins=17)
    assert "has 16 as feature_size" in refused(folder, ModelIncomplete)


def test_the_tone_that_is_made_here_fits_a_published_model():
    assert (rising_tone().seconds, rising_tone().rate) == (2.0, 16_000)
