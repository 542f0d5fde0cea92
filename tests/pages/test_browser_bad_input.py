"""Bad input in a real browser: one clear sentence, what was typed stays, and text never becomes markup or code."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.pages.visiting import (
    expect_address,
    expect_sentence,
    expect_tokens,
    text_box,
    type_text,
    visit,
    wait_for_heads,
    wait_for_rest,
)

HTML = "<script>window.hacked=1</script><img src=x onerror=window.hacked=1>"


def no_code_ran(page) -> bool:
    return page.evaluate("window.hacked === undefined && document.querySelector('img[src=x]') === null")


@pytest.mark.long
def test_texts_that_cannot_be_read_say_so_and_a_good_one_is_read_again(page, server):
    wait_for_heads(visit(page, server))
    type_text(page, " \n ")
    expect_sentence(page, "There is no text to look at. Type a sentence, or pick one of the examples.")
    expect(text_box(page)).to_have_value(" \n ")

    megabyte = "word " * 200_000
    type_text(page, megabyte)
    expect_sentence(page, "tokens long, but 2,048 fit: this model was built for that many positions.")
    expect(text_box(page)).to_have_value(megabyte)
    expect_address(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.get_by_role("button", name="fact").click()
    expect_tokens(page, "The", "·capital", "·of", "·France", "·is")
    expect(page.get_by_test_id("stAlert")).to_have_count(0)


@pytest.mark.long
def test_unusual_characters_are_chips_of_their_own(page, server):
    wait_for_heads(visit(page, server))
    for text, tokens in (  # each of another length than the one before
        ("😀👩‍👩‍👧‍👦", ["😀", "👩", None, "👩", None, "👧", None, "👦"]),
        ("a\x00b", ["a", "⟨0000⟩", "b"]),
        ("שלום 龘麤", ["ש", "ל", "ו", "ם", "␣", "龘", "麤"]),
        ("a\ud800b", ["a", "�", "b"]),  # half a character becomes U+FFFD on its way through the browser
    ):
        type_text(page, text)
        expect(page.locator(".token-strip .chip").nth(1)).to_contain_text(tokens[0])
        expect(page.locator(".token-strip")).to_have_attribute("data-chips", str(1 + len(tokens)))
        shown = page.locator(".token-strip .chip .label").all_inner_texts()[1:]
        assert [label for label, token in zip(shown, tokens, strict=True) if token not in (None, label)] == []
        expect(page.get_by_test_id("stException")).to_have_count(0)
        expect(page.get_by_test_id("stAlert")).to_have_count(0)


def test_a_text_that_looks_like_markup_is_text_on_every_page_and_in_every_menu(page, server):
    wait_for_heads(visit(page, server, text=HTML))
    assert "".join(page.locator(".token-strip .chip .label").all_inner_texts()[1:]).replace("␣", "·") == HTML.replace(
        " ", "·"
    )
    page.locator(".head-map canvas").first.hover(position={"x": 200, "y": 200})
    page.get_by_role("button", name="Read this picture").click()
    page.locator(".st-key-reading pre").wait_for()
    for menu in ("As tables", "Export"):
        page.get_by_role("button", name=menu).click()
        page.locator("[data-testid=stPopoverBody]").wait_for()
        wait_for_rest(page)  # of the run that fills it
        page.keyboard.press("Escape")
        page.locator("[data-testid=stPopoverBody]").wait_for(state="hidden")
        assert no_code_ran(page)
    wait_for_rest(page)  # of the menu that closed
    page.get_by_role("link", name="Inside a cell", exact=True).click()
    page.locator(".cell-steps[data-painted]").wait_for()
    assert no_code_ran(page)


@pytest.mark.long
def test_the_files_taken_away_hold_markup_as_text_and_open_offline(page, server, new_page, tmp_path):
    wait_for_heads(visit(page, server, text=HTML, layer="3", head="7"))
    page.get_by_role("button", name="Export").click()
    for label in ("HTML", "SVG", "CSV", "NPZ"):
        with page.expect_download() as download:
            page.get_by_role("button", name=label, exact=True).click()
        file = tmp_path / download.value.suggested_filename
        download.value.save_as(file)
        assert file.name == f"attention-L3H7.{label.lower()}"
        if label in ("HTML", "SVG"):
            reader = new_page(offline=True)
            reader.goto(file.as_uri())
            assert no_code_ran(reader)
    reader = new_page(offline=True)
    reader.goto((tmp_path / "attention-L3H7.html").as_uri())
    reader.locator(".head-map[data-painted]").wait_for()
    expect(reader.locator("body")).to_contain_text("L3H7 · weights after softmax")
    assert no_code_ran(reader)


def choose_model(page, name: str) -> None:
    """Type a model into its box."""
    box = page.locator(".st-key-model_box input")
    box.fill(name)
    box.press("Enter")


@pytest.mark.long
def test_models_that_cannot_be_opened_say_why_and_the_embedded_one_comes_back(page, server, tmp_path):
    wait_for_heads(visit(page, server, text="The old king"))
    for name, said in (
        (str(tmp_path / "nowhere"), "There is no folder"),
        ("owner/never-heard-of", "The hub cannot be reached, and owner/never-heard-of is not on this machine yet."),
        ("**bold** <b>x</b> $y$ :red[z] &amp; `c`", "“**bold** <b>x</b> $y$ :red[z] &amp; `c`” is neither"),
    ):
        choose_model(page, name)
        expect_sentence(page, said)
        expect(text_box(page)).to_have_value("The old king")
        expect_address(page, model=name, text="The old king")
    choose_model(page, "Embedded small Llama")
    wait_for_heads(page)
    expect_tokens(page, "The", "·old", "·king")
    expect_address(page, text="The old king")
