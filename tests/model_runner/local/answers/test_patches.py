"""Heads' outputs patched from another run equal a plain hook before the output projection."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from model_runner import CaptureRequest
from model_runner.errors import NoWeights
from model_runner.questions import PatchHeads, PatchStream
from tests.model_runner.cases import FAMILY, TEXT, runner_of
from tests.model_runner.tiny import byte_tokenizer

OTHER = TEXT.replace("dog", "cat")
TOKENS = (101, 32)
CLOSE = 1e-5  # nats: the logits of these models are below 1, so rounding stays below a millionth


def captures(name: str, *texts: str):
    runner = runner_of(FAMILY[name])
    return runner, *(runner.capture(CaptureRequest(text=text)) for text in texts)


def projection(model: nn.Module, layer: int) -> nn.Module:
    """The output projection of a layer's attention."""
    named = [one for name, one in model.named_modules() if name.endswith(("self_attn.o_proj", "attn.c_proj"))]
    return named[layer]


def difference(model: nn.Module, text: str) -> float:
    ids = torch.tensor([byte_tokenizer()(text).input_ids])
    with torch.no_grad():
        logs = torch.log_softmax(model(ids).logits[0, -1].double(), dim=-1)
    return float(logs[TOKENS[0]] - logs[TOKENS[1]])


@pytest.mark.parametrize("name", ["llama", "gpt2", "gemma2", "qwen3"])
@pytest.mark.parametrize("head", [None, 1])
def test_patching_heads_is_a_plain_hook_before_the_output_projection(name, head):
    runner, plain, other = captures(name, TEXT, OTHER)
    found = runner.submit(PatchHeads(plain.request, other.request, 1, head, TOKENS)).result()
    model = FAMILY[name].build()
    module, seen = projection(model, 1), []
    keeping = module.register_forward_pre_hook(lambda _module, args: seen.append(args[0].clone()))
    difference(model, OTHER)
    before = difference(model, TEXT)
    keeping.remove()
    n_heads = plain.q(1).shape[0]
    d_value = seen[0].shape[-1] // n_heads
    columns = slice(None) if head is None else slice(head * d_value, (head + 1) * d_value)
    for position in (0, 9, len(plain.tokens) - 1):

        def patch(_module, args, position=position):
            output = args[0].clone()
            output[0, position, columns] = seen[0][0, position, columns]
            return (output, *args[1:])

        hook = module.register_forward_pre_hook(patch)
        after = difference(model, TEXT)
        hook.remove()
        assert float(found[position]) == pytest.approx(after - before, abs=CLOSE)
    assert found.abs().max() > 100 * CLOSE


def test_before_the_first_differing_token_and_with_itself_nothing_changes():
    runner, plain, other = captures("llama", TEXT, OTHER)
    first = next(i for i, (a, b) in enumerate(zip(plain.tokens, other.tokens, strict=True)) if a.id != b.id)
    for layer in range(plain.n_layers):
        for found in (
            runner.submit(PatchStream(plain.request, other.request, layer, TOKENS)).result(),
            runner.submit(PatchHeads(plain.request, other.request, layer, None, TOKENS)).result(),
        ):
            assert found[:first].abs().max() <= CLOSE
            assert found[first:].abs().max() > 100 * CLOSE
        same = runner.submit(PatchHeads(plain.request, plain.request, layer, None, TOKENS)).result()
        assert same.abs().max() <= CLOSE


def test_where_tokens_agree_their_embeddings_change_nothing():
    runner, plain, other = captures("llama", TEXT, OTHER)
    agree = torch.tensor([a.id == b.id for a, b in zip(plain.tokens, other.tokens, strict=True)])
    found = runner.submit(PatchStream(plain.request, other.request, 0, TOKENS)).result()
    assert found[agree].abs().max() <= CLOSE
    assert (found[~agree].abs() > 10 * CLOSE).all()


def test_the_only_differing_embedding_makes_the_other_run():
    text = TEXT.replace(":", ";")
    runner, plain, other = captures("llama", TEXT, text)
    differ = [i for i, (a, b) in enumerate(zip(plain.tokens, other.tokens, strict=True)) if a.id != b.id]
    assert len(differ) == 1
    found = runner.submit(PatchStream(plain.request, other.request, 0, TOKENS)).result()
    goal, start = (float(one.logits(-1)[TOKENS[0]] - one.logits(-1)[TOKENS[1]]) for one in (other, plain))
    assert float(found[differ[0]]) == pytest.approx(goal - start, abs=CLOSE)


def test_a_layer_without_softmax_attention_has_no_heads_to_patch():
    runner, plain, other = captures("qwen3-next", TEXT, OTHER)
    with pytest.raises(NoWeights):
        runner.submit(PatchHeads(plain.request, other.request, 0, None, TOKENS)).result()
    assert runner.submit(PatchStream(plain.request, other.request, 0, TOKENS)).result().abs().max() > 10 * CLOSE
