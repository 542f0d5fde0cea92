"""The sentences with several likely next words: the embedded model agrees, in both languages."""

from __future__ import annotations

import pytest

from analysis.examples import CHOICES, EXAMPLES, examples_offered
from tests.pages.expected import capture


@pytest.mark.parametrize("text", [one.text for one in CHOICES])
def test_no_word_is_sure_and_the_second_is_not_far(text: str):
    first, second = capture(text).logits(-1).double().softmax(0).topk(2).values.tolist()
    assert first < 0.6
    assert second > first / 3


def test_they_are_offered_after_the_examples_with_a_story_and_the_readers_first():
    for language in ("en", "zh"):
        offered = [one.text for one in examples_offered("default", language, ["default"])]
        assert {one.text for one in CHOICES} < set(offered)
        own = [text for text in offered if text.isascii() == (language == "en")]
        assert offered[: len(own)] == own
        assert offered[0] in [one.text for one in EXAMPLES]
