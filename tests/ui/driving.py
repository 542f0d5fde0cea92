"""Drive the app without a browser: open a URL, read its components' payloads and send their events."""

from __future__ import annotations

import functools
import html as markup
import itertools
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from streamlit.components.v2 import manifest_scanner
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from model_runner.local.loading.model_folder import names_folder
from model_runner.local.local_models import LocalModels
from pages.entries import ENTRIES
from tests.viz.components.test_packing import unpacked
from ui.state import session
from ui.state.url_state import DEFAULT_TEXT

KINDS = (
    "button_group", "selectbox", "toggle", "text_area", "text_input", "number_input", "slider", "select_slider",
    "multiselect",
)  # fmt: skip  # of widgets that hold a value
ROOT = Path(__file__).resolve().parents[2]
_number = itertools.count(1)  # of what components tell
PATIENCE = 120  # seconds a run may take; the first one of a process imports the engine and loads the model

# At the first run of every AppTest Streamlit (1.67) looks for components among all packages: half of the time it takes.
manifest_scanner.scan_component_manifests = functools.cache(manifest_scanner.scan_component_manifests)


class App(AppTest):
    """The app, of which every run is looked at: whatever a test does with it, none may end with a traceback."""

    checked = True

    def _run(self, *args: Any, **more: Any) -> AppTest:
        super()._run(*args, **more)
        if self.checked:
            no_failure(self)
        return self


def local_models() -> LocalModels:
    """The app's models, which are in this process."""
    held = session.model_cache()
    assert isinstance(held, LocalModels)
    return held


def open_app(
    *, locale: str = "en-US", page: str | None = None, checked: bool = True, first_visit: bool = False,
    chosen: bool = True, **address: str,
) -> App:  # fmt: skip  # one line of what and one of how
    """The app as a new session finds it at this address; ``page`` is an entry's file, by default the first one's.

    ``checked``: no run of it may fail, see `no_failure`. An address that says nothing reads `DEFAULT_TEXT` in English,
    the text of a link without one; ``first_visit``: whatever text the app opens with itself. ``chosen``: its models
    were named by the reader, as far as they are folders.
    """
    if not address and not first_visit and locale.startswith("en"):
        address = {"text": DEFAULT_TEXT}
    app = App(ROOT / "ui" / "shell" / "entry" / "atlas.py", default_timeout=PATIENCE)
    app.checked = checked
    app.context["locale"] = locale
    app.query_params.update(address)
    if chosen:  # as by a reader who named it: a link alone opens no folder
        named = {address.get(name, "") for name in ("model", "compare.model")}
        app.session_state["chosen"] = {name for name in named if names_folder(name)}
    if page is None:
        app.run()
    else:
        go(app, page)
    return app


def go(app: AppTest, page: str) -> AppTest:
    """The same session on another page, by its file."""
    if app._registered_pages:  # by its last run; the first page's hash is of its file's name, the others' of an address
        app._page_hash = app._resolve_page_hash(str(ROOT / page))
    else:
        address_of = {entry.file: entry.address for entry in ENTRIES}
        app._page_hash = calc_hash(address_of[page]) if address_of[page] else ""
    return app.run()


def until(app: AppTest, done: Callable[[AppTest], bool], seconds: float = PATIENCE) -> AppTest:
    """Run the page again, as its fragment does by itself, until it is done; a look waits longer for work than a reader
    would, so that what is drawn on the way is not most of the time.
    """
    end = time.monotonic() + seconds
    with patch("jobs.incremental_task.BUDGET", 5.0):
        while not done(app) and time.monotonic() < end:
            app.run()
    assert done(app)
    return app


def button(app: AppTest, key: str) -> bool:
    """Whether the page has this button."""
    return any(one.key == key for one in app.button)


def components(app: AppTest) -> list[str]:
    """Names of the components on the page."""
    return [element.proto.component_name for element in app.get("bidi_component")]


def payload(app: AppTest, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a component was given: its meta and its arrays."""
    return unpacked(_proto(app, name).bytes)


def given(app: AppTest, name: str) -> bytes:
    """The same as it was sent."""
    return _proto(app, name).bytes


def payloads(app: AppTest, name: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The same of every component of this name, in the page's order."""
    protos = (element.proto for element in app.get("bidi_component"))
    return [unpacked(proto.bytes) for proto in protos if proto.component_name == name]


def beside_head(app: AppTest) -> dict[str, str]:
    """What the address holds beside the open head, which a page picks where none is asked for."""
    return {name: value for name, value in app.query_params.items() if name not in ("layer", "head")}


def send(app: AppTest, name: str, event: str, *values: Any) -> AppTest:
    """Run the page again as if the component had sent this event."""
    return tell(app, _proto(app, name), event, *values)


def tell(app: AppTest, proto: Any, event: str, *values: Any) -> AppTest:
    """The same of the component with this element; more than one value: told while the server was busy."""
    states = app._tree.get_widget_states()
    told = {"by": "a test", "events": [{"number": next(_number), "name": event, "value": one} for one in values]}
    sent = json.dumps([{"event": "told", "value": told}])
    states.widgets.append(WidgetState(id=_make_trigger_id(proto.id, "events"), json_trigger_value=sent))
    return app._run(states)


def type_text(app: AppTest, text: str) -> AppTest:
    """Run the page again with another text in the box."""
    app.text_area(key="text_box").set_value(text)
    return app.run()


def widgets(app: AppTest) -> list[Any]:
    """Every widget that holds a value."""
    return [element.proto for kind in KINDS for element in app.get(kind)]


def both(proto: Any) -> tuple[Any, Any]:
    """What a widget is set to, and what it shows where that was missed."""
    match type(proto).__name__:
        case "ButtonGroup":
            return list(proto.raw_values), [proto.options[index].content for index in proto.default]
        case "MultiSelect":
            return list(proto.raw_values), [proto.options[index] for index in proto.default]
        case "Selectbox":
            return proto.raw_value, proto.options[proto.default]
        case "Slider" if proto.options:
            return list(proto.raw_value), [proto.options[int(index)] for index in proto.default]
        case "Slider":
            return list(proto.value), list(proto.default)
        case _:
            return proto.value, proto.default


def set_to(proto: Any) -> Any:
    """What a widget shows."""
    value, default = both(proto)
    return value if proto.set_value else default


def html(app: AppTest) -> str:
    """Everything the page shows as HTML of its own."""
    return "\n".join(element.proto.body for element in app.get("html"))


def finding(app: AppTest) -> str:
    """The title of the figure, without markup."""
    (title,) = re.findall(r"<div[^>]* data-finding[^>]*>(.*?)</div>", html(app), re.DOTALL)
    return markup.unescape(re.sub("<[^>]*>", "", title))


def picture_taken(app: AppTest) -> str:
    """The SVG that the menu of files offers, with what it says of itself."""
    app.session_state["take_away"] = True
    return payload(app.run(), "save_picture")[0]["svg"]


def sentences(app: AppTest) -> list[str]:
    """The boxes that say what is wrong, without the escapes that keep Markdown from reading them."""
    return [re.sub(r"\\(.)", r"\1", element.value) for element in (*app.error, *app.warning, *app.info)]


def no_failure(app: AppTest) -> None:
    """No traceback, no head of a table that is read out as nothing, and the text typed is still in its box."""
    assert [element.message for element in app.exception] == []
    assert not re.search(r"<th[^>]*></th>", html(app))
    boxes = [one.value for one in app.text_area if one.key == "text_box"]
    assert boxes == [app.session_state["text"]] or (
        not boxes and re.search("made here|Your sound", html(app))
    )  # it hears a sound


def _proto(app: AppTest, name: str) -> Any:
    return next(element.proto for element in app.get("bidi_component") if element.proto.component_name == name)
