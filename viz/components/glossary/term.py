"""A term and its definition in the glossary."""

from __future__ import annotations

from dataclasses import dataclass

from viz.components.glossary.pictures import Shape


@dataclass(frozen=True)
class GlossaryTerm:
    """``names`` are its spellings on the screen, the canonical one first; ``picture`` illustrates it."""

    names: tuple[str, ...]
    meaning: str
    picture: tuple[Shape, ...] = ()
