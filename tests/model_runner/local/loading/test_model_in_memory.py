"""A model in the caller's memory supports all questions, and is not modified."""

from __future__ import annotations

import copy
import time
from typing import Any

import peft
import pytest
import torch
from torch import Tensor, nn
from transformers import AutoModelForMaskedLM, AutoModelForSeq2SeqLM, LlamaForCausalLM

from model_runner import CaptureRequest, GenerateRequest, RunnerError, load_runner, runner_of
from model_runner.errors import (
    AdapterWritesTokens,
    ModelChanged,
    ModelCompiled,
    ModelNotCopied,
    NotAModel,
    NotATokenizer,
    NotCapturable,
    RunnerClosed,
    TokenizerTooLarge,
    WeightsChanged,
)
from model_runner.local.weights_state import WeightsState
from tests.model_runner.cases import FAMILY
from tests.model_runner.tiny import BOS, byte_tokenizer, place, tiny

TEXT = "the dog chased the dog"
REQUEST = CaptureRequest(text=TEXT)


def asked_for_logits(runner: Any) -> Tensor:
    return runner.capture(REQUEST).logits(-1)


def own_logits(model: Any) -> Tensor:
    """What the model itself says after the text, in evaluation mode, with no recording in the way."""
    plain = copy.deepcopy(model).eval()
    with torch.no_grad():
        return plain(input_ids=torch.tensor([byte_tokenizer()(TEXT).input_ids])).logits[0, -1].float()


def everything_of(model: Any) -> dict[str, Any]:
    """Everything of a model that opening it could have changed."""
    configs = {id(one.config): one.config for one in model.modules() if hasattr(one, "config")}
    found: dict[str, Any] = {
        "attention": [config._attn_implementation for config in configs.values()],
        "configs": [copy.deepcopy(vars(config)) for config in configs.values()],
        "output_attentions": model.config.output_attentions,
    }
    for name, module in model.named_modules():
        held = vars(module)
        hooks = {key: dict(value) for key, value in held.items() if key.endswith("_hooks")}
        plain = {key: value for key, value in held.items() if not isinstance(value, (dict, nn.Module))}
        found[name] = (
            type(module),
            module.training,
            hooks,
            {key: id(value) for key, value in plain.items() if callable(value)},
            sorted(held),
            module.forward.__func__ if hasattr(module.forward, "__func__") else id(module.forward),
            {key: id(value) for key, value in module._modules.items()},
        )
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        found[f"tensor {name}"] = (id(tensor), tensor.data_ptr(), tensor._version, tensor.requires_grad, tensor.grad)
    return found


def numbers_of(model: Any) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in (*model.named_parameters(), *model.named_buffers())}


def caller_model(name: str = "llama") -> Any:
    """In training, half of it frozen, with a hook of the caller's own."""
    model = FAMILY[name].build()
    for number, parameter in enumerate(model.parameters()):
        parameter.requires_grad_(number % 2 == 0)
    model.train()
    next(one for one in model.modules() if isinstance(one, nn.Linear)).register_forward_hook(lambda *_: None)
    return model


@pytest.mark.parametrize("name", ["llama", "gpt2", "gptj", "gemma2", "phi3-longrope"])
def test_the_callers_model_is_as_before_while_it_is_open_and_after(name):
    model = caller_model(name)
    before, numbers = everything_of(model), numbers_of(model)
    with runner_of(model, byte_tokenizer()) as runner:
        capture = runner.capture(REQUEST)
        assert capture.verify(0).ok
        torch.testing.assert_close(capture.logits(-1), own_logits(model), atol=1e-4, rtol=1e-4)
        assert everything_of(model) == before
    assert everything_of(model) == before
    for one, tensor in numbers_of(model).items():
        assert torch.equal(tensor, numbers[one])
    with pytest.raises(RunnerClosed, match="closed"):
        runner.capture(REQUEST)


def test_a_closed_runner_says_so_whoever_asks():
    runner = runner_of(caller_model(), byte_tokenizer())
    capture = runner.capture(REQUEST)
    runner.close()
    runner.close()
    asked = {
        "a capture": lambda: runner.capture(REQUEST),
        "many": lambda: list(runner.capture_many([TEXT])),
        "matrices": lambda: runner.W_Q(0),
        "logits": lambda: capture.logits(0),
        "a generation": lambda: list(runner.generate(GenerateRequest(text=TEXT))),
        "forget": runner.forget,
    }
    for ask in asked.values():
        with pytest.raises(RunnerClosed, match="is closed"):
            ask()
    assert capture.verify(0).ok  # what it holds itself


def test_the_callers_translator_is_as_before_too():
    sizes = {"d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0}
    model = tiny("t5", AutoModelForSeq2SeqLM, d_model=32, **sizes)().train()
    before = everything_of(model)
    with runner_of(model, byte_tokenizer()) as runner:
        cross = runner.capture(CaptureRequest(text=TEXT, target="the cat")).attention("cross")
        assert all(cross.verify(layer).ok for layer in range(cross.n_layers))
    assert everything_of(model) == before


def test_the_callers_model_is_as_before_after_an_exception():
    model = caller_model()
    before = everything_of(model)
    with pytest.raises(RunnerError, match="no text"), runner_of(model, byte_tokenizer()) as runner:
        runner.capture(CaptureRequest(text=""))
    assert everything_of(model) == before
    model.model.layers[0].self_attn.forward = broken = lambda *_, **__: 1 / 0
    with pytest.raises(RunnerError):
        runner_of(model, byte_tokenizer())
    del model.model.layers[0].self_attn.forward
    assert broken
    assert everything_of(model) == before


def test_a_model_trains_while_it_is_open():
    model = FAMILY["llama"].build().train()
    ids = torch.tensor([byte_tokenizer()(TEXT).input_ids])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    with runner_of(model, byte_tokenizer()) as runner:
        said = [asked_for_logits(runner)]
        for _ in range(2):
            model(input_ids=ids, labels=ids).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            said.append(asked_for_logits(runner))
            torch.testing.assert_close(said[-1], own_logits(model), atol=1e-4, rtol=1e-4)
    assert not torch.allclose(said[0], said[1], atol=1e-3)


class Subclass(LlamaForCausalLM):
    """Somebody's own model: one more layer norm before the output layer would change nothing here."""


def test_subclasses_and_short_dtypes_open():
    model: Any = Subclass(FAMILY["llama"].build().config).eval()
    assert runner_of(model, byte_tokenizer()).capture(REQUEST).verify(1).ok
    for dtype in (torch.bfloat16, torch.float16):
        short = place(FAMILY["llama"].build(), "cpu", dtype)
        runner = runner_of(short, byte_tokenizer())
        assert runner.info.dtype == str(dtype).removeprefix("torch.")
        assert runner.capture(REQUEST).verify(1).ok


def test_a_model_by_a_device_map_opens(tmp_path):
    FAMILY["llama"].build().save_pretrained(tmp_path)
    model = LlamaForCausalLM.from_pretrained(tmp_path, device_map={"": "cpu"})
    before = everything_of(model)
    runner = runner_of(model, byte_tokenizer(), name="mapped")
    torch.testing.assert_close(asked_for_logits(runner), own_logits(model), atol=1e-4, rtol=1e-4)
    assert runner.info.name == "mapped"
    assert everything_of(model) == before


def test_a_model_with_hooks_of_accelerate_opens():
    from accelerate.hooks import AlignDevicesHook, add_hook_to_module

    model: Any = FAMILY["llama"].build()
    for layer in model.model.layers:
        add_hook_to_module(layer, AlignDevicesHook(execution_device="cpu", io_same_device=True))
    before = everything_of(model)
    torch.testing.assert_close(
        asked_for_logits(runner_of(model, byte_tokenizer())), own_logits(model), atol=1e-4, rtol=1e-4
    )
    assert everything_of(model) == before


def test_a_model_in_peft_is_read_with_its_adapter():
    model: Any = FAMILY["llama"].build()
    plain = own_logits(model)
    wrapped: Any = peft.get_peft_model(
        model, peft.LoraConfig(r=2, target_modules=["q_proj", "v_proj"], init_lora_weights=False, lora_dropout=0.5)
    )
    before = everything_of(wrapped)
    with runner_of(wrapped, byte_tokenizer()) as runner:
        found = asked_for_logits(runner)
        torch.testing.assert_close(found, own_logits(wrapped), atol=1e-4, rtol=1e-4)
        assert not torch.allclose(found, plain, atol=1e-2)
    assert everything_of(wrapped) == before


def test_what_cannot_be_opened_is_told_in_one_sentence():
    model, tokenizer = FAMILY["llama"].build(), byte_tokenizer()
    with pytest.raises(ModelCompiled, match="torch.compile"):
        runner_of(torch.compile(model), tokenizer)
    with pytest.raises(NotAModel, match="Linear"):
        runner_of(nn.Linear(1, 1), tokenizer)
    with pytest.raises(NotATokenizer, match="str"):
        runner_of(model, "gpt2")
    with pytest.raises(TokenizerTooLarge, match="256 tokens, but small has vectors for 100"):
        runner_of(
            tiny("llama", vocab_size=100, bos_token_id=1, eos_token_id=2, pad_token_id=0)(), tokenizer, name="small"
        )
    fourier = tiny("fnet", AutoModelForMaskedLM, type_vocab_size=2)()
    with pytest.raises(NotCapturable, match="attention"):
        runner_of(fourier, tokenizer)
    prompts: Any = peft.get_peft_model(
        FAMILY["llama"].build(), peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=2)
    )
    with pytest.raises(AdapterWritesTokens, match="PROMPT_TUNING"):
        runner_of(prompts, tokenizer)
    held: Any = FAMILY["llama"].build()
    held.model.held = (one for one in ())
    with pytest.raises(ModelNotCopied, match="generator"):
        runner_of(held, tokenizer)


def test_weights_changed_in_place_give_a_new_capture_and_the_old_one_says_no_more():
    model: Any = FAMILY["llama"].build()
    runner = runner_of(model, byte_tokenizer())
    first = runner.capture(REQUEST)
    assert runner.capture(REQUEST) is first
    with torch.no_grad():
        model.model.layers[0].self_attn.q_proj.weight[0] += 1
    second = runner.capture(REQUEST)
    assert not torch.equal(first.q(0), second.q(0))
    with pytest.raises(WeightsChanged):
        first.logits(-1)
    torch.testing.assert_close(second.logits(-1), own_logits(model), atol=1e-4, rtol=1e-4)
    attention, mlp = model.model.layers[1].self_attn, model.model.layers[1].mlp
    attention.k_proj.weight = nn.Parameter(torch.ones_like(attention.k_proj.weight))  # others in their place
    mlp.up_proj.weight.data = torch.ones_like(mlp.up_proj.weight)
    torch.testing.assert_close(asked_for_logits(runner), own_logits(model), atol=1e-4, rtol=1e-4)
    model.lm_head.weight.data[BOS] += 1  # which torch does not count
    runner.forget()
    torch.testing.assert_close(asked_for_logits(runner), own_logits(model), atol=1e-4, rtol=1e-4)
    model.to(torch.bfloat16)
    with pytest.raises(ModelChanged, match="dtype"):
        runner.capture(REQUEST)


def test_modules_put_in_are_told():
    model: Any = FAMILY["llama"].build()
    runner = runner_of(model, byte_tokenizer())
    model.model.layers[0].mlp.up_proj = nn.Linear(32, 48, bias=False)
    with pytest.raises(ModelChanged):
        runner.capture(REQUEST)


def test_a_loaded_models_weights_are_watched_too(whole_folder):
    runner = load_runner(str(whole_folder))
    first = runner.capture(REQUEST)
    assert runner.capture(REQUEST) is first
    with torch.no_grad():
        next(runner.engine.model.parameters()).mul_(1.1)
    assert runner.capture(REQUEST) is not first


def test_a_look_at_150_tensors_takes_less_than_a_millisecond():
    model = tiny("gpt2", num_hidden_layers=12)()
    assert len(list(model.parameters())) >= 148
    state = WeightsState(model, buffers=True)
    times = []
    for _ in range(20):
        began = time.perf_counter()
        state.count()
        times.append(time.perf_counter() - began)
    assert min(times) < 1e-3
