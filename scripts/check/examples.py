"""Where the application's examples have their story in a model, measured: written beside it as ``examples.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from analysis.examples import OF_MODEL, Example, examples_of
from analysis.joined import as_drawn
from analysis.stories import said_in, seen_in
from model_runner import CaptureRequest, Runner, load_runner

FILE = "examples.json"
DIGITS = 3


def write_examples(folder: Path) -> list[dict[str, Any]]:
    """The file of the model in this folder, and what it holds."""
    found = measured(load_runner(str(folder)), folder.name)
    lines = ",\n  ".join(json.dumps(one, ensure_ascii=False) for one in found)
    (folder / FILE).write_text(f"[\n  {lines}\n]\n", encoding="utf-8")
    return found


def measured(runner: Runner, name: str) -> list[dict[str, Any]]:
    """Of every example the head, the token that looks and the one it looks at with the weight, or what comes next.

    ``name`` is that of an embedded model; of any other the examples are the default model's.
    """
    of = name if name in OF_MODEL else "default"
    return [_measured(runner, example) for example in examples_of(of, "en")]


def _measured(runner: Runner, example: Example) -> dict[str, Any]:
    attention = "cross" if runner.info.attentions else None
    capture = as_drawn(runner.capture(CaptureRequest(example.text, attention=attention)))
    told: dict[str, Any] = {"topic": example.topic, "text": example.text, "page": "heads"}
    seen = seen_in(capture)
    if seen is not None:
        told |= {"layer": seen.layer, "head": seen.head, "query": seen.query, "key": seen.key}
        told |= {"looks_at": capture.tokens[seen.key].text, "weight": round(seen.weight, DIGITS)}
    said = said_in(capture, runner.token_text)
    if said is not None:
        told |= {"next": said.token, "probability": round(said.probability, DIGITS)}
    return told
