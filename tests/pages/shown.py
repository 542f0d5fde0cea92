"""A page's content without a browser: its text, the values of its controls, and the numbers it draws."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from html import unescape
from unittest.mock import patch

import numpy as np
from streamlit.testing.v1 import AppTest

from tests.ui.driving import PATIENCE, components, payload, payloads, send, set_to, widgets

FRAME = ("token_strip", "theme_switch", "glossary", "model_strip")  # components that show no picture of a page


def complete(app: AppTest) -> AppTest:
    """Run the page again, as a browser does, until its works are done and its film has the frames it opens with."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if "film" in components(app):
            film = payload(app, "film")[0]
            have = len(film["frames"])
            if have > film["goal"] or film["stop"]:
                return app
            asked = {"film": film["film"], "have": have, "wanted": film["goal"] + 1 - have, "ask": film["answered"] + 1}
            send(app, "film", "more", asked)
        elif app.get("progress") or _growing(app):
            with patch("jobs.incremental_task.BUDGET", 5.0):  # as until() does
                app.run()
        else:
            return app
    raise AssertionError(f"not complete after {PATIENCE} s: {components(app)}")


def _growing(app: AppTest) -> bool:
    """Whether a chart has points to come; one with a knob of its own is whole."""
    return any(not meta.get("knob") for meta, _arrays in payloads(app, "chart"))


def words(app: AppTest) -> str:
    """Every word that is shown: HTML without its marks, Markdown, code, and what components are given to write."""
    parts = [
        re.sub(r"<style>.*?</style>|<[^>]+>", " ", element.proto.body, flags=re.DOTALL) for element in app.get("html")
    ]
    parts += [element.value for element in (*app.caption, *app.code, *app.markdown)]
    for name in dict.fromkeys(components(app)):
        if name not in FRAME:
            parts += [json.dumps(meta, ensure_ascii=False) for meta, _arrays in payloads(app, name)]
    return re.sub(r"\s+", " ", unescape(" ".join(parts)))


def settings(app: AppTest) -> list[str]:
    """What every control is set to, in the words of its option; a switch that is on by its label; the open head."""
    found: list[str] = []
    for meta, _arrays in payloads(app, "model_strip"):
        found.append(("L{}" if meta["picks"] == "layers" else "L{}H{}").format(*meta["open"]))
    for proto in widgets(app):
        value = set_to(proto)
        if isinstance(value, bool):
            found += [proto.label] * value
        else:
            found += [
                f"{one:g}" if isinstance(one, float) else str(one)
                for one in (value if isinstance(value, list) else [value])
            ]
    return found


def drawn(app: AppTest) -> Iterator[tuple[str, np.ndarray]]:
    """Every array that a picture gets, by the name of its component or of its line in a chart."""
    for name in dict.fromkeys(components(app)):
        for _meta, arrays in payloads(app, name):
            yield from ((name, array.astype(np.float64)) for array in arrays.values())
    for chart in app.get("plotly_chart"):
        for line in json.loads(chart.proto.spec)["data"]:
            numbers = line["x"] if line["type"] == "bar" else line["y"]
            yield line.get("name") or "bars", np.array([np.nan if one is None else one for one in numbers], float)


def fingerprint(array: np.ndarray) -> float:
    """A number for all values of an array, each weighted by its place: in another order they give another number."""
    values = np.where(np.isfinite(array), array, 0.0).ravel()
    return float(values @ np.cos(np.arange(len(values))))


def rounding(array: np.ndarray) -> float:
    """How far the fingerprints of equal pictures may be apart: float32 sums in another order, and steps of a colour.

    Small values may be differences of logits of size 20, which other machines round otherwise.
    """
    return 2e-4 * float(np.abs(array[np.isfinite(array)]).sum()) + 1e-4
