"""What the page Zoo has to take away of its maps: tables, files and lines."""

from __future__ import annotations

import base64
import csv
import re
from typing import Any

import numpy as np
import pytest

from analysis.zoo import substituted
from attention.zoo.table import BY_NAME
from tests.pages.zoo_driving import close, head, offering
from tests.viz.components.test_packing import unpacked

NAMES = [name for name, variant in BY_NAME.items() if variant.name != "softmax"]


@pytest.fixture
def offered(monkeypatch):
    return offering(monkeypatch)


def test_the_files_and_the_lines_hold_the_maps(offered):
    tables, take = offered(variant="polaformer", beside="delta", **{"values.polaformer.power": "150"})
    first = substituted(head(), BY_NAME["polaformer"], {"power": 150})
    second = substituted(head(), BY_NAME["delta"], {})
    assert list(tables)[:3] == ["PolaFormer", "DeltaNet", "softmax"]
    close(tables["PolaFormer"].to_numpy(), first.weights)
    numbers = "power 150, opposite 0, gate_same 100, gate_opposite 100"
    assert f"polaformer ({numbers}) in the place of softmax, substituted, not trained" in take.csv
    assert "; delta (" in take.csv
    np.testing.assert_allclose(take.arrays["second_output"], second.output)
    np.testing.assert_allclose(take.arrays["first_difference"], first.difference)
    names: dict[str, Any] = {}
    exec(compile(take.snippet, "snippet", "exec"), names)
    np.testing.assert_allclose(names["first"].weights, first.weights)
    assert names["second"].error == pytest.approx(second.error)
    assert "substituted" in take.svg


@pytest.mark.parametrize(
    "beside, third", [("delta", "DeltaNet"), ("difference", "PolaFormer · difference from softmax")]
)
def test_every_file_holds_all_the_maps_that_stand_side_by_side(offered, beside, third):
    tables, take = offered(variant="polaformer", beside=beside)
    names, wanted = ["softmax", "PolaFormer", third], len(head().q)
    lines = [line for line in csv.reader(take.csv.splitlines()) if not line[0].startswith("#")]
    assert [name.split(" · 0 ")[0] for name in lines[0][1::wanted]] == names
    found = np.array([[float(cell or "nan") for cell in line[1:]] for line in lines[1:]])
    close(found, np.hstack([tables[name].to_numpy() for name in names]))
    assert take.svg.count("<image") == 3
    assert all(f">{name}<" in take.svg for name in names)
    assert len(set(re.findall(r'id="(atlas-scale\d*)"', take.svg))) == 3
    packed = re.findall(r'class="payload">([^<]*)<', take.html)
    assert re.findall(r"<h2>(.*?)</h2>", take.html) == names
    for data, name in zip(packed, names, strict=True):
        close(unpacked(base64.b64decode(data))[1]["values"], tables[name].to_numpy())


@pytest.mark.parametrize("name, beside", [*zip(NAMES[::2], [*NAMES[1::2], NAMES[0]], strict=False)])
def test_every_variant_has_its_tables_and_lines(offered, name, beside):
    tables, take = offered(variant=name, beside=beside)
    labels = [BY_NAME[one].label for one in (name, beside)]
    assert list(tables)[:3] == [*labels, "softmax"]
    assert ("kept per token" in tables) == ("mla" in (name, beside))
    compile(take.snippet, "snippet", "exec")
