"""The film under keys, clicks and time, in a browser and without a server."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.viz.components import shim
from tests.viz.components.clock import hold
from tests.viz.components.mounted import answer, facts
from tests.viz.components.test_film import film, frame
from viz.components.film.film import SOURCE, TEXTS, FilmView

pytestmark = pytest.mark.browser

STYLE = "section{max-width:1120px}"
STEP = ".film .step"
OFF_CENTRE = """(buttons) => buttons.map((button) => {
  const [whole, picture] = [button, button.firstElementChild].map((node) => node.getBoundingClientRect())
  return picture.top + picture.height / 2 - whole.top - whole.height / 2
})"""
PLAIN = [frame(i, strip=None) for i in range(3)]  # of one head alone


def at(page) -> int:
    return int(facts(page)["frame"])


def plain(text: str) -> str:
    """Without the marks that keep a right-to-left token from reordering what stands beside it."""
    return text.replace("\u2068", "").replace("\u2069", "")


def calls(page, *, rest: bool = False):
    """What was asked for; or what was told of where the reader stays."""
    return [call[1:] for call in page.evaluate("window.calls") if (call[1] == "rest") == rest]


def test_the_prompt_shows_what_may_come_and_how_to_force_it(mount):
    page = mount(SOURCE, film(1), style=STYLE)
    assert page.locator(".choice .heading").inner_text().startswith("What comes next?")
    assert page.locator(".candidate:visible .label").all_inner_texts() == ["·ran", "·sat", "<b>&"]
    assert page.locator(".place").inner_text() == "the prompt"
    assert page.locator(".chip.prompt").all_inner_texts() == ["⟨bos⟩", "The", "·dog"]
    assert calls(page) == []


def test_stepping_through_what_is_there_asks_nobody_and_where_it_ends_is_told(mount):
    page = mount(SOURCE, film(5), style=STYLE)
    for expected in (1, 2, 3):
        page.locator(STEP).click()
        assert at(page) == expected
    page.locator(".film .back").click()
    assert at(page) == 2
    page.locator(".film .start").click()
    assert at(page) == 0
    page.locator(".scrub").evaluate("(slider) => { slider.value = 4; slider.dispatchEvent(new Event('input')) }")
    assert at(page) == 4
    page.locator(".chip.drawn").nth(1).click()
    assert at(page) == 2
    page.wait_for_function("JSON.stringify(window.calls.at(-1) ?? null).includes('\"at\":2')")
    assert calls(page) == []
    assert calls(page, rest=True)[-1:] == [["rest", {"film": "one", "have": 5, "at": 2}]]
    assert len(calls(page, rest=True)) < 7  # as many as were shown; a slow machine may tell of some on the way


def test_also_where_letters_are_large_a_button_has_its_picture_in_its_middle(mount):
    page = mount(SOURCE, film(3, at=2), style="section{max-width:1120px;zoom:1.6;line-height:1.6}", width=1920)
    assert page.locator(".film .transport button").evaluate_all(OFF_CENTRE) == pytest.approx([0, 0, 0, 0], abs=1)


def test_a_frame_says_how_its_token_was_chosen(mount):
    page = mount(SOURCE, film(3, at=1, goal=2), style=STYLE)
    heading = page.locator(".choice .heading").inner_text()
    assert plain(heading).startswith("then “w2”")
    assert "probability 63 %, rank 1 · drawn with u = 0.250 · entropy 0.8 bits" in heading
    assert page.locator(".candidate.removed .label").all_inner_texts() == ["<b>&"]
    assert page.locator(".candidate.cut").get_attribute("data-token") == "9"
    assert page.locator(".candidate.chosen .label").inner_text() == "·ran"
    assert page.locator(".candidate .number").all_inner_texts() == ["63 %", "38 %", "0 %"]
    assert page.locator(".choice .others").get_attribute("data-share") == "0 %"
    assert page.locator(".choice .named").inner_text() == TEXTS["after_settings"].format(bits="1.3")
    assert "keep 2 of 4,096 tokens, 80 %" in page.locator(".choice").inner_text()
    widths = page.locator(".candidate .final").evaluate_all(
        "nodes => nodes.map(node => node.getBoundingClientRect().width)"
    )
    assert widths[0] / widths[1] == pytest.approx(0.625 / 0.375, rel=0.02)
    assert widths[2] == 0
    assert page.locator(".status").inner_text() == "prefill 3 tokens in 34 ms · decode 10 ms a token"


def test_what_was_not_seen_yet_is_not_given_away(mount):
    """Neither in the text, nor among the candidates, nor by a click on the one that was drawn."""
    late = frame(
        2, token=3, tokens=[7, 8, 9, *range(20, 29), 3], probabilities=[0.05] * 13, finals=[0.05] * 13, kept=[True] * 13
    )
    page = mount(SOURCE, film(3, at=1, frames=[frame(0), frame(1), late]), style=STYLE)
    assert plain(page.locator(".film .heading").first.inner_text()).startswith("“w1” puts 90 % on “The”")
    assert page.locator(".choice .heading").inner_text().startswith("What comes next?")
    assert page.locator(".chip.drawn").all_inner_texts() == ["·w1"]
    assert page.locator(".candidate:visible").count() == 12
    assert page.locator(".candidate.chosen").count() == 0
    assert (
        page.locator(".choice .others").get_attribute("data-share") == "5.0 %"
    )  # with what was drawn, which is among them
    page.locator(".film .start").click()
    assert page.locator(".candidate.chosen .label").inner_text() == "·ran"  # that one was seen
    answer(page, film(2, film="two"))
    page.locator(".candidate").first.click()
    assert at(page) == 1
    assert not [call for call in calls(page) if call[0] == "force"]


def test_after_the_last_token_stands_what_may_come_or_that_the_text_ended(mount):
    ahead = frame(0, tokens=[8, 7, 9])
    page = mount(SOURCE, film(3, at=2, limit=2, stop="limit", ahead=ahead), style=STYLE)
    assert page.locator(".candidate:visible .label").all_inner_texts() == ["·sat", "·ran", "<b>&"]
    assert page.locator(".candidate").first.is_disabled()  # there is no room for it
    answer(page, film(3, at=2, film="two", stop="end"))
    assert page.locator(".choice .heading").inner_text() == "The model ended the text here."
    assert page.locator(".candidate:visible").count() == 0


def boxes(page, selector: str) -> list[list[float]]:
    """Left and right edge of each, from the left edge of the picture."""
    return page.locator(selector).evaluate_all(
        """(nodes) => nodes.map((node) => {
          const [box, all] = [node, node.closest(".axis")].map((one) => one.getBoundingClientRect())
          return [box.left - all.left, box.right - all.left]
        })"""
    )


CELLS = """(canvas) => {
  const [context, ratio] = [canvas.getContext("2d"), canvas.width / canvas.clientWidth]
  const inked = (x) => context.getImageData(x * ratio, 6 * ratio, 1, 1).data[3] > 0
  const starts = []
  for (let x = 54; x < canvas.clientWidth; x++) if (inked(x) && !inked(x - 1)) starts.push(x)
  return starts
}"""


def test_chips_arcs_and_columns_stand_on_one_axis(mount):
    page = mount(SOURCE, film(5, at=3, view=FilmView((0, 1), [(1, None), (0, 1)], 2, 1)), style=STYLE)
    chips = boxes(page, ".chip")
    assert len(chips) == 6  # those that were seen, and no room for others
    assert page.locator(".axis canvas").evaluate(CELLS) == pytest.approx([left for left, _right in chips], abs=1.1)
    arcs = page.locator(".arcs .lines path").evaluate_all("nodes => nodes.map(node => node.getAttribute('d'))")
    middles = [(left + right) / 2 for left, right in chips]
    ends = [[float(place.split(",")[0]) for place in (arc[1:], arc.split(" ")[-1])] for arc in arcs]
    for begin, end in ends[:-1]:
        assert begin == pytest.approx(middles[-1], abs=6)  # to itself it is a loop
        assert min(abs(end - one) for one in middles) < 6
    assert ends[-1] == pytest.approx([middles[-1], middles[1]], abs=0.6)  # the strongest is drawn over the others


def test_many_tokens_have_narrow_columns_and_their_text_in_lines(mount):
    page = mount(SOURCE, film(40, at=39), style=STYLE)
    assert page.locator(".axis").get_attribute("data-mode") == "words"
    assert len({round(top) for top in page.locator(".chip").evaluate_all("all => all.map(one => one.offsetTop)")}) > 1
    names = page.locator(".arcs .words text")
    assert names.count() == 42
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def beats(page) -> list[float]:
    """When each of the movements that run in the film begins, in milliseconds."""
    delays = page.locator(".film").evaluate(
        "root => root.getAnimations({subtree: true}).map((one) => one.effect.getTiming().delay)"
    )
    return sorted(set(delays))


def test_while_it_plays_each_token_comes_in_four_beats_and_none_where_there_is_no_time_for_them(mount):
    page = mount(SOURCE, film(5, goal=4), style=STYLE)
    page.locator(".film .play").click()
    expect(page.locator(".film")).to_have_attribute("data-frame", "1")
    assert beats(page) == [0, 250, 500, 750]
    assert page.locator(".flight").inner_text() == "·w2"
    page.locator(".film .play").click()
    assert beats(page) == []
    assert page.locator(".flight").count() == 0
    page.locator(".speed").select_option("16")
    page.locator(".film .play").click()
    expect(page.locator(".film")).to_have_attribute("data-frame", "4")
    assert beats(page) == []


def test_who_asks_for_less_motion_sees_none(mount):
    page = mount(SOURCE, film(5, goal=4), style=STYLE)
    page.emulate_media(reduced_motion="reduce")
    page.locator(".film .play").click()
    expect(page.locator(".film")).to_have_attribute("data-frame", "1")
    assert beats(page) == []
    page.emulate_media(reduced_motion=None)


def test_the_legend_says_what_rows_columns_and_colours_are(mount):
    page = mount(SOURCE, film(3, at=2), style=STYLE)
    heads, cache = (page.locator(f".legend .{part}") for part in ("of-heads", "of-cache"))
    words = TEXTS["legend_heads"].format(head="L0H1", layer=0)
    assert heads.locator("span").all_inner_texts() == [words, TEXTS["legend_open"]]
    most = "10.0"  # of the made numbers, in K as in V
    words = TEXTS["legend_cache"].format(head="L0H1", k=most, v=most, label="·w2")
    assert plain(cache.inner_text()) == words
    answer(
        page,
        film(3, at=2, film="two", alive=False, view=FilmView(head=(0, 1), heads=[], n_heads=2, bin=1), frames=PLAIN),
    )
    assert heads.locator("span").all_inner_texts() == [TEXTS["legend_head"].format(head="L0H1")]
    assert cache.count() == 1


def test_at_the_end_one_step_asks_for_one_token_and_shows_it_when_it_comes(mount):
    page = mount(SOURCE, film(2, at=1), style=STYLE)
    page.locator(STEP).click()
    page.locator(STEP).click()  # a second click while the answer is on its way asks nothing more
    assert calls(page) == [["more", {"film": "one", "have": 2, "at": 1, "wanted": 1, "ask": 1, "playing": False}]]
    assert page.locator(".status").inner_text().endswith("generating …")
    answer(page, film(3, start=2, answered=1))
    assert (at(page), facts(page)["frames"]) == (2, "3")
    one_ahead = {"film": "one", "have": 3, "at": 2, "wanted": 1, "ask": 2, "playing": False}
    assert calls(page)[1:] == [["more", one_ahead]]
    answer(page, film(4, start=3, answered=2))
    assert at(page) == 2
    page.locator(STEP).click()
    assert at(page) == 3


def test_playing_shows_eight_frames_a_second_and_asks_ahead(mount):
    page = mount(SOURCE, film(2), style=STYLE)
    hold(page)
    page.locator(".speed").select_option("8")
    page.locator(".film .play").click()
    assert calls(page) == [["more", {"film": "one", "have": 2, "at": 0, "wanted": 6, "ask": 1, "playing": True}]]
    answer(page, film(9, start=2, answered=1, limit=8, stop="limit"))
    page.clock.run_for(20)  # a tick sees that a frame is due at most one screen refresh late
    for expected in range(1, 9):
        page.clock.run_for(125)
        assert at(page) == expected
    page.clock.run_for(125)
    assert facts(page)["playing"] == "false"
    assert page.locator(".status").inner_text().endswith("Stopped at the length set.")
    assert len(calls(page)) == 1


def test_pausing_stops_the_film_at_once_and_what_still_comes_is_kept(mount):
    page = mount(SOURCE, film(3), style=STYLE)
    hold(page)
    page.locator(".film .play").click()
    page.clock.run_for(600)
    page.locator(".film .play").click()
    shown = at(page)
    answer(page, film(7, start=3, answered=1))
    page.clock.run_for(3000)
    assert (at(page), facts(page)["frames"]) == (shown, "7")


def test_a_missing_chunk_is_asked_for_again(mount):
    page = mount(SOURCE, film(3), style=STYLE)
    answer(page, film(7, start=5))
    assert calls(page) == [["more", {"film": "one", "have": 3, "at": 0, "wanted": 0, "ask": 1, "playing": False}]]
    answer(page, film(7, start=3, answered=1))
    assert facts(page)["frames"] == "7"


def test_chunks_put_together_are_the_whole_film(mount):
    page = mount(SOURCE, film(2), style=STYLE)
    answer(page, film(4, start=2))
    answer(page, film(6, start=4))
    page.keyboard.press("Tab")
    page.locator(".film .play").focus()
    page.keyboard.press("End")
    parts = page.locator(".axis canvas").evaluate("canvas => canvas.toDataURL()")
    answer(page, film(6, at=5))
    assert at(page) == 5
    assert page.locator(".axis canvas").evaluate("canvas => canvas.toDataURL()") == parts


def test_another_head_keeps_the_frame(mount):
    page = mount(SOURCE, film(5, at=3), style=STYLE)
    answer(page, film(5, view=FilmView((0, 0), [(0, 0), (0, 1)], 2, 1)))
    assert at(page) == 3
    assert page.locator(".axis .heading span").last.inner_text().startswith("head L0H0")


def test_a_click_on_a_token_counts_though_more_arrive_while_the_button_is_down(mount):
    page = mount(SOURCE, film(5, at=4), style=STYLE)
    page.locator(".chip.drawn").nth(1).hover()
    page.mouse.down()
    answer(page, film(7, start=5))
    page.mouse.up()
    assert at(page) == 2


def test_another_way_opens_at_its_frame_and_fetches_what_it_had(mount):
    page = mount(SOURCE, film(5, at=3), style=STYLE)
    answer(page, film(2, film="two", at=4, goal=4))
    assert at(page) == 1
    assert calls(page) == [["more", {"film": "two", "have": 2, "at": 4, "wanted": 3, "ask": 1, "playing": False}]]
    answer(page, film(5, start=2, film="two", at=4, goal=4, answered=1))
    assert at(page) == 4


def test_a_click_on_a_candidate_forces_it_and_the_chosen_one_is_no_button(mount):
    page = mount(SOURCE, film(5, at=3, goal=4), style=STYLE)
    assert page.locator(".candidate.chosen").is_disabled()
    page.locator(".candidate").nth(1).click()
    page.locator(".film .start").click()
    page.locator(".candidate").nth(2).click()
    assert calls(page) == [
        ["force", {"film": "one", "frame": 4, "token": 8}],
        ["force", {"film": "one", "frame": 1, "token": 9}],
    ]


def test_a_click_in_the_picture_of_all_heads_opens_a_head(mount):
    view = FilmView(head=(0, 1), heads=[(0, 1), (1, None)], n_heads=4, bin=1)
    page = mount(SOURCE, film(3, at=2, view=view), style=STYLE)
    canvas = page.locator(".axis canvas")
    x = sum(boxes(page, ".chip")[1]) / 2  # over the second token
    canvas.click(position={"x": x, "y": 8})
    canvas.click(position={"x": x, "y": 30})  # a layer's row opens its head of the same number
    assert calls(page) == [["head", [0, 1]], ["head", [1, 1]]]
    canvas.hover(position={"x": x, "y": 8})
    assert plain(page.locator(".note.caption").inner_text()) == "L0H1: ·w2 puts 90 % on The"
    canvas.hover(position={"x": x, "y": 30})
    assert (
        plain(page.locator(".note.caption").inner_text())
        == "L1, the largest of its heads: ·w2 cannot look at The: masked"
    )


def test_the_keyboard_steps_and_plays(mount):
    page = mount(SOURCE, film(5), style=STYLE)
    page.locator(".axis canvas").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert at(page) == 1
    page.keyboard.press("End")
    assert at(page) == 4
    page.keyboard.press("Home")
    assert at(page) == 0
    page.keyboard.press(" ")
    assert facts(page)["playing"] == "true"


def test_a_token_that_is_forced_at_the_same_frame_is_said_to_those_who_listen(mount):
    page = mount(SOURCE, film(2, at=1), style=STYLE)
    spoken = page.locator(".film .spoken")
    expect(spoken).to_contain_text("w1")
    page.locator(".film .start").click()
    page.locator(".candidate").nth(1).click()
    answer(page, film(2, at=1, film="two", frames=[frame(0), frame(1, label="·sat", token=8, how="forced")]))
    expect(spoken).to_contain_text("sat")


def test_the_end_of_the_text_is_said_and_play_begins_again(mount):
    page = mount(SOURCE, film(4, at=3, stop="end"), style=STYLE)
    assert page.locator(".status").inner_text().endswith("The model ended the text here.")
    assert page.locator(STEP).is_disabled()
    hold(page)
    page.locator(".film .play").click()
    assert at(page) == 0
    assert calls(page) == []


def test_in_a_file_nothing_is_asked_and_nothing_can_be_forced(mount):
    page = mount(SOURCE, film(2, alive=False, goal=9), style=STYLE)
    page.locator(STEP).click()
    assert page.locator(STEP).is_disabled()
    assert page.locator(".candidate").first.is_disabled()
    assert calls(page) == []


def test_greedy_says_that_one_token_is_left(mount):
    greedy = frame(1, how="greedy", n_kept=1, uniform=None, kept=[True, False, False], finals=[1.0, 0.0, 0.0])
    page = mount(SOURCE, film(2, frames=[frame(0), greedy], alive=False), style=STYLE)  # all of a file was seen
    assert "greedy: the most likely" in page.locator(".choice .heading").inner_text()
    assert "Greedy: only the most likely token is kept." in page.locator(".choice").inner_text()


@pytest.mark.parametrize("theme", [shim.LIGHT, shim.DARK], ids=["light", "dark"])
def test_the_film_fits_a_phone(mount, theme):
    page = mount(SOURCE, film(5, at=4), width=390, height=844, theme=theme, style="section{max-width:358px}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".axis").bounding_box()["y"] < page.locator(".choice").bounding_box()["y"]


def test_the_rows_of_heads_that_share_the_open_ones_keys_and_values_are_framed_together(mount):
    def pixels(group: int) -> str:
        page = mount(SOURCE, film(1, view=FilmView(head=(0, 1), heads=[(0, 0), (0, 1)], n_heads=2, bin=1, group=group)))
        return page.locator("canvas").evaluate_all("all => all.map((canvas) => canvas.toDataURL()).join()")

    assert pixels(1) == pixels(1)
    assert pixels(2) != pixels(1)
