"""The page Sharing heads: its numbers are the changed model's, its clicks choose, and bad input is one sentence."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import numpy as np
import pytest

from analysis.comparison import head_drift, next_token_change
from analysis.mask_effect import perplexity
from analysis.sharing import output_drift
from jobs.sharing_counts import SharingPoint
from model_runner import CaptureRequest, load_runner
from model_runner.edits import SharedKeys
from model_runner.memory import readable
from pages.sharing.counts import CountsView
from pages.sharing.export import counts_view
from pages.sharing.picture import Shares
from tests.pages.expected import capture
from tests.pages.test_masks import values_in
from tests.pages.visiting import PATIENCE, visit
from tests.ui.driving import button, components, html, open_app, payload, send, sentences, until
from tests.ui.taken import Taken, ran, taken
from tests.viz.components.test_packing import unpacked
from ui.shared import export_bundle as ui_view
from ui.wording import i18n

pytestmark = pytest.mark.table  # its tests take a second each

PAGE = "pages/sharing/page.py"
ALONE = "This model has a single key/value head for all query heads (MQA): nothing is left to share."


def test_the_picture_is_drawn_with_the_models_own_numbers_and_half_of_its_heads_chosen():
    app = open_app(page=PAGE, layer="3", head="5")
    meta, _ = payload(app, "head_groups")
    assert (meta["n_heads"], meta["own"], meta["pooled"], meta["layer"], meta["head"]) == (8, 4, 2, 3, 5)
    assert [(way["name"], way["kv_heads"], way["note"]) for way in meta["ways"]] == [
        ("MHA", 8, "128 KB"), ("GQA", 4, "64 KB"), ("GQA", 2, "32 KB"), ("MQA", 1, "16 KB"),
    ]  # fmt: skip
    assert meta["possible"] == [4, 2, 1]
    assert "Substituted, not trained" in html(app)


@pytest.mark.parametrize("kv_heads", [4, 2, 1])
def test_before_and_after_are_those_of_the_averaged_model(kv_heads):
    app = open_app(page=PAGE, kv_heads=str(kv_heads), layer="3", head="5")
    before, after = capture(), capture(edits=(SharedKeys(kv_heads),))
    page = html(app)
    assert f"KL {next_token_change(before, after).kl:.3g} bits" in page
    assert f"Perplexity of the text: {perplexity(before):.3g} before, {perplexity(after):.3g} after." in page
    assert f"The cache: 64 KB → {16 * kv_heads} KB, {25 * kv_heads} %." in page
    np.testing.assert_allclose(payload(app, "head_grid")[1]["metric"], head_drift(before, after), atol=1e-6)
    maps = [one for one in components(app) if one == "head_map"]
    assert len(maps) == 3


def test_the_drift_of_what_heads_pass_on_is_drawn_too():
    app = open_app(page=PAGE, drift="output", kv_heads="1")
    expected = output_drift(capture(), capture(edits=(SharedKeys(1),)))
    meta, arrays = payload(app, "head_grid")
    np.testing.assert_allclose(arrays["metric"], expected, atol=1e-6)
    assert meta["high"] == pytest.approx(
        float(expected.max()), rel=1e-5
    )  # some outputs moved by more than their length


def test_clicks_in_the_picture_open_a_head_and_choose_a_number():
    app = send(open_app(page=PAGE, layer="3", head="5"), "head_groups", "head", 1)
    assert (app.query_params["layer"], app.query_params["head"]) == ("3", "1")
    app = send(app, "head_groups", "kv_heads", 1)
    assert app.query_params["sharing.kv_heads"] == "1"
    assert payload(app, "head_groups")[0]["pooled"] == 1
    app = send(app, "head_groups", "kv_heads", 2)  # the default is not worth a place in the address
    assert "sharing.kv_heads" not in app.query_params


NOT_POSSIBLE = "The key/value heads of this model cannot be averaged to “{}”, only to 4, 2, 1."


@pytest.mark.parametrize(
    "written, sentence",
    [
        ("3", NOT_POSSIBLE), ("8", NOT_POSSIBLE), ("0", NOT_POSSIBLE), ("-2", NOT_POSSIBLE),
        ("abc", "“{}” is not a number for key/value heads."), ("²", "“{}” is not a number for key/value heads."),
    ],
)  # fmt: skip
def test_a_number_that_the_heads_cannot_be_averaged_to_is_one_sentence_and_the_picture_stays(written, sentence):
    app = open_app(page=PAGE, kv_heads=written)
    assert sentences(app) == [sentence.format(written)]
    assert payload(app, "head_groups")[0]["pooled"] == 2
    assert "sharing.kv_heads" not in app.query_params


@pytest.mark.parametrize("view", ["model", "counts"])
def test_a_model_with_one_key_value_head_has_nothing_to_share_but_its_picture(folder_of, view):
    app = open_app(page=PAGE, model=folder_of("gpt-bigcode"), text="some text", sharing=view)
    assert sentences(app) == [ALONE]
    meta, _ = payload(app, "head_groups")
    assert (meta["n_heads"], meta["own"], meta["pooled"], meta["possible"]) == (4, 1, 1, [1])


def test_an_encoder_has_no_cache_and_no_perplexity_and_is_shared_all_the_same(folder_of):
    app = open_app(page=PAGE, model=folder_of("bert"), text="some text")
    assert sentences(app) == []
    page = html(app)
    assert "Perplexity is undefined for bidirectional models." in page
    assert "No cache: this model reads a text at once and does not continue it." in page
    assert all(way["note"] == "" for way in payload(app, "head_groups")[0]["ways"])
    app = finished(open_app(page=PAGE, model=folder_of("bert"), text="some text", sharing="counts"))
    assert len(app.get("plotly_chart")) == 1  # the next token's KL


@pytest.mark.long  # test_cell.py and test_masks.py have such a model too
def test_a_latent_is_said_not_to_be_what_is_shared(folder_of):
    app = open_app(page=PAGE, model=folder_of("deepseek-v3"), text="some text", kv_heads="1")
    assert sentences(app) == []
    assert "one compressed vector for all heads (MLA)" in html(app)


@pytest.mark.long
def test_the_bytes_before_and_after_are_counted_alike_where_the_cache_holds_a_latent(folder_of):
    app = open_app(page=PAGE, model=folder_of("deepseek-v3"), text="some text", kv_heads="2")
    records = load_runner(folder_of("deepseek-v3")).capture(CaptureRequest(text="some text")).records
    held = sum(record.k.nbytes + record.v.nbytes for record in records if record is not None)
    assert payload(app, "head_groups")[0]["own"] == 4
    assert f"The cache: {readable(held)} → {readable(held // 2)}, 50 %." in html(app)


@pytest.mark.long  # test_cell.py and test_masks.py have such a model too
def test_layers_without_attention_are_left_out(folder_of):
    app = open_app(page=PAGE, model=folder_of("jamba"), text="some text")
    assert sentences(app) == []
    metric = payload(app, "head_grid")[1]["metric"]
    assert np.isnan(metric[[0, 2]]).all()
    assert np.isfinite(metric[1]).all()


def finished(app):
    until(app, lambda app: not button(app, "sharing_stop"))
    assert sentences(app) == []
    return app


def test_the_charts_draw_the_models_numbers_for_every_count():
    app = open_app(page=PAGE, sharing="counts")
    until(
        app, lambda app: bool(app.get("plotly_chart")) and not button(app, "sharing_stop")
    )  # a slow page is still empty
    figures = [json.loads(chart.proto.spec)["data"][0] for chart in app.get("plotly_chart")]
    kl, left, n_bytes = (values_in(figure["x"]) for figure in figures)
    after = [capture(edits=(SharedKeys(count),)) for count in (4, 2, 1)]
    assert kl == pytest.approx([next_token_change(capture(), one).kl for one in after], rel=1e-6)
    assert left == pytest.approx([perplexity(one) for one in after], rel=1e-6)
    assert n_bytes == [65536, 32768, 16384]


# -- what is taken away -----------------------------------------------------------------------------------------------


@pytest.fixture
def offered(monkeypatch):
    """What the page offers to take away at an address, with its tables."""
    kept: list[Any] = []
    monkeypatch.setattr(ui_view, "show_file_menu", lambda opened, shown: kept.append(taken(opened, shown)))
    monkeypatch.setattr(ui_view, "show_tables", lambda make, _covered: kept.append(make()))

    def of(**address: str) -> tuple[dict[str, Any], Taken]:
        app = open_app(page=PAGE, layer="3", head="5", **address)
        finished(app)
        return kept[-2], kept[-1]

    return of


@pytest.mark.parametrize("drift", ["attention", "output"])
def test_every_file_of_the_model_holds_the_drift_in_view_and_says_so(offered, drift):
    tables, take = offered(kv_heads="1", drift=drift)
    before, after = capture(), capture(edits=(SharedKeys(1),))
    wanted = {"attention": head_drift(before, after), "output": output_drift(before, after)}
    said = f"drift of {drift} of every head, keys and values averaged to 1 heads, not trained"
    np.testing.assert_allclose(next(iter(tables.values())), wanted[drift], atol=1e-6)
    csv = take.csv
    assert said in csv
    rows = [line for line in csv.splitlines() if not line.startswith("#")]
    assert float(rows[1].split(",")[1]) == pytest.approx(wanted[drift][0, 0], rel=1e-6)
    page = take.html
    assert said in page
    packed = re.search(r'class="payload">([^<]+)<', page)
    assert packed is not None
    np.testing.assert_allclose(unpacked(base64.b64decode(packed[1]))[1]["metric"], wanted[drift], atol=1e-6)
    assert f"drift of {drift}" in take.svg.replace("\n", " ")
    arrays = take.arrays
    np.testing.assert_allclose(arrays["drift_of_attention"], wanted["attention"], atol=1e-6)
    np.testing.assert_allclose(arrays["drift_of_output"], wanted["output"], atol=1e-6)
    assert arrays["n_bytes"].tolist() == [65536, 16384]
    names = ran(take.snippet)
    np.testing.assert_allclose(names["attention"], wanted["attention"], atol=1e-6)
    np.testing.assert_allclose(names["output"], wanted["output"], atol=1e-6)
    assert names["kl"] == pytest.approx(next_token_change(before, after).kl, rel=1e-6)
    assert (names["before"], names["after"]) == pytest.approx((perplexity(before), perplexity(after)), rel=1e-6)


def test_the_tables_say_which_head_reads_which(offered):
    tables, _ = offered(kv_heads="1")
    table = tables["Who shares what: the key/value head of each query head"]
    assert table["before"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert table["after"].tolist() == [0] * 8
    assert tables["Numbers"].loc["bytes of the cache"].tolist() == [65536, 16384]


def test_the_charts_are_given_away_with_the_code_that_makes_them(offered):
    tables, take = offered(sharing="counts")
    (table,) = tables.values()
    assert list(table.index) == ["GQA · 4", "GQA · 2", "MQA · 1"]
    assert "GQA" in take.html
    arrays = take.arrays
    np.testing.assert_array_equal(arrays["values"], table)
    bars = re.findall(r'<rect [^>]*width="([\d.]+)"[^>]*class="bar ', take.svg)
    widths = np.array([float(width) for width in bars]).reshape(3, 3).T
    np.testing.assert_allclose(widths / widths.max(axis=0), table / table.max(axis=0), atol=1e-4)
    names = ran(take.snippet)
    np.testing.assert_allclose(np.transpose([names["kl"], names["perplexities"]]), table.to_numpy()[:, :2], rtol=1e-6)


def test_what_is_still_to_come_is_left_empty(monkeypatch):
    monkeypatch.setattr(i18n, "language", lambda: "en")
    points = (SharingPoint(4, 0.1, 5.0), SharingPoint(2, 0.2, 6.0))
    view = CountsView(Shares((4, 2, 1), 4, 2, None), points, {4: 65536, 2: 32768, 1: 16384}, 8, 4.0, None)
    (table,) = counts_view(view).tables().values()
    np.testing.assert_array_equal(np.isnan(table), [[False] * 3, [False] * 3, [True, True, False]])


@pytest.mark.browser
def test_a_click_in_the_picture_opens_the_head_and_a_way_changes_the_model(server, page):
    visit(page, server, "sharing", layer="3", head="5")
    root = page.locator(".head-groups[data-painted]")
    root.wait_for(timeout=PATIENCE)
    page.locator(".head-groups figure").nth(0).locator("[data-head='0'] .q").click()
    page.wait_for_url(lambda url: "head=0" in url, timeout=PATIENCE)
    page.locator(".atlas-head b").get_by_text("L3H0").first.wait_for(timeout=PATIENCE)
    page.locator(".head-groups .ways [data-kv='1']").click()
    page.wait_for_url(lambda url: "sharing.kv_heads=1" in url, timeout=PATIENCE)
    page.get_by_text("The cache: 64 KB → 16 KB, 25 %.").wait_for(timeout=PATIENCE)
