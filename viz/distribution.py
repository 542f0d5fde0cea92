"""The most likely next tokens as an accessible HTML table whose bars are drawn by CSS alone.

Independent of models and vocabularies: its input is labels and probabilities.
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
    """HTML of the next-token list: one row per token, with a bar of its probability (the full track is 100 %).

    `rest` is the probability of everything not listed, shown in a quiet row unless it is zero, so that the rows sum to
    100 %. `beside` is shown beside the heading, after the end of the text that the token `follows`, which may be given
    in full. `begins` is the word that the first token begins; its rest is shown in grey. Strings are escaped here.
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
    """HTML of a list with two bars per token: its probability before and after a change.

    `beside`, `follows` and `begins` as in :func:`next_token_bars`. Strings are escaped here.
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
    """HTML of a list of numbers without bars, for scores that are not probabilities, with headings ``columns``.

    Strings are escaped here.
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
    """Format a probability as a percentage like all shares, with at most one decimal in a list."""
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
    """The rest of a word after the token that begins it."""
    start = label.strip("·")
    return word.removeprefix(start) if word.startswith(start) else ""


def _name(label: str, words: dict[str, str], rest: str = "") -> str:
    """The token's name and, in grey, the rest of its word; a description if it is only spaces."""
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
