"""An example opens on the head that tells its story, and says what is measured there."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from analysis.examples import EXAMPLES
from analysis.opening import opening_head
from analysis.stories import STORIES, Story, first_head, seen_in
from model_runner import CaptureRequest, load_runner
from tests.analysis.made import causal_noise, embedded, made_capture
from tests.model_runner.folders import save
from tests.model_runner.tiny import tiny


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.looked_at)
def test_the_embedded_model_tells_every_story(story: Story) -> None:
    capture = embedded().capture(CaptureRequest(story.text))
    seen = seen_in(capture)
    assert seen is not None
    assert seen.weight >= 0.9
    assert capture.tokens[seen.key].text.strip("·") == story.looked_at
    assert seen.query == len(capture.tokens) - 1
    weights = [[capture.weights(layer, head)[-1] for head in range(8)] for layer in range(capture.n_layers)]
    assert float(weights[seen.layer][seen.head][seen.key]) == pytest.approx(seen.weight, abs=1e-6)
    words = [i for i, token in enumerate(capture.tokens) if token.text == capture.tokens[seen.key].text]
    here = words[story.which]  # of words that stand there twice, the one that is meant
    assert here == seen.key
    assert seen.weight == pytest.approx(max(float(row[here]) for layer in weights for row in layer), abs=1e-6)
    assert first_head(capture) == (seen.layer, seen.head)


def test_every_story_is_of_an_example() -> None:
    assert {story.text for story in STORIES} <= {example.text for example in EXAMPLES}


def test_the_first_picture_of_all_looks_at_the_dog() -> None:
    seen = seen_in(embedded().capture(CaptureRequest(EXAMPLES[0].text)))
    assert seen is not None
    assert (seen.layer, seen.head) == (7, 5)


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
    assert all(seen_in(capture(CaptureRequest(story.text))) is None for story in STORIES)
