"""Where a race starts: after the given text or, for sound, after the tokens that select the model's task."""

from __future__ import annotations

from dataclasses import replace

from jobs.race import begins_with
from model_runner import CaptureRequest, load_runner
from tests.model_runner.listening import runner, tone


def test_of_a_sound_the_tokens_of_the_task_are_given_and_what_was_written_by_itself_is_written_again():
    listening = runner()
    heard = listening.capture(CaptureRequest(sound=tone()))
    task = 4  # the start, the language, what to do, no times: special tokens in any Whisper's tokenizer
    assert len(heard.tokens) > task
    tokens = tuple(replace(token, special=place < task) for place, token in enumerate(heard.tokens))
    assert begins_with(replace(heard, tokens=tokens)) == task
    assert begins_with(listening.capture(CaptureRequest(sound=tone(), target="so"))) > task


def test_of_a_text_only_the_token_that_begins_is_given():
    assert begins_with(load_runner("translator").capture(CaptureRequest("The wolf loves Mary."))) == 1
