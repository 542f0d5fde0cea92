"""How a part of the corpus lies on disk: UTF-8 text, plain or ``.xz``; a line ``<|end|>`` closes one document."""

from __future__ import annotations

import io
import lzma
from collections.abc import Iterator
from pathlib import Path

END_OF_DOCUMENT = "\n<|end|>\n"


def write_documents(path: Path, documents: Iterator[str], limit: float = float("inf")) -> tuple[int, int]:
    """How many documents and characters were written: the first that reach ``limit`` characters, or all.

    The file appears under its name when it is complete; a path that ends in ``.xz`` is compressed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    count = size = 0
    opener = lzma.open if path.suffix == ".xz" else open
    with opener(partial, "wb") as raw, io.TextIOWrapper(raw, encoding="utf-8", newline="\n") as out:
        for document in documents:
            size += out.write(document + END_OF_DOCUMENT)
            count += 1
            if size >= limit:
                break
    partial.replace(path)
    return count, size


def read_documents(path: Path) -> list[str]:
    """The documents of one part, empty ones left out."""
    packed = path.read_bytes()
    text = (lzma.decompress(packed) if path.suffix == ".xz" else packed).decode("utf-8")
    return [document for document in text.split(END_OF_DOCUMENT) if document.strip()]
