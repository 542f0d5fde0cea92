"""The model box lists the embedded models first, each with its purpose."""

from __future__ import annotations

from model_runner.local.loading import model_folder
from ui.shell.models_offered import EMBEDDED, WELL_KNOWN, good_for, labelled, offered


def test_every_embedded_model_is_listed_and_none_that_is_not_there():
    assert list(EMBEDDED) == list(model_folder.EMBEDDED)
    assert all((folder / "README.md").is_file() for folder in model_folder.EMBEDDED.values())


def test_embedded_models_come_first_then_the_open_one_then_well_known_ones():
    assert offered((), "default") == [*EMBEDDED, *WELL_KNOWN]
    assert offered((), "/models/one") == [*EMBEDDED, "/models/one", *WELL_KNOWN]


def test_what_a_server_lists_is_all_but_for_the_open_one():
    assert offered(("owner/name", "default"), "default") == ["owner/name", "default"]
    assert offered(("default", "owner/name"), "/etc") == ["default", "/etc", "owner/name"]


def test_an_embedded_model_has_a_label_and_a_line_in_the_language_of_the_screen():
    names = ("translator", "owner/name")
    assert labelled(names, str.upper) == {"translator": "EMBEDDED TRANSLATOR", "owner/name": "owner/name"}
    (line,) = good_for(names, str.upper)
    assert line.startswith("- **EMBEDDED TRANSLATOR** · SHORT SENTENCES")
