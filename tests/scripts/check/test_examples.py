"""What the file beside each embedded model says of the application's examples is what is measured, and may be told."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.examples import examples_of
from analysis.stories import CLEAR, FILE, evidence_of
from model_runner import CaptureRequest, load_runner
from model_runner.edits import ScaledHead
from model_runner.local.loading.model_folder import EMBEDDED
from scripts.check import examples
from scripts.check.examples import StoryBroken, row, story_of
from scripts.check.story_claims import BESIDE, CLAIMS
from scripts.check.story_reader import Reader
from scripts.check.story_rule import SENTENCES, SHARE, STILL, Measured, measure, trials

NUMBERS = ("weight", "probability", "without", "without_control", "other_weight")
FEW = 40  # sentences of the 200; a share of them is as far from that of all as chance has it
EVERY = [(name, example.text) for name in EMBEDDED for example in examples_of(name, "en")]


def held(name: str) -> list[dict[str, Any]]:
    return json.loads((EMBEDDED[name] / FILE).read_text("utf-8"))


@functools.cache
def reader(name: str) -> Reader:
    return Reader(EMBEDDED[name])


def made_now(name: str, text: str, count: int) -> dict[str, Any]:
    example = next(one for one in examples_of(name, "en") if one.text == text)
    return row(load_runner(name), reader(name), name, example, count=count)


def written(name: str, text: str) -> dict[str, Any]:
    return next(one for one in held(name) if one["text"] == text)


@pytest.mark.parametrize("name", EMBEDDED)
def test_the_file_has_every_example_in_order(name: str) -> None:
    assert [one["text"] for one in held(name)] == [example.text for example in examples_of(name, "en")]


@pytest.mark.parametrize("name, text", EVERY)
def test_what_is_written_of_the_text_itself_is_what_it_shows(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    before = written(name, text)
    monkeypatch.setattr(examples, "evidence", lambda *_args, **_more: (before["told"], before["held_out"]))
    now = made_now(name, text, FEW)
    assert {key: value for key, value in now.items() if key not in NUMBERS} == {
        key: value for key, value in before.items() if key not in NUMBERS
    }
    for key in NUMBERS:
        assert now.get(key) == pytest.approx(before.get(key), abs=0.01), (text, key)


@pytest.mark.parametrize("name, text", [one for one in EVERY if one[1] in CLAIMS[one[0]]])
def test_what_is_written_of_sentences_like_it_is_what_some_of_them_show(name: str, text: str) -> None:
    claim, before = CLAIMS[name][text], written(name, text)["held_out"]
    now = measure(reader(name), claim, trials(reader(name), claim.template, text, count=FEW))
    for key in ("looks", "follows", "stays", "hangs"):  # four standard deviations of a share of FEW, at most
        assert getattr(now, key) == pytest.approx(before[key], abs=0.32), (text, key)


@pytest.mark.long
@pytest.mark.parametrize("name, text", EVERY)
def test_what_is_written_is_what_all_of_the_sentences_show(name: str, text: str) -> None:
    now, before = made_now(name, text, SENTENCES), written(name, text)
    assert now.get("told") == before.get("told")
    for key, value in before.get("held_out", {}).items():
        if key != "beside":
            assert now["held_out"][key] == pytest.approx(value, abs=0.01), (text, key)


@pytest.mark.parametrize("name, text", EVERY)
def test_a_story_says_why_only_where_all_four_hold_on_two_hundred_sentences(name: str, text: str) -> None:
    before = written(name, text)
    if "told" not in before:
        assert before["probability"] >= CLEAR, text
        return
    facts = before["held_out"]
    assert facts["sentences"] >= 200, text
    shares = [facts["follows"], facts["stays"], facts["hangs"]]
    match before["told"]:
        case "why":
            assert min(facts["looks"], *shares) >= SHARE, (text, facts)
            assert facts["control"] <= STILL, (text, facts)
            layers = [sorted(place[0] for place in before[kind]) for kind in ("heads", "control")]
            assert layers[0] == layers[1], text
            assert before["without"] < before["probability"], text
        case "where":
            assert facts["looks"] >= SHARE, (text, facts)
            assert min(shares) < SHARE or facts["control"] is None or facts["control"] > STILL, (text, facts)
        case "two":
            assert max(abs(one["fall"]) for one in (facts, facts["beside"])) <= STILL, (text, facts)
            assert abs(before["without"] - before["probability"]) < 0.01, text
        case told:
            raise AssertionError(told)
    assert before["weight"] >= CLEAR, text


def test_the_first_example_says_why_and_the_next_one_that_a_look_is_no_reason() -> None:
    for ascii in (True, False):  # English, Chinese
        told = [one.get("told") for one in held("default") if one["text"].isascii() is ascii]
        assert told[:2] == ["why", "two"]
        assert told.count("two") == 1


@pytest.mark.parametrize("text", [one["text"] for one in held("default") if one.get("told") in ("why", "two")])
def test_the_applications_own_ablation_says_the_same(text: str) -> None:
    before, runner = written("default", text), load_runner()
    token = int(runner.capture(CaptureRequest(text)).logits(-1).argmax())
    assert runner.token_text(token) == before["next"]
    for key, places in (("probability", []), ("without", before["heads"]), ("without_control", before["control"])):
        edits = tuple(ScaledHead(layer, head, 0.0) for layer, head in places)
        shares = runner.capture(CaptureRequest(text, edits=edits)).logits(-1).softmax(-1)
        assert float(shares[token]) == pytest.approx(before[key], abs=1e-3), (text, key)
    if before["told"] == "why":
        evidence = evidence_of("default", text)
        assert evidence is not None
        assert [list(place) for place in evidence.heads] == before["heads"]


def test_a_broken_example_is_named_with_its_value(monkeypatch: pytest.MonkeyPatch) -> None:
    example = examples_of("default", "en")[0]
    lost = replace(CLAIMS["default"][example.text], heads=((0, 0),), control=())
    monkeypatch.setattr(examples, "CLAIMS", {"default": {example.text: lost}})
    with pytest.raises(StoryBroken, match=rf"“{example.text}”.*looks at its word in \d+% of 20 sentences"):
        row(load_runner(), reader("default"), "default", example, count=20)
    monkeypatch.setattr(examples, "CLAIMS", {"default": {}})
    with pytest.raises(StoryBroken, match="has no story"):
        row(load_runner(), reader("default"), "default", example, count=20)


def test_looks_that_do_count_are_no_example_of_looks_that_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    example = examples_of("default", "en")[0]
    claim = CLAIMS["default"][example.text]
    monkeypatch.setattr(examples, "BESIDE", {example.text: claim})
    with pytest.raises(StoryBroken, match="no reason, but without one"):
        row(load_runner(), reader("default"), "default", example, count=20)


def test_every_claim_is_of_an_example_with_a_story() -> None:
    for name, claims in CLAIMS.items():
        texts = [example.text for example in examples_of(name, "en")]
        assert set(claims) <= set(texts)
        assert all(story_of(text).text == text for text in claims)
    assert all(story_of(text).beside for text in BESIDE)


@pytest.mark.parametrize(
    "changed, told",
    [
        ({}, "why"),
        ({"follows": 0.79}, "where"),
        ({"stays": 0.79}, "where"),
        ({"hangs": 0.79}, "where"),
        ({"control": 0.21}, "where"),
        ({"control": None}, "where"),
        ({"looks": 0.79}, "not"),
    ],
)
def test_each_part_of_the_rule_can_fail_alone(changed: dict[str, float | None], told: str) -> None:
    whole: dict[str, Any] = {"sentences": 200, "looks": 1.0, "follows": 0.9, "stays": 0.9, "hangs": 0.9, "fall": 2.0}
    assert Measured(**whole | {"control": 0.1} | changed).told == told


def test_the_default_models_examples_are_in_both_languages_the_readers_first() -> None:
    for language in ("en", "zh"):
        ascii_ = [example.text.isascii() for example in examples_of("default", language)]
        assert ascii_ == sorted(ascii_, reverse=language == "en")
        assert min(ascii_.count(True), ascii_.count(False)) >= 6


def test_a_model_that_is_not_embedded_has_no_evidence(tmp_path: Path) -> None:
    text = examples_of("default", "en")[0].text
    assert evidence_of(str(tmp_path), text) is None
    assert evidence_of("default", "Another text") is None
