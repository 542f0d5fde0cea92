"""Records known attention code of a model's own, from the outputs of its projections.

The caller says which keys the code gives each query, and how it scores them. That this reproduces the module's output
is checked, as for every layer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from model_runner.local.recording.cannot_record import CannotRecord
from model_runner.local.recording.legacy_call import to_be_recorded
from model_runner.local.recording.recorder import UNKNOWN_MASK, active_recorder
from model_runner.record import LayerRecord


@dataclass(frozen=True, eq=False)
class Call:
    """One call of an attention module, for one text.

    ``made`` are the outputs of its parts by name, in order for parts called several times; ``before`` are the inputs of
    its output projection, which is one of the parts, also in order.
    """

    made: dict[str, list[Tensor]]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    output: Any
    before: tuple[Tensor, ...]

    def only(self, name: str) -> Tensor:
        """The output of a part that was called once."""
        (found,) = self.made[name]
        return found


def hook_projections(
    module: nn.Module,
    parts: tuple[str, ...],
    record: Callable[[Call], LayerRecord],
    *,
    last: str | None = None,
    named: nn.Module | None = None,
) -> None:
    """Record ``module`` with ``record`` from now on, whenever it runs while a recording is active.

    ``parts`` are names of modules in it, and ``last`` is the one that produces its output. The record gets the name of
    ``named``, which the module may replace temporarily.
    """
    made: dict[str, list[Tensor]] = {}
    before: list[Tensor] = []
    is_open: list[bool] = []

    def enter(module: nn.Module, *_: Any) -> None:
        if to_be_recorded(named or module):
            is_open.append(True)

    def keep(name: str) -> Callable[..., None]:
        def kept(_module: nn.Module, given: tuple[Any, ...], output: Tensor) -> None:
            if is_open:
                made.setdefault(name, []).append(output.clone())  # some code divides queries in place
                if name == last:
                    before.append(given[0])

        return kept

    def leave(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        recording = active_recorder()
        try:
            if is_open and recording is not None and output is not None:  # None if it ended by an error
                name, _ = recording.enter(recording.names[id(named or module)])
                if recording.consumer is not None:
                    raise CannotRecord(UNKNOWN_MASK)
                call = Call(dict(made), args, kwargs, output, tuple(before))
                recording.take(name, record(call))
        finally:
            is_open.clear()
            made.clear()
            before.clear()

    for name in (*parts, *(() if last is None else (last,))):
        module.get_submodule(name).register_forward_hook(keep(name))
    module.register_forward_pre_hook(enter)
    module.register_forward_hook(leave, with_kwargs=True, always_call=True)


def by_head(made: Tensor, n_heads: int) -> Tensor:
    """Reshape ``[1, tokens, heads * d]`` of one text to (heads, tokens, d)."""
    return made[0].unflatten(-1, (n_heads, -1)).transpose(0, 1)
