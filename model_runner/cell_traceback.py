"""How a notebook prints an error that the reader can fix: the reader's own lines, and the sentence.

A notebook would print every frame below, and every error that led to this one: hundreds of lines of other libraries.
``%debug`` and the error's ``__cause__`` still have them all.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import TracebackType
from typing import Any

OURS = Path(__file__).resolve().parents[1]


def cell_traceback(error: Exception) -> list[str]:
    """The lines of IPython's own traceback that are the reader's. Called by IPython."""
    plain = type(error).__new__(type(error))
    plain.args = error.args  # and no cause
    ipython: Any = sys.modules["IPython"].get_ipython()
    return ipython.InteractiveTB.structured_traceback(type(error), plain, _above_ours(error.__traceback__), tb_offset=1)


def _above_ours(trace: TracebackType | None) -> TracebackType | None:
    """The frames before the first one of ours."""
    if trace is None or _is_ours(Path(trace.tb_frame.f_code.co_filename)):
        return None
    return TracebackType(_above_ours(trace.tb_next), trace.tb_frame, trace.tb_lasti, trace.tb_lineno)


def _is_ours(file: Path) -> bool:
    return file.is_relative_to(OURS) and "site-packages" not in file.relative_to(OURS).parts
