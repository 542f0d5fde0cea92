"""Latent attention on the page Zoo: what it keeps of a token, and what it leaves out."""

from __future__ import annotations

import pytest
import torch

from analysis.latent_bytes import kept
from analysis.zoo import own
from attention.zoo import mla
from model_runner import CaptureRequest, load_runner
from tests.pages.zoo_driving import close, head, maps, opened
from tests.ui.driving import html
from ui.state.url_state import DEFAULT_TEXT
from viz.share_text import share_digits


def test_a_latent_tells_what_it_keeps_beside_heads_and_what_it_leaves_out():
    app = opened(variant="mla", **{"values.mla.rank": "3"})
    record = load_runner("default").capture(CaptureRequest(text=DEFAULT_TEXT)).record(3)
    held = (record.k.nbytes + record.v.nbytes) // 8  # of a token, as the tensors have them
    assert [one.n_bytes for one in kept(record, 3)] == [2 * held, held, held // 4, 12, 12 + 64]
    layer = head().layer
    assert layer is not None
    latent, _up = mla.latent(layer, 3)
    assert latent.float().nbytes // 8 == 12
    sizes = torch.linalg.svdvals(layer.rows)
    share = float((sizes[3:] ** 2).sum() / (sizes**2).sum()) ** 0.5
    assert f"{share_digits(float(share))} % of their norm is left out, the singular values from 4 to 8." in html(app)
    assert "<th scope='row'>MLA</th><td>3</td><td>12</td>" in html(app)
    app = opened(variant="mla", **{"values.mla.rank": "8"})
    close(maps(app)[1], own(head()).weights)
    assert "Nothing of its keys and values is left out" in html(app)


@pytest.mark.long
def test_of_a_model_that_keeps_a_latent_nothing_else_is_called_its_own(folder_of):
    here = {"model": folder_of("deepseek-v3"), "text": "some text"}
    kept_here = "The model itself keeps one compressed vector for all heads (MLA)"
    assert "this model</th>" in html(opened(variant="mla"))
    assert "this model</th>" not in html(opened(variant="mla", **here))
    assert kept_here in html(opened(view="cost", **here))
    assert kept_here not in html(opened(view="cost"))
