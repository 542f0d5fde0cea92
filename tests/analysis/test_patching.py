"""View-models of activation patching: the comparison, its scale, and the suggested second text."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
import torch

from analysis.patching import (
    PatchMap,
    contrasting,
    exchanges,
    likely_tokens,
    logit_difference,
    patch_map,
    same_text,
    shares,
)
from model_runner import CaptureRequest, load_runner

TEXT, OTHER = "The dog chased the squirrel because it", "The dog chased the squirrel while it"


@functools.cache
def capture(text, **request):
    return load_runner("default").capture(CaptureRequest(text=text, **request))


def test_the_logit_difference_is_how_much_likelier_one_token_is():
    plain = capture(TEXT)
    log_odds = [math.log(share) for share in shares(plain, (20, 300))]
    assert logit_difference(plain, (20, 300)) == pytest.approx(log_odds[0] - log_odds[1], abs=1e-5)
    assert logit_difference(plain, (300, 20)) == -logit_difference(plain, (20, 300))


def test_normalised_is_0_at_the_patched_run_and_1_at_the_other():
    found = PatchMap(np.array([[0.0, -4.0], [-2.0, np.nan]]), plain=3.0, other=-1.0)
    np.testing.assert_array_equal(found.normalised, [[0.0, 1.0], [0.5, np.nan]])
    assert found.patched(0, 1) == found.other
    assert found.patched(0, 0) == found.plain


def test_two_runs_that_say_the_same_have_no_way_between_them():
    found = PatchMap(np.zeros((1, 2)), plain=1.0, other=1.0)
    assert found.way is None
    assert np.isnan(found.normalised).all()
    assert found.extent > 0


def test_the_scale_ends_at_the_largest_change_unless_that_is_rounding():
    assert PatchMap(np.array([[0.5, -3.0, np.nan]]), 0.0, 10.0).extent == 3.0
    assert PatchMap(np.array([[1e-7, np.nan]]), 0.0, 10.0).extent == 0.5
    assert PatchMap(np.full((1, 1), np.nan), 0.0, 10.0).extent == 0.5


def test_what_is_shown_is_more_than_rounding():
    found = PatchMap(np.array([[-4.8e-7, 1.23456789, np.nan]]), 0.0, 1.0)
    assert str(found.shown.tolist()) == "[[0.0, 1.2346, nan]]"


def test_rows_that_are_not_there_yet_are_not_numbers():
    plain, other = capture(TEXT), capture(OTHER)
    found = patch_map({1: np.arange(8.0)}, 3, plain, other, (20, 300))
    assert np.isnan(found.changes[[0, 2]]).all()
    np.testing.assert_array_equal(found.changes[1], np.arange(8.0))
    assert (found.plain, found.other) == (logit_difference(plain, (20, 300)), logit_difference(other, (20, 300)))


def test_the_two_tokens_are_the_likeliest_of_either_text():
    plain, other = capture("The capital of France is"), capture("The capital of Italy is")
    assert contrasting(plain, other) == (int(plain.logits(-1).argmax()), int(other.logits(-1).argmax()))


def test_where_both_texts_end_alike_the_second_token_is_what_the_other_one_raises():
    plain, other = capture(TEXT), capture("The dog chased the squirrel until it")
    first, second = contrasting(plain, other)
    assert first == int(plain.logits(-1).argmax()) == int(other.logits(-1).argmax())
    before, after = (torch.log_softmax(one.logits(-1).double(), -1) for one in (plain, other))
    likely = [token for token in after.topk(20).indices.tolist() if token != first]
    assert second in likely
    assert all(float(after[second] - before[second]) >= float(after[token] - before[token]) for token in likely)
    assert logit_difference(other, (first, second)) < logit_difference(plain, (first, second))


def test_a_text_compared_with_itself_still_has_two_tokens():
    first, second = contrasting(capture(TEXT), capture(TEXT))
    assert first != second


def test_likely_tokens_are_of_both_texts():
    plain, other = capture(TEXT), capture(OTHER)
    found = likely_tokens(plain, other, 3)
    assert set(found) == {token for one in (plain, other) for token in one.logits(-1).topk(3).indices.tolist()}
    largest = [max(shares(plain, (token,))[0], shares(other, (token,))[0]) for token in found]
    assert largest == sorted(largest, reverse=True)


def test_texts_are_the_same_by_their_tokens():
    assert same_text(capture(TEXT), capture(TEXT))
    assert not same_text(capture(TEXT), capture(OTHER))


@pytest.mark.parametrize("text", ["She went to the park with her brother", "One day a cat saw the moon"])
def test_a_suggestion_exchanges_one_word_and_the_last_one_only_in_the_end(text):
    runner = load_runner("default")
    found = list(exchanges(capture(text), runner.token_text))
    words = text.split()
    assert len(found) > 2
    for other in found:
        changed = [i for i, (a, b) in enumerate(zip(words, other.split(), strict=True)) if a != b]
        assert len(changed) == 1
    assert found[0].split()[-1] == words[-1]
    assert found[0].split()[-2] != words[-2]
    assert found[-1].split()[-1] != words[-1]


def test_suggestions_are_made_of_the_text_alone_in_a_continued_one():
    runner = load_runner("default")
    continuation = tuple(token.id for token in capture("it was raining").tokens[1:])
    plain, continued = capture(TEXT), capture(TEXT, continuation=continuation)
    assert list(exchanges(continued, runner.token_text)) == list(exchanges(plain, runner.token_text))


def test_a_text_without_words_has_no_suggestion():
    assert list(exchanges(capture("1 + 2 = 3"), load_runner("default").token_text)) == []
