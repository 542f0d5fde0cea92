"""The lines of "Export" of Step by step and The block, run as they stand, give what the view's files hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.ui.driving import open_app, payload
from tests.ui.taken import Taken, taken
from ui.shared import export_bundle
from ui.shared.export_bundle import ExportBundle
from ui.shell.page import PageContext

pytestmark = pytest.mark.table

Lines = dict[str, Any]
# Of each view: names that its lines give, and where the same numbers are: in the NPZ, or in a matrix of the figure.
VIEWS: list[tuple[str, dict[str, str], dict[str, Callable[[Lines], Any]]]] = [
    ("steps", {"steps.numbers": "X01_2", "steps.heads": "2"}, {
        "output": lambda own: own["output"], "added": lambda own: own["added"], "q": lambda own: own["q"]}),
    ("steps", {"steps.source": "model", "layer": "6", "head": "4"}, {
        "A": lambda own: own["weights"], "Y": lambda own: own["chain"].matrices["Y"].values}),
    ("steps", {"steps.view": "scale", "steps.wide": "256", "steps.scaled": "0"}, {
        "gradient": lambda own: own["gradient"], "matrix A": lambda own: own["weights"][None]}),
    ("steps", {"steps.view": "length", "steps.gap": "6"}, {}),
    ("steps", {"steps.view": "softmax", "steps.largest": "12"}, {
        "matrix N": lambda own: own["naive"][None], "matrix A": lambda own: own["safe"][None],
        "matrix L": lambda own: own["logs"][None],
        "matrix R": lambda own: [[one.largest for one in own["reads"]], [one.total for one in own["reads"]]]}),
    ("steps", {"steps.view": "similarity"}, {
        "matrix S": lambda own: own["products"], "matrix COS": lambda own: own["cosines"],
        "matrix ADD": lambda own: own["additive"]}),
    ("steps", {"steps.view": "similarity", "steps.source": "model"}, {
        "matrix S": lambda own: own["products"], "matrix COS": lambda own: own["cosines"],
        "cosines": lambda own: own["every_cosine"], "lengths": lambda own: own["every_length"],
        "products": lambda own: own["every_product"]}),
    ("steps", {"steps.view": "others"}, {}),
    ("block", {"block.view": "architecture", "block.block": "2", "query": "3"}, {
        f"vector_{place}": lambda own, place=place: own["vectors"][place] for place in (1, 2, 6, 14)}),
    ("block", {"block.view": "architecture", "model": "translator", "attention": "encoder", "query": "1"}, {
        f"vector_{place}": lambda own, place=place: own["vectors"][place] for place in (1, 2, 5)}),
    ("block", {"block.view": "learning", "model": "translator", "attention": "cross", "block.rate": "0.03"}, {
        "before": lambda own: own["learned"].before, "heads": lambda own: own["learned"].heads}),
    ("block", {"block.view": "stream", "query": "3"}, {"vectors": lambda own: own["added"].vectors}),
    ("block", {"block.view": "norms", "block.layer": "3"}, {
        "before": lambda own: own["before"], "BatchNorm": lambda own: own["after"]["BatchNorm"]}),
    ("block", {"block.view": "ffn", "block.layer": "3"}, {"values": lambda own: own["units"].values}),
    ("block", {"block.view": "experts", "block.experts": "random", "block.expert_layer": "2"}, {
        "picks": lambda own: own["picks"], "picked_weights": lambda own: own["weights"]}),
    ("block", {"block.view": "lens"}, {"kl": lambda own: own["kl"], "first": lambda own: own["first"]}),
    ("block", {"block.view": "learning", "block.rate": "0.03"}, {
        "before": lambda own: own["learned"].before, "heads": lambda own: own["learned"].heads}),
]  # fmt: skip  # a view a paragraph
SAID = {  # what has no array of its own is in a table
    "length": lambda own: [*own["bits"], *own["random"], *own["weights"]],
    "others": lambda own: [number for row in own["rows"] for number in row],
    "softmax": lambda own: [number for row in own["costs"] for number in row],
    "scale": lambda own: [*own["variances"], *own["largest"], *own["divided"]],
    "norms": lambda own: [*own["growth"][""], *own["growth"]["post"]],
    "architecture": lambda own: [own["likeliest"]],
}


@pytest.mark.parametrize(
    "page, address, same",
    VIEWS,
    ids=lambda one: (
        "-".join(one.values()) if isinstance(one, dict) and one and isinstance(next(iter(one.values())), str) else None
    ),
)
def test_the_lines_give_what_is_shown(monkeypatch, page, address, same):
    offered: list[Taken] = []
    shown: list[float] = []

    def keep(opened: PageContext, found: ExportBundle) -> None:
        offered.append(taken(opened, found))
        for table in found.tables().values():
            numbers = table.apply(pd.to_numeric, errors="coerce").to_numpy()
            shown.extend(numbers.ravel().tolist())

    monkeypatch.setattr(export_bundle, "show_file_menu", keep)
    app = open_app(page=f"pages/{page}/page.py", **address)
    own: Lines = {}
    exec(compile(offered[-1].snippet, "snippet", "exec"), own)
    held = offered[-1].arrays
    for name, made in same.items():
        if name.startswith("matrix "):
            values = payload(app, "step_by_step")[0]["chain"]["matrices"][name.removeprefix("matrix ")]["values"]
            expected = [[float("-inf") if one is None else float(one) for one in row] for row in values]
        else:
            expected = held[name]
        np.testing.assert_allclose(np.asarray(made(own), float), np.asarray(expected, float), rtol=1e-5, atol=1e-6)
    known = {f"{one:.5g}" for one in shown}
    numbers = SAID[address.get(f"{page}.view", "")](own) if address.get(f"{page}.view") in SAID else []
    assert [one for one in numbers if f"{float(one):.5g}" not in known] == []
