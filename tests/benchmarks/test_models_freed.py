"""An evicted model frees its memory."""

from __future__ import annotations

import pytest

from benchmarks import models_freed


@pytest.mark.long  # three folders of 200 MB, in a process that loads them
def test_a_third_model_takes_the_room_of_the_first(capfd: pytest.CaptureFixture[str]) -> None:
    models_freed.main(["--folders=3"])
    said = capfd.readouterr().out
    rows = [line.split(" | ") for line in said.splitlines() if line.startswith("| after")]
    assert [row[1] for row in rows] == ["2", "2", "2"]
    above = [int(row[3].split()[0].replace(",", "")) for row in rows]
    assert above[1] - above[0] > 150  # the second has its own
    assert "MB ok" in said
