"""Of a model whose indexer chooses keys: what Heads shows of the choice, and Edit heads changes of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from model_runner import Capture, CaptureRequest, load_runner
from model_runner.edits import ChosenKeys
from tests.model_runner.families import INDEXED, SHARED_CHOICE
from tests.model_runner.folders import save
from tests.model_runner.tiny import tiny
from tests.ui.driving import html, open_app, payload, payloads

PAGE = "pages/edit_heads/page.py"
TEXT = "The dog chased the cat because it ran"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("indexed"), tiny("glm_moe_dsa", **SHARED_CHOICE, **INDEXED)())


@pytest.fixture(scope="module")
def capture(folder: Path) -> Capture:
    return load_runner(str(folder)).capture(CaptureRequest(TEXT))


def test_heads_stripes_what_was_not_chosen_and_says_what_was_missed(folder: Path, capture: Capture) -> None:
    app = open_app(model=str(folder), text=TEXT, layer="1", head="2", query="30")
    meta, arrays = payload(app, "head_map")
    chosen = capture.chosen_keys(1).numpy()
    expected = np.tril(np.ones_like(chosen)) & ~chosen
    assert np.array_equal(arrays["left_out"] > 0, expected)
    assert (meta["has_masked"], meta["has_left_out"]) == (True, True)
    assert "the 5 keys that the indexer of L0 scored highest" in meta["texts"]["note"]
    grid, pictures = payload(app, "head_grid")
    assert np.array_equal(pictures["left_out"][1] > 0, expected)
    assert grid["texts"]["left_out_label"] == "not chosen"
    said = " ".join(caption.value for caption in app.caption)
    share = 100 * float(capture.missed_share(1, 2)[30])
    assert "it chose 5 of 31 keys" in said
    assert f"L1H2 would give {share:.0f} % to those that it left out" in said


def test_without_an_indexer_nothing_is_striped() -> None:
    app = open_app(layer="3", head="7")
    meta, arrays = payload(app, "head_map")
    assert "left_out" not in arrays
    assert not meta["has_left_out"]
    assert "left_out" not in payload(app, "head_grid")[1]


def test_the_number_of_chosen_keys_is_changed_on_edit_heads(folder: Path) -> None:
    app = open_app(page=PAGE, model=str(folder), text=TEXT, layer="1", head="2", **{"edit_heads.change": "choose"})
    app.number_input(key="edit_heads.top_k").set_value(2)
    app.run()
    app.button(key="edit_add").click()
    app.run()
    edited = load_runner(str(folder)).capture(CaptureRequest(TEXT, edits=(ChosenKeys(2),)))
    chosen = edited.chosen_keys(1).numpy()
    assert chosen[20].sum() == 2
    assert "queries read 2 chosen keys" in " ".join(button.label for button in app.button)


def test_a_model_without_an_indexer_is_not_offered_it() -> None:
    app = open_app(page=PAGE, layer="3", head="7", **{"edit_heads.change": "choose"})
    assert "chosen keys" not in html(app)
    assert not [one for one in app.number_input if one.key == "edit_heads.top_k"]


@pytest.mark.long
@pytest.mark.parametrize("page", ["compare", "zoo"])
def test_other_maps_of_the_head_stripe_the_same_cells(folder: Path, capture: Capture, page: str) -> None:
    app = open_app(page=f"pages/{page}/page.py", model=str(folder), text=TEXT, layer="1", head="2")
    chosen = capture.chosen_keys(1).numpy()
    drawn = [arrays["left_out"] > 0 for _, arrays in payloads(app, "head_map")]
    assert len(drawn) == 3
    assert np.array_equal(drawn[0], np.tril(np.ones_like(chosen)) & ~chosen)
