"""Edit heads on a text whose map has several cells a pixel."""

from __future__ import annotations

import itertools

from model_runner.edits import Blocked
from tests.ui.driving import no_failure, open_app, payloads, send
from ui.edit_address import written

PAGE = "pages/edit_heads.py"


def test_a_click_on_a_pixel_of_several_cells_hides_them_all():
    app = open_app(page=PAGE, edit="block", layer="3", head="1", text="the dog and " * 120)
    view = payloads(app, "head_map")[0][0]
    assert view["pool"] == [2, 2]
    app = send(app, "head_map", "press", [200, 101])
    no_failure(app)
    cells = tuple(itertools.product((200, 201), (100, 101)))
    assert app.query_params["edits"] == written((Blocked(cells, (3,), (1,)),))
    app = send(app, "head_map", "press", [201, 101])
    assert "edits" not in app.query_params
    app = send(app, "head_map", "press", [200, 200])  # on the diagonal one of the four cells is masked
    assert app.query_params["edits"] == written((Blocked(((200, 200), (201, 200), (201, 201)), (3,), (1,)),))
