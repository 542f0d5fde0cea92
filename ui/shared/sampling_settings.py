"""The session's sampling settings: one value for Next token and Generation film, and one for bench B.

Its fields are those of Sampling: one per row of the table of transforms, their order, and the seed.
"""

from __future__ import annotations

from dataclasses import make_dataclass
from typing import Any, Literal

from model_runner.errors import BadSetting
from model_runner.transforms import DEFAULT, TRANSFORMS, Sampling, with_newer
from ui.state import page_state
from ui.state.page_state import State, setting
from ui.wording.sentences import sentence

N_ = str  # marks a text for Babel without translating it here

LONGEST_SEED = 4000  # digits, the same limit as the bench

Bench = Literal["a", "b"]


def _kind(name: str, scope: str) -> type[State]:
    """The state type of a bench. The table of transforms checks the numbers, with its own messages: see `current`."""
    fields: list[tuple[str, Any, Any]] = [
        (name, int if transform.bounds.whole else float, setting(transform.off, transform.label))
        for name, transform in TRANSFORMS.items()
    ]
    fields += [
        ("order", tuple[str, ...], setting(DEFAULT.order, N_("order of the transforms"), options=lambda: TRANSFORMS)),
        ("seed", int, setting(DEFAULT.seed, N_("seed"), digits=LONGEST_SEED)),
    ]
    return make_dataclass(name, fields, frozen=True, namespace={"SCOPE": scope})


SamplingA = _kind("SamplingA", "sampling")
SamplingB = _kind("SamplingB", "sampling_b")
KINDS: dict[Bench, type[State]] = {"a": SamplingA, "b": SamplingB}


def current(bench: Bench = "a") -> Sampling:
    """The settings of a bench; invalid ones are reported and dropped."""
    kind = KINDS[bench]
    held = page_state.current(kind)
    values = {name: getattr(held, name) for name in page_state.fields(kind)}
    values["order"] = with_newer(values["order"])
    for name, value in values.items():
        try:
            Sampling(**{name: value})
        except BadSetting as error:
            page_state.refuse(kind, name, sentence(error))
            values[name] = getattr(DEFAULT, name)
    return Sampling(**values)


def values_of(sampling: Sampling) -> dict[str, object]:
    """The sampling settings as fields of a bench's state."""
    return {name: getattr(sampling, name) for name in page_state.fields(SamplingA)}
