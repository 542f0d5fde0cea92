"""The page Generation film without a browser: what the picture asks for comes, and its text opens elsewhere."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from analysis.film import choice
from model_runner import CaptureRequest, GenerateRequest, Sampling, Step, load_runner
from model_runner.questions import Beams
from model_runner.transforms import DEFAULT
from pages.film.export import code, film_view
from tests.ui.driving import beside_head, go, html, open_app, payload, send, sentences, type_text
from tests.ui.taken import ran
from ui.state.selection import ModelOptions
from ui.state.url_state import DEFAULT_TEXT
from ui.wording import i18n

PAGE = "pages/film/page.py"
PROMPT = 8  # tokens of the default text


@functools.cache
def steps(count: int = 20, sampling: Sampling = Sampling(), forced: tuple[int, ...] = ()) -> tuple[Step, ...]:  # noqa: B008  # a frozen value
    request = GenerateRequest(DEFAULT_TEXT, count, sampling, continuation=forced)
    return tuple(load_runner("default").generate(request))


def ids(count: int, sampling: Sampling | None = None) -> list[int]:
    return [step.token.id for step in steps(20, sampling or Sampling())][:count]


def film(app: AppTest) -> dict[str, Any]:
    return payload(app, "film")[0]


def tokens(app: AppTest) -> list[int]:
    return [frame["token"] for frame in film(app)["frames"]][1:]


def more(app: AppTest, count: int) -> AppTest:
    """Ask as the picture does, until so many tokens are there: an answer brings what a moment could make."""
    for ask in range(1, 50):
        have = len(film(app)["frames"])
        if have > count or film(app)["stop"]:
            break
        asked = {"film": film(app)["film"], "have": have, "at": count, "wanted": count + 1 - have, "ask": ask}
        send(app, "film", "more", asked)
    return app


def force(app: AppTest, frame: int, token: int) -> AppTest:
    return send(app, "film", "force", {"film": film(app)["film"], "frame": frame, "token": token})


def key_of(app: AppTest) -> tuple[Any, ...]:
    """What the session keeps its film by: text, model, no sound of the reader's own, and what is beside them."""
    beside = ModelOptions()
    asked = (app.session_state["text"], "default", None, beside.adapter, beside.chat, "", "cross", "")
    return *asked, beside.source_language, beside.target_language


def opened(film: Any) -> Any:
    """As the page's files are made of it."""
    given = {"capture": film.capture(lambda: None), "runner": film.runner, "layer": 0, "head": 0}
    return type("PageContext", (), given)()


def test_the_page_opens_on_the_prompt_with_one_token_ready():
    app = open_app(page=PAGE)
    assert sentences(app) == []
    meta, arrays = payload(app, "film")
    assert (len(meta["frames"]), meta["at"], meta["limit"], meta["stop"]) == (2, 0, 20, "")
    assert meta["prompt"]["labels"][-1] == "·it"
    assert meta["frames"][0]["token"] is None
    assert arrays["k"].shape == (PROMPT + 1, 32)
    assert "atlas-badge ok" in html(app)
    assert beside_head(app) == {}


def test_the_frames_are_the_generators_steps():
    app = more(open_app(page=PAGE), 6)
    assert tokens(app)[:6] == ids(6)
    for frame, step in zip(film(app)["frames"][1:7], steps()):
        found = choice(step.stages, step.token.id, "sampled")
        assert (frame["rank"], frame["n_kept"]) == (found.rank, found.n_kept)
        assert frame["probability"] == pytest.approx(found.probability, rel=1e-4)
        assert frame["tokens"] == [one.id for one in found.candidates]
        np.testing.assert_allclose(frame["finals"], [one.final for one in found.candidates], rtol=1e-4)
        assert frame["label"] == step.token.text


def test_a_frame_shows_one_distribution_the_one_of_the_next_token_page():
    app = open_app(page=PAGE, temperature="2")
    done = steps(1, Sampling(temperature=2.0))[0].stages
    for frame in film(app)["frames"][:2]:
        assert frame["changed"]
        assert sum(frame["finals"]) + frame["final_rest"] == pytest.approx(1, abs=1e-5)
    first = film(app)["frames"][0]
    assert first["final_rest"] > 0.2
    assert first["final_entropy"] == pytest.approx(done[-1].entropy, rel=1e-4)
    assert first["entropy"] == pytest.approx(done[0].entropy, rel=1e-4)


def test_the_files_name_every_setting_that_differs(monkeypatch):
    order = DEFAULT.order[::-1]
    app = open_app(page=PAGE, temperature="0.8", typical_p="0.9", transforms="-".join(order), seed="4")
    held = app.session_state["jobs"].get("film", key_of(app), lambda _: None)
    written = repr(Sampling(temperature=0.8, typical_p=0.9, order=order, seed=4))
    assert written in code(held)
    monkeypatch.setattr(i18n, "language", lambda: "en")
    assert written in film_view(opened(held), held, every_head=False).what


def test_the_bytes_of_a_character_of_the_prompt_are_one_chip_and_one_head_alone_has_no_strip():
    app = open_app(page=PAGE, text="龘麤 a", onehead="1")
    assert (film(app)["view"]["heads"], payload(app, "film")[1]["strips"].size) == ([], 0)
    prompt = film(app)["prompt"]
    assert [unit[0] for unit in prompt["units"]] == ["⟨bos⟩", "龘", "麤", "·a"]
    assert [unit[1] for unit in prompt["units"]] == [0, 1, 3, len(prompt["labels"]) - 1]
    assert prompt["units"][0][2] is True


def test_the_row_of_a_frame_is_the_open_heads_and_the_strip_has_it_too():
    app = more(open_app(page=PAGE, layer="3", head="7"), 4)
    meta, arrays = payload(app, "film")
    end = np.cumsum(meta["widths"])
    capture = steps()[-1].capture
    row = arrays["rows"][end[3] : end[4]]
    np.testing.assert_allclose(row, capture.weights(3, 7)[PROMPT + 3, : PROMPT + 4].numpy(), atol=1e-5)
    rows = meta["view"]["heads"]
    strip = arrays["strips"][len(rows) * end[3] : len(rows) * end[4]].reshape(len(rows), -1)
    np.testing.assert_allclose(strip[rows.index([3, 7])] / 254, row, atol=1 / 254)


def test_after_the_newest_token_the_models_own_prediction_is_there_before_anything_is_drawn():
    app = more(open_app(page=PAGE, length="3"), 3)
    text = "".join(step.token.text.replace("·", " ") for step in steps()[:3])
    capture = load_runner("default").capture(CaptureRequest(DEFAULT_TEXT + text))
    expected = capture.logits(-1).softmax(0).topk(12)
    found = film(app)["ahead"]
    assert (found["token"], found["tokens"]) == (None, expected.indices.tolist())
    np.testing.assert_allclose(found["probabilities"], expected.values.numpy(), rtol=1e-3)


def test_an_answer_brings_only_the_frames_that_the_picture_lacks(monkeypatch):
    app = more(open_app(page=PAGE), 3)
    sent: list[int] = []
    from pages.film import views as film_views

    original = film_views.film_payload

    def watched(*args: Any, **options: Any) -> bytes:
        sent.append(options["base"])
        return original(*args, **options)

    monkeypatch.setattr(film_views, "film_payload", watched)
    asked = {"film": film(app)["film"], "have": 3, "at": 2, "wanted": 1, "ask": 9}
    send(app, "film", "more", asked)
    assert sent == [0]  # without a browser every run is of the whole page, which sends everything
    assert film(app)["answered"] == 9


def test_a_click_in_the_picture_opens_a_head_for_the_whole_page():
    app = more(open_app(page=PAGE), 3)
    name, before = film(app)["film"], tokens(app)
    send(app, "film", "head", [2, 5])
    assert film(app)["view"]["head"] == [2, 5]
    assert (film(app)["film"], tokens(app)) == (name, before)
    assert (app.query_params["layer"], app.query_params["head"]) == ("2", "5")


def test_a_forced_token_branches_and_the_tree_has_both_ways():
    app = more(open_app(page=PAGE), 5)
    other = film(app)["frames"][3]["tokens"][2]
    send(app, "film", "force", {"film": "another", "frame": 1, "token": 5})  # is not heard
    assert tokens(app)[:3] == ids(3)
    force(app, 3, other)
    assert tokens(app) == [*ids(2), other]
    assert (film(app)["at"], film(app)["frames"][3]["how"]) == (3, "forced")
    tree = payload(app, "token_tree")[0]
    assert tree["n_branches"] == 2
    assert tree["opened"] == ".".join(map(str, tokens(app)))
    assert app.query_params["film.forced"] == f"2.{other}"
    more(app, 6)
    assert tokens(app)[3:6] == [step.token.id for step in steps(3, forced=tuple(tokens(app)[:3]))]


def test_a_node_of_the_tree_opens_the_other_way_where_it_was():
    app = more(open_app(page=PAGE), 5)
    force(app, 3, film(app)["frames"][3]["tokens"][2])
    send(app, "token_tree", "node", ".".join(map(str, ids(4))))
    assert tokens(app)[:5] == ids(5)
    assert (film(app)["at"], payload(app, "token_tree")[0]["frame"]) == (4, ".".join(map(str, ids(4))))


def test_other_settings_start_a_new_film_and_the_old_one_stays_a_branch():
    app = more(open_app(page=PAGE), 4)
    app.slider(key="sampling.temperature").set_value(0.0).run()
    assert film(app)["at"] == 0
    assert film(app)["frames"][1]["how"] == "greedy"
    assert film(app)["frames"][1]["rank"] == 1
    assert payload(app, "token_tree")[0]["n_branches"] == 2
    assert app.query_params["sampling.temperature"] == "0"
    app.slider(key="sampling.temperature").set_value(1.0).run()
    assert tokens(app)[:4] == ids(4)


def test_the_length_can_grow_without_a_new_film():
    app = more(open_app(page=PAGE, length="2"), 2)
    assert (len(tokens(app)), film(app)["stop"]) == (2, "limit")
    name = film(app)["film"]
    app.number_input(key="film.length").set_value(5).run()
    assert (film(app)["film"], film(app)["stop"]) == (name, "")
    assert tokens(more(app, 5)) == ids(5)


def test_a_copied_address_makes_the_same_film():
    app = more(open_app(page=PAGE, temperature="0.8", seed="4"), 4)
    force(app, 2, film(app)["frames"][2]["tokens"][1])
    more(app, 6)
    address = dict(app.query_params)
    assert address["film.steps"] == "6"
    again = more(open_app(page=PAGE, **address), 6)
    assert film(again)["goal"] == film(again)["at"] == 6
    assert tokens(again) == tokens(app)
    assert [frame["how"] for frame in film(again)["frames"]] == [frame["how"] for frame in film(app)["frames"]]


@pytest.mark.parametrize(
    "name, value, said",
    [
        ("forced", "abc", "“abc” is not a number for forced tokens."),
        ("forced", "-1-5", "“” is not a number for forced tokens."),
        ("forced", "0-99999", "“0.99999” is not a number for forced tokens."),
        ("film.forced", "700.5", "“700.5” is not a number for forced tokens."),
        ("length", "9999", "The number of tokens is 9999; it may be at most 500."),
    ],
)
def test_what_makes_no_sense_is_one_sentence(name, value, said):
    app = open_app(page=PAGE, **{name: value})
    assert sentences(app) == [said]
    assert tokens(app) == ids(1)
    assert beside_head(app) == {}


def test_the_frame_where_the_reader_stays_is_in_the_address_and_opens_again():
    app = more(open_app(page=PAGE), 5)
    assert "film.frame" not in app.query_params  # at the newest
    have = len(film(app)["frames"])
    send(app, "film", "rest", {"film": "another", "have": have, "at": 1})
    assert "film.frame" not in app.query_params
    send(app, "film", "rest", {"film": film(app)["film"], "have": have, "at": 2})
    assert (app.query_params["film.frame"], app.query_params["film.steps"]) == ("2", str(have - 1))
    again = more(open_app(page=PAGE, **app.query_params), 5)
    assert (film(again)["goal"], tokens(again)[:5]) == (have - 1, ids(5))
    assert film(open_app(page=PAGE, **app.query_params))["at"] == 2
    go(app, "pages/heads/page.py")
    go(app, PAGE)
    assert (film(app)["at"], tokens(app)[:5]) == (2, ids(5))


def test_another_text_is_another_film():
    app = type_text(more(open_app(page=PAGE), 5), "The capital of France is")
    assert len(tokens(app)) == 1
    assert film(app)["prompt"]["labels"][-1] == "·is"
    assert "film.steps" not in app.query_params


def test_beams_join_the_tree_and_one_of_them_opens():
    app, asked = more(open_app(page=PAGE, length="4"), 2), Beams(GenerateRequest(DEFAULT_TEXT, 4), 3)
    app.selectbox(key="film_width").set_value(3)
    app.button(key="film_beams").click().run()
    tree = payload(app, "token_tree")[0]
    assert tree["n_branches"] > 3
    assert app.query_params["film.beams"] == "3"
    again = payload(more(open_app(page=PAGE, length="4", **{"film.beams": "3"}), 2), "token_tree")[0]
    assert (again["ids"], again["n_branches"]) == (tree["ids"], tree["n_branches"])
    best = next(node for i, node in enumerate(tree["ids"]) if "beam 1" in tree["names"].get(str(i), []))
    send(app, "token_tree", "node", best)
    assert ".".join(map(str, tokens(app))) == best
    assert tuple(tokens(app)) == load_runner("default").submit(asked).result().ranking[0].beam.ids


def test_the_snippet_makes_the_same_tokens():
    app = more(open_app(page=PAGE), 3)
    force(app, 3, film(app)["frames"][3]["tokens"][2])
    more(app, 5)
    held = app.session_state["jobs"].get("film", key_of(app), lambda _: None)
    names = ran(code(held))
    assert list(names["ids"]) == tokens(app)
    assert len(names["capture"].tokens) == PROMPT + len(tokens(app))


@pytest.mark.parametrize("seed", ["-3", str(2**40), str(10**30)])
def test_a_film_of_any_seed_opens_and_the_seed_stays(seed):
    app = more(open_app(page=PAGE, seed=seed), 2)
    assert app.query_params["sampling.seed"] == seed
    boxes = [*app.number_input, *app.text_input]
    assert [str(box.value) for box in boxes if box.label == "Seed"] == [seed]
