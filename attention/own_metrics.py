"""User-defined metrics in addition to ``METRICS``, computed with them and drawn under their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from attention.metrics import METRICS, Metric, Rows

AGAIN = "Mend it and register it again by the same name."
UNITS = ("share", "bits", "tokens")
_own: dict[str, Metric] = {}  # by name


@dataclass(frozen=True)
class Offset:
    """The weight on the key ``back`` tokens before the query, NaN if there is none.

    ``Offset(1)`` is the previous token, ``Offset(-1)`` the next, which is masked in a causal model.
    """

    back: int

    def __call__(self, rows: Rows) -> Float[Tensor, "heads queries"]:
        return rows.at(-self.back)


def register_metric(
    name: str,
    of: Callable[[Rows], Tensor],
    *,
    label: str = "",
    definition: str = "",
    unit: str = "share",
    across: bool = False,
) -> Metric:
    """Register the metric ``of`` under this name, replacing an earlier one of the same name.

    ``of`` receives a block of query rows of every head of a layer and returns ``[heads, queries]``, NaN where
    undefined; a head's value is the mean over its defined queries. ``label`` is displayed (default: the name), ``unit``
    is one of ``UNITS``, and ``across`` says that the metric is also defined for cross-attention. Raises ValueError for
    a built-in metric's name, an empty name, or an unknown unit.
    """
    if not name or name in {metric.name for metric in METRICS}:
        why = f"{name!r} is the name of a built-in metric" if name else "A metric needs a name"
        raise ValueError(f"{why}: choose another one.")
    if unit not in UNITS:
        raise ValueError(f"There is no unit {unit!r}; choose from {', '.join(UNITS)}.")

    def checked(rows: Rows) -> Tensor:
        try:
            values = of(rows)
        except Exception as error:
            error.add_note(f"This was raised by the metric {name!r}. {AGAIN}")
            raise
        wanted = tuple(rows.weights.shape[:2])
        if not isinstance(values, Tensor) or tuple(values.shape) != wanted:  # pyright: ignore[reportUnnecessaryIsInstance]
            got = tuple(values.shape) if isinstance(values, Tensor) else type(values).__name__  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(
                f"The metric {name!r} returned {got}; it must return [heads, queries], here {wanted}. {AGAIN}"
            )
        return values.to(rows.weights.dtype)

    metric = Metric(name, checked, label or name, definition, unit, "", across)
    _own[name] = metric
    return metric


def all_metrics() -> tuple[Metric, ...]:
    """The built-in metrics, and those registered in this process."""
    return (*METRICS, *_own.values())
