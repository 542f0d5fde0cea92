"""What is known of a family before a model of it is loaded: whether it can be captured, and if not, why.

The table was measured by ``python -m scripts.families``. It holds the refusals that follow from a family's code,
whatever the sizes of its models; some apply only to the values of settings given in ``where``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from transformers import CONFIG_MAPPING

from model_runner.errors import NotCapturable
from model_runner.local.loading.class_of_family import class_of
from model_runner.preview import ModelPreview

TABLE = Path(__file__).with_suffix(".json")
_KNOWN: dict[str, Any] = json.loads(TABLE.read_text("utf-8"))

N_ = str  # marks a text for Babel without translating it here

# family → the library that a part of it is of, and the reason where that is not installed
NEEDS = {"gemma3n": ("timm", N_("a part of it is in the library timm, which is not installed here"))}


def refusal(config: Mapping[str, Any]) -> str | None:
    """Why no model of this configuration can be captured; None if that is not known."""
    family = str(config.get("model_type"))
    library, missing = NEEDS.get(family, ("", ""))
    if library and find_spec(library) is None:
        return missing
    found: dict[str, Any] | None = _KNOWN["refused"].get(family)
    if found is None or any(_setting(config, family, name) != value for name, value in found["where"].items()):
        return None
    return found["reason"]


def check_family(name: str, config: Mapping[str, Any]) -> None:
    """Raises NotCapturable if it is known that no model of this configuration can be captured."""
    class_of(name, config)
    reason = refusal(config)
    if reason is not None:
        raise NotCapturable(name=name, family=str(config.get("model_type")), reason=reason)


def tell(found: ModelPreview, config: Mapping[str, Any], preview: Callable[[ModelPreview], None]) -> None:
    """Call ``preview`` with this model and whether it can be captured, then raise NotCapturable if it cannot."""
    try:
        check_family(found.name, config)
    except NotCapturable as error:
        preview(replace(found, capturable=False, refused=error.values["reason"]))
        raise
    preview(replace(found, capturable=can_be_captured(config)))


def can_be_captured(config: Mapping[str, Any]) -> bool | None:
    """Whether it can be captured; None if that is not known before a model is loaded."""
    if refusal(config) is not None:
        return False
    return True if config.get("model_type") in _KNOWN["captured"] else None


def _setting(config: Mapping[str, Any], family: str, name: str) -> Any:
    return config.get(name, getattr(CONFIG_MAPPING[family], name, None))
