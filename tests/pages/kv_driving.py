"""Drive the page KV cache without a browser: complete its background work, and read its charts."""

from __future__ import annotations

import json
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.ui.driving import open_app

PAGE = "pages/kv_cache/page.py"


def opened(**address: str) -> AppTest:
    return open_app(page=PAGE, **address)


def figure(app: AppTest, key: str) -> dict[str, Any]:
    """What a Plotly chart was given."""
    found = next(chart.proto for chart in app.get("plotly_chart") if chart.proto.id.endswith(f"-{key}"))
    return json.loads(found.spec)
