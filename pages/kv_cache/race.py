"""The race of the page KV cache, step by step while the page is open: its controls and charts."""

from __future__ import annotations

from contextlib import suppress
from html import escape
from weakref import ref

import numpy as np
import pandas as pd
import streamlit as st

from analysis.long_text import chapter
from analysis.number_text import three_digits
from jobs.race import RaceRun, begins_with
from model_runner import RunnerError
from model_runner.errors import SequenceTooLong
from pages.kv_cache.state import KvCacheState, state
from ui.shared.export_bundle import ExportBundle
from ui.shared.finding import show_finding
from ui.shared.long_example import part_shown, takes_chapter
from ui.shell.components import show_heading, show_html
from ui.shell.page import PageContext, announced, show_stage
from ui.shell.progressive import progressive, show_chart
from ui.state import session, url_state
from ui.state.controls import choose, pick
from ui.state.frame_slots import frame_slots
from ui.state.kept_click import button
from ui.wording.i18n import _, language
from viz.chart import Bars, Chart, Line, Lines
from viz.chart_svg import charts_svg
from viz.continuations import TextEnding, continuations
from viz.curves import standalone

STEPS_SHOWN = 5  # a step's rate is the median over this many steps
QUOTED = (4.45, 33.4)  # seconds with and without: Alammar & Grootendorst 2024, 100 tokens of Phi-3-mini on a T4
RERUN = (6.66, 21.9)  # the stored output of the book's own notebook for chapter 3, June 2024


def prompt_of_book() -> str | None:
    """A page of the chapter, if chosen or instead of an example; None: the session's text."""
    if part_shown(state().shown) == "own":
        return None
    text = chapter(language()).page
    with suppress(RunnerError):  # open_page reports it
        runner = announced(session.model(), show_stage)
        if not takes_chapter(runner.info):
            return None
        try:
            session.capture(runner, show_stage, instead=text)
        except SequenceTooLong as error:
            return text[: int(error.values["characters"]) // 2] or None  # leaves half of the context to the race
        finally:
            frame_slots().status.empty()
    return text


def ask_race(opened: PageContext) -> RaceRun:
    """Show the controls in a row, and return the race. Raises ContextFull if no token fits."""
    n_tokens, limit = begins_with(opened.capture), opened.runner.info.room
    if n_tokens >= limit:
        raise opened.runner.info.no_room(n_tokens)
    length = state().length
    words = {count: _("{number} tokens").format(number=count) for count in ("100", "50", "200", "500")}
    prompts = {"half": _("after a page of a book"), "own": _("after your text")}
    if takes_chapter(opened.runner.info):
        choose(KvCacheState, "shown", "own" if part_shown(state().shown) == "own" else "half", prompts)
    pick(KvCacheState, "length", length, words, width=140)
    key = (ref(opened.runner), opened.capture.request, length)

    def begin(name: str) -> RaceRun:
        return RaceRun(opened.runner, opened.capture, int(length), name)

    def again() -> None:
        session.jobs().drop("race")
        session.jobs().get("race", key, begin).start()

    run = session.jobs().get("race", key, begin)
    if run.running:
        button(_("stop"), key="race_stop", on_click=run.stop)
    elif run.items or run.stopped:
        button(_("Race again"), key="race_again", on_click=again)
    else:
        button(_("Start the race"), key="race_start", type="primary", on_click=run.start)
    if run.length < int(length):
        shown = _(opened.runner.info.little_room).format(number=run.length, limit=limit)
        st.html(f"<p class='atlas-caption'>{shown}</p>", width="stretch")
    return run


def show_race(opened: PageContext, run: RaceRun) -> ExportBundle:
    """Show the race so far; it continues while the page is open."""
    progressive(run, lambda: _show(opened, run))
    return ExportBundle(
        name="kv-race",
        title=_("The race"),
        what=f"greedy continuation with and without the cache, on {opened.runner.info.device}; the book's times quoted",
        tables=lambda: race_tables(run),
        page=lambda title, words, lang: standalone(race_charts(run), title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg(race_charts(run), title=title, caption=words),
        code=f"\nasked = capture.request.going_on(max_new_tokens={run.length}, edits=(), attention=None)\n"
        "race = runner.race(asked)\n"
        "steps = list(race)  # one token of both lanes each\n"
        "with_cache = sum(step.cached_seconds for step in steps)\n"
        "without = sum(step.uncached_seconds for step in steps)\n"
        "equal = all(step.cached.id == step.uncached.id for step in steps)",
    )


def _finding(run: RaceRun) -> tuple[str, str]:
    """How much time and how many multiply-adds the cache saved so far."""
    (fast, slow), count = run.seconds, len(run.items)
    if slow >= fast:
        said = _("{ratio} times as fast with the cache").format(ratio=f"{slow / fast:.1f}")
    else:
        said = _("{ratio} times as slow with the cache: the text is too short").format(ratio=f"{fast / slow:.1f}")
    words = _("{count} tokens in {with_cache} s instead of {without} s")
    return escape(said), escape(words.format(count=count, with_cache=f"{fast:.2f}", without=f"{slow:.2f}"))


def _show(opened: PageContext, run: RaceRun) -> None:
    with st.container(key="race_finding"):  # present from the first run on, or all below it would be remounted
        if run.items:
            show_finding(*_finding(run), of_several=True)
    speed, work, *times = race_charts(run)
    for column, chart, key in zip(st.columns(2, gap="medium"), (speed, work), ("race_speed", "race_work"), strict=True):
        with column:
            _show_chart(run, chart, key)
    left, right = st.columns([0.42, 0.58], gap="medium")
    with left:
        _show_texts(run)
    with right:
        places = [*zip(st.columns(2, gap="medium"), ("race_times", "race_times_book"), strict=True)]
        for (column, key), chart in zip(
            places[-len(times) :], times, strict=True
        ):  # the book's bars are there from the start
            with column:
                _show_chart(run, chart, key)
        _say_whose(opened, run)


def _show_chart(run: RaceRun, chart: Chart, key: str) -> None:
    show_heading(chart.heading, chart.note)
    show_chart(chart, key=key, alt=f"{chart.heading}. {_summary(run)}", still=not run.running)


def race_charts(run: RaceRun) -> tuple[Chart, Chart, *tuple[Chart, ...]]:
    """Tokens per second and multiply-adds of each step so far, the latter also before the race, and the times."""
    names = (_("with the cache"), _("without"))
    steps = np.arange(1, len(run.items) + 1)
    rates = [_rates([getattr(step, name) for step in run.items]) for name in ("cached_seconds", "uncached_seconds")]
    speed = Lines(
        series=[Line(name, steps.tolist(), rate) for name, rate in zip(names, rates, strict=True)],
        x_title=_("step"), y_title=_("tokens / s"), x_range=(0, run.length), height=330,
        heading=_("Tokens per second"), note=_("measured; median of {count} steps").format(count=STEPS_SHOWN),
    )  # fmt: skip
    shown = len(run.items) or run.length
    steps = np.arange(1, shown + 1)
    work = Lines(
        series=[
            Line(name, steps.tolist(), counts[:shown].tolist())
            for name, counts in zip(names, (run.work.cached, run.work.uncached), strict=True)
        ],
        x_title=_("step"), y_title=_("multiply-adds"), x_range=(0, run.length), log_y=True, height=330,
        heading=_("Attention multiply-adds of each step"), note=_("counted; masked cells left out"),
    )  # fmt: skip
    return speed, work, *_times(run)


def _rates(seconds: list[float]) -> list[float]:
    """Tokens per second at each step, from the median time of the steps around it."""
    half = STEPS_SHOWN // 2
    around = [seconds[max(0, i - half) : i + half + 1] for i in range(len(seconds))]
    return [1 / float(np.median(few)) for few in around]


def _show_texts(run: RaceRun) -> None:
    differs = run.differs_at
    times = run.seconds
    ways = [
        TextEnding(
            name, _("{seconds} s").format(seconds=f"{seconds:.2f}"), [getattr(step, lane).text for step in run.items]
        )
        for name, lane, seconds in zip((_("with the cache"), _("without")), ("cached", "uncached"), times, strict=True)
    ]
    found = continuations(ways, differs_at=differs, heading=_("The same tokens?"), beside=_same(run, differs))
    show_html(found, key="race_texts")
    if any(step.is_end for step in run.items):
        note = _("The model would have ended its text; the race continues.")
        st.html(f"<p class='atlas-caption'>{note}</p>")


def _same(run: RaceRun, differs: int | None) -> str:
    if not run.items:
        return ""
    if differs is None:
        return _("equal: {count} of {count}").format(count=len(run.items))
    words = _("equal up to token {count}: there the two ways round differently")
    return words.format(count=differs)


def _summary(run: RaceRun) -> str:
    if not run.items:
        return ""
    (fast, slow), count = run.seconds, len(run.items)
    words = _("{count} tokens: {with_cache} s with the cache, {without} s without, {ratio} times as long.")
    return words.format(count=count, with_cache=f"{fast:.2f}", without=f"{slow:.2f}", ratio=f"{slow / fast:.1f}")


def _times(run: RaceRun) -> list[Bars]:
    """This machine's times, if there are any, and the book's, as charts with separate scales."""
    fast, slow = run.seconds
    here = _time_bars(fast, slow, _("Time here"), _("measured"))
    book = _time_bars(*QUOTED, _("Time in the book"), _("quoted"))
    return [here, book] if run.items else [book]


def _time_bars(fast: float, slow: float, heading: str, note: str) -> Bars:
    words = _("{seconds} s").format(seconds=three_digits(fast))
    if fast < slow:
        times = _("{seconds} s · {ratio} times as fast")
        words = times.format(seconds=three_digits(fast), ratio=f"{slow / fast:.1f}")
    return Bars(
        labels=[_("with the cache"), _("without")], values=[fast, slow],
        words=[words, _("{seconds} s").format(seconds=three_digits(slow))],
        colors=[0, 1], height=90, heading=heading, note=note,
    )  # fmt: skip  # the settings in a line


def _say_whose(opened: PageContext, run: RaceRun) -> None:
    """Say what was measured here and what is quoted."""
    quoted = _(
        "Book: quoted, not measured here: 100 tokens of Phi-3-mini on a T4 (Alammar & Grootendorst 2024, Hands-On "
        "Large Language Models). Times vary: its own notebook, run again, shows {with_cache} s and {without} s."
    ).format(with_cache=RERUN[0], without=RERUN[1])
    name, device = opened.runner.info.name, opened.runner.info.device
    here = _("Here: {count} tokens of {name} on {device}.").format(
        count=len(run.items),
        name=_("this model") if name == url_state.DEFAULT_MODEL else name,
        device={"cpu": _("this CPU"), "cuda": _("this GPU")}.get(device.partition(":")[0], device),
    )
    st.caption(f"{here} {quoted}".replace("$", "\\$"))


def race_tables(run: RaceRun) -> dict[str, pd.DataFrame]:
    """Every step with both times and both counts."""
    count = len(run.items)
    columns = {
        _("ms with the cache"): [1000 * step.cached_seconds for step in run.items],
        _("ms without"): [1000 * step.uncached_seconds for step in run.items],
        _("multiply-adds with the cache"): run.work.cached[:count],
        _("multiply-adds without"): run.work.uncached[:count],
    }
    index = [f"{step.position} {step.cached.text}" for step in run.items]
    return {_("The race, step by step"): pd.DataFrame(columns, index=index, dtype=float)}
