"""``python -m scripts.corpus``."""

from __future__ import annotations

from pathlib import Path

from scripts.corpus.__main__ import DATA, main
from scripts.corpus.files import read_documents
from scripts.train.settings import BOTH, ENGLISH


def test_the_command_writes_every_part_of_both_stages(tmp_path: Path) -> None:
    main(["--folder", str(tmp_path), "--megabytes", "0.01"])
    assert {file.name for file in tmp_path.iterdir()} == {f"{part}.txt" for part in {*ENGLISH, *BOTH}}
    assert 10_000 <= (tmp_path / "generated.txt").stat().st_size < 20_000
    assert read_documents(tmp_path / "stories.txt") == read_documents(DATA / "stories.txt.xz")


def test_one_part_is_rebuilt_from_its_source(tmp_path: Path) -> None:
    text = "Once upon a time, there was a fox. " + "The fox was happy. " * 20 + "The end."
    (tmp_path / "excerpt.txt").write_text(text)
    main(["stories", "--files", str(tmp_path / "excerpt.txt"), "--out", str(tmp_path / "stories.txt.xz")])
    assert read_documents(tmp_path / "stories.txt.xz") == [text]
