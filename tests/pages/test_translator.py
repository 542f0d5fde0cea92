"""The embedded translator in the app: refused for now with its sentence, while Positions shows its biases."""

from __future__ import annotations

import numpy as np
import pytest
from safetensors.torch import load_file

from model_runner.local.model_folder import EMBEDDED
from model_runner.trained_positions import T5_BIAS
from tests.ui.driving import beside_head, html, no_failure, open_app, payload, sentences

SENTENCES = {
    "en": "The attention of the embedded translator cannot be captured yet: it is an encoder–decoder, and only models "
    "with one stack of layers are supported so far. Meanwhile it translates in Python (see its card), and Positions "
    "shows its biases beside another model.",
    "zh": "暂时无法捕获内置翻译模型的注意力：它是编码器–解码器模型，目前只支持单一层堆叠的模型。"
    "在此之前，它可以在 Python 中翻译（见其模型卡）；换用其他模型时，“位置”页会一并显示它的位置偏置。",
}


@pytest.mark.parametrize("lang", SENTENCES)
def test_it_says_what_it_is_good_for_and_the_way_back_works(lang):
    app = open_app(lang=lang, text="My own text")
    app.selectbox(key="model_box").set_value("translator").run()
    no_failure(app)
    assert sentences(app) == [SENTENCES[lang]]
    assert beside_head(app) == {"lang": lang, "model": "translator", "text": "My own text"}
    app.selectbox(key="model_box").set_value("default").run()
    no_failure(app)
    assert sentences(app) == []
    assert "atlas-badge ok" in html(app)


def test_the_model_box_lists_it_with_what_it_is_good_for():
    box = open_app().selectbox(key="model_box")
    assert box.options[:3] == ["Embedded small Llama", "Embedded encoder", "Embedded translator"]
    assert "- **Embedded translator** · short sentences between English and Chinese, in Python" in box.help


def test_the_biases_of_t5_are_its_decoders_and_the_page_says_so():
    meta, arrays = payload(open_app(page="pages/positions/page.py", positions="others"), "position_schemes")
    at = next(i for i, scheme in enumerate(meta["schemes"]) if scheme["name"] == "t5")
    table = load_file(EMBEDDED["translator"] / "model.safetensors")[T5_BIAS].float().numpy()
    np.testing.assert_array_equal(arrays[f"curves{at}"][:, :16], table[:16].T)
    assert arrays[f"curves{at}"].shape == (4, 32)
    assert meta["schemes"][at]["note"] == (
        "Not this model’s: the 32 buckets of the embedded translator’s decoder, learned on short sentences and "
        "drawn to distance 31; the matrix is head 0."
    )
