"""A notebook that was run, saved and exported: without kernel and network its figures still draw and react."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from nbformat import v4

from model_runner import CaptureRequest
from tests.analysis.made import embedded
from tests.browser import ROOT
from viz.share_text import share_digits

pytestmark = pytest.mark.browser

TEXT = "The dog chased the squirrel because it"
CELLS = (
    "from inline import show\n"
    "from model_runner import CaptureRequest, load_runner\n"
    f"capture = load_runner().capture(CaptureRequest(text={TEXT!r}))",
    "show(capture, layer=3, head=7)",
    "show(capture, layer=4, head=1)",
    "show(capture, 3, 7, kind='lines')",
    "show(capture, kind='grid')",
    "for head in (1, 2):\n    show(capture, 3, head)\nkept = show(capture, 3, 3)",
    "kept",
)
MAP, OTHER, LINES, GRID = range(4)
WHERE = "({dataset}) => JSON.parse(dataset.geometry)"
INK = """(canvas, {x, y}) => {
    const scale = canvas.width / canvas.clientWidth
    return [...canvas.getContext("2d").getImageData(x * scale, y * scale, 1, 1).data]
}"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The notebook's file, written after every cell ran."""
    notebook = v4.new_notebook(cells=[v4.new_code_cell(source) for source in CELLS])
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(ROOT)}}).execute()
    path = tmp_path_factory.mktemp("notebook") / "heads.ipynb"
    nbformat.write(notebook, path)
    return path


@pytest.fixture
def figures(saved, page):
    """The frames of the figures, in the notebook's order, in the page that the saved notebook is exported to."""
    exporter = HTMLExporter(require_js_url="", mathjax_url="")  # its page would ask for these two
    markup, _ = exporter.from_notebook_node(nbformat.read(saved, as_version=4))
    file = saved.with_suffix(".html")
    file.write_text(markup, encoding="utf-8")
    page.goto(file.as_uri())
    frames = page.frames[1:]
    for frame in frames:
        frame.wait_for_selector("[data-painted]")
    return frames


@pytest.fixture(scope="module")
def weights():
    return embedded().capture(CaptureRequest(text=TEXT)).weights(3, 7)


def test_a_cell_draws_each_of_its_figures_once_and_another_cell_draws_one_again(saved):
    outputs = [cell.outputs for cell in nbformat.read(saved, as_version=4).cells]
    drawn = [[one.data["text/plain"].split(":")[0] for one in cell if "data" in one] for cell in outputs]
    assert drawn == [[], ["L3H7"], ["L4H1"], ["L3H7"], drawn[4], ["L3H1", "L3H2", "L3H3"], ["L3H3"]]
    assert len(drawn[4]) == 1


@pytest.mark.long  # every figure; test_export_browser.py opens one of each component
def test_every_figure_of_a_saved_notebook_draws_offline(figures, watch):
    assert [frame.locator("[data-painted]").get_attribute("class") for frame in figures] == [
        "head-map", "head-map", "token-lines", "head-grid", *["head-map"] * 4,
    ]  # fmt: skip
    fetched = [url for url in watch.requests if not url.startswith(("blob:", "data:", "about:"))]
    assert [url for url in fetched if not url.endswith("/heads.html")] == []


@pytest.mark.long
def test_a_frame_is_as_high_as_its_figure(figures, page):
    page.wait_for_function(
        "[...document.querySelectorAll('iframe')].every(f => f.contentDocument.body.offsetHeight === f.offsetHeight)"
    )
    page.set_viewport_size({"width": 500, "height": 900})
    page.wait_for_function(
        "[...document.querySelectorAll('iframe')].every(f => f.contentDocument.body.offsetHeight === f.offsetHeight)"
    )


def test_the_map_is_painted_and_answers_to_hover(figures, weights):
    row, n_tokens = 7, len(weights)
    canvas = figures[MAP].locator(".head-map canvas")
    plot = figures[MAP].locator(".head-map").evaluate(WHERE)

    def middle(key):
        return {
            "x": plot["x"] + (key + 0.5) * plot["width"] / n_tokens,
            "y": plot["y"] + (row + 0.5) * plot["height"] / n_tokens,
        }

    inks = [sum(canvas.evaluate(INK, middle(key))[:3]) for key in range(n_tokens)]
    assert sorted(range(n_tokens), key=lambda key: -inks[key])[-1] == int(weights[row].argmax())
    canvas.hover(position=middle(6))
    said = figures[MAP].locator(".head-map .tip").inner_text()
    assert (
        said.translate({0x2068: None, 0x2069: None}) == f"·it puts {share_digits(float(weights[7, 6]))} % on ·because"
    )


def test_figures_of_one_notebook_do_not_answer_for_each_other(figures):
    canvas = figures[MAP].locator(".head-map canvas")
    canvas.focus()
    canvas.press("Escape")
    canvas.press("ArrowUp")
    assert figures[MAP].locator(".head-map").get_attribute("data-selected") != "7,"
    assert figures[OTHER].locator(".head-map").get_attribute("data-selected") == "7,"


def test_lines_are_pinned_by_a_click_and_the_grid_names_its_heads(figures):
    figures[LINES].locator('[data-side="query"][data-row="4"]').click()
    assert figures[LINES].locator(".token-lines").get_attribute("data-pinned") == "4"
    assert "entropy" in figures[GRID].locator(".head-grid").inner_text()
