"""The most likely next tokens as an accessible HTML table whose bars are drawn by CSS alone.

Knows nothing about models or vocabularies: it gets labels and probabilities.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from viz.share_text import share_digits
from viz.token_text import escaped, lone_spaces

N_ = str

TEXTS: dict[str, str] = {
    "token": N_("token"),
    "probability": N_("probability"),
    "rest": N_("all other tokens"),
    "percent": N_("{number} %"),
    "space": N_("a space"),
    "before": N_("before"),
    "after": N_("after"),
    "follows": N_("after “… {text}”"),
    "follows_all": N_("after “{text}”"),
}


def next_token_bars(
    labels: list[str],
    probabilities: list[float],
    *,
    rest: float,
    heading: str,
    beside: str = "",
    follows: tuple[str, bool] = ("", True),
    begins: str = "",
    texts: dict[str, str] | None = None,
) -> str:
    """HTML of the next-token list: one row a token, its bar as long as its probability (the full track is 100 %).

    `rest` is the probability of everything not listed and gets a quiet row of its own unless it is zero, so that the
    rows add up to 100 %. `beside` stands beside the heading, behind the end of the text that the token `follows`,
    which may be all of it. `begins` is the word that the first token begins: its rest stands quietly behind it. All
    strings are escaped here.
    """
    if len(labels) != len(probabilities):
        raise ValueError(f"{len(labels)} labels for {len(probabilities)} probabilities")
    words = TEXTS | (texts or {})
    rows = [
        _row(label, probability, words, rest=_rest(label, begins) if place == 0 else "")
        for place, (label, probability) in enumerate(zip(labels, probabilities, strict=True))
    ]
    if rest > 0:
        rows.append(_row(words["rest"], rest, words, kind="rest"))
    return (
        f"<style>{_css()}</style>"
        f'<table class="atlas-next"><caption>{escaped(heading)}{_beside(follows, beside, words)}</caption>'
        f'<thead><tr><th scope="col">{escaped(words["token"])}</th>'
        f'<th scope="col">{escaped(words["probability"])}</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def next_token_changes(
    labels: list[str],
    before: list[float],
    after: list[float],
    *,
    heading: str,
    beside: str = "",
    follows: tuple[str, bool] = ("", True),
    begins: str = "",
    texts: dict[str, str] | None = None,
) -> str:
    """HTML of a list in which each token has two bars: its probability before a change, and after it.

    `beside`, `follows` and `begins` as in :func:`next_token_bars`. All strings are escaped here.
    """
    if not len(labels) == len(before) == len(after):
        raise ValueError(f"{len(labels)} labels for {len(before)} and {len(after)} probabilities")
    words = TEXTS | (texts or {})
    rows = [
        f'<tr><th scope="row" title="{escaped(label)}">'
        f"{_name(label, words, _rest(label, begins) if place == 0 else '')}</th>"
        f'<td class="before">{_bar(old, words)}</td><td class="after">{_bar(new, words)}</td></tr>'
        for place, (label, old, new) in enumerate(zip(labels, before, after, strict=True))
    ]
    return (
        f"<style>{_css()}</style>"
        '<div class="atlas-changes"><table class="atlas-next change">'
        f"<caption>{escaped(heading)}{_beside(follows, beside, words)}</caption>"
        f'<thead><tr><th scope="col">{escaped(words["token"])}</th><th scope="col">{escaped(words["before"])}</th>'
        f'<th scope="col">{escaped(words["after"])}</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def number_rows(labels: list[str], values: list[list[float]], *, heading: str, columns: list[str] | None = None) -> str:
    """HTML of a list of numbers without bars, for scores that are no shares: a column a number, ``columns`` above them.

    All strings are escaped here.
    """
    if len(labels) != len(values):
        raise ValueError(f"{len(labels)} labels for {len(values)} rows")
    head = "".join(f'<th scope="col">{escaped(column)}</th>' for column in columns or [])
    rows = "".join(
        f'<tr><th scope="row" title="{escaped(label)}"><bdi>{escaped(lone_spaces(label))}</bdi></th>'
        + "".join(f'<td class="plain">{escaped(f"{value:+.4f}".replace("-", "−"))}</td>' for value in row)
        + "</tr>"
        for label, row in zip(labels, values, strict=True)
    )
    first = '<th scope="col"></th>' if columns else ""
    return (
        f'<style>{_css()}</style><table class="atlas-next{" change" if columns else ""}">'
        f"<caption>{escaped(heading)}</caption><thead><tr>{first}{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def percent(probability: float, template: str = TEXTS["percent"]) -> str:
    """A probability as a reader's percentage, as all shares are; of a list, no smaller ones than a tenth are told."""
    return template.format(number="< 0.1" if 0 < probability < 0.0005 else share_digits(probability))


def _beside(follows: tuple[str, bool], beside: str, words: dict[str, str]) -> str:
    text, whole = follows
    end = words["follows_all" if whole else "follows"].format(text=text) if text else ""
    said = " · ".join(one for one in (end, beside) if one)
    return f" <span>{escaped(said)}</span>" if said else ""


def _row(label: str, probability: float, words: dict[str, str], kind: str = "token", rest: str = "") -> str:
    return (
        f'<tr class="{kind}"><th scope="row" title="{escaped(label)}">{_name(label, words, rest)}</th>'
        f"<td>{_bar(probability, words)}</td></tr>"
    )


def _rest(label: str, word: str) -> str:
    """What is left of a word after the token that begins it."""
    start = label.strip("·")
    return word.removeprefix(start) if word.startswith(start) else ""


def _name(label: str, words: dict[str, str], rest: str = "") -> str:
    """The token, and quietly the rest of the word that it begins; one that is nothing but spaces with a word for it."""
    shown = lone_spaces(label)
    if rest:
        return f"<bdi>{escaped(shown)}</bdi><small class='rest'><bdi>{escaped(rest)}</bdi></small>"
    aside = f" <small>{escaped(words['space'])}</small>" if shown != label else ""
    return f"<bdi>{escaped(shown)}</bdi>{aside}"


def _bar(probability: float, words: dict[str, str]) -> str:
    share = 100 * min(max(probability, 0.0), 1.0)
    amount = escaped(percent(probability, words["percent"]))
    return (
        f'<div class="track"><div class="bar" style="width:{share:.2f}%"></div>'
        f'<span class="number">{amount}</span></div>'
    )


@cache
def _css() -> str:
    return (Path(__file__).parent / "distribution.css").read_text(encoding="utf-8")
