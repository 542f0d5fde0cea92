"""Store the first picture of every example of the default model, in the language of the example.

    python -m scripts.first_pictures            writes ui/shell/first_pictures.zip

The app itself draws them, without a browser. Run this when the model, an example or a component of the page Heads has
changed; `tests/ui/shell/test_first_picture.py` compares what is stored with what the engine computes.
"""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

from streamlit.testing.v1 import AppTest

from analysis.examples import EXAMPLES, Example
from ui.shell.first_picture import INDEX, PARTS, STORE, FirstPicture, made_for

PATIENCE = 120  # seconds
SAME_DATE = (2020, 1, 1, 0, 0, 0)  # for all entries, so that equal pictures give an equal file


def main() -> None:
    """Write the store."""
    index: dict[str, Any] = {"made_for": made_for(), "pictures": {}}
    files: dict[str, bytes] = {}
    for number, example in enumerate(EXAMPLES):
        lang = language_of(example)
        picture = drawn(example.text, lang)
        folder = f"{number:02d}"
        index["pictures"][f"{lang} {example.text}"] = {
            "layer": picture.layer, "head": picture.head, "html": picture.html, "folder": folder,
        }  # fmt: skip
        files |= {f"{folder}/{name}": data for name, data in picture.parts.items()}
    files[INDEX] = json.dumps(index, ensure_ascii=False, indent=1).encode()
    with zipfile.ZipFile(STORE, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, SAME_DATE), data, zipfile.ZIP_DEFLATED)
    sys.stdout.write(f"{len(EXAMPLES)} pictures, {STORE.stat().st_size / 1000:,.0f} kB in {STORE.name}\n")


def language_of(example: Example) -> str:
    return "en" if example.text.isascii() else "zh"


def drawn(text: str, lang: str) -> FirstPicture:
    """What the page Heads shows for this text when it is opened by a link with only the text."""
    app = AppTest(str(STORE.parent / "entry" / "atlas.py"), default_timeout=PATIENCE)
    app.query_params.update({"text": text, "lang": lang})
    with patch("ui.shell.frame.show_first_picture", return_value=False):  # the page itself, ignoring what is stored
        app.run()
    payloads = {one.proto.component_name: one.proto.bytes for one in app.get("bidi_component")}
    layer, head = (int(app.query_params[name][0]) for name in ("layer", "head"))
    return FirstPicture(
        layer=layer,
        head=head,
        html=dict(_words([one.proto.body for one in app.get("html")], f"L{layer}H{head}")),
        parts={name: payloads[name] for name in PARTS},
    )


def _words(bodies: list[str], name: str) -> Iterator[tuple[str, str]]:
    """What the map shows, the head's habit, the caption of its map and the next tokens, from the page's HTML."""
    yield "heading", next(body for body in bodies if "data-finding" in body and name in body)
    yield "habit", next((body for body in bodies if "atlas-habit" in body), "")
    yield "caption", next(body for body in bodies if "atlas-how" in body)
    yield "next", next(body for body in bodies if "atlas-next" in body)


if __name__ == "__main__":
    main()
