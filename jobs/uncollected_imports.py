"""Keep Python's garbage collector away from what torch, transformers and the rest of the engine bring along."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def uncollected_imports() -> Generator[None]:
    """Disable garbage collection during the imports, and exempt the imported objects from it for good.

    Collection would find nothing, take a quarter of the import's time, and later a fifth of a second for each full pass
    over these 360,000 objects, in which nobody is answered.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
