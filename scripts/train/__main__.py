"""Train the embedded model on the corpus in build/corpus, or resume.

    python -m scripts.corpus           # before: write the corpus
    python -m scripts.train first      # English from scratch, into build/first_model: 75 minutes on two CPU cores
    python -m scripts.train second     # continues with both languages, into build/default_model

Works on a CPU and on a CUDA GPU. A checkpoint is saved every few minutes, from which a second start resumes.
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
from scripts.train.settings import Settings, second_stage

STAGES = {"first": Settings(), "second": second_stage(Settings())}
HELP = {
    "corpus": "folder with generated, stories and books as .txt or .txt.xz",
    "work": "tokenized data and checkpoint",
    "out": "folder of the exported model",
    "start": "folder of the model to go on from",
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
        args = vars(_parser().parse_args(arguments))
        train(dataclasses.replace(STAGES[args.pop("stage")], **args))
    except CorpusError as error:
        raise SystemExit(str(error)) from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m scripts.train", description=__doc__, formatter_class=_Formatter)
    stages = parser.add_subparsers(dest="stage", required=True)
    for stage, settings in STAGES.items():
        _add_settings(stages.add_parser(stage, formatter_class=_Formatter), settings)
    return parser


def _add_settings(parser: argparse.ArgumentParser, settings: Settings) -> None:
    defaults = dataclasses.replace(
        settings, device="cuda" if torch.cuda.is_available() else "cpu", compile=_has_compiler()
    )
    for field in dataclasses.fields(Settings):
        default = getattr(defaults, field.name)
        if field.name not in HELP or default is None:
            continue
        name = "--" + field.name.replace("_", "-")
        if isinstance(default, bool):
            parser.add_argument(name, action=argparse.BooleanOptionalAction, default=default, help=HELP[field.name])
        else:
            parser.add_argument(name, type=type(default), default=default, help=HELP[field.name])


def _has_compiler() -> bool:
    return any(shutil.which(name) for name in (os.environ.get("CXX", ""), "g++", "clang++") if name)


class _Formatter(argparse.ArgumentDefaultsHelpFormatter, argparse.RawDescriptionHelpFormatter):
    """Shows defaults, and the description as it is written."""


if __name__ == "__main__":
    main()
