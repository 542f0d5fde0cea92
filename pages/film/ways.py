"""The other branches of a film in the URL: what determines each, so that the whole tree can be restored.

They are separated by "~~", in the tree's order. "open" stands for the branch described by the rest of the URL; any
other has its number of tokens, its settings and its forced tokens: steps.6~seed.5~forced.0.1906-3.88.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jobs.branches import BranchKey
from model_runner.errors import BadSetting
from model_runner.transforms import DEFAULT, Sampling, with_newer
from pages.film.state import LONGEST_WAYS, FilmState, checked, state
from ui.shared.sampling_settings import SamplingA, values_of
from ui.state.page_state import fields, refuse
from ui.state.url_parsing import NO_CHOICE, UrlUnreadable, read, short
from ui.state.url_values import write
from ui.wording.sentences import sentence

N_ = str  # marks a text for Babel without translating it here

OPEN = "open"
MOST = 20  # branches; each is generated again when the URL is opened


def written(ways: Sequence[BranchKey], index: int) -> str:
    """Format these branches; number ``index`` is the open one. The oldest are left out if it gets too long."""
    if len(ways) == 1:
        return ""
    parts = [OPEN if i == index else _written(way) for i, way in enumerate(ways)]
    while len(parts) > MOST or len("~~".join(parts)) > LONGEST_WAYS:
        del parts[1 if parts[0] == OPEN else 0]
    return "~~".join(parts)


def with_others(opened: BranchKey, n_vocab: int) -> tuple[list[BranchKey], int]:
    """The branches in the URL and the index of the open one; if one is invalid, that is reported and only the open one
    stays.
    """
    text = state().ways
    try:
        ways = [None if part == OPEN else _read(part, n_vocab) for part in text.split("~~")] if text else [None]
        if ways.count(None) != 1 or len(ways) > MOST:
            raise _unreadable(text)
    except UrlUnreadable as error:
        refuse(FilmState, "ways", sentence(error))
        ways = [None]
    return [way or opened for way in ways], ways.index(None)


def _written(way: BranchKey) -> str:
    usual = values_of(DEFAULT)
    parts: dict[str, Any] = {"steps": way.steps}
    parts |= {name: value for name, value in values_of(way.sampling).items() if value != usual[name]}
    if way.forced:
        parts["beam" if way.how == "beam" else "forced"] = way.forced
    return "~".join(f"{name}.{write(value)}" for name, value in parts.items())


def _read(text: str, n_vocab: int) -> BranchKey:
    """Raises UrlUnreadable."""
    parts = {name: value for name, _dot, value in (part.partition(".") for part in text.split("~"))}
    steps = read(FilmState, "steps", parts.pop("steps", ""))
    how = "beam" if "beam" in parts else "forced"
    forced = read(FilmState, "forced", parts.pop(how, "-"))
    checked(forced, n_vocab)
    if not parts.keys() <= set(fields(SamplingA)):
        raise _unreadable(text)
    values = {name: read(SamplingA, name, value) for name, value in parts.items()}
    if "order" in values:
        values["order"] = with_newer(values["order"])
    try:
        return BranchKey(Sampling(**values), tuple(sorted(dict(forced).items())), how, steps)
    except BadSetting as error:
        raise UrlUnreadable(error.message, hint=error.hint, **error.values) from error


def _unreadable(text: str) -> UrlUnreadable:
    return UrlUnreadable(NO_CHOICE, value=short(text), what=N_("list of branches"))
