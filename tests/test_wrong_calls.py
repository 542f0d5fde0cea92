"""Arguments of the wrong type in a notebook give one error message that says what to pass instead."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.test_repository import ROOT

# In a process of its own, since these tests check the types of arguments before our code sees them.
TRIED = """
import json, sys
import torch
import attention_atlas as aa

runner = aa.load_runner("default")
batch, ids, edit = torch.tensor([[1, 2, 3]]), [5, 6], aa.ScaledHead(0, 0)
calls = {
    "ids": lambda: runner.capture(ids),
    "batch": lambda: runner.capture(batch),
    "other": lambda: runner.capture(aa.GenerateRequest("The dog")),
    "one of many": lambda: list(runner.capture_many(["The dog", ids])),
    "one text": lambda: list(runner.capture_many("The dog")),
    "one request": lambda: list(runner.capture_many(aa.CaptureRequest("The dog"))),
    "generate": lambda: runner.generate("The dog"),
    "race": lambda: runner.race(aa.CaptureRequest("The dog")),
    "question": lambda: runner.submit("The dog").result(),
    "batch of ids": lambda: aa.CaptureRequest(input_ids=batch),
    "fractions": lambda: aa.CaptureRequest(input_ids=[1.5, 2.0]),
    "one edit": lambda: aa.CaptureRequest(text="The dog", edits=edit),
    "words": lambda: aa.show("The dog"),
    "nothing": lambda: aa.show(None),
    "nothings": lambda: aa.show((None, None)),
}
said = {}
for name, call in calls.items():
    try:
        call()
    except (TypeError, ValueError) as error:
        chained = error.__cause__ is not None or not error.__suppress_context__ and error.__context__ is not None
        said[name] = str(error), chained
given = aa.CaptureRequest("The dog", edits=[edit], continuation=ids), aa.CaptureRequest(input_ids=batch[0])
said["taken"] = [len(runner.capture(one).tokens) for one in given], False
json.dump(said, sys.stdout)
"""


def test_an_argument_of_the_wrong_kind_is_refused_with_what_to_give():
    done = subprocess.run([sys.executable, "-c", TRIED], cwd=ROOT, capture_output=True, text=True, check=True)
    said = json.loads(done.stdout)
    assert not [name for name, (_, chained) in said.items() if chained]
    told = {name: sentence for name, (sentence, _) in said.items()}
    assert told.pop("taken") == [5, 3]
    ways = "CaptureRequest(input_ids=[5, 6, 7]), and several texts to capture_many."
    for name, kind in {"ids": "list", "batch": "Tensor", "other": "GenerateRequest", "one of many": "list"}.items():
        made_of = f"A capture is made of a text or a CaptureRequest, not of this {kind}."
        assert told.pop(name) == f"{made_of} Give token ids as {ways}"
    for name, kind in {"one text": "str", "one request": "CaptureRequest"}.items():
        assert told.pop(name) == f"capture_many reads several texts: give a list, not this {kind}."
    for name, kind in {"generate": "str", "race": "CaptureRequest"}.items():
        assert told.pop(name).startswith(f"Text is generated from a GenerateRequest, not from this {kind}: Gen")
    assert told.pop("question").startswith("A str is no question;")
    for name in ("batch of ids", "fractions"):
        assert told.pop(name).endswith("such as [5, 6, 7]; of a batch give one text: input_ids[0].")
    assert told.pop("one edit") == "edits are a tuple, also where it is one: edits=(ScaledHead(…),)."
    for name, kind in {"words": "str", "nothing": "NoneType", "nothings": "tuple"}.items():
        assert told.pop(name).startswith(f"A {kind} cannot be drawn; give a capture, or weights: [queries, keys], ")
    assert not told
