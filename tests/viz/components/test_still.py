"""A figure that is HTML, for who follows a page: every one there is goes through, nothing that runs does."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from classroom.student_page import CSP
from tests.viz.components import shim
from tests.viz.components.test_packing import unpacked
from viz.aligned_tokens import Match, aligned_tokens
from viz.components.still.still import SOURCE, still_picture
from viz.continuations import TextEnding, continuations
from viz.distribution import next_token_bars, next_token_changes
from viz.flow import flow
from viz.forced_table import ForcedRow, forced_table
from viz.mask_strip import mask_strip
from viz.paired_bars import Pair, paired_bars
from viz.text_pair import text_pair
from viz.tree_html import DrawnNode, adaptive_tree_html, tree_html

EVIL = "<script>alert(1)</script> & \"'"

FIGURES: dict[str, Callable[[str], str]] = {
    "bars": lambda word: next_token_bars([word, "b"], [0.25, 0.5], rest=0.25, heading=word, beside=word),
    "changes": lambda word: next_token_changes([word], [0.25], [0.5], heading=word, beside=word),
    "ways": lambda word: continuations([TextEnding(word, word, [word, "b"])], differs_at=1, heading=word, beside=word),
    "pairs": lambda word: paired_bars(
        [Pair(word, 0.1, None, (word, word), word, word)], headings=(word, word, word, word), label=word
    ),
    "cuts": lambda word: aligned_tokens(
        [Match((word,), ()), Match((word,), (word,))], names=(word, word), label=word, texts={}
    ),
    "two texts": lambda word: text_pair(
        [word], [word, "b"], headings=(word, word), differ=[True, True], shown=[True, True], label=word
    ),
    "forced": lambda word: forced_table([ForcedRow(word, word, 0.5, word, word, True)], heading=word, beside=word),
    "flow": lambda word: flow(word, ((word,), (word,)), word, word),
    "masks": lambda word: mask_strip([np.eye(3, dtype=bool)], [word]),
    "tree": lambda word: tree_html([DrawnNode(0.5, 0, None, "", [word], on_way=True)], word),
    "groups": lambda word: adaptive_tree_html([[word], [word]], 1, word),
}  # fmt: skip


def said(node: object) -> str:
    """The words of a node as they are packed."""
    return node if isinstance(node, str) else "".join(map(said, node[2:])) if isinstance(node, list) else ""


def shape(nodes: list[Any]) -> list[Any]:
    """The elements alone, with the names of their attributes."""
    return [[node[0], sorted(node[1]), shape(node[2:])] for node in nodes if not isinstance(node, str)]


@pytest.mark.parametrize("make", FIGURES.values(), ids=FIGURES)
def test_every_figure_goes_through_with_its_words_as_words(make):
    plain, _ = unpacked(still_picture(make("word")).packed())
    meta, _ = unpacked(still_picture(make(EVIL)).packed())
    assert meta["css"] == plain["css"]
    assert shape(meta["nodes"]) == shape(plain["nodes"])
    words = "".join(map(said, plain["nodes"]))
    assert "".join(map(said, meta["nodes"])) == words.replace("word", EVIL)


@pytest.mark.parametrize(
    "html",
    [
        "<script>x</script>", "<b onclick='x'>a</b>", "<img src='https://a/b'>", "<iframe></iframe>", "<b>", "<b></i>",
        "<a href='x'>a</a>",
    ],
)  # fmt: skip
def test_what_could_run_or_fetch_and_what_does_not_end_is_refused(html):
    with pytest.raises(ValueError, match="<"):
        still_picture(html).packed()


# As on a phone: no style is taken out of HTML, by the student's own policy but for the script of this page.
_PAGE = """<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">
<body><section></section><script type="module">
const bytes = Uint8Array.from(atob("{data}"), (letter) => letter.charCodeAt(0))
const shadow = document.querySelector("section").attachShadow({{ mode: "open" }})
const root = document.createElement("div")
root.className = "still"
shadow.append(root)
const part = await import(URL.createObjectURL(new Blob([{script}], {{ type: "text/javascript" }})))
part.default({{ data: bytes, parentElement: shadow, follows: true, setTriggerValue: () => {{}} }})
window.ready = true
</script>"""


@pytest.mark.browser
def test_it_looks_as_on_the_page_where_no_style_is_taken_out_of_html(sheet):
    directives = [one for one in CSP.split("; ") if not one.startswith("frame-ancestors")]
    policy = "; ".join(directives).replace("script-src 'self'", "script-src 'unsafe-inline' blob:")
    html = FIGURES["bars"]("·the") + FIGURES["masks"]("a mask")
    script = json.dumps(SOURCE.js).replace("</", "<\\/")
    sheet.goto("about:blank")
    sheet.set_content(_PAGE.format(policy=policy, data=shim.encoded(still_picture(html).packed()), script=script))
    sheet.wait_for_function("window.ready")
    bars = sheet.locator(".still .bar")
    assert bars.count() == 3
    first, second, rest = bars.evaluate_all("all => all.map((bar) => bar.getBoundingClientRect().width)")
    assert [first, rest] == pytest.approx([second / 2] * 2, rel=0.01)
    assert second > 100
    assert sheet.locator(".still table").evaluate("node => getComputedStyle(node).borderCollapse") == "collapse"
    assert sheet.locator(".still img").evaluate("node => node.decode().then(() => node.naturalWidth > 0)")
    assert sheet.locator(".still").inner_text().count("·the") == 3
