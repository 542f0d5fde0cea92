"""The table of docs/zoo.md and its small pictures, made by the variants themselves on a head of the embedded model.

    python -m scripts.zoo_table

A test fails if the document and the variants differ.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from analysis.zoo import captured_head, own, substituted
from attention.zoo.table import VARIANTS
from attention.zoo.variant import Parameter, Variant
from model_runner import CaptureRequest, load_runner

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "zoo.md"
PICTURES = DOCUMENT.with_suffix("")
TEXT, LAYER, HEAD = "The dog chased the squirrel because it", 6, 4
HEAD_ROW = (
    "",
    "variant",
    "replaces",
    "what it does",
    "work",
    "held at once",
    "kept, a token at a time",
    "one token more",
    "mask",
    "its numbers (least to most)",
    "identity",
    "as published?",
    "source",
)
MASKS = {"any": "any", "causal": "causal only", "none": "none: sees all"}
PARTS = {10: "tenths", 100: "hundredths"}
CELL = 6  # units of a side of a picture's cell
POSITIVE, NEGATIVE, HIDDEN = "#262165", "#b3261e", "#ecebe4"


def table() -> str:
    """One row per variant, in the order of the table in the code."""
    rows = [HEAD_ROW, ("---",) * len(HEAD_ROW), *(_row(variant) for variant in VARIANTS)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def with_table(document: str) -> str:
    """The document with its table replaced, from its first row to the next empty line."""
    start = document.index(f"| {HEAD_ROW[0]} | {HEAD_ROW[1]} |")
    end = document.find("\n\n", start)
    return document[:start] + table() + (document[end:] if end >= 0 else "\n")


def maps() -> dict[str, np.ndarray]:
    """Softmax and every variant with default parameters, on one head of the embedded model; NaN where masked."""
    capture = load_runner("default").capture(CaptureRequest(text=TEXT))
    head = captured_head(capture, LAYER, HEAD)
    return {"softmax": own(head).weights} | {one.name: substituted(head, one, {}).weights for one in VARIANTS}


def picture(values: np.ndarray) -> str:
    """The map as SVG: dark for large values, white for 0, red for negative ones, relative to the largest."""
    side, largest = CELL * len(values), float(np.nanmax(np.abs(values))) or 1.0
    cells = [
        f'<rect x="{CELL * column}" y="{CELL * row}" width="{CELL}" height="{CELL}" {_paint(float(value), largest)}/>'
        for (row, column), value in np.ndenumerate(values)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{side}" height="{side}" viewBox="0 0 {side} {side}">\n'
        f'<rect width="{side}" height="{side}" fill="#ffffff"/>\n' + "\n".join(cells) + "\n</svg>\n"
    )


def _paint(value: float, largest: float) -> str:
    if value != value:  # masked
        return f'fill="{HIDDEN}"'
    return f'fill="{POSITIVE if value >= 0 else NEGATIVE}" fill-opacity="{abs(value) / largest:.2f}"'


def _row(variant: Variant) -> tuple[str, ...]:
    numbers = "; ".join(_number(parameter) for parameter in variant.parameters) or "–"
    form = variant.recurrent
    kept = ("–", "–") if form is None else (f"`{form.state.written}`", f"`{form.step.written}`")
    return (
        f"![{variant.name}](zoo/{variant.name}.svg)", f"{variant.label} (`{variant.name}`)", variant.replaces,
        variant.does, f"`{variant.work}`", f"`{variant.memory.written}`", *kept, MASKS[variant.mask],
        numbers, variant.identity, variant.published, variant.source,
    )  # fmt: skip  # one row


def _number(parameter: Parameter) -> str:
    if parameter.choices:
        words = ", ".join(f"{parameter.least + i} {one}" for i, one in enumerate(parameter.choices))
        return f"`{parameter.name}`: {parameter.counts} ({words})"
    most = "tokens" if parameter.most is None else parameter.written(parameter.most)
    per = f", in Python an integer of {PARTS[parameter.per]}" if parameter.per > 1 else ""
    letter = f", the *{parameter.letter}* of its formulas" if parameter.letter else ""
    return f"`{parameter.name}`: {parameter.counts} ({parameter.written(parameter.least)} to {most}){per}{letter}"


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for name, values in maps().items():
        (PICTURES / f"{name}.svg").write_text(picture(values), encoding="utf-8")
    DOCUMENT.write_text(with_table(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
