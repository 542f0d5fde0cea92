"""A page's state: written values are read back, and invalid ones give a warning and the default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import pytest

from attention.zoo.table import FORMER
from ui.shared import sampling_settings
from ui.state import edit_list, page_state, session
from ui.state.old_urls import PARTS, STARTS, VARIANTS, renamed
from ui.state.page_state import setting
from ui.state.url_parsing import UrlUnreadable, read
from ui.state.url_values import EMPTY, NONE, write
from ui.wording import i18n


class Edges(NamedTuple):
    """Two numbers with names."""

    first: int
    last: int


@dataclass(frozen=True)
class Kinds:
    """One field of every type."""

    SCOPE: ClassVar[str] = "kinds"

    view: Literal["one", "two"] = setting("one", "view")
    listed: str = setting("a", "listed", options=lambda: ("a", "b"))
    ordered: tuple[str, ...] = setting(("a", "b"), "ordered", options=lambda: ("a", "b"))
    on: bool = setting(False, "on")
    count: int = setting(3, "count", min=0, max=9)
    share: float = setting(0.5, "share", min=0.0, max=1.0)
    text: str = setting("", "text", max_length=5)
    several: tuple[int, ...] = setting((), "several", min=0, max=99)
    maybe: tuple[int, ...] | None = setting(None, "maybe", min=0, max=99)
    pairs: tuple[tuple[int, int], ...] = setting((), "pairs", min=0, max=99)
    named: Mapping[str, int] | None = setting(None, "named", min=0, max=99)
    edges: Edges | None = setting(None, "edges", min=0, max=99)


@pytest.fixture(autouse=True)
def in_english(monkeypatch):
    """As in a run whose language is settled."""
    monkeypatch.setattr(i18n, "language", lambda: "en")


@pytest.mark.parametrize(
    "name, value, text",
    [
        ("view", "two", "two"),
        ("listed", "b", "b"),
        ("ordered", ("b", "a"), "b.a"),
        ("on", True, "1"),
        ("count", 9, "9"),
        ("share", 0.25, "0.25"),
        ("text", "a b", "a b"),
        ("several", (1, 3, 5), "1.3.5"),
        ("several", (), EMPTY),
        ("maybe", None, NONE),
        ("maybe", (), EMPTY),
        ("pairs", ((5, 0), (6, 1)), "5.0-6.1"),
        ("edges", Edges(2, 9), "2-9"),
    ],
)
def test_what_is_written_is_read_back(name, value, text):
    assert write(value) == text
    assert read(Kinds, name, text) == value


@pytest.mark.parametrize(
    "name, text, words",
    [
        ("view", "three", "“three” is not an option for view."),
        ("listed", "", "“” is not an option for listed."),
        ("ordered", "a.c", "“c” is not an option for ordered."),
        ("on", "yes", "“yes” is not an option for on."),
        ("count", "--5", "“--5” is not a number for count."),
        ("count", "٣", "“٣” is not a number for count."),
        ("count", "9" * 5000, "is too large a number for count."),
        ("count", "10", "The count is 10; it may be at most 9."),
        ("count", "-1", "The count is -1; it must be at least 0."),
        ("count", NONE, "“none” is not a number for count."),
        ("share", "nan", "“nan” is not a number for share."),
        ("share", "1e999", "“1e999” is not a number for share."),
        ("share", "1_0", "is not a number for share."),
        ("text", "longer", "The text has more than 5 characters."),
        ("several", "1..2", "“” is not a number for several."),
        ("several", ".".join("1" * 5001), "The several are more than 5000."),
        ("edges", "2-9-1", "“2-9-1” is not a number for edges."),
        ("edges", "2--9", "“2--9” is not a number for edges."),
        ("pairs", "1.2.3", "“1.2.3” is not a number for pairs."),
    ],
)
def test_what_cannot_be_is_one_sentence(name, text, words):
    with pytest.raises(UrlUnreadable, match=".") as told:
        read(Kinds, name, text)
    assert words in str(told.value)
    assert len(str(told.value)) < 120


def test_every_state_of_the_app_has_a_default_that_can_be_read():
    for kind in states():
        for name in page_state.fields(kind):
            usual = page_state.default_of(kind, name)
            if usual is not None and page_state.type_of(kind, name) is not Mapping:
                assert read(kind, name, write(usual)) == usual, (kind, name)


def test_no_two_states_share_a_name_in_the_address():
    names = [page_state.address_of(kind, name) for kind in states() for name in page_state.fields(kind)]
    assert len(set(names)) == len(names)


def test_old_names_lead_to_fields_that_exist():
    known = {page_state.address_of(kind, name) for kind in states() for name in page_state.fields(kind)}
    assert {now for names in PARTS.values() for now in names.split()} <= known
    assert {start.rstrip(".") for start in STARTS.values()} <= known


def test_an_old_address_is_read_under_its_new_names_and_a_new_name_wins():
    assert renamed({"mask": "strided", "mask_stride": "3", "text": "a"}) == {
        "masks.pattern": "strided",
        "masks.values.stride": "3",
        "text": "a",
    }
    assert renamed({"zoo.variant": "refined", "zoo.values.refined_added.share": "30", "zoo.beside": "delta"}) == {
        "zoo.variant": "rollout",
        "zoo.values.rollout_mixed.share": "30",
        "zoo.beside": "delta",
    }
    assert VARIANTS == FORMER
    assert renamed({"mask": "strided", "masks.pattern": "full"}) == {"masks.pattern": "full"}
    assert renamed({"forced": "3-17.5-2", "transforms_b": "top_k-min_p"}) == {
        "film.forced": "3.17-5.2",
        "sampling_b.order": "top_k.min_p",
    }


def test_a_name_that_two_pages_shared_is_read_on_both(monkeypatch):
    monkeypatch.setitem(PARTS, "both", "one.field other.field")
    assert renamed({"both": "1", "other.field": "2"}) == {"one.field": "1", "other.field": "2"}


def states() -> list[type[page_state.State]]:
    """Every page's."""
    import importlib
    from pathlib import Path

    root = Path(__file__).resolve().parents[3]
    modules = [importlib.import_module(f"pages.{path.parent.name}.state") for path in root.glob("pages/*/state.py")]
    modules.append(importlib.import_module("ui.lessons.state"))
    modules += [session, edit_list, sampling_settings]
    kinds = [value for module in modules for value in vars(module).values() if hasattr(value, "SCOPE")]
    return [kind for kind in dict.fromkeys(kinds) if isinstance(kind, type)]
