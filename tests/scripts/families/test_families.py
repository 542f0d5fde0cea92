"""The table of families is what the sweep measures, and what it calls wrong is wrong."""

from __future__ import annotations

import json
import os
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from analysis.sinks import SCALED_AFTER
from model_runner.errors import NotCapturable
from model_runner.local.loading.known_families import NEEDS, TABLE, can_be_captured
from model_runner.local.recording.mismatch_reason import CHANGES, UNEXPLAINED
from scripts.families import __main__ as sweep
from scripts.families import trying
from scripts.families.__main__ import main
from scripts.families.known import UNSURE
from scripts.families.own_sizes import FORMS
from scripts.families.small import families
from scripts.families.trying import OUTCOMES, SCALED, SINK, Tried, tried

DOC = Path(__file__).parents[3] / "docs" / "families.md"
ROW = re.compile(r"\| ([^|]+) \| (\S+) \| ([^|]+) \| (.+) \|")
PYTHON = re.compile(
    r"NoneType|\bindex\b|shape '?\[|\btensors?\b|[A-Z]\w*(Error|Exception)\b|\bargument\b|\bobject\b|_\w+\("
)
ONE_OF_EACH = {
    "llama": "causal",
    "gemma2": "causal",
    "bert": "masked",
    "t5": "sequence-to-sequence",
    "gptj": "causal",
    "gpt_oss": "causal",
    "granite_swa": "causal",
    "neomme": "masked",  # windows that differ by layer
    "deepseek_v4": "causal",  # keys of blocks beside those of tokens
    "qwen4_exp_text": "causal",  # its indexer turns one vector alone
}


def rows(text, which=1):
    """Family → (mapping, outcome, what is said of it); ``which`` table, of the types or, 2, of other forms of them."""
    lines = text.split("| --- | --- | --- | --- |")[which].splitlines()
    found = [found for line in lines if (found := ROW.fullmatch(line))]
    return {one[1]: one.groups()[1:] for one in found if one[1] not in ("family", "form")}


def measured(row):
    """Without the digits of a difference, which other machines round otherwise."""
    return (*row[:2], re.sub(r"\d+e[-+]\d+", "e", row[2]))


def test_the_document_tells_of_every_family_and_of_none_that_is_wrong():
    found = rows(DOC.read_text("utf-8"))
    assert {(mapping, family) for family, (mapping, _, _) in found.items()} == set(families())
    counts = {outcome: sum(row[1] == outcome for row in found.values()) for outcome in OUTCOMES}
    assert counts["wrong"] == 0
    captured = counts["captured"] + counts["captured, without a reference"]
    assert captured >= 175
    head = " ".join(DOC.read_text("utf-8").split("| family")[0].split())
    assert f"{len(found)} types: {captured} captured and right" in head


def test_every_reason_is_a_sentence_and_nothing_is_left_out_for_want_of_sizes():
    text = DOC.read_text("utf-8")
    for family, (_, outcome, said) in (rows(text) | rows(text, 2)).items():
        assert not PYTHON.search(said), f"{family}: {said}"
        assert outcome != "not tried"


@pytest.mark.parametrize(
    "reason", sorted({said for _, outcome, said in rows(DOC.read_text("utf-8")).values() if outcome == "refused"})
)
def test_what_is_advised_beside_a_reason_says_no_more_of_the_model_than_the_reason_does(reason):
    """Of the families that are refused, many do attend by softmax: ALBERT, DiffLlama, DeepSeek V3.2."""
    advice = str(NotCapturable(name="a model", family="a family", reason=reason)).split(f"{reason}. ")[1]
    for word in ("softmax", "layer", "attention", "text"):
        assert word not in advice


def test_the_families_that_are_advised_instead_can_be_captured():
    families_of = {"Llama": "llama", "Qwen": "qwen3", "Gemma": "gemma3", "GPT-2": "gpt2", "BERT": "bert"}
    advised = re.search(r"such as (.*)\.", NotCapturable.hint)
    assert advised is not None
    assert re.split(r", | or ", advised[1]) == list(families_of)
    assert all(can_be_captured({"model_type": family}) for family in families_of.values())


def test_what_a_row_of_a_family_does_not_say_has_a_row_of_its_own():
    found = rows(DOC.read_text("utf-8"), 2)
    assert set(found) == {form.name for form in FORMS}
    outcomes = {form.family: found[form.name][1] for form in FORMS}
    assert {family for family, outcome in outcomes.items() if outcome == "refused"} == {"longt5"}


def test_what_the_app_knows_before_it_loads_is_what_the_document_says():
    text = DOC.read_text("utf-8")
    told, table = rows(text), json.loads(TABLE.read_text("utf-8"))
    captured = {family for family, (_, outcome, _) in told.items() if outcome.startswith("captured")}
    assert set(table["captured"]) == captured - UNSURE  # of these the parts of a model decide
    assert "encoder-decoder" in captured & UNSURE
    forms = {form.family: rows(text, 2)[form.name] for form in FORMS if form.where}
    for family, one in table["refused"].items():
        assert (forms[family] if family in forms else told[family])[1:] == ("refused", one["reason"])
    assert {"funnel", "yoso", "fnet"} <= set(table["refused"])
    assert {
        "albert",
        "diffllama",
        "longcat_flash",
        "hrm_text",
        "mamba",
        "mamba2",
        "falcon_mamba",
        "rwkv",
        "xlstm",
    } <= set(table["captured"])


def test_no_reason_is_a_symptom_alone():
    for family, (_, outcome, said) in rows(DOC.read_text("utf-8")).items():
        assert outcome != "refused" or said not in (CHANGES, UNEXPLAINED), family


def test_one_of_each_kind_measures_as_the_document_says(capfd):
    main(["--only", ",".join(ONE_OF_EACH)])
    found, told = rows(capfd.readouterr().out), rows(DOC.read_text("utf-8"))
    for family, mapping in ONE_OF_EACH.items():
        assert found[family][0] == mapping
        assert measured(found[family]) == measured(told[family])


def test_what_needs_a_library_that_is_not_here_keeps_what_was_found_with_it(tmp_path, monkeypatch):
    """And jobs that run at once are told in their order, each in a process of its own."""
    monkeypatch.setattr(sweep, "families", lambda: [("causal", "llama"), ("causal", "gemma3n"), ("masked", "bert")])
    monkeypatch.setattr(sweep, "FORMS", ())
    monkeypatch.setattr(sweep, "TABLE", tmp_path / "known.json")
    sweep.TABLE.write_text(TABLE.read_text("utf-8"), "utf-8")
    (written := tmp_path / "families.md").write_text(DOC.read_text("utf-8"), "utf-8")
    said = {"gemma3n": "not tried", "llama": "captured", "bert": "refused"}
    monkeypatch.setattr(
        sweep, "tried", lambda mapping, family: Tried(mapping, family, said[family], f"in {os.getpid()}")
    )
    main(["--jobs", "2", "--write", str(written)])
    found = rows(written.read_text("utf-8"))
    assert found["gemma3n"] == rows(DOC.read_text("utf-8"))["gemma3n"]
    assert [found[family][1] for family in ("llama", "bert")] == ["captured", "refused"]
    assert len({found[family][2] for family in ("llama", "bert")} | {f"in {os.getpid()}"}) == 3


WITH_SINKS = {"flint", "gpt_oss", "hy_v4", "inkling2_text", "mimo_v2_flash"}


def test_a_sink_is_measured_to_scale_after_the_softmax_where_the_pages_say_so():
    found = {family: row[2] for family, row in rows(DOC.read_text("utf-8")).items()}
    assert {family for family, said in found.items() if SCALED in said} == set(SCALED_AFTER)
    assert {family for family, said in found.items() if SINK in said} == WITH_SINKS


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
@pytest.mark.timeout(3600)  # hundreds of models, a few seconds each on two busy cores
def test_the_whole_sweep_measures_what_the_document_says(capfd):
    main([])
    found, told = rows(capfd.readouterr().out), rows(DOC.read_text("utf-8"))
    here = [family for family in told if family not in NEEDS or find_spec(NEEDS[family][0])]
    assert set(found) == set(told)
    assert {family: measured(found[family]) for family in here} == {family: measured(told[family]) for family in here}
