"""The LRU cache stays within its byte budget, evicts the least recently used, and notifies the owner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from model_runner import memory
from model_runner.byte_lru import ByteBudgetCache, weight


def test_what_was_used_longest_ago_goes_first_and_is_told() -> None:
    kept, told = ByteBudgetCache(100), []
    for name in "abc":
        kept.put("captures" if name == "a" else "films", name, name.upper(), 30, lambda name=name: told.append(name))
    assert kept.get("captures", "a") == "A"
    kept.put("drawn", "d", "D", 40)
    assert told == ["b"]
    assert [kept.get(*one) for one in (("captures", "a"), ("films", "b"), ("films", "c"), ("drawn", "d"))] == [
        "A", None, "C", "D"
    ]  # fmt: skip
    assert kept.nbytes == 100
    assert kept.nbytes_of("films") == 30


def test_what_weighs_more_under_the_same_name_makes_room_as_it_grows() -> None:
    kept, told = ByteBudgetCache(100), []
    kept.put("films", "mine", None, 10, lambda: told.append("mine"))
    kept.put("films", "yours", None, 10, lambda: told.append("yours"))
    for size in (40, 80, 95):
        kept.put("films", "mine", None, size, lambda: told.append("mine"))
    assert (told, kept.nbytes) == (["yours"], 95)
    kept.put("films", "mine", None, 101, lambda: told.append("mine"))
    assert (told, kept.nbytes) == (["yours", "mine"], 0)


def test_a_group_is_forgotten_untold() -> None:
    kept, told = ByteBudgetCache(100), []
    kept.put("a", 1, "x", 10, lambda: told.append(1))
    kept.put("a", 2, "x", 10)
    kept.put("b", 1, "x", 10)
    kept.forget("a", 2)
    assert kept.nbytes == 20
    kept.forget("a")
    assert (kept.nbytes, told, kept.get("b", 1)) == (10, [], "x")


@dataclass(frozen=True)
class Drawn:
    labels: tuple[str, ...]
    values: np.ndarray


def test_a_weight_is_that_of_arrays_and_texts_once_each() -> None:
    array, text = np.zeros(10_000), "x" * 5_000
    assert weight(Drawn((text, text), array)) == pytest.approx(80_000 + 5_000, abs=500)
    assert weight([array, array, {"a": array}]) == pytest.approx(80_000, abs=600)


@pytest.mark.parametrize(
    "setting, size", [("512 MB", 512 << 20), ("2 GB", 2 << 30), (" 1.5 gb ", 3 << 29), ("1000", 1000)]
)
def test_a_budget_is_set_in_words(setting: str, size: int) -> None:
    assert memory.budget(setting) == size


def test_a_budget_that_is_no_size_is_no_budget() -> None:
    with pytest.raises(ValueError, match="(?i)much"):
        memory.budget("much")


def test_without_a_setting_it_is_a_part_of_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda _: 400 << 20)
    assert memory.budget("") == 100 << 20
    monkeypatch.setattr(memory, "available", lambda _: 400 << 30)
    assert memory.budget("") == 1 << 30


def test_what_several_entries_hold_counts_once_until_the_last_of_them_goes() -> None:
    kept, array, other = ByteBudgetCache(100_000), np.zeros(5_000), np.zeros(1_000)
    kept.put("captures", "a", array, parts=[array])
    kept.put("films", "b", None, parts=[[array, other]])
    assert kept.nbytes == pytest.approx(40_000 + 8_000, abs=200)
    assert kept.nbytes_of("captures") == 40_000
    kept.forget("captures")
    assert kept.nbytes == pytest.approx(40_000 + 8_000, abs=200)
    kept.put("films", "b", None, parts=[other])
    assert kept.nbytes == 8_000
    kept.forget("films")
    assert kept.nbytes == 0
    kept.put("films", "b", None, parts=[np.zeros(20_000)])  # more than there is room for
    assert kept.nbytes == 0


def test_what_names_its_parts_is_made_of_them() -> None:
    class Film:
        def __init__(self, *parts: object) -> None:
            self.parts = parts

    array = np.zeros(10_000)
    assert weight([Film(array, None), Film(array)]) == pytest.approx(80_000, abs=200)
