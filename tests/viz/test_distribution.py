"""The next-token list: a table that says its numbers, whatever the tokens are called."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import pytest

from viz.distribution import next_token_bars, next_token_changes, percent


class Table(HTMLParser):
    """The cells' texts, the bars' widths and every tag of some HTML."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.widths, self.rows, self.caption = [], [], [], ""
        self.stack = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.stack.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")
        style = dict(attrs).get("style")
        if style:
            self.widths.append(style)

    def handle_endtag(self, tag):
        while self.stack and self.stack.pop() != tag:
            pass

    def handle_data(self, data):
        if "caption" in self.stack:
            self.caption += data
        elif {"th", "td"} & set(self.stack):
            self.rows[-1][-1] += data


def table(labels=("·was", "·did"), probabilities=(0.75, 0.2), **changes):
    options: dict[str, Any] = {"rest": 0.05, "heading": "Next token", **changes}
    return Table(next_token_bars(list(labels), list(probabilities), **options))


def test_each_row_says_its_token_and_its_probability():
    rows = table().rows
    assert rows == [
        ["token", "probability"],
        ["·was", "75 %"],
        ["·did", "20 %"],
        ["all other tokens", "5.0 %"],
    ]


@pytest.mark.parametrize(
    "beside, follows, said",
    [
        ("", ("", True), ""),
        ("in place of ?", ("", True), "in place of ?"),
        ("", ("cat", True), "after “cat”"),
        ("KL 2", ("it", False), "after “… it” · KL 2"),
    ],
)
def test_what_the_token_follows_and_what_is_said_of_it_stand_beside_the_heading(beside, follows, said):
    words = f" <span>{said}</span>" if said else ""
    of = {"heading": "Next token", "beside": beside, "follows": follows}
    for html in (
        next_token_bars(["a"], [1.0], rest=0, **of),
        next_token_changes(["a"], [1.0], [0.5], **of),
    ):
        assert f"<caption>Next token{words}</caption>" in html


def test_the_bars_are_as_long_as_the_probabilities():
    assert table().widths == ["width:75.00%", "width:20.00%", "width:5.00%"]


def test_a_bar_never_leaves_its_track():
    # a softmax in half precision can sum to a little over 1
    assert table(["a"], [1.001], rest=0.0).widths == ["width:100.00%"]


def test_no_row_for_a_rest_of_nothing():
    assert len(table(rest=0.0).rows) == 3


def test_a_token_that_looks_like_html_is_shown_as_text():
    token = "<script>alert(1)</script>"
    found = table([token, '"><img src=x onerror=alert(1)>'], [0.5, 0.5], rest=0, heading=token, beside=token)
    assert found.rows[1][0] == token
    assert found.caption.count(token) == 2
    assert not {"script", "img"} & set(found.tags)


def test_a_token_that_is_a_space_is_shown_as_one_and_named():
    html = next_token_bars(["·", "·it"], [0.9, 0.1], rest=0.0, heading="Next")
    assert "<bdi>␣</bdi> <small>a space</small>" in html
    assert "<bdi>·it</bdi></th>" in html


def test_the_rest_of_the_word_that_the_first_token_begins_stands_quietly_behind_it():
    page = next_token_bars(["·o", "·oinks"], [0.9, 0.1], rest=0.0, heading="", begins="oinks")
    assert "<bdi>·o</bdi><small class='rest'><bdi>inks</bdi></small>" in page
    assert page.count("class='rest'") == 1


def test_the_words_can_be_translated():
    rows = table(texts={"token": "词元", "probability": "概率", "rest": "其他"}).rows
    assert rows[0] == ["词元", "概率"]
    assert rows[-1][0] == "其他"


def test_labels_and_probabilities_must_belong_together():
    with pytest.raises(ValueError, match="2 labels for 1 probabilities"):
        table(["a", "b"], [0.5])


@pytest.mark.parametrize(
    "probability, text",
    [
        (0.0, "0 %"),
        (1e-9, "< 0.1 %"),
        (0.0006, "0.1 %"),
        (0.933, "93 %"),
        (0.997, "99.7 %"),
        (0.9998, "> 99.9 %"),
        (0.99991, "100 %"),
        (1.0, "100 %"),
    ],
)
def test_only_the_impossible_is_zero_and_only_the_certain_is_hundred(probability, text):
    assert percent(probability) == text


def test_a_change_shows_each_token_before_and_after():
    found = Table(
        next_token_changes(["·was", "<b>"], [0.75, 0.0], [0.2, 0.0001], heading="Next token", beside="KL 0.5")
    )
    assert found.rows == [
        ["token", "before", "after"],
        ["·was", "75 %", "20 %"],
        ["<b>", "0 %", "< 0.1 %"],
    ]
    assert found.widths == ["width:75.00%", "width:20.00%", "width:0.00%", "width:0.01%"]
    assert found.caption == "Next token KL 0.5"
    assert "b" not in found.tags


def test_a_change_without_an_after_for_every_before_is_refused():
    with pytest.raises(ValueError, match="2 labels for 2 and 1 probabilities"):
        next_token_changes(["a", "b"], [0.1, 0.2], [0.3], heading="")


@pytest.mark.browser
@pytest.mark.parametrize("width", [230, 300, 420, 640])
def test_bars_before_and_after_have_room_beside_each_other(static_page, width):
    page = static_page(
        f"<div style='width:{width}px;font-size:16px'>"
        + next_token_changes(["·was", "·did"], [1.0, 0.0], [0.25, 0.75], heading="Next token")
        + "</div>"
    )
    tracks, bars = (
        [box["width"] for box in page.locator(f".before {part}, .after {part}").evaluate_all(BOXES)]
        for part in (".track", ".bar")
    )
    assert bars[0] > 0.18 * width  # all of it
    assert bars[1] == pytest.approx(bars[0] / 4, rel=0.1)
    ends = [box["right"] for box in page.locator(".number").evaluate_all(BOXES)]
    assert max(ends) <= page.locator("table").bounding_box()["x"] + width + 1
    assert max(tracks) < width / 2


BOXES = "nodes => nodes.map(node => { const { width, right } = node.getBoundingClientRect(); return { width, right } })"
