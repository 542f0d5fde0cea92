"""Large counts and lists of terms, as each language writes them."""

from __future__ import annotations

import pytest

from ui.wording import short_counts
from ui.wording.short_counts import counted
from ui.wording.short_terms import short_term


@pytest.mark.parametrize(
    "count, english, chinese",
    [
        (12, "12", "12"),
        (999_499, "999 K", "99.9 万"),
        (999_600, "1 M", "100 万"),
        (7_901_440, "7.9 M", "790 万"),
        (16_800_000, "16.8 M", "1680 万"),
        (8_030_000_000, "8.03 B", "80.3 亿"),
        (1_200_000_000_000, "1.2 T", "1.2 万亿"),
    ],
)
def test_chinese_counts_in_ten_thousands(monkeypatch, count: int, english: str, chinese: str) -> None:
    for lang, words in (("en", english), ("zh", chinese)):
        monkeypatch.setattr(short_counts, "language", lambda lang=lang: lang)
        assert counted(count) == words


@pytest.mark.parametrize(
    "words, short",
    [
        ("残差流 residual stream", "残差流"),
        ("前馈网络 FFN", "前馈网络"),
        ("Logit 透镜", "Logit 透镜"),
        ("word in context", "word in context"),
    ],
)
def test_a_chinese_term_in_a_row_of_many_stands_without_its_english(words: str, short: str) -> None:
    assert short_term(words) == short
