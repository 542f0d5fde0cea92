"""Exports: a component as one offline HTML file, an SVG, and the numbers as CSV or NPZ.

Any string in these files may come from a token, so each format has its own protection: base64 and escaping in HTML,
escaping in SVG, quoting and protection against formulas in CSV, no pickles in NPZ.
"""

from __future__ import annotations

import base64
import hashlib
import io
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viz.components.source import EXPORT, Source
from viz.figure_svg import map_svg as map_svg
from viz.share_text import MINUS
from viz.token_text import escaped, printable

_FOLDER = Path(__file__).parent / "standalone"
_FORMULA = re.compile(r"[\t\r]|\s*[=+\-@＝＋－＠]")  # spreadsheets ignore spaces and line breaks before a formula


def standalone_html(
    source: Source, payload: bytes | Mapping[str, bytes], *, title: str, caption: str, lang: str
) -> bytes:
    """One HTML file that shows the component with these data offline, light or dark as the reader's system.

    Several data, each with its heading, are shown side by side. The file's content security policy forbids every
    request and every script except its own.
    """
    if source.js.count(EXPORT) != 1:
        raise ValueError(f"component {source.name!r} must contain {EXPORT!r} exactly once")
    host = (_FOLDER / "standalone.js").read_text(encoding="utf-8")
    script = _inline(f"{source.js.replace(EXPORT, 'const component = function')}\n{host}")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    figures = {"": payload} if isinstance(payload, bytes) else payload
    page = Template((_FOLDER / "standalone.html").read_text(encoding="utf-8")).substitute(
        lang=escaped(lang),
        title=escaped(title),
        caption="<br>".join(escaped(line) for line in caption.splitlines()),
        digest=digest,
        page_css=(_FOLDER / "standalone.css").read_text(encoding="utf-8"),
        component_css=source.css,
        component_html=source.html,
        kind="several" if len(figures) > 1 else "one",
        figures="\n".join(_figure(heading, data) for heading, data in figures.items()),
        script=script,
    )
    return page.encode("utf-8")


def csv_bytes(
    values: NDArray[np.floating], row_labels: Sequence[str], col_labels: Sequence[str], caption: str
) -> bytes:
    """UTF-8 CSV: the caption as `#` lines, a header line of column labels, and one line per row.

    Masked cells (NaN) are empty. Numbers have nine digits, enough to restore a float32. A label that a spreadsheet
    would run as a formula is prefixed with `'`.
    """
    if values.shape != (len(row_labels), len(col_labels)):
        raise ValueError(f"values of shape {values.shape} for {len(row_labels)} × {len(col_labels)} labels")
    lines = [f"# {_comment(line)}" for line in printable(caption).splitlines()]
    lines.append(",".join(["", *(csv_cell(label) for label in col_labels)]))
    for label, row in zip(row_labels, values.tolist(), strict=True):
        lines.append(",".join([csv_cell(label), *("" if math.isnan(value) else f"{value:.9g}" for value in row)]))
    return "\r\n".join([*lines, ""]).encode("utf-8-sig")  # the byte order mark tells spreadsheets that it is UTF-8


def npz_bytes(arrays: Mapping[str, NDArray[Any]], caption: str) -> bytes:
    """A compressed .npz of these arrays and the caption as the string array "caption"; loads without pickles."""
    if "caption" in arrays:
        raise ValueError('"caption" is the name of the caption itself')
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise TypeError(f"array {name!r} holds Python objects, which only a pickle could store")
    data = io.BytesIO()
    np.savez_compressed(data, allow_pickle=False, **arrays, caption=np.array(printable(caption)))
    return data.getvalue()


def _figure(heading: str, data: bytes) -> str:
    """A component's container and its payload."""
    above = f"<h2>{escaped(heading)}</h2>" if heading else ""
    packed = base64.b64encode(data).decode("ascii")
    given = f'<script type="application/octet-stream" class="payload">{packed}</script>'
    return f'<section>{above}<div class="figure"></div>{given}</section>'


def _inline(script: str) -> str:
    # Inside strings and patterns, the only possible places, these spellings mean the same to JavaScript.
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def csv_cell(label: str) -> str:
    """One quoted cell of a CSV file, prefixed with `'` if a spreadsheet would run it as a formula."""
    # Always quoted: a token may be a comma, a line break, or the # that starts a comment line.
    return '"' + guarded(printable(label)).replace('"', '""') + '"'


def guarded(label: str) -> str:
    """Prefix the label with `'` if a spreadsheet would run it as a formula."""
    return f"'{label}" if _FORMULA.match(label) else label


def _comment(line: str) -> str:
    # A spreadsheet splits the line at separators, and what follows one could be a formula of its own. A negative number
    # gets a minus sign (−), with which it is not a formula.
    line = re.sub(r"([,;\t]\s*)-(?=\d)", rf"\1{MINUS}", line)
    return re.sub(r"([,;\t]\s*)(?=[=+\-@])", r"\1'", line)
