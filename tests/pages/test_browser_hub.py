"""A model of the hub, from its name in the box to its heads on the page, downloaded from a hub on this machine."""

from __future__ import annotations

import json
import re
import shutil
import threading

import pytest
from playwright.sync_api import expect

from model_runner.local.loading.model_folder import EMBEDDED
from tests.browser import running_app
from tests.hub_server import local_hub
from tests.model_runner.tiny import byte_tokenizer, tiny
from tests.pages.visiting import expect_address, expect_sentence, visit, wait_for_heads

NAME = "someone/tiny-llama"
PREVIEW = re.compile(
    r"^llama · its family can be captured · [\d,]+ parameters · float32 · 3 layers × 4 heads .* to download$"
)


def choose(page, name):
    page.locator(".st-key-model_box input").fill(name)
    page.locator(".st-key-model_box input").press("Enter")


@pytest.mark.long
def test_a_version_of_a_model_is_fetched_shown_and_left_while_it_is_on_its_way(new_page, tmp_path):
    folder = tmp_path / "model"
    tiny("llama")().save_pretrained(folder)
    byte_tokenizer().save_pretrained(folder)
    with local_hub() as hub:
        hears = shutil.copytree(EMBEDDED["translator"], tmp_path / "hears")
        sizes = {f"{side}_{what}": 4 for side in ("encoder", "decoder") for what in ("layers", "attention_heads")}
        config = json.loads((hears / "config.json").read_text("utf-8")) | sizes | {"model_type": "speech_to_text"}
        (hears / "config.json").write_text(json.dumps(config), "utf-8")
        hub.models = {f"{NAME}@v1.0": folder, "someone/gated@main": folder, "someone/hears@main": hears}
        hub.gated = {"someone/gated"}
        hub.slow = threading.Event()
        online = {"HF_ENDPOINT": hub.url, "HF_HUB_OFFLINE": "0", "HF_HOME": str(tmp_path / "home")}
        with running_app(tmp_path / "log.txt", env=online) as server:
            page = new_page()
            wait_for_heads(visit(page, server, text="abc"))
            choose(page, NAME)
            expect_sentence(page, f"The hub has the model {NAME}, but no version main of it.")
            choose(page, "someone/gated")
            expect_sentence(page, "may only be downloaded after its owner's terms were accepted")
            choose(page, f"https://huggingface.co/{NAME}/tree/v1.0")
            expect(page.get_by_text("Downloading the model …").first).to_be_visible()
            expect(page.get_by_text(PREVIEW)).to_be_visible()  # before it is here
            choose(page, "Embedded small Llama")  # not waited for
            wait_for_heads(page)
            hub.slow.set()
            choose(page, f"{NAME}@v1.0")
            expect(page.locator(".token-strip .chip .label")).to_have_text(["a", "b", "c"])
            wait_for_heads(page)
            expect(page.get_by_text(PREVIEW)).to_have_count(0)
            expect_address(page, model=f"{NAME}@v1.0", text="abc")
            page.get_by_role("radio", name="简体中文").click()
            choose(page, "someone/hears")  # refused by its configuration alone, which says what it is
            expect(
                page.get_by_text(re.compile(r"^speech_to_text · .*M 参数 · float32 · 4 层 × 4 个头 · .*需下载"))
            ).to_be_visible()
            assert not hub.fetched("model.safetensors", "someone/hears")
            choose(page, f"{NAME}@v1.0")
            wait_for_heads(page)
            page.locator(".st-key-model_box input").press("End")
            page.keyboard.type("@v2")
            page.keyboard.press("Enter")
            expect_sentence(page, f"Hub 上有模型 {NAME}，但没有它的版本 v2。")
            link = new_page()  # an address alone downloads nothing, and what is here is shown
            visit(link, server, model=f"{NAME}@v1.0", text="abc")
            wait_for_heads(link)
            for opened in (page, link):
                opened.close()
