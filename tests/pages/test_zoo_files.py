"""What the page Zoo has to take away of its maps: tables, files and lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from analysis.zoo import substituted
from attention.zoo.table import BY_NAME
from tests.pages.zoo_driving import close, head, offering

NAMES = [name for name, variant in BY_NAME.items() if variant.name != "softmax"]


@pytest.fixture
def offered(monkeypatch):
    return offering(monkeypatch)


def test_the_files_and_the_lines_hold_the_maps(offered):
    tables, take = offered(variant="polaformer", beside="delta", **{"values.polaformer.power": "150"})
    first = substituted(head(), BY_NAME["polaformer"], {"power": 150, "opposite": 0})
    second = substituted(head(), BY_NAME["delta"], {})
    assert list(tables)[:3] == ["PolaFormer", "DeltaNet", "softmax"]
    close(tables["PolaFormer"].to_numpy(), first.weights)
    assert "polaformer (power 150, opposite 0) in the place of softmax, substituted, not trained" in take.csv
    np.testing.assert_allclose(take.arrays["second_output"], second.output)
    np.testing.assert_allclose(take.arrays["first_difference"], first.difference)
    names: dict[str, Any] = {}
    exec(compile(take.snippet, "snippet", "exec"), names)
    np.testing.assert_allclose(names["first"].weights, first.weights)
    assert names["second"].error == pytest.approx(second.error)
    assert "substituted" in take.svg


@pytest.mark.parametrize("name, beside", [*zip(NAMES[::2], [*NAMES[1::2], NAMES[0]], strict=False)])
def test_every_variant_has_its_tables_and_lines(offered, name, beside):
    tables, take = offered(variant=name, beside=beside)
    labels = [BY_NAME[one].label for one in (name, beside)]
    assert list(tables)[:3] == [*labels, "softmax"]
    assert ("kept of a token" in tables) == ("mla" in (name, beside))
    compile(take.snippet, "snippet", "exec")
