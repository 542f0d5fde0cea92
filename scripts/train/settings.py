"""Everything that determines a training run; the defaults are those of the published weights."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Shape:
    """The size of the model and of its vocabulary; the defaults give 6.85 million parameters."""

    vocab: int = 4096
    d_model: int = 256
    d_feed_forward: int = 688
    layers: int = 8
    heads: int = 8
    kv_heads: int = 4
    longest_text: int = 2048


@dataclass(frozen=True, kw_only=True)
class Settings:
    """One training run.

    The run ends after ``tokens`` training tokens or, where ``minutes`` is not 0, after so many minutes if they are over
    sooner. The learning rate follows whichever of the two is further advanced.
    """

    corpus: Path = Path("build/corpus")  # generated, stories and books, as .txt or .txt.xz
    work: Path = Path("build/training")  # tokenized data and checkpoint; a second start resumes from here
    out: Path = Path("build/default_model")  # the exported model
    tokens: float = 13.2e6
    minutes: float = 0.0
    context: int = 256  # window length in the first two thirds of the run
    long_context: int = 512  # and in the last third
    batch_tokens: int = 6144
    repeat_share: float = 0.06  # share of the windows that become repeated shuffled tokens
    muon_lr: float = 5e-3
    adam_lr: float = 3e-3
    save_minutes: float = 10.0
    device: str = "cpu"
    threads: int = 0  # CPU threads; 0: torch decides
    compile: bool = False  # needs a C++ compiler
    seed: int = 17
    shape: Shape = field(default_factory=Shape)
