"""What Step by step covers is not to be read elsewhere on its page."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.driving import open_app, send

PAGE = "pages/steps/page.py"


@pytest.mark.parametrize("lang, words", [("en", "Numbers are covered"), ("zh", "有数字被盖住了")])
@pytest.mark.parametrize(
    "step, other",
    [
        ({"step": "softmax"}, {"view": "others"}),
        ({"step": "softmax", "source": "model"}, {"view": "length"}),
        ({"step": "cosine", "view": "similarity"}, {"view": "scale"}),
    ],
    ids=["small", "model", "measures"],
)
def test_what_is_covered_stands_in_no_table_either(step, other, lang, words):
    here = {f"steps.{name}": value for name, value in step.items()}
    app = open_app(page=PAGE, lang=lang, **here)
    assert not menu_of_tables(app).disabled
    send(app, "step_by_step", "ask", True)
    menu = menu_of_tables(app)
    assert menu.disabled
    assert menu.help.startswith(words)
    elsewhere = here | {f"steps.{name}": value for name, value in other.items()} | {"steps.ask": "1"}
    assert not menu_of_tables(open_app(page=PAGE, lang=lang, **elsewhere)).disabled


def menu_of_tables(app: AppTest) -> Any:
    return next(one.proto.popover for one in app.get("popover") if "tables" in one.proto.popover.id)
