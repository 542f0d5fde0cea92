"""Made-up addresses and texts, on one's own machine and hosted: no traceback. ``python -m tests.fuzz`` makes more."""

from __future__ import annotations

from pathlib import Path

import pytest

from hosting.settings import VARIABLE
from tests.fuzz.look import tracebacks_at, tracebacks_of
from tests.fuzz.made import addresses, texts
from ui.state import session

SEED, TEXTS = 4, 3
MANY = pytest.param(5000, marks=[pytest.mark.long, pytest.mark.timeout(4 * 3600)])
SETTINGS = "[limits]\nlooks = 1000000\ntext = 5000\ntokens = 60\n"  # nobody has to wait between two addresses

pytestmark = pytest.mark.table


@pytest.fixture
def hosted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "hosting.toml"
    file.write_text(SETTINGS)
    monkeypatch.setenv(VARIABLE, str(file))
    session.model_cache.clear()
    yield
    session.model_cache.clear()


@pytest.mark.parametrize("count", [8, MANY])
def test_no_address_gives_a_traceback(count: int):
    _no_traceback(count, SEED)


@pytest.mark.parametrize("count", [8, MANY])
def test_no_address_gives_a_traceback_on_a_hosted_server(hosted, count: int):
    _no_traceback(count, SEED + 1)


def _no_traceback(count: int, seed: int) -> None:
    found = {str(address): said for page, address in addresses(seed, count) if (said := tracebacks_at(page, address))}
    assert found == {}


def test_no_text_gives_a_traceback():
    found = {text: tracebacks_of(text, number) for number, text in enumerate(texts(SEED, TEXTS))}
    assert {text: said for text, said in found.items() if said} == {}


def test_a_seed_makes_the_same_again_and_another_seed_others():
    assert list(addresses(1, 50)) == list(addresses(1, 50)) != list(addresses(2, 50))
    assert list(texts(1, 20)) == list(texts(1, 20)) != list(texts(2, 20))
