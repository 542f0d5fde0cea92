"""What is read of many sentences at once is what the application records of each alone, and what a slow sum gives."""

from __future__ import annotations

import functools
import math

import pytest
import torch

from analysis.joined import joined
from analysis.opening import opening_query
from model_runner import CaptureRequest, load_runner
from model_runner.edits import ScaledHead
from model_runner.local.loading.model_folder import EMBEDDED
from scripts.check.story_reader import Reader, Sentence
from scripts.check.story_templates import at

DEFAULT = [
    at("The pig is behind the dog. It", "pig", " oinks"),
    at("The capital of the Bahamas is", "Bahamas", " Nassau"),  # a word of several tokens, in a longer text
    at("狗看见了猫，它", "狗", "汪汪叫"),
]
HIDDEN = [at("法国的首都是[MASK]。", "法国", "巴黎"), at("The capital of France is [MASK].", "France", " Paris")]


@functools.cache
def reader(name: str) -> Reader:
    return Reader(EMBEDDED[name])


@pytest.mark.parametrize("name, sentences", [("default", DEFAULT), ("encoder", HIDDEN)])
@pytest.mark.parametrize("off", [(), ((1, 3),), ((1, 3), (2, 0))])
def test_a_batch_says_what_the_application_records_of_each(
    name: str, sentences: list[Sentence], off: tuple[tuple[int, int], ...]
) -> None:
    ids = [reader(name).ids(one) for one in sentences]
    found = reader(name).read([one for one in ids if one is not None], off)
    edits = tuple(ScaledHead(layer, head, 0.0) for layer, head in off)
    for i, sentence in enumerate(sentences):
        capture = load_runner(name).capture(CaptureRequest(sentence.text, edits=edits))
        query = opening_query(capture)
        start, end = sentence.span
        keys = [k for k, token in enumerate(capture.tokens) if token.start < end and token.end > start]
        for layer, head in ((0, 0), (1, 3), (3, 2)):
            slow = sum(float(capture.weights(layer, head)[query, key]) for key in keys)
            assert float(found.look[i, layer, head]) == pytest.approx(slow, abs=1e-5)
        p = float(capture.logits(query).double().softmax(-1)[ids[i].answer])  # type: ignore[union-attr]
        assert float(found.log_odds[i]) == pytest.approx(math.log(p / (1 - p)), abs=1e-3)
        assert int(found.likeliest[i]) == int(capture.logits(query).argmax())


def test_a_translator_is_read_where_its_next_word_is_written() -> None:
    text = "The dog chased the cat in the garden yesterday."
    capture = joined(load_runner("translator").capture(CaptureRequest(text, attention="cross")))
    ids = reader("translator").ids(at(text, "garden", "花园", -1, "那只狗昨天在"))
    assert ids is not None
    found = reader("translator").read([ids])
    query = opening_query(capture)
    assert ids.query == query - capture.n_read
    for layer, head in ((3, 1), (2, 0), (0, 3)):
        expected = float(capture.weights(layer, head)[query, ids.keys[0]])
        assert float(found.look[0, layer, head]) == pytest.approx(expected, abs=1e-5)
    assert int(found.likeliest[0]) == ids.answer == capture.tokens[query + 1].id
    without = reader("translator").read([ids], ((3, 1), (3, 2), (3, 3)))
    assert float(without.log_odds[0]) < float(found.log_odds[0]) - 1


def test_an_answer_that_is_part_of_the_last_token_is_not_read() -> None:
    sentence = Sentence("The pig is behind the do", (4, 7), "g")
    assert reader("default").ids(sentence) is None
    assert reader("default").ids(at("The pig is behind the", "pig", " dog")) is not None


def test_heads_are_off_only_while_they_are_asked_to_be() -> None:
    ids = reader("default").ids(DEFAULT[0])
    assert ids is not None
    before = reader("default").read([ids])
    changed = reader("default").read([ids], ((5, 5),))
    assert torch.equal(reader("default").read([ids]).logits, before.logits)
    assert not torch.equal(changed.logits, before.logits)
