"""The bar that transformers draws while it reads weights: in a notebook and in a server's log it is only in the way."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from huggingface_hub.utils import are_progress_bars_disabled, disable_progress_bars
from transformers.utils import logging


@contextmanager
def without_bars() -> Generator[None]:
    """No bar is drawn inside; afterwards they are as the caller had them."""
    drawn, of_hub = logging.is_progress_bar_enabled(), not are_progress_bars_disabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if drawn:
            logging.enable_progress_bar()  # those of the hub too
            if not of_hub:
                disable_progress_bars()
