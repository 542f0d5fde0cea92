"""Exported files are complete, offline, and harmless whatever the tokens are."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from viz.components.source import Source
from viz.export import csv_bytes, npz_bytes, standalone_html

VALUES = np.array([[1.0, np.nan], [1 / 3, 2 / 3]], dtype=np.float32)
EVIL = '</script><script>alert("1")</script>'


def rows_of(data):
    """The lines below the caption, as a CSV reader sees them."""
    assert data.startswith(b"\xef\xbb\xbf# ")  # the mark by which spreadsheets know UTF-8
    text = data.decode("utf-8-sig")
    body = [line for line in text.split("\r\n") if not line.startswith("# ")]
    return list(csv.reader(io.StringIO("\r\n".join(body))))


def test_csv_restores_every_float32_and_leaves_masked_cells_empty():
    header, *rows = rows_of(csv_bytes(VALUES, ["a", "b"], ["a", "b"], "model · L3H7"))
    assert header == ["", "a", "b"]
    assert rows[0][2] == ""
    assert [np.float32(cell) for cell in rows[1][1:]] == VALUES[1].tolist()


def test_csv_keeps_commas_quotes_and_line_breaks_inside_their_label():
    labels = ['a,"b"', "line\nbreak"]
    data = csv_bytes(VALUES, labels, labels, "caption").decode("utf-8-sig")
    header, *rows = csv.reader(io.StringIO(data.split("\r\n", 1)[1]))
    assert header[1:] == labels
    assert [row[0] for row in rows] == labels


@pytest.mark.parametrize("label", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠A"])
def test_csv_labels_cannot_be_formulas(label):
    data = csv_bytes(VALUES, [label, "b"], ["a", label], "caption").decode("utf-8-sig")
    header, *rows = csv.reader(io.StringIO(data.split("\r\n", 1)[1], newline=""))
    assert header[2] == rows[0][0] == f"'{label}"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_captions_cannot_hold_a_formula_behind_a_separator(separator):
    data = csv_bytes(VALUES, ["a", "b"], ["a", "b"], f"model{separator} =cmd(){separator}@x\n=second").decode(
        "utf-8-sig"
    )
    comments = [line for line in data.split("\r\n") if line.startswith("# ")]
    assert len(comments) == 2
    cells = [cell.strip() for line in comments for cell in line.split(separator)]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]


def test_a_number_below_0_in_a_caption_stays_a_number_to_its_reader():
    words = csv_bytes(VALUES, ["a", "b"], ["a", "b"], "11.3 without a patch, -12.9 in the other run").decode(
        "utf-8-sig"
    )
    assert words.startswith("# 11.3 without a patch, \u221212.9 in the other run\r\n")


def test_a_token_of_a_hash_is_not_a_comment():
    assert rows_of(csv_bytes(VALUES, ["#", "b"], ["a", "b"], "caption"))[1][0] == "#"


def test_csv_survives_lone_surrogates():
    assert rows_of(csv_bytes(VALUES, ["\ud800", "b"], ["a", "b"], "caption"))[1][0] == "\ufffd"


def test_csv_refuses_labels_of_another_shape():
    with pytest.raises(ValueError, match=r"shape \(2, 2\) for 1 × 2 labels"):
        csv_bytes(VALUES, ["a"], ["a", "b"], "caption")


def test_npz_loads_without_pickles_and_says_what_it_is():
    data = npz_bytes({"values": VALUES, "queries": np.array(["·a", "⏎"])}, "model · L3H7 · 注意力")
    with np.load(io.BytesIO(data), allow_pickle=False) as loaded:
        np.testing.assert_array_equal(loaded["values"], VALUES)
        assert loaded["queries"].tolist() == ["·a", "⏎"]
        assert str(loaded["caption"]) == "model · L3H7 · 注意力"


def test_npz_refuses_what_only_a_pickle_could_hold():
    with pytest.raises(TypeError, match="'tokens' holds Python objects"):
        npz_bytes({"tokens": np.array([{"a": 1}], dtype=object)}, "caption")
    with pytest.raises(ValueError, match="caption"):
        npz_bytes({"caption": VALUES}, "caption")


SOURCE = Source(
    name="tiny",
    html='<div class="tiny"></div>\n',
    css=".tiny{color:red}",
    js='const end = "</script><!--"\nexport default function ({ data }) {\n  console.log(data.length)\n}\n',
)


class Page(HTMLParser):
    """Every tag with its attributes, and the text of scripts and of the rest, as a browser's tokenizer splits them."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.scripts, self.words, self.inside = [], [], "", None
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data
        else:
            self.words += data


def page(payload=b"\x00data", **changes):
    options = {"title": "L3H7", "caption": "one\ntwo", "lang": "zh-CN", **changes}
    return Page(standalone_html(SOURCE, payload, **options).decode("utf-8"))


def test_standalone_html_carries_exactly_the_payload():
    payload = EVIL.encode() + bytes(range(256))
    data, _ = page(payload).scripts
    assert base64.b64decode(data) == payload


def test_standalone_html_has_two_scripts_whatever_the_strings_say():
    found = page(EVIL.encode(), title=EVIL, caption=EVIL, lang='"><script>')
    assert [tag for tag, _ in found.tags].count("script") == 2
    assert found.words.count(EVIL) == 3  # <title>, heading and caption, as text


def test_standalone_html_allows_only_its_own_script_and_no_request():
    found = page()
    (policy,) = [
        attributes["content"] for tag, attributes in found.tags if tag == "meta" and "http-equiv" in attributes
    ]
    (allowed,) = re.findall(r"script-src '([^']*)'$", policy)
    assert policy.startswith("default-src 'none'; ")
    digest = hashlib.sha256(found.scripts[1].encode()).digest()
    assert allowed == f"sha256-{base64.b64encode(digest).decode()}"
    assert not [attributes for _, attributes in found.tags if "src" in attributes or "href" in attributes]


def test_standalone_html_is_in_the_readers_language_and_keeps_the_captions_lines():
    html = standalone_html(SOURCE, b"", title="t", caption="one\ntwo", lang="zh-CN").decode()
    assert '<html lang="zh-CN">' in html
    assert "one<br>two" in html


def test_a_component_without_its_export_is_refused():
    broken = Source(name="broken", html="", css="", js="function () {}")
    with pytest.raises(ValueError, match="'broken' must contain 'export default function' exactly once"):
        standalone_html(broken, b"", title="", caption="", lang="en")
