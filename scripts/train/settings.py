"""All settings of a training run: the defaults are the first stage's, ``second_stage`` gives the second's.

In the first stage, a model learns English from scratch. In the second, its vocabulary grows, and it continues with more
exercises, with Chinese, and with some of the first stage's texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

# share of the training tokens per part of the corpus
ENGLISH = MappingProxyType({"generated": 0.48, "stories": 0.24, "books": 0.28})
BOTH = MappingProxyType(
    {
        "generated": 0.15,
        "stories": 0.08,
        "books": 0.15,
        "practice": 0.2,
        "chinese": 0.3,
        "classics": 0.07,
        "parallel": 0.05,
    }
)
# for the last tokens of the second stage: short texts that have to be exact, such as facts, opposites, lists
AT_THE_END = MappingProxyType(
    {
        "generated": 0.32,
        "stories": 0.04,
        "books": 0.06,
        "practice": 0.16,
        "chinese": 0.38,
        "classics": 0.02,
        "parallel": 0.02,
    }
)
GROWN_VOCAB = 8192


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

    The run ends after ``tokens`` training tokens or, if ``minutes`` is not 0, after that many minutes if those are over
    sooner. The learning rate follows whichever of the two is further advanced.
    """

    corpus: Path = Path("build/corpus")  # generated, stories and books, as .txt or .txt.xz
    work: Path = Path("build/training")  # tokenized data and checkpoint; a second start resumes from here
    out: Path = Path("build/first_model")  # the exported model
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
    mix: Mapping[str, float] = field(default_factory=lambda: ENGLISH)
    mix_at_end: Mapping[str, float] | None = None  # for the same parts; None: ``mix`` to the end
    end_from: float = 1.0  # the fraction of the run before it
    start: Path | None = None  # a model to continue from; its vocabulary grows to ``shape.vocab``
    decay_from: float = 0.0  # the fraction of the run before which the learning rate stays constant
    shape: Shape = field(default_factory=Shape)


def second_stage(first: Settings) -> Settings:
    """The defaults of the second stage, which continues from the export of the first."""
    return replace(
        first,
        work=Path("build/second_training"),
        out=Path("build/default_model"),
        start=first.out,
        tokens=23e6,
        batch_tokens=8192,
        context=256,
        long_context=512,
        muon_lr=2.5e-3,
        adam_lr=1.5e-3,
        mix=BOTH,
        mix_at_end=AT_THE_END,
        end_from=0.91,
        decay_from=0.7,
        shape=replace(first.shape, vocab=GROWN_VOCAB),
    )
