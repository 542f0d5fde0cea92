"""A few made-up addresses and texts: no traceback. ``python -m tests.fuzz`` makes thousands."""

from __future__ import annotations

import pytest

from tests.fuzz.look import tracebacks_at, tracebacks_of
from tests.fuzz.made import addresses, texts

SEED, ADDRESSES, TEXTS = 4, 8, 3

pytestmark = pytest.mark.table


def test_no_address_gives_a_traceback():
    found = {str(address): tracebacks_at(page, address) for page, address in addresses(SEED, ADDRESSES)}
    assert {address: said for address, said in found.items() if said} == {}


def test_no_text_gives_a_traceback():
    found = {text: tracebacks_of(text, number) for number, text in enumerate(texts(SEED, TEXTS))}
    assert {text: said for text, said in found.items() if said} == {}


def test_a_seed_makes_the_same_again_and_another_seed_others():
    assert list(addresses(1, 50)) == list(addresses(1, 50)) != list(addresses(2, 50))
    assert list(texts(1, 20)) == list(texts(1, 20)) != list(texts(2, 20))
