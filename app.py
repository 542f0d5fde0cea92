"""The Attention Atlas server. Run it with ``streamlit run app.py``, or for visitors with ``make serve``.

The script that each session runs is not beside ``pages/``: Streamlit (1.67) would take a folder of that name for its
own list of pages, and show "Page not found" on a fresh server at a page's own URL.
"""

import sys
import threading
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from classroom.desk import DESK as ROOMS
from classroom.kept_rooms import KeptRooms
from classroom.routes import classroom_routes
from hosting.listed import state_folder
from hosting.visitors.maps import maps
from hosting.visitors.privacy import privacy
from hosting.visitors.served_texts import served_texts
from hosting.visitors.server import options, phones_of
from jobs.torch_threads import meet_awake
from ui.state.url_state import base
from ui.wording.i18n import LANGUAGES, catalog
from viz.components.served import FOLDER

# seconds for which a busy thread, such as the engine's import, may delay the server; Python's default is 0.005
SWITCH = 0.001


def import_ahead() -> None:
    """Import what the first run needs while the browser still loads Streamlit's own page."""
    from pages.extras import extras_of
    from ui.shell.first_picture import made_for

    _ = extras_of, made_for()


meet_awake()
sys.setswitchinterval(SWITCH)
threading.Thread(target=import_ahead, name="frame", daemon=True).start()
if folder := state_folder():
    ROOMS.keep(KeptRooms(folder))
BASE = base()  # prefix of Streamlit's own routes


def first_page(request: Request) -> RedirectResponse:
    """Redirect the root: the first page has no name of its own in Streamlit, but is found by its name too."""
    return RedirectResponse(f"{request.scope.get('root_path', '')}{BASE}/?{request.url.query}".rstrip("?"))


def base_page(_request: Request) -> RedirectResponse:
    """Redirect to the base path; there is nothing else above it."""
    return RedirectResponse(f"{BASE}/")


WHERE = {
    "/heads": first_page,
    f"/{FOLDER}/{{name}}": served_texts,
    "/maps/{place:path}": maps,
    "/join/maps/{place:path}": maps,
    "/privacy": privacy,
}
ROUTES = [Route(f"{BASE}{path}", answer) for path, answer in WHERE.items()]
ABOVE = [Route(path, base_page) for path in ("/", BASE)] if BASE else []  # for visitors who type only the host name
CLASSES = classroom_routes(
    ROOMS,
    tuple(LANGUAGES),
    lambda language, words: catalog(language).gettext(words),
    BASE,
    share=phones_of,
    is_host=is_host_allowed,
)
SCRIPT = Path(__file__).parent / "ui" / "shell" / "entry" / "atlas.py"
OPTIONS: dict[str, Any] = {"routes": [*ROUTES, *ABOVE, *CLASSES], **options(ROOMS)}
app = st.App(SCRIPT, **OPTIONS)
