"""The sampling bench: its payload, and its bars as a file."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from model_runner.transforms import TRANSFORMS, Sampling
from tests.viz.components.test_packing import unpacked
from viz.components.sampling_bench import sampling_bench
from viz.components.sampling_bench.bars_svg import Panel, bars_svg
from viz.components.sampling_bench.sampling_bench import TEXTS, SamplingBenchPicture, Start

LOGITS = np.log(np.array([0.5, 0.25, 0.125, 0.125], dtype=np.float32))
LABELS = ["·the", "·a", "<b>", "猫"]


def settings(**changes: Any) -> dict[str, Any]:
    """Settings as a payload holds them."""
    given = asdict(Sampling(**changes))
    return given | {"order": list(given["order"]), "seed": str(given["seed"])}


def described(n_vocab: int) -> dict[str, dict[str, Any]]:
    """The table of transforms as the page gives it."""
    return {name: row.described(n_vocab) for name, row in TRANSFORMS.items()}


def bench(
    logits: np.ndarray = LOGITS,
    labels: list[str] = LABELS,
    *,
    a: dict[str, Any] | None = None,
    b: dict[str, Any] | None = None,
    previous: tuple[int, ...] = (),
    actual: int | None = None,
    compare: bool = False,
    draws: int = 0,
    find: int | None = None,
    position: int = 8,
) -> bytes:
    """A payload of these logits, from the model's own settings on."""
    return SamplingBenchPicture(
        logits=logits,
        labels=labels,
        previous=previous,
        position=position,
        after="because it",
        actual=actual,
        start=Start(settings(**(a or {})), settings(**(b or {})), compare, draws, find),
        transforms=described(len(labels)),
        texts=TEXTS,
    ).packed()


def test_the_payload_carries_every_logit_and_every_label():
    meta, arrays = unpacked(bench(previous=(3, 1), actual=2, draws=7, find=1, a={"top_p": 0.9, "seed": 5}))
    np.testing.assert_array_equal(arrays["logits"], LOGITS)
    assert arrays["previous"].tolist() == [3, 1]
    assert meta["labels"] == LABELS
    assert (meta["actual"], meta["position"], meta["after"]) == (2, 8, "because it")
    assert meta["start"]["a"]["top_p"] == 0.9
    assert (meta["start"]["compare"], meta["start"]["draws"], meta["start"]["find"]) == (False, 7, 1)


def test_a_seed_longer_than_javascripts_numbers_stays_exact():
    meta, _ = unpacked(bench(a={"seed": 12345678901234567890123}))
    assert meta["start"]["a"]["seed"] == "12345678901234567890123"


def test_labels_and_settings_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="for 3 labels"):
        bench(labels=LABELS[:3])
    start = Start({"temperature": 1.0}, settings(), False, 0, None)
    with pytest.raises(ValueError, match="instead of"):
        SamplingBenchPicture(
            logits=LOGITS,
            labels=LABELS,
            previous=(),
            position=0,
            after="",
            actual=None,
            start=start,
            transforms=described(len(LABELS)),
            texts=TEXTS,
        ).packed()


def test_every_word_the_scripts_ask_for_is_there():
    asked = set(re.findall(r"\btexts\.(\w+)", sampling_bench.SOURCE.js))
    shared = {"undefined"}
    assert asked - shared <= set(TEXTS)
    assert {f"legend_{mark}" for mark in ("model", "final", "removed", "drawn")} <= set(TEXTS)


# -- the bars as a file -----------------------------------------------------------------------------------------------


def bars(*panels: Panel) -> ET.Element:
    given = bars_svg(
        LABELS[:3], [0.5, 0.25, 0.125], panels, rest=(1, 0.125), title="after “it”", caption="c", texts=TEXTS
    )
    return ET.fromstring(given)


def named(svg: ET.Element, tag: str) -> list[ET.Element]:
    return list(svg.iter(f"{{http://www.w3.org/2000/svg}}{tag}"))


def words(svg: ET.Element) -> list[str]:
    return [re.sub("[\u2068\u2069]", "", text.text or "") for text in named(svg, "text")]


def test_bars_are_as_long_as_their_probabilities():
    svg = bars(Panel("A", final=[0.6, 0.4, 0.0], rest=0.0))
    filled = [float(rect.get("width", "")) for rect in named(svg, "rect") if rect.get("height") == "10"]
    assert filled[1] / filled[0] == pytest.approx(0.4 / 0.6, rel=1e-3)
    assert filled[2:] == [0.0, 0.0]
    outlines = [float(rect.get("width", "")) for rect in named(svg, "rect") if rect.get("height") == "14"]
    assert outlines[0] / filled[0] == pytest.approx(0.5 / 0.6, rel=1e-3)


def test_removed_tokens_are_struck_and_every_number_is_after_the_settings():
    svg = bars(Panel("A", final=[0.6, 0.4, 0.0], rest=0.0))
    struck = [
        re.sub("[\u2068\u2069]", "", text.text or "") for text in named(svg, "text") if text.get("class") == "removed"
    ]
    assert struck == ["<b>", "1 others", "0 %", "0 %"]


def test_two_settings_stand_side_by_side_with_their_draws():
    svg = bars(
        Panel("A", final=[0.5, 0.25, 0.125], rest=0.125, drawn=[6, 3, 0], rest_drawn=1),
        Panel("B", final=[1.0, 0.0, 0.0], rest=0.0, drawn=[10, 0, 0], rest_drawn=0),
    )
    assert {"A", "B", "6×", "3×", "1×", "10×"} <= set(words(svg))
    assert len(named(svg, "circle")) == 4


def test_a_token_drawn_more_often_than_expected_has_its_dot_inside_the_lane():
    svg = bars(Panel("A", final=[0.5, 0.3, 0.2], rest=0.0, drawn=[10, 0, 0]))
    (dot,) = named(svg, "circle")
    first = next(rect for rect in named(svg, "rect") if rect.get("height") == "10")
    left = float(first.get("x", ""))
    assert float(dot.get("cx", "")) - left == pytest.approx(2 * float(first.get("width", "")), rel=1e-3)
    assert float(dot.get("cx", "")) <= left + 420


def test_bars_of_another_length_are_refused():
    with pytest.raises(ValueError, match="3 labels"):
        bars(Panel("A", final=[1.0], rest=0.0))
