"""The glossary explains a word where it stands, anywhere on the page, and lists all of them for the keyboard."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.node import run_module
from tests.viz.components.clock import wait
from ui.wording.i18n import LANGUAGES, catalog
from viz.components.glossary.glossary import SOURCE, TEXTS, GlossaryPicture, terms_in
from viz.components.glossary.terms import TERMS

TEXT = """
<p id="own">The entropy of a head is 2 bits; the headline is no head, subheads are none.</p>
<p><bdi id="read">entropy</bdi> <textarea>softmax</textarea> <span class="chip">lse</span></p>
<p id="zh">熵很低</p><p id="bare">drawn with u = 0.919 · H5 · kv 2 · lse · W = U Σ</p>
<button id="press">perplexity</button><div id="host"></div>
"""
MEANINGS = {term.names[0]: term.meaning for term in TERMS}


def test_in_chinese_a_term_has_its_chinese_and_its_english_names():
    named = {term.names[-1]: term for term in terms_in(catalog("zh").gettext)}
    assert named["entropy"].names == ("熵 entropy", "熵", "entropy")
    assert named["entropy"].meaning != MEANINGS["entropy"]
    assert all(any("\u4e00" <= sign <= "\u9fff" for sign in term.meaning) for term in named.values())


@pytest.mark.parametrize(
    "text, found",
    [
        ("数值只在值得时，最大值", []),
        ("值 Value 与值，核 kernel 已核对", ["值 Value", "核 kernel"]),
        ("每层的熵：熵 entropy", ["熵 entropy"]),
        ("各词元的交叉熵", ["词元", "交叉熵"]),
        ("subheads are no head", ["head"]),
    ],
)
def test_one_chinese_sign_is_a_word_by_itself_alone(text, found):
    names = [name for term in terms_in(catalog("zh").gettext) for name in term.names]
    code = (
        'import { wordsOf } from "./viz/components/glossary/words.js"\nanswer(given[1].match(wordsOf(given[0])) ?? [])'
    )
    assert run_module(code, [names, text]) == found


def test_no_two_terms_have_one_name_in_english():
    names = [name.lower() for term in TERMS for name in term.names]
    assert len(set(names)) == len(names)


# what newcomers met on a page without a word of what it is
BARE = (
    "token", "layer", "head", "L6H4", "query", "key", "value", "⟨bos⟩", "logit", "entropy", "bits", "residual", "KL",
    "kv", "lse", "u", "rank", "rotation", "context", "greedy", "prompt", "vector", "dimension", "vocabulary",
    "embedding", "norm", "soft-cap", "sliding window", "drift", "direct attribution", "expert", "router",
    "logit lens", "NTK", "ALiBi", "SRAM", "multiply-adds", "cross-entropy", "perplexity", "sink", "induction",
    "ablated", "patching", "seed", "beams",
)  # fmt: skip  # one idea a line


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_word_of_the_field_stands_bare(language):
    named = {name for term in terms_in(catalog(language).gettext) for name in term.names}
    assert set(BARE) <= named
    assert "·it" in next(term for term in terms_in(catalog(language).gettext) if "token" in term.names).meaning


@pytest.fixture
def glossary(mount: Any) -> Any:
    page = mount(SOURCE, GlossaryPicture(terms=terms_in(lambda text: text), texts=TEXTS).packed())
    page.evaluate(
        """html => {
            document.body.insertAdjacentHTML("afterbegin", html)
            const root = document.getElementById("host").attachShadow({ mode: "open" })
            root.innerHTML = "<p>its <b>logit</b></p>"
        }""",
        TEXT,
    )
    return page


def rest_on(page: Any, word: str, within: str = "#own") -> None:
    """Lay the pointer on the middle of a word."""
    x, y = page.evaluate(
        """([selector, word]) => {
            const inside = document.getElementById("host").shadowRoot.querySelector("b")
            const node = selector === "host" ? inside : document.querySelector(selector)
            const text = [...node.childNodes].find(one => one.data?.includes(word))
            const range = document.createRange()
            range.setStart(text, text.data.indexOf(word))
            range.setEnd(text, text.data.indexOf(word) + word.length)
            const box = range.getBoundingClientRect()
            return [box.x + box.width / 2, box.y + box.height / 2]
        }""",
        [within, word],
    )
    page.mouse.move(x, y)


@pytest.mark.browser
@pytest.mark.parametrize(
    "word, within, term",
    [
        ("entropy", "#own", "entropy"),
        ("logit", "host", "logit"),
        pytest.param("u", "#bare", "u", marks=pytest.mark.long),
        ("kv", "#bare", "kv head"),
        pytest.param("lse", "#bare", "lse", marks=pytest.mark.long),
    ],
)
def test_a_word_that_the_pointer_rests_on_is_explained_until_it_leaves(glossary, word, within, term):
    note = glossary.locator(".glossary .note")
    rest_on(glossary, word, within)
    expect(note.locator("p")).to_have_text(MEANINGS[term])
    expect(note).to_be_visible()
    glossary.mouse.move(700, 700)
    expect(note).to_be_hidden()
    rest_on(glossary, word, within)
    expect(note).to_be_visible()
    glossary.keyboard.press("Escape")
    expect(note).to_be_hidden()


@pytest.mark.browser
def test_what_was_just_pressed_is_not_explained_until_the_pointer_has_left_it(glossary):
    button = """<button id="used" style="width: 200px">entropy</button>"""
    glossary.evaluate("html => document.body.insertAdjacentHTML('afterbegin', html)", button)
    note = glossary.locator(".glossary .note")
    rest_on(glossary, "entropy", "#used")
    expect(note).to_be_visible()
    glossary.mouse.down()
    glossary.mouse.up()
    expect(note).to_be_hidden()
    box = glossary.locator("#used").bounding_box()
    glossary.mouse.move(box["x"] + box["width"] / 2 + 3, box["y"] + box["height"] / 2)
    glossary.wait_for_timeout(600)  # longer than a pointer has to rest
    expect(note).to_be_hidden()
    glossary.mouse.move(700, 700)
    rest_on(glossary, "entropy", "#used")
    expect(note).to_be_visible()


@pytest.mark.browser
@pytest.mark.parametrize("waits", [0, 600])
def test_a_press_that_its_control_keeps_to_itself_is_known_all_the_same(glossary, waits):
    glossary.evaluate(
        """() => {
            const button = `<button id="tab" style="width: 200px">entropy</button>`
            document.body.insertAdjacentHTML("afterbegin", button)
            const [tab] = document.body.children
            for (const kind of ["pointerdown", "pointerup", "keydown"]) {
                tab.addEventListener(kind, event => event.stopPropagation())
            }
        }"""
    )
    note = glossary.locator(".glossary .note")
    rest_on(glossary, "entropy", "#tab")
    glossary.wait_for_timeout(waits)
    expect(note).to_be_visible() if waits else expect(note).to_be_hidden()
    glossary.mouse.down()
    glossary.mouse.up()
    glossary.wait_for_timeout(600)  # longer than a pointer has to rest
    expect(note).to_be_hidden()
    glossary.mouse.move(700, 700)
    rest_on(glossary, "entropy", "#tab")
    expect(note).to_be_visible()
    glossary.locator("#tab").press("Escape")
    expect(note).to_be_hidden()


@pytest.mark.browser
@pytest.mark.parametrize("kind", ["a", "button"])
def test_the_note_of_a_controls_word_lets_what_is_below_be_clicked(glossary, kind):
    glossary.evaluate(
        """kind => document.body.insertAdjacentHTML("afterbegin", `<div style="width: 200px">
            <style>#first, #second { display: block; width: 100% }</style>
            <${kind} id="first">entropy</${kind}>
            <${kind} id="second" onclick="this.textContent = 'clicked'">next</${kind}>
        </div>`)""",
        kind,
    )
    note = glossary.locator(".glossary .note")
    rest_on(glossary, "entropy", "#first")
    expect(note).to_be_visible()
    below, box = glossary.locator("#second").bounding_box(), note.bounding_box()
    assert (box["x"] >= below["x"] + below["width"]) is (kind == "a")  # a link's note stands beside it
    glossary.mouse.move(below["x"] + below["width"] / 2, below["y"] + below["height"] / 2)
    glossary.mouse.down()
    glossary.mouse.up()
    expect(glossary.locator("#second")).to_have_text("clicked")
    expect(note).to_be_hidden()


@pytest.mark.browser
@pytest.mark.parametrize("ends", ["Escape", "a click elsewhere"])
def test_the_note_of_a_clicked_word_stays_until_it_is_sent_away(glossary, ends):
    note = glossary.locator(".glossary .note")
    rest_on(glossary, "entropy")
    glossary.mouse.down()
    glossary.mouse.up()
    expect(note.locator("p")).to_have_text(MEANINGS["entropy"])
    glossary.mouse.move(700, 700)
    wait(glossary, 600)
    rest_on(glossary, "logit", "host")
    wait(glossary, 600)
    expect(note.locator("p")).to_have_text(MEANINGS["entropy"])
    expect(note).to_be_visible()
    if ends == "Escape":
        glossary.keyboard.press("Escape")
    else:
        glossary.mouse.click(700, 700)
    expect(note).to_be_hidden()
    rest_on(glossary, "head")
    expect(note.locator("p")).to_have_text(MEANINGS["head"])


@pytest.mark.browser
def test_text_that_is_marked_with_the_mouse_is_not_asked_about(glossary):
    rest_on(glossary, "head")
    glossary.mouse.down()
    rest_on(glossary, "entropy")
    glossary.mouse.up()
    glossary.mouse.move(700, 700)
    wait(glossary, 600)
    expect(glossary.locator(".glossary .note")).to_be_hidden()


@pytest.mark.browser
def test_a_heads_name_and_the_chip_of_a_special_token_are_explained_where_they_stand(glossary):
    chips = """<p id="named">L12H3 is open, not XL12H3.</p><div><button class="chip special" id="bos">
        <span class="label">⟨bos⟩</span></button>
        <button class="chip" id="plain"><span class="label">head</span></button></div>"""
    glossary.evaluate("html => document.body.insertAdjacentHTML('afterbegin', html)", chips)
    note = glossary.locator(".glossary .note")
    rest_on(glossary, "L12H3", "#named")
    expect(note.locator("p")).to_have_text(MEANINGS["L6H4"])
    glossary.mouse.move(700, 700)
    expect(note).to_be_hidden()
    glossary.locator("#plain").hover()
    wait(glossary, 600)
    expect(note).to_be_hidden()
    glossary.locator("#bos").click()
    expect(note.locator("p")).to_have_text(MEANINGS["⟨bos⟩"])
    glossary.mouse.move(700, 700)
    wait(glossary, 600)
    expect(note).to_be_visible()


@pytest.mark.browser
def test_a_picture_stands_beside_the_words_where_one_helps(glossary):
    rest_on(glossary, "head")
    expect(glossary.locator(".glossary .note svg rect").first).to_be_visible()


@pytest.mark.browser
@pytest.mark.parametrize(
    "word, within", [("entropy", "#read"), ("headline", "#own"), ("subheads", "#own"), ("U", "#bare")]
)
def test_what_the_reader_wrote_and_longer_words_are_left_alone(glossary, word, within):
    rest_on(glossary, word, within)
    wait(glossary, 600)
    expect(glossary.locator(".glossary .note")).to_be_hidden()


@pytest.mark.browser
def test_each_word_is_marked_once_the_first_time_it_stands_there(glossary):
    glossary.wait_for_function("CSS.highlights.get('atlas-terms')?.size > 0")
    marked = glossary.evaluate("[...CSS.highlights.get('atlas-terms')].map(range => range.toString())")
    assert sorted(marked) == ["bits", "entropy", "head", "kv", "logit", "lse", "perplexity", "u"]


@pytest.mark.browser
def test_the_list_is_reached_by_keyboard_holds_every_term_and_closes(glossary):
    button, page_list = glossary.locator(".glossary .open"), glossary.locator(".glossary .list")
    button.focus()
    glossary.keyboard.press("Enter")
    expect(page_list).to_be_visible()
    assert page_list.locator("h3").all_inner_texts() == [term.names[0] for term in TERMS]
    glossary.keyboard.press("Escape")
    expect(page_list).to_be_hidden()
    expect(button).to_be_focused()


@pytest.mark.browser
def test_it_leaves_nothing_behind(glossary):
    glossary.wait_for_function("CSS.highlights.get('atlas-terms')?.size > 0")
    glossary.evaluate("document.querySelector('[data-component=glossary]').remove(); window.disposers.glossary()")
    rest_on(glossary, "entropy")
    wait(glossary, 600)
    assert glossary.evaluate("[CSS.highlights.has('atlas-terms'), document.querySelectorAll('.note').length]") == [
        False,
        0,
    ]
