"""The lines of transformers on the page Next token give what the page shows; so does the file that generates."""

from __future__ import annotations

import pytest
import torch

from model_runner import Sampling
from model_runner.edits import ScaledHead
from pages.next_token.plain_code import generating, plain_lines
from tests.pages.expected import capture, runner
from tests.pages.test_next_token import bench
from tests.ui.driving import open_app
from tests.ui.taken import ran
from ui.shared.code_pane import code_text

PAGE = "pages/next_token/page.py"


@pytest.mark.parametrize(
    "query, settings",
    [
        (7, {}),
        (4, {"temperature": 0.6, "top_k": 20, "top_p": 0.9}),
        (7, {"temperature": 0}),
        (7, {"repetition_penalty": 1.3, "min_p": 0.02, "typical_p": 0.8}),
    ],
)
def test_the_lines_give_the_probabilities_of_the_bench(query: int, settings: dict[str, float]):
    one = bench(query, a=Sampling(**settings))
    names = ran(code_text(plain_lines(one), "last"))
    wanted = one.stages(one.a)[-1].probabilities
    torch.testing.assert_close(names["probabilities"], wanted.double(), atol=1e-5, rtol=1e-4)
    for name in ("ids", "hidden", "logits"):
        (line,) = (line for line in plain_lines(one) if line.code.startswith(f"{name} ="))
        assert tuple(names[name].shape) == line.shape
    assert tuple(names["scores"].shape) == (runner().info.n_vocab,)


def test_the_file_generates_the_likeliest_token_and_the_pipeline_writes_it():
    one = bench(7, a=Sampling(temperature=0.6, top_k=1, seed=3))
    names = ran(generating(one))
    likeliest = one.likeliest(1)[0]
    assert int(names["greedy"]) == likeliest == int(names["chosen"]) == names["likeliest"]
    assert names["written"] == capture().request.text + runner().token_text(likeliest).replace("·", " ")


def test_a_token_within_the_text_has_no_pipeline_and_an_edit_no_lines():
    assert "pipeline(" not in generating(bench(3))
    changed = capture(edits=(ScaledHead(6, 5, 0.0),))
    assert plain_lines(bench(7, of=changed)) == []


def test_the_page_shows_the_last_row_lit():
    app = open_app(page=PAGE)
    (code,) = (one.value for one in app.code if "logits_to_keep" in one.value)
    lit = [line for line in code.splitlines() if "◀" in line]
    assert [line.rsplit("◀ ")[1] for line in lit] == ["[1, 1, 8192]", "[8192]"]
