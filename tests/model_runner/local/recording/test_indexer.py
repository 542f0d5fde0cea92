"""Keys that an indexer chooses: as the modeling code itself scores and chooses them, of any text, grown or edited."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from attention import masks
from model_runner.capture import Capture
from model_runner.edits import Blocked, ChosenKeys, Edit, Masked
from model_runner.errors import EditInvalid, EditNotPossible, ForwardFails, NoIndexer, NotUnderstood
from model_runner.local.recording import indexer
from model_runner.questions import NextLogits
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.wire import from_bytes, to_bytes
from tests.model_runner.cases import FAMILY, TEXT, case_of, runner_of, shared_runner
from tests.model_runner.families import INDEXED as INDEXED_SIZES
from tests.model_runner.families import SHARED_CHOICE
from tests.model_runner.stored import stored_tensors
from tests.model_runner.tiny import byte_tokenizer, tiny

INDEXED = ("deepseek-v3.2", "glm-moe-dsa", "axk2", "dots3-note", "hy-v4")
CHOOSING = dict.fromkeys(INDEXED, (0, 1, 2)) | {"dots3-note": (0, 2)}  # layers whose keys are chosen
OWN = dict.fromkeys(INDEXED, (0, 1, 2)) | dict.fromkeys(("glm-moe-dsa", "dots3-note", "hy-v4"), (0, 2))
TOP_K = 5
SHORT = "abc"  # shorter than what is chosen
CLOSE = 1e-5  # float32, see tests/model_runner/cases.py
every_family = pytest.mark.parametrize("name", INDEXED)


class _Scored(TorchFunctionMode):
    """What indexers choose from: the three-dimensional tensors whose largest numbers are asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.scores: list[Tensor] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is Tensor.topk and args[0].dim() == 3 and len(args[0]) == 1:  # experts are chosen of a token each
            self.scores.append(args[0][0])
        return func(*args, **(kwargs or {}))


def ids_of(text: str) -> Tensor:
    return torch.tensor([byte_tokenizer()(text).input_ids])


@torch.no_grad()
def theirs(name: str, text: str = TEXT, top_k: int | None = TOP_K) -> tuple[Any, list[Tensor]]:
    """The modeling code's own eager forward, its ``index_topk`` this, and the index scores that it chose by."""
    model: Any = FAMILY[name].build()
    for module in model.modules():
        if hasattr(module, "index_topk"):
            module.index_topk = 10**6 if top_k is None else top_k
    model.set_attn_implementation("eager")
    with _Scored() as scored:
        output = model(ids_of(text), output_attentions=True)
    return output, scored.scores


def visible(n_tokens: int) -> Tensor:
    return torch.ones(n_tokens, n_tokens, dtype=torch.bool).tril()


@every_family
def test_index_scores_are_those_that_the_model_chose_by(name: str) -> None:
    capture, scores = case_of(name).capture, theirs(name)[1]
    assert len(scores) == len(OWN[name])
    for layer, expected in zip(OWN[name], scores, strict=True):
        found, seen = capture.index_scores(layer), visible(len(capture.tokens))
        assert torch.equal(found.isfinite(), seen)
        assert (found - expected)[seen].abs().max() <= CLOSE
        tile = capture.index_scores(layer, queries=slice(4, 9), keys=slice(2, 7))
        torch.testing.assert_close(tile, found[4:9, 2:7], atol=CLOSE, rtol=0)


@every_family
def test_chosen_keys_are_those_of_the_largest_index_scores(name: str) -> None:
    capture, scores = case_of(name).capture, theirs(name)[1]
    for layer, expected in zip(OWN[name], scores, strict=True):
        chosen = capture.chosen_keys(layer)
        for query, row in enumerate(expected[:, : len(capture.tokens)]):
            numbers = {int(key) for key in row.topk(TOP_K).indices if key <= query}
            assert {int(key) for key in chosen[query].nonzero()} == numbers
        assert torch.equal(chosen[7:9, 1:6], capture.chosen_keys(layer, queries=slice(7, 9), keys=slice(1, 6)))
        assert (capture.weights(layer, 1)[~chosen] == 0).all()


@pytest.mark.parametrize("name", ["glm-moe-dsa", "hy-v4"])
def test_layers_that_share_a_choice_say_whose_it_is_and_keep_it_once(name: str) -> None:
    capture = case_of(name).capture
    assert [capture.choosing_layer(layer) for layer in range(3)] == [0, 0, 2]
    assert torch.equal(capture.index_scores(1), capture.index_scores(0))
    assert torch.equal(capture.chosen_keys(1), capture.chosen_keys(0))
    first, second = capture.record(0).choice, capture.record(1).choice
    assert first is not None
    assert second is first


@pytest.mark.parametrize("name", ["deepseek-v3.2", "hy-v4"])
def test_keys_with_equal_scores_are_those_that_the_model_took(name: str) -> None:
    """One indexer head gives half of all keys exactly nothing: which of them are read is for its own code to say."""
    family = FAMILY[name]
    settings = INDEXED_SIZES | (SHARED_CHOICE if name == "hy-v4" else {}) | {"index_n_heads": 1}
    build = tiny("deepseek_v32" if name == "deepseek-v3.2" else "hy_v4", **settings)
    capture = runner_of(dataclasses.replace(family, build=build)).capture(CaptureRequest(TEXT))
    model: Any = build()
    model.set_attn_implementation("eager")
    with torch.no_grad():
        output = model(ids_of(TEXT), output_attentions=True)
    scores = capture.index_scores(0)[-1]
    assert (scores == scores.topk(TOP_K).values[-1]).sum() > 1  # the last one chosen has others like it
    for layer in range(3):
        ours = capture.layer_weights(layer, slice(0, len(capture.tokens)))
        assert (ours - output.attentions[layer][0]).abs().max() <= CLOSE
        assert torch.equal(ours[0] > 0, capture.chosen_keys(layer))


@every_family
def test_nothing_of_queries_times_keys_is_kept(name: str) -> None:
    text = TEXT * 8
    capture = shared_runner(name).capture(CaptureRequest(text))
    n_tokens = len(capture.tokens)
    assert n_tokens > 250
    for layer in CHOOSING[name]:
        record = capture.record(layer)
        rule = masks.chosen_of(record.mask.own)
        assert rule is not None
        assert rule.keys.shape == (n_tokens - TOP_K, TOP_K)
        assert rule.keys.dtype == torch.int32
    widest = max(tensor.numel() for record in capture.records for tensor in stored_tensors(record))
    assert widest <= n_tokens * 16 * 8  # the vectors of the indexer's heads; a number a cell would be twice that
    assert capture.nbytes >= sum(tensor.nbytes for tensor in capture.record(0).chosen)


@every_family
def test_a_text_shorter_than_what_is_chosen_reads_every_key(name: str) -> None:
    capture, output = shared_runner(name).capture(CaptureRequest(SHORT)), theirs(name, SHORT)[0]
    logits = torch.stack([capture.logits(position) for position in range(3)])
    assert (logits - output.logits[0]).abs().max() <= CLOSE
    for layer in CHOOSING[name]:
        assert masks.chosen_of(capture.record(layer).mask.own) is None
        assert torch.equal(capture.chosen_keys(layer), visible(3))
        assert capture.missed_share(layer, 0).tolist() == [0, 0, 0]


@every_family
@pytest.mark.parametrize("text", [SHORT, TEXT])
def test_a_text_that_grows_has_the_choices_of_the_whole_one(name: str, text: str) -> None:
    runner = runner_of(FAMILY[name])
    runner.engine.model.generation_config.eos_token_id = None
    for step in runner.generate(GenerateRequest(text, max_new_tokens=8)):
        grown, whole = step.capture, runner.capture(step.capture.request)
        assert len(grown.tokens) == step.position + 1
        for layer in CHOOSING[name]:
            assert torch.equal(grown.chosen_keys(layer), whole.chosen_keys(layer))
            torch.testing.assert_close(grown.index_scores(layer), whole.index_scores(layer), atol=CLOSE, rtol=0)
            assert grown.choosing_layer(layer) == whole.choosing_layer(layer)
            assert grown.verify(layer).ok
            for head in range(grown.n_heads):
                assert (grown.weights(layer, head) - whole.weights(layer, head)).abs().max() <= CLOSE


@every_family
@pytest.mark.parametrize("top_k", [1, 2, 9, 1000, None])
def test_the_edit_is_another_top_k_of_the_modeling_code(name: str, top_k: int | None) -> None:
    runner = shared_runner(name)
    capture, (output, _) = runner.capture(CaptureRequest(TEXT, edits=(ChosenKeys(top_k),))), theirs(name, TEXT, top_k)
    logits = torch.stack([capture.logits(position) for position in range(len(capture.tokens))])
    assert (logits - output.logits[0]).abs().max() <= CLOSE
    for layer in FAMILY[name].attention_layers:
        ours = capture.layer_weights(layer, slice(0, len(capture.tokens)))
        assert (ours - output.attentions[layer][0]).abs().max() <= CLOSE
        assert capture.verify(layer).ok
    plain = case_of(name).capture
    again = runner.capture(CaptureRequest(TEXT))
    assert torch.equal(again.logits(-1), plain.logits(-1))  # the model is as it was
    assert (capture.logits(-1) - plain.logits(-1)).abs().max() > 1e-3


def test_the_edit_holds_while_a_text_grows() -> None:
    runner = runner_of(FAMILY["deepseek-v3.2"])
    runner.engine.model.generation_config.eos_token_id = None
    edits = (ChosenKeys(2),)
    for step in runner.generate(GenerateRequest(SHORT, max_new_tokens=6, edits=edits)):
        output = theirs("deepseek-v3.2", step.capture.text, 2)[0] if step.capture.text.isascii() else None
        whole = runner.capture(step.capture.request)
        assert step.capture.request.edits == edits
        for layer in range(3):
            assert torch.equal(step.capture.chosen_keys(layer), whole.chosen_keys(layer))
            if output is not None:
                ours = step.capture.layer_weights(layer, slice(0, len(step.capture.tokens)))
                assert (ours - output.attentions[layer][0]).abs().max() <= CLOSE


def test_a_forward_that_fails_leaves_the_number_of_keys_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = runner_of(FAMILY["deepseek-v3.2"])
    modules = indexer.indexers_of(runner.engine.model)

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("in between")

    with monkeypatch.context() as patch:
        patch.setattr(runner.engine.model.model.norm, "forward", fails)
        with pytest.raises(ForwardFails, match="in between"):
            runner.capture(CaptureRequest(TEXT, edits=(ChosenKeys(2),)))
    assert [module.index_topk for module in modules] == [TOP_K] * 3


@pytest.mark.parametrize("other", [Blocked(((20, 20), (9, 0)), (1,)), Masked("window", (("window", 4),))])
def test_other_edits_hide_among_the_chosen_keys(other: Edit) -> None:
    plain = case_of("deepseek-v3.2").capture
    capture = shared_runner("deepseek-v3.2").capture(CaptureRequest(TEXT, edits=(other,)))
    n_tokens, layer = len(capture.tokens), 1
    assert capture.verify(layer).ok
    hidden = torch.zeros(n_tokens, n_tokens, dtype=torch.bool)
    if isinstance(other, Blocked):
        hidden[tuple(zip(*other.cells, strict=True))] = True
    else:
        hidden = visible(n_tokens).tril(-4)
    kept = capture.chosen_keys(layer) & ~hidden
    assert kept.sum() < capture.chosen_keys(layer).sum()
    assert torch.equal(capture.weights(layer, 0) > 0, kept)
    assert plain.chosen_keys(0).equal(capture.chosen_keys(0))  # of the first layer nothing else decides


@every_family
def test_the_missed_share_is_that_of_a_softmax_over_all_keys(name: str) -> None:
    capture = case_of(name).capture
    for layer in CHOOSING[name]:
        record, chosen = capture.record(layer), capture.chosen_keys(layer).numpy()
        q, k = record.q.double().numpy(), record.k.double().numpy()
        for head in (0, 3):
            found = capture.missed_share(layer, head)
            assert found[:TOP_K].tolist() == [0.0] * TOP_K
            for query in range(len(capture.tokens)):
                row = np.exp([q[head, query] @ k[head, key] * FAMILY[name].scale for key in range(query + 1)])
                sink = 0.0 if record.sinks is None else np.exp(float(record.sinks[head]))
                expected = row[~chosen[query, : query + 1]].sum() / (row.sum() + sink)
                assert abs(float(found[query]) - expected) <= CLOSE
            assert found.max() > 0.1  # or the test would prove nothing
            tile = capture.missed_share(layer, head, queries=slice(8, 12))
            torch.testing.assert_close(tile, found[8:12], atol=CLOSE, rtol=0)


def test_a_capture_as_bytes_has_the_same_choices() -> None:
    capture = case_of("glm-moe-dsa").capture
    again: Capture = from_bytes(to_bytes(capture))
    for layer in range(3):
        assert torch.equal(again.chosen_keys(layer), capture.chosen_keys(layer))
        assert torch.equal(again.index_scores(layer), capture.index_scores(layer))
        assert again.choosing_layer(layer) == capture.choosing_layer(layer)


@every_family
def test_a_forward_that_nobody_records_says_what_the_model_says(name: str) -> None:
    model = shared_runner(name).engine.model
    with torch.no_grad():
        assert (model(ids_of(TEXT)).logits - theirs(name)[0].logits).abs().max() <= CLOSE
    found = shared_runner(name).submit(NextLogits(CaptureRequest(TEXT))).result()
    assert (found - theirs(name)[0].logits[0, -1]).abs().max() <= CLOSE


def test_layers_and_models_without_an_indexer_say_so() -> None:
    asked: Iterable[tuple[Capture, int]] = [(case_of("llama").capture, 0), (case_of("dots3-note").capture, 1)]
    for capture, layer in asked:
        assert not capture.has_indexer(layer)
        for ask in (capture.chosen_keys, capture.index_scores, capture.choosing_layer):
            with pytest.raises(NoIndexer, match=f"Layer {layer} has no indexer"):
                ask(layer)
        with pytest.raises(NoIndexer):
            capture.missed_share(layer, 0)


def test_the_edit_is_refused_of_a_model_without_an_indexer() -> None:
    with pytest.raises(EditNotPossible, match="none of its layers chooses the keys"):
        shared_runner("llama").capture(CaptureRequest(TEXT, edits=(ChosenKeys(3),)))
    with pytest.raises(EditNotPossible, match="changed twice"):
        shared_runner("axk2").capture(CaptureRequest(TEXT, edits=(ChosenKeys(3), ChosenKeys(4))))
    with pytest.raises(EditInvalid, match="must be at least 1"):
        ChosenKeys(0)


def test_an_indexer_that_multiplies_otherwise_still_has_its_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its choice is what it says; its scores are refused, of a text that grows too."""
    expected = case_of("deepseek-v3.2").capture
    monkeypatch.setattr(indexer, "PRODUCTS", set[Any]())
    runner = runner_of(FAMILY["deepseek-v3.2"])
    runner.engine.model.generation_config.eos_token_id = None
    found = runner.capture(CaptureRequest(TEXT))
    for layer in range(3):
        assert torch.equal(found.chosen_keys(layer), expected.chosen_keys(layer))
        with pytest.raises(NotUnderstood, match=f"the indexer of layer {layer}"):
            found.index_scores(layer)
    for step in runner.generate(GenerateRequest(SHORT, max_new_tokens=6)):
        whole = runner.capture(step.capture.request)
        for layer in range(3):
            assert (step.capture.weights(layer, 2) - whole.weights(layer, 2)).abs().max() <= CLOSE
            assert step.capture.verify(layer).ok


def test_scores_that_do_not_come_out_again_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = runner_of(FAMILY["deepseek-v3.2"])
    for module in indexer.indexers_of(runner.engine.model):
        monkeypatch.setattr(module, "softmax_scale", module.softmax_scale)
        module.weights_proj.register_forward_hook(lambda _module, _args, output: output)
    monkeypatch.setattr(indexer.KeyChoice, "scores", lambda self, queries, keys: torch.ones(1, len(self.k)))
    with pytest.raises(NotUnderstood):
        runner.capture(CaptureRequest(TEXT)).index_scores(0)
