"""What the address chooses is each widget's default too: a browser that misses the run that set it shows no other."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from pages.entries import ENTRIES
from tests.pages.visiting import (
    CAPITAL,
    PATIENCE,
    click_head,
    eventually,
    expect_address,
    expect_head,
    text_box,
    wait_for_heads,
    wait_for_rest,
)
from tests.ui.driving import both, open_app, widgets
from ui.state.inputs import ECHO

EVERYWHERE = {"ButtonGroup", "Selectbox"}  # the language, the model; the text is the default of its box
OWN = {
    "cell": {"NumberInput"},
    "film": {"NumberInput", "Slider", "Checkbox"},
    "kv_cache": {"Slider"},
    "masks": {"Slider"},
}  # kinds that all views of a page have
PLACES = [
    ("long_texts", {"layer": "3", "head": "5", "long_texts.pooling": "mean", "long_texts.far": "3"}),
    ("long_texts", {"long_texts.view": "heads", "long_texts.measure": "entropy"}),
    ("long_texts", {"long_texts.view": "needle", "long_texts.depth": "75", "long_texts.characters": "500"}),
    ("heads", {"what": "scores", "color": "log", "nofirst": "1", "metric": "induction", "lang": "zh"}),
    ("cell", {"layer": "3", "head": "5", "query": "4", "key": "2"}),
    ("positions", {"layer": "3", "head": "5", "positions": "distance"}),
    ("positions", {"positions": "what_if", "what_if": "theta"}),
    ("positions", {"positions.view": "sinusoid", "positions.size": "8"}),
    ("positions", {"positions.view": "sinusoid", "positions.sine": "shuffled", "positions.order": "random"}),
    ("compare", {"compare.text": "The capital of Italy is", "compare.head": "L2H5", "compare.view": "metrics"}),
    ("next_token", {"query": "2"}),
    ("film", {"length": "3", "temperature": "0.5", "top_p": "0.8", "seed": "7", "onehead": "1"}),
    ("kv_cache", {"kv": "what_if", "keep": "3", "sinks": "2"}),
    ("kv_cache", {"kv": "bytes", "kv_tokens": "8192"}),
    ("masks", {"mask": "streaming", "mask_window": "3"}),
    (
        "masks",
        {
            "masks": "model",
            "mask": "window",
            "mask_window": "3",
            "mask_where": "chosen",
            "mask_layers": "3",
            "mask_heads": "2.4",
        },
    ),
    ("sharing", {"sharing": "model", "kv_heads": "2"}),
    ("block", {"block.view": "lens", "block.shade": "kl", "block.row": "3"}),
    ("block", {"block.view": "ffn", "block.layer": "7"}),
    ("block", {"block.view": "learning", "block.rate": "0.1"}),
    ("block", {"block.view": "experts", "block.experts": "random", "block.expert_layer": "2"}),
    ("block", {"block.blocks": "two"}),
    ("block", {"block.view": "stream", "block.tokens": "all"}),
    ("block", {"block.view": "streams", "block.streams": "needed", "block.links": "head", "block.least": "30"}),
    ("block", {"block.view": "sizes", "block.like": "GPT-2", "block.layers": "24"}),
    ("edit_heads", {"edit": "scale", "edit_scale": "0.5"}),
    ("edit_heads", {"edit": "swap", "edit_other": "6", "edits": "MeanHead(3,1)", "everywhere": "1"}),
    ("edit_heads", {"heads": "effects", "effect_token": "3554"}),  # the second likeliest
    ("edit_heads", {"heads": "patching"}),
    ("families", {"families.family": "two", "attention": "decoder", "target": "那只狗。", "families.head": "1.2"}),
    ("steps", {"steps.tokens": "5", "steps.d": "8", "steps.heads": "2", "steps.head": "1", "steps.scaled": "0"}),
    ("steps", {"steps.view": "otherwise", "steps.softness": "0.25"}),
    ("steps", {"steps.view": "otherwise", "steps.otherwise": "typed", "steps.weights": "0.5 0.5"}),
    ("steps", {"steps.view": "gradients", "steps.depth": "12", "steps.gain": "2"}),
    (
        "steps",
        {"steps.view": "batch", "steps.short": "3", "steps.item": "0", "steps.side": "left", "steps.fill": "1e9"},
    ),
    ("steps", {"steps.view": "batch", "steps.dropout": "1"}),
    ("steps", {"steps.view": "softmax", "steps.softmax": "vocabulary", "steps.counted": "book", "steps.cutoff": "512"}),
    ("steps", {"steps.view": "batch", "steps.batch": "packing", "steps.window": "128"}),
    ("steps", {"steps.view": "softmax", "steps.largest": "20", "steps.dtype": "bfloat16"}),
    ("zoo", {"zoo.view": "flash", "zoo.blocks": "own", "zoo.rows": "3", "zoo.columns": "5", "zoo.order": "queries"}),
    ("zoo", {"zoo.view": "weights", "zoo.matrix": "mlp.down_proj", "zoo.factors.1": "50", "zoo.factors.3": "0"}),
    ("zoo", {"zoo.view": "model", "zoo.variant": "blocks", "zoo.where": "all", "zoo.values.blocks.size": "3"}),
    ("zoo", {"zoo.variant": "performer", "zoo.beside": "lightning", "zoo.values.performer.features": "100"}),
]


@pytest.mark.parametrize("page, address", PLACES, ids=lambda part: part if isinstance(part, str) else "-".join(part))
def test_what_is_chosen_is_the_default_too_and_set_once(page, address):
    app = open_app(page=f"pages/{page}/page.py", text=CAPITAL, **address)
    held = [proto for proto in widgets(app) if proto.set_value]
    assert {type(proto).__name__ for proto in held} >= EVERYWHERE | OWN.get(page, set())
    for proto in held:
        shown, fallback = both(proto)
        assert shown == fallback, proto.label
    assert app.text_area(key="text_box").proto.default == CAPITAL
    app.run()
    again = [proto.label for proto in widgets(app) if proto.set_value and not proto.disabled]
    assert again == [ECHO]  # it would undo what is chosen meanwhile; there nothing is chosen


def test_every_page_is_looked_at():
    assert {entry.file for entry in ENTRIES} == {f"pages/{page}/page.py" for page, _address in PLACES}


@pytest.mark.long
@pytest.mark.browser
def test_widgets_that_a_slow_browser_draws_late_keep_what_was_chosen(server, page):
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route(re.compile(r"/(ButtonGroup|Selectbox|TextArea)[^/]*\.js$"), hold)
    chosen = {"text": CAPITAL, "what": "scores", "color": "log", "metric": "induction"}
    page.goto(f"{server.url}/?{urlencode(chosen)}")
    page.locator(".atlas-badge.ok").wait_for(timeout=PATIENCE)
    wait_for_rest(page)
    page.get_by_role("button", name="Read this picture").click()
    page.locator(".st-key-reading pre").wait_for(timeout=PATIENCE)  # a second run, and still none of them is drawn
    wait_for_rest(page)
    expect(text_box(page)).to_have_count(0)
    eventually(page, lambda: len(held), lambda count: count == 3)
    for route in held:
        route.continue_()
    page.get_by_role("button", name="Close", exact=True).click()
    expect(text_box(page)).to_have_value(CAPITAL)
    expect(page.get_by_role("radio", name="scores")).to_be_checked()
    wait_for_heads(page)
    wait_for_rest(page)
    click_head(page, 3, 1)
    now = {"heads.what": "scores", "heads.color": "log", "heads.metric": "induction"}
    expect_address(page, text=CAPITAL, layer="3", head="1", **now)
    expect_head(page, "L3H1")
    expect(text_box(page)).to_have_value(CAPITAL)
