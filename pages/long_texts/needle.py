"""The last view of the page Long texts: a needle in a haystack, whether the model finds it, and which heads retrieve
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from weakref import ref

import numpy as np
import streamlit as st

from analysis.head_names import group_size
from analysis.long_text import chapter
from analysis.mask_effect import looks_ahead
from analysis.needle import Needle, Retrieval, strongest_heads
from analysis.sentences import joined
from jobs.needle import COUNTS, Done, NeedleRun
from pages.long_texts.needle_choice import choose_needle
from pages.long_texts.place import reads_own
from pages.long_texts.state import state
from ui.shared.finding import show_finding
from ui.shell.components import mount, show_heading
from ui.shell.page import PageContext, translated
from ui.shell.progressive import progressive, show_chart, show_progress
from ui.state import session
from ui.wording.i18n import _, language
from ui.wording.sentences import number
from viz.chart import Line, Lines
from viz.components.head_grid import head_grid as grid_component

HEIGHT = 208  # px of a chart
BEST = 3  # heads that are named


@dataclass(frozen=True, eq=False)
class NeedleView:
    """The results so far; ``copied`` and ``looked`` [layers, heads] are means over the depths.

    ``hay``: the first ``characters`` of the session's ``own`` text, or else of the chapter.
    """

    needle: Needle
    hay: str
    own: bool
    characters: int
    done: tuple[Done, ...]
    copied: np.ndarray
    looked: np.ndarray
    payload: bytes


def show_needle(opened: PageContext) -> NeedleView | None:
    """Show the controls and the results so far; None before the first forward is done. Raises RunnerError."""
    if looks_ahead(opened.capture):
        st.info(_("No needle: this model sees the tokens that it has to predict."))
        return None
    held = state()
    characters = int(held.characters)
    hay, own = _hay(opened, characters)
    needle = choose_needle(opened, hay)
    if needle is None:
        return None
    key = (ref(opened.runner), opened.capture.request, needle, characters)
    run: NeedleRun = session.jobs().get(
        "needle", key, lambda name: NeedleRun(opened.runner, opened.capture.request, hay, needle, characters, name)
    )
    where = _("The hay is your text.")
    if not own:
        book = chapter(language())
        where = _("The hay is from: {title}, {author}.").format(title=book.title, author=book.author)
    progressive(run, lambda: _draw(opened, run, needle, int(held.depth) / 100, where))
    if not run.plain:
        return None
    copied, looked = run.scores()
    return NeedleView(
        needle, hay[:characters], own, characters, tuple(run.items), copied, looked, _grid(opened, copied)
    )


def _hay(opened: PageContext, characters: int) -> tuple[str, bool]:
    """The text around the needle, and whether it is the session's own."""
    own = reads_own() and len(opened.capture.request.text) >= characters
    return (opened.capture.request.text if own else chapter(language()).half), own


def _draw(opened: PageContext, run: NeedleRun, needle: Needle, depth: float, where: str) -> None:
    if not run.too_long:
        show_progress(run, len(run.steps), _("{done} of {total} forwards"), key="needle")
    if not run.plain:
        return
    with st.container(key="needle_finding"):
        if (found := _at_depth(run, depth)) is not None:
            words = _("The model recalls {right} of the needle’s {asked} tokens")
            beside = _("{tokens} tokens, needle at {depth}")
            beside = beside.format(tokens=f"{found.n_tokens:,}", depth=number(depth, "share"))
            show_finding(words.format(right=found.right, asked=found.asked), escape(beside), of_several=True)
    left, right = st.columns([0.56, 0.44], gap="medium")
    with left:
        said = joined(escape(where), _said(opened, run, depth, needle))
        st.html(f"<p class='atlas-caption'>{said}</p>")
        for name, chart in needle_charts(run.items):
            show_heading(escape(chart.heading))
            show_chart(chart, key=f"needle_{name}", alt=chart.heading, still=not run.running)
    with right:
        heading = _("Retrieval heads")
        copied, looked = run.scores()
        best = ", ".join(
            f"L{layer}H{head} ({number(copied[layer, head], 'share')})"
            for layer, head in strongest_heads(copied, looked, BEST)
            if copied[layer, head] > 0
        )
        words = _("Best: {heads}").format(heads=best) if best else _("No head copied a token of the needle.")
        show_heading(escape(heading), escape(words))
        mount(grid_component.SOURCE, _grid(opened, copied), key="needle_grid", on={"head": _open_head})
        caption = _(
            "Share of the needle’s tokens that a head copied: the model said the token while it had "
            "the head’s strongest attention. Mean over the depths."
        )
        st.html(f"<p class='atlas-caption'>{escape(caption)}</p>")


def _at_depth(run: NeedleRun, depth: float) -> Retrieval | None:
    """The result with the needle at this depth and no ablated head; None if not computed yet."""
    return next((one.found for one in run.plain if one.step.depth == depth), None)


def _said(opened: PageContext, run: NeedleRun, depth: float, needle: Needle) -> str:
    """The model's output at the chosen depth with wrong tokens struck out; HTML."""
    found = _at_depth(run, depth)
    if found is None:
        return ""
    told = "".join(
        f"<b>{escape(opened.runner.token_text(said))}</b>"
        if said == wanted
        else f"<s>{escape(opened.runner.token_text(said))}</s>"
        for said, wanted in zip(found.said, run.answer, strict=True)
    )
    words = _("{tokens} tokens, needle at {depth}. {question} → {said}: {right} of {asked} before the first mistake.")
    return words.format(
        tokens=f"{found.n_tokens:,}", depth=number(depth, "share"), question=f"<bdi>{escape(needle.question)}</bdi>",
        said=f"<bdi>{told}</bdi>", right=found.right, asked=found.asked,
    )  # fmt: skip


def needle_charts(done: list[Done] | tuple[Done, ...]) -> list[tuple[str, Lines]]:
    """Charts by depth and by number of ablated heads."""
    plain = sorted((one for one in done if one.step.ablated == "none"), key=lambda one: one.step.depth)
    depths = [one.step.depth for one in plain]
    sure = [one.found.probability for one in plain]
    by_depth = Lines(
        series=[
            Line(_("tokens right"), depths, [one.found.share for one in plain], points=True),
            Line(_("their mean probability"), depths, sure, dash="dash", points=True),
        ],
        x_title=_("depth of the needle: 0 the beginning, 1 the end"), y_title=_("share"), height=HEIGHT,
        heading=_("Does the model find it?"), x_range=(0, 1),
    )  # fmt: skip
    lines = [_by_count(done, plain, "top", _("best retrievers ablated"), "solid")]
    lines.append(_by_count(done, plain, "random", _("as many other heads ablated"), "dash"))
    ablation = Lines(
        series=lines, x_title=_("heads ablated"), y_title=_("mean probability"), height=HEIGHT,
        heading=_("With heads ablated"), ticks=(0, *COUNTS),
    )  # fmt: skip
    return [("depth", by_depth), ("ablation", ablation)]


def _by_count(done: list[Done] | tuple[Done, ...], plain: list[Done], kind: str, name: str, dash: str) -> Line:
    """Mean probability over the finished depths, starting with no ablated head."""
    known: dict[int, float] = {}
    for count in (0, *COUNTS):
        group = [one for one in done if (one.step.ablated, one.step.count) == (kind, count)] if count else plain
        if group:
            known[count] = float(np.mean([one.found.probability for one in group]))
    return Line(name, list(known), list(known.values()), dash, points=True)


def _grid(opened: PageContext, copied: np.ndarray) -> bytes:
    layers, _heads = copied.shape
    heading = _("needle tokens copied")
    return grid_component.HeadGridPicture(
        thumbnails=np.zeros((*copied.shape, 1, 1), np.uint8),
        keep=np.ones((layers, 1, 1), np.uint8),
        metric=copied.astype(np.float32),
        mode="metric",
        order=None,
        layer_has_weights=[opened.capture.has_weights(layer) for layer in range(layers)],
        selected=(opened.layer, opened.head),
        compare=None,
        groups=group_size(opened.capture, opened.layer),
        texts=translated(grid_component.TEXTS) | {"metric": heading, "summary": heading},
        metric_range=(0.0, 1.0),
        number="percent",
        max_height=380,
    ).packed()


def _open_head(place: list[int] | None) -> None:
    if place is not None:
        session.move(layer=int(place[0]), head=int(place[1]))
