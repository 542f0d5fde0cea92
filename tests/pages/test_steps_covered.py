"""What Step by step covers is not to be read elsewhere on its page."""

from __future__ import annotations

import pytest

from tests.ui.driving import open_app, send
from ui.shared import export_bundle

PAGE = "pages/steps/page.py"


@pytest.mark.parametrize("lang, words", [("en", "Numbers are hidden"), ("zh", "有数字被盖住了")])
@pytest.mark.parametrize(
    "step, other",
    [
        ({"step": "softmax"}, "others"),
        ({"step": "softmax", "source": "model"}, "length"),
        ({"step": "cosine", "view": "similarity"}, "scale"),
    ],
    ids=["small", "model", "measures"],
)
def test_what_is_covered_stands_in_no_table_either(monkeypatch, step, other, lang, words):
    said: list[str] = []
    monkeypatch.setattr(export_bundle, "show_tables", lambda _make, covered: said.append(covered))
    here = {f"steps.{name}": value for name, value in step.items()}
    app = open_app(page=PAGE, lang=lang, **here)
    assert not said[-1]
    send(app, "step_by_step", "ask", True)
    assert said[-1].startswith(words)
    app.button_group(key="steps.view").set_value(other).run()  # where nothing is covered
    assert not app.exception
    assert not said[-1]
