"""The parallel sentences as texts of the corpus, in both orders."""

from __future__ import annotations

from scripts.corpus.chinese import facts as chinese
from scripts.corpus.facts import CAPITALS_BY_CONTINENT
from scripts.corpus.parallel.sentences import sentence
from scripts.corpus.writer import Writer

MARKS = (("English: ", "Chinese: "), ("英文：", "中文："), ("", ""), ("en: ", "zh: "))


def translations(writer: Writer) -> str:
    """A few sentences with their translations; all of a text in one direction."""
    rng = writer.rng
    english_first, (english_mark, chinese_mark) = rng.random() < 0.5, rng.choice(MARKS)
    items: list[str] = []
    for _ in range(rng.randint(2, 6)):
        pair = sentence(rng)
        sides = [english_mark + pair.english_text, chinese_mark + pair.chinese_text]
        items.append("\n".join(sides if english_first else sides[::-1]))
    return rng.choice(["\n", "\n\n"]).join(items)


def word_list(writer: Writer) -> str:
    """Countries or words with their translations."""
    rng = writer.rng
    countries = [country.removeprefix("the ") for rows in CAPITALS_BY_CONTINENT.values() for country, _ in rows]
    rows = list(zip(countries, (country for country, _ in chinese.CAPITALS), strict=True))
    if rng.random() < 0.7:
        words = (word for pair in (sentence(rng) for _ in range(4)) for word in pair.english)
        rows = sorted({(word.text, word.meaning) for word in words if word.kind == "noun"})
    mark = rng.choice([": ", " - ", " = ", " -> "])
    english_first = rng.random() < 0.5
    return "\n".join(a + mark + b if english_first else b + mark + a for a, b in writer.some(rows, 3, 7))
