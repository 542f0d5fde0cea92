"""Widgets of a page's state: each shows its field and changes it, in whatever language the browser last drew it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState
from streamlit.runtime.state import QueryParamsProxy
from streamlit.testing.v1 import AppTest

from ui.state.inputs import ECHO, on_change
from ui.state.url_state import DEFAULT_TEXT


def script() -> None:
    from dataclasses import asdict, dataclass
    from typing import ClassVar, Literal

    import streamlit as st

    from pages.masks.pick_several import pick_several
    from ui.state import controls, page_state, session, url_state
    from ui.state.inputs import draw_run_number, pick_one
    from ui.wording.i18n import language

    @dataclass(frozen=True)
    class Held:
        SCOPE: ClassVar[str] = ""

        shape: Literal["weights", "scores"] = page_state.setting("weights", "shape")
        sort: Literal["entropy", "induction"] = page_state.setting("entropy", "sort")
        scale: Literal["linear", "log"] = page_state.setting("linear", "scale")
        layers: tuple[int, ...] = page_state.setting((), "layers")
        hide: bool = page_state.setting(False, "hide")
        count: int = page_state.setting(3, "count")
        factor: float = page_state.setting(1.0, "factor")

    session.begin()
    held = page_state.current(Held)
    st.session_state["held"] = asdict(held)
    other = language() == "zh"
    shapes = {"weights": "权重" if other else "weights", "scores": "得分" if other else "scores"}
    controls.choose(Held, "shape", held.shape, shapes)
    sorts = {"entropy": "熵" if other else "Entropy", "induction": "归纳" if other else "Induction"}
    controls.pick(Held, "sort", held.sort, sorts)
    controls.steps(
        Held, "scale", held.scale, {"linear": "线性" if other else "linear", "log": "对数" if other else "log"}
    )
    names = {1: "一" if other else "one", 2: "二" if other else "two"}
    pick_several(Held, "layers", held.layers, names, none="all")
    controls.switch(Held, "hide", held.hide, "Hide")
    controls.number(Held, "count", held.count, (1, 9), "Count")
    controls.slider(Held, "factor", held.factor, (0.0, 4.0), "Factor")
    heard = st.session_state.setdefault("heard", [])
    pick_one("Number", "number", names, 2, heard.append, typed=lambda text: heard.append(f"typed {text}"))
    url_state.write()
    draw_run_number()


ELSEWHERE = {
    "shape": "scores",
    "sort": "induction",
    "scale": "log",
    "layers": "2",
    "hide": "1",
    "count": "5",
    "factor": "2.5",
}
WIDGETS = {  # field → how a browser knows its widget, its value at the default, and elsewhere
    "shape": ("button_group", "weights", "scores"),
    "sort": ("selectbox", "entropy", "induction"),
    "scale": ("select_slider", "linear", "log"),
    "layers": ("multiselect", [], [2]),
    "hide": ("toggle", False, True),
    "count": ("number_input", 3, 5),
    "factor": ("slider", 1.0, 2.5),
}
LISTS = ("shape", "sort", "scale", "layers")  # what a browser sends of these is words


def opened(**address: str) -> AppTest:
    app = AppTest.from_function(script, default_timeout=60)
    app.query_params.update({"text": DEFAULT_TEXT} | address)
    app.run()
    assert not app.exception
    return app


def widget(app: AppTest, name: str) -> Any:
    return getattr(app, WIDGETS[name][0])(key=name)


def worded() -> AppTest:
    """Everything elsewhere, and then in another language, whose words the browser has not drawn yet."""
    app = opened(**ELSEWHERE)
    app.session_state["parts"]["lang"] = "zh"
    return app.run()


def not_drawn(app: AppTest) -> None:
    """A browser that has not drawn the last run."""
    echo = app.number_input(key=ECHO)
    echo.set_value(echo.value - 1)


def sent(app: AppTest, kind: str, key: str, words: str) -> AppTest:
    """Run again with the words that a browser sends for a list, which need not be words of now."""
    states = app._tree.get_widget_states()
    identity = next(element.proto.id for element in app.get(kind) if element.key == key)
    state = next(state for state in states.widgets if state.id == identity)
    if kind == "selectbox":
        state.string_value = words
    else:
        state.string_array_value.data[:] = [words]
    app = app._run(states)
    assert not app.exception
    return app


@pytest.mark.parametrize("name", WIDGETS)
def test_a_widget_shows_its_field_of_the_address(name):
    _kind, usual, elsewhere = WIDGETS[name]
    assert widget(opened(), name).value == usual
    assert widget(opened(**{name: ELSEWHERE[name]}), name).value == elsewhere


@pytest.mark.parametrize("name", WIDGETS)
def test_what_a_browser_shows_that_has_not_heard_of_a_newer_value_is_not_taken_for_chosen(name):
    """Its address may be the new one already: a run writes that before the page draws its widgets."""
    _kind, usual, elsewhere = WIDGETS[name]
    app = opened()
    app.session_state["parts"][name] = ELSEWHERE[name]  # by a click beside it
    app.run()
    there = app.session_state["held"][name]
    for _ in range(2):
        not_drawn(app)
        widget(app, name).set_value(usual).run()
        assert app.session_state["held"][name] == there
        assert widget(app, name).value == elsewhere
    widget(app, name).set_value(usual).run()  # now it has heard: its reader wants what it was
    assert app.session_state["held"][name] != there
    assert widget(app, name).value == usual


def test_a_server_that_was_started_again_takes_no_number_of_before_for_its_own():
    app = opened()
    app.session_state["parts"]["shape"] = ELSEWHERE["shape"]
    app.run()
    app.number_input(key=ECHO).set_value(57)  # of the runs of another
    widget(app, "shape").set_value("weights").run()
    assert app.session_state["held"]["shape"] == "scores"


def test_what_a_part_gave_is_heard_of_by_the_browser_s_own_message_not_of_a_run_in_another_thread(monkeypatch):
    """Streamlit (1.67) has one ``st.query_params`` for all runs of a session, also for one that is being stopped."""
    app = opened()
    with monkeypatch.context() as alone:
        alone.setattr("ui.state.inputs.in_fragment", lambda: True)
        app.session_state["parts"]["shape"] = ELSEWHERE["shape"]
        app.run()
    app.query_params.clear()
    widget(app, "shape").set_value("weights").run()
    assert app.session_state["held"]["shape"] == "scores"
    monkeypatch.setattr(QueryParamsProxy, "to_dict", lambda _self: {"of": "another run"})
    widget(app, "shape").set_value("weights").run()
    assert app.session_state["held"]["shape"] == opened().session_state["held"]["shape"]


@pytest.mark.parametrize("stands_in, heard", [(None, False), ("another part", False), ("the part", True)])
def test_while_a_part_runs_alone_only_what_stands_in_it_was_chosen_in(monkeypatch, stands_in, heard):
    """Its message takes along what widgets outside show, and are on their way from: Back, and a film asks."""
    run = SimpleNamespace(fragment_ids_this_run=["the part"], query_string="")
    monkeypatch.setattr("ui.state.inputs.get_script_run_ctx", lambda **_: run)
    monkeypatch.setattr("ui.state.inputs._heard", lambda _run: True)
    chosen: list[int] = []
    ThreadState.initialize(fragment_id=stands_in)
    on_change("a widget", chosen.append, lambda: 7)()
    assert chosen == [7] * heard


@pytest.mark.parametrize("name", WIDGETS)
def test_what_is_chosen_twice_before_the_browser_hears_of_the_first_counts(name):
    _kind, usual, elsewhere = WIDGETS[name]
    app = opened()
    before = app.session_state["held"][name]
    widget(app, name).set_value(elsewhere).run()
    not_drawn(app)
    widget(app, name).set_value(usual).run()
    assert app.session_state["held"][name] == before


@pytest.mark.parametrize("name", WIDGETS)
def test_a_change_counts_in_the_same_run_and_stays_until_the_default_leaves_the_address(name):
    _kind, usual, elsewhere = WIDGETS[name]
    app = opened()
    before = app.session_state["held"]
    widget(app, name).set_value(elsewhere)
    app.run()
    assert app.session_state["held"] == opened(**{name: ELSEWHERE[name]}).session_state["held"] != before
    assert app.query_params == {name: ELSEWHERE[name]}
    assert widget(app.run(), name).value == elsewhere
    widget(app, name).set_value(usual)
    app.run()
    assert app.session_state["held"] == before
    assert app.query_params == {}


def set_widgets(app: AppTest) -> list[str]:
    """Those whose value the last run set; what that tells a browser undoes what its reader chooses meanwhile."""
    assert not app.exception
    return [name for name in WIDGETS if widget(app, name).proto.set_value]


def test_a_value_is_set_once_and_what_the_reader_sets_is_not():
    app = opened(**ELSEWHERE)
    assert set_widgets(app) == [*WIDGETS]
    assert set_widgets(app.run()) == []
    widget(app, "shape").set_value("weights")
    assert set_widgets(app.run()) == []
    assert app.session_state["held"]["shape"] == "weights"
    app.session_state["parts"]["shape"] = "scores"
    assert set_widgets(app.run()) == ["shape"]
    assert set_widgets(app.run()) == []


def test_who_goes_back_has_every_value_set_for_the_run_before_may_not_have_been_drawn(monkeypatch):
    app = opened(shape="scores")
    monkeypatch.setattr("ui.state.session.is_history_navigation", lambda: True)
    app.query_params["shape"] = "scores"
    assert set_widgets(app.run()) == [*WIDGETS]


def test_what_a_fragment_sets_is_set_once_more_by_the_run_that_it_asks_for(monkeypatch):
    app = opened()
    app.run()
    with monkeypatch.context() as alone:
        alone.setattr("ui.state.inputs.in_fragment", lambda: True)
        app.session_state["parts"]["shape"] = "scores"
        assert set_widgets(app.run()) == ["shape"]
    assert set_widgets(app.run()) == ["shape"]
    assert set_widgets(app.run()) == []


def test_a_list_whose_words_are_others_is_set_again():
    app = worded()
    assert all(widget(app, name).proto.set_value for name in LISTS)
    assert widget(app, "shape").proto.raw_values == ["得分"]
    assert widget(app, "sort").proto.raw_value == "归纳"
    assert not any(widget(app.run(), name).proto.set_value for name in LISTS)


@pytest.mark.parametrize(
    "name, words, wanted",
    [
        ("shape", "scores", "scores"),
        ("shape", "权重", "weights"),
        ("scale", "log", "log"),
        ("scale", "线性", "linear"),
        ("sort", "Induction", "induction"),
        ("sort", "Entropy", "entropy"),
        ("sort", "熵", "entropy"),
        ("layers", "one", (1,)),
        ("layers", "一", (1,)),
    ],
)
def test_words_of_before_are_the_option_that_they_were(name, words, wanted):
    app = worded()
    before = app.session_state["held"]
    assert sent(app, WIDGETS[name][0], name, words).session_state["held"] == before | {name: wanted}


@pytest.mark.parametrize("name", ["shape", "sort", "scale"])
def test_what_is_no_option_and_never_was_is_refused(name):
    app = worded()
    before = app.session_state["held"]
    assert sent(app, WIDGETS[name][0], name, "nonsense").session_state["held"] == before


def test_a_list_that_takes_what_is_typed_is_told_options_by_any_of_their_words():
    app = worded()
    for words in ("one", "一", "three"):
        sent(app, "selectbox", "number", words)
    assert app.session_state["heard"] == [1, 1, "typed three"]
