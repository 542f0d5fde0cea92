"""The parts of the page Next token: its position, the sampling bench, and its numbers as tables."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from analysis.joined import first_query
from analysis.next_token import end_of_text
from model_runner import Capture
from model_runner.edits import check_growing
from model_runner.errors import CannotContinue, EncoderSaysNothing, RunnerError, ScoresClasses
from model_runner.sampling import MODEL, Stage, stages
from model_runner.transforms import DEFAULT, TRANSFORMS, Sampling
from pages.next_token.state import NextTokenState, state
from ui.shared import cached
from ui.shared.sampling_settings import KINDS, current, values_of
from ui.shell.components import mount
from ui.shell.page import PageContext, translated
from ui.state.page_state import change
from ui.state.page_state import current as now
from ui.state.session_value import SessionValue
from ui.wording.i18n import _, language
from ui.wording.sentences import number
from viz.components.packing import JSON
from viz.components.sampling_bench import sampling_bench as picture
from viz.token_text import lone_spaces

N_ = str  # marks a text for Babel without translating it here

BOTH_WAYS = N_("its tokens also look at those after them, so none is the next one")
LISTED = 20  # tokens in the table
KEY = "sampling_bench"


@dataclass(frozen=True, eq=False)
class Bench:
    """The token after ``query`` and how it is chosen: by settings A and, if ``compare``, by B beside it.

    ``previous`` are the ids before it; ``find`` is the marked token's id.
    """

    opened: PageContext
    query: int
    previous: tuple[int, ...]
    labels: list[str]
    a: Sampling
    b: Sampling
    compare: bool
    draws: int
    find: int | None

    @property
    def settings(self) -> dict[str, Sampling]:
        """The settings in view, by name."""
        return {"A": self.a, "B": self.b} if self.compare else {"A": self.a}

    @property
    def position(self) -> int:
        """The token's position in the generated text, which selects the random numbers that draw it."""
        return self.query + 1 - first_query(self.capture)

    @property
    def capture(self) -> Capture:
        """The text."""
        return self.opened.capture

    def stages(self, sampling: Sampling) -> tuple[Stage, ...]:
        """The effect of the settings on the model's logits, one transform after another."""
        return stages(self.capture.logits(self.query), sampling, self.previous)

    def likeliest(self, count: int) -> list[int]:
        """The ids of the model's likeliest tokens."""
        return self.capture.logits(self.query).argsort(descending=True, stable=True)[:count].tolist()

    @property
    def after(self) -> str:
        """The end of the text before the token."""
        return self._end[0]

    @property
    def texts(self) -> dict[str, str]:
        """The picture's texts."""
        texts = translated(picture.TEXTS)
        return texts | {"after": texts["after_all"]} if self._end[1] else texts

    @property
    def _end(self) -> tuple[str, bool]:
        return end_of_text(cached.chips(self.capture), self.query + 1, first=first_query(self.capture))


def read_bench(opened: PageContext) -> Bench:
    """The bench for the pinned query or the last token. Invalid URL parameters are reported and replaced.

    Raises NoLogits, ScoresClasses, BrokenLogits, CannotContinue for a bidirectional model, and EditNotPossible for an
    edit that makes it one.
    """
    capture, runner = opened.capture, opened.runner
    if runner.info.classes:
        raise ScoresClasses(name=runner.info.name, count=len(runner.info.classes))
    if capture.request.attention == "encoder":
        raise EncoderSaysNothing()
    query = len(capture.tokens) - 1 if opened.query is None else opened.query
    logits = capture.logits(query)  # a model that predicts no tokens is reported first
    if capture.record(opened.layer).mask.sees_ahead(len(capture.tokens)):
        check_growing(capture.request.edits)  # otherwise it is not the model that is bidirectional
        raise CannotContinue(name=runner.info.name, family=runner.info.family, reason=BOTH_WAYS)
    stages(logits, DEFAULT, ())  # raises BrokenLogits before anything is drawn
    request = capture.request
    labels = cached.made(
        ("vocabulary", request.model, request.revision, len(logits)),
        lambda: [runner.token_text(token) for token in range(len(logits))],
    )
    held = state(len(logits))
    return Bench(
        opened=opened,
        query=query,
        previous=tuple(token.id for token in capture.tokens[first_query(capture) : query + 1]),
        labels=labels,
        a=current("a"),
        b=current("b"),
        compare=held.compare,
        draws=held.draws,
        find=held.find,
    )


def finding(bench: Bench) -> tuple[str, str]:
    """The model's likeliest token, after which text; HTML."""
    likeliest = bench.likeliest(1)[0]
    share = float(bench.capture.logits(bench.query).double().softmax(-1)[likeliest])
    label = bench.labels[likeliest]
    token = label.strip("·") or lone_spaces(label)
    said = _("The model expects “{token}”: {share}").format(
        token=f"<bdi>{escape(token)}</bdi>", share=escape(number(share, "share"))
    )
    return said, escape(_("the model alone, before the settings"))


@dataclass
class Sent:
    """What the picture was sent: for which token, the ``number`` of its settings, and its current settings."""

    key: Hashable
    number: int
    settings: Hashable
    data: bytes


SENT = SessionValue[Sent | None]("next_token_sent", lambda: None)


def show_bench(bench: Bench) -> None:
    """Mount the picture. It holds its settings itself and reports changes, so its payload stays the same.

    A new payload is sent if the settings changed elsewhere: by a lesson's step, by Back, or on the film.
    """
    key = bench.capture.request, bench.query, language()
    settings = bench.a, bench.b, bench.compare, bench.draws, bench.find
    held = SENT.get()
    other = held is not None and held.settings != settings
    if held is None or other or held.key != key or KEY not in st.session_state:  # not on the screen in the previous run
        number = held.number + other if held else 0
        held = Sent(key, number, settings, bench_payload(bench, number))
        SENT.set(held)
    mount(picture.SOURCE, held.data, key=KEY, on={"settings": remember})


def _plain(sampling: Sampling) -> dict[str, JSON]:
    return {**asdict(sampling), "order": list(sampling.order), "seed": str(sampling.seed)}


def bench_payload(bench: Bench, number: int = 0) -> bytes:
    """The payload; ``number`` counts the settings that the picture has to take over."""
    tokens = bench.capture.tokens
    return picture.SamplingBenchPicture(
        logits=bench.capture.logits(bench.query).numpy(force=True),
        labels=bench.labels,
        previous=bench.previous,
        position=bench.position,
        after=bench.after,
        actual=tokens[bench.query + 1].id if bench.query + 1 < len(tokens) else None,
        start=picture.Start(_plain(bench.a), _plain(bench.b), bench.compare, bench.draws, bench.find, number),
        transforms={name: transform.described(len(bench.labels), _) for name, transform in TRANSFORMS.items()},
        texts=bench.texts,
    ).packed()


def remember(told: Mapping[str, Any]) -> None:
    """Store the picture's settings for this page, the next ones and the URL."""
    for bench, kind in KINDS.items():
        given: dict[str, Any] = dict(told[bench])
        given |= {"order": tuple(given["order"]), "seed": int(given["seed"])}
        try:
            sampling = Sampling(**given)
        except RunnerError:  # the picture offers only valid settings
            continue
        change(kind, **values_of(sampling if bench == "a" or told["compare"] else DEFAULT))
    find = None if told["find"] is None else int(told["find"])
    change(NextTokenState, compare=bool(told["compare"]), draws=int(told["draws"]), find=find)
    held = SENT.get()
    # otherwise it is sent its own settings again, to take them over
    if held is not None and held.number == told["number"]:
        page = now(NextTokenState)
        held.settings = current("a"), current("b"), page.compare, page.draws, page.find


# -- tables -----------------------------------------------------------------------------------------------------------


def tables_of(bench: Bench) -> dict[str, pd.DataFrame]:
    """Every stage with what it kept, and the likeliest tokens with their probability at every stage."""
    tables: dict[str, pd.DataFrame] = {}
    order = bench.likeliest(LISTED)
    if bench.find is not None and bench.find not in order:
        order.append(bench.find)
    for name, sampling in bench.settings.items():
        done = bench.stages(sampling)
        names = [_(picture.TEXTS[MODEL] if stage.name == MODEL else TRANSFORMS[stage.name].label) for stage in done]
        title = f"{_('Settings {name}').format(name=name)} · " if bench.compare else ""
        kept = {
            _("tokens kept"): [float(stage.kept) for stage in done],
            _("kept mass"): [stage.kept_mass for stage in done],
            _("entropy, bits"): [stage.entropy for stage in done],
        }
        tables[title + _("Stages")] = pd.DataFrame(kept, index=names)
        columns = [stage.probabilities[order].tolist() for stage in done]
        rows = [f"{token} {bench.labels[token]}" for token in order]
        tables[title + _("Probabilities")] = pd.DataFrame(dict(zip(names, columns)), index=rows)
    return tables
