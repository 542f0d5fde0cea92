"""Fixtures for tests of several pages: tiny models as folders, and the messages that a page sends to its server."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page
from transformers import AutoModel, AutoModelForMaskedLM, AutoModelForSpeechSeq2Seq

from classroom.desk import DESK, MOST_ROOMS
from tests.model_runner.cases import FAMILY
from tests.model_runner.families import RECURRENT
from tests.model_runner.folders import save
from tests.model_runner.listening import save_whisper
from tests.model_runner.tiny import tiny

ROWS = ("encoder_ffn_dim", "decoder_ffn_dim")
SMALL = {"encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4, "decoder_attention_heads": 4}
OTHERS = {  # beside the table of families
    "bert-base": tiny("bert", AutoModel),
    "llama-base": tiny("llama", AutoModel),
    "bloom": tiny("bloom"),
    **RECURRENT,
    "fnet": tiny("fnet", AutoModelForMaskedLM),
    "hears": tiny("speech_to_text", AutoModelForSpeechSeq2Seq, d_model=32, **SMALL, **dict.fromkeys(ROWS, 48)),
}


@pytest.fixture(autouse=True)
def rooms_end() -> Iterator[None]:
    """A server has room for so many; tests open more in one process."""
    yield
    if len(DESK._rooms) > MOST_ROOMS / 2:
        DESK._rooms.clear()


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """The folder of a family's tiny model, or of one of OTHERS, with a tokenizer of bytes, saved once."""

    @functools.cache
    def made(name: str) -> str:
        if name == "whisper":
            return str(save_whisper(tmp_path_factory.mktemp(name)))
        build = OTHERS[name] if name in OTHERS else FAMILY[name].build
        return str(save(tmp_path_factory.mktemp(name), build()))

    return made


@pytest.fixture
def whole_texts() -> None:
    """Asked for by tests that look at how a text goes on: see ``short_texts``."""


@pytest.fixture(autouse=True)
def short_texts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tokens where pages show how a text goes on, instead of 12 and 20 at every opening of a page: most tests do
    not look at them.
    """
    if not {"whole_texts", "page"}.intersection(request.fixturenames):
        for module in ("edit_heads.edit_texts", "kv_cache.what_if"):
            monkeypatch.setattr(f"pages.{module}.CONTINUED", 2)


@pytest.fixture
def frames(page: Page) -> list[object]:
    """The messages that the page sends over its connection, from now on."""
    sent: list[object] = []

    def keep(frame: object) -> None:
        sent.append(frame)

    page.on("websocket", lambda connection: connection.on("framesent", keep))
    return sent
