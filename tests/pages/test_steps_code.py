"""The lines of PyTorch beside the small numbers: they run, give the numbers in view, and say their shapes."""

from __future__ import annotations

import re

import pytest
import torch

from attention.small_attention import small_attention
from pages.steps.numbers import numbers_of
from pages.steps.small_code import code_lines
from tests.ui.driving import open_app, payload, send, sentences
from tests.ui.taken import ran
from ui.shared.code_pane import CodeLine, code_text, lit_at

PAGE = "pages/steps/page.py"


@pytest.mark.parametrize(
    "heads, kv_heads, causal, scaled",
    [(1, None, True, True), (2, 2, False, True), (4, 2, True, False), (4, 1, True, True)],
)
def test_the_lines_run_and_every_tensor_has_the_shape_and_the_numbers_that_are_said(heads, kv_heads, causal, scaled):
    numbers = numbers_of(5, 8, "X00_2.5~K11_-3")
    lines = code_lines(numbers, n_heads=heads, n_kv_heads=kv_heads, causal=causal, scaled=scaled)
    names = ran(code_text(lines, "softmax"))
    wanted = small_attention(numbers, n_heads=heads, n_kv_heads=kv_heads, causal=causal, scaled=scaled)
    for name in ("q", "k", "v", "scores", "scaled", "masked", "weights"):
        torch.testing.assert_close(names[name][0], getattr(wanted, name))
    torch.testing.assert_close(names["mixed"][0], wanted.output)
    torch.testing.assert_close(names["added"][0], wanted.added)
    for line in lines:
        if line.shape:
            assert tuple(names[line.code.partition(" = ")[0]].shape) == line.shape, line


def test_the_open_steps_line_is_marked_and_typed_numbers_are_in_it():
    app = open_app(page=PAGE, **{"steps.step": "softmax", "steps.heads": "2", "steps.numbers": "X01_7.5"})
    (code,) = (one.value for one in app.code if one.value.startswith("import torch\n\nb, n"))
    assert re.findall(r".*◀.*", code) == [
        f"{'weights = masked.softmax(dim=-1)':<64}  # ◀ [1, 2, 4, 4]",
    ]
    assert "7.5" in code
    send(app, "step_by_step", "step", "q")
    (code,) = (one.value for one in app.code if one.value.startswith("import torch\n\nb, n"))
    assert "q = (x @ w_q)" in re.findall(r".*◀.*", code)[0]


def test_the_lines_that_are_lit_are_the_marked_ones():
    lines = [CodeLine("a = 1"), CodeLine("for x in y:\n    b = 2", "k", (2,)), CodeLine("c = 3", "k")]
    assert lit_at(lines, "k") == [1, 2, 3]
    assert not lit_at(lines, "")
    app = open_app(page=PAGE, **{"steps.step": "softmax", "steps.heads": "2"})
    (code,) = (one.value for one in app.code if one.value.startswith("import torch\n\nb, n"))
    marked = [at for at, line in enumerate(code.split("\n")) if "◀" in line]
    (bands,) = (one.proto.body for one in app.get("html") if "--atlas-lit:" in one.proto.body)
    assert re.findall(r" 0 (\d+)lh", bands) == [str(at) for at in marked] != []


def test_fewer_key_value_heads_are_copies_and_those_that_do_not_share_evenly_are_a_sentence():
    app = open_app(page=PAGE, **{"steps.d": "8", "steps.heads": "4", "steps.kv_heads": "2", "steps.step": "k"})
    assert payload(app, "step_by_step")[0]["settings"]["kv_heads"] == 2
    assert any("repeat_interleave(h // kv, dim=1)" in one.value for one in app.code)
    app = open_app(page=PAGE, **{"steps.d": "8", "steps.heads": "4", "steps.kv_heads": "3"})
    assert sentences(app) == ["4 query heads cannot share 3 key/value heads evenly."]
