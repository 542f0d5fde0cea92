"""Loads a runner from a name: an embedded model, a local folder, or a hub id."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from transformers import AutoConfig, PreTrainedConfig, WhisperFeatureExtractor

from model_runner.adapter import AdapterBaseMissing, AdapterNotQuantized, AdapterRefused, BaseNotAsked
from model_runner.byte_lru import ByteBudgetCache
from model_runner.errors import (
    N_,
    HubNotAsked,
    ModelFolderMissing,
    ModelIncomplete,
    ModelNameInvalid,
    OutOfMemory,
    Reason,
    TokenizerFileTooLarge,
    TokenizerMissing,
    UserFacingError,
    first_line,
)
from model_runner.local.cancellation import checked
from model_runner.local.classifier import is_classifier
from model_runner.local.loading.adapted_model import adapted, memory_of_changes
from model_runner.local.loading.adapter_files import AdapterFiles, base_inside, base_named, inspect_adapter, is_adapter
from model_runner.local.loading.checkpoint import Checkpoint, inspect_folder, named_as_usual
from model_runner.local.loading.class_of_family import as_read, class_of
from model_runner.local.loading.config_preview import (
    StoredWeights,
    check_room,
    preview_config,
    stored_dtype,
    unquantized,
)
from model_runner.local.loading.devices import Placement, best_device, move_model, place_model
from model_runner.local.loading.dtypes import Precision, known_dtype
from model_runner.local.loading.expected_shapes import (
    OTHER_SHAPES,
    ExpectedShapes,
    expected_shapes,
    expected_shapes_here,
)
from model_runner.local.loading.folder_tokenizer import Opened, open_tokenizer, special_ids
from model_runner.local.loading.hub import Look, Progress
from model_runner.local.loading.known_families import tell
from model_runner.local.loading.missing_weights import check_missing, tied_against
from model_runner.local.loading.model_folder import DEFAULT, EMBEDDED, folder_of, versioned
from model_runner.local.loading.progress_bars import without_bars
from model_runner.local.loading.quantized_weights import QuantizedFails, check_claim, check_quantized, method_of
from model_runner.local.loading.sandboxed_tokenizer import (
    SandboxedTemplate,
    SandboxedTokenizer,
    Tokenizer,
    start_sandbox,
)
from model_runner.local.loading.sentence_pieces import FILES, LARGEST, TARGET
from model_runner.local.loading.static_checks import is_config_harmless, is_tokenizer_harmless
from model_runner.local.recording.encoder_decoder_inspection import probe_texts, run_both
from model_runner.local.recording.model_inspection import probe_tokens
from model_runner.local.recording.parity_check import run
from model_runner.local.runner import LocalRunner
from model_runner.local.sound_input import extractor_of, sound_input_of
from model_runner.memory import readable
from model_runner.model_cache import Device, Dtype
from model_runner.preview import ModelPreview

TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt", "spiece.model")
BROKEN = (  # what transformers 5.23 raises for a folder that is complete but makes no model
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


def load_runner(  # noqa: PLR0913  the one way in: each is a choice of its own, by keyword, with a default
    name: str | Path = DEFAULT,
    *,
    revision: str | None = None,
    device: Device = "auto",
    dtype: Dtype | str = "auto",
    progress: Progress = lambda *_: None,
    preview: Callable[[ModelPreview], None] = lambda _: None,
    make_room: Callable[[], None] = lambda: None,
    check: Callable[[], None] = lambda: None,
    sandboxed: bool = False,
    ask_hub: bool = True,
    agreed: Collection[str] | None = None,
    adapter: bool = True,
    kept: ByteBudgetCache | None = None,
) -> LocalRunner:
    """A runner for a name of EMBEDDED, a local folder or a hub id; a Path is a folder. Raises RunnerError.

    A folder or a hub id of an adapter (adapter_config.json) gives its base with the adapter's changes, and as the
    runner's ``base`` the base itself, which reads the same tokens; without ``adapter`` that one is given.

    A version of a hub's model is its ``revision``, or stands behind the name: owner/name@version.
    ``device`` "auto" takes cuda, then mps, then cpu; what fits no single GPU is spread over all of them. ``dtype``
    "auto" is float32 on a CPU and the checkpoint's own elsewhere; "int8" and "nf4" quantize linear layers
    (:mod:`model_runner.local.loading.dtypes`). ``progress`` hears (stage, done, total), in bytes while it downloads;
    ``preview`` what the model is going to be, before any of its weights is downloaded or read. ``make_room`` is called
    once there is a model of that name that can be captured, before free memory is looked at. ``check`` raises to leave.

    ``sandboxed``: anybody may have made the folder. The model of its config.json is made without memory for weights
    first; that, and its tokenizer, have a process with limits unless they are plainly harmless
    (:mod:`model_runner.local.loading.subprocess_probe`, :mod:`model_runner.local.loading.static_checks`). Without
    ``ask_hub`` a hub id is looked for on this machine alone: HubNotAsked says that it is not there. ``agreed`` are
    bases that an adapter may be opened with although they lie outside of its folder, by name or whole path; None: any.
    ``kept`` holds captures.
    """
    name = str(name.expanduser().absolute()) if isinstance(name, Path) else name.strip()
    name, revision = versioned(name, revision)
    best_device(device)
    numbers_asked = known_dtype(dtype)
    files: AdapterFiles | None = None

    def look(config: Mapping[str, Any], weights: StoredWeights) -> None:
        numbers = _numbers(config, numbers_asked, device)
        found = preview_config(name, config, weights, numbers=numbers, device=device)
        tell(found, config, preview)  # a model that cannot be captured is not downloaded
        if files is None:
            numbers.check(name, config)
            check_quantized(name, config, device)
        elif how := numbers.quantized or method_of(config):
            raise AdapterNotQuantized(name=name, base=files.base, dtype=how)
        if weights.missing:
            check_room(found, weights.n_bytes)

    try:
        with checked(check):

            def report(stage: str, done: int, total: int) -> None:
                check()
                progress(stage, done, total)

            folder = folder_of(name, revision, report, look, ask_hub=ask_hub)
            if is_adapter(folder):
                files = inspect_adapter(name, folder)
                folder = _base_folder(files, report, look, agreed)
            checkpoint = inspect_folder(folder)
            check_claim(name, checkpoint.config, checkpoint.shapes)
            look(checkpoint.config, StoredWeights(checkpoint.n_bytes, checkpoint.n_parameters))
            numbers = _numbers(checkpoint.config, numbers_asked, device)
            loading = _Loading(name, checkpoint, sandboxed and name not in EMBEDDED, report, check, files)
            runner = loading.runner(revision, device, numbers, make_room, kept)
            return runner if adapter or runner.base is None else runner.base
    except (UserFacingError, KeyboardInterrupt, SystemExit):
        raise
    except torch.OutOfMemoryError as error:
        raise OutOfMemory(stage=N_("moving the model to the device")) from error
    except MemoryError as error:
        raise OutOfMemory(stage=N_("loading the weights")) from error
    except BaseException as error:  # libraries raise anything on a broken folder, including panics
        raise ModelIncomplete(name=name, reason=first_line(error)) from error


def _base_folder(files: AdapterFiles, report: Progress, look: Look, agreed: Collection[str] | None) -> Path:
    """The folder of an adapter's base. The user has to agree to one outside of the adapter's own folder.

    Raises BaseNotAsked without that consent, AdapterRefused if the base is itself an adapter, and other RunnerErrors.
    """
    if files.base in EMBEDDED:
        return EMBEDDED[files.base]
    folder = base_inside(files)
    if folder is None:
        named, is_path = base_named(files)
        asked = agreed is None or named in agreed
        if is_path and not asked:
            raise BaseNotAsked(name=files.name, base=named)
        try:
            folder = folder_of(*versioned(named, files.revision), report, look, ask_hub=asked)
        except HubNotAsked as error:
            raise BaseNotAsked(name=files.name, base=named) from error
        except (ModelFolderMissing, ModelNameInvalid) as error:
            raise AdapterBaseMissing(name=files.name, base=named) from error
    if is_adapter(folder):
        raise AdapterRefused(
            name=files.name, reason=Reason(N_("its base {base} is an adapter too"), {"base": files.base})
        )
    return folder


class _Loading:
    """One folder being loaded, with the adapter that is added to it."""

    def __init__(
        self,
        name: str,
        checkpoint: Checkpoint,
        sandboxed: bool,
        progress: Progress,
        check: Callable[[], None],
        files: AdapterFiles | None,
    ) -> None:
        self.name, self.checkpoint, self.sandboxed = name, checkpoint, sandboxed
        self.progress, self.check = progress, check
        self.files = files
        self.auto = class_of(name, checkpoint.config, checkpoint.shapes)
        own = files is not None and any((files.folder / one).exists() for one in TOKENIZER_FILES)
        self.with_tokenizer = replace(checkpoint, folder=files.folder) if own and files is not None else checkpoint

    def runner(
        self,
        revision: str | None,
        device: Device,
        numbers: Precision,
        make_room: Callable[[], None],
        kept: ByteBudgetCache | None,
    ) -> LocalRunner:
        """Load the runner, in stages that may each fail. Raises RunnerError."""
        _check_pieces(self.name, self.with_tokenizer.folder)
        sandboxed, found = self._sandboxed() if self.sandboxed else (None, None)
        config = as_read(_config(self.name, self.checkpoint.folder), self.auto)
        feature_extractor = extractor_of(self.name, self.checkpoint.folder, config)
        make_room()
        more = 0 if self.files is None else memory_of_changes(self.files, self.checkpoint.shapes)
        place = place_model(
            self.name, device, _needed(self.checkpoint, found, numbers) + more * numbers.computed.itemsize
        )
        self.progress("loading", 0, 0)
        tokenizer = self._tokenizer() if sandboxed is None else sandboxed
        model, reported = _model(self.name, self.checkpoint, self.auto, config, numbers, place)
        self.progress("preparing", 0, 0)
        model = move_model(model, str(place.device))
        missing = check_missing(self.name, model, reported, lambda: _short_forward(model, feature_extractor))
        of_both: Any = {
            "name": self.name, "revision": revision, "device": str(place.device),
            "feature_extractor": feature_extractor, "has_head": missing.has_head, "filled": missing.filled,
        }  # fmt: skip
        if self.files is None:
            made = LocalRunner(model, tokenizer, **of_both, kept=kept)
        else:
            changed, info = adapted(model, self.files, self.files.base)
            plain = LocalRunner(model, tokenizer, **of_both, kept=kept, adapter=replace(info, on=False))
            made = LocalRunner(changed, tokenizer, **of_both, kept=kept, adapter=info, base=plain)
        return made

    def _sandboxed(self) -> tuple[SandboxedTokenizer | None, ExpectedShapes]:
        """The tokenizer, in its own process unless it is harmless, and the shapes that the configuration declares."""
        self.progress("checking", 0, 0)
        folder = self.with_tokenizer.folder
        tokenizer = None if is_tokenizer_harmless(self.with_tokenizer) else SandboxedTokenizer(folder)
        try:
            found = self._declared()
            if tokenizer is not None:
                tokenizer.load(self.name, self.check)
                check_tokenizer(self.name, tokenizer)
        except BaseException:
            if tokenizer is not None:
                tokenizer.close()
            raise
        return tokenizer, found

    def _declared(self) -> ExpectedShapes:
        folder = self.checkpoint.folder
        if is_config_harmless(self.checkpoint):
            config = as_read(_config(self.name, folder), self.auto)
            return expected_shapes_here(self.name, self.checkpoint, config, self.auto)
        process = start_sandbox("shapes", folder)
        try:
            return expected_shapes(self.name, self.checkpoint, process, self.auto, self.check)
        finally:
            process.close()

    def _tokenizer(self) -> Opened:
        folder = self.with_tokenizer.folder
        tokenizer: Any = load_tokenizer(self.name, folder)
        if self.sandboxed:  # even a short template may do anything
            tokenizer.apply_chat_template = SandboxedTemplate(self.name, folder)
        return tokenizer


def _check_pieces(name: str, folder: Path) -> None:
    """Raises TokenizerFileTooLarge before anything reads one of the folder's SentencePiece files."""
    for file in (folder / one for one in (*FILES, TARGET)):
        if file.is_file() and (size := file.stat().st_size) > LARGEST:
            raise TokenizerFileTooLarge(name=name, file=file.name, size=readable(size), most=readable(LARGEST))


def _numbers(config: Mapping[str, Any], asked: Dtype, device: Device) -> Precision:
    usual = torch.float32 if best_device(device).type == "cpu" else stored_dtype(config)
    if asked in ("int8", "nf4"):
        return Precision(usual, asked)
    return Precision(usual if asked == "auto" else getattr(torch, asked))


def _needed(checkpoint: Checkpoint, found: ExpectedShapes | None, numbers: Precision) -> int:
    """Estimated memory in bytes, from the weight files' headers and the configuration, before any weight is read."""
    count = max(checkpoint.n_parameters, found.n_numbers if found is not None else 0)
    return numbers.nbytes(count, unquantized(checkpoint.config))


def _config(name: str, folder: Path) -> PreTrainedConfig:
    """The configuration, limited to what describes a model.

    A folder does not get to choose the attention implementation, the weight file or what is fused.
    """
    try:
        config: Any = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        config._attn_implementation = None
        config._experts_implementation = None
        for setting in ("transformers_weights", "fusion_config", "distributed_config"):
            if hasattr(config, setting):
                setattr(config, setting, None)
    except BROKEN as error:
        raise ModelIncomplete(name=name, reason=f"config.json: {first_line(error)}") from error
    return config


def _model(
    name: str, checkpoint: Checkpoint, auto: Any, config: PreTrainedConfig, numbers: Precision, place: Placement
) -> tuple[Any, set[str]]:
    """The model, and the names of tensors that are in no file."""
    try:
        with named_as_usual(checkpoint) as folder, without_bars():
            loaded: Any = auto.from_pretrained(
                folder,
                config=config,
                dtype=numbers.computed,
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # for a better error message, below
                **numbers.options(place.device) | place.options,
            )
        model, report = loaded
    except BROKEN as error:
        if "allocate memory" in str(error):
            raise OutOfMemory(stage=N_("loading the weights")) from error
        if method := method_of(checkpoint.config):
            raise QuantizedFails(name=name, method=method, reason=first_line(error)) from error
        raise ModelIncomplete(name=name, reason=first_line(error)) from error
    mismatched = sorted(str(key) for key, *_ in report["mismatched_keys"])
    if mismatched:
        values = {"count": len(mismatched), "first": mismatched[0]}
        raise ModelIncomplete(name=name, reason=Reason(OTHER_SHAPES, values))
    return model, {*map(str, report["missing_keys"])} | tied_against(model, checkpoint.config)


def _short_forward(model: Any, extractor: WhisperFeatureExtractor | None) -> Any:
    """The model's output for the few tokens of the trial; a classifier with two stacks reads one text."""
    if not getattr(model.config, "is_encoder_decoder", False) or is_classifier(model):
        return run(model, probe_tokens(model))
    return run_both(
        model, *probe_texts(model, None if extractor is None else sound_input_of(model, extractor).to_try())
    )


def load_tokenizer(name: str, folder: Path) -> Opened:
    """Load the tokenizer in this process. Raises TokenizerMissing."""
    try:
        tokenizer = open_tokenizer(folder)
    except Exception as error:  # the tokenizers library raises no class of its own
        raise TokenizerMissing(name=name, reason=first_line(error)) from error
    check_tokenizer(name, tokenizer)
    if not isinstance(tokenizer.model_max_length, int | float):  # it is compared with the length of every text
        tokenizer.model_max_length = sys.maxsize
    return tokenizer


def check_tokenizer(name: str, tokenizer: Tokenizer) -> None:
    """Raises TokenizerMissing for an unusable tokenizer."""
    if not tokenizer.is_fast:
        raise TokenizerMissing(name=name, reason=N_("it does not say which characters a token covers"))
    if len(tokenizer) <= len(special_ids(tokenizer)):  # what transformers makes from no files at all
        raise TokenizerMissing(name=name, reason=N_("it knows only special tokens"))
