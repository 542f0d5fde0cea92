"""Adapters: small files of changes to the weights of a base model."""

from __future__ import annotations

from dataclasses import dataclass

from model_runner.errors import N_, RunnerError


@dataclass(frozen=True)
class AdapterInfo:
    """The adapter of a loaded model. ``on``: True if it is applied, False for the base's own weights.

    ``kind`` is the method's name, ``ranks`` are those of its matrices, ascending (none for IA³); ``modules`` are the
    last parts of the names of the modules that it changes.
    """

    base: str
    kind: str
    ranks: tuple[int, ...]
    modules: tuple[str, ...]
    on: bool


class AdapterRefused(RunnerError):
    message = N_("The adapter in {name} cannot be opened: {reason}.")
    hint = N_("Merge it into its base with peft (merge_and_unload, then save_pretrained), and open that folder.")


class AdapterIncomplete(RunnerError):
    message = N_("The adapter in {name} is not complete: {reason}.")
    hint = N_("Copy or download it again.")


class BaseNotAsked(RunnerError):
    """The base of an adapter from someone else has not been confirmed; the screen asks first."""

    message = N_("The adapter in {name} changes the model {base}, which is not in its folder.")
    hint = N_("Open that model with it if you know where the adapter is from.")


class AdapterBaseMissing(RunnerError):
    message = N_("The adapter in {name} names {base} as its base, but no model can be read there.")
    hint = N_("Correct base_model_name_or_path in its adapter_config.json, or merge the adapter into its base.")


class NoAdapter(RunnerError):
    message = N_("The model {name} has no adapter that could be left out.")
    hint = N_("Choose another model for B.")


class AdapterNotQuantized(RunnerError):
    message = N_("The adapter in {name} cannot be added to {base}: its weights are quantized ({dtype}).")
    hint = N_("Choose “auto” as the number format, or a version of the base that is not quantized.")
