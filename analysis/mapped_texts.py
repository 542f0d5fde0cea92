"""The metrics of every head on many texts: one row per text, layer and head, in a folder of Parquet files.

Results are kept: called again with the same model, it reads only the missing texts.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from abc import ABC, abstractmethod
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
LARGEST = 10_000_000  # bytes of the largest file that is read
OF_A_PART = 64  # texts per file: the most that an interruption loses, unless it leaves time to write
NO_PYARROW = 'Parquet files need the package pyarrow: pip install "attention-atlas[parquet]"'


@dataclass(frozen=True)
class MappedTexts:
    """Numbers of texts read now and present already; ``problems``: a name and a sentence each."""

    read: int
    there: int
    problems: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class NamedText:
    """A text and the name that its rows have."""

    name: str
    text: str

    @property
    def hash(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


class TextReader(ABC):
    """Reads texts, locally or elsewhere."""

    @abstractmethod
    def fingerprint(self) -> str:
        """The fingerprint of the current weights, which may have changed since the model was opened."""

    @abstractmethod
    def read(
        self, texts: Iterable[NamedText], weights: str, batch_size: int
    ) -> Iterator[tuple[NamedText, pd.DataFrame | str]]:
        """Each text, in any order, with its rows, or with a sentence that says why there are none."""


def map_texts(
    runner: Runner | TextReader,
    texts: Mapping[str, str] | Path | str,
    out: Path | str,
    *,
    pattern: str = PATTERN,
    batch_size: int = 16,
    say: Callable[[int, str], object] = lambda _count, _name: None,
) -> MappedTexts:
    """Write the metrics of every head on every text into the folder ``out``; ``pandas.read_parquet(out)`` reads it.

    ``texts`` are texts by name, or a folder, in which files matching ``pattern`` are read as UTF-8, at any depth. Rows
    have text (its name), hash (SHA-256 of the text), model, weights (their fingerprint), tokens, layer, head, and the
    metrics of :func:`analysis.head_grid.head_grid`, NaN where undefined. A text that is present already, by hash and
    fingerprint, is not read again. A text that cannot be captured is reported as a problem and does not stop the run.
    ``say`` is called after each text with the number of texts read and its name. Instead of a runner, pass workers of
    ``served.ray.text_workers`` to read texts in parallel.

    Raises ImportError without pyarrow, and ValueError if ``out`` is something else or has other metrics.
    """
    if importlib.util.find_spec("pyarrow") is None:
        raise ImportError(NO_PYARROW)
    folder, problems = Path(out), list[tuple[str, str]]()
    known = _known(folder)
    folder.mkdir(parents=True, exist_ok=True)
    reader = runner if isinstance(runner, TextReader) else RunnerReader(runner)
    weights = reader.fingerprint()
    found = (
        (NamedText(*one) for one in texts.items()) if isinstance(texts, Mapping) else _files(texts, pattern, problems)
    )
    read = there = 0
    frames: list[pd.DataFrame] = []

    def fresh() -> Iterator[NamedText]:
        nonlocal there
        for one in found:
            if (one.hash, weights) in known:
                there += 1
            else:
                known.add((one.hash, weights))
                yield one

    try:
        for one, rows in reader.read(fresh(), weights, batch_size):
            if isinstance(rows, str):
                known.discard((one.hash, weights))
                problems.append((one.name, rows))
                continue
            frames.append(rows)
            read += 1
            say(read, one.name)
            if len(frames) == OF_A_PART:
                _write(frames, folder)
                frames = []
    finally:
        _write(frames, folder)
    return MappedTexts(read, there, tuple(problems))


class RunnerReader(TextReader):
    """Reads texts with a runner in this process."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def fingerprint(self) -> str:
        """See :class:`TextReader`."""
        try:
            return self._runner.capture(CaptureRequest(input_ids=(0,))).fingerprint or self._runner.info.weights
        except RunnerError:  # the model cannot read a single token
            return self._runner.info.weights

    def read(
        self, texts: Iterable[NamedText], weights: str, batch_size: int
    ) -> Iterator[tuple[NamedText, pd.DataFrame | str]]:
        """In the given order."""
        for one, capture in _captures(self._runner, texts, batch_size):
            yield one, str(capture) if isinstance(capture, RunnerError) else _rows(one, capture, weights)


def _known(folder: Path) -> set[tuple[str, str]]:
    """Hashes and fingerprints of existing rows. Raises ValueError."""
    if not folder.exists():
        return set()
    if not folder.is_dir():
        raise ValueError(f"{folder} is a file; the metrics are written into a folder. Choose another name.")
    wanted, found = [*_FIRST, *(metric.name for metric in all_metrics())], set[tuple[str, str]]()
    for path in sorted(folder.iterdir()):
        if path.suffix != ".parquet":
            raise ValueError(f"{folder} holds other files ({path.name}). Choose a new folder.")
        if path.name.startswith("."):
            continue  # left by an interruption
        if not found and list(pd.read_parquet(path).columns) != wanted:  # all files are written by this function
            raise ValueError(f"{folder} holds other metrics than those of now. Choose a new folder.")
        part = pd.read_parquet(path, columns=["hash", "weights"])
        found |= set(zip(part["hash"], part["weights"]))
    return found


def _files(folder: Path | str, pattern: str, problems: list[tuple[str, str]]) -> Iterator[NamedText]:
    """The texts of a folder, by name; a file that cannot be read becomes a problem."""
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
                yield NamedText(name, path.read_text(encoding="utf-8"))
        except UnicodeDecodeError as error:
            problems.append((name, f"The file is not UTF-8 (byte {error.start:,})."))
        except OSError as error:
            problems.append((name, f"The file cannot be read: {error.strerror}."))


def _captures(
    runner: Runner, texts: Iterable[NamedText], batch_size: int
) -> Iterator[tuple[NamedText, Capture | RunnerError]]:
    """Each text with its capture, or the reason why there is none; batched if the runner reads several texts in one
    forward.
    """
    many: Callable[..., Iterable[Capture]] | None = getattr(runner, "capture_many", None)
    coming = iter(texts)
    while batch := list(islice(coming, batch_size)):
        made = None if many is None else _together(many, batch)
        yield from zip(batch, made, strict=True) if made else ((one, _alone(runner, one)) for one in batch)


def _together(many: Callable[..., Iterable[Capture]], batch: Sequence[NamedText]) -> list[Capture] | None:
    """None if one of them cannot be captured."""
    try:
        return list(many([one.text for one in batch], batch_size=len(batch)))
    except RunnerError:
        return None


def _alone(runner: Runner, one: NamedText) -> Capture | RunnerError:
    try:
        return runner.capture(one.text)
    except RunnerError as error:
        return error


_FIRST = ("text", "hash", "model", "weights", "tokens", "layer", "head")


def _rows(one: NamedText, capture: Capture, weights: str) -> pd.DataFrame:
    layers, heads = capture.n_layers, capture.n_heads
    of_text = (one.name, one.hash, capture.request.model or "", weights, len(capture.tokens))
    columns: dict[str, object] = dict(zip(_FIRST, of_text))
    columns["layer"] = np.repeat(np.arange(layers, dtype=np.int16), heads)
    columns["head"] = np.tile(np.arange(heads, dtype=np.int16), layers)
    columns |= {name: values.ravel() for name, values in head_grid(capture).metrics.items()}
    return pd.DataFrame(columns)


def _write(frames: list[pd.DataFrame], folder: Path) -> None:
    """Write one file atomically, named after its texts and the weights."""
    if not frames:
        return
    part = pd.concat(frames, ignore_index=True)
    name = hashlib.sha256("".join((*part["weights"].unique(), *part["hash"].unique())).encode()).hexdigest()[:16]
    unfinished = folder / f".{name}.{os.getpid()}.parquet"
    part.to_parquet(unfinished, engine="pyarrow", index=False)
    unfinished.replace(folder / f"{name}.parquet")
