"""Fills in the fields that a request leaves open with the runner's values, wherever its model is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from model_runner.errors import NoLanguages, NoSuchLanguage, WrongModel
from model_runner.request import CaptureRequest, GenerateRequest, requests_in
from model_runner.runner import ModelInfo

Request = TypeVar("Request", bound="CaptureRequest | GenerateRequest")
SHOWN = 12  # the most languages that an error message lists


def resolved_question(question: Any, info: ModelInfo) -> Any:
    """The question with every request in it resolved, or the resolved request. Raises WrongModel, among others."""
    if isinstance(question, CaptureRequest | GenerateRequest):
        return resolve_request(question, info)
    filled = {name: resolve_request(request, info) for name, request in requests_in(question).items()}
    return replace(question, **filled) if filled else question


def resolve_request(request: Request, info: ModelInfo) -> Request:
    """The request with the runner's model, revision, dtype and adapter, and its default languages.

    Raises WrongModel if it names others, NoSuchLanguage or NoLanguages for a language that the tokenizer does not have.
    """
    own: dict[str, Any] = {"model": info.name, "revision": info.revision, "dtype": info.dtype}
    own["adapter"] = None if info.adapter is None else info.adapter.on
    for name, value in own.items():
        if getattr(request, name) not in (None, value):
            raise WrongModel(wanted=getattr(request, name), held=value)
    return replace(request, **own, **_languages(request, info))


def _languages(request: CaptureRequest | GenerateRequest, info: ModelInfo) -> dict[str, str | None]:
    known, usual = info.tokenizer.languages, {"source_language": info.tokenizer.source}
    usual["target_language"] = info.tokenizer.target
    for name in usual:
        code = getattr(request, name)
        if code is not None and not known:
            raise NoLanguages(name=info.name, code=code)
        if code is not None and code not in known:
            raise NoSuchLanguage(name=info.name, code=code, codes=_some(known))
        usual[name] = code or usual[name]
    return usual


def _some(codes: tuple[str, ...]) -> str:
    return ", ".join(codes[:SHOWN]) + ("…" if len(codes) > SHOWN else "")
