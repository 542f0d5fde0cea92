"""The ways of a film in the address: all of the tree opens again, and Back takes one step of it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect
from streamlit.testing.v1 import AppTest

from jobs.branches import BranchKey
from model_runner import Sampling, load_runner
from model_runner.transforms import DEFAULT
from pages.film.state import LONGEST_WAYS
from pages.film.ways import MOST, written
from tests.browser import PATIENCE
from tests.pages.test_film import PAGE, film, force, ids, more, tokens
from tests.pages.visiting import address, text_box, visit, wait_for_rest
from tests.ui.driving import beside_head, open_app, payload, send, sentences


def tree(app: AppTest) -> dict[str, Any]:
    return payload(app, "token_tree")[0]


def settled(app: AppTest) -> AppTest:
    """As the picture asks: for the open way first, then for what is still to be made of the others."""
    name, at = film(app)["film"], film(app)["at"]
    for ask in range(1, 100):
        have = len(film(app)["frames"])
        wanted = 0 if film(app)["stop"] else max(0, film(app)["goal"] + 1 - have)
        if not wanted and not film(app)["pending"]:
            break
        send(app, "film", "more", {"film": name, "have": have, "at": at, "wanted": wanted, "ask": ask})
    return app


def typed(app: AppTest, words: str) -> AppTest:
    app.text_input(key="film_typed").set_value(words).run()
    return app


def test_any_token_can_be_forced_by_typing_it():
    runner, app = load_runner("default"), more(open_app(page=PAGE), 4)
    rare = runner.ids_of(" water")
    assert len(rare) == 1
    assert rare[0] not in film(app)["frames"][2]["tokens"]  # the list has no such token to click on
    send(app, "film", "rest", {"film": film(app)["film"], "have": len(film(app)["frames"]), "at": 1})
    typed(app, "water")
    assert tokens(app)[:2] == [ids(1)[0], rare[0]]
    assert (film(app)["at"], film(app)["frames"][2]["how"]) == (2, "forced")
    assert app.query_params["film.forced"] == f"1.{rare[0]}"
    assert tree(app)["n_branches"] == 2
    assert app.text_input(key="film_typed").value == ""


def test_at_the_prompt_the_next_token_is_typed_and_what_is_none_is_said_and_stays_in_the_box():
    app = typed(open_app(page=PAGE), "two words")
    count = len(load_runner("default").ids_of("two words"))
    assert [f"“two words” is not one token of this model but {count}: " in said for said in sentences(app)] == [True]
    assert (tokens(app), app.text_input(key="film_typed").value) == (ids(1), "two words")
    typed(app, "·water")
    assert sentences(app) == []
    assert tokens(app)[:1] == list(load_runner("default").ids_of(" water"))  # and one more ahead


def test_an_address_opens_every_way_of_the_tree_again():
    app = more(open_app(page=PAGE, length="6"), 6)
    force(app, 3, film(app)["frames"][3]["tokens"][2])
    more(app, 5)
    app.slider(key="sampling.temperature").set_value(0.5).run()
    more(app, 4)
    app.selectbox(key="film_width").set_value(2)
    app.button(key="film_beams").click().run()
    beam = next(node for i, node in enumerate(tree(app)["ids"]) if "beam 1" in tree(app)["names"].get(str(i), []))
    send(app, "token_tree", "node", beam)
    more(app, 6)
    send(app, "token_tree", "node", ".".join(map(str, ids(4))))  # the first way, which has the order's first place
    held = app.query_params.copy()
    assert "open~~" in held["film.ways"]
    assert "~beam.0." in held["film.ways"]

    again = open_app(page=PAGE, **held)
    assert film(again)["pending"]
    assert tree(again)["n_branches"] < tree(app)["n_branches"]
    settled(again)
    assert again.query_params == held
    before, after = tree(app), tree(again)
    assert {**before, "texts": 0} == {**after, "texts": 0}
    assert tokens(again) == tokens(app) == ids(6)[: len(tokens(app))]


def test_a_way_is_made_again_up_to_a_length_set_lower_alone():
    app = more(open_app(page=PAGE, length="6"), 6)
    app.slider(key="sampling.temperature").set_value(0.5).run()
    more(app, 6)
    app.number_input(key="film.length").set_value(2).run()
    assert {len(node.split(".")) for node in tree(app)["ids"]} <= {1, 2}
    again = settled(open_app(page=PAGE, **app.query_params))
    assert tree(again)["ids"] == tree(app)["ids"]


def test_beams_are_as_long_as_the_film_may_be():
    app = more(open_app(page=PAGE, length="6"), 3)
    app.selectbox(key="film_width").set_value(2)
    app.button(key="film_beams").click().run()
    app.number_input(key="film.length").set_value(3).run()
    assert max(len(node.split(".")) for node in tree(app)["ids"]) == 3
    again = settled(open_app(page=PAGE, **app.query_params))
    assert tree(again)["ids"] == tree(app)["ids"]


@pytest.mark.parametrize(
    "ways, said",
    [
        ("abc", "“” is not a number for number of generated tokens."),
        ("open", ""),
        ("steps.3", "“steps.3” is not an option for list of branches."),
        ("open~~open", "“open~~open” is not an option for list of branches."),
        ("open~~steps.900", "The number of generated tokens is 900; it may be at most 500."),
        ("open~~steps.3~seed.x", "“x” is not a number for seed."),
        ("open~~steps.3~colour.1", "“steps.3~colour.1” is not an option for list of branches."),
        ("open~~steps.3~top_p.7", "Top-p is 7.0; it must be above 0 and at most 1 (off)."),
        ("open~~steps.3~forced.0.99999", "“0.99999” is not a number for forced tokens."),
        (
            "open" + "~~steps.2" * MOST,
            f"“{('open' + '~~steps.2' * MOST)[:40]}…” is not an option for list of branches.",
        ),
        ("a" * (LONGEST_WAYS + 1), f"The list of branches has more than {LONGEST_WAYS} characters."),
    ],
)
def test_what_is_no_list_of_ways_is_one_sentence(ways, said):
    app = open_app(page=PAGE, **{"film.ways": ways})
    assert sentences(app) == [said] * bool(said)
    assert tokens(app) == ids(1)
    assert beside_head(app) == {}


def test_of_a_large_tree_the_newest_ways_are_in_the_address():
    ways = [BranchKey(Sampling(seed=seed), steps=3) for seed in range(MOST + 5)]
    parts = written(ways, 0).split("~~")
    assert (parts[0], parts[1], parts[-1], len(parts)) == ("open", "steps.3~seed.6", "steps.3~seed.24", MOST)
    assert written(ways, len(ways) - 1).split("~~")[-1] == "open"
    long = [BranchKey(DEFAULT, tuple((i, 4000) for i in range(300)), steps=300) for _ in range(4)]
    assert 0 < len(written(long, 3)) <= LONGEST_WAYS
    assert written(ways[:1], 0) == ""


@pytest.mark.long
def test_back_takes_a_forced_token_back_and_forward_brings_it_again(page, server):
    visit(page, server, "film", **{"film.length": "8", "sampling.seed": "1", "film.steps": "4"})
    film_of = page.locator(".film")
    expect(film_of).to_have_attribute("data-frames", "5", timeout=PATIENCE)
    expect(film_of).to_have_attribute("data-frame", "4")
    drawn = page.locator(".film .chip.drawn:not(.ghost)").all_inner_texts()
    page.locator(".film .candidate:not(.chosen)").first.click()
    page.wait_for_url(lambda url: "film.forced" in address(url))
    expect(page.locator(".film .chip.forced")).to_have_count(1)
    forced = address(page.url)
    page.go_back()
    expect(page.locator(".film .chip.forced")).to_have_count(0)
    expect(film_of).to_have_attribute("data-frame", "4")
    assert page.locator(".film .chip.drawn:not(.ghost)").all_inner_texts() == drawn
    assert "film.forced" not in address(page.url)
    page.go_forward()
    expect(page.locator(".film .chip.forced")).to_have_count(1)
    assert address(page.url) == forced


@pytest.mark.long
def test_what_changes_is_one_step_of_back(page, server):
    visit(page, server, "film", **{"film.length": "6", "film.steps": "4", "film.frame": "2"})
    of_film = page.locator(".film")
    expect(of_film).to_have_attribute("data-frames", "5", timeout=PATIENCE)
    wait_for_rest(page)

    def shown() -> tuple[list[str], str]:
        return page.locator(".film .chip.drawn").all_inner_texts(), of_film.get_attribute("data-frame") or ""

    def expect_shown(chips: list[str], frame: str) -> None:
        expect(page.locator(".film .chip.drawn")).to_have_text(chips)
        expect(of_film).to_have_attribute("data-frame", frame)

    def changed(change: Callable[[], None], done: Callable[[dict[str, str]], bool]) -> None:
        url, before, length = page.url, shown(), page.evaluate("history.length")
        change()
        page.wait_for_url(lambda url: done(address(url)))
        wait_for_rest(page)
        after = shown()
        assert page.evaluate("history.length") == length + 1
        page.go_back()
        page.wait_for_url(url)
        expect_shown(*before)
        page.go_forward()
        page.wait_for_url(lambda url: done(address(url)))
        expect_shown(*after)
        wait_for_rest(page)

    seed = page.get_by_label("Seed")
    changed(lambda: (seed.fill("3"), seed.press("Enter")), lambda held: held.get("sampling.seed") == "3")
    box = page.get_by_label("Force a token by typing it")
    changed(lambda: (box.fill("water"), box.press("Enter")), lambda held: "film.forced" in held)
    changed(page.locator(".film .play").click, lambda held: held.get("film.steps") in ("5", "6"))
    text = text_box(page)
    changed(lambda: (text.fill("The king"), text.press("Control+Enter")), lambda held: held.get("text") == "The king")
