"""The payload of the film component, and the picture of one frame as a file."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from tests.viz.components.test_packing import unpacked
from viz.components.film.film import TEXTS, Cache, FilmPicture, FilmView, Frame, Prompt
from viz.components.film.frame_svg import frame_svg

PROMPT = ("⟨bos⟩", "The", "·dog")
LABELS = {7: "·ran", 8: "·sat", 9: "<b>&"}
D = 4
SCALE = ["0 %", "100 %"]  # of the legend


def frame(i: int, **changes) -> Frame:
    """Frame i of a made film: the prompt for 0; token i looks most at token 1."""
    n = len(PROMPT) + i
    row = np.full(n, 0.1 / max(1, n - 1), dtype=np.float32)
    row[1] = 0.9
    values = {
        "token": None if i == 0 else 7,
        "label": PROMPT[-1] if i == 0 else f"·w{i}",
        "special": False,
        "position": n - 1,
        "how": "prompt" if i == 0 else "sampled",
        "probability": None if i == 0 else 0.5,
        "rank": None if i == 0 else 1,
        "entropy": 1.3,
        "changed": True,
        "final": None if i == 0 else 0.625,
        "final_rank": None if i == 0 else 1,
        "final_entropy": 0.8,
        "final_rest": 0.0,
        "uniform": None if i == 0 else 0.25,
        "seconds": None if i == 0 else 0.010,
        "n_kept": 2,
        "kept_mass": 0.8,
        "tokens": [7, 8, 9],
        "probabilities": [0.5, 0.3, 0.1],
        "finals": [0.625, 0.375, 0.0],
        "kept": [True, True, False],
        "row": row,
        "strip": np.stack([np.rint(row * 254), np.full(n, 255)]).astype(np.uint8),
    }
    return Frame(**{**values, **changes})


GROWTH = {"parts": ((8192, None),), "shape": (8, 4, 32, 4), "fixed": 0, "read": 0}


def film(count: int = 5, *, start: int = 0, frames=None, **changes) -> bytes:
    """The frames from ``start`` to ``count`` - 1 of a made film."""
    first = 0 if start == 0 else len(PROMPT) - 1 + start
    n_columns = len(PROMPT) - 1 + count - first
    numbers = np.arange(first * D, (first + n_columns) * D, dtype=np.float32).reshape(n_columns, D) - 10
    values = {
        "film": "one",
        "start": start,
        "frames": [frame(i) for i in range(start, count)] if frames is None else frames,
        "prompt": Prompt(PROMPT, [("⟨bos⟩", 0, True), ("The", 1, False), ("·dog", 2, False)]),
        "prefill": (3, 0.0344),
        "cache": Cache(k=numbers, v=-numbers, first=first, pooled=1, growth=GROWTH),
        "view": FilmView(head=(0, 1), heads=[(0, 0), (0, 1)], n_heads=2, bin=1),
        "n_vocab": 4096,
        "limit": 10,
        "stop": "",
        "at": 0,
        "goal": 0,
        "pending": False,
        "answered": 0,
        "alive": True,
        "labels": LABELS,
        "texts": TEXTS,
    }
    return FilmPicture(**{**values, **changes}).packed()


def test_rows_and_strips_are_cut_by_their_widths():
    meta, arrays = unpacked(film(3))
    assert meta["widths"] == [3, 4, 5]
    np.testing.assert_array_equal(arrays["rows"][3:7], frame(1).row)
    np.testing.assert_array_equal(arrays["strips"][6:14].reshape(2, 4), frame(1).strip)


def test_a_later_chunk_brings_neither_the_prompt_nor_the_columns_that_are_there():
    meta, arrays = unpacked(film(5, start=3))
    assert meta["prompt"] is None
    assert len(meta["frames"]) == 2
    assert meta["cache"]["first"] == 5
    assert arrays["k"].shape == (2, D)


def test_a_chunk_without_new_frames_is_allowed():
    meta, arrays = unpacked(film(5, start=5, frames=[]))
    assert (meta["frames"], arrays["rows"].size) == ([], 0)


def test_equal_films_are_equal_bytes():
    assert film() == film()


def test_a_strip_of_other_heads_is_refused():
    wrong = frame(0, strip=np.zeros((3, 3), np.uint8))
    with pytest.raises(ValueError, match="2 heads"):
        film(frames=[wrong])


@pytest.mark.parametrize("bin, keys", [(1, np.arange(3)), (2, None), (2, np.arange(2))])
def test_columns_of_several_tokens_and_no_others_name_the_one_of_each(bin, keys):
    with pytest.raises(ValueError, match="a key for each"):
        film(1, frames=[frame(0, keys=keys)], view=FilmView((0, 1), [(0, 0), (0, 1)], 2, bin))


def test_keys_without_their_values_are_refused():
    cache = Cache(np.zeros((2, D)), np.zeros((3, D)), 0, 1, None)
    with pytest.raises(ValueError, match="2 keys but 3 values"):
        film(cache=cache)


# -- one frame as a file ----------------------------------------------------------------------------------------------


def drawn(one: Frame, **changes):
    columns = [f"t{i}" for i in range(len(one.row))]
    values = {
        "labels": LABELS,
        "columns": columns,
        "n_vocab": 4096,
        "title": "L0H1 <&>",
        "caption": "a model",
        "texts": TEXTS,
    }
    return ET.fromstring(frame_svg(one, changes.pop("follows", one), **{**values, **changes}))


def rects(svg):
    return list(svg.iter("{http://www.w3.org/2000/svg}rect"))[1:]


def test_bars_are_as_long_as_the_probabilities_and_removed_ones_stay():
    found = rects(drawn(frame(2)))[-2 * 3 :]
    filled, outlined = found[0::2], found[1::2]
    widths = [float(item.get("width")) for item in filled]
    assert widths[0] / widths[1] == pytest.approx(0.625 / 0.375, rel=1e-3)
    assert float(outlined[2].get("width")) / float(outlined[0].get("width")) == pytest.approx(0.2, rel=1e-2)
    assert filled[2].get("fill") == "#deded6"


def test_the_numbers_of_a_frame_are_of_one_distribution_which_is_named():
    words = ["".join(item.itertext()) for item in drawn(frame(2)).iter("{http://www.w3.org/2000/svg}text")]
    assert [text for text in words if text.endswith(" %")] == [*SCALE, "62.5 %", "37.5 %", "0 %", "0 %"]
    assert TEXTS["after_settings"].format(bits="1.3") + " entropy 0.8 bits" in words
    plain = drawn(frame(2, changed=False, finals=[0.5, 0.3, 0.1], kept=[True] * 3, final_rest=0.1, final_entropy=1.3))
    words = ["".join(item.itertext()) for item in plain.iter("{http://www.w3.org/2000/svg}text")]
    assert [text for text in words if text.endswith(" %")] == [*SCALE, "50 %", "30 %", "10 %", "10 %"]
    assert "4,093 more tokens" in words
    assert TEXTS["own"] + " entropy 1.3 bits" in words


def test_the_row_has_a_cell_for_every_token_and_text_is_never_markup():
    svg = drawn(frame(2))
    assert len(rects(svg)) == 2 * 3 + 5 + 2  # and the legend: the scale of a cell, and what a grey bar is
    assert TEXTS["cut"] in ["".join(item.itertext()) for item in svg.iter("{http://www.w3.org/2000/svg}text")]
    words = ["".join(item.itertext()) for item in svg.iter("{http://www.w3.org/2000/svg}text")]
    assert any("<b>&" in text for text in words)
    assert "L0H1 <&>" in words


def test_an_arc_leads_from_the_newest_token_to_each_that_it_looks_at_and_is_as_wide_as_the_share():
    row = np.array([0.25, 0.7, 0.001, 0.049], dtype=np.float32)
    paths = list(drawn(frame(1, row=row), follows=None).iter("{http://www.w3.org/2000/svg}path"))
    assert [path.get("stroke-width") for path in paths] == [
        f"{round(0.8 + 6 * share, 2):g}" for share in (0.049, 0.25, 0.7)
    ]


def test_a_row_needs_a_label_for_every_cell():
    with pytest.raises(ValueError, match="1 labels for 5 columns"):
        drawn(frame(2), columns=["t"])
