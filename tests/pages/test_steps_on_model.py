"""The page Step by step on a loaded model: what its layers do that small numbers do not is drawn and said."""

from __future__ import annotations

import pytest

from model_runner import CaptureRequest, load_runner
from tests.pages.test_steps import PAGE
from tests.ui.driving import open_app, payload


@pytest.mark.parametrize(
    "family, said, unsaid",
    [
        ("gemma2", "The soft-cap keeps every score between −{cap:g} and {cap:g}.", "bias b"),
        ("gpt2", "A bias b of each column", "soft-cap"),
    ],
)
def test_what_a_layer_does_beside_scaling_and_projecting_is_said(family, said, unsaid, folder_of):
    app = open_app(page=PAGE, model=folder_of(family), text="some text", **{"steps.source": "model"})
    chain = payload(app, "step_by_step")[0]["chain"]
    notes = {step["id"]: step.get("note", "") for step in chain["steps"]}
    cap = load_runner(folder_of(family)).capture(CaptureRequest("some text")).record(0).softcap or 0
    assert said.format(cap=cap) in " ".join(notes.values())
    assert unsaid not in " ".join(notes.values())
    assert [step["id"] for step in chain["steps"] if step.get("biased")] == (list("qkv") if family == "gpt2" else [])
    assert bool(notes["scale"]) == (family == "gemma2")  # else the usual words are true
