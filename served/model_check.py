"""``python -m served.model_check NAME``: print as a line of JSON whether a model loads and can be captured here.

It runs in a process of its own, so that the caller can time out, needs no torch, and gets all memory back.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from model_runner.errors import HubNotAsked, HubUnreachable, ModelNotFound, RunnerError
from model_runner.local.loading.loader import load_runner

TEXT = "The dog chased the squirrel because it was hungry"


def checked(name: str) -> dict[str, Any]:
    """Parameters, seconds and peak bytes of a model that loaded, and ``verified``; or ``error``, a sentence.

    ``missing`` with an error means that its files are not on this machine. The hub is never contacted.
    """
    begun = time.monotonic()
    try:
        runner = load_runner(name, ask_hub=False)
    except (HubNotAsked, HubUnreachable, ModelNotFound) as error:
        return {"error": str(error), "missing": True}
    except RunnerError as error:
        return {"error": str(error), "missing": False}
    try:
        verified = True
        if not runner.info.hears:
            capture = runner.capture(TEXT)
            verified = all(capture.verify(layer).ok for layer in range(runner.info.n_layers))
    except RunnerError as error:
        return {"error": str(error), "missing": False}
    seconds = time.monotonic() - begun
    return {
        "parameters": runner.info.n_parameters,
        "dtype": runner.info.dtype,
        "seconds": seconds,
        "bytes": _peak(),
        "verified": verified,
    }


def _peak() -> int:
    """Peak memory of this process in bytes; 0 if unknown (Windows)."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(checked(sys.argv[1])) + "\n")
