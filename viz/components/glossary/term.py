"""A word of the field and what the glossary says of it."""

from __future__ import annotations

from dataclasses import dataclass

from viz.components.glossary.pictures import Shape


@dataclass(frozen=True)
class GlossaryTerm:
    """``names`` are its spellings on the screen, the first its own; ``picture`` shows what words say badly."""

    names: tuple[str, ...]
    meaning: str
    picture: tuple[Shape, ...] = ()
