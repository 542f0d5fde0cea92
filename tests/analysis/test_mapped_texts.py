"""Many texts: the same metrics as one by one, nothing is read twice, and a bad file gives an error message."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis import mapped_texts
from analysis.head_grid import head_grid
from analysis.mapped_texts import map_texts
from attention import own_metrics
from attention.metrics import METRICS
from attention.own_metrics import Offset, register_metric
from attention_atlas.command import main
from model_runner.local.runner import LocalRunner
from tests.model_runner.cases import FAMILY, runner_of

TEXTS = {"one": "the wolf saw the wolf", "b/two": "he saw her", "three": "ab ab ab ab ab ab", "four": "x y z"}


@pytest.fixture(scope="module")
def runner() -> LocalRunner:
    return runner_of(FAMILY["llama"])


@pytest.fixture
def asked(runner: LocalRunner, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the model read, in order."""
    seen: list[str] = []
    write = runner.engine.write  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setattr(runner.engine, "write", lambda request: (seen.append(request.text), write(request))[1])
    runner.forget()
    return seen


def folder_of(texts: dict[str, str], folder: Path) -> Path:
    for name, text in texts.items():
        path = folder / f"{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("batch_size", [1, 3, 16])
def test_each_row_is_the_metric_of_the_text_captured_by_itself(runner, tmp_path, batch_size):
    found = map_texts(runner, TEXTS, tmp_path / "out", batch_size=batch_size)
    assert (found.read, found.there, found.problems) == (4, 0, ())
    table = pd.read_parquet(tmp_path / "out")
    runner.forget()
    assert len(table) == sum(runner.capture(text).n_layers * runner.capture(text).n_heads for text in TEXTS.values())
    for name, text in TEXTS.items():
        runner.forget()
        capture = runner.capture(text)
        rows = table[table["text"] == name]
        assert set(rows["tokens"]) == {len(capture.tokens)}
        assert set(rows["hash"]) == {hashlib.sha256(text.encode()).hexdigest()}
        assert set(rows["weights"]) == {capture.fingerprint}
        for metric, values in head_grid(capture).metrics.items():
            for layer, head in np.ndindex(values.shape):
                (row,) = rows[(rows["layer"] == layer) & (rows["head"] == head)][metric]
                assert row == pytest.approx(values[layer, head], abs=1e-5, nan_ok=True), (name, metric, layer, head)
    assert {metric.name for metric in METRICS} <= set(table.columns)


def test_what_is_there_is_not_read_again_and_what_is_new_is(runner, tmp_path, asked):
    folder, out = folder_of(TEXTS, tmp_path / "texts"), tmp_path / "out.parquet"
    assert map_texts(runner, folder, out).read == 4
    before = pd.read_parquet(out)
    asked.clear()
    runner.forget()
    folder_of({"five": "something new", "same": TEXTS["one"]}, folder)  # one has a text that is there, by another name
    again = map_texts(runner, folder, out)
    assert (again.read, again.there) == (1, 5)
    assert [text for text in asked if text] == ["something new"]
    table = pd.read_parquet(out)
    assert len(table) == len(before) * 5 // 4
    assert set(table["text"]) == {"one.txt", "b/two.txt", "three.txt", "four.txt", "five.txt"}
    assert not table.duplicated(["hash", "layer", "head"]).any()


def test_an_interruption_loses_nothing_that_was_read(runner, tmp_path, monkeypatch):
    monkeypatch.setattr(mapped_texts, "OF_A_PART", 2)

    def stop(count: int, _name: str) -> None:
        if count == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        map_texts(runner, TEXTS, tmp_path / "out", say=stop)
    assert len(set(pd.read_parquet(tmp_path / "out")["hash"])) == 3
    (tmp_path / "out" / ".left.1.parquet").write_bytes(b"PAR1 torn")  # of a process that was killed as it wrote
    found = map_texts(runner, TEXTS, tmp_path / "out")
    assert (found.read, found.there) == (1, 3)
    assert len(set(pd.read_parquet(tmp_path / "out")["hash"])) == 4


def test_other_weights_are_other_rows(runner, tmp_path):
    map_texts(runner, TEXTS, tmp_path / "out")
    other = runner_of(FAMILY["gpt2"])
    found = map_texts(other, TEXTS, tmp_path / "out")
    assert (found.read, found.there) == (4, 0)
    assert len(set(pd.read_parquet(tmp_path / "out")["weights"])) == 2


def test_a_bad_file_is_one_sentence_and_stops_nothing(runner, tmp_path, monkeypatch):
    folder = folder_of({**TEXTS, "long": "ab " * 5000, "empty": ""}, tmp_path / "texts")
    (folder / "bytes.txt").write_bytes(b"ok \xff\xfe")
    (folder / "gone.txt").symlink_to(tmp_path / "nowhere")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    monkeypatch.setattr(mapped_texts, "LARGEST", 20_000)
    (folder / "huge.txt").write_text("a" * 20_001)
    found = map_texts(runner, folder, tmp_path / "out", batch_size=3)
    assert found.read == 4
    said = dict(found.problems)
    assert said["bytes.txt"] == "The file is not UTF-8 (byte 3)."
    assert said["huge.txt"] == "The file has 20,001 bytes; up to 20,000 are read."
    assert said["empty.txt"].startswith("There is no text to look at.")
    assert "tokens long" in said["long.txt"]
    assert len(said) == 4
    assert all("\n" not in sentence for sentence in said.values())


def test_a_metric_of_ones_own_has_a_column_and_other_columns_are_not_mixed(runner, tmp_path, monkeypatch):
    map_texts(runner, TEXTS, tmp_path / "plain")
    monkeypatch.setattr(own_metrics, "_own", {})
    register_metric("offset 3", Offset(3))
    map_texts(runner, TEXTS, tmp_path / "own")
    table = pd.read_parquet(tmp_path / "own")
    assert "offset 3" in table.columns
    with pytest.raises(ValueError, match="holds other metrics"):
        map_texts(runner, TEXTS, tmp_path / "plain")


def test_what_is_no_folder_of_ours_is_refused_and_stays(runner, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match="is a file"):
        map_texts(runner, TEXTS, tmp_path / "file")
    with pytest.raises(ValueError, match=r"holds other files \(file\)"):
        map_texts(runner, TEXTS, tmp_path)
    with pytest.raises(ValueError, match="is not a folder"):
        map_texts(runner, tmp_path / "nowhere", tmp_path / "out")
    assert (tmp_path / "file").read_text() == "mine"
    own = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "pyarrow" else own(name, *more)
    )
    with pytest.raises(ImportError, match="need the package pyarrow"):
        map_texts(runner, TEXTS, tmp_path / "out")


def test_the_command_says_what_it_did_and_what_it_could_not(tmp_path, capsys):
    folder = folder_of({"a": "The dog chased the cat", "b": "The cat sat"}, tmp_path / "texts")
    (folder / "bad.txt").write_bytes(b"\xff")
    out = tmp_path / "metrics.parquet"
    assert main(["map", str(folder), "--out", str(out)]) == 0
    told = capsys.readouterr()
    assert told.out == f"Texts read: 2, not readable: 1. See {out}\n"
    assert told.err.endswith("bad.txt: The file is not UTF-8 (byte 0).\n")  # after transformers' own bar
    assert main(["map", str(folder), "--out", str(out)]) == 0
    assert "Texts read: 0, there already: 2" in capsys.readouterr().out
    assert len(pd.read_parquet(out)) == 2 * 64
    assert main(["map", str(tmp_path / "nowhere"), "--out", str(tmp_path / "new")]) == 1
    assert capsys.readouterr().err.endswith(f"{tmp_path / 'nowhere'} is not a folder.\n")
    with pytest.raises(SystemExit):
        main(["map", str(folder), "--batch", "0"])
