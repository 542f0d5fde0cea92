"""Singular values of a weight matrix scaled: what a plain model with that matrix says, and the weights stay."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from model_runner import CaptureRequest, GenerateRequest
from model_runner.edits import KeepLast
from model_runner.errors import EditNotPossible, NoAttribution, NotSeparable
from model_runner.local.recording.changed_matrices import changed_matrices, decomposed
from model_runner.local.runner import LocalRunner
from model_runner.matrix_edit import MOST, ScaledSingulars, SingularValues
from model_runner.projection_questions import HeadProjections
from tests.model_runner.cases import FAMILY, TEXT, runner_of
from tests.model_runner.tiny import byte_tokenizer

CLOSE = 1e-5  # float32, see tests/model_runner/cases.py
FACTORS = (0.0, 2.5, 1.0, -0.5)


def said(runner: LocalRunner, *edits) -> torch.Tensor:
    captured = runner.capture(CaptureRequest(text=TEXT, edits=edits))
    return torch.stack([captured.logits(place) for place in range(len(captured.tokens))])


def scaled(weight: np.ndarray, factors: tuple[float, ...]) -> np.ndarray:
    """U Σ diag(z) Vᵀ, of the whole decomposition in float64, a singular value at a time."""
    left, sizes, right = np.linalg.svd(weight.astype(np.float64), full_matrices=False)
    total = np.zeros(weight.shape)
    for place, size in enumerate(sizes):
        total += (factors[place] if place < len(factors) else 1.0) * size * np.outer(left[:, place], right[place])
    return total


MATRICES = [
    ("llama", "model.layers.1.", "self_attn.q_proj"),
    ("llama", "model.layers.1.", "self_attn.v_proj"),
    ("llama", "model.layers.1.", "self_attn.o_proj"),
    ("llama", "model.layers.1.", "mlp.down_proj"),
    ("gpt2", "transformer.h.1.", "attn.c_attn"),
    ("bert", "encoder.layer.1.", "attention.self.key"),
]


@pytest.mark.parametrize("family, layer, name", MATRICES)
def test_the_model_says_what_it_would_with_the_matrix_itself_changed_and_the_weights_stay(family, layer, name):
    build, runner = FAMILY[family].build, runner_of(FAMILY[family])
    model = runner.engine.model
    before = {key: value.clone() for key, value in model.state_dict().items()}
    plain = said(runner)
    found = said(runner, ScaledSingulars(1, name, FACTORS))
    changed = build()
    inside = next(one for key, one in changed.named_modules() if key.endswith(layer + name))
    with torch.no_grad():
        inside.weight.copy_(torch.from_numpy(scaled(inside.weight.numpy(), FACTORS)))
    expected = said(LocalRunner(changed, byte_tokenizer(), name=family))
    assert (found - expected).abs().max() <= 10 * CLOSE
    assert (found - plain).abs().max() > 100 * CLOSE
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    assert not any(one._forward_hooks for one in model.modules() if isinstance(one, nn.Linear))


@pytest.mark.parametrize("count", [1, 5, MOST])
def test_ones_give_the_matrix_and_the_parts_put_together_are_it(count):
    runner = runner_of(FAMILY["llama"])
    layers, known = runner.engine.structure.layers, {}
    (one,) = changed_matrices((ScaledSingulars(1, "mlp.up_proj", (1.0,) * count),), layers, known)
    weight = layers[1].get_submodule("mlp.up_proj").weight
    assert float((one.left @ one.right).norm()) <= 1e-6 * float(weight.norm())
    assert torch.equal(said(runner, ScaledSingulars(1, "mlp.up_proj", (1.0,) * count)), said(runner))
    (none,) = changed_matrices((ScaledSingulars(1, "mlp.up_proj", (0.0,) * count),), layers, known)
    left, sizes, right = np.linalg.svd(weight.numpy().astype(np.float64), full_matrices=False)
    rest = (left[:, count:] * sizes[count:]) @ right[count:]
    assert np.linalg.norm(weight.numpy() + (none.left @ none.right).numpy() - rest) <= 1e-6 * np.linalg.norm(weight)
    assert decomposed(layers[1].get_submodule("mlp.up_proj"), known) is decomposed(
        layers[1].get_submodule("mlp.up_proj"), known
    )


def test_the_text_goes_on_as_the_changed_model_says_and_other_edits_join_in():
    runner, edit = runner_of(FAMILY["llama"]), ScaledSingulars(0, "mlp.gate_proj", (0.0, 3.0))
    *_, last = runner.generate(GenerateRequest(text=TEXT[:9], max_new_tokens=5, edits=(edit, KeepLast(4))))
    ids = tuple(token.id for token in last.capture.tokens)[-(last.index + 1) :]
    whole = runner.capture(CaptureRequest(text=TEXT[:9], continuation=ids, edits=(edit, KeepLast(4))))
    assert (last.capture.residual(3) - whole.residual(3)).abs().max() <= 10 * CLOSE


def test_which_matrices_a_layer_has_and_their_singular_values():
    runner = runner_of(FAMILY["llama"])
    found = runner.submit(SingularValues(1)).result()
    attention = tuple(f"self_attn.{one}_proj" for one in "qkvo")
    assert found.names == (*attention, "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")
    assert found.name == "self_attn.q_proj"
    found = runner.submit(SingularValues(2, "mlp.down_proj")).result()
    weight = runner.engine.structure.layers[2].get_submodule("mlp.down_proj").weight
    np.testing.assert_allclose(found.sizes, np.linalg.svd(weight.numpy(), compute_uv=False), rtol=1e-4)


def test_what_reads_the_matrices_as_they_are_is_refused_under_the_edit():
    runner = runner_of(FAMILY["llama"])
    request = CaptureRequest(text=TEXT, edits=(ScaledSingulars(1, "self_attn.o_proj", (2.0,)),))
    with pytest.raises(NoAttribution, match="weight matrices is edited"):
        runner.capture(request).direct_logits(1, 0, -1)
    with pytest.raises(NoAttribution, match="weight matrices is edited"):
        runner.capture(request).head_writes(1, -1)
    with pytest.raises(NotSeparable, match="weight matrices is edited"):
        runner.submit(HeadProjections(request, 1, 0, (0, 1))).result()


def test_a_matrix_that_is_not_there_is_one_sentence():
    with pytest.raises(EditNotPossible, match="layer 1 has no linear module named mlp.up_proj; it has attn.c_attn"):
        said(runner_of(FAMILY["gpt2"]), ScaledSingulars(1, "mlp.up_proj", (2.0,)))
    with pytest.raises(EditNotPossible, match="twice"):
        said(runner_of(FAMILY["gpt2"]), *(ScaledSingulars(1, "attn.c_proj", (one,)) for one in (2.0, 3.0)))
    for factors in ((), (1.0,) * (MOST + 1)):
        with pytest.raises(EditNotPossible, match="1 to 16"):
            ScaledSingulars(0, "a.b", factors)
    with pytest.raises(EditNotPossible, match="finite"):
        ScaledSingulars(0, "a.b", (float("inf"),))
    with pytest.raises(EditNotPossible, match="name of a module"):
        ScaledSingulars(0, "a b", (1.0,))
