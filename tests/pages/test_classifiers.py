"""A classifier on the pages: its class scores beside attention, and which heads matter for a class."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForQuestionAnswering, AutoModelForTokenClassification

from model_runner import CaptureRequest, load_runner
from model_runner.questions import WhichHeads
from model_runner.runner import Runner
from tests.model_runner.classifiers import classifier, ending_tokenizer
from tests.model_runner.folders import change_config
from tests.model_runner.tiny import byte_tokenizer, tiny
from tests.ui.driving import button, components, html, open_app, payload, payloads, sentences, until
from viz.share_text import share_digits

pytestmark = pytest.mark.table  # its tests take a second each

TEXT = "The film was <b>long</b>."
NAMES = ("bad", "<i>so so</i>", "good")
HEADS, EDIT, NEXT, FILM = (f"pages/{page}/page.py" for page in ("heads", "edit_heads", "next_token", "film"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory):
    """The folder of a family's classifier with three named classes, saved once."""

    @functools.cache
    def made(family: str, **config: object) -> str:
        folder: Path = tmp_path_factory.mktemp(family)
        classifier(family, **config)().save_pretrained(folder)
        ending_tokenizer().save_pretrained(folder)
        if config.get("num_labels", 3) == 3:
            change_config(folder, id2label=dict(enumerate(NAMES)))
        return str(folder)

    return made


@functools.cache
def runner(folder: str) -> Runner:
    return load_runner(folder, device="cpu")


def shares(folder: str) -> dict[str, float]:
    logits = runner(folder).capture(CaptureRequest(text=TEXT)).class_logits
    return dict(zip(NAMES, torch.softmax(logits.double(), dim=-1).tolist(), strict=True))


def bars(app) -> list[tuple[str, str]]:
    """Names and percentages of the list of classes, as they are written."""
    figure = next(one.proto.body for one in app.get("html") if "<caption>Class" in one.proto.body)
    names = re.findall(r"<bdi>(.*?)</bdi>", figure)
    return list(zip(names, re.findall(r'class="number">(.*?)<', figure)))


@pytest.mark.parametrize("family", ["bert", "gpt2", "bart"])
@pytest.mark.parametrize("page", [HEADS, NEXT])
def test_the_class_scores_stand_beside_attention(folder, family, page):
    where = folder(family)
    app = open_app(page=page, model=where, text=TEXT)
    expected = sorted(shares(where).items(), key=lambda pair: -pair[1])
    shown = bars(app)
    assert [name for name, _ in shown] == [name.replace("<", "&lt;").replace(">", "&gt;") for name, _ in expected]
    for (_, said), (_, share) in zip(shown, expected, strict=True):
        assert said == f"{share_digits(share).replace('<', '&lt;')} %"
    if page == NEXT:
        assert "is a classifier: it scores 3 classes and predicts no token" in sentences(app)[0]
    else:
        assert sentences(app) == []


@pytest.mark.parametrize("family", ["bert", "gpt2", "bart"])
def test_which_heads_matter_for_a_class(folder, family):
    where = folder(family)
    app = until(
        open_app(page=EDIT, model=where, text=TEXT, **{"edit_heads.view": "effects", "edit_heads.token": "2"}),
        lambda app: not button(app, "effect_stop"),
    )
    capture = runner(where).capture(CaptureRequest(text=TEXT, attention="cross" if family == "bart" else None))
    found = [runner(where).submit(WhichHeads(capture.request, layer, 2)).result() for layer in range(capture.n_layers)]
    lost = np.stack([-answers.ablated.numpy() for answers in found])
    maps = [arrays["values"] for _, arrays in payloads(app, "layer_head_map")]
    np.testing.assert_allclose(maps[0], lost, atol=1e-4)
    assert "how much less likely the class is when the head passes on nothing" in html(app)
    assert "the last token puts" not in html(app)


def test_another_class_is_chosen_from_the_list(folder):
    app = open_app(page=EDIT, model=folder("gpt2"), text=TEXT, **{"edit_heads.view": "effects"})
    first = sorted(shares(folder("gpt2")).items(), key=lambda pair: -pair[1])
    box = app.selectbox(key=next(one.key for one in app.selectbox if one.label == "Target class"))
    assert [option.rsplit("  ", 1)[0] for option in box.options] == [name for name, _ in first]
    box.select_index(2).run()
    chosen = NAMES.index(first[2][0])
    assert app.query_params["edit_heads.token"] == str(chosen)


@pytest.mark.parametrize("wrong", ["3", "'good", "99999999999"])
def test_a_class_that_does_not_exist_is_said_and_the_likeliest_stands_in(folder, wrong):
    address = {"edit_heads.view": "effects", "edit_heads.token": wrong}
    app = open_app(page=EDIT, model=folder("gpt2"), text=TEXT, **address)
    assert any("There is no class" in one and "have 3" in one for one in sentences(app))


@pytest.mark.parametrize("family", ["gpt2", "bart"])
def test_an_edited_head_changes_the_classes_beside_the_maps(folder, family):
    edits = "cross:ScaledHead(1,2,0.0)" if family == "bart" else "ScaledHead(1,2,0.0)"
    app = open_app(page=EDIT, model=folder(family), text=TEXT, layer="1", head="2", edits=edits)
    assert sentences(app) == []
    figure = next(one.proto.body for one in app.get("html") if "<caption>Class" in one.proto.body)
    assert "KL" in figure
    assert figure.count('class="number"') == 6


def test_a_model_of_one_number_shows_it_and_no_percentage(folder):
    where = folder("bert", num_labels=1)
    app = open_app(page=HEADS, model=where, text=TEXT)
    score = float(runner(where).capture(CaptureRequest(text=TEXT)).class_logits[0])
    assert f"{score:+.4f}".replace("-", "−") in html(app)
    effects = until(
        open_app(page=EDIT, model=where, text=TEXT, **{"edit_heads.view": "effects"}),
        lambda app: not button(app, "effect_stop"),
    )
    assert "what the score loses" in html(effects)


def test_inside_a_cell_every_step_but_the_push_on_a_token_is_shown(folder):
    app = open_app(page="pages/cell/page.py", model=folder("llama"), text=TEXT)
    assert sentences(app) == []
    assert "is a classifier: it scores 3 classes" in payload(app, "cell_steps")[0]["push"]


@pytest.mark.parametrize(
    "auto, labels, words",
    [
        (AutoModelForTokenClassification, 5, "gives each token one of 5 classes: it predicts no token"),
        (AutoModelForQuestionAnswering, 2, "marks where in a text an answer begins and ends: it predicts no token"),
    ],
)
def test_a_head_that_scores_tokens_is_named_and_attention_is_drawn(tmp_path, auto, labels, words):
    tiny("bert", auto, num_labels=labels)().save_pretrained(tmp_path)
    byte_tokenizer().save_pretrained(tmp_path)
    app = open_app(page=HEADS, model=str(tmp_path), text=TEXT)
    assert words in " ".join(sentences(app))
    assert "head_map" in components(app)
    assert words in sentences(open_app(page=NEXT, model=str(tmp_path), text=TEXT))[0]


def test_a_film_of_a_classifier_is_one_sentence(folder):
    app = open_app(page=FILM, model=folder("gpt2"), text=TEXT)
    assert any("is a classifier" in one for one in sentences(app))
    assert "film" not in components(app)


@pytest.mark.long
def test_a_classifier_of_two_stacks_has_no_box_for_what_is_written(folder):
    app = open_app(page=HEADS, model=folder("bart"), text=TEXT, target="lang")
    assert sentences(app) == []
    assert not [one for one in app.text_input if one.label == "what is written"]
