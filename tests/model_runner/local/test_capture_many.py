"""Texts captured together equal those captured one by one."""

from __future__ import annotations

import time
from statistics import median

import pytest
import torch
from torch import Tensor

from model_runner import Capture, CaptureRequest
from model_runner.edits import ScaledHead
from model_runner.errors import EmptyText
from model_runner.local import engine as engines
from model_runner.local.runner import LocalRunner
from tests.analysis.made import embedded
from tests.model_runner.cases import FAMILY, shared_runner
from tests.model_runner.families import often

TEXTS = ["The dog chased the squirrel", "it", "Alice was beginning to get very tired of sitting", "it", "a b"]
ALONE = ("bert", "roberta", "distilbert", "t5", "bart")  # of which some look ahead


def numbers(capture: Capture) -> dict[str, Tensor]:
    """Every number of a capture that a page shows."""
    found = {"hidden": capture.hidden, **{f"stream {i}": one for i, one in enumerate(capture.residuals)}}
    for layer, record in enumerate(capture.records):
        if record is not None:
            parts = {"q": record.q, "k": record.k, "v": record.v, "output": record.output}
            found |= {f"{layer} {name}": one for name, one in parts.items()}
            found[f"{layer} weights"] = capture.layer_weights(layer, slice(0, len(capture.tokens)))
    return found


def same(one: Capture, other: Capture) -> None:
    assert (one.request, one.tokens, one.text, one.kinds) == (other.request, other.tokens, other.text, other.kinds)
    mine, theirs = numbers(one), numbers(other)
    assert mine.keys() == theirs.keys()
    for name, tensor in mine.items():
        torch.testing.assert_close(
            tensor, theirs[name], atol=1e-5, rtol=1e-4, msg=lambda words, name=name: name + words
        )


def fresh(name: str) -> LocalRunner:
    runner = shared_runner(name)
    runner.forget()
    return runner


@pytest.mark.parametrize("name", often([family for family in FAMILY if family not in ("whisper",)]))
def test_texts_together_are_each_text_by_itself(name: str) -> None:
    together = list(fresh(name).capture_many(TEXTS, batch_size=4))
    alone = [fresh(name).capture(text) for text in TEXTS]
    for one, other in zip(together, alone, strict=True):
        same(one, other)
        layers = [layer for layer in range(one.n_layers) if one.has_weights(layer)]
        assert all(one.verify(layer).ok for layer in layers)


def test_a_rotation_a_mask_and_logits_are_there_too():
    runner = embedded()
    together = list(runner.capture_many(TEXTS))
    runner.forget()
    for text, one in zip(TEXTS, together, strict=True):
        other = runner.capture(text)
        torch.testing.assert_close(one.q_unrotated(3), other.q_unrotated(3), atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(one.logits(), other.logits(), atol=1e-4, rtol=1e-4)
        assert one.record(3).mask == other.record(3).mask


def test_one_forward_reads_a_batch_and_what_is_kept_is_not_read_again(monkeypatch: pytest.MonkeyPatch):
    runner = fresh("llama")
    read: list[int] = []
    batch = engines.capture_batch
    monkeypatch.setattr(engines, "capture_batch", lambda *given: (read.append(len(given[-1])), batch(*given))[1])
    monkeypatch.setattr(engines.Engine, "_forward", lambda *_: pytest.fail("read alone"))
    first = list(runner.capture_many(TEXTS))
    assert read == [4]  # one of the five stands there twice
    assert [id(one) for one in runner.capture_many(TEXTS)] == [id(one) for one in first]
    assert read == [4]


def test_edits_are_kept_and_what_cannot_be_read_is_said():
    runner = fresh("llama")
    edited = CaptureRequest(text="The dog", edits=(ScaledHead(1, 0, 0.0),))
    _plain, found = runner.capture_many(["The dog", edited])
    assert found.request.edits == edited.edits
    assert torch.equal(found.record(1).head_output_edited[:, 0], torch.zeros_like(found.record(1).output[:, 0]))
    coming = runner.capture_many(["a", "b", ""], batch_size=2)
    assert [next(coming).text, next(coming).text] == ["a", "b"]
    with pytest.raises(EmptyText):
        next(coming)
    with pytest.raises(ValueError, match="at least one text, not 0"):
        list(runner.capture_many(["a"], batch_size=0))


def test_it_is_no_slower_than_one_by_one():
    runner = embedded()
    texts = [f"{place} " + "The dog chased the squirrel because it was hungry. " * 5 for place in range(16)]

    def seconds(many: bool) -> float:
        runner.forget()
        start = time.perf_counter()
        found = list(runner.capture_many(texts)) if many else [runner.capture(text) for text in texts]
        assert len(found) == 16
        return time.perf_counter() - start

    seconds(True)
    ratios = [seconds(False) / seconds(True) for _ in range(5)]
    assert median(ratios) > 1, [f"{ratio:.2f}" for ratio in ratios]
