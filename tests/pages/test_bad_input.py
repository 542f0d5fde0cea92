"""Bad input: one clear sentence, nothing lost, no traceback. The same in a browser: test_browser_bad_input.py."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from streamlit.runtime.pages_manager import PagesManager

from model_runner.local.loading.model_folder import DEFAULT_FOLDER
from pages.entries import ENTRIES
from tests.ui.driving import beside_head, components, html, open_app, payload, sentences, type_text
from ui.state.url_state import DEFAULT_TEXT

pytestmark = pytest.mark.table

HTML = "<script>window.hacked=1</script><img src=x onerror=window.hacked=1>"
FIGURES = {
    "head_map", "head_grid", "token_lines", "cell_steps", "token_strip", "rotation", "sampling_bench", "film",
    "token_tree", "mask_gallery", "long_map", "model_stages", "family_masks", "layer_head_map",
}  # fmt: skip
SMALL_NUMBERS = "step_by_step"  # a figure that stays where no model or text can be read: it needs none
HEADS = "pages/heads/page.py"
every_page = pytest.mark.parametrize("screen", [entry.file for entry in ENTRIES])


def on_heads(*cases: tuple[object, ...], elsewhere: tuple[object, ...]) -> list[tuple[object, ...]]:
    """Every case on one page, and on each other page one that holds them together: what a text or an address says is
    read in one place for all pages, and each page only has to live with it.
    """
    return [(HEADS, *case) for case in cases] + [(one.file, *elsewhere) for one in ENTRIES if one.file != HEADS]


def the_sentence(app) -> str:
    """The one sentence on a page that draws nothing; whatever was typed is still there."""
    assert FIGURES.isdisjoint(components(app))
    assert "atlas-badge" not in html(app).replace(".atlas-badge", "")
    (said,) = sentences(app)
    return said


# -- texts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("screen, text", on_heads(("",), (" ",), elsewhere=(" \n\t\u3000 ",)))
def test_a_text_without_a_word_asks_for_one(screen, text):
    app = type_text(open_app(page=screen), text)
    assert the_sentence(app) == "There is no text to look at. Type a sentence, or pick one of the examples."
    assert app.text_area(key="text_box").value == text


def test_a_megabyte_says_how_many_tokens_fit_and_why():
    text = "word " * 200_000
    app = type_text(open_app(layer="3"), text)
    said = the_sentence(app)
    assert "The text is 200,00" in said
    assert "but 2,048 fit: this model was built for that many positions." in said
    assert app.text_area(key="text_box").value == text
    assert app.query_params == {"layer": "3", "head": "0"}  # too long for an address; a copy of it still opens


def test_the_advised_number_of_characters_fits():
    text = "word " * 3000
    said = the_sentence(type_text(open_app(page="pages/cell/page.py"), text))
    characters = int(said.split("its first ")[1].split()[0].replace(",", ""))
    app = type_text(open_app(page="pages/cell/page.py"), text[:characters])
    assert sentences(app) == []


WHOLE = "\n".join(
    [
        "😀👩‍👩‍👧‍👦🏳️‍🌈",
        "a\x00b\x00",
        "\x1b[31m\x7f\x80",
        "שלום עולם مرحبا بالعالم",
        "北京是中国的首都，上海是中国最大的城市。",
        "\u202eabc\u2066def\u200b\ufeff",
        "e\u0301\u0301\u0301 \U000e0001",
        "$x$ **b** `c` :red[d] <b>e</b> &amp; {f} {{g}} %s \\",
        HTML,
        "a\r\nb\r\n\r\n\tc",
    ]
)


@pytest.mark.parametrize("screen, text", on_heads(("\x00",), (WHOLE,), elsewhere=(WHOLE,)), ids=ascii)
def test_unusual_characters_are_text_like_any_other(screen, text):
    app = type_text(open_app(page=screen), text)
    assert sentences(app) == []
    assert "atlas-badge ok" in html(app)
    assert app.text_area(key="text_box").value == text
    again = open_app(page=screen, **app.query_params)
    assert again.session_state["text"] == text


def test_tokens_that_look_like_markup_are_escaped_in_everything_the_page_writes_itself():
    app = open_app(text=HTML, query="3")
    assert "<script" not in html(app)
    assert "<img" not in html(app)
    assert "&lt;" in html(app)
    assert "".join(payload(app, "token_strip")[0]["labels"][1:]).replace("␣", "·") == HTML.replace(" ", "·")


@pytest.mark.parametrize("text", ["שלום עולם", "北京 😀"])
def test_a_token_in_the_caption_is_isolated_from_the_words_around_it(text):
    said = html(open_app(text=text, query="2", key="1"))
    assert said.count("<bdi>") == said.count("</bdi>") > 0
    assert "<span class='atlas-q'><bdi>" in said


# -- addresses --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "screen, address, said",
    on_heads(
        ({"layer": "99"}, ["There is no layer 99: this model and text have 8, counted from 0."]),
        ({"layer": "-9"}, ["There is no layer -9"]),
        ({"layer": "2", "head": "-50"}, ["There is no head -50: this model and text have 8"]),
        ({"query": "1000"}, ["There is no position 1,000: this model and text have 8"]),
        ({"key": "8"}, ["There is no position 8"]),
        ({"layer": "99", "head": "-50", "query": "1000"}, ["layer 99", "position 1,000"]),
        ({"layer": "abc"}, ["“abc” is not a number for layer."]),
        ({"query": "<b>x</b>"}, ["“<b>x</b>” is not a number for query."]),
        (
            {"layer": "1e3", "window": "0-1-2-x"},
            ["“1e3” is not a whole number for layer.", "“0-1-2-x” is not a number for"],
        ),
        elsewhere=(
            {"text": "a b", "layer": "99", "head": "-50", "query": "1000", "key": "<b>x</b>", "window": "0-1-2-x"},
            ["There is no layer 99", "position 1,000", "“<b>x</b>” is not a number for key.", "“0-1-2-x” is not a"],
        ),
    ),
    ids=str,
)
def test_a_place_that_does_not_exist_is_told_and_replaced(screen, address, said):
    app = open_app(page=screen, **address)
    (told,) = sentences(app)
    assert [part for part in said if part not in told] == []
    assert {*FIGURES, SMALL_NUMBERS} & set(components(app))
    assert ("instead" in told) == bool({"layer", "head"} & set(address))  # only then another head is shown
    again = open_app(page=screen, **app.query_params)  # the address it wrote is whole
    assert sentences(again) == []


@pytest.mark.parametrize(
    "address, told",
    [
        ({"window": "900-999-0-3"}, []),
        ({"window": "3-1-3-1"}, []),
        ({"lang": "tlh", "unheard": "of"}, []),
        ({"text": "a", "query": "-1", "key": "-1"}, []),
        (
            {"metric": "no", "heads.what": "no"},
            ["“no” is not an option for metric. “no” is not an option for quantity."],
        ),
        ({"other": "L99H9"}, ["There is no head L99H9 to compare with."]),
        (
            {"layer": "3", "head": "7", "other": "L3H7"},
            ["L3H7 is the open head: with itself there is nothing to compare. Choose another."],
        ),
    ],
    ids=str,
)
def test_choices_that_do_not_exist_are_the_default(address, told):
    app = open_app(**address)
    assert sentences(app) == told
    meta, _ = payload(app, "head_map")
    assert meta["window"] == [0, meta["total"][0], 0, meta["total"][1]]
    assert sentences(open_app(**app.query_params)) == []


# -- models -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path) -> Path:
    """A copy of the embedded model's folder to be spoilt; its large file is a link."""
    for file in DEFAULT_FOLDER.iterdir():
        (tmp_path / file.name).symlink_to(file)
    return tmp_path


def told_of(folder: Path, screen: str = "pages/heads/page.py") -> str:
    """The sentence for this model, asked for in a session that has another text; the embedded model is there after."""
    app = open_app(page=screen, model=str(folder), text="My own text")
    said = the_sentence(app)
    assert app.text_area(key="text_box").value == "My own text"
    assert app.selectbox(key="model_box").value == str(folder)
    assert beside_head(app) == {"model": str(folder), "text": "My own text"}
    app.selectbox(key="model_box").set_value("default")
    app.run()
    assert "atlas-badge ok" in html(app)
    return said


@every_page
def test_a_folder_that_holds_no_configuration(screen, tmp_path):
    said = told_of(tmp_path, screen)
    assert said.startswith(f"There is no folder {tmp_path} that holds a model and may be read. Give the full")


def test_a_folder_without_weights(folder):
    (folder / "model.safetensors").unlink()
    assert "is not complete: it has no .safetensors file." in told_of(folder)


@pytest.mark.parametrize("size", [0, 7, 100_000])
def test_a_file_of_weights_copied_by_half(folder, size):
    file = folder / "model.safetensors"
    half = file.read_bytes()[:size]
    file.unlink()
    file.write_bytes(half)
    said = told_of(folder)
    assert "is not complete: model.safetensors" in said
    assert f"{size:,}" in said


def test_weights_that_are_pickled_are_not_opened(folder):
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'touch /tmp/opened'\ntR.")
    said = told_of(folder)
    assert "are pickled (pytorch_model.bin); such a file can run any code, so it is not opened." in said


def test_a_folder_without_a_tokenizer(folder):
    for file in folder.glob("tokenizer*"):
        file.unlink()
    assert "cannot be loaded" in told_of(folder)


def save(folder: Path, model) -> Path:
    """A tiny model with the embedded one's tokenizer."""
    model.save_pretrained(folder)
    for file in DEFAULT_FOLDER.glob("tokenizer*"):
        shutil.copy(file, folder)
    return folder


def test_a_family_without_softmax_attention(tmp_path):
    from transformers import FNetConfig, FNetForMaskedLM

    config = FNetConfig(vocab_size=64, hidden_size=16, num_hidden_layers=1, intermediate_size=16)
    said = told_of(save(tmp_path, FNetForMaskedLM(config)))
    assert (
        "(fnet) cannot be captured: none of its layers uses transformers' attention interface for softmax attention."
        in said
    )
    assert "Choose another model, such as Llama, Qwen, Gemma, GPT-2 or BERT." in said


def test_a_family_that_hears_instead_of_reading(tmp_path):
    from transformers import Speech2TextConfig, Speech2TextForConditionalGeneration

    sizes = {f"{side}_{what}": 1 for side in ("encoder", "decoder") for what in ("layers", "attention_heads")}
    config = Speech2TextConfig(vocab_size=64, d_model=16, encoder_ffn_dim=16, decoder_ffn_dim=16, **sizes)
    said = told_of(save(tmp_path, Speech2TextForConditionalGeneration(config)))
    assert "(speech_to_text) cannot be captured: its encoder reads sound" in said


@every_page
def test_a_hub_id_without_a_network(screen):
    app = open_app(page=screen, model="owner/never-heard-of", text="My own text")
    app.button(key="fetch_model").click().run()  # an address alone asks nothing of the hub
    assert the_sentence(app) == (
        "The hub cannot be reached, and owner/never-heard-of is not on this machine yet. "
        "Check the network, or choose the embedded model or a local folder."
    )


@pytest.mark.parametrize("name", ["two words", "a/b/../c", "**bold** <b>x</b> $y$ :red[z] &amp; `c`", "\x00"])
def test_a_name_that_is_neither_folder_nor_id(name):
    assert the_sentence(open_app(model=name)).startswith(f"“{name}” is neither a folder nor a model id.")


def test_a_model_typed_with_spaces_around_it_is_that_model():
    app = open_app(model=" default ")
    assert "model" not in app.query_params


def test_a_model_that_does_not_fit_is_refused_before_it_is_loaded(folder, monkeypatch):
    def load(*_args: object, **_options: object) -> None:
        raise AssertionError("weights were read")

    open_app()  # the embedded model is there, whatever the order of the tests
    with monkeypatch.context() as patch:
        patch.setattr("model_runner.memory.available", lambda _device: 1_000_000)
        patch.setattr("transformers.AutoModelForCausalLM.from_pretrained", load)
        said = told_of(folder)
    assert said.startswith(f"The model {folder} needs about ")
    assert "but only 977 KB are free." in said


def test_a_text_that_does_not_fit_beside_the_model_is_refused(monkeypatch):
    app = open_app()
    monkeypatch.setattr("model_runner.memory.available", lambda _device: 200_000)
    said = the_sentence(type_text(app, f"{DEFAULT_TEXT} and so on and so on and so on"))
    assert "its vectors need" in said
    assert "Shorten the text, or choose a smaller model." in said


def test_a_page_that_does_not_exist_is_said_and_the_first_one_shown(monkeypatch):
    meant: list[tuple[str, str]] = []
    monkeypatch.setattr(PagesManager, "intended_page_name", "neurons")
    monkeypatch.setattr(PagesManager, "set_script_intent", lambda _self, *asked: meant.append(asked))
    app = open_app()
    assert ("", "") in meant  # else Streamlit says it over the page, in English
    assert sentences(app) == ["There is no page “neurons”: this is Heads."]
    assert "head_map" in components(app)
    monkeypatch.setattr(PagesManager, "intended_page_name", "cell")  # which there is
    assert sentences(open_app(page="pages/cell/page.py")) == []
