"""A class's answers: counted, compared with the model's in bits, and written as a file."""

from __future__ import annotations

import csv
import io
import math

import pytest

from classroom.frames import Refused, Vote
from classroom.poll import Poll, bits
from classroom.results import HEADINGS, results_csv
from classroom.room import Room
from classroom.vocabulary import Vocabulary
from tests.classroom.talking import WEIGHTS, frames, question, who

LABELS = ["·the", "The", "·dog", "dog", "·doge", "·Dog", "·", "·then", "d", "·狗"]


def voted(answers: str, again: str = "", *, named: bool = False) -> Poll:
    poll = Poll(question(), 1, named)
    for number, answer in enumerate(answers):
        poll.take(who(number), Vote(1, answer, f"=name {number}"))
    if again:
        poll.votes.append({})
    for number, answer in enumerate(again):
        poll.take(who(number), Vote(1, answer, f"=name {number}"))
    return poll


def read_back(polls: list[Poll]) -> list[list[str]]:
    return list(csv.reader(io.StringIO(results_csv(polls, HEADINGS).decode("utf-8-sig"))))


def test_the_surprise_is_the_cross_entropy_of_the_class_and_the_model():
    poll = voted("0011222")
    shares = [2 / 7, 2 / 7, 3 / 7]
    assert poll.surprise(0) == pytest.approx(-sum(s * math.log(w) / math.log(2) for s, w in zip(shares, WEIGHTS)))
    assert voted("").surprise(0) is None


def test_what_the_model_rules_out_surprises_without_end():
    poll = Poll(question(probability=lambda value: float(value == "0")), 1, named=False)
    poll.take(who(1), Vote(1, "1", ""))
    assert poll.surprise(0) == math.inf
    assert bits(1.0) == 0


def test_both_votes_stand_beside_each_other():
    poll = voted("001", "112")
    assert [bar.counts for bar in poll.bars()] == [(2, 0), (1, 2), (0, 1)]
    assert [bar.bits for bar in poll.bars()] == [1, 2, 2]


def test_typed_tokens_are_listed_by_how_many_typed_them_then_the_models_own():
    words = Vocabulary(LABELS)
    asked = question(options=(), vocabulary=words, likeliest=["0", "2"], probability=lambda value: 1 / (2 + int(value)))
    poll = Poll(asked, 1, named=False)
    for number, answer in enumerate(["3", "2", "3", "4"]):
        poll.take(who(number), Vote(1, answer, ""))
    assert [(bar.label, bar.counts) for bar in poll.bars()] == [
        ("dog", (2,)), ("·dog", (1,)), ("·doge", (1,)), ("·the", (0,)),
    ]  # fmt: skip
    with pytest.raises(Refused):
        poll.take(who(9), Vote(1, "10", ""))


@pytest.mark.parametrize(
    "typed, found",
    [
        ("dog", ["·dog", "dog", "·Dog", "·doge"]),
        (" Dog", ["·Dog", "·dog", "dog", "·doge"]),
        ("THE", ["·the", "The", "·then"]),
        ("狗", ["·狗"]),
        ("", []),
        ("·", []),
        ("x", []),
    ],
)
def test_a_token_is_completed_whatever_its_case_and_space(typed, found):
    assert [label for _, label in Vocabulary(LABELS).complete(typed)] == found


def test_the_file_holds_counts_probabilities_and_bits_and_no_names():
    rows = read_back([voted("001", "112")])
    assert rows[0] == [
        HEADINGS[name] for name in ("number", "question", "text", "answer", "first", "second", "model", "bits")
    ]
    assert rows[1] == ["1", "Where does it look?", "The dog", "The", "2", "0", "0.5", "1"]
    assert [row[4:6] for row in rows[1:]] == [["2", "0"], ["1", "2"], ["0", "1"]]
    assert "name" not in str(rows)


def test_names_stand_in_the_file_where_they_were_asked_for_and_none_is_a_formula():
    rows = read_back([voted("01", "11", named=True)])
    assert ["1", "Where does it look?", "'=name 0", "1", "The", "1"] in rows
    assert ["1", "Where does it look?", "'=name 1", "2", "<b>dog</b>", "2"] in rows


def test_a_question_that_was_dropped_is_in_no_results():
    room = Room("AAAAAA")
    room.ask(question())
    room.drop()
    assert (room.past, list(frames(room))[-1]["state"]) == ([], "none")
    room.ask(question())
    room.reveal()
    with pytest.raises(Refused):
        room.reveal()
    with pytest.raises(Refused):
        room.ask_again()
    room.drop()
    assert len(room.past) == 1
