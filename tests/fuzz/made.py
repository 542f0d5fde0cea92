"""Random URLs and texts, made from real ones and from inputs that break programs."""

from __future__ import annotations

import random
from collections.abc import Iterator

from pages.entries import ENTRIES
from tests.pages.test_addresses import rows
from ui.state.page_state import State, address_of, fields
from ui.state.selection import ModelOptions, Selection

NUMBERS = (
    "", "0", "1", "-1", "-0", "--5", "+3", "007", "1_000", "1.5", "1e3", "0x10", "½", "٣", "²", "nan", "inf", "-inf",
    "1e400", "-1e400", "5e-324", "1e-400", "9" * 9, "9" * 17, "9" * 19, "9" * 400, "-" + "9" * 400, "9" * 5000,
)  # fmt: skip
LISTS = (
    "none", "-", ".", "..", "1.2.3", "3.3.3", "1-2-3-4", "0-0-0-0", "9-1-9-1", "0.0-1.1", "1.1.1-2.2", "0.0-",
    "1." * 6000,    "L0H0", "L99H9", "L-1H0", "L6H5.L6H5", "all", "everything",
)  # fmt: skip
WORDS = (
    " ", "\x00", "\n", "<b>x</b>", "{x}", "{0}", "%s", "%", "\\", "'\"", "`", "$x$", "a" * 3000, "北京", "\u202e",
    "default", "/etc", "/etc/nosuch", "~root", "~nosuchuser",
     "../..", "owner/name", "a/b/c", "zh", "tlh", "true", "True", "weights",
)  # fmt: skip
EDITS = (
    "ScaledHead(0,0,nan)", "ScaledHead(0,0,1e400)", "ScaledHead(99,0,1.0)", "ScaledHead(-1,-1,-1.0)", "KeepLast(0,0)",
    "KeepLast(99999999999999999999,1)", "NtkTheta(5e-324)", "NtkTheta(1e308)", "NtkTheta(0.0)", "NoRotation()",
    "Blocked(((0,0),(9,9)),(0,),(1,))", "Blocked((),(),())", "SwappedHeads(0,0,0,0)", "SharpenedHead(0,0,1e300)",
    "SharedKeys(0)", "SharedKeys(3)", "ScaledHead(0,0", "ScaledHead(0,0,1.0);;", "__import__('os')", "ScaledHead" * 500,
)  # fmt: skip
PIECES = (
    "The dog", " chased", "\x00", "\ufeff", "\u202e", "\u0301", "😀", "👩‍👩‍👧‍👦", "北京", "שלום", "<bos>",
    "<|endoftext|>", "⟨bos⟩", "<0xF0>", "▁", "Ġ", "\r\n", "\t", " " * 40, "9" * 200, "<script>", "{}", "%s",
    "\\u0000", "\U0010ffff", "\ufffd", "a",
)  # fmt: skip


def addresses(seed: int, count: int) -> Iterator[tuple[str, dict[str, str]]]:
    """(page's file, parameters), half of them of an address that people have, with something about it changed."""
    chance = random.Random(seed)
    known = [(row.page, row.parameters) for row in rows()]
    names = sorted(
        {name for _, given in known for name in given}
        | {address_of(kind, name) for kind in states() for name in fields(kind)}
    )
    values = sorted({value for _, given in known for value in given.values()})
    file_of = {entry.address: entry.file for entry in ENTRIES}
    for _ in range(count):
        page, given = chance.choice(known) if chance.random() < 0.5 else (chance.choice(list(file_of)), {})
        parts = dict(given)
        for _ in range(chance.randint(1, 4)):
            name = chance.choice(names)
            name += chance.choice(("", "", "", ".window", ".nonsense", "."))
            parts[name] = value(chance, values)
        if parts and chance.random() < 0.3:
            name = chance.choice(list(parts))
            parts[name] = mutated(chance, parts[name])
        yield file_of[page], parts


def states() -> list[type[State]]:
    """The states of all pages, and what the session holds beside them."""
    from pages.cell.state import CellState
    from pages.edit_heads.state import EditHeadsState
    from pages.film.state import FilmState
    from pages.heads.state import HeadsState
    from pages.kv_cache.state import KvCacheState
    from pages.masks.state import MasksState
    from pages.next_token.state import NextTokenState
    from pages.positions.state import PositionsState
    from pages.sharing.state import SharingState

    return [
        Selection, ModelOptions, CellState, EditHeadsState, FilmState, HeadsState, KvCacheState, MasksState,
        NextTokenState,
        PositionsState, SharingState,
    ]  # fmt: skip


def value(chance: random.Random, known: list[str]) -> str:
    """A value of any part of an address."""
    pool = chance.choice((NUMBERS, NUMBERS, LISTS, WORDS, EDITS, known, known))
    return mutated(chance, chance.choice(pool)) if chance.random() < 0.3 else chance.choice(pool)


def mutated(chance: random.Random, text: str) -> str:
    """Something in it cut, doubled or replaced."""
    at = chance.randint(0, len(text))
    piece = chance.choice(("", "-", ".", "9" * 30, "e", "(", ")", ",", ";", "\x00", "½", text[:20]))
    return text[:at] + piece + text[at + chance.randint(0, 3) :]


def texts(seed: int, count: int) -> Iterator[str]:
    """Texts of up to some hundred tokens, of pieces that tokenizers and pictures stumble over, and any characters."""
    chance = random.Random(seed)
    for _ in range(count):
        pieces = [chance.choice(PIECES) for _ in range(chance.randint(0, 12))]
        pieces += ["".join(map(chr, (_character(chance) for _ in range(chance.randint(0, 20)))))]
        chance.shuffle(pieces)
        yield "".join(pieces)


def _character(chance: random.Random) -> int:
    """Any but a lone surrogate, which no browser sends."""
    code = chance.choice((chance.randrange(0x80), chance.randrange(0x3000), chance.randrange(0x110000)))
    return 0x20 if 0xD800 <= code < 0xE000 else code
