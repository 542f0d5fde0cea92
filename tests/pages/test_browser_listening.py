"""A model that listens in a browser: the tone that is made here, a file of the reader's own, and one that is none."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.model_runner.test_sound import sine, wav
from tests.pages.visiting import PATIENCE, address, eventually, text_box

pytestmark = pytest.mark.browser


def files(page, name: str, data: bytes) -> None:
    page.locator("[data-testid=stFileUploaderDropzoneInput]").set_input_files(
        {"name": name, "mimeType": "audio/wav", "buffer": data}
    )


@pytest.mark.long
def test_a_sound_is_given_refused_and_taken_back(page, server, folder_of, watch):
    query = urlencode({"model": folder_of("whisper"), "lang": "en", "target": "two dogs"})
    page.goto(f"{server.url}/?{query}")  # `visit` waits for a text in its box, and here is none
    page.locator(".st-key-fetch_model button").click(timeout=PATIENCE)  # a link alone opens no folder
    page.locator(".head-grid[data-painted]").wait_for(timeout=PATIENCE)
    page.locator(".head-map[data-painted]").wait_for(timeout=PATIENCE)
    box = page.locator(".st-key-sound_box")
    expect(box).to_contain_text("A tone of 2.00 s that rises from 220 to 880 Hz, made here.")
    expect(text_box(page)).to_have_count(0)
    silence = page.get_by_text(re.compile(r"The sound is 100 of 150 frames\. .* puts .* of its weight there\."))
    expect(silence).to_be_visible()
    whole = page.locator(".head-map").get_attribute("data-window")

    files(page, "half.wav", wav(sine(8000, 440)))
    expect(box).to_contain_text("Your sound of 0.50 s, at 8,000 samples a second.", timeout=PATIENCE)
    expect(box).to_contain_text("A link cannot hold a sound")
    expect(page.get_by_text("The sound is 25 of 150 frames.")).to_be_visible(timeout=PATIENCE)
    eventually(page, lambda: page.locator(".head-map").get_attribute("data-window"), lambda held: held != whole)
    assert "target" not in address(page.url)  # what was written of the tone

    files(page, "broken.wav", b"no sound at all")
    expect(box).to_contain_text("This sound cannot be read: it is not a WAV file of plain samples", timeout=PATIENCE)
    expect(box).to_contain_text("Your sound of 0.50 s")  # which stays
    page.get_by_text("简体中文").click()
    expect(box).to_contain_text("无法读取这段声音", timeout=PATIENCE)
    page.get_by_role("button", name="改用那段音").click()
    expect(page.get_by_text("150 帧里有 100 帧是声音")).to_be_visible(timeout=PATIENCE)
    expect(box).not_to_contain_text("broken.wav")  # which is not heard
    expect(box).not_to_contain_text("无法读取这段声音")
    expect(box.get_by_role("button", name="选择文件", exact=True)).to_be_visible()
    expect(box).not_to_contain_text(re.compile("Upload|per file"), use_inner_text=True)
    page.get_by_text("English").click()
    expect(box.get_by_role("button", name="Choose a file", exact=True)).to_be_visible(timeout=PATIENCE)
    files(page, "half.wav", wav(sine(8000, 440)))  # once more
    expect(box).to_contain_text("Your sound of 0.50 s", timeout=PATIENCE)
    assert watch.errors == []
