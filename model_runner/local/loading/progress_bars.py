"""Turns off the progress bar that transformers draws while it loads weights; it clutters notebooks and logs."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from huggingface_hub.utils import are_progress_bars_disabled, disable_progress_bars
from transformers.utils import logging


@contextmanager
def without_bars() -> Generator[None]:
    """Turn off progress bars inside the block, and restore the caller's setting afterwards."""
    drawn, of_hub = logging.is_progress_bar_enabled(), not are_progress_bars_disabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if drawn:
            logging.enable_progress_bar()  # this also enables the hub's
            if not of_hub:
                disable_progress_bars()
