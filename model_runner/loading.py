"""From a name to a runner: the embedded model, a local folder, or a hub id."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import torch
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoTokenizer,
    PreTrainedTokenizerBase,
)
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, MODEL_FOR_MASKED_LM_MAPPING_NAMES

from model_runner import memory
from model_runner.checkpoint import Checkpoint, inspect_folder
from model_runner.errors import (
    N_,
    ModelIncomplete,
    ModelNameInvalid,
    ModelTooLarge,
    NotCapturable,
    OutOfMemory,
    Reason,
    TokenizerMissing,
)
from model_runner.hub import Progress, fetch
from model_runner.local import LocalRunner

DEFAULT = "default"
DEFAULT_FOLDER = Path(__file__).parent / "default_model"
HUB_ID = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)?")
BROKEN = (  # what transformers 5.23 raises for a folder whose parts are there but make no model
    ArithmeticError,
    AttributeError,
    ImportError,
    LookupError,
    OSError,
    RuntimeError,
    SafetensorError,
    StrictDataclassError,
    TypeError,
    ValueError,
)

Device = Literal["auto", "cpu", "cuda", "mps"]


def load_runner(
    name: str = DEFAULT,
    *,
    revision: str | None = None,
    device: Device = "auto",
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto",
    progress: Progress = lambda *_: None,
    make_room: Callable[[], None] = lambda: None,
) -> LocalRunner:
    """A runner for "default" (the embedded model), a local folder or a hub id. Raises RunnerError.

    ``device`` "auto" takes cuda, then mps, then cpu. ``dtype`` "auto" is float32 on a CPU and the checkpoint's own
    elsewhere. ``progress`` hears (stage, done, total), in bytes while it downloads. ``make_room`` is called once there
    is a model of that name that can be captured, before free memory is looked at.
    """
    name = name.strip()
    place = torch.device(_best_device() if device == "auto" else device)
    checkpoint = inspect_folder(_folder_of(name, revision, progress))
    config = checkpoint.config
    auto = _auto_class(name, checkpoint)
    _check_config(name, checkpoint.folder)
    own = str(config.get("dtype") or config.get("torch_dtype") or "float32")
    make_room()
    chosen = dtype if dtype != "auto" else ("float32" if place.type == "cpu" else own)
    number = getattr(torch, chosen.removeprefix("torch."))
    _check_memory(name, checkpoint, number, place)
    progress("loading", 0, 0)
    tokenizer = _tokenizer(name, checkpoint.folder)
    model, has_head = _model(name, checkpoint, auto, number)
    progress("preparing", 0, 0)
    try:
        runner = LocalRunner(model, tokenizer, name=name, revision=revision, device=str(place), has_head=has_head)
    except torch.OutOfMemoryError as error:
        raise OutOfMemory(stage=N_("moving the model to the device")) from error
    gc.collect()
    gc.freeze()  # a model's many objects are never garbage: later collections skip them
    return runner


def _folder_of(name: str, revision: str | None, progress: Progress) -> Path:
    if name == DEFAULT:
        return DEFAULT_FOLDER
    try:
        folder = Path(name).expanduser()
        is_folder = folder.is_dir()
    except (OSError, RuntimeError) as error:  # a name too long; the home of a user who does not exist
        raise ModelNameInvalid(name=name) from error
    if name and (is_folder or name.startswith(("/", "~", ".")) or "\\" in name):
        return folder
    if not HUB_ID.fullmatch(name):
        raise ModelNameInvalid(name=name)
    return fetch(name, revision, progress)


def _best_device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _check_memory(name: str, checkpoint: Checkpoint, dtype: torch.dtype, device: torch.device) -> None:
    """Estimate from the headers of the weight files, before a single weight is read."""
    needed, free = checkpoint.n_parameters * dtype.itemsize, memory.available(device)
    if needed > free:
        raise ModelTooLarge(name=name, needed=memory.readable(needed), free=memory.readable(free))


def _auto_class(name: str, checkpoint: Checkpoint) -> Any:
    """Which of transformers' classes reads this family."""
    family, listed = str(checkpoint.config["model_type"]), checkpoint.config.get("architectures")
    architectures = [str(item) for item in listed] if isinstance(listed, list) else []
    causal = any("ForCausalLM" in item or "LMHead" in item for item in architectures)
    if family in MODEL_FOR_MASKED_LM_MAPPING_NAMES and not (causal and family in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES):
        return AutoModelForMaskedLM
    if family in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        return AutoModelForCausalLM
    reason = N_("it is not a language model that transformers knows")
    raise NotCapturable(name=name, family=family, reason=reason)


def _check_config(name: str, folder: Path) -> None:
    """Before the tokenizer, which reads the configuration too and would be blamed for it."""
    try:
        AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except BROKEN as error:
        raise ModelIncomplete(name=name, reason=f"config.json: {_first_line(error)}") from error


def _tokenizer(name: str, folder: Path) -> PreTrainedTokenizerBase:
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # the tokenizers library raises no class of its own
        raise TokenizerMissing(name=name, reason=_first_line(error)) from error
    if not tokenizer.is_fast:
        raise TokenizerMissing(name=name, reason=N_("it does not tell which characters a token covers"))
    return tokenizer


def _model(name: str, checkpoint: Checkpoint, auto: Any, dtype: torch.dtype) -> tuple[Any, bool]:
    """The model, and whether its output layer came with the weights (never a random one)."""
    try:
        loaded: Any = auto.from_pretrained(
            checkpoint.folder,
            dtype=dtype,
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=False,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # only to say it better, below
        )
        model, report = loaded
    except MemoryError as error:
        raise OutOfMemory(stage=N_("loading the weights")) from error
    except BROKEN as error:
        if "allocate memory" in str(error):
            raise OutOfMemory(stage=N_("loading the weights")) from error
        raise ModelIncomplete(name=name, reason=_first_line(error)) from error
    mismatched = sorted(str(key) for key, *_ in report["mismatched_keys"])
    if mismatched:
        values = {"count": len(mismatched), "first": mismatched[0]}
        reason = Reason(N_("{count} weights have other shapes than config.json says, {first} first"), values)
        raise ModelIncomplete(name=name, reason=reason)
    prefix = f"{model.base_model_prefix}."
    missing = {str(key) for key in report["missing_keys"]}
    missing_base = sorted(key for key in missing if key.startswith(prefix) and "pooler" not in key)
    if missing_base:
        values = {"count": len(missing_base), "first": missing_base[0]}
        raise ModelIncomplete(name=name, reason=Reason(N_("{count} weights are missing, {first} first"), values))
    return model, not missing


def _first_line(error: Exception) -> str:
    """What an error of a library says, short enough for a sentence."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    shown = " ".join(lines[:2]) if lines and lines[0].endswith(":") else (lines or [type(error).__name__])[0]
    return shown.rstrip(".: ")[:200]
