"""HTML in a student's name and in the answers of a class: on the phone and on the projector it is text."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from model_runner.local.loading.model_folder import DEFAULT_FOLDER
from tests.browser import PATIENCE, Server
from tests.pages.test_browser_class import PHONE, ask, click
from tests.pages.visiting import visit, wait_for_heads, wait_for_rest

ANSWER = "<img/src=x/onerror=window.hacked=1><b>dog</b>"
NAME = "<img src=x onerror=window.hacked=1>"
SPARE = "<|pad|>"


def with_a_token_of_markup(folder: Path) -> Path:
    """The embedded model, whose token for padding is called otherwise: no token of its own has a whole tag."""
    for path in DEFAULT_FOLDER.iterdir():
        (folder / path.name).symlink_to(path)
    (folder / "tokenizer.json").unlink()
    told = json.loads((DEFAULT_FOLDER / "tokenizer.json").read_text("utf-8"))
    told["model"]["vocab"][ANSWER] = told["model"]["vocab"].pop(SPARE)
    for added in told["added_tokens"]:
        if added["content"] == SPARE:
            added.update(content=ANSWER, special=False)
    (folder / "tokenizer.json").write_text(json.dumps(told), "utf-8")
    name = folder / "tokenizer_config.json"
    config = {key: value for key, value in json.loads(name.read_text("utf-8")).items() if value != SPARE}
    name.unlink()
    name.write_text(json.dumps(config), "utf-8")
    return folder


def nothing_became_markup(*pages: Page) -> None:
    for page in pages:
        assert page.evaluate("window.hacked === undefined")
        expect(page.locator("img[src=x]")).to_have_count(0)
        expect(page.locator("b", has_text=re.compile("^dog$"))).to_have_count(0)


@pytest.mark.long
def test_a_name_and_an_answer_of_html_are_text_for_the_class_and_in_the_file(
    page: Page, server: Server, new_page: Callable[..., Page], tmp_path: Path
):
    model, phone = str(with_a_token_of_markup(tmp_path)), new_page(**PHONE)
    wait_for_heads(visit(page, server, model=model, text=f"The {ANSWER} chased"))
    click(page, "open_room")
    code = page.locator(".atlas-huge").inner_text()
    click(page, "hide_code")
    click(page, "ask_class")
    page.locator(".st-key-ask_names label").first.click()
    wait_for_rest(page)
    page.locator(".st-key-ask_where button").click()
    expect(page.locator(".atlas-answered")).to_be_visible()
    phone.goto(f"{server.url}/join/{code}")
    phone.get_by_label("Your name").fill(NAME)
    tag = phone.locator(".options button", has_text=ANSWER)
    expect(tag).to_have_count(1)
    tag.click()
    expect(phone.locator(".answer")).to_contain_text(ANSWER)
    nothing_became_markup(page, phone)
    phone.reload()
    expect(phone.locator(".answer")).to_contain_text(ANSWER)
    expect(page.locator(".class-answered")).to_have_text("1")
    click(page, "reveal")
    for shown in (page, phone):
        expect(shown.locator("text", has_text=ANSWER).first).to_be_visible(timeout=PATIENCE)
    nothing_became_markup(page, phone)
    with page.expect_download() as download:
        click(page, "results")
    rows = list(csv.reader(io.StringIO(download.value.path().read_text(encoding="utf-8-sig"))))
    assert [row for row in rows if NAME in row]
    click(page, "drop_poll")
    ask(page, "next")
    phone.get_by_label("Type a token").fill("<img")
    phone.get_by_label("Your name").fill(NAME)
    tag = phone.locator(".options button", has_text=ANSWER)
    tag.click()
    expect(phone.locator(".answer")).to_contain_text(ANSWER)
    nothing_became_markup(page, phone)
    click(page, "reveal")
    for shown in (page, phone):
        expect(shown.locator("text", has_text=ANSWER).first).to_be_visible(timeout=PATIENCE)
    nothing_became_markup(page, phone)
