"""Makes a runner from a model that the caller has in memory."""

from __future__ import annotations

from typing import Any

from torch._dynamo import OptimizedModule
from transformers import PreTrainedModel, PreTrainedTokenizerBase, WhisperFeatureExtractor

from model_runner.byte_lru import ByteBudgetCache
from model_runner.errors import (
    AdapterWritesTokens,
    ModelCompiled,
    NotAModel,
    NotATokenizer,
    TokenizerTooLarge,
)
from model_runner.local.loading.loader import check_tokenizer
from model_runner.local.loading.shared_weights import SharedWeights
from model_runner.local.recording.parity_check import text_config
from model_runner.local.runner import LocalRunner


def runner_of(
    model: Any,
    tokenizer: Any,
    *,
    name: str | None = None,
    feature_extractor: WhisperFeatureExtractor | None = None,
    kept: ByteBudgetCache | None = None,
) -> LocalRunner:
    """A runner of a model of transformers that you have in memory, and of its fast tokenizer.

        with aa.runner_of(model, tokenizer) as runner:
            capture = runner.capture("The capital of France is")

    Your model stays exactly as it is, while the runner is open and after: what records is a second set of modules over
    the same weights, in evaluation mode (:mod:`model_runner.local.loading.shared_weights`). No weight is copied. One
    thing is left behind in the process: transformers' rotary functions of this family are wrapped, and return what
    they did.

    Weights that you change in place (an optimizer's step, ``load_state_dict``, ``weight[0] = 0`` under
    ``torch.no_grad()``) or replace by others of the same shape give new captures, and a capture made before raises
    WeightsChanged when the model would have to say more of it. A change through ``weight.data`` is not seen: torch does
    not count it, so call ``runner.forget()`` after one. If you put modules in or take them out, change hooks or
    settings, open it again.

    A model in PEFT is read with its adapter. ``device_map`` and every dtype that the model itself runs in work.
    ``name`` is what captures and files call it; None: the model's own ``name_or_path``, or its class. A model that
    listens (Whisper) needs its ``feature_extractor``. ``kept`` holds captures; None: a gigabyte.

    Raises RunnerError: NotAModel, NotATokenizer, TokenizerTooLarge, ModelCompiled, AdapterWritesTokens,
    ModelNotCopied, and NotCapturable with the reason for a model without attention or whose attention cannot be
    recorded exactly.
    """
    if isinstance(model, OptimizedModule) or _compiled_inside(model):
        raise ModelCompiled(name=_called(name, getattr(model, "_orig_mod", model)))
    called = _called(name, model)
    model = _without_peft(model, called)
    if not isinstance(model, PreTrainedModel):
        raise NotAModel(kind=type(model).__name__)
    _check_tokenizer(called, tokenizer, model)
    shared = SharedWeights(model, called)
    return LocalRunner(
        shared.twin, tokenizer, name=called, kept=kept, feature_extractor=feature_extractor, lent=(model, shared.follow)
    )


def _called(name: str | None, model: Any) -> str:
    return name or getattr(model, "name_or_path", "") or type(model).__name__


def _compiled_inside(model: Any) -> bool:
    return isinstance(model, PreTrainedModel) and any(isinstance(one, OptimizedModule) for one in model.modules())


def _without_peft(model: Any, name: str) -> Any:
    """The model inside a PEFT wrapper, with the adapter's layers in it. Raises AdapterWritesTokens."""
    if not (hasattr(model, "peft_config") and hasattr(model, "get_base_model")):
        return model
    for one in getattr(model, "active_adapters", ()):
        if (settings := model.peft_config[one]).is_prompt_learning:
            raise AdapterWritesTokens(name=name, kind=str(settings.peft_type.value))
    return model.get_base_model()


def _check_tokenizer(name: str, tokenizer: Any, model: Any) -> None:
    """Raises NotATokenizer, TokenizerTooLarge, and TokenizerMissing for an unusable tokenizer."""
    if not isinstance(tokenizer, PreTrainedTokenizerBase) or not tokenizer.is_fast:
        raise NotATokenizer(kind=type(tokenizer).__name__)
    check_tokenizer(name, tokenizer)
    rows = int(text_config(model).vocab_size)
    if tokenizer.vocab_size > rows:  # a text that uses tokens added only to the tokenizer is refused
        raise TokenizerTooLarge(name=name, tokens=tokenizer.vocab_size, count=rows)
