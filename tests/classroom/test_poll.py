"""A class's answers are counted, compared with the model's in bits, and written to a file."""

from __future__ import annotations

import csv
import io
import math
import random

import pytest

from classroom.answers import NO_ANSWER, NO_NUMBER, Heads, Options, TypedNumbers, written
from classroom.frames import Refused, Vote
from classroom.number_groups import number_groups
from classroom.poll import ALREADY, Poll, bits
from classroom.results import HEADINGS, OF_MODEL, OF_QUESTION, results_csv
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
    asked = question(answers=words, likeliest=["0", "2"], probability=lambda value: 1 / (2 + int(value)))
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


@pytest.mark.parametrize(
    "typed, found",
    [
        ("dogma", ["·dog", "dog", "·Dog"]),
        (" Dogs", ["·Dog", "·dog", "dog"]),
        ("doged", ["·doge", "dog"]),  # the longest of those with a space, and of those without
        ("狗狗", ["·狗"]),
        ("theme", ["·the", "The"]),
        ("xyz", []),
        ("·", []),
    ],
)
def test_a_word_that_is_no_token_begins_with_the_longest_ones(typed, found):
    assert [label for _, label in Vocabulary(LABELS).beginnings(typed)] == found


def test_the_file_holds_counts_probabilities_and_bits_and_no_names():
    rows = read_back([voted("001", "112")])
    first = ("number", "question", "text", "answer", "first", "second")
    assert rows[0] == [HEADINGS[name] for name in (*first, *OF_MODEL, *OF_QUESTION)]
    assert rows[1][:10] == ["1", "Where does it look?", "The dog", "The", "2", "0", "0.5", "1", "", ""]
    assert [row[4:6] for row in rows[1:]] == [["2", "0"], ["1", "2"], ["0", "1"]]
    assert "name" not in str(rows)


def test_names_stand_in_the_file_where_they_were_asked_for_and_none_is_a_formula():
    rows = read_back([voted("01", "11", named=True)])
    assert ["1", "Where does it look?", "'=name 0", "1", "The", "0.5", "1", "", ""] in rows
    assert ["1", "Where does it look?", "'=name 1", "2", "<b>dog</b>", "0.25", "2", "", ""] in rows


def test_a_negative_number_is_one_in_the_file_and_text_that_is_no_number_is_guarded():
    found = results_csv([of_number("-0.1875", "−1", true=-0.1875)], HEADINGS).decode("utf-8-sig")
    assert ",-0.1875,1," in found
    assert ",-1,1," in found
    assert "'-" not in found
    asked = question(answers=Options([("0", "-1+2"), ("1", "=1")]), likeliest=["0"], probability=lambda _: 0.5)
    labels = [row[3] for row in read_back([Poll(asked, 1, named=False, votes=[{"a": ("0", ""), "b": ("1", "")}])])]
    assert labels == ["answer", "'-1+2", "'=1"]


def test_of_an_ablation_the_file_has_the_tokens_probabilities_and_of_every_question_where_and_when():
    asked = question(
        kind="ablate",
        answers=Options([("likelier", "likelier"), ("less", "less likely")]),
        likeliest=["likelier", "less"],
        probability=lambda value: float(value == "less"),
        model="default",
        changed="changed: L0H0 ablated",
        layer=6,
        head=4,
        before=0.774,
        after=0.25,
    )
    poll = Poll(asked, 1, named=False, votes=[{"a": ("less", "")}], asked=0.0)
    head, *rows = read_back([poll])
    for row in rows:
        of = dict(zip(head, row, strict=True))
        assert [of[HEADINGS[name]] for name in OF_MODEL] == [""] * 4
        found = [of[HEADINGS[name]] for name in OF_QUESTION]
        assert found == ["0.774", "0.25", "default", "changed: L0H0 ablated", "6", "4", "1970-01-01 00:00:00"]


def of_number(*votes: str, true: float = 0.25, near: float = 0.0) -> Poll:
    """Asked for 0.25, unless another number is said."""
    asked = question(
        kind="number",
        answers=TypedNumbers(),
        likeliest=[written(true)],
        probability=None,
        measured=lambda _: true,
        near=near,
    )
    poll = Poll(asked, 1, named=False)
    for number, typed in enumerate(votes):
        poll.take(who(number), Vote(1, typed, ""))
    return poll


@pytest.mark.parametrize(
    "typed, counted",
    [
        ("0.5", "0.5"),
        (".50", "0.5"),
        ("0,5", "0.5"),
        ("５e-1", "0.5"),
        ("+.5", "0.5"),
        ("−3", "-3"),
        ("-0", "0"),
        ("1.", "1"),
    ],
)
def test_one_number_is_counted_as_one_however_it_is_typed(typed, counted):
    poll = of_number(typed)
    assert poll.votes[0][who(0)][0] == counted
    with pytest.raises(Refused, match=ALREADY):
        poll.take(who(0), Vote(1, counted, ""))


@pytest.mark.parametrize(
    "typed",
    ["", ".", "-", "NaN", "nan", "inf", "∞", "1e308", "1e999", "1e13", "0x10", "1_0", "1 2", "1,000.5", "½", "x", "٣"],
)
def test_what_is_no_number_is_refused_in_one_sentence_and_not_counted(typed):
    with pytest.raises(Refused) as error:
        of_number(typed)
    assert str(error.value) == NO_NUMBER


def test_typed_numbers_stand_by_their_size_with_the_true_one_and_its_distance():
    poll = of_number("1", "0.25", "-2", "1", "0.2500")
    groups = number_groups(poll.bars(), 0.25)
    assert groups.step == 0
    assert [(row.label, row.counts, row.off, row.true) for row in groups.rows] == [
        ("-2", (1,), 2.25, False), ("0.25", (2,), 0, True), ("1", (2,), 0.75, False),
    ]  # fmt: skip
    assert [row.label for row in number_groups(of_number("1").bars(), 0.25).rows] == ["0.25", "1"]
    assert [row[:10] for row in read_back([poll])[1:]] == [
        ["1", "Where does it look?", "The dog", *row]
        for row in (
            ["-2", "1", "", "", "", "0.25", "2.25"],
            ["0.25", "2", "", "", "", "0.25", "0"],
            ["1", "2", "", "", "", "0.25", "0.75"],
        )
    ]


def test_what_a_page_shows_of_a_number_is_right_however_many_digits_of_it_are_typed():
    """A cell shows 7.1875 as 7.19, and −0.125 as −0.13; a tie may be rounded either way."""
    poll = of_number("7.19", "7.1875", "7.188", "7.18", "7.2", true=7.1875, near=0.005)
    assert [bar.value for bar in poll.given(0) if bar.right] == ["7.19", "7.1875", "7.188"]
    assert [(row.label, row.counts, row.true) for row in number_groups(poll.bars(), 7.1875).rows] == [
        ("7.18", (1,), False), ("7.1875", (3,), True), ("7.2", (1,), False),
    ]  # fmt: skip
    assert [bar.right for bar in of_number("-0.13", "-0.14", true=-0.125, near=0.005).given(0)] == [True, False]
    assert [bar.right for bar in of_number("120000", "124999", "125001", true=123456.0, near=5e3).given(0)] == [
        True, True, True,
    ]  # fmt: skip
    assert "0.0025" in [row[9] for row in read_back([poll])]  # the file has the distance itself


def test_many_numbers_are_drawn_rounded_and_every_answer_is_in_one_row():
    draws = random.Random(5)
    typed = [f"{draws.uniform(-1, 1):.4f}" for _ in range(200)] + ["1e12"]
    poll = of_number(*typed, true=0.12345)
    groups = number_groups(poll.bars(), 0.12345, most=12)
    assert groups.step == 1
    assert sum(row.counts[0] for row in groups.rows) == 201
    assert len(groups.rows) <= 12
    for row in groups.rows:
        assert row.counts[0] == sum(abs(float(one) - float(row.label)) <= 0.5 for one in typed)
    assert [row.label for row in groups.rows if row.true] == ["0"]


def test_a_head_is_measured_and_has_no_surprise():
    values = {"L0H1": 0.5, "L2H0": 0.25}
    asked = question(
        kind="head", answers=Heads([2, 0, 1]), likeliest=["L0H1"], probability=None,
        measured=lambda head: values.get(head, math.nan), unit="share",
    )  # fmt: skip
    poll = Poll(asked, 1, named=False)
    for number, answer in enumerate(["L2H0", "L2H0", "L0H0"]):
        poll.take(who(number), Vote(1, answer, ""))
    assert [(bar.label, bar.counts) for bar in poll.bars()] == [("L2H0", (2,)), ("L0H0", (1,)), ("L0H1", (0,))]
    assert [row[3:10] for row in read_back([poll])[1:]] == [
        ["L2H0", "2", "", "", "", "0.25", ""], ["L0H0", "1", "", "", "", "", ""], ["L0H1", "0", "", "", "", "0.5", ""],
    ]  # fmt: skip


@pytest.mark.parametrize("answer", ["L1H0", "L0H2", "L3H0", "L-1H0", "L00H1", "l0h1", "L0H1 ", "0.1", "L٠H1", ""])
def test_a_head_that_there_is_not_is_no_answer(answer):
    poll = Poll(question(kind="head", answers=Heads([2, 0, 1])), 1, named=False)
    with pytest.raises(Refused, match=NO_ANSWER):
        poll.take(who(1), Vote(1, answer, ""))


def test_a_question_that_was_dropped_is_in_no_results():
    room = Room("AAAAAA", "key")
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
