"""The description of a head's pattern equals counting rows by hand, and is found in heads made to have it."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import torch

from analysis.head_habit import Habit, head_habits, strongest_keys
from model_runner import Capture
from model_runner.mask_rule import FULL
from tests.analysis.made import causal_noise, made_capture

IDS = [9, 4, 5, 6, 4, 5, 6, 4, 5]
N = len(IDS)


def looking(at: Callable[[int], int], *, ids: list[int] = IDS, text: str | None = None, ahead: bool = False) -> Capture:
    """A head of which each row gives most of its weight to one key, and the rest to all that it sees."""
    n = len(ids)
    weights = torch.ones(1, 1, n, n, dtype=torch.float64)
    weights = weights if ahead else weights.tril()
    for query in range(n):
        weights[0, 0, query, at(query)] += 9
    made = weights / weights.sum(-1, keepdim=True)
    return made_capture(made, ids=ids, text=text, **({"mask": FULL} if ahead else {}))


def of(capture: Capture) -> tuple[str, int, int, int] | None:
    most = head_habits(capture, 0, 0).most
    return most and (most.kind, most.at, most.hits, most.rows)


@pytest.mark.parametrize("n, causal", [(1, True), (9, True), (300, True), (9, False)])
def test_where_rows_look_most_is_what_a_loop_finds(n: int, causal: bool) -> None:
    weights = causal_noise(n, layers=2, heads=2)
    capture = made_capture(weights) if causal else made_capture(weights.flip(-1, -2), mask=FULL)
    kept = capture.weights(1, 0).double()
    expected = [(query, max(range(n), key=lambda key: kept[query, key])) for query in range(n) if query or not causal]
    assert strongest_keys(capture, 1, 0) == (expected if n > 1 else [])


@pytest.mark.parametrize("back", [0, 1, 2, 3])
def test_an_offset_is_found_by_itself_and_rows_without_such_a_key_count_against_it(back: int) -> None:
    capture = looking(lambda query: query - back if query >= back else 0, ids=list(range(N)))
    assert of(capture) == ("offset", -back, N - max(1, back), N - 1)
    assert head_habits(capture, 0, 0).repeats is None


def test_an_encoder_may_look_ahead() -> None:
    assert of(looking(lambda query: min(query + 2, N - 1), ids=list(range(N)), ahead=True)) == ("offset", 2, N - 2, N)


def test_one_token_the_first_or_another() -> None:
    assert of(looking(lambda query: 0)) == ("first", 0, N - 1, N - 1)
    assert of(looking(lambda query: min(query, 2))) == ("token", 2, N - 2, N - 1)


def test_punctuation_counts_by_what_unicode_calls_it_and_not_where_it_is_one_token() -> None:
    text = "a,b.cd!ef"
    marks = [1, 3, 6]
    capture = looking(lambda query: max((mark for mark in marks if mark <= query), default=0), text=text)
    assert of(capture) == ("punctuation", 0, N - 1, N - 1)
    assert of(looking(lambda query: 1 if query else 0, text=text)) == ("token", 1, N - 1, N - 1)


def test_what_followed_an_earlier_copy_is_told_beside_the_habit_of_the_other_rows() -> None:
    found = head_habits(looking(lambda query: query - 2 if query >= 4 else 0), 0, 0)
    assert found.most == Habit("offset", -2, 6, 8)  # rows 4 to 8, and row 2, which looks at the first token
    assert found.repeats is None  # the five rows of a repeated token are all two back
    ids = [9, 4, 5, 6, 7, 4, 8, 5, 6, 4]
    after = {5: 2, 7: 3, 8: 4, 9: 6}
    found = head_habits(looking(lambda query: after.get(query, 0), ids=ids), 0, 0)
    assert found.most == Habit("first", 0, 5, 9)
    assert found.repeats == Habit("after_copy", 0, 4, 4)
    same = {5: 1, 7: 2, 8: 3, 9: 5}
    assert head_habits(looking(lambda query: same.get(query, 0), ids=ids), 0, 0).repeats == Habit("copy", 0, 4, 4)


def test_noise_has_no_habit_and_what_is_told_of_it_is_counted() -> None:
    rng = random.Random(3)
    ids = [rng.randrange(6) for _ in range(40)]
    capture = made_capture(causal_noise(40, seed=2), ids=ids)
    found, looks = head_habits(capture, 0, 0), strongest_keys(capture, 0, 0)
    assert found.most is not None
    assert not found.most.holds
    counted = [sum(key - query == by for query, key in looks) for by in range(-39, 1)]
    counted += [sum(key == one for _, key in looks) for one in range(40)]
    assert found.most.hits == max(counted)
    assert (found.rows, found.repeats) == (39, None)


def test_a_text_of_one_token_has_no_rows_to_tell_of() -> None:
    assert head_habits(made_capture(torch.ones(1, 1, 1, 1)), 0, 0).most is None
