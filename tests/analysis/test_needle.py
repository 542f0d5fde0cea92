"""The needle is at its requested place, and finding it agrees with a plain forward pass and loops."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from analysis.long_text import chapter
from analysis.needle import NEEDLES, Needle, Trial, hidden, retrieval, strongest_heads
from jobs.needle import COUNTS, NeedleRun
from model_runner import CaptureRequest
from tests.analysis.made import embedded

NEEDLE = NEEDLES[0]
HAY = "One was here. Two were there, and three. Four came! Five went; six stayed. Seven slept?"


@pytest.mark.parametrize("depth", [0.0, 0.3, 0.5, 1.0])
def test_the_needle_stands_at_a_pause_near_its_depth_and_the_question_at_the_end(depth: float) -> None:
    text = hidden(HAY, Trial(NEEDLE, depth, len(HAY)))
    sentence = f"{NEEDLE.question}{NEEDLE.answer}."
    assert text.count(sentence) == 1
    assert text.endswith(f" {NEEDLE.question}")
    before, after = text.removesuffix(NEEDLE.question).split(sentence)
    assert f"{before.strip()} {after.strip()}".strip() == HAY
    assert abs(len(before) - depth * len(HAY)) < 12
    assert not before or before.rstrip()[-1] in ".,!;?"


def test_a_chinese_needle_has_no_blanks_around_it() -> None:
    text = hidden("春天来了。老师走了。", Trial(NEEDLES[3], 0.5, 100))
    assert text == f"春天来了。{NEEDLES[3].question}{NEEDLES[3].answer}。老师走了。{NEEDLES[3].question}"


@pytest.mark.parametrize("needle", NEEDLES)
def test_retrieval_is_what_a_plain_forward_and_loops_say(needle: Needle) -> None:
    runner = embedded()
    answer = runner.ids_of(needle.answer)
    text = hidden(chapter().half, Trial(needle, 0.5, 300))
    capture = runner.capture(CaptureRequest(text=text, continuation=tuple(answer[:-1])))
    found = retrieval(capture, answer)
    assert found is not None
    ids = [token.id for token in capture.tokens]
    model = runner.engine.model
    with torch.no_grad():
        output = model(torch.tensor([ids]), output_attentions=False).logits[0].double().softmax(-1)
    first = len(ids) - len(answer)
    said = [int(output[first + step].argmax()) for step in range(len(answer))]
    assert found.said == tuple(said)
    hits = [one == wanted for one, wanted in zip(said, answer, strict=True)]
    right = 0
    while right < len(hits) and hits[right]:
        right += 1
    assert (found.right, found.asked, found.share) == (right, len(answer), sum(hits) / len(hits))
    assert found.probability == pytest.approx(
        sum(float(output[first + step, wanted]) for step, wanted in enumerate(answer)) / len(answer), abs=1e-5
    )
    start = next(at for at in range(len(ids)) if ids[at : at + len(answer)] == list(answer))
    for layer, head in ((5, 5), (7, 1), (0, 0)):
        weights = capture.weights(layer, head)
        copied, looked = 0, 0.0
        for step in range(len(answer)):
            row = weights[first + step].tolist()
            looked += row[start + step]
            copied += hits[step] and max(range(len(row)), key=row.__getitem__) == start + step
        assert found.copied[layer, head] == pytest.approx(copied / len(answer))
        assert found.looked[layer, head] == pytest.approx(looked / len(answer), rel=1e-4, abs=1e-7)


def test_a_needle_whose_tokens_are_not_in_the_text_is_not_judged() -> None:
    runner = embedded()
    capture = runner.capture(CaptureRequest(text="The dog chased the squirrel because it"))
    assert retrieval(capture, runner.ids_of(" lamp river")) is None


def test_the_best_heads_copied_most_and_of_equal_ones_looked_hardest() -> None:
    copied = np.array([[0.5, np.nan], [0.5, 1.0]])
    looked = np.array([[0.1, np.nan], [0.2, 0.0]])
    assert strongest_heads(copied, looked, 4) == [(1, 1), (1, 0), (0, 0)]


@pytest.mark.long
def test_the_run_ablates_the_best_heads_and_as_many_others() -> None:
    runner = embedded()
    plain = runner.capture(CaptureRequest(text="a"))
    run = NeedleRun(runner, plain.request, chapter().half, NEEDLE, 250, "a test")
    while run.running:
        run.pull()
    assert run.error is None
    assert len(run.items) == len(run.steps) == 5 * (1 + 2 * len(COUNTS))
    best = strongest_heads(*run.scores(), 64)
    for done in run.items:
        count = done.step.count
        assert len(done.heads) == len(set(done.heads)) == count
        if done.step.ablated == "top":
            assert list(done.heads) == best[:count]
        assert done.step.ablated != "random" or not set(done.heads) & set(best[:count])
        for layer, head in done.heads:  # an ablated head looks as it did, or nearly; what it says is gone
            assert not np.isnan(done.found.copied[layer, head])
    mean = {
        kind: np.mean(
            [one.found.probability for one in run.items if one.step.ablated == kind and one.step.count in (0, 8)]
        )
        for kind in ("none", "top", "random")
    }
    assert mean["top"] < mean["none"] / 4  # what fetches it is among them
    assert mean["top"] < mean["random"] / 4
