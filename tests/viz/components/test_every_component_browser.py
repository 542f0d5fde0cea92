"""Every component fits a phone, names its pictures, and stops when it leaves the page."""

from __future__ import annotations

import pytest

from tests.viz.components import made_positions as made
from tests.viz.components import shim
from tests.viz.components.clock import wait
from tests.viz.components.test_bracketings import blocks_of, sums_of
from tests.viz.components.test_cell_steps import cell
from tests.viz.components.test_family_masks import kinds
from tests.viz.components.test_film import film
from tests.viz.components.test_flash_film import film as flash
from tests.viz.components.test_head_bars import bars
from tests.viz.components.test_head_grid import grid
from tests.viz.components.test_head_groups import groups
from tests.viz.components.test_head_map import head_map
from tests.viz.components.test_layer_head_map import cells
from tests.viz.components.test_long_map import whole_map
from tests.viz.components.test_mask_gallery import gallery
from tests.viz.components.test_model_stages import stages
from tests.viz.components.test_model_strip import strip as model
from tests.viz.components.test_sampling_bench import bench
from tests.viz.components.test_step_by_step import steps
from tests.viz.components.test_token_lines import lines
from tests.viz.components.test_token_strip import strip
from tests.viz.components.test_token_tree import PROMPT, Node, tree
from tests.viz.test_chart_svg import lines as chart_of_lines
from viz.components.bracketings import bracketings
from viz.components.cell_steps import cell_steps
from viz.components.chart import chart
from viz.components.family_masks import family_masks
from viz.components.film import film as film_component
from viz.components.flash_film import flash_film
from viz.components.head_bars import head_bars
from viz.components.head_grid import head_grid as grid_component
from viz.components.head_groups import head_groups
from viz.components.head_map import head_map as map_component
from viz.components.layer_head_map import layer_head_map
from viz.components.long_map import long_map
from viz.components.mask_gallery import mask_gallery
from viz.components.model_stages import model_stages
from viz.components.model_strip import model_strip
from viz.components.rotation import position_schemes, rotation, score_shift, score_split, score_sweep
from viz.components.sampling_bench import sampling_bench
from viz.components.step_by_step import step_by_step
from viz.components.still import still
from viz.components.token_lines import token_lines
from viz.components.token_strip import token_strip
from viz.components.token_tree import token_tree

pytestmark = pytest.mark.browser

COMPONENTS = [
    (cell_steps.SOURCE, lambda: cell_steps.CellStepsPicture(**cell()).packed()),
    (bracketings.SOURCE, sums_of),
    (bracketings.SOURCE, blocks_of),
    (chart.SOURCE, lambda: chart.ChartPicture(chart_of_lines(), label="one").packed()),
    (family_masks.SOURCE, kinds),
    (film_component.SOURCE, film),
    (flash_film.SOURCE, flash),
    (grid_component.SOURCE, grid),
    (head_bars.SOURCE, bars),
    (head_groups.SOURCE, groups),
    (map_component.SOURCE, head_map),
    (layer_head_map.SOURCE, cells),
    (long_map.SOURCE, whole_map),
    (mask_gallery.SOURCE, gallery),
    (rotation.SOURCE, made.turning),
    (score_shift.SOURCE, made.shifting),
    (score_split.SOURCE, made.splitting),
    (score_sweep.SOURCE, made.sweeping),
    (position_schemes.SOURCE, made.comparing),
    (model_stages.SOURCE, stages),
    (model_strip.SOURCE, model),
    (sampling_bench.SOURCE, bench),
    (step_by_step.SOURCE, steps),
    (still.SOURCE, lambda: still.still_picture("<p>one <b>&lt;script&gt;</b></p>").packed()),
    (token_lines.SOURCE, lines),
    (token_strip.SOURCE, strip),
    (token_tree.SOURCE, lambda: tree([PROMPT, Node("1", "·ran", 0)])),
]


@pytest.mark.parametrize("source, make", COMPONENTS, ids=lambda value: getattr(value, "name", ""))
def test_it_fits_a_phone_takes_new_data_in_place_and_ends_when_it_leaves(mount, source, make):
    page = mount(source, make(), width=390, height=844)
    root = page.locator(f".{source.name.replace('_', '-')}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert root.locator("canvas[tabindex], canvas[role=img]").evaluate_all(
        "all => all.filter(one => one.checkVisibility()).every(one => one.ariaLabel)"
    )
    assert root.locator("img, script").count() == 0  # some of these tokens look like markup
    parts = root.locator("*").count()
    page.evaluate("data => window.send(...data)", [source.name, shim.encoded(make())])
    assert root.locator("*").count() == parts  # in the place of what was there
    # Of a call that newer data overtook, Streamlit (1.67) runs the cleanup when the newer call has drawn already,
    for overtaken in (
        "const overtaken = window.disposers[name]; window.send(name, data); overtaken()",
        "window.send(name, data); window.disposers[name]()",  # or that of one which came later than the newer,
        "window.disposers[name](); window.send(name, data)",  # or before the newer call.
    ):
        page.evaluate(f"([name, data]) => {{ {overtaken} }}", [source.name, shim.encoded(make())])
        assert root.locator("*").count() == parts
    wait(page, 100)
    painted = root.get_attribute("data-painted")
    gone = root.element_handle()
    page.evaluate("name => { document.body.replaceChildren(); window.disposers[name]() }", source.name)
    page.set_viewport_size({"width": 800, "height": 844})
    wait(page, 100)
    assert gone.evaluate("root => [root.dataset.painted, root.atlas, root.childElementCount]") == [painted, None, 0]


def test_of_two_calls_that_came_in_the_wrong_order_the_newer_is_drawn(mount):
    """Streamlit (1.67) waits for the module in each call, and only then the overtaken one hears that it is."""
    page = mount(token_strip.SOURCE, strip(), width=390, height=844)
    newer, older = shim.encoded(strip(selected=2)), shim.encoded(strip(selected=0))
    page.evaluate("([n, o]) => { window.send('token_strip', n); window.send('token_strip', o) }", [newer, older])
    selected = page.locator(".token-strip .chip.selected")
    assert selected.get_attribute("data-chip") == "0"
    page.evaluate("window.disposers.token_strip()")
    assert selected.get_attribute("data-chip") == "2"
