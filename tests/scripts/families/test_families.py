"""The table of families is what the sweep measures, and what it calls wrong is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from analysis.sinks import SCALED_AFTER
from scripts.families import trying
from scripts.families.__main__ import main
from scripts.families.small import families
from scripts.families.trying import OUTCOMES, SCALED, SINK, tried

DOC = Path(__file__).parents[3] / "docs" / "families.md"
ROW = re.compile(r"\| (\S+) \| (\S+) \| ([^|]+) \| (.+) \|")
ONE_OF_EACH = {
    "llama": "causal", "gemma2": "causal", "bert": "masked", "t5": "sequence-to-sequence", "gptj": "causal",
    "gpt_oss": "causal", "granite_swa": "causal",
}  # fmt: skip  # as many as fit


def rows(text):
    """Family → (mapping, outcome, what is said of it)."""
    lines = text.partition("| --- |")[2].splitlines()
    return {found[1]: found.groups()[1:] for line in lines if (found := ROW.fullmatch(line))}


def measured(row):
    """Without the digits of a difference, which other machines round otherwise."""
    return (*row[:2], re.sub(r"\d+e[-+]\d+", "e", row[2]))


def test_the_document_tells_of_every_family_and_of_none_that_is_wrong():
    found = rows(DOC.read_text("utf-8"))
    assert {(mapping, family) for family, (mapping, _, _) in found.items()} == set(families())
    counts = {outcome: sum(row[1] == outcome for row in found.values()) for outcome in OUTCOMES}
    assert counts["wrong"] == 0
    captured = counts["captured"] + counts["captured, without a reference"]
    assert captured >= 150
    head = " ".join(DOC.read_text("utf-8").split("| family")[0].split())
    assert f"{len(found)} types: {captured} captured and right" in head


def test_one_of_each_kind_measures_as_the_document_says(capfd):
    main(["--only", ",".join(ONE_OF_EACH)])
    found, told = rows(capfd.readouterr().out), rows(DOC.read_text("utf-8"))
    for family, mapping in ONE_OF_EACH.items():
        assert found[family][0] == mapping
        assert measured(found[family]) == measured(told[family])


def test_a_sink_is_measured_to_scale_after_the_softmax_where_the_pages_say_so():
    found = {family: row[2] for family, row in rows(DOC.read_text("utf-8")).items()}
    assert {family for family, said in found.items() if SCALED in said} == set(SCALED_AFTER)
    assert {family for family, said in found.items() if SINK in said} == {"flint", "gpt_oss", "mimo_v2_flash"}


def test_weights_that_are_not_the_models_own_are_called_wrong(monkeypatch):
    real = trying.LocalRunner

    class Sharper(real):
        def __init__(self, model, *args, **options):
            for name, parameter in model.named_parameters():
                if "q_proj" in name:
                    parameter.data.mul_(1.01)
            super().__init__(model, *args, **options)

    monkeypatch.setattr(trying, "LocalRunner", Sharper)
    assert tried("causal", "llama").outcome == "wrong"


@pytest.mark.long
def test_the_whole_sweep_measures_what_the_document_says(capfd):
    main([])
    found, told = rows(capfd.readouterr().out), rows(DOC.read_text("utf-8"))
    assert {family: measured(row) for family, row in found.items()} == {
        family: measured(row) for family, row in told.items()
    }
