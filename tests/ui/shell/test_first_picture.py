"""The stored first pictures equal the engine's, and nothing else is ever shown in their place."""

from __future__ import annotations

import json
import zipfile
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from streamlit.runtime.scriptrunner import StopException

from analysis.examples import EXAMPLES
from scripts.first_pictures import drawn, language_of
from tests.ui.driving import components, html, open_app, payload, send
from tests.viz.components.test_packing import unpacked
from ui.shell import first_picture
from ui.shell.first_picture import INDEX, PARTS, STORE, stored

FIRST = [(EXAMPLES[0].text, "en"), next((one.text, "zh") for one in EXAMPLES if not one.text.isascii())]


def close(one: Any, other: Any) -> bool:
    """Whether two values of a payload are the same, numbers within what another machine rounds."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(close(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, np.ndarray):
        return (
            one.dtype == other.dtype and one.shape == other.shape and np.allclose(one, other, atol=2e-5, equal_nan=True)
        )
    return one == pytest.approx(other, abs=2e-5) if isinstance(one, float) else one == other


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(one, id=one.text, marks=[] if (one.text, language_of(one)) in FIRST else pytest.mark.long)
        for one in EXAMPLES
    ],
)
def test_what_is_stored_is_what_the_engine_says(example):
    # One that fails after a change of the model, an example, a component or its words: python -m scripts.first_pictures
    lang = language_of(example)
    kept, made = stored(example.text, lang), drawn(example.text, lang)
    assert kept is not None
    assert (kept.layer, kept.head, kept.html) == (made.layer, made.head, made.html)
    for name in PARTS:
        assert close(list(unpacked(kept.parts[name])), list(unpacked(made.parts[name]))), name


def before_the_engine(**address: str):
    """The app as it stands while the engine is imported."""
    with (
        patch("ui.shell.first_picture.engine_is_up", return_value=False),
        patch("ui.shell.frame.import_engine", side_effect=StopException),  # here the run ends
    ):
        return open_app(first_visit=True, **address)


@pytest.mark.parametrize("text, lang", FIRST, ids=["en", "zh"])
def test_a_first_visit_sees_it_before_the_engine_is_there(text, lang):
    app = before_the_engine(lang=lang)
    kept = stored(text, lang)
    for name in PARTS:
        assert close(list(payload(app, name)), list(unpacked(kept.parts[name])))
    assert "atlas-badge stored" in html(app)
    assert "atlas-badge ok" not in html(app)  # nothing is verified so far


@pytest.mark.parametrize(
    "name, event, value, parts",
    [
        ("head_map", "cell", [3, 2], {"query": "3", "key": "2"}),
        ("token_strip", "token", 4, {"query": "4"}),
        ("token_strip", "key", 1, {"key": "1"}),
        ("token_lines", "query", 5, {"query": "5"}),
        ("head_grid", "head", [1, 2], {"layer": "1", "head": "2"}),
        ("head_map", "window", [0, 3, 0, 3], {}),  # what only the page can draw
    ],
)
def test_a_click_before_the_engine_is_there_moves_the_session(name, event, value, parts):
    with (
        patch("ui.shell.first_picture.engine_is_up", return_value=False),
        patch("ui.shell.frame.import_engine", side_effect=StopException),  # here each run ends
    ):
        app = send(open_app(text=FIRST[0][0]), name, event, value)
    assert app.session_state["parts"] == parts
    assert ("head_map" in components(app)) is not bool(parts)  # a picture of another place is not stored


@pytest.mark.parametrize(
    "address",
    [
        {"text": "A text of one's own"},
        {"text": FIRST[0][0], "layer": "1", "head": "2"},
        {"text": FIRST[0][0], "heads.metric": "entropy"},
        {"text": FIRST[0][0], "dtype": "bfloat16"},
        {"text": FIRST[0][0], "model": "encoder"},
    ],
    ids=["own text", "other head", "other metric", "other numbers", "other model"],
)
def test_what_was_not_stored_waits_for_the_engine(address):
    assert not {"head_map", "head_grid"} & set(components(before_the_engine(**address)))


def test_a_store_of_another_model_or_that_cannot_be_read_is_not_shown(tmp_path, monkeypatch):
    text, lang = FIRST[0]
    assert stored(text, lang) is not None
    with zipfile.ZipFile(STORE) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    index = json.loads(files[INDEX])

    def kept(**changed: bytes) -> first_picture.FirstPicture | None:
        with zipfile.ZipFile(tmp_path / "store.zip", "w") as archive:
            for name, data in (files | changed).items():
                archive.writestr(name, data)
        monkeypatch.setattr(first_picture, "STORE", tmp_path / "store.zip")
        return stored(text, lang)

    assert kept() is not None
    assert kept(**{INDEX: json.dumps(index | {"made_for": "another"}).encode()}) is None
    assert kept(**{INDEX: b"{"}) is None
    assert kept(**{INDEX: json.dumps({"made_for": index["made_for"]}).encode()}) is None
    (tmp_path / "store.zip").write_bytes(b"no archive")
    assert stored(text, lang) is None
    (tmp_path / "store.zip").unlink()
    assert stored(text, lang) is None
