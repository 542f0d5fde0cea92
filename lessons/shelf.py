"""The available lessons: a folder with one subfolder per language and lesson, and one file per step.

Folders and files are sorted by name. Digits and a hyphen before a lesson's name only set its place: ``10-attention`` is
named ``attention``. A lesson with an invalid step is left out, with the reason.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lessons.step import LONGEST, TOO_LONG, Broken, LessonStep, read

N_ = str  # marks a text for Babel without translating it here

HERE = Path(__file__).parent
MOST_STEPS = 100

NO_STEPS = N_("there is no step in its folder")
MANY_STEPS = N_("it has more than {most} steps")
UNREADABLE = N_("its step {file} cannot be read as text")

_PLACE = re.compile(r"^\d+-")


@dataclass(frozen=True)
class Lesson:
    """``name`` identifies it in URLs, ``title`` is displayed; ``tour``: a longer lesson, listed separately."""

    name: str
    title: str
    language: str
    steps: tuple[LessonStep, ...]
    tour: bool = False


@dataclass(frozen=True)
class LeftOut:
    """A lesson that was left out: ``reason`` is half a sentence with placeholders for ``values``."""

    name: str
    reason: str
    values: Mapping[str, Any]


def lessons(
    folders: Sequence[Path], language: str, pages: Collection[str]
) -> tuple[tuple[Lesson, ...], tuple[LeftOut, ...]]:
    """Return the lessons in this language, then those that exist only in another, and those that were left out.

    If two have the same name and language, the first counts, so that an earlier folder overrides a later one. Results
    are cached until a file changes.
    """
    found: dict[str, Lesson] = {}
    broken: dict[str, LeftOut] = {}
    for own in (True, False):
        for folder in folders:
            for path in _lessons_of(folder, language, own):
                name = _PLACE.sub("", path.name)
                if name in found or name in broken:
                    continue
                one = _lesson(path, _stamp(path), frozenset(pages))
                if isinstance(one, Lesson):
                    found[name] = one
                else:
                    broken[name] = one
    return tuple(found.values()), tuple(broken.values())


def _lessons_of(folder: Path, language: str, own: bool) -> Iterator[Path]:
    for of_language in _folders(folder):
        if (of_language.name == language) is own:
            yield from _folders(of_language)


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir() and path.name[0] not in "._")
    except OSError:
        return []


def _stamp(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """A value that changes with the lesson's files."""
    try:
        files = sorted(path for path in folder.glob("*.md") if path.is_file())
        return tuple((path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in files)
    except OSError:
        return ()


@functools.lru_cache(maxsize=500)
def _lesson(folder: Path, stamp: tuple[tuple[str, int, int], ...], pages: frozenset[str]) -> Lesson | LeftOut:
    name = _PLACE.sub("", folder.name)
    steps: list[LessonStep] = []
    if not stamp:
        return LeftOut(name, NO_STEPS, {})
    if len(stamp) > MOST_STEPS:
        return LeftOut(name, MANY_STEPS, {"most": MOST_STEPS})
    for file, _changed, size in stamp:
        try:
            if size > 4 * LONGEST:  # bytes: at most four per character
                raise Broken(TOO_LONG, most=f"{LONGEST:,}")
            steps.append(read((folder / file).read_text("utf-8"), pages))
        except Broken as error:
            return LeftOut(name, error.reason, {"file": file, **error.values})
        except (OSError, ValueError):
            return LeftOut(name, UNREADABLE, {"file": file})
    first = steps[0]
    return Lesson(name, first.tour or first.lesson or name, folder.parent.name, tuple(steps), bool(first.tour))
