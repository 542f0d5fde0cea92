"""An example opens the head that tells its story, with the numbers measured there."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from analysis.examples import EXAMPLES
from analysis.opening import opening_head
from analysis.stories import (
    KNOWN,
    STORIES,
    KnownText,
    Story,
    evidence_of,
    first_head,
    one_word_changed,
    said_in,
    seen_in,
    whole_word,
)
from model_runner import CaptureRequest, load_runner
from model_runner.edits import ScaledHead
from tests.analysis.made import causal_noise, embedded, made_capture
from tests.model_runner.folders import save
from tests.model_runner.tiny import tiny


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.text)
def test_the_embedded_model_tells_every_story_in_the_head_that_was_measured(story: Story) -> None:
    capture = embedded().capture(CaptureRequest(story.text))
    seen, evidence = seen_in(capture), evidence_of("default", story.text)
    assert seen is not None
    assert evidence is not None
    assert seen.evidence == evidence
    assert (seen.layer, seen.head) == evidence.heads[0] == first_head(capture)
    assert seen.weight >= 0.7
    assert capture.tokens[seen.key].text.strip("·") == story.looked_at
    assert seen.query == len(capture.tokens) - 1
    by_tile = float(capture.weights(seen.layer, seen.head)[-1, seen.key])
    assert by_tile == pytest.approx(seen.weight, abs=1e-5)
    words = [i for i, token in enumerate(capture.tokens) if token.text == capture.tokens[seen.key].text]
    assert words[story.which] == seen.key  # of words that stand there twice, the one that is meant
    if evidence.told == "why" and story.goes_on:
        assert story.goes_on.startswith(evidence.next.strip("·"))
    if evidence.other is not None:
        assert capture.tokens[evidence.other_key].text.strip("·") == story.beside


@pytest.mark.parametrize("story", [STORIES[0], STORIES[3]], ids=lambda story: story.text)
def test_a_model_in_which_nothing_was_measured_says_where_and_no_more(story: Story) -> None:
    """Weights that were changed, too: another head may look harder then, and the answer hang on others."""
    capture = embedded().capture(CaptureRequest(story.text, edits=(ScaledHead(0, 1, 0.9),)))
    seen = seen_in(capture)
    assert seen is not None
    assert seen.evidence is None
    rows = [capture.weights(layer, head)[-1] for layer in range(capture.n_layers) for head in range(8)]
    assert seen.weight == pytest.approx(max(float(row[seen.key]) for row in rows), abs=1e-6)


def test_every_example_has_a_story_or_is_known_by_heart() -> None:
    assert [story.text for story in (*STORIES, *KNOWN) if story.text not in {one.text for one in EXAMPLES}] == []
    assert len(STORIES) + len(KNOWN) == len(EXAMPLES)


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.text)
def test_what_is_known_by_heart_is_what_the_model_goes_on_with(known: KnownText) -> None:
    runner = embedded()
    capture = runner.capture(CaptureRequest(known.text))
    said = said_in(capture, runner.token_text)
    assert said is not None
    assert known.goes_on.startswith(said.token.replace("·", " "))
    assert said.probability == pytest.approx(float(torch.softmax(capture.logits(-1), -1).max()), abs=1e-5)
    assert said_in(runner.capture(CaptureRequest(known.text + " ")), runner.token_text) is None
    assert said_in(runner.capture(CaptureRequest(known.text, continuation=(5,))), runner.token_text) is None


def test_a_model_that_goes_on_otherwise_knows_nothing_by_heart(tmp_path: Path) -> None:
    runner = load_runner(str(save(tmp_path / "bytes", tiny("llama")())), device="cpu")
    assert all(said_in(runner.capture(CaptureRequest(one.text)), runner.token_text) is None for one in KNOWN)


def test_the_pronoun_looks_at_the_pig_and_says_why_it_counts() -> None:
    seen = seen_in(embedded().capture(CaptureRequest(STORIES[0].text)))
    assert seen is not None
    assert (seen.layer, seen.head) == (5, 5)
    assert seen.evidence is not None
    assert seen.evidence.told == "why"
    assert seen.evidence.without < 0.5 < 0.9 < seen.evidence.probability
    assert abs(seen.evidence.without_control - seen.evidence.probability) < 0.03


@pytest.mark.parametrize(
    "request_",
    [CaptureRequest("Another text"), CaptureRequest(STORIES[0].text, continuation=(5,)), CaptureRequest("")],
    ids=["another", "continued", "none"],
)
def test_no_other_text_has_a_story(request_: CaptureRequest) -> None:
    capture = embedded().capture(request_) if request_.text else made_capture(causal_noise(4, layers=1, heads=2))
    assert seen_in(capture) is None
    assert first_head(capture) == opening_head(capture)


def test_a_model_that_does_not_tell_it_opens_where_it_looks_hardest(monkeypatch: pytest.MonkeyPatch) -> None:
    capture = embedded().capture(CaptureRequest(STORIES[0].text))
    monkeypatch.setattr("analysis.stories.CLEAR", 1.1)
    assert seen_in(capture) is None
    assert first_head(capture) == opening_head(capture)
    assert torch.isfinite(capture.weights(*first_head(capture))).all()


def test_no_story_is_told_of_parts_of_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A model of bytes may look wherever it likes: the d of a dog is no animal."""
    monkeypatch.setattr("analysis.stories.CLEAR", 0.0)
    capture = load_runner(str(save(tmp_path / "bytes", tiny("llama")())), device="cpu").capture
    whole = [story for story in STORIES if len(story.looked_at) > 1]  # a digit is a word of one byte
    assert all(seen_in(capture(CaptureRequest(story.text))) is None for story in whole)


@pytest.mark.parametrize(
    "before, after, words",
    [
        ("The pig is behind the dog. It", "The cat is behind the dog. It", ("pig", "cat")),
        ("猫看见了狗，它", "小牛看见了狗，它", ("猫", "小牛")),
        ("The pig is behind the dog. It", "The pig is behind the dog. It", None),
        ("The pig is behind the dog. It", "The dog is behind the pig. It", None),
        ("The pig is behind the dog. It", "The pig is behind the dog! It", None),
        ("3 + 5 = ", "3 - 5 = ", ("+", "-")),
        ("3 + 5 = ", "3 +5 = ", None),
        ("The pig is behind the dog. It", "The big pig is behind the dog. It", None),
        ("猫看见了狗，它", "狗看见了猫，它", None),
        ("猫看见了狗，它", "", None),
    ],
)
def test_one_word_and_no_more_may_be_another(before: str, after: str, words: tuple[str, str] | None) -> None:
    assert one_word_changed(before, after) == words


def test_the_whole_word_of_a_token_that_begins_one_is_told_of_a_measured_story_alone() -> None:
    held = embedded()
    pig, dog = (held.capture(CaptureRequest(text)) for text in ("The pig is behind the dog. It", "The dog. It"))
    assert whole_word(pig, "·o") == "oinks"
    assert whole_word(pig, "·is") == ""
    assert whole_word(dog, "·o") == ""
