"""The page Sharing heads: its numbers are the changed model's, its clicks choose, and bad input is one sentence."""

from __future__ import annotations

import functools
import io
import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from analysis.comparison import head_drift, next_token_change
from analysis.mask_effect import perplexity
from analysis.sharing import output_drift
from model_runner import CaptureRequest, load_runner
from model_runner.edits import SharedKeys
from model_runner.memory import readable
from tests.model_runner.families import FAMILIES
from tests.model_runner.tiny import byte_tokenizer
from tests.pages.test_masks import values_in
from tests.pages.visiting import PATIENCE, visit
from tests.ui.driving import button, components, html, no_failure, open_app, payload, send, sentences, until
from ui import sharing_counts, sharing_export
from ui.session import DEFAULT_TEXT
from ui.sharing_counts import CountsView, Point
from ui.sharing_model import Shared
from ui.sharing_picture import Shares

PAGE = "pages/sharing.py"
ALONE = "This model has a single key/value head for all query heads (MQA): nothing is left to share."


@functools.cache
def capture(*edits: SharedKeys):
    return load_runner("default").capture(CaptureRequest(text=DEFAULT_TEXT, edits=edits))


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory):
    @functools.cache
    def save(name: str) -> str:
        folder = tmp_path_factory.mktemp(name)
        next(family for family in FAMILIES if family.name == name).build().save_pretrained(folder)
        byte_tokenizer().save_pretrained(folder)
        return str(folder)

    return save


def test_the_picture_is_drawn_with_the_models_own_numbers_and_half_of_its_heads_chosen():
    app = open_app(page=PAGE, layer="3", head="5")
    no_failure(app)
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
    no_failure(app)
    before, after = capture(), capture(SharedKeys(kv_heads))
    page = html(app)
    assert f"KL {next_token_change(before, after).kl:.3g} nats" in page
    assert f"Perplexity of the text: {perplexity(before):.3g} before, {perplexity(after):.3g} after." in page
    assert f"The cache: 64 KB → {16 * kv_heads} KB, {25 * kv_heads} %." in page
    np.testing.assert_allclose(payload(app, "head_grid")[1]["metric"], head_drift(before, after), atol=1e-6)
    maps = [one for one in components(app) if one == "head_map"]
    assert len(maps) == 2


def test_the_drift_of_what_heads_pass_on_is_drawn_too():
    app = open_app(page=PAGE, drift="output", kv_heads="1")
    no_failure(app)
    expected = output_drift(capture(), capture(SharedKeys(1)))
    meta, arrays = payload(app, "head_grid")
    np.testing.assert_allclose(arrays["metric"], expected, atol=1e-6)
    assert meta["high"] == pytest.approx(
        float(expected.max()), rel=1e-5
    )  # some outputs moved by more than their length


def test_clicks_in_the_picture_open_a_head_and_choose_a_number():
    app = send(open_app(page=PAGE, layer="3", head="5"), "head_groups", "head", 1)
    no_failure(app)
    assert (app.query_params["layer"], app.query_params["head"]) == ("3", "1")
    app = send(app, "head_groups", "kv_heads", 1)
    no_failure(app)
    assert app.query_params["kv_heads"] == "1"
    assert payload(app, "head_groups")[0]["pooled"] == 1
    app = send(app, "head_groups", "kv_heads", 2)  # the default is not worth a place in the address
    assert "kv_heads" not in app.query_params


@pytest.mark.parametrize("written", ["3", "8", "0", "-2", "abc", "²", "9" * 5000])
def test_a_number_that_the_heads_cannot_be_averaged_to_is_one_sentence_and_the_picture_stays(written):
    app = open_app(page=PAGE, kv_heads=written)
    no_failure(app)
    words = f"The key/value heads of this model cannot be averaged to “{written[:40]}” of them, but to 4, 2, 1."
    assert sentences(app) == [words]
    assert payload(app, "head_groups")[0]["pooled"] == 2
    assert "kv_heads" not in app.query_params


@pytest.mark.parametrize("view", ["model", "counts"])
def test_a_model_with_one_key_value_head_has_nothing_to_share_but_its_picture(folder_of, view):
    app = open_app(page=PAGE, model=folder_of("gpt-bigcode"), text="some text", sharing=view)
    no_failure(app)
    assert sentences(app) == [ALONE]
    meta, _ = payload(app, "head_groups")
    assert (meta["n_heads"], meta["own"], meta["pooled"], meta["possible"]) == (4, 1, 1, [1])


def test_an_encoder_has_no_cache_and_no_perplexity_and_is_shared_all_the_same(folder_of):
    app = open_app(page=PAGE, model=folder_of("bert"), text="some text")
    no_failure(app)
    assert sentences(app) == []
    page = html(app)
    assert "No perplexity: this model sees the tokens that it would have to predict." in page
    assert "No cache: this model reads a text at once and does not continue it." in page
    assert all(way["note"] == "" for way in payload(app, "head_groups")[0]["ways"])
    app = finished(open_app(page=PAGE, model=folder_of("bert"), text="some text", sharing="counts"))
    assert len(app.get("plotly_chart")) == 1  # the next token's KL


def test_a_latent_is_said_not_to_be_what_is_shared(folder_of):
    app = open_app(page=PAGE, model=folder_of("deepseek-v3"), text="some text", kv_heads="1")
    no_failure(app)
    assert sentences(app) == []
    assert "one compressed vector for all heads (MLA)" in html(app)


def test_the_bytes_before_and_after_are_counted_alike_where_the_cache_holds_a_latent(folder_of):
    app = open_app(page=PAGE, model=folder_of("deepseek-v3"), text="some text", kv_heads="2")
    records = load_runner(folder_of("deepseek-v3")).capture(CaptureRequest(text="some text")).records
    held = sum(record.k.nbytes + record.v.nbytes for record in records if record is not None)
    assert payload(app, "head_groups")[0]["own"] == 4
    assert f"The cache: {readable(held)} → {readable(held // 2)}, 50 %." in html(app)


def test_layers_without_attention_are_left_out(folder_of):
    app = open_app(page=PAGE, model=folder_of("jamba"), text="some text")
    no_failure(app)
    assert sentences(app) == []
    metric = payload(app, "head_grid")[1]["metric"]
    assert np.isnan(metric[[0, 2]]).all()
    assert np.isfinite(metric[1]).all()


def finished(app):
    until(app, lambda app: not button(app, "sharing_stop"))
    no_failure(app)
    return app


def test_the_charts_draw_the_models_numbers_for_every_count():
    app = finished(open_app(page=PAGE, sharing="counts"))
    figures = [json.loads(chart.proto.spec)["data"][0] for chart in app.get("plotly_chart")]
    kl, left, n_bytes = (values_in(figure["x"]) for figure in figures)
    after = [capture(SharedKeys(count)) for count in (4, 2, 1)]
    assert kl == pytest.approx([next_token_change(capture(), one).kl for one in after], rel=1e-6)
    assert left == pytest.approx([perplexity(one) for one in after], rel=1e-6)
    assert n_bytes == [65536, 32768, 16384]


def opened() -> Any:
    info = SimpleNamespace(name="default", revision=None, family="llama", dtype="float32")
    runner = SimpleNamespace(info=info, token_text=lambda token: f"t{token}")
    return SimpleNamespace(capture=capture(), runner=runner, layer=3, head=5)


def shared() -> Shared:
    before, after = capture(), capture(SharedKeys(1))
    return Shared(
        Shares((4, 2, 1), 4, 1, None, b""), after, head_drift(before, after), output_drift(before, after), "output",
        next_token_change(before, after), (perplexity(before), perplexity(after)), (65536, 16384),
    )  # fmt: skip


def counts_view() -> CountsView:
    points = tuple(
        Point(
            count, next_token_change(capture(), capture(SharedKeys(count))).kl, perplexity(capture(SharedKeys(count)))
        )
        for count in (4, 2)
    )
    sizes = {4: 65536, 2: 32768, 1: 16384}
    return CountsView(Shares((4, 2, 1), 4, 2, None, b""), points, sizes, 8, perplexity(capture()))


@pytest.fixture
def taken(monkeypatch):
    """What the menus give away, without a page."""
    found: list[Any] = []
    monkeypatch.setattr(sharing_export, "show_take_away", found.append)
    monkeypatch.setattr(sharing_export, "translated", dict)
    monkeypatch.setattr(sharing_export, "_", str)
    monkeypatch.setattr(sharing_counts, "_", str)
    return found


def test_the_snippets_give_the_numbers_of_the_page():
    names: dict[str, Any] = {}
    exec(compile(sharing_export.model_snippet(opened(), shared()), "snippet", "exec"), names)
    np.testing.assert_allclose(names["attention"], shared().attention, atol=1e-6)
    np.testing.assert_allclose(names["output"], shared().output, atol=1e-6)
    assert shared().change is not None
    assert names["kl"] == pytest.approx(next_token_change(capture(), capture(SharedKeys(1))).kl, rel=1e-6)
    assert (names["before"], names["after"]) == pytest.approx(shared().perplexities, rel=1e-6)
    names = {}
    exec(compile(sharing_export.counts_snippet(opened(), counts_view()), "snippet", "exec"), names)
    assert len(names["kl"]) == 3
    assert names["kl"][:2] == pytest.approx([point.kl for point in counts_view().points], rel=1e-6)
    assert names["perplexities"][:2] == pytest.approx([point.perplexity for point in counts_view().points], rel=1e-6)


def test_the_tables_say_which_head_reads_which(taken):
    tables = sharing_export.model_tables(opened(), shared())
    table = tables["Who shares what: the key/value head of each query head"]
    assert table["before"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert table["after"].tolist() == [0] * 8
    assert tables["Numbers"].loc["bytes of the cache"].tolist() == [65536, 16384]
    table = next(iter(sharing_export.counts_tables(counts_view()).values()))
    assert list(table.index) == ["GQA · 4", "GQA · 2", "MQA · 1"]
    assert np.isnan(table.to_numpy()[2, :2]).all()  # still to come


def test_what_is_taken_away_holds_the_numbers_and_says_what_they_are(taken):
    sharing_export.take_model_away(opened(), shared())
    sharing_export.take_counts_away(opened(), counts_view())
    take, counts = taken
    assert b"GQA" in counts.html("en")
    assert np.load(io.BytesIO(counts.npz()))["values"].shape == (3, 3)
    arrays = np.load(io.BytesIO(take.npz()))
    np.testing.assert_array_equal(arrays["drift_of_output"], shared().output)
    assert "averaged to 1 heads, not trained" in str(arrays["caption"])
    assert "L7" in take.csv().decode("utf-8-sig")
    assert take.svg().startswith("<svg")
    assert b"head-groups" in take.html("en")


@pytest.mark.browser
def test_a_click_in_the_picture_opens_the_head_and_a_way_changes_the_model(server, page):
    visit(page, server, "sharing", layer="3", head="5")
    root = page.locator(".head-groups[data-painted]")
    root.wait_for(timeout=PATIENCE)
    page.locator(".head-groups figure").nth(0).locator("[data-head='0'] .q").click()
    page.wait_for_url(lambda url: "head=0" in url, timeout=PATIENCE)
    page.locator(".atlas-head b").get_by_text("L3H0").first.wait_for(timeout=PATIENCE)
    page.locator(".head-groups .ways [data-kv='1']").click()
    page.wait_for_url(lambda url: "kv_heads=1" in url, timeout=PATIENCE)
    page.get_by_text("The cache: 64 KB → 16 KB, 25 %.").wait_for(timeout=PATIENCE)
