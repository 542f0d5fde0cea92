"""Exported pages in a browser, opened from disk: they draw, stay interactive, and request nothing."""

from __future__ import annotations

import pytest

from tests.viz.components.test_head_map import head_map
from tests.viz.components.test_token_lines import lines
from tests.viz.components.test_token_strip import strip
from viz.components.head_map import head_map as map_component
from viz.components.token_lines import token_lines
from viz.components.token_strip import token_strip
from viz.export import standalone_html

pytestmark = pytest.mark.browser

EVIL = "</script><script>window.ran = 1</script><img src=x onerror='window.ran = 1'>"
FIGURES = {
    "head-map": (map_component.SOURCE, lambda words: head_map(n=5, row_labels=words, col_labels=words)),
    "token-lines": (token_lines.SOURCE, lambda words: lines(words=words)),
    "token-strip": (token_strip.SOURCE, strip),
}


@pytest.fixture
def opened(page, tmp_path):
    def show(name, words=("a", "b", "b", "c", "d"), **strings):
        source, data = FIGURES[name]
        options = {"title": "L3H7", "caption": "embedded", "lang": "en", **strings}
        file = tmp_path / "figure.html"
        file.write_bytes(standalone_html(source, data(list(words)), **options))
        page.goto(file.as_uri())
        page.wait_for_selector(f".{name}[data-painted]")
        return page

    return show


@pytest.mark.parametrize("name", FIGURES)
def test_an_exported_figure_draws_without_a_single_request(opened, watch, name):
    page = opened(name)
    # blob: is how the page hands itself a picture; what counts is that nothing was fetched after the file
    assert [url for url in watch.requests if not url.startswith(("blob:", "data:"))] == [page.url]


@pytest.mark.parametrize("name", FIGURES)
def test_script_looking_strings_do_not_run(opened, name):
    page = opened(name, words=(EVIL, "<b>", "'", '"', "&lt;"), title=EVIL, caption=EVIL)
    assert page.title() == EVIL
    assert page.locator("figcaption").inner_text() == EVIL
    assert page.evaluate("[window.ran, document.images.length, document.scripts.length]") == [None, 0, 2]


def test_the_policy_stops_a_script_that_got_in_all_the_same(opened, watch):
    page = opened("token-lines")
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.ran = 1' }))"
    )
    assert page.evaluate("window.ran") is None
    assert "Content Security Policy" in watch.errors.pop()


def test_an_exported_figure_stays_alive(opened):
    page = opened("token-lines")
    page.locator('[data-side="query"][data-row="4"]').click()
    assert page.locator(".token-lines").get_attribute("data-pinned") == "4"


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_exported_figure_follows_the_readers_colours(opened, page, scheme):
    page.emulate_media(color_scheme=scheme)
    assert opened("token-lines").locator(".token-lines").get_attribute("data-theme") == scheme
    other = "light" if scheme == "dark" else "dark"
    page.emulate_media(color_scheme=other)
    page.wait_for_selector(f'.token-lines[data-theme="{other}"]')
