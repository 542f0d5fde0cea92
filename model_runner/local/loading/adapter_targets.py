"""Finds the modules of a model that an adapter's settings name, as peft (0.21) does; patterns run in a subprocess."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from model_runner.adapter import AdapterRefused
from model_runner.errors import N_, Reason
from model_runner.local.loading.adapter_files import AdapterFiles
from model_runner.local.loading.sandboxed_process import SandboxLimitReached
from model_runner.local.loading.sandboxed_tokenizer import start_sandbox, too_much

SECONDS = 2.0  # for a pattern and all names of a model
ALL_LINEAR = "all-linear"
PLAIN = re.compile(r"[\w.-]*")  # a name or a part of one, without repetition operators
BAD_PATTERN = N_("its pattern {pattern} cannot be used: {why}")

Fits = Callable[[str], list[str]]  # a pattern → the names that it matches in full


def targeted(files: AdapterFiles, names: Sequence[str], linear: Iterable[str]) -> set[str]:
    """Names of the modules that the adapter changes; ``linear`` are those that "all-linear" stands for.

    Raises AdapterRefused for an invalid pattern, or one that takes too long.
    """
    settings = files.settings
    fits = _fitting(files, names)
    if settings.targets == ALL_LINEAR:
        found = set(linear)
    elif isinstance(settings.targets, str):
        return set(fits(settings.targets)) - excluded(files, names, fits)
    else:
        found = _ending(names, settings.targets)
    if settings.layers is not None and settings.targets != ALL_LINEAR:
        found = {name for name in found if name in settings.targets or _layer(files, name) in settings.layers}
    return found - excluded(files, names, fits)


def excluded(files: AdapterFiles, names: Sequence[str], fits: Fits) -> set[str]:
    """The modules excluded by name, and those inside modules that are replaced whole."""
    settings = files.settings
    if isinstance(settings.excluded, str):
        out = set(fits(settings.excluded))
    else:
        out = _ending(names, settings.excluded)
    for saved in settings.saved:
        out |= set(fits(rf"(.*\.)?{_plain(files, saved)}(\..*)?"))
    return out


def by_pattern(files: AdapterFiles, names: Sequence[str], values: dict[str, Any], usual: Any) -> dict[str, Any]:
    """A value for each name: that of the first pattern that matches the name or its end, otherwise the default."""
    fits = _fitting(files, names)
    found: dict[str, Any] = {}
    for key, value in values.items():
        for name in fits(rf"(.*\.)?({key})"):
            found.setdefault(name, value)
    return {name: found.get(name, usual) for name in names}


def kept_whole(files: AdapterFiles, names: Sequence[str]) -> set[str]:
    """Modules that the adapter replaces whole: any whose name has such an ending, even in the middle of a word."""
    return {name for name in names if name and any(name.endswith(saved) for saved in files.settings.saved)}


def _ending(names: Iterable[str], ends: Iterable[str]) -> set[str]:
    """Names that equal one of these, or end with a dot and one of these."""
    wanted, found = set(ends), set[str]()
    for name in names:
        parts = name.split(".")
        if any(".".join(parts[first:]) in wanted for first in range(len(parts))):
            found.add(name)
    return found


def _layer(files: AdapterFiles, name: str) -> int | None:
    """The layer number in a name: the first number, or the first after one of the words that number its layers."""
    words = files.settings.layers_pattern
    for word in words or ("",):
        start = r".*?\.[^.]*\." if not words else rf"(?:^|.*?\.){_plain(files, word)}\."
        if found := re.match(rf"{start}(\d+)\.", name):
            return int(found[1])
    return None


def _plain(files: AdapterFiles, text: str) -> str:
    if not PLAIN.fullmatch(text):
        values = {"pattern": text[:60], "why": Reason(N_("a plain name is expected"), {})}
        raise AdapterRefused(name=files.name, reason=Reason(BAD_PATTERN, values))
    return text


def _fitting(files: AdapterFiles, names: Sequence[str]) -> Fits:
    """A matcher over these names; its process starts at the first pattern that is not plainly harmless."""

    def fits(pattern: str) -> list[str]:
        inner = pattern.removeprefix(r"(.*\.)?").removesuffix(r"(\..*)?").removeprefix("(").removesuffix(")")
        if PLAIN.fullmatch(inner):  # what stands around it goes over a name once
            return [name for name in names if re.fullmatch(pattern, name)]
        process = start_sandbox("names", files.folder)
        try:
            answer = process.ask({"pattern": pattern, "names": list(names)}, SECONDS)
        except SandboxLimitReached as error:
            why = too_much(process, SECONDS)
            reason = Reason(BAD_PATTERN, {"pattern": pattern[:60], "why": why})
            raise AdapterRefused(name=files.name, reason=reason) from error
        finally:
            process.close()
        if "error" in answer:
            reason = Reason(BAD_PATTERN, {"pattern": pattern[:60], "why": answer["error"]})
            raise AdapterRefused(name=files.name, reason=reason)
        return list(answer["names"])

    return fits
