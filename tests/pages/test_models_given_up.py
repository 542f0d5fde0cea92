"""Work under way on a page whose model was given up for others and loaded again: it ends, asking the new runner."""

from __future__ import annotations

import gc
import weakref
from pkgutil import resolve_name

import pytest

from model_runner.errors import Cancelled
from model_runner.local.local_models import ModelKey
from tests.ui.driving import button, components, local_models, open_app, send, sentences, until

EDIT, SHARING, MASKS, CACHE = (f"pages/{name}/page.py" for name in ("edit_heads", "sharing", "masks", "kv_cache"))
PLACES = {
    "effects": (EDIT, {"heads": "effects"}, "effect_stop", "effect_start"),
    "patching": (EDIT, {"heads": "patching"}, "patch_stop", "patch_start"),
    "sharing": (SHARING, {"sharing": "counts"}, "sharing_stop", "sharing_on"),
    "sweep": (MASKS, {"masks": "sweep"}, "sweep_stop", "sweep_start"),
    "curve": (CACHE, {"kv": "what_if"}, "curve_stop", "curve_on"),
    "race": (CACHE, {"kv": "race", "race_length": "50"}, "race_stop", "race_again"),
}


def give_up(name: str = "default") -> weakref.ref[object]:
    """What the model cache does with the model that was not used for longest."""
    held = local_models()._held.pop(ModelKey(name)).result()
    held.worker.close()
    held.engine.cache.clear()
    return weakref.ref(held)


def ended(app, stop: str):
    until(app, lambda app: not button(app, stop))
    assert sentences(app) == []
    return app


@pytest.mark.table
@pytest.mark.parametrize(
    "place, stopped",
    [
        ("race", False),
        pytest.param("sweep", True, marks=pytest.mark.long),
        *(pytest.param(place, False, marks=pytest.mark.long) for place in PLACES if place != "race"),
    ],
)
def test_work_that_was_not_done_goes_on_with_the_model_loaded_anew(monkeypatch, place, stopped):
    page, address, stop, start = PLACES[place]
    text = f"{place} {stopped}"  # short, and of this test alone: nothing of it is known yet
    with monkeypatch.context() as patch:
        patch.setattr("jobs.incremental_task.BUDGET", 0.0)  # nothing comes of the first looks
        app = open_app(page=page, text=text, **address)
        assert button(app, stop)
        if stopped:
            app.button(key=stop).click().run()
            assert button(app, start)
        give_up()
    app.run()
    if button(app, start) and place != "race":
        app.button(key=start).click().run()
    app = ended(app, stop)
    assert place == "race" or not button(app, start)  # a race can be run again


def test_a_second_text_that_was_not_read_yet_is_read_by_the_model_loaded_anew(monkeypatch):
    def cancelled(*_) -> None:
        raise Cancelled()

    with monkeypatch.context() as patch:
        patch.setattr("ui.shared.second_capture.read", cancelled)  # as when another page asks in between
        app = open_app(page=EDIT, heads="patching", patch_text="The dog chased the squirrel while she")
        assert sentences(app) != []
        give_up()
    ended(app.run(), "patch_stop")
    assert "layer_head_map" in components(app)


def test_two_texts_are_drawn_by_the_model_loaded_anew():
    address = {"model": "translator", "text": "Tom reads the red book.", "query": "10"}
    app = open_app(page="pages/cell/page.py", **address)
    give_up("translator")
    send(app, "model_strip", "head", [1, 0, "cross"])
    assert sentences(app) == []


@pytest.mark.parametrize(
    "page, part, drawn",
    [
        ("cell", "ui.shell.page.show_badge", "cell_steps"),
        ("cell", "ui.state.session.asked", "cell_steps"),
        ("film", "jobs.generation_tree.GenerationTree.start", "film"),
        ("compare", "pages.compare.other._capture", "head_map"),
    ],
)
def test_a_page_whose_model_is_given_up_while_it_is_drawn_is_drawn_again(monkeypatch, page, part, drawn):
    times, whole = [], resolve_name(part)

    def once(*given, **named):
        times.append(1)
        if len(times) == 1:
            raise Cancelled()
        return whole(*given, **named)

    monkeypatch.setattr(part, once)
    app = open_app(page=f"pages/{page}/page.py", text="It was drawn again")
    assert len(times) >= 2
    assert drawn in components(app)
    assert "text" in app.query_params


def test_a_page_whose_model_is_given_up_again_and_again_says_so(monkeypatch):
    def never(*_given, **_named):
        raise Cancelled()

    monkeypatch.setattr("ui.state.session.asked", never)
    app = open_app(page="pages/cell/page.py")
    assert len(sentences(app)) == 1
    assert not app.exception


@pytest.mark.table
@pytest.mark.parametrize(
    "typed", [{}, pytest.param({"patch_text": "The dog chased the squirrel while she"}, marks=pytest.mark.long)]
)
def test_the_second_text_keeps_no_model_that_was_given_up(typed):
    if ModelKey("default") in local_models()._held:
        give_up()  # other sessions of this process may look with it
    app = ended(open_app(page=EDIT, heads="patching", **typed), "patch_stop")
    old = give_up()
    ended(app.run(), "patch_stop")
    gc.collect()
    assert old() is None
