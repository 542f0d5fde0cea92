"""Edits of patterns, keys and heads: equal to what plain hooks and plain weights do to transformers' own model."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from attention import masks
from attention.patterns import BY_NAME, PATTERNS
from model_runner import CaptureRequest, GenerateRequest
from model_runner.edits import (
    Blocked,
    Edit,
    Masked,
    MeanHead,
    ScaledHead,
    SharedKeys,
    SharpenedHead,
    SwappedHeads,
    check_cells,
)
from model_runner.errors import (
    EditInvalid,
    EditNotPossible,
    EditsContradict,
    NoSuchPlace,
    NoWeights,
    RunnerError,
)
from model_runner.layer_edit import mean_pooled
from model_runner.local.runner import LocalRunner
from tests.model_runner.cases import FAMILY, TEXT, runner_of
from tests.model_runner.tiny import D_HEAD, N_HEADS, byte_tokenizer, tiny

IDS = byte_tokenizer()(TEXT).input_ids
TOKENS = len(IDS)
WHOLE = slice(0, TOKENS)
CLOSE = 1e-5  # float32, see tests/model_runner/cases.py
CAUSAL = torch.ones(TOKENS, TOKENS, dtype=torch.bool).tril()


def llama(**config: object):
    return tiny("llama", **{"num_key_value_heads": 2, **config})()


def runner(**config: object) -> LocalRunner:
    return LocalRunner(llama(**config), byte_tokenizer(), name="llama")


def all_logits(runner: LocalRunner, *edits: Edit) -> Tensor:
    captured = runner.capture(CaptureRequest(text=TEXT, edits=edits))
    return torch.stack([captured.logits(position) for position in range(TOKENS)])


def plain_logits(model: nn.Module, mask: Tensor | None = None) -> Tensor:
    with torch.no_grad():
        return model(torch.tensor([IDS]), attention_mask=None if mask is None else mask[None, None]).logits[0]


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_a_pattern_on_all_layers_is_that_mask_given_to_transformers(pattern):
    rule = pattern.rule({}) if pattern.ahead else masks.And(masks.Causal(), pattern.rule({}))
    expected = plain_logits(llama(), masks.tile(rule, WHOLE, WHOLE))
    assert (all_logits(runner(), Masked(pattern.name)) - expected).abs().max() <= CLOSE


def test_a_pattern_on_chosen_layers_leaves_the_others_as_they_were():
    captured = runner().capture(CaptureRequest(text=TEXT, edits=(Masked("window", (("window", 3),), layers=(1,)),)))
    seen = [int((captured.weights(layer, 0) > 0).sum()) for layer in range(3)]
    assert seen == [int(CAUSAL.sum()), BY_NAME["window"].kept_cells(TOKENS, {"window": 3}), int(CAUSAL.sum())]
    assert captured.verify(1).ok


def test_a_pattern_on_chosen_heads_is_a_mask_of_those_heads():
    window = masks.tile(masks.And(masks.Causal(), masks.Recent(3)), WHOLE, WHOLE)
    mask = torch.stack([window if head in (1, 2) else CAUSAL for head in range(N_HEADS)])
    model = llama()
    with torch.no_grad():
        expected = model(torch.tensor([IDS]), attention_mask=mask[None]).logits[0]
    edit = Masked("window", (("window", 3),), heads=(1, 2))
    one = runner()
    assert (all_logits(one, edit) - expected).abs().max() <= CLOSE
    captured = one.capture(CaptureRequest(text=TEXT, edits=(edit,)))
    for head in range(N_HEADS):
        assert torch.equal(captured.weights(0, head) > 0, mask[head])
    assert captured.verify(0).ok
    assert torch.equal(captured.record(0).mask.tile(WHOLE, WHOLE, torch.device("cpu")), CAUSAL)  # what any head sees


def test_a_blocked_cell_is_hidden_and_its_row_adds_up_again():
    edit = Blocked(((5, 2), (6, 2)), layers=(0,), heads=(1,))
    captured = runner().capture(CaptureRequest(text=TEXT, edits=(edit,)))
    weights = captured.weights(0, 1)
    assert [(q, k) for q, k in (CAUSAL & (weights == 0)).nonzero().tolist()] == [(5, 2), (6, 2)]
    assert (weights.sum(-1) - 1).abs().max() <= CLOSE
    assert (captured.weights(0, 0)[5, 2], captured.weights(1, 1)[5, 2]) > (0, 0)


@pytest.mark.parametrize("heads", [(1,), None], ids=["one head", "all heads"])
@pytest.mark.parametrize("name", ["llama", "gemma2", "gpt-oss"])
def test_a_row_that_sees_nothing_passes_nothing_on(name, heads):
    edit = Blocked(tuple((4, key) for key in range(5)), (0,), heads)
    captured = runner_of(FAMILY[name]).capture(CaptureRequest(text=TEXT, edits=(edit,)))
    for head in heads or range(N_HEADS):
        assert not captured.weights(0, head, queries=slice(4, 5)).any()
        assert not captured.record(0).output[4, head].any()
    assert captured.record(0).output[5].abs().amin(dim=-1).all()
    assert captured.verify(0).ok


@pytest.mark.parametrize("name", ["llama", "gemma2", "gpt-oss", "deepseek-v3", "gpt-neox"])
def test_ablating_a_head_is_zeroing_its_slice_before_the_output_projection(name):
    family, layer, head = FAMILY[name], 1, 2
    plain, projection = family.build(), {"gpt-neox": "dense"}.get(name, "o_proj")
    attention = [module for path, module in plain.named_modules() if path.endswith(projection)][layer]
    width = attention.weight.shape[1] // N_HEADS

    def zero(_module: nn.Module, args: tuple[Tensor]) -> tuple[Tensor]:
        given = args[0].clone()
        given[..., head * width : (head + 1) * width] = 0
        return (given,)

    attention.register_forward_pre_hook(zero)
    assert (all_logits(runner_of(family), ScaledHead(layer, head)) - plain_logits(plain)).abs().max() <= CLOSE


def test_ablating_is_exact():
    one = runner()
    edited, plain = (one.capture(CaptureRequest(text=TEXT, edits=edits)) for edits in ((ScaledHead(2, 1),), ()))
    assert torch.equal(edited.record(2).output, plain.record(2).output)  # what attention returned is kept as it was
    passed = plain.record(2).output.clone()
    passed[:, 1] = 0.0
    assert torch.equal(edited.record(2).head_output_edited, passed)
    assert edited.direct_logits(2, 1, -1).abs().max() == 0.0


def test_scaled_mean_and_swapped_heads_pass_on_what_they_say():
    one = runner()
    output = one.capture(CaptureRequest(text=TEXT)).record(1).output
    edits = (ScaledHead(1, 0, 0.5), MeanHead(1, 1), SwappedHeads(1, 2, 3))
    captured = one.capture(CaptureRequest(text=TEXT, edits=edits))
    passed = captured.record(1).head_output_edited
    assert torch.equal(passed[:, 0], output[:, 0] * 0.5)
    assert (passed[:, 1] - output[:, 1].mean(0)).abs().max() <= 1e-6
    assert torch.equal(passed[:, 2], output[:, 3])
    assert torch.equal(passed[:, 3], output[:, 2])
    assert captured.verify(1).ok


def test_swapping_heads_is_swapping_their_columns_of_the_output_projection():
    plain = llama()
    weight = plain.model.layers[1].self_attn.o_proj.weight
    with torch.no_grad():
        parts = list(weight.split(D_HEAD, dim=1))
        parts[0], parts[3] = parts[3], parts[0]
        weight.copy_(torch.cat(parts, dim=1))
    assert (all_logits(runner(), SwappedHeads(1, 0, 3)) - plain_logits(plain)).abs().max() <= CLOSE


@pytest.mark.parametrize("temperature", [0.25, 3.0])
def test_a_sharpened_head_is_the_softmax_of_its_scores_over_the_temperature(temperature):
    one = runner()
    scores = one.capture(CaptureRequest(text=TEXT)).scores(0, 2)
    edited = one.capture(CaptureRequest(text=TEXT, edits=(SharpenedHead(0, 2, temperature),)))
    assert (edited.weights(0, 2) - torch.softmax(scores / temperature, dim=-1)).abs().max() <= CLOSE
    assert torch.equal(edited.weights(0, 1), one.capture(CaptureRequest(text=TEXT)).weights(0, 1))
    assert edited.verify(0).ok


@pytest.mark.parametrize("name", ["llama-yarn", "phi", "deepseek-v3"])  # the last two turn a part of each head
def test_a_sharpened_head_is_rotated_as_it_was(name):
    one = runner_of(FAMILY[name])
    plain, edited = (one.capture(CaptureRequest(text=TEXT, edits=made)) for made in ((), (SharpenedHead(0, 1, 0.5),)))
    before = plain.q_unrotated(0)
    wanted = torch.stack([before[head] / (0.5 if head == 1 else 1) for head in range(len(before))])
    assert (edited.q_unrotated(0) - wanted).abs().max() <= 1e-5 * wanted.abs().max()
    step = next(iter(one.generate(GenerateRequest(TEXT, max_new_tokens=1, edits=(SharpenedHead(0, 1, 0.5),)))))
    assert (step.capture.q_unrotated(0)[:, :TOKENS] - wanted).abs().max() <= 1e-5 * wanted.abs().max()


@pytest.mark.parametrize("kv_heads", [1, 2])
def test_shared_keys_of_the_first_layer_are_the_means_of_their_groups(kv_heads):
    one = runner(num_key_value_heads=4)
    plain, edited = (one.capture(CaptureRequest(text=TEXT, edits=edits)) for edits in ((), (SharedKeys(kv_heads),)))
    for part in ("k", "v"):
        heads = getattr(plain, part)(0)
        for head in range(4):
            size = 4 // kv_heads
            group = heads[head // size * size : head // size * size + size].double().mean(0)
            assert (getattr(edited, part)(0)[head] - group).abs().max() <= 1e-6
    assert all(edited.verify(layer).ok for layer in range(3))
    assert torch.equal(mean_pooled(plain.k(0)[None], 4)[0], plain.k(0))


def test_shared_keys_and_values_are_a_model_with_averaged_projections():
    """Rotation and projection are linear, so a head with the mean of the weights has the mean of the keys."""
    plain = llama(num_key_value_heads=4)
    with torch.no_grad():
        for layer in plain.model.layers:
            for name in ("k_proj", "v_proj"):
                weight = getattr(layer.self_attn, name).weight
                weight.copy_(mean_pooled(weight.reshape(1, 4, D_HEAD, -1), 2).reshape(weight.shape))
    assert (all_logits(runner(num_key_value_heads=4), SharedKeys(2)) - plain_logits(plain)).abs().max() <= CLOSE


@pytest.mark.parametrize(
    "edits, error, said",
    [
        ((ScaledHead(3, 0),), NoSuchPlace, "3"),
        ((ScaledHead(0, 4),), NoSuchPlace, "4"),
        ((SwappedHeads(0, 1, 9),), NoSuchPlace, "9"),
        ((Masked("window", layers=(7,)),), NoSuchPlace, "7"),
        ((ScaledHead(0, 1), MeanHead(0, 1)), EditsContradict, "L0H1"),
        ((ScaledHead(0, 1), SwappedHeads(0, 0, 1)), EditsContradict, "L0H1"),
        ((SharpenedHead(0, 1, 2.0), SharpenedHead(0, 1, 3.0)), EditsContradict, "L0H1"),
        ((SharedKeys(3),), EditNotPossible, "evenly"),
        ((SharedKeys(1), SharedKeys(2)), EditNotPossible, "one way"),
    ],
)
def test_what_does_not_fit_the_model_or_itself_is_refused(edits, error, said):
    with pytest.raises(error, match=said):
        runner().capture(CaptureRequest(text=TEXT, edits=edits))


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: Masked("window", (("window", 0),)), "The window is 0; it must be at least 1."),
        (lambda: Masked("spiral"), "no pattern of that name"),
        (lambda: Masked("window", (("nonsense", 2),)), "no number named nonsense"),
        (lambda: Blocked(()), "no cell is chosen"),
        (lambda: Blocked(((3, -1),)), "counted from 0"),
        (lambda: SharedKeys(0), "must be at least 1"),
        (lambda: ScaledHead(0, 0, float("nan")), "finite"),
        (lambda: SharpenedHead(0, 0, 0.0), "positive"),
    ],
)
def test_an_edit_that_means_nothing_is_refused(make, said):
    with pytest.raises(RunnerError, match=said) as caught:
        make()
    assert isinstance(caught.value, EditInvalid | EditNotPossible)


def test_a_layer_without_softmax_attention_cannot_be_edited():
    mixed = next(family for family in FAMILY.values() if not set(family.kinds) <= {"full", "sliding", "chunked"})
    layer = next(i for i in range(len(mixed.kinds)) if i not in mixed.attention_layers)
    with pytest.raises(NoWeights):
        runner_of(mixed).capture(CaptureRequest(text=TEXT, edits=(ScaledHead(layer, 0),)))


def test_a_soft_capped_head_is_not_sharpened_by_a_wrong_formula():
    with pytest.raises(EditNotPossible, match="soft-capped"):
        runner_of(FAMILY["gemma2"]).capture(CaptureRequest(text=TEXT, edits=(SharpenedHead(0, 0, 2.0),)))


@pytest.mark.parametrize(
    "edit, said", [(MeanHead(0, 1), "no mean yet"), (Masked("prefix", (("length", 16),)), "see later ones")]
)
def test_what_needs_the_whole_text_is_captured_and_not_continued(edit, said):
    assert runner().capture(CaptureRequest(text=TEXT, edits=(edit,))).verify(0).ok
    with pytest.raises(EditNotPossible, match=said):
        next(iter(runner().generate(GenerateRequest(text=TEXT, edits=(edit,)))))


@pytest.mark.parametrize("pattern", [pattern for pattern in PATTERNS if not pattern.ahead], ids=lambda one: one.name)
def test_a_text_grown_under_a_pattern_is_the_whole_text_read_under_it(pattern):
    edits = (Masked(pattern.name),)
    *_, last = runner().generate(GenerateRequest(text=TEXT[:6], max_new_tokens=6, edits=edits))
    ids = tuple(token.id for token in last.capture.tokens)[-6:]
    whole = runner().capture(CaptureRequest(text=TEXT[:6], continuation=ids, edits=edits))
    for layer in range(whole.n_layers):
        assert (last.capture.residual(layer) - whole.residual(layer)).abs().max() <= CLOSE
        assert last.capture.verify(layer).ok


def test_cells_beyond_the_text_are_told():
    edits = (ScaledHead(0, 0), Blocked(((3, 0), (9, 1))))
    check_cells(edits, 10)
    with pytest.raises(NoSuchPlace, match="9"):
        check_cells(edits, 9)
