"""Weight formats that are not opened here, and how to convert them to .safetensors files."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path

from model_runner.errors import N_, ModelPickled, Reason, RunnerError


class OtherFormat(RunnerError):
    message = N_("The weights in {name} are {kind} ({file}), which is not opened here.")
    hint = N_("{todo}")


GGUF = (
    N_("of the GGUF format of llama.cpp"),
    N_(
        "Open the model that they were made from, or write them out with transformers: "
        "AutoModelForCausalLM.from_pretrained(folder, gguf_file=…).save_pretrained(…)."
    ),
)
OTHER = {  # file name → the format, and what to do
    "*.gguf": GGUF,
    "*.onnx": (
        N_("an ONNX graph, without the layers that are looked into here"),
        N_("Open the model that it was exported from."),
    ),
    "consolidated*.safetensors": (
        N_("named as in their author’s own code, not as in transformers"),
        N_("Open the version of the model for transformers, with config.json and model.safetensors."),
    ),
    "*.h5": (
        N_("of TensorFlow"),
        N_("Open a version with .safetensors files; transformers 4 reads them with from_tf=True and saves such."),
    ),
    "*.msgpack": (
        N_("of Flax"),
        N_("Open a version with .safetensors files; transformers 4 reads them with from_flax=True and saves such."),
    ),
}
PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt")


def refuse_other_formats(folder: Path) -> None:
    """Raises OtherFormat or ModelPickled for a folder with such a file."""
    refuse_names(str(folder), (file.name for file in folder.iterdir() if file.is_file()))


def refuse_models(folder: Path) -> None:
    """Raises OtherFormat for a folder that holds a model without config.json; other file names are not revealed."""
    with suppress(OSError, ValueError):
        names = [file.name for file in folder.iterdir()]
        refuse_names(str(folder), (one for one in names if fnmatch(one, "*.gguf") or one.startswith("consolidated")))


def refuse_names(name: str, files: Iterable[str]) -> None:
    """The same, for the names of files; GGUF is checked first and pickled files last."""
    there = sorted(files)
    for pattern, (kind, todo) in OTHER.items():
        for file in there:
            if fnmatch(file.lower(), pattern):
                raise OtherFormat(name=name, kind=kind, file=file, todo=Reason(todo, {}))
    for file in there:
        if any(fnmatch(file.lower(), pattern) for pattern in PICKLED) and file != "training_args.bin":
            raise ModelPickled(name=name, file=file)
