"""A model's preview in one line: what is known of it, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model_runner.preview import ModelPreview
from ui.wording.preview_words import in_words

PREVIEW = ModelPreview(
    name="owner/name",
    family="llama",
    dtype="float32",
    device="cpu",
    n_parameters=134_515_008,
    n_layers=30,
    n_heads=9,
    n_kv_heads=3,
    max_tokens=8192,
    needed=538_060_032,
    free=20 << 30,
    missing=269_030_016,
    capturable=True,
)


def test_all_that_is_known_is_said() -> None:
    assert in_words(PREVIEW, str) == (
        "llama · its family can be captured · 135 million parameters · float32 · 30 layers × 9 heads · 3 kv heads · "
        "up to 8,192 tokens · "
        "needs 513 MB of 20 GB free memory on cpu · 257 MB to download"
    )


def test_what_is_not_known_is_not_said() -> None:
    bare = replace(PREVIEW, n_parameters=None, n_layers=None, n_kv_heads=None, max_tokens=None, missing=0)
    assert (
        in_words(bare, str) == "llama · its family can be captured · float32 · needs 513 MB of 20 GB free memory on cpu"
    )
    assert " · 30 layers · up to" in in_words(replace(PREVIEW, n_heads=None, n_kv_heads=None), str)
    assert "kv" not in in_words(replace(PREVIEW, n_kv_heads=9), str)  # each head has its own


def test_whether_it_can_be_captured_is_said_or_that_it_is_not_known_yet() -> None:
    unknown = replace(PREVIEW, capturable=None)
    assert "llama · whether it can be captured is known once it is loaded · " in in_words(unknown, str)
    refused = replace(PREVIEW, capturable=False, refused="its encoder reads sound")
    assert "llama · cannot be captured: its encoder reads sound · " in in_words(refused, str)
    assert "cannot be captured: ITS ENCODER READS SOUND · " in in_words(
        refused, lambda words: words.upper() if words.startswith("its") else words
    )


@pytest.mark.parametrize(
    "n_parameters, words",
    [
        (999_400, "999,400 parameters"),
        (999_600, "1 million parameters"),
        (999_600_000, "1 billion parameters"),
        (70_553_706_496, "70.6 billion parameters"),
    ],
)
def test_sizes_are_in_the_unit_that_is_read_most_easily(n_parameters: int, words: str) -> None:
    assert f" · {words} · " in in_words(replace(PREVIEW, n_parameters=n_parameters), str)
