"""Models of which one module is several layers, or that subtract heads: what the pages say of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from model_runner import CaptureRequest, load_runner
from tests.model_runner.cases import FAMILY
from tests.model_runner.tiny import byte_tokenizer
from tests.pages.expected import ROUNDING
from tests.ui.driving import html, open_app, payload, sentences

TEXT = "the dog chased the dog"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("several")
    for name in ("albert", "diffllama", "longcat-flash", "hrm-text"):
        FAMILY[name].build().save_pretrained(root / name)
        byte_tokenizer().save_pretrained(root / name)
    return root


@pytest.mark.long
def test_a_difference_of_two_heads_is_drawn_around_zero_and_said_to_sum_to_less(folders: Path) -> None:
    model = str(folders / "diffllama")
    app = open_app(model=model, text=TEXT, layer="1", head="3", **{"heads.what": "difference"})
    meta, arrays = payload(app, "head_map")
    capture = load_runner(model).capture(CaptureRequest(TEXT))
    difference = capture.record(1).difference
    assert difference is not None
    expected = capture.difference(1, 1).numpy()
    lower = np.tril(np.ones_like(expected)) > 0
    np.testing.assert_allclose(arrays["values"][lower], expected[lower], atol=ROUNDING)
    assert meta["scale"] == "diverging"
    assert "a row sums to 1 − λ, not to 1" in meta["texts"]["note"]
    assert f"H3 (map 2) is subtracted with λ = {difference.factor:.3g}." in html(app).replace("&#x27;", "'")
    alone = "Lines: only the attention of L1H3, not the difference that the map shows."
    assert alone in html(app)
    weights = open_app(model=model, text=TEXT, layer="1", head="3")
    assert alone not in html(weights)
    assert payload(weights, "head_map")[0]["scale"] == "sequential"
    assert "H1 is map 1 of this pair" in html(weights)


def test_a_link_to_a_difference_shows_weights_where_no_heads_are_subtracted() -> None:
    app = open_app(**{"heads.what": "difference", "layer": "3", "head": "7"})
    assert "This model does not subtract heads from each other. Showing the weights." in sentences(app)
    assert payload(app, "head_map")[0]["scale"] == "sequential"


@pytest.mark.parametrize(
    "name, layer, words",
    [
        ("albert", 2, "L2 is run 3 of 3 of albert.encoder.albert_layer_groups.0.albert_layers.0"),
        ("hrm-text", 4, "L4 is cycle 4 of 4 through model.L_module.layers.0"),
        ("longcat-flash", 3, "L3 is attention 2 of 2 of one block, model.layers.1."),
    ],
)
def test_heads_says_which_run_and_part_a_layer_is(folders: Path, name: str, layer: int, words: str) -> None:
    assert words in html(open_app(model=str(folders / name), text=TEXT, layer=str(layer), head="1"))


@pytest.mark.long
@pytest.mark.parametrize(
    "name, summary, titles",
    [
        (
            "albert",
            "3 blocks, 2 of which share the parameters of an earlier one (counted once)",
            {"L1": ("run 2/3", "shared with L0")},
        ),
        ("longcat-flash", "4 layers in 2 blocks", {"L1": ("block 0, 2/2", "")}),
        ("hrm-text", "4 of which share the parameters", {"L3": ("L_module 3/4", "shared with L0")}),
    ],
)
def test_the_block_names_runs_and_parts_and_what_is_shared(
    folders: Path, name: str, summary: str, titles: dict[str, tuple[str, str]]
) -> None:
    app = open_app(page="pages/block/page.py", model=str(folders / name), text=TEXT, layer="1")
    assert summary in html(app)
    rows = {row["title"]: row for row in payload(app, "model_stages")[0]["rows"]}
    for title, (module, size) in titles.items():
        assert rows[title]["module"].startswith(f"{module} · ")
        assert size in rows[title]["size"]
