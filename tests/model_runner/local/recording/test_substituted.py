"""Variants of the zoo in the place of softmax: exact where they are softmax, kept as maps, or refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from analysis.mask_effect import looks_ahead
from attention.zoo.table import BY_NAME, VARIANTS
from model_runner import CaptureRequest, GenerateRequest
from model_runner.edits import Edit, ScaledHead, SharpenedHead
from model_runner.errors import EditInvalid, EditNotPossible, EditsContradict, NoWeights
from model_runner.local.runner import LocalRunner
from model_runner.questions import NextLogits
from model_runner.rotation_edit import Unrotated
from model_runner.substitution import NoSoftmax, Substituted, TextTooLongForMaps, VariantNotHere
from tests.model_runner.cases import FAMILY, TEXT, runner_of
from tests.model_runner.tiny import N_HEADS, byte_tokenizer

IDS = byte_tokenizer()(TEXT).input_ids
TOKENS = len(IDS)
CLOSE = 1e-5  # float32, see tests/model_runner/cases.py
LAYER, HEAD = 1, 2


def all_logits(runner: LocalRunner, *edits: Edit) -> Tensor:
    captured = runner.capture(CaptureRequest(text=TEXT, edits=edits))
    return torch.stack([captured.logits(position) for position in range(TOKENS)])


# -- identities -------------------------------------------------------------------------------------------------------

SOFTMAX = [  # what each is as exact as
    ("llama", Substituted("flash", (("rows", 5), ("columns", 3))), CLOSE),
    ("llama", Substituted("blocks", (("size", TOKENS),)), CLOSE),
    ("llama", Substituted("differential", (("share", 0),)), CLOSE),
    ("gemma2", Substituted("flash", (("rows", 4), ("columns", 7))), CLOSE),  # soft-capped scores, and a window
    ("gpt-oss", Substituted("flash", (("rows", 4), ("columns", 7))), CLOSE),  # sinks
    ("llama", Substituted("mla", (("rank", TOKENS),)), CLOSE),
    ("gpt2", Substituted("mla", (("rank", TOKENS),)), CLOSE),
    ("gpt2", Substituted("no_positions"), CLOSE),  # it turns nothing
    ("llama", Substituted("dual_chunk", (("chunk", TOKENS),)), CLOSE),
    ("llama", Substituted("dual_chunk", (("chunk", TOKENS - 1), ("local", 1))), CLOSE),  # the last key is 1 away
    ("phi3", Substituted("dual_chunk", (("chunk", TOKENS), ("local", TOKENS))), CLOSE),
    ("bert", Substituted("linformer", (("rank", TOKENS),)), CLOSE),
    (
        "bert",
        Substituted("nystrom", (("landmarks", TOKENS), ("steps", 60)), (1,)),
        1e-3,
    ),  # as far as its inverse is one
]


@pytest.mark.parametrize("family, edit, near", SOFTMAX, ids=lambda value: getattr(value, "variant", None))
def test_a_variant_whose_identity_is_softmax_leaves_the_logits_as_they_were(family, edit, near):
    runner = runner_of(FAMILY[family])
    plain, changed = (runner.capture(CaptureRequest(text=TEXT, edits=edits)) for edits in ((), (edit,)))
    assert (plain.hidden - changed.hidden).abs().max() <= near
    assert changed.record(1).substituted == tuple(range(N_HEADS))


@pytest.mark.parametrize("family", ["llama", "qwen3", "phi3"])
def test_no_positions_in_every_head_is_the_model_without_its_rotation(family):
    runner = runner_of(FAMILY[family])
    unturned, changed = (
        runner.capture(CaptureRequest(text=TEXT, edits=(edit,))) for edit in (Unrotated(), Substituted("no_positions"))
    )
    assert (unturned.hidden - changed.hidden).abs().max() <= CLOSE
    assert (unturned.hidden - runner.capture(CaptureRequest(text=TEXT)).hidden).abs().max() > 10 * CLOSE


# -- what is kept of it -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_the_map_times_the_values_is_what_stands_in_for_softmax(variant, dtype):
    """Or the layer says that it does not explain itself; the weights of the other heads stay softmax."""
    runner = runner_of(FAMILY["llama"], dtype=dtype)
    captured = runner.capture(CaptureRequest(text=TEXT, edits=(Substituted(variant.name, (), (LAYER,), (HEAD,)),)))
    assert [captured.verify(layer).ok for layer in range(3)] == [True] * 3
    assert captured.verify(LAYER).substituted == 1
    assert captured.verify(0).substituted == 0
    weights, record = captured.weights(LAYER, HEAD), captured.record(LAYER)
    head = record.as_head(HEAD, layer=record.layer())
    assert torch.equal(weights, variant.map(head, Substituted(variant.name).numbers).float())
    assert torch.equal(captured.layer_weights(LAYER, slice(3, 9))[HEAD], weights[3:9])
    shares = captured.layer_weights(LAYER, slice(3, 9), shares=True)
    assert (shares >= 0).all()
    assert (shares.sum(-1) <= TOKENS).all()
    moved = record.output.clone()
    moved[5, HEAD] *= 1.5
    assert not replace(captured, records=(None, replace(record, output=moved), None)).verify(LAYER).ok


def test_no_softmax_is_told_of_a_substituted_head():
    captured = runner_of(FAMILY["llama"]).capture(
        CaptureRequest(text=TEXT, edits=(Substituted("linear", (), (LAYER,), (HEAD,)),))
    )
    with pytest.raises(NoSoftmax, match=f"L{LAYER}H{HEAD} .*linear"):
        captured.scores(LAYER, HEAD)
    assert captured.lse(LAYER)[HEAD].isnan().all()
    assert not captured.lse(LAYER)[0].isnan().any()
    assert captured.scores(LAYER, 0).shape == captured.scores(0, HEAD).shape == (TOKENS, TOKENS)


def test_what_cannot_obey_the_mask_is_seen_past_it():
    edit = Substituted("linformer", (("rank", TOKENS),), (LAYER,), (HEAD,))
    plain, changed = (
        runner_of(FAMILY["llama"]).capture(CaptureRequest(text=TEXT, edits=edits)) for edits in ((), (edit,))
    )
    assert looks_ahead(changed)
    assert not looks_ahead(plain)
    seen = [changed.record(LAYER).mask.tile(slice(0, 9), slice(0, 9), torch.device("cpu"), head=h) for h in (0, HEAD)]
    assert torch.equal(seen[0], torch.ones(9, 9, dtype=torch.bool).tril())
    assert seen[1].all()


def test_other_edits_of_the_head_come_after_it():
    runner, edit = runner_of(FAMILY["llama"]), Substituted("linear", (), (LAYER,), (HEAD,))
    ablated = ScaledHead(LAYER, HEAD)
    assert (all_logits(runner, edit, ablated) - all_logits(runner, ablated)).abs().max() <= CLOSE


def test_logits_alone_are_those_of_the_capture():
    runner = runner_of(FAMILY["llama"])
    request = CaptureRequest(text=TEXT, edits=(Substituted("relu"),))
    found = runner.submit(NextLogits(request)).result()
    assert (found - runner.capture(request).logits(-1)).abs().max() <= CLOSE


OF_EACH_KIND = ("linear", "titans", "off_by_one", "differential")  # a kernel, a loop, on the scores, with a second head
GROWN = [  # one of each kind in every run of the tests; that rows stay when a text goes on is tested of all
    *(
        pytest.param("llama", variant, marks=[] if variant.name in OF_EACH_KIND else [pytest.mark.long])
        for variant in VARIANTS
        if not variant.whole
    ),
    *((family, BY_NAME[name]) for family in ("gpt2", "gemma2", "mistral") for name in ("linear", "off_by_one")),
]


@pytest.mark.parametrize("family, variant", GROWN, ids=lambda one: getattr(one, "name", one))
def test_a_head_by_the_cache_is_the_same_head_in_one_forward(family, variant):
    runner = runner_of(FAMILY[family])
    edit = Substituted(variant.name, tuple((one.name, one.usual(5)) for one in variant.parameters), (0, 2), (1, 2))
    *_, last = runner.generate(GenerateRequest(text=TEXT[:9], max_new_tokens=6, edits=(edit,)))
    whole = runner.capture(last.capture.request)
    for layer in range(3):
        grown, read = last.capture.record(layer), whole.record(layer)
        assert torch.allclose(grown.output, read.output, rtol=1e-3, atol=1e-4)
        assert torch.allclose(last.capture.weights(layer, 1), whole.weights(layer, 1), rtol=1e-3, atol=1e-4)
        assert last.capture.verify(layer).ok


# -- what has no place ------------------------------------------------------------------------------------------------


def refused(family: str, edit: Edit, error: type[Exception], words: str, text: str = TEXT) -> None:
    with pytest.raises(error, match=words):
        runner_of(FAMILY[family]).capture(CaptureRequest(text=text, edits=(edit,)))


def test_what_has_no_place_is_one_sentence():
    refused("bert", Substituted("lightning"), VariantNotHere, "this layer is bidirectional")
    refused("gpt2", Substituted("dual_chunk"), VariantNotHere, "this layer has no rotation")
    refused("bert", Substituted("nystrom", (("landmarks", TOKENS + 1),)), VariantNotHere, f"at most {TOKENS}")
    mixed = next(
        family
        for family in FAMILY.values()
        if set(family.kinds) - {"full", "sliding", "chunked"} and family.attention_layers
    )
    without = next(layer for layer in range(3) if layer not in mixed.attention_layers)
    refused(mixed.name, Substituted("linear", (), (without,)), NoWeights, f"Layer {without} has no softmax")
    both = (Substituted("linear", (), (1,)), SharpenedHead(1, 0, 2.0))
    with pytest.raises(EditsContradict, match="L1H0"):
        runner_of(FAMILY["llama"]).capture(CaptureRequest(text=TEXT, edits=both))


def test_a_text_too_long_for_whole_maps_is_one_sentence(monkeypatch):
    monkeypatch.setattr("model_runner.record.LONGEST", TOKENS - 1)
    refused("llama", Substituted("linear"), TextTooLongForMaps, f"{TOKENS} tokens .* up to {TOKENS - 1}")


def test_a_variant_or_number_that_is_not_in_the_table_is_refused():
    with pytest.raises(EditNotPossible, match="no variant"):
        Substituted("square")
    with pytest.raises(EditNotPossible, match="no number named rank"):
        Substituted("linear", (("rank", 3),))
    with pytest.raises(EditInvalid, match="at least 1"):
        Substituted("linformer", (("rank", 0),))


def test_a_length_that_grows_has_to_be_said():
    runner = runner_of(FAMILY["llama"])
    with pytest.raises(EditNotPossible, match="keys in the bias of sigmoid is the length"):
        next(iter(runner.generate(GenerateRequest(text="a b", max_new_tokens=1, edits=(Substituted("sigmoid"),)))))
