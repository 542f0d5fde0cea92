"""Of a model with keys that stand for several tokens: both looks on Heads and Inside a cell, and every other page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from model_runner import Capture, CaptureRequest, load_runner
from tests.model_runner.folders import save
from tests.model_runner.local.recording.test_compressed_keys import HEAVY, PLAIN, SPARSE, TEXT, model
from tests.ui.driving import html, open_app, payload, payloads

PAGES = ("positions", "compare", "next_token", "masks", "sharing", "edit_heads", "block", "steps", "zoo", "families")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("compressed"), model())


@pytest.fixture(scope="module")
def compressed(folder: Path) -> Capture:
    found = load_runner(str(folder)).capture(CaptureRequest(TEXT)).compressed
    assert found is not None
    return found


def test_heads_opens_on_tokens_and_shows_the_other_keys_when_they_are_chosen(folder: Path, compressed: Capture) -> None:
    app = open_app(model=str(folder), text=TEXT, layer=str(SPARSE), head="1")
    tokens, _ = payload(app, "head_map")
    assert "the latter get the rest of each row" in html(app)
    assert tokens["total"] == [len(compressed.tokens)] * 2
    app.button_group(key="keys").set_value("compressed").run()
    meta, arrays = payload(app, "head_map")
    count = len(compressed.keys)
    assert meta["col_labels"] == [
        f"⟨{start + count}–{stop + count}⟩"
        for start, stop in (map(int, key.text.strip("⟨⟩").split("–")) for key in compressed.keys)
    ]
    strip, _ = payload(app, "token_strip")
    assert (strip["texts"]["read"], strip["texts"]["written"]) == ("keys", "tokens")
    grid, _ = payload(app, "head_grid")
    assert grid["texts"]["no_weights"] == "this layer reads only single tokens"
    assert grid["layer_has_weights"] == [True, True, False, True]
    assert "tokens have the rest of each row" in html(app)
    assert not app.exception
    assert arrays["values"].shape == (len(compressed.tokens), count)


def test_a_link_to_a_layer_without_such_keys_says_so_and_shows_another(folder: Path) -> None:
    app = open_app(model=str(folder), text=TEXT, keys="compressed", layer=str(PLAIN), head="0")
    assert f"Layer {PLAIN} reads only keys of single tokens" in app.info[0].value
    assert payloads(app, "head_map")


def test_inside_a_cell_says_what_the_other_keys_take_and_how_they_are_rotated(
    folder: Path, compressed: Capture
) -> None:
    query = len(compressed.tokens) - 1
    app = open_app(
        page="pages/cell/page.py", model=str(folder), text=TEXT, keys="compressed", layer=str(HEAVY), head="2",
    )  # fmt: skip
    meta, arrays = payload(app, "cell_steps")
    assert meta["texts"]["sink"] == "other keys"
    assert "the first of its block" in meta["texts"]["f_rotated"]
    row = compressed.weights(HEAVY, 2)[query]
    assert np.abs(arrays["weights"] - row.numpy()).max() < 1e-6
    assert meta["key"] == int(row.argmax())
    assert meta["total"] == len(compressed.tokens) // 16  # of its own keys, not of those that other layers read
    strip, _ = payload(app, "token_strip")
    assert (strip["texts"]["read"], strip["texts"]["written"]) == ("keys", "tokens")
    assert meta["sink"] == pytest.approx(1 - float(row.sum()), abs=1e-5)


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_every_other_page_shows_tokens_whatever_keys_the_link_names(folder: Path, page: str) -> None:
    app = open_app(page=f"pages/{page}/page.py", model=str(folder), text=TEXT, keys="compressed")
    assert not app.exception
    assert not [one.value for one in app.warning]
    assert "⟨0–3⟩" not in html(app)


@pytest.mark.parametrize("page", ["film", "kv_cache"])
def test_pages_that_write_on_say_why_they_cannot(folder: Path, page: str) -> None:
    app = open_app(page=f"pages/{page}/page.py", model=str(folder), text=TEXT)
    assert "stand for several tokens, which are not known while a text grows" in app.warning[0].value


def test_a_model_without_such_keys_is_not_offered_them() -> None:
    app = open_app(layer="3", head="7", keys="compressed")
    assert not [one for one in app.button_group if one.key == "keys"]
    assert payloads(app, "head_map")
