"""How the session draws its tokens, as the address holds it: one setting a parameter, those of bench B with "_b".

What is at its default is left out. The pages Next token and Generation film share the settings of bench A.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Literal

from model_runner.errors import BadSetting
from model_runner.sampling import Sampling
from ui import session
from ui.i18n import _
from ui.wording import sentence

Bench = Literal["a", "b"]

DEFAULT = Sampling()
NAMES = tuple(field.name for field in fields(Sampling))
WHOLE = ("top_k", "seed")
BETWEEN = "-"  # the transforms of an order


def current(bench: Bench = "a") -> Sampling:
    """The settings of a bench; a part of the address that is not possible counts as its default."""
    return Sampling(**_read(bench)[0])


def store(sampling: Sampling, bench: Bench = "a") -> None:
    """Remember these settings, on this page and in the address."""
    for name in NAMES:
        session.choose(_parameter(name, bench), _text(getattr(sampling, name)), _text(getattr(DEFAULT, name)))


def take_problems(bench: Bench = "a") -> list[str]:
    """One sentence for each part of the address that is not possible; told once, for it is taken out."""
    problems = _read(bench)[1]
    for name in problems:
        session.choose(_parameter(name, bench), "", "")
    return list(problems.values())


def _read(bench: Bench) -> tuple[dict[str, Any], dict[str, str]]:
    """What the address sets, and for each setting that is not possible, the sentence that says so."""
    good: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    for name in NAMES:
        parameter = _parameter(name, bench)
        text = session.written(parameter)
        if text is None:
            continue
        try:
            value = _value(name, text)
            Sampling(**{name: value})
            good[name] = value
        except ValueError:
            wrong[name] = _("“{value}” is not a number for {what}.").format(value=text, what=parameter)
        except BadSetting as error:
            wrong[name] = sentence(error)
    return good, wrong


def _parameter(name: str, bench: Bench) -> str:
    """The name in the address; "order" is the order of the heads on another page."""
    return ("transforms" if name == "order" else name) + ("" if bench == "a" else f"_{bench}")


def _text(value: float | tuple[str, ...]) -> str:
    if isinstance(value, tuple):
        return BETWEEN.join(value)
    return str(value) if isinstance(value, int) else f"{value:.12g}"


def _value(name: str, text: str) -> Any:
    if name == "order":
        return tuple(text.split(BETWEEN))
    return int(text) if name in WHOLE else float(text)
