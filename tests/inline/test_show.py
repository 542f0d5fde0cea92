"""One call returns a small picture of the capture's own numbers, and refuses what it cannot show."""

from __future__ import annotations

import base64
import html
import re
from typing import get_args
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

from analysis.head_grid import head_grid
from analysis.head_map import Reading, head_map
from analysis.opening import opening_head
from inline import CellOutput, show
from inline.show import Kind
from model_runner import CaptureRequest, load_runner
from model_runner.edits import KeepLast
from model_runner.errors import NoSuchPlace, NotVerified, NoWeights
from model_runner.local.runner import LocalRunner
from tests.analysis.made import causal_noise, embedded, made_capture
from tests.model_runner.tiny import byte_tokenizer, tiny
from tests.viz.components.test_packing import unpacked
from viz.share_text import share_digits

KINDS = get_args(Kind)
BERTVIZ = 63_500_000  # bytes of its head view of 12 × 12 heads at 128 tokens, see docs/performance.md


@pytest.fixture(scope="module")
def capture():
    return embedded().capture(CaptureRequest(text="The dog chased the squirrel because it"))


def drawn(output: CellOutput):
    """(meta, arrays) of the payload inside the cell's markup."""
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', output.html)[1])
    return unpacked(base64.b64decode(re.search(r'class="payload">([^<]*)<', page)[1]))


def test_the_map_holds_the_weights_of_the_head(capture):
    meta, arrays = drawn(show(capture, layer=3, head=7))
    np.testing.assert_array_equal(np.nan_to_num(arrays["values"]), capture.weights(3, 7).numpy())
    assert meta["row_labels"] == meta["col_labels"] == [token.text for token in capture.tokens]
    assert (meta["scale"], meta["low"], meta["high"], meta["selected"]) == ("sequential", 0.0, 1.0, [7, None])


def test_the_lines_hold_the_same_weights(capture):
    meta, arrays = drawn(show(capture, 3, 7, kind="lines", query=5))
    np.testing.assert_array_equal(arrays["weights"], capture.weights(3, 7).numpy()[None])
    assert (meta["head_labels"], meta["selected"]) == (["L3H7"], 5)


def test_the_grid_holds_every_head_and_the_metric_asked_for(capture):
    meta, arrays = drawn(show(capture, 3, 7, kind="grid", metric="first"))
    expected = head_grid(capture)
    np.testing.assert_array_equal(arrays["thumbnails"], expected.thumbnails)
    np.testing.assert_array_equal(arrays["metric"], expected.metrics["first"])
    assert (meta["selected"], meta["texts"]["metric"], meta["number"]) == ([3, 7], "first token (sink)", "percent")


def test_another_reading_is_drawn_and_said(capture):
    reading = Reading("scores")
    meta, arrays = drawn(show(capture, 3, 7, reading=reading))
    np.testing.assert_array_equal(arrays["values"], head_map(capture, 3, 7, reading=reading).values)
    assert (meta["scale"], meta["texts"]["note"]) == ("diverging", "Scores before the softmax, scaled and masked.")


def test_without_a_head_the_one_that_the_app_opens_is_shown(capture):
    layer, head = opening_head(capture)
    assert show(capture).says.startswith(f"L{layer}H{head}: ")


def test_products_at_one_column_name_each_key_and_its_weight(tmp_path):
    capture = embedded().capture(CaptureRequest(text="The dog chased the squirrel because straightforwardly it was"))
    show(capture, 6, 4, kind="products").save(tmp_path / "products.svg", size="column")
    root = ElementTree.parse(tmp_path / "products.svg").getroot()
    texts = root.iter("{http://www.w3.org/2000/svg}text")
    keys = [node for node in texts if "".join(node.itertext()).strip("\u2068\u2069").endswith(" %")]
    assert len(keys) == len(capture.tokens)  # none is left out, and of none the weight is cut
    heights = sorted(float(node.get("y")) for node in keys)
    assert min(np.diff(heights)) >= 12  # the size of the letters
    width, height = (float(number) for number in root.get("viewBox").split()[2:])
    assert width <= 3.3 * 72 / 7 * 11 + 0.01
    assert heights[-1] < height


def test_a_layer_alone_or_a_head_alone_is_kept(capture):
    for layer in range(capture.n_layers):
        assert show(capture, layer).says.startswith(f"L{layer}H")
    for head in range(capture.n_heads):
        assert show(capture, head=head).says.partition(":")[0].endswith(f"H{head}")
    assert [show(torch.cat(eager_weights(layers=1)), head=head).says[:4] for head in (0, 1, 2)] == [
        "L0H0",
        "L0H1",
        "L0H2",
    ]


def test_negative_places_count_from_the_end(capture):
    assert show(capture, -1, -1, query=-2) == show(capture, 7, 7, query=6)


def test_a_cross_attention_is_drawn_from_what_is_written_to_what_is_read():
    cross = load_runner("translator").capture(CaptureRequest("The wolf loves Mary.", attention="cross"))
    meta, arrays = drawn(show(cross, 3, 1, query=2, key=1))
    np.testing.assert_allclose(arrays["values"], cross.weights(3, 1), atol=1e-3)
    assert (meta["selected"], meta["row_labels"]) == ([2, 1], [token.text for token in cross.tokens])
    for kind in ("lines", "grid"):
        assert show(cross, kind=kind)


def test_its_words_tell_the_pinned_cell(capture):
    share = share_digits(float(capture.weights(3, 7)[2, 1]))
    query, key = capture.tokens[2].text, capture.tokens[1].text
    assert repr(show(capture, 3, 7, query=2, key=1)) == f"L3H7: {query} (2) puts {share} % on {key} (1)"
    assert repr(show(capture, 3, 7, query=None)) == "L3H7"


def test_its_caption_tells_the_model_and_its_edits():
    edited = embedded().capture(CaptureRequest(text="The dog", edits=(KeepLast(2, sinks=1),)))
    page = show(edited, 0, 0).page.decode()
    assert re.search(
        r"default · float32 · L0 verified, max diff \S+ · changed: a cache of the first 1 and last 2", page
    )


def test_a_token_that_looks_like_markup_stays_in_its_attribute():
    text = "\"></iframe><script>window.ran = 1</script>' onload='window.ran = 1"
    output = show(embedded().capture(CaptureRequest(text=text)), 0, 0)
    markup = output.html
    assert re.fullmatch(r'<iframe( \w+="[^"<>]*")+></iframe>', markup)
    assert html.unescape(re.search(r'srcdoc="([^"]*)"', markup)[1]) == output.page.decode()


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_whose_weights_do_not_explain_its_output_is_not_drawn(kind):
    with pytest.raises(NotVerified, match="Layer 0 is not drawn"):
        show(made_capture(causal_noise(4)), 0, 0, kind=kind)  # its outputs are zeros


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", [{"layer": 8}, {"head": 8}, {"head": -9}, {"query": 99}, {"key": -99}], ids=str)
def test_a_place_that_does_not_exist_is_said(capture, kind, place):
    with pytest.raises(NoSuchPlace, match=r"this model and text have 8, counted from 0"):
        show(capture, kind=kind, **({"layer": 3, "head": 7} | place))


@pytest.mark.parametrize(
    "asked, names", [({"kind": "maps"}, "map, lines, grid, products"), ({"metric": "length"}, "entropy")], ids=str
)
def test_a_picture_or_a_metric_that_there_is_none_of_is_refused_with_those_there_are(capture, asked, names):
    with pytest.raises(ValueError, match=rf"There is no \w+ '\w+'; choose from .*{names}"):
        show(capture, 3, 7, **asked)


def test_a_layer_without_weights_is_said():
    with pytest.raises(NoWeights, match="Layer 1 has no softmax attention"):
        show(made_capture(causal_noise(4, layers=2), without={1}), 1, 0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_of_144_heads_has_a_hundredth_of_the_bytes_of_bertviz(kind):
    model = tiny("llama", num_hidden_layers=12, num_attention_heads=12, hidden_size=96)()
    runner = LocalRunner(model, byte_tokenizer(), name="144 heads")
    capture = runner.capture(CaptureRequest(text="".join(chr(33 + i * 7 % 90) for i in range(128))))
    assert (capture.n_layers, capture.n_heads, len(capture.tokens)) == (12, 12, 128)
    assert len(show(capture, 3, 7, kind=kind).html.encode()) <= BERTVIZ / 100


def eager_weights(layers: int = 2, heads: int = 3, n: int = 5) -> list[torch.Tensor]:
    """As transformers' ``outputs.attentions``: of each layer a batch of one."""
    return [one[None] for one in causal_noise(n, layers=layers, heads=heads).float()]


@pytest.mark.parametrize(
    "given",
    [
        tuple,
        torch.cat,
        lambda weights: torch.cat(weights).numpy(),
        lambda weights: [one.bfloat16() for one in weights],
    ],
    ids=["a tuple of layers", "one tensor", "numpy", "bfloat16"],
)
def test_weights_of_others_are_drawn_as_they_are(given):
    weights, words = eager_weights(), ["The", "Ġdog", "▁chased", " it", "."]
    meta, arrays = drawn(show(given(weights), 1, 2, tokens=words))
    np.testing.assert_allclose(np.nan_to_num(arrays["values"]), weights[1][0, 2].numpy(), atol=4e-3)
    assert meta["row_labels"] == ["The", "·dog", "·chased", "·it", "."]
    page = show(given(weights), 1, 2, tokens=words).page.decode()
    assert "weights that were given, not checked against a model" in page
    for kind in ("lines", "grid"):
        assert show(given(weights), kind=kind, tokens=words)


def test_of_a_learned_sink_rows_may_sum_to_less_and_two_texts_may_look_across():
    weights = 0.7 * torch.cat(eager_weights())
    _meta, arrays = drawn(show(weights, 0, 1))
    np.testing.assert_allclose(np.nan_to_num(arrays["values"]), weights[0, 1].numpy(), atol=1e-6)
    across = torch.softmax(torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0)), -1)
    meta, arrays = drawn(show(across, 0, 1, tokens=list("abc"), keys=list("wxyz")))
    np.testing.assert_allclose(arrays["values"], across[1].numpy(), atol=1e-6)
    assert (meta["row_labels"], meta["col_labels"]) == (list("abc"), list("wxyz"))


@pytest.mark.parametrize(
    "weights, more, says",
    [
        (torch.randn(5), {}, r"shape \(5,\) cannot be drawn; give \[queries, keys\]"),
        (torch.randn(2, 5, 5), {}, "no attention weights, .*: row . of head . of layer 0 sums to"),
        (torch.full((2, 3, 3), torch.nan), {}, "no attention weights"),
        (torch.full((2, 3, 3), 0.4), {}, "row 0 of head 0 of layer 0 sums to 1.2"),
        ([torch.rand(4, 2, 3, 3)], {}, "a batch of 4 texts"),
        ([], {}, "the list of layers is empty"),
        (torch.tensor([[0.5, 0.0], [0.0, 1.1]]), {}, r"row 1 of head 0 .* sums to 1.1\. .*call model.eval\(\)"),
        (torch.eye(3)[None], {"tokens": ["a"]}, "1 words for 3 rows"),
        (torch.full((1, 2, 3), 1 / 3), {}, "2 rows look at 3 columns"),
        (torch.eye(3)[None], {"kind": "products"}, "no q and k"),
    ],
    ids=range(10),
)
def test_what_are_no_weights_is_said_in_one_sentence(weights, more, says):
    with pytest.raises(ValueError, match=says):
        show(weights, **more)


def test_products_sum_to_the_scores(capture):
    meta, arrays = drawn(show(capture, 3, 7, kind="products", query=6))
    np.testing.assert_allclose(arrays["values"].sum(1), capture.scores(3, 7)[6, :7].numpy(), atol=1e-4)
    assert meta["row_labels"][2].startswith(f"{capture.tokens[2].text} 2 · ")
    assert share_digits(float(capture.weights(3, 7)[6, 2])) in meta["row_labels"][2]


@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_figure_is_saved_as_a_page_and_as_a_picture_of_every_size(capture, kind, tmp_path):
    figure = show(capture, 3, 7, kind=kind)
    figure.save(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_bytes() == figure.page
    for size in (None, "column", "page", "slide"):
        for ending, start in ((".svg", b"<svg"), (".pdf", b"%PDF"), (".png", b"\x89PNG")):
            path = tmp_path / f"{size}{ending}"
            figure.save(path, size=size)
            assert path.read_bytes().startswith(start)
        svg = ElementTree.fromstring((tmp_path / f"{size}.svg").read_text("utf-8"))
        says = svg.findtext("{http://www.w3.org/2000/svg}desc")
        assert "default · float32 · L3 verified" in says
        assert f"weights {embedded().info.weights}" in says
    with pytest.raises(ValueError, match=r"saved as .html, .svg, .pdf, .png: 'a.jpg' ends otherwise"):
        figure.save(tmp_path / "a.jpg")
    with pytest.raises(ValueError, match="no size 'poster'; choose from column, page, slide"):
        figure.save(tmp_path / "a.svg", size="poster")
