"""Which run of which module a layer is, in a model that runs modules several times or attends several times per run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LayerOrigin:
    """The layer is run ``run`` of the ``runs`` of ``module`` in a forward, and attention ``part`` of ``parts`` in it.

    All count from 0. ``module`` is a qualified name. ALBERT runs one module twelve times; HRM-Text runs two stacks in
    cycles; a block of LongCat-Flash attends twice.
    """

    module: str
    run: int = 0
    runs: int = 1
    part: int = 0
    parts: int = 1
