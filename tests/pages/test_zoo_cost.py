"""The view “cost” of the page Zoo: by formula and measured, and what is taken away of it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from analysis.zoo_cost import Measured
from attention.zoo.table import VARIANTS
from jobs import zoo_cost as jobs
from model_runner.edit_text import written
from model_runner.edits import Masked
from model_runner.memory import readable
from pages.zoo.by_formula import LENGTHS, counted, hybrid
from tests.pages.test_masks import values_in
from tests.pages.zoo_driving import PAGE, offering, opened
from tests.ui.driving import finding, html, open_app


@pytest.fixture
def offered(monkeypatch):
    return offering(monkeypatch)


def test_a_measured_cost_says_how_far_it_is_and_where_the_lines_cross(monkeypatch):
    def known(name, attention, n_tokens, d_head, *, causal):
        return Measured(name, n_tokens, 1e-9 * n_tokens * (n_tokens if name == "softmax" else 1000), 64 * n_tokens, 0.0)

    monkeypatch.setattr(jobs, "measure", known)
    app = opened(view="cost", how="measured", variant="delta")
    for _ in range(40):
        if "measured up to 1,048,576 tokens" in html(app):
            break
        app.run()
    assert finding(app).startswith("From about 1,000 tokens on, DeltaNet is faster than softmax ")
    assert "By formula it is cheaper from 49 tokens on." in html(app)  # 3 n d² < 2 n² d: n > 1.5 d


def test_the_cost_is_the_formula_for_this_models_shape():
    app = opened(view="cost", variant="linformer", beside="delta", **{"long.linformer.rank": "256"})
    lines = json.loads(app.get("plotly_chart")[0].proto.spec)["data"]
    softmax, linformer, delta, mixed = (values_in(line["y"]) for line in lines)
    assert softmax == [8 * 8 * 2 * n * n * 32 for n in LENGTHS]
    assert linformer == [8 * 8 * 4 * n * 256 * 32 for n in LENGTHS]
    assert delta == [8 * 8 * 3 * n * 32 * 32 for n in LENGTHS]
    fast = [2 * n * 256 * 32 + 2 * n * 32 * 32 for n in LENGTHS]
    assert "<td>4.1G</td>" in html(app)  # softmax at a thousand tokens: 8 · 8 · 2 · 32 · 10⁶
    assert mixed == pytest.approx([8 * 8 * (7 * a + 2 * n * n * 32) / 8 for a, n in zip(fast, LENGTHS, strict=True)])


BY_TOKEN = {
    "softmax": (lambda n: 8 * 4 * 64 * n * 4, lambda n: 8 * 8 * 64 * n),
    "Titans MAC (memory as context)": (lambda n: 8 * 8 * (3 * 32 + 2 * 8) * 64 * 4, lambda n: 64 * (96 + 16 + 2) * 64),
    "DeltaNet": (lambda n: 8 * 4 * 32 * 32 * 4, lambda n: 64 * 3 * 32 * 32),
}


def test_what_is_kept_token_by_token_grows_with_softmax_alone(offered):
    """Eight layers of eight heads on four of keys and values, d 32, four bytes a number."""
    tables, _take = offered(view="cost", variant="titans_mac", beside="delta", **{"long.titans_mac.segment": "8"})
    kept, step = (
        tables["Kept for a text that is read one token at a time · bytes"],
        tables["Multiply-adds of one token more"],
    )
    for name, (held, work) in BY_TOKEN.items():
        assert kept[name].tolist() == [held(n) for n in LENGTHS]
        assert step[name].tolist() == [work(n) for n in LENGTHS]
    assert kept.iloc[-1, -1] == (7 * 8 * 4 * 32 * 32 * 4 + 8 * 4 * 64 * LENGTHS[-1] * 4) / 8


def test_the_bytes_of_a_layer_are_the_formula_for_this_models_shape(offered):
    tables, _take = offered(view="cost", variant="flash", beside="delta", **{"long.flash.rows": "64"})
    held = tables["Held at once for a whole text, a layer · bytes"]
    assert held["softmax"].tolist() == [8 * 4 * n * (n + 32) for n in LENGTHS]
    assert held["FlashAttention (tiles)"].tolist() == [8 * 4 * (34 * n + 64 * 4) for n in LENGTHS]
    assert held["DeltaNet"].tolist() == [8 * 4 * (96 * n + 32 * 32) for n in LENGTHS]
    assert held.iloc[:, -1].tolist() == held["softmax"].tolist()  # the one softmax layer of the hybrid holds most
    page = html(opened(view="cost", variant="linear"))
    assert f"<td>{readable(8 * 4 * 1000 * 1032)}</td>" in page


def test_what_cannot_be_read_a_token_at_a_time_has_no_state():
    page = html(opened(view="cost", variant="nystrom", beside="linear"))
    assert page.count("<th scope='row'>Nyströmformer</th><td>–</td><td>–</td><td>–</td>") == 2
    assert "<th scope='row'>linear attention (elu + 1)</th><td>132 KB</td><td>132 KB</td><td>132 KB</td>" in page
    around = html(opened(model="encoder", view="cost", layer="1", head="1", variant="linear"))
    assert "Kept for a text" not in around


def test_the_map_says_what_the_head_would_keep_of_its_text():
    page = html(opened(variant="linear"))
    assert "a head keeps d (d_v + 1) = 1,056 numbers, and one token more is 2 d (d_v + 1) = 2,112 multiply-adds" in page
    assert "Softmax keeps n (d + d_v) = 512 numbers of these 8 tokens" in page
    least = next(n for n in range(1, 99) if n * 64 > 32 * 33)
    assert f"It keeps less than softmax from {least} tokens on." in page
    least = next(n for n in range(1, 99) if 2 * n * n * 32 > 2 * n * 32 * 33)
    assert f"With these numbers it is less work than softmax from {least} tokens on." in page
    assert "Read a token at a time" not in html(opened(variant="nystrom"))
    assert "Read a token at a time" not in html(opened(model="encoder", layer="1", head="1", variant="linear"))
    window = {"edits": written((Masked("window", (("window", 3),)),)), "everywhere": "1"}
    assert "Read a token at a time" not in html(open_app(page=PAGE, **window, **{"zoo.variant": "linear"}))


def test_only_what_the_work_depends_on_has_a_slider_in_the_view_of_cost():
    names = {variant.name: [one.name for one in counted(variant)] for variant in VARIANTS}
    assert {name: found for name, found in names.items() if found} == {
        "performer": ["features"], "blocks": ["size"], "reformer": ["buckets", "hashes"], "linformer": ["rank"],
        "nystrom": ["landmarks", "steps"], "lightning": ["tile"], "mla": ["rank"],
        "titans_mac": ["segment", "persistent"],
        "flash": ["rows", "columns"],
        "titans_mag": ["window", "persistent"], "titans_mal": ["window", "persistent"],
        "rollout": ["rounds"], "drawn_keys": ["draws"],
        "awrsr": ["turned"], "awrsr_values": ["turned"], "awrsr_added": ["turned"], "awrsr_stochastic": ["turned"],
    }  # fmt: skip
    app = opened(view="cost", variant="reformer", beside="delta")
    labels = [slider.label.split(" · ")[0] for slider in app.slider]
    assert labels == ["buckets", "hashes"]


def test_the_hybrid_is_an_eighth_of_softmax_in_the_end():
    def work(variant, n_tokens, numbers):
        return variant.multiply_adds(n_tokens, 32, **numbers)

    assert hybrid(10**9, work) / (2 * 10**18 * 32) == pytest.approx(1 / 8, rel=1e-5)


def test_the_lines_of_the_cost_give_its_numbers(offered):
    tables, take = offered(view="cost", variant="polaformer")
    names: dict[str, Any] = {}
    exec(compile(take.snippet, "snippet", "exec"), names)
    assert names["costs"]["polaformer"] == next(iter(tables.values()))["PolaFormer"].tolist()


def known(name, attention, n_tokens, d_head, *, causal):
    return Measured(name, n_tokens, 1e-6 * n_tokens, 8 * n_tokens, 0.0)


def test_a_run_is_stopped_and_goes_on(monkeypatch):
    monkeypatch.setattr(jobs, "measure", known)
    app = opened(view="cost", how="measured", variant="delta")
    app.button(key="cost_stop").click().run()
    stopped = re.findall(r"measured up to ([\d,]+) tokens", html(app))
    assert stopped[-1] != "1,048,576"
    for _look in range(3):
        app.run()
    assert re.findall(r"measured up to ([\d,]+) tokens", html(app))[-1] == stopped[-1]
    assert [one.key for one in app.button if one.key.startswith("cost_")] == ["cost_start"]
    app.button(key="cost_start").click().run()
    for _look in range(60):
        if "measured up to 1,048,576 tokens" in html(app):
            break
        app.run()
    assert "measured up to 1,048,576 tokens" in html(app)
    assert not [one.key for one in app.button if one.key.startswith("cost_")]


def test_the_bytes_have_their_formulas_dotted_beside_them(monkeypatch):
    monkeypatch.setattr(jobs, "measure", known)
    app = opened(view="cost", how="measured", variant="titans_mag", **{"long.titans_mag.window": "200"})
    for _look in range(60):
        if app.get("plotly_chart"):
            break
        app.run()
    _seconds, held = (json.loads(one.proto.spec)["data"] for one in app.get("plotly_chart"))
    dotted = {line["name"]: values_in(line["y"]) for line in held if line["name"].endswith(", formula")}
    lengths = [2**power for power in range(7, 21)]
    looks = {line["name"]: (line["line"]["color"], line["line"]["dash"]) for line in held}
    for measured, formula in (("softmax, map stored", "softmax"), ("Titans MAG (memory as gate)",) * 2):
        assert looks[f"{formula}, formula"] == (looks[measured][0], "dot")
    assert looks["softmax, formula"] != looks["Titans MAG (memory as gate), formula"]
    assert dotted["softmax, formula"] == [4 * n * (n + 32) for n in lengths]
    windows = [min(200, n) for n in lengths]  # no more than a text has tokens
    expected = [4 * (n * (64 + w + 2 + 64) + 2 * 32 * 32) for n, w in zip(lengths, windows, strict=True)]
    assert dotted["Titans MAG (memory as gate), formula"] == expected
    assert "is computed here by its whole map: seconds and bytes grow with the square" in html(app)


def test_the_files_and_the_lines_of_the_measured_cost(offered, monkeypatch, capsys):
    monkeypatch.setattr(jobs, "measure", lambda name, _way, n, _d, *, causal: Measured(name, n, 1e-6 * n, 8 * n, 0.0))
    tables, take = offered(view="cost", how="measured", variant="delta")
    assert [*tables] == ["seconds", "bytes"]
    assert take.svg.count("<svg") >= 1
    compile(take.snippet, "snippet", "exec")
    exec(compile(take.snippet.replace("[128, 256, 512, 1024]", "[128]"), "snippet", "exec"), {})
    assert capsys.readouterr().out.count("Measured(name=") == 3
