"""The Chinese tables fit the English ones, and what the texts say is right."""

from __future__ import annotations

import re

import pytest

from scripts.corpus import facts
from scripts.corpus.chinese import facts as chinese
from scripts.corpus.chinese.world import numeral
from scripts.corpus.poems import FIRST_LINES, POEMS
from scripts.corpus.practice.code import FUNCTIONS, PARAMETERS, arguments
from scripts.corpus.practice.names import chinese_gifts, english_gifts
from scripts.corpus.practice.sums import chinese_sums, sums
from scripts.corpus.writer import Writer


def test_every_country_has_its_capital_in_both_languages_in_the_same_order() -> None:
    english = [row for rows in facts.CAPITALS_BY_CONTINENT.values() for row in rows]
    assert len(chinese.CAPITALS) == len(english) == 163
    both = dict(zip([country for country, _ in english], chinese.CAPITALS, strict=True))
    assert both["France"] == ("法国", "巴黎")
    assert both["Australia"] == ("澳大利亚", "堪培拉")
    assert both["Nepal"] == ("尼泊尔", "加德满都")
    assert {country for country, _ in chinese.CAPITALS} >= chinese.COMMON_COUNTRIES


def test_a_word_has_one_opposite() -> None:
    asked = [word for word, _ in chinese.OPPOSITES]
    assert len(set(asked)) == len(asked) == 85


def test_sixty_poems_are_found_in_the_classics() -> None:
    assert len(FIRST_LINES) == len(set(FIRST_LINES)) == len(POEMS) == 60
    assert POEMS[0] == ("《静夜思》 李白", ["床前明月光，疑是地上霜，", "举头望明月，低头思故乡。"])


@pytest.mark.parametrize("kind", [sums, chinese_sums])
def test_every_sum_is_right(kind) -> None:
    writer = Writer(5)
    text = "\n".join(kind(writer) for _ in range(300))
    plus = re.findall(r"(\d+)(?: \+ |加)(\d+)(?: = |等于)(\d+)", text)
    minus = re.findall(r"(\d+)(?: - |减)(\d+)(?: = |等于)(\d+)", text)
    spelled = re.findall(
        r"([零一二三四五六七八九十]+)加([零一二三四五六七八九十]+)等于([零一二三四五六七八九十]+)", text
    )
    assert len(plus) > 300
    assert len(minus) > 100
    assert all(int(a) + int(b) == int(c) for a, b, c in plus)
    assert all(int(a) - int(b) == int(c) for a, b, c in minus)
    number = {numeral(n): n for n in range(100)}
    assert all(number[a] + number[b] == number[c] for a, b, c in spelled)


@pytest.mark.parametrize(
    "kind, scene",
    [
        (english_gifts, r"When (\w+) and (\w+) went to [^,]+, (\w+) gave (?:a|an|the) [^.]+ to (\w+)\."),
        (chinese_gifts, r"(\w+)和(\w+)去了\w+，(\w+)把一\w+给了(\w+)。"),
    ],
)
def test_the_first_named_gives_as_often_as_the_second(kind, scene: str) -> None:
    writer = Writer(5)
    scenes = [found for _ in range(400) for found in re.findall(scene, kind(writer))]
    assert len(scenes) > 200
    assert all({giver, receiver} == {one, two} for one, two, giver, receiver in scenes)
    first_gives = sum(one == giver for one, _, giver, _ in scenes) / len(scenes)
    assert 0.38 < first_gives < 0.62  # 200 scenes and more: the standard deviation is below 0.036


def test_every_function_of_the_code_returns_what_the_text_says_it_does() -> None:
    writer = Writer(5)
    for function in FUNCTIONS:
        for names in PARAMETERS[function.takes]:
            space: dict[str, object] = {}
            exec(f"{function.line(names)} {function.body.format(*names)}", space)
            for _ in range(5):
                given = arguments(writer, function.takes)
                assert space[function.name](*given) == function.result(*given)
