"""Texts of a folder's texts.json, measured by two workers on Ray: python -m tests.served.mapped_on_ray FOLDER.

In a network namespace alone (tests/served/namespace.py).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import attention_atlas as aa
from tests.served.namespace import alone

if __name__ == "__main__":
    assert alone()
    folder = Path(sys.argv[1])
    texts = json.loads((folder / "texts.json").read_text())
    aa.register_metric("test_back", aa.Offset(2))
    with aa.RayWorkers("default", count=2, cpus=0.5) as workers:
        for some in (texts, texts | {"new": "something new"}):
            found = aa.map_texts(workers, some, folder / "out", batch_size=4)
            sys.stdout.write(json.dumps([found.read, found.there, found.problems]) + "\n")
        try:
            aa.RayWorkers("default", count=2, gpus=1)
        except ValueError as error:
            sys.stdout.write(json.dumps(str(error)) + "\n")
