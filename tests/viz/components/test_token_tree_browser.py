"""The tree of continuations under mouse and keys, in a browser and without a server."""

from __future__ import annotations

import dataclasses
import itertools
import math

import pytest

from tests.viz.components import shim
from tests.viz.components.clock import wait
from tests.viz.components.mounted import answer, calls
from tests.viz.components.test_token_tree import PROMPT, Node, tree
from viz.components.token_tree.token_tree import SOURCE, TEXTS

pytestmark = pytest.mark.browser

# the·dog ─ ·ran ┬ ·off ─ .        the open branch, on row 0
#                └ ·away ┬ ⟨eos⟩   forced, then ended, named "beam 1"
#                        └ ·fast   dropped
NODES = (
    PROMPT,
    Node("1", "·ran", 0, log_prob=math.log(0.9), total=-0.105),
    Node("1.2", "·off", 1, log_prob=math.log(0.5), total=-0.799),
    Node("1.2.3", ".", 2),
    Node("1.4", "·away", 1, y=1.5, log_prob=math.log(0.01), total=-4.71, chosen="forced"),
    Node("1.4.5", "⟨eos⟩", 4, y=1, ended=True, names=("beam 1",)),
    Node("1.4.6", "·fast", 4, y=2, dropped=True, chosen="beam"),
)


def small(**changes):
    return tree(NODES, **{"opened": "1.2", "n_branches": 3, **changes})


def chain(length, opened=0, frame=0):
    """A prompt with one long run behind it."""
    ids = [".".join(map(str, range(1, n + 1))) for n in range(length + 1)]
    nodes = [PROMPT, *(Node(ids[n], f"·w{n}", n - 1, log_prob=-0.1, total=-0.1 * n) for n in range(1, length + 1))]
    return tree(nodes, opened=ids[opened], frame=ids[frame])


def wide(n_branches, length):
    """Branches that part at the prompt, on rows of their own; none is short enough to be drawn whole."""
    nodes = [PROMPT]
    for row in range(n_branches):
        for depth in range(length):
            parent = 0 if depth == 0 else len(nodes) - 1
            node_id = f"{nodes[parent].id}.{depth}" if depth else str(row)
            nodes.append(Node(node_id, f"·r{row}c{depth}", parent, y=row, chosen="beam"))
    return tree(nodes, n_branches=n_branches)


def chip(page, node_id):
    return page.locator(f'.chip[data-id="{node_id}"]')


def labels(page, css=".chip"):
    return [text.strip("\u2068\u2069") for text in page.locator(f"{css} text").all_text_contents()]


def fact(page, name):
    return page.locator(".token-tree").get_attribute(f"data-{name}")


def caption(page):
    return page.locator(".caption").text_content().replace("\u2068", "").replace("\u2069", "")


def thickness(page, to):
    return float(page.locator(f'.edge[data-to="{to}"]').get_attribute("stroke-width"))


def middle(one):
    box = one.bounding_box()
    return box["x"] + box["width"] / 2 + 2, box["y"] + box["height"] / 2


def boxes(page):
    return page.locator(".chip .box, .more rect").evaluate_all(
        "all => all.map(one => { const b = one.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom] })"
    )


# -- the picture ------------------------------------------------------------------------------------------------------


def test_every_token_is_a_chip_with_its_label(mount):
    page = mount(SOURCE, small())
    assert labels(page) == ["the·dog", "·ran", "·off", ".", "·away", "⟨eos⟩", "·fast"]
    assert page.locator("text.name").all_text_contents() == ["\u2068beam 1\u2069"]


def test_lines_are_as_thick_as_their_token_is_probable(mount):
    page = mount(SOURCE, small())
    thin, middle, thick = (thickness(page, to) for to in ("1.4", "1.2", "1"))
    assert thick > middle > thin >= 1
    assert (thick - 1) / (middle - 1) == pytest.approx(0.9 / 0.5, rel=0.01)
    assert page.locator(".edge").count() == len(NODES) - 1


def test_the_open_branch_is_marked_from_the_prompt_to_the_open_token_and_no_further(mount):
    page = mount(SOURCE, small())
    assert sorted(labels(page, ".chip.path")) == sorted(["the·dog", "·ran", "·off"])
    assert labels(page, ".chip.opened") == ["·off"]
    assert page.locator(".edge.path").evaluate_all("all => all.map(one => one.dataset.to).sort()") == ["1", "1.2"]


def test_forced_dropped_and_ended_are_marked_and_explained(mount):
    page = mount(SOURCE, small())
    assert chip(page, "1.4").locator(".forced-mark").count() == page.locator(".forced-mark").count() == 1
    assert chip(page, "1.4.5").locator(".end-mark").count() == page.locator(".end-mark").count() == 1
    assert labels(page, ".chip.dropped") == ["·fast"]
    assert page.locator('.edge.dropped[data-to="1.4.6"]').count() == page.locator(".edge.dropped").count() == 1
    legend = page.locator(".legend").text_content()
    assert all(words in legend for words in ("forced", "dropped by beam search", "end of text"))


def test_the_legend_explains_only_what_is_there(mount):
    page = mount(SOURCE, chain(3))
    assert page.locator(".legend span").all_text_contents() == [TEXTS["thickness"], TEXTS["open"], TEXTS["frame"]]


def test_the_frame_in_view_is_pointed_at_also_where_a_long_run_hides_it(mount):
    page = mount(SOURCE, small(frame="1"))
    assert page.locator(".frame-mark").count() == chip(page, "1").locator(".frame-mark").count() == 1
    assert chip(page, "1").get_attribute("aria-label").endswith(TEXTS["frame"])
    answer(page, chain(60, opened=30, frame=10))
    assert page.locator(".frame-mark").count() == page.locator(".more").first.locator(".frame-mark").count() == 1


@pytest.mark.parametrize("data", [small(), chain(60, opened=30), wide(10, 20)], ids=["small", "long", "wide"])
def test_no_chip_lies_on_another(mount, data):
    page = mount(SOURCE, data, style="section{max-width:1100px}")
    for a, b in itertools.combinations(boxes(page), 2):
        apart = a[2] <= b[0] + 0.5 or b[2] <= a[0] + 0.5 or a[3] <= b[1] + 0.5 or b[3] <= a[1] + 0.5
        assert apart, (a, b)


def test_a_prompt_alone_is_drawn_and_says_that_nothing_follows(mount):
    page = mount(SOURCE, tree([PROMPT], n_branches=0))
    assert labels(page) == ["the·dog"]
    assert caption(page) == "the·dog · the prompt; nothing follows it yet"


def test_a_long_run_shows_its_ends_and_what_is_around_the_open_token(mount):
    page = mount(SOURCE, chain(60, opened=30))
    assert labels(page) == ["the·dog", "·w1", "·w29", "·w30", "·w31", "·w59", "·w60"]
    assert [text.strip("… ") for text in page.locator(".more text").all_text_contents()] == ["27", "27"]
    page.locator(".more").first.click()
    assert page.locator(".chip").count() == 61
    assert page.locator(".more").count() == 0
    assert calls(page) == []  # looking at more of it opens nothing


def test_sixty_tokens_fit_and_wider_trees_scroll_inside(mount):
    page = mount(SOURCE, chain(60, opened=30), width=390, height=844)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = page.locator(".scroller").bounding_box()
    opened = chip(page, "1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.17.18.19.20.21.22.23.24.25.26.27.28.29.30")
    inside = opened.locator(".box").bounding_box()
    assert box["x"] <= inside["x"]
    assert inside["x"] + inside["width"] <= box["x"] + box["width"] + 1


def test_two_hundred_nodes_are_no_higher_than_they_may_be(mount):
    page = mount(SOURCE, wide(20, 10))
    assert page.locator(".scroller").bounding_box()["height"] <= 360
    assert fact(page, "nodes") == "201"
    assert page.locator(".scroller").evaluate("one => one.scrollHeight") > 600


@pytest.mark.parametrize("theme", [shim.LIGHT, shim.DARK], ids=["light", "dark"])
def test_labels_are_readable_in_both_themes(mount, theme):
    page = mount(SOURCE, small(), theme=theme)
    assert chip(page, "1.4").locator("text").evaluate("one => getComputedStyle(one).fill") == page.locator(
        ".token-tree"
    ).evaluate("one => getComputedStyle(one).color")


def test_labels_are_text_and_never_markup(mount):
    page = mount(SOURCE, tree([PROMPT, Node("1", "<img src=x onerror=alert(1)>", 0)]))
    assert page.locator("img").count() == 0
    assert labels(page)[1].startswith("<img")


# -- looking and opening ----------------------------------------------------------------------------------------------


def test_the_caption_is_the_open_token_until_the_pointer_is_on_another(mount):
    page = mount(SOURCE, small())
    assert (
        caption(page)
        == "·off · the most probable · the model gives it 50 % · log-probability −0.69 · from the prompt −0.80"
    )
    chip(page, "1.4").hover()
    assert caption(page) == "·away · forced · the model gives it 1.0 % · log-probability −4.61 · from the prompt −4.71"
    chip(page, "1.4.5").hover()
    assert "the most probable, end of text" in caption(page)
    assert caption(page).endswith("· beam 1")
    chip(page, "1.4.6").hover()
    assert "· dropped by beam search ·" in caption(page)
    page.mouse.move(1300, 800)
    assert caption(page).startswith("·off")


def test_on_a_phone_the_caption_has_one_height_whatever_it_says(mount):
    page = mount(SOURCE, small(), width=390, height=844)
    shown = page.locator(".caption")
    height = shown.evaluate("node => node.offsetHeight")
    assert shown.evaluate("node => (node.textContent = 'it') && node.offsetHeight") == height


def test_a_click_marks_the_whole_branch_and_the_prompt_can_be_opened(mount):
    page = mount(SOURCE, small())
    chip(page, "1.4.6").click()
    assert sorted(labels(page, ".chip.path")) == sorted(["the·dog", "·ran", "·away", "·fast"])
    chip(page, "").click()
    assert calls(page)[1:] == [["node", ""]]


def test_a_token_that_slides_under_a_resting_pointer_is_not_looked_at(mount):
    page = mount(SOURCE, small())
    chip(page, "1.4").click()
    turned = [dataclasses.replace(node, y=1.5 - node.y) if node.id in ("1.2", "1.4") else node for node in NODES]
    answer(page, tree(turned, opened="1.4", n_branches=3))
    wait(page, 300)
    assert caption(page).startswith("·away")
    page.mouse.move(*middle(chip(page, "1.2")), steps=3)
    assert caption(page).startswith("·off")


def test_a_branch_that_is_gone_opens_the_prompt(mount):
    page = mount(SOURCE, small())
    answer(page, small(opened="9.9"))
    assert fact(page, "opened") == ""


def test_arrows_walk_along_the_tree_and_enter_opens(mount):
    page = mount(SOURCE, small())
    page.locator(".scroller").focus()
    walked = []
    for way in ["Right", "Left", "Down", "Right", "Down", "Up", "-", "Right", "Right"]:
        page.keyboard.press("Home" if way == "-" else f"Arrow{way}")
        walked.append(fact(page, "current"))
    assert walked == ["1.2.3", "1.2", "1.4", "1.4.5", "1.4.6", "1.4.5", "", "1", "1.2"]
    assert calls(page) == []
    assert page.locator(".scroller").get_attribute("aria-activedescendant") == "node-2"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert calls(page) == [["node", "1.4"]]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    assert fact(page, "current") == "1.4"


def test_arrows_at_the_ends_stay(mount):
    page = mount(SOURCE, small(opened="1.2.3"))
    page.locator(".scroller").focus()
    for key, where in (("ArrowRight", "1.2.3"), ("ArrowUp", "1.2.3"), ("Home", ""), ("ArrowLeft", "")):
        page.keyboard.press(key)
        assert fact(page, "current") == where


def test_arrows_that_reach_hidden_tokens_show_them(mount):
    page = mount(SOURCE, chain(60, opened=0))
    page.locator(".scroller").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert fact(page, "current") == "1.2.3.4"
    assert chip(page, "1.2.3.4").count() == 1
    page.keyboard.press("End")
    assert page.locator(".chip.current text").text_content().strip("\u2068\u2069") == "·w60"


def test_the_tree_is_named_and_its_tokens_speak(mount):
    page = mount(SOURCE, small())
    assert page.locator("[role=tree]").get_attribute("aria-label") == "Tree of continuations. Branches: 3, tokens: 6."
    item = chip(page, "1.4.5")
    assert item.get_attribute("role") == "treeitem"
    assert item.get_attribute("aria-level") == "4"
    assert "end of text" in item.get_attribute("aria-label")
    assert chip(page, "1.2").get_attribute("aria-selected") == "true"
    page.locator(".scroller").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "document.querySelector('section').shadowRoot.querySelector('[aria-live]').textContent.includes('log-probability')"
    )


def test_reruns_while_the_branch_grows_keep_the_keyboards_place(mount):
    page = mount(SOURCE, chain(5, opened=5))
    page.locator(".scroller").focus()
    page.keyboard.press("ArrowLeft")
    answer(page, chain(6, opened=6))
    assert fact(page, "current") == "1.2.3.4"
    assert fact(page, "opened") == "1.2.3.4.5.6"
