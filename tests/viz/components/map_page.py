"""Where things are on a page with one head map, and the messages it sent."""

from __future__ import annotations

import json

from tests.viz.components.mounted import facts


def place(page, query, key):
    """A point of the window: (0.5, 0.5) is the centre of the first cell of the whole map."""
    dataset = facts(page)
    plot = json.loads(dataset["geometry"])
    q0, q1, k0, k1 = map(float, dataset["view"].split(","))
    box = page.locator("canvas").bounding_box()
    return (
        box["x"] + plot["x"] + (key - k0) / (k1 - k0) * plot["width"],
        box["y"] + plot["y"] + (query - q0) / (q1 - q0) * plot["height"],
    )


def cell(page, query, key):
    return place(page, query + 0.5, key + 0.5)


def wait_for_window(page, count=1):
    page.wait_for_function(f"window.calls.filter(call => call[1] === 'window').length >= {count}")
