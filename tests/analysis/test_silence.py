"""The silence after a sound: where it begins, the map's initial window, and the weight on silence."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from analysis.head_map import Window
from analysis.joined import as_square
from analysis.opening import opening_query
from analysis.silence import heard_window, n_heard, silent_share
from model_runner import CaptureRequest, load_runner
from tests.model_runner.listening import FRAMES, runner, tone

HEARD = 30  # frames of 0.6 s


@pytest.fixture(scope="module")
def capture():
    return runner().capture(CaptureRequest(sound=tone(), target="two dogs", attention="cross"))


def test_the_share_is_what_a_loop_over_the_cells_adds_up_to(capture):
    across, encoder = as_square(capture), capture.attention("encoder")
    for layer, head in ((0, 0), (1, 3)):
        rows = capture.weights(layer, head)
        assert silent_share(across, layer, head) == pytest.approx(float(rows[:, HEARD:].sum(1).mean()), abs=1e-6)
        rows = encoder.weights(layer, head)[:HEARD]
        assert silent_share(encoder, layer, head) == pytest.approx(float(rows[:, HEARD:].sum(1).mean()), abs=1e-6)


def test_a_map_opens_with_the_sound_itself(capture):
    across, n_written = as_square(capture), len(capture.tokens)
    assert n_heard(across) == HEARD
    assert heard_window(across) == Window(FRAMES, FRAMES + n_written, 0, HEARD)
    assert heard_window(capture.attention("encoder")) == Window(0, HEARD, 0, HEARD)
    assert opening_query(capture.attention("encoder")) == HEARD - 1


def test_of_a_text_and_of_what_is_written_nothing_is_silent(capture):
    for one in (capture.attention("decoder"), load_runner("default").capture(CaptureRequest("A cat"))):
        assert (n_heard(one), heard_window(one), silent_share(one, 0, 0)) == (None, None, 0.0)


def test_a_sound_that_fills_all_frames_leaves_no_silence(capture):
    full = capture.attention("encoder")
    full = replace(full, tokens=tuple(replace(token, silent=False) for token in full.tokens))
    assert heard_window(full) is None
    assert torch.equal(full.weights(0, 0), capture.attention("encoder").weights(0, 0))
