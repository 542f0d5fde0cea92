"""Train the embedded model on the corpus in build/corpus, or resume, and export it to build/default_model.

    python -m scripts.corpus      # first: write the corpus
    python -m scripts.train       # 13.2 million tokens, about 75 minutes on two CPU cores

Works on a CPU and on a CUDA GPU. A checkpoint is saved every few minutes; started again, the run goes on from there.
"""

from __future__ import annotations

import argparse
import dataclasses
import logging
import os
import shutil

import torch

from scripts.train.data import CorpusError
from scripts.train.loop import train
from scripts.train.settings import Settings

HELP = {
    "corpus": "folder with generated, stories and books as .txt or .txt.xz",
    "work": "tokenized data and checkpoint",
    "out": "folder of the exported model",
    "tokens": "stop after this many training tokens",
    "minutes": "or after this many minutes; 0: no limit",
    "context": "window length of the first two thirds",
    "long_context": "window length of the last third",
    "batch_tokens": "training tokens per step",
    "repeat_share": "share of windows with repeated shuffled tokens",
    "muon_lr": "learning rate of the matrices",
    "adam_lr": "learning rate of the embedding and the norms",
    "save_minutes": "time between two checkpoints",
    "device": "cpu or cuda",
    "threads": "CPU threads; 0: automatic",
    "compile": "compile the model first; needs a C++ compiler",
    "seed": "seed of the weights and of the order of the windows",
}


def main(arguments: list[str] | None = None) -> None:
    """Run the command line (``arguments``: as in ``sys.argv[1:]``)."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        train(Settings(**vars(_parser().parse_args(arguments))))
    except CorpusError as error:
        raise SystemExit(str(error)) from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m scripts.train", description=__doc__, formatter_class=_Formatter)
    defaults = Settings(device="cuda" if torch.cuda.is_available() else "cpu", compile=_has_compiler())
    for field in dataclasses.fields(Settings):
        if field.name not in HELP:
            continue
        default = getattr(defaults, field.name)
        name = "--" + field.name.replace("_", "-")
        if isinstance(default, bool):
            parser.add_argument(name, action=argparse.BooleanOptionalAction, default=default, help=HELP[field.name])
        else:
            parser.add_argument(name, type=type(default), default=default, help=HELP[field.name])
    return parser


def _has_compiler() -> bool:
    return any(shutil.which(name) for name in (os.environ.get("CXX", ""), "g++", "clang++") if name)


class _Formatter(argparse.ArgumentDefaultsHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Shows the defaults, and the description as it is written."""


if __name__ == "__main__":
    main()
