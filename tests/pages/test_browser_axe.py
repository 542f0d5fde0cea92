"""What axe finds wrong on any view of a page, light or dark: nothing."""

from __future__ import annotations

import re
from dataclasses import fields
from importlib import import_module
from typing import Any, get_args, get_type_hints

import pytest
from playwright.sync_api import Page, expect

from lessons.shelf import HERE, lessons
from pages.entries import ENTRIES
from tests.axe import found_by, found_in_both
from tests.pages.visiting import PATIENCE, eventually, wait_for_rest

CHART = ".js-plotly-plot .main-svg"
KNOWN = ".atlas-known"
PLAIN = (
    CHART,
    ".atlas-paired",
    ".atlas-aligned",
    KNOWN,
    ".st-key-lesson",
)  # no components: nothing says that they are painted
# page → its views, each with what is painted last; on one of them is every control, chip and table that has colours
VIEWS: dict[str, dict[str, str]] = {
    "": {
        "layer=6&head=5&query=7&key=3": ".token-lines",
        "layer=7&head=1&heads.other=L3H7&heads.metric=entropy&heads.grid=metric&heads.order=rank&heads.unit=words"
        "&edits=MeanHead(3,1);MeanHead(2,2)&everywhere=1": ".head-map",
        "layer=6&head=4&lesson=attention": ".st-key-lesson",  # of each lesson a step, on a page of its own kind
        "layer=7&head=7&lesson=heads&step=2": ".st-key-lesson",
        "layer=6&head=4&lesson=model&step=2": ".st-key-lesson",  # a tour, of as many steps as any
    },
    "cell": {"layer=6&head=5": ".cell-steps"},
    "positions": {
        "layer=6&head=5": ".rotation",
        "positions.view=difference&positions.m=20&positions.n=4&layer=2&head=2": ".score-shift",
        "positions.view=frequencies&query=5&key=1&layer=2&head=2": ".score-split",
        "positions.view=distance&positions.reach=256": ".score-sweep",
        "positions.view=what_if&positions.what_if=theta&positions.theta=4": ".head-map",
        "positions.view=others": ".position-schemes",
        "positions.view=sinusoid": CHART,
        "positions.view=sinusoid&positions.sine=terms": ".st-key-term_total .layer-head-map",
        "positions.view=sinusoid&positions.sine=shuffled&positions.added=1": CHART,
        "layer=3&head=7&lesson=position&step=2": ".st-key-lesson",
    },
    "compare": {
        "compare.text=The+cat+chased+the+squirrel+because+it&layer=6&head=4": ".head-map",
        "compare.view=metrics": ".atlas-paired",
        "compare.view=next&compare.model=encoder": ".atlas-paired",
        "compare.view=tokens&compare.model=encoder": ".atlas-aligned",
        "compare.view=matrices": CHART,
    },
    "long_texts": {
        "layer=5&head=5": ".long-map",
        "long_texts.view=heads": ".head-grid",
        "long_texts.view=curves": CHART,
        "long_texts.view=needle": CHART,
    },
    "next_token": {
        "next_token.compare=1&next_token.draws=100&sampling_b.top_k=5": ".sampling-bench",
        "text=The+little+girl+saw+a&lesson=sampling&step=2": ".st-key-lesson",
    },
    "film": {
        "film.length=40&film.steps=30&film.frame=8&sampling.seed=1&film.one_head=1": ".film",
        "film.length=8&film.steps=6&film.frame=2&film.forced=1-17"
        "&edits=SharpenedHead(2,2,0.5)&everywhere=1": ".token-tree",
    },
    "kv_cache": {
        "kv_cache.length=50": CHART,
        "kv_cache.view=bytes": CHART,
        "kv_cache.length=50&lesson=cache&step=2": ".st-key-lesson",
        "kv_cache.view=what_if&kv_cache.sinks=2": CHART,
    },
    "masks": {
        "masks.pattern=bigbird&masks.reach=3&masks.hidden=7.2-5.1": ".mask-gallery",
        "masks.view=model&masks.pattern=window&masks.where=chosen&masks.layers=2.3&masks.heads=1.4": ".head-map",
        "masks.view=sweep": CHART,
    },
    "sharing": {"layer=6&head=5": ".head-map", "sharing.view=counts": CHART},
    "edit_heads": {
        "edits=ScaledHead(6,5,0.0);MeanHead(2,3)&layer=6&head=5": ".head-map",
        "edit_heads.view=effects": ".layer-head-map",
        "edit_heads.view=patching&query=6": ".layer-head-map",
    },
    "steps": {
        "steps.numbers=X01_1.5&steps.heads=2": ".step-by-step",
        "steps.source=model&layer=6&head=4&steps.ask=1": ".step-by-step",
        "steps.view=scale": CHART,
        "steps.view=length": CHART,
        "steps.view=gradients": CHART,
        "steps.view=batch&steps.side=left": ".step-by-step",
        "steps.view=batch&steps.batch=cached": ".step-by-step",
        "steps.view=otherwise": CHART,
        "steps.view=otherwise&steps.otherwise=typed": CHART,
        "steps.view=softmax": ".step-by-step",
        "steps.view=softmax&steps.softmax=vocabulary": ".chart",
        "steps.view=similarity": ".step-by-step",
        "steps.view=others": CHART,
        "steps.view=others&steps.others=reading": CHART,
    },
    "block": {
        "": ".model-stages",
        "block.blocks=two": CHART,
        "block.view=embedding&block.token=786": ".model-stages",
        "block.view=context": CHART,
        "block.view=stream": ".model-stages",
        "block.view=streams&block.streams=needed": ".layer-head-map",
        "block.view=norms": ".model-stages",
        "block.view=ffn&block.layer=7": CHART,
        "block.view=ffn&block.ffn=small&block.step=ffn_bias": ".step-by-step",
        "block.view=ffn&block.ffn=own": ".step-by-step",
        "block.view=experts&block.experts=random": ".layer-head-map",
        "block.view=sizes&block.like=Qwen2+72B&block.kv_heads=64": CHART,
        "block.view=lens": ".layer-head-map",
        "block.view=learning": ".layer-head-map",
    },
    "families": {"families.family=two": ".head-map", "families.view=known": KNOWN},
    "zoo": {
        "layer=6&head=4&zoo.variant=performer": ".head-map",
        "zoo.view=model&layer=6&head=4": ".head-map",
        "zoo.view=weights&layer=6&head=4": ".head-map",
        "zoo.view=hybrid": CHART,
        "zoo.view=flash&zoo.frame=5": ".flash-film",
        "zoo.view=linear&zoo.read=3": ".bracketings",
        "zoo.view=linear&zoo.linear=blocks": ".bracketings",
        "zoo.view=cost": CHART,
    },
}
# No colour on its way, and nothing dimmed since a run has yet to draw it again: the race runs on.
STILL = """*, ::before, ::after { transition: none !important; animation: none !important }
[data-stale=true] { opacity: 1 !important }"""

# Another address, as Back asks for it.
GO = """(url) => {
  history.pushState({}, "", url)
  dispatchEvent(new PopStateEvent("popstate"))
}"""


def open_view(page: Page, url: str, painted: str) -> None:
    page.goto(url)
    wait_for_view(page, painted)
    page.locator(".theme-switch[data-painted]").wait_for(timeout=PATIENCE)
    page.add_style_tag(content=STILL)


def wait_for_view(page: Page, painted: str) -> None:
    page.locator(painted if painted in PLAIN else f"{painted}[data-painted]").first.wait_for(timeout=PATIENCE)
    wait_for_rest(page)


def go_on_to(page: Page, url: str, painted: str) -> None:
    """The same in the page that is open, by its address, as Back does: without the seconds that opening one takes."""
    page.locator(f"{painted}[data-painted]").evaluate_all("(old) => old.forEach((one) => delete one.dataset.painted)")
    run = page.locator(".st-key-echo input")  # the number of the run that was drawn last
    before = run.input_value()
    page.evaluate(GO, url)
    expect(run).not_to_have_value(before, timeout=PATIENCE)
    wait_for_rest(page)
    wait_for_view(page, painted)


def in_colours(page: Page, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    expect(page.locator(".theme-switch")).to_have_attribute("data-current", scheme, timeout=PATIENCE)


def names_of_sliders(page: Page) -> list[str]:
    """Streamlit names its own a moment after they are there."""
    return re.findall(r'- (?:slider|spinbutton) ?"?([^":]*)', page.locator("body").aria_snapshot())


SCHEMES = ("light", "dark")
MAIN = "[data-testid=stMain]"
TOGETHER = 4  # so many pages are looked at in one that is open
PAGES = [tuple(VIEWS)[first : first + TOGETHER] for first in range(0, len(VIEWS), TOGETHER)]


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.long)], ids=["first views", "all"])
@pytest.mark.parametrize("paths", PAGES, ids=lambda paths: "-".join(paths) or "heads")
def test_axe_finds_nothing_wrong_on_any_view_in_light_and_dark(page, server, axe, paths, every):
    page.emulate_media(color_scheme="light")
    open_view(page, server.url, ".token-lines")
    wrong: list[str] = []
    views = ((one, view) for one in paths for view in tuple(VIEWS[one].items())[: None if every else 1])
    for number, (path, (address, painted)) in enumerate(views):
        first = address == next(iter(VIEWS[path]))  # of the page: what is around its views stays as it is
        go_on_to(page, f"{server.url}/{path}?{address}", painted)
        for scheme in SCHEMES if every else (SCHEMES[number % 2],):
            in_colours(page, scheme)
            wrong += [
                f"{path}?{address} in {scheme}: {one}" for one in found_by(page, axe, scheme, "html" if first else MAIN)
            ]
        in_colours(page, "light")
        eventually(page, lambda: names_of_sliders(page), lambda names: all(n.strip() and "  " not in n for n in names))
    assert not wrong, "\n".join(wrong)


@pytest.mark.long
@pytest.mark.parametrize("schemes", [SCHEMES], ids="-".join)
def test_axe_finds_nothing_wrong_in_the_menus_the_explanation_and_the_glossary(page, server, axe, schemes):
    open_view(page, f"{server.url}/?layer=6&head=5&reading=1", ".token-lines")
    wrong: list[str] = []
    for scheme in schemes:
        in_colours(page, scheme)
        for name in ("As tables", "Export"):
            page.get_by_role("button", name=name).click()
            last = page.get_by_role("dialog", name=name).locator("pre, table").last
            last.wait_for(timeout=PATIENCE)
            page.mouse.move(1, 1)  # what is hovered has colours of its own
            wait_for_rest(page)
            wrong += [f"{scheme} {name}: {one}" for one in found_by(page, axe, scheme)]
            page.keyboard.press("Escape")
        page.get_by_role("button", name="Glossary").click()
        wrong += [f"{scheme} glossary: {one}" for one in found_by(page, axe, scheme)]
        page.keyboard.press("Escape")
    assert not wrong, "\n".join(wrong)


@pytest.mark.long
def test_axe_finds_nothing_wrong_with_a_room_its_question_and_where_students_come_in(page, server, axe):
    page.goto(f"{server.url}/join")
    page.locator("input.code").wait_for()
    wrong = {"join": found_in_both(page, axe)}
    open_view(page, f"{server.url}/?layer=6&head=5", ".token-lines")

    def look(state: str) -> None:
        wait_for_rest(page)
        for scheme in SCHEMES:
            in_colours(page, scheme)
            wrong[f"{state}, {scheme}"] = found_by(page, axe, scheme)

    def press(key: str, then: str) -> None:
        page.locator(f".st-key-{key} button").first.click()
        page.locator(then).first.wait_for(timeout=PATIENCE)

    press("open_room", ".atlas-huge")
    look("code")
    press("hide_code", ".token-lines[data-painted]")
    look("page with its room")
    press("ask_class", ".st-key-ask_names")
    look("what can be asked")
    press("ask_next", ".atlas-answered")
    look("open question")
    press("vote_again", ".st-key-class_poll .atlas-caption")
    look("second vote")
    press("reveal", ".st-key-class_poll .chart[data-painted]")
    look("histogram")
    press("end_room", ".st-key-end_it")
    look("end of the room, asked for")
    press("end_it", ".st-key-open_room")
    assert {state: found for state, found in wrong.items() if found} == {}


def test_every_lesson_is_among_the_views():
    named = [re.search(r"lesson=(\w+)", address) for views in VIEWS.values() for address in views]
    every = lessons([HERE], "en", set(VIEWS))[0]
    assert {found[1] for found in named if found} == {one.name for one in every if not one.tour} | {"model"}


def test_every_view_of_every_page_is_looked_at():
    assert list(VIEWS) == [entry.address for entry in ENTRIES]
    for entry in ENTRIES:
        module = import_module(f"pages.{entry.address or 'heads'}.state")
        for kind in (one for one in vars(module).values() if isinstance(one, type) and hasattr(one, "SCOPE")):
            for field in (one for one in fields(kind) if one.name == "view"):
                every = get_args(get_type_hints(kind)[field.name])
                assert every
                seen = [re.search(rf"{kind.SCOPE}\.view=(\w+)", address) for address in VIEWS[entry.address]]
                assert {found[1] if found else field.default for found in seen} == set(every), entry.address


LATE = """<html lang="en"><title>late</title>
<style>* { background: #fff } @media (prefers-color-scheme: dark) { * { background: #14151a } }</style>
<main><h1 style="color: #ccc">late</h1><p data-theme="light" style="color: #1a1c22">a picture</p></main>
<script>matchMedia("(prefers-color-scheme: dark)").addEventListener("change", ({ matches }) => setTimeout(() => {
  const picture = document.querySelector("p")
  picture.dataset.theme = matches ? "dark" : "light"
  picture.style.color = matches ? "#e8e8ec" : "#1a1c22"
}, 500))</script>"""


def test_axe_looks_when_every_picture_has_taken_the_colours(page, axe):
    page.set_content(LATE)
    found = found_in_both(page, axe)
    assert not [one for one in found if "a picture" in one]
    assert [one for one in found if "late" in one]  # it did look
