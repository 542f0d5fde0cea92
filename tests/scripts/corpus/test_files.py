"""Parts of the corpus on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.corpus.__main__ import DATA
from scripts.corpus.files import END_OF_DOCUMENT, read_documents, write_documents


@pytest.mark.parametrize("name", ["part.txt", "part.txt.xz"])
def test_what_is_written_is_read_back(name: str, tmp_path: Path) -> None:
    texts = ["One.\n\nTwo.", "naïve café 🙂", "a\r\nb"]
    count, size = write_documents(tmp_path / name, iter(texts))
    assert (count, size) == (3, sum(map(len, texts)) + 3 * len("\n<|end|>\n"))
    assert read_documents(tmp_path / name) == texts


def test_writing_stops_at_the_document_that_reaches_the_limit(tmp_path: Path) -> None:
    assert write_documents(tmp_path / "part.txt", iter(["x" * 91] * 9), limit=150)[0] == 2


def test_a_file_that_is_not_complete_has_another_name(tmp_path: Path) -> None:
    def broken():
        yield "one"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_documents(tmp_path / "part.txt", broken())
    assert not (tmp_path / "part.txt").exists()


@pytest.mark.parametrize("part, count", [("stories", 3429), ("books", 6609)])
def test_the_parts_that_travel_with_the_repository_hold_what_their_readme_says(part: str, count: int) -> None:
    documents = read_documents(DATA / f"{part}.txt.xz")
    assert len(documents) == count
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    row = next(line for line in readme.splitlines() if line.startswith(f"| `{part}.txt.xz`"))
    assert f"{count:,}" in row
    size = sum(len((text + END_OF_DOCUMENT).encode()) for text in documents)
    assert f"{size / 1e6:.1f} MB" in row
