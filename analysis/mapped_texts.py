"""The metrics of every head on many texts: one row for a text, layer and head, in a folder of Parquet files.

What is written stays: asked again, with the same model, only the texts that are not there are read.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.head_grid import head_grid
from attention.own_metrics import all_metrics
from model_runner.errors import RunnerError
from model_runner.request import CaptureRequest

if TYPE_CHECKING:
    from model_runner.capture import Capture
    from model_runner.runner import Runner

PATTERN = "*.txt"
LARGEST = 10_000_000  # bytes of a file that is read
OF_A_PART = 64  # texts: what an interruption loses at most, unless it leaves time to write
NO_PYARROW = 'Parquet files need the package pyarrow: pip install "attention-atlas[parquet]"'


@dataclass(frozen=True)
class MappedTexts:
    """How many texts were read now and how many were there already; ``problems``: a name and a sentence each."""

    read: int
    there: int
    problems: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Text:
    name: str
    text: str

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


def map_texts(
    runner: Runner,
    texts: Mapping[str, str] | Path | str,
    out: Path | str,
    *,
    pattern: str = PATTERN,
    batch_size: int = 16,
    say: Callable[[int, str], object] = lambda _count, _name: None,
) -> MappedTexts:
    """Write the metrics of every head on every text into the folder ``out``; ``pandas.read_parquet(out)`` reads it.

    ``texts`` are texts by name, or a folder, in which files like ``pattern`` are read as UTF-8, at any depth. Rows have
    text (its name), hash (SHA-256 of the text), model, weights (their fingerprint), tokens, layer, head, and the
    metrics of :func:`analysis.head_grid.head_grid`, NaN where one is not defined. A text that is there already, by
    hash and fingerprint, is not read again. A text that cannot be captured is a problem and stops nothing. ``say``
    hears after each text how many were read, and its name.

    Raises ImportError without pyarrow, and ValueError where ``out`` is something else or has other metrics.
    """
    if importlib.util.find_spec("pyarrow") is None:
        raise ImportError(NO_PYARROW)
    folder, problems = Path(out), list[tuple[str, str]]()
    known = _known(folder)
    folder.mkdir(parents=True, exist_ok=True)
    weights = _fingerprint(runner)
    found = (_Text(*one) for one in texts.items()) if isinstance(texts, Mapping) else _files(texts, pattern, problems)
    read = there = 0
    frames: list[pd.DataFrame] = []

    def fresh() -> Iterator[_Text]:
        nonlocal there
        for one in found:
            if (one.hash, weights) in known:
                there += 1
            else:
                known.add((one.hash, weights))
                yield one

    try:
        for one, capture in _captures(runner, fresh(), batch_size):
            if isinstance(capture, RunnerError):
                known.discard((one.hash, weights))
                problems.append((one.name, str(capture)))
                continue
            frames.append(_rows(one, capture, weights))
            read += 1
            say(read, one.name)
            if len(frames) == OF_A_PART:
                _write(frames, folder)
                frames = []
    finally:
        _write(frames, folder)
    return MappedTexts(read, there, tuple(problems))


def _fingerprint(runner: Runner) -> str:
    """Of the weights as they are now: they may have changed since the model was opened."""
    try:
        return runner.capture(CaptureRequest(input_ids=(0,))).fingerprint or runner.info.weights
    except RunnerError:  # it reads no single token
        return runner.info.weights


def _known(folder: Path) -> set[tuple[str, str]]:
    """Hashes and fingerprints of what is there. Raises ValueError."""
    if not folder.exists():
        return set()
    if not folder.is_dir():
        raise ValueError(f"{folder} is a file; the metrics are written into a folder. Choose another name.")
    wanted, found = [*_FIRST, *(metric.name for metric in all_metrics())], set[tuple[str, str]]()
    for path in sorted(folder.iterdir()):
        if path.suffix != ".parquet":
            raise ValueError(f"{folder} holds other files ({path.name}). Choose a new folder.")
        if path.name.startswith("."):
            continue  # left behind by an interruption
        if not found and list(pd.read_parquet(path).columns) != wanted:  # all of them were written by this
            raise ValueError(f"{folder} holds other metrics than those of now. Choose a new folder.")
        part = pd.read_parquet(path, columns=["hash", "weights"])
        found |= set(zip(part["hash"], part["weights"]))
    return found


def _files(folder: Path | str, pattern: str, problems: list[tuple[str, str]]) -> Iterator[_Text]:
    """The texts of a folder, in the order of their names; a file that is none becomes a problem."""
    root = Path(folder)
    if not root.is_dir():
        raise ValueError(f"{root} is not a folder.")
    for path in sorted(path for path in root.rglob(pattern) if path.is_file()):
        name = path.relative_to(root).as_posix()
        try:
            size = path.stat().st_size
            if size > LARGEST:
                problems.append((name, f"The file has {size:,} bytes; up to {LARGEST:,} are read."))
            else:
                yield _Text(name, path.read_text(encoding="utf-8"))
        except UnicodeDecodeError as error:
            problems.append((name, f"The file is not UTF-8 (byte {error.start:,})."))
        except OSError as error:
            problems.append((name, f"The file cannot be read: {error.strerror}."))


def _captures(runner: Runner, texts: Iterable[_Text], batch_size: int) -> Iterator[tuple[_Text, Capture | RunnerError]]:
    """Each text with its capture, or why there is none; batches where the runner reads several texts in one forward."""
    many: Callable[..., Iterable[Capture]] | None = getattr(runner, "capture_many", None)
    coming = iter(texts)
    while batch := list(islice(coming, batch_size)):
        made = None if many is None else _together(many, batch)
        yield from zip(batch, made, strict=True) if made else ((one, _alone(runner, one)) for one in batch)


def _together(many: Callable[..., Iterable[Capture]], batch: Sequence[_Text]) -> list[Capture] | None:
    """None where one of them cannot be captured."""
    try:
        return list(many([one.text for one in batch], batch_size=len(batch)))
    except RunnerError:
        return None


def _alone(runner: Runner, one: _Text) -> Capture | RunnerError:
    try:
        return runner.capture(one.text)
    except RunnerError as error:
        return error


_FIRST = ("text", "hash", "model", "weights", "tokens", "layer", "head")


def _rows(one: _Text, capture: Capture, weights: str) -> pd.DataFrame:
    layers, heads = capture.n_layers, capture.n_heads
    of_text = (one.name, one.hash, capture.request.model or "", weights, len(capture.tokens))
    columns: dict[str, object] = dict(zip(_FIRST, of_text))
    columns["layer"] = np.repeat(np.arange(layers, dtype=np.int16), heads)
    columns["head"] = np.tile(np.arange(heads, dtype=np.int16), layers)
    columns |= {name: values.ravel() for name, values in head_grid(capture).metrics.items()}
    return pd.DataFrame(columns)


def _write(frames: list[pd.DataFrame], folder: Path) -> None:
    """One file, whole or not at all, named for the texts in it and the weights that read them."""
    if not frames:
        return
    part = pd.concat(frames, ignore_index=True)
    name = hashlib.sha256("".join((*part["weights"].unique(), *part["hash"].unique())).encode()).hexdigest()[:16]
    unfinished = folder / f".{name}.{os.getpid()}.parquet"
    part.to_parquet(unfinished, engine="pyarrow", index=False)
    unfinished.replace(folder / f"{name}.parquet")
