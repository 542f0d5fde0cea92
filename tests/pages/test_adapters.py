"""A model with an adapter: the sidebar says what is added to what, one switch shows every page without it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from model_runner import CaptureRequest, load_runner
from model_runner.local.loading.model_folder import DEFAULT_FOLDER
from model_runner.local.runner import LocalRunner
from tests.pages.expected import masked
from tests.pages.expected import weights as weights_of_the_base
from tests.ui.driving import html, open_app, payload, payloads, sentences
from ui.state.url_state import DEFAULT_TEXT

COMPARE = "pages/compare/page.py"
SWITCHED = {"compare.model": ":switched"}


def write_adapter(folder: Path, base: str) -> Path:
    """One of the embedded model's queries and values, as peft writes it, of random numbers that do something."""
    config = json.loads((DEFAULT_FOLDER / "config.json").read_text("utf-8"))
    width, kv = config["hidden_size"], config["num_key_value_heads"] * config["head_dim"]
    draws = torch.Generator().manual_seed(0)
    tensors: dict[str, torch.Tensor] = {}
    for layer in range(config["num_hidden_layers"]):
        for name, rows in (("q_proj", config["num_attention_heads"] * config["head_dim"]), ("v_proj", kv)):
            at = f"base_model.model.model.layers.{layer}.self_attn.{name}"
            tensors[f"{at}.lora_A.weight"] = torch.randn(8, width, generator=draws) * width**-0.5
            tensors[f"{at}.lora_B.weight"] = torch.randn(rows, 8, generator=draws) * 0.2
    folder.mkdir(exist_ok=True)
    save_file(tensors, folder / "adapter_model.safetensors", metadata={"format": "pt"})
    settings = {"peft_type": "LORA", "r": 8, "lora_alpha": 8, "target_modules": ["q_proj", "v_proj"]}
    settings["base_model_name_or_path"] = base
    (folder / "adapter_config.json").write_text(json.dumps(settings))
    return folder


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_adapter(tmp_path_factory.mktemp("adapters") / "stories-lora", "default"))


@pytest.fixture(scope="module")
def adapted(adapter: str) -> LocalRunner:
    return load_runner(adapter)


def weights(runner: LocalRunner) -> np.ndarray:
    return masked(runner.capture(CaptureRequest(DEFAULT_TEXT)).weights(3, 7).numpy())


def base_weights() -> np.ndarray:
    return masked(weights_of_the_base())


def drawn(app) -> np.ndarray:
    return payload(app, "head_map")[1]["values"]


def same(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, atol=1e-5, equal_nan=True)


def test_the_sidebar_says_what_is_added_to_what_and_a_switch_takes_it_off_every_page(adapter, adapted):
    app = open_app(model=adapter, layer="3", head="7")
    assert "base Embedded small Llama + adapter …" in html(app)
    assert "/stories-lora (LoRA r=8 on q_proj, v_proj)" in html(app)
    same(drawn(app), weights(adapted))
    assert np.nanmax(np.abs(drawn(app) - base_weights())) > 0.01
    app.toggle(key="adapter").set_value(False).run()
    assert app.query_params["adapter"] == "0"
    same(drawn(app), base_weights())
    other = open_app(page="pages/masks/page.py", **app.query_params)
    assert not other.toggle(key="adapter").value
    again = open_app(**app.query_params)
    same(drawn(again), base_weights())
    assert app.query_params["layer"] == "3"  # one looks at the same head
    app.toggle(key="adapter").set_value(True).run()
    assert "adapter" not in app.query_params
    same(drawn(app), weights(adapted))


@pytest.mark.long
def test_a_model_without_an_adapter_has_no_such_switch(adapter):
    app = open_app()
    assert "adapter_card" not in html(app)
    assert not [one for one in app.toggle if one.key == "adapter"]
    assert not sentences(open_app(adapter="0"))  # of an address that comes of another model


def test_compare_has_both_beside_each_other(adapter, adapted):
    app = open_app(page=COMPARE, model=adapter, layer="3", head="7")
    app.selectbox(key="compare.model").set_value("without the adapter").run()
    assert not sentences(app)
    assert app.query_params["compare.model"] == ":switched"
    a, b, difference = (values["values"] for _, values in payloads(app, "head_map"))
    same(a, weights(adapted))
    same(b, base_weights())
    same(difference, weights(adapted) - base_weights())
    assert "with its adapter" in html(app)
    assert "without its adapter" in html(app)
    app.toggle(key="adapter").set_value(False).run()  # B is the other one still
    a, b, _ = (values["values"] for _, values in payloads(app, "head_map"))
    same(a, base_weights())
    same(b, weights(adapted))


def test_compare_says_what_both_write_next(adapter, adapted):
    app = open_app(page=COMPARE, **{"model": adapter, "compare.model": ":switched", "compare.view": "next"})
    assert not sentences(app)
    assert adapted.base is not None
    top = [int(one.capture(CaptureRequest(DEFAULT_TEXT)).logits(-1).argmax()) for one in (adapted, adapted.base)]
    for token in top:
        assert adapted.token_text(token).strip("·") in html(app)
    assert "KL(A ‖ B)" in html(app)


def test_without_an_adapter_there_is_nothing_to_leave_out_beside():
    app = open_app(page=COMPARE, **{"compare.model": ":switched"})
    assert "The model default has no adapter that could be left out." in sentences(app)[0]


def test_a_base_elsewhere_is_opened_once_its_reader_agrees(tmp_path):
    app = open_app(model=str(write_adapter(tmp_path / "lora", str(DEFAULT_FOLDER))), layer="3", head="7")
    (said,) = sentences(app)
    assert f"changes the model {DEFAULT_FOLDER}, which is not in its folder." in said.replace("…/", "")
    app.button(key="fetch_model").click().run()
    assert not sentences(app)
    assert "(LoRA r=8 on q_proj, v_proj)" in html(app)


def test_compare_says_how_far_each_head_s_matrices_are_apart(adapter, adapted):
    app = open_app(
        page=COMPARE, **{"model": adapter, "layer": "3", "head": "7", **SWITCHED, "compare.view": "matrices"}
    )
    assert not sentences(app)
    assert adapted.base is not None
    weights_of = [
        one.engine.model.get_submodule("model.layers.3.self_attn.q_proj").weight for one in (adapted, adapted.base)
    ]
    d_head = adapted.engine.model.config.head_dim
    first, second = (one.detach().double().reshape(-1, d_head * one.shape[1]) for one in weights_of)
    expected = ((first - second).norm(dim=1) / second.norm(dim=1)).tolist()
    charts = {one.proto.id.split("matrices_")[-1]: json.loads(one.proto.spec) for one in app.get("plotly_chart")}
    shown = {name.split("-")[0]: chart["data"][0]["x"] for name, chart in charts.items()}
    assert len(shown) == 4
    written = re.sub(r"<[^>]*>", "", html(app))
    assert all(f"{name.replace('_', '')} L3" in re.sub(r"\s+", " ", written) for name in shown)  # with a subscript
    assert expected == pytest.approx(list(shown["W_Q"]), rel=1e-4)
    assert max(shown["W_K"]) == max(shown["W_O"]) == 0
    assert min(shown["W_V"]) > 0
