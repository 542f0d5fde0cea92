"""Classifiers: their scores are the model's own, and a head's effect on a class is measured as on a token."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from model_runner import CaptureRequest, GenerateRequest
from model_runner.block_questions import LogitLens, StreamAdditions, TrainingStep, WhatItIsMadeOf
from model_runner.errors import NoSuchPlace, RunnerError, ScoresClasses
from model_runner.local.loading.loader import load_runner
from model_runner.local.runner import LocalRunner
from model_runner.questions import Beams, NextLogits, WhichHeads
from model_runner.wire import from_bytes, to_bytes
from tests.model_runner.classifiers import ONE_STACK, TWO_STACKS, classifier, ending_tokenizer
from tests.model_runner.folders import change_config, change_weights
from tests.model_runner.tiny import D_HEAD, N_HEADS, PAD, byte_tokenizer

TEXT = "The film was long."


def runner_of(family: str, **config: object) -> LocalRunner:
    return LocalRunner(classifier(family, **config)(), ending_tokenizer(), name=family)


def plain_scores(family: str, ids: list[int], **config: object) -> Tensor:
    """What a model that nothing of ours has touched says of these tokens."""
    with torch.no_grad():
        return classifier(family, **config)()(input_ids=torch.tensor([ids])).logits[0]


@pytest.mark.parametrize("family", [*ONE_STACK, *TWO_STACKS])
def test_its_class_scores_are_those_of_the_plain_model(family):
    capture = runner_of(family).capture(CaptureRequest(text=TEXT))
    read = capture.attention("encoder") if capture.attentions else capture
    expected = plain_scores(family, [token.id for token in read.tokens])
    assert capture.class_logits is not None
    torch.testing.assert_close(capture.class_logits, expected, atol=1e-5, rtol=0)
    assert all(capture.verify(layer).ok for layer in range(capture.n_layers))


@pytest.mark.parametrize("family", TWO_STACKS)
def test_the_decoder_of_a_classifier_reads_what_its_own_code_gives_it(family):
    model, seen = classifier(family)(), []
    model.base_model.get_decoder().register_forward_pre_hook(
        lambda _, __, given: seen.append(given["input_ids"][0].tolist()), with_kwargs=True
    )
    capture = runner_of(family).capture(CaptureRequest(text=TEXT))
    with torch.no_grad():
        model(input_ids=torch.tensor([[token.id for token in capture.attention("encoder").tokens]]))
    assert [token.id for token in capture.tokens] == seen[0]


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama", "bart", "t5"])
@pytest.mark.parametrize("target", [0, 2])
def test_an_ablated_head_changes_a_class_as_the_model_says_without_it(family, target):
    runner = runner_of(family)
    capture = runner.capture(CaptureRequest(text=TEXT))
    read = capture.attention("encoder") if capture.attentions else capture
    answers = runner.submit(WhichHeads(capture.request, 1, target)).result()
    ids = torch.tensor([[token.id for token in read.tokens]])
    before = torch.log_softmax(plain_scores(family, ids[0].tolist()).double(), dim=-1)[target]
    for head in range(N_HEADS):
        model = classifier(family)()
        _projection(family, model).register_forward_pre_hook(
            lambda _, args, head=head: (_without(args[0], head), *args[1:])
        )
        with torch.no_grad():
            after = torch.log_softmax(model(input_ids=ids).logits[0].double(), dim=-1)[target]
        assert float(answers.ablated[head]) == pytest.approx(float(after - before), abs=1e-5)


def _projection(family: str, model: torch.nn.Module) -> torch.nn.Module:
    """The output projection of the attention of layer 1, of an encoder–decoder's own attention in its decoder."""
    return model.get_submodule(
        {
            "bert": "bert.encoder.layer.1.attention.output.dense",
            "gpt2": "transformer.h.1.attn.c_proj",
            "llama": "model.layers.1.self_attn.o_proj",
            "bart": "model.decoder.layers.1.self_attn.out_proj",
            "t5": "transformer.decoder.block.1.layer.0.SelfAttention.o",
        }[family]
    )


def _without(heads: Tensor, head: int) -> Tensor:
    heads = heads.clone()
    heads[..., head * D_HEAD : (head + 1) * D_HEAD] = 0.0
    return heads


@pytest.mark.parametrize("family", ["gpt2", "llama", "opt"])
def test_the_direct_attributions_of_all_parts_are_the_scores(family):
    """Of the last layer's heads, by hand: through W_O, the final norm as it was, and the score matrix."""
    runner = runner_of(family)
    capture = runner.capture(CaptureRequest(text=TEXT))
    layer = capture.n_layers - 1
    answers = runner.submit(WhichHeads(capture.request, layer, 1)).result()
    assert answers.problems == ()
    model = classifier(family)()
    score: Any = model.get_submodule("score").weight.detach()
    norm, projection = {
        "gpt2": ("transformer.ln_f", "transformer.h.2.attn.c_proj"),
        "llama": ("model.norm", "model.layers.2.self_attn.o_proj"),
        "opt": ("model.decoder.final_layer_norm", "model.decoder.layers.2.self_attn.out_proj"),
    }[family]
    norm, projection = model.get_submodule(norm), model.get_submodule(projection)
    matrix = projection.weight.detach().T if family == "gpt2" else projection.weight.detach()
    stream = capture.residual(capture.n_layers)[-1]
    for head, output in enumerate(capture.record(layer).head_output_edited[-1]):
        written = matrix[:, head * D_HEAD : (head + 1) * D_HEAD] @ output
        if family != "llama":
            written = written - written.mean()
            spread = ((stream - stream.mean()) ** 2).mean()
        else:
            spread = (stream**2).mean()
        eps = getattr(norm, "eps", None) or norm.variance_epsilon
        pushed = score @ (written * norm.weight.detach() / (spread + eps).sqrt())
        assert float(answers.attributed[head]) == pytest.approx(float(pushed[1] - pushed.mean()), abs=1e-4)
        assert float(answers.written[head]) == pytest.approx(
            float((matrix[:, head * D_HEAD : (head + 1) * D_HEAD] @ output).norm()), rel=1e-4
        )


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_a_head_with_a_pooler_tells_ablations_and_says_why_nothing_is_attributed(family):
    runner = runner_of(family)
    answers = runner.submit(WhichHeads(CaptureRequest(text=TEXT), 2, 0)).result()
    assert answers.ablated is not None
    assert answers.ablated.abs().max() > 1e-3
    assert answers.attributed is None
    assert len(answers.problems) == 1


def test_two_labels_that_may_both_hold_are_measured_by_their_own_probability():
    config = {"problem_type": "multi_label_classification"}
    runner = runner_of("gpt2", **config)
    capture = runner.capture(CaptureRequest(text=TEXT))
    assert runner.info.class_scale == "sigmoid"
    answers = runner.submit(WhichHeads(capture.request, 1, 2)).result()
    model = classifier("gpt2", **config)()
    _projection("gpt2", model).register_forward_pre_hook(lambda _, args: (_without(args[0], 3), *args[1:]))
    ids = torch.tensor([[token.id for token in capture.tokens]])
    with torch.no_grad():
        changed = torch.nn.functional.logsigmoid(model(input_ids=ids).logits[0, 2].double())
    own = torch.nn.functional.logsigmoid(capture.class_logits[2].double())
    assert float(answers.ablated[3]) == pytest.approx(float(changed - own), abs=1e-5)


def test_one_class_alone_is_a_number_and_is_changed_in_its_own_unit():
    runner = runner_of("bert", num_labels=1)
    capture = runner.capture(CaptureRequest(text=TEXT))
    assert (runner.info.classes, runner.info.class_scale) == (("LABEL_0",), "number")
    answers = runner.submit(WhichHeads(capture.request, 1, 0)).result()
    model = classifier("bert", num_labels=1)()
    _projection("bert", model).register_forward_pre_hook(lambda _, args: (_without(args[0], 0), *args[1:]))
    with torch.no_grad():
        changed = model(input_ids=torch.tensor([[token.id for token in capture.tokens]])).logits[0, 0]
    assert float(answers.ablated[0]) == pytest.approx(float(changed - capture.class_logits[0]), abs=1e-5)


def test_a_padding_token_at_the_end_moves_the_place_that_is_read():
    """GPT-2's head takes the last token that is no padding: there the heads are attributed."""
    runner = runner_of("gpt2")
    capture = runner.capture(CaptureRequest(text=TEXT, continuation=(PAD, PAD)))
    answers = runner.submit(WhichHeads(capture.request, 2, 1)).result()
    read = len(capture.tokens) - 3
    written = runner.engine.direct_path().written(2, 0, capture.record(2).head_output_edited[read, 0])
    assert answers.written is not None
    assert float(answers.written[0]) == pytest.approx(float(written.norm()), rel=1e-5)


@pytest.mark.parametrize("family", ["bert", "gpt2", "bart"])
def test_questions_for_tokens_are_answered_that_it_scores_classes(family):
    runner, request = runner_of(family), CaptureRequest(text=TEXT)
    capture = runner.capture(request)
    asked = [
        lambda: capture.logits(-1),
        lambda: next(runner.generate(GenerateRequest(text=TEXT))),
        lambda: next(runner.race(GenerateRequest(text=TEXT))),
        lambda: runner.submit(NextLogits(request)).result(),
        lambda: runner.submit(Beams(GenerateRequest(text=TEXT), 2)).result(),
        lambda: runner.submit(LogitLens(request, 3)).result(),
        lambda: runner.submit(TrainingStep(request, (0.1,))).result(),
    ]
    for ask in asked:
        with pytest.raises(RunnerError) as raised:
            ask()
        if not isinstance(raised.value, ScoresClasses):  # what else it lacks may be said first
            assert family != "gpt2", raised.value


@pytest.mark.parametrize("family", TWO_STACKS)
def test_what_a_classifier_of_two_stacks_is_made_of_is_found_by_a_text_that_ends(family):
    runner = runner_of(family)
    made = runner.submit(WhatItIsMadeOf()).result()
    assert sum(block.n_parameters for block in made.blocks) > 0
    added = runner.submit(StreamAdditions(CaptureRequest(text=TEXT, attention="decoder"), 2)).result()
    last = runner.capture(CaptureRequest(text=TEXT)).attention("decoder").residuals[-1]
    assert torch.allclose(added.streams[-1], last.norm(dim=-1), atol=1e-4)


def test_a_class_that_does_not_exist_is_one_sentence():
    runner = runner_of("gpt2")
    with pytest.raises(NoSuchPlace, match="3"):
        runner.submit(WhichHeads(CaptureRequest(text=TEXT), 0, 3)).result()


def test_what_a_classifier_would_have_written_is_refused():
    with pytest.raises(ScoresClasses):
        runner_of("bart").capture(CaptureRequest(text=TEXT, target="lang"))


def test_a_text_without_an_end_is_one_sentence_for_a_head_that_reads_it():
    runner = LocalRunner(classifier("bart")(), byte_tokenizer(), name="bart")
    with pytest.raises(RunnerError):
        runner.capture(CaptureRequest(text=TEXT))


def test_the_scores_come_back_from_bytes():
    capture = runner_of("gpt2").capture(CaptureRequest(text=TEXT))
    back = from_bytes(to_bytes(capture))
    torch.testing.assert_close(back.class_logits, capture.class_logits, atol=0, rtol=0)


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("family", ["bert", "gpt2", "bart"])
def test_a_folder_that_names_a_classifier_opens_as_one(tmp_path: Path, family, guarded):
    _saved(tmp_path, family)
    change_config(tmp_path, id2label={"0": "bad", "1": "<b>so so</b>", "2": "good"})
    runner = load_runner(str(tmp_path), device="cpu", sandboxed=guarded)
    capture = runner.capture(CaptureRequest(text=TEXT))
    read = capture.attention("encoder") if capture.attentions else capture
    assert runner.info.classes == ("bad", "<b>so so</b>", "good")
    expected = plain_scores(family, [token.id for token in read.tokens])
    torch.testing.assert_close(capture.class_logits, expected, atol=1e-5, rtol=0)


def test_a_folder_without_the_weights_of_its_classes_scores_none(tmp_path: Path):
    """What came with no file would be noise."""
    _saved(tmp_path, "gpt2")
    change_weights(tmp_path, lambda weights: {key: one for key, one in weights.items() if "score" not in key})
    runner = load_runner(str(tmp_path), device="cpu")
    assert runner.info.classes == ()
    assert runner.capture(CaptureRequest(text=TEXT)).class_logits is None


def _saved(folder: Path, family: str) -> None:
    classifier(family)().save_pretrained(folder)
    ending_tokenizer().save_pretrained(folder)
