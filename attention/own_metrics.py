"""Metrics of your own beside those of ``METRICS``: they are computed with them, and drawn by their name."""

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
    """The metric of one distance: the weight on the key ``back`` tokens before the query, NaN where there is none.

    ``Offset(1)`` is the previous token, ``Offset(-1)`` the next, which a causal model does not see.
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
    """From now on compute ``of`` for every head, under this name; of the same name again, instead of the one before.

    ``of`` receives a block of query rows of every head of a layer and returns ``[heads, queries]``, NaN where it is
    not defined; a head's value is the mean of its defined queries. ``label`` is what is read (else the name),
    ``unit`` one of ``UNITS``, ``across``: it means something too where one text looks at another.
    Raises ValueError for the name of a built-in metric, an empty name, or a unit that there is none of.
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
    """The built-in metrics, and those that were registered in this process."""
    return (*METRICS, *_own.values())
