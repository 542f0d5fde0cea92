"""Where a model goes: one device, or several; and that what several show is what one would.

No machine of several GPUs is at hand. Stand-ins: devices that are counted and not there; layers that are given copies
of all that they are given, as accelerate gives them on another device; and layers whose weights accelerate keeps on
disk.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from model_runner import memory
from model_runner.errors import DeviceMissing, ModelTooLarge
from model_runner.local.loading import devices
from model_runner.local.loading.devices import (
    NeedsAccelerate,
    OneDeviceOnly,
    best_device,
    choose_placement,
    on_one_device,
    place_model,
)
from model_runner.local.recording.to_device import cells_of, to_device
from model_runner.local.runner import LocalRunner
from model_runner.questions import WhichHeads
from model_runner.request import CaptureRequest, GenerateRequest
from tests.model_runner.tiny import byte_tokenizer, tiny

GB = 1 << 30
TEXT = "the dog chased a squirrel, for it ran"
WINDOWED: dict[str, Any] = {
    "sliding_window": 6,
    "head_dim": 8,
    "num_key_value_heads": 2,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
}


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The free memory of each GPU that torch is made to count."""
    free = [8 * GB, 7 * GB, 6 * GB]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: len(free))
    monkeypatch.setattr(
        memory, "available", lambda device: free[device.index or 0] if device.type == "cuda" else 64 * GB
    )
    return free


def test_a_model_that_fits_one_gpu_is_on_one(gpus: list[int]) -> None:
    place = place_model("m", "auto", 7 * GB)
    assert (place.device.type, place.spread, place.free, place.options) == ("cuda", False, 8 * GB, {})


def test_one_that_fits_all_together_is_spread_and_says_so(gpus: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: object())
    for asked in ("auto", "cuda"):
        place = place_model("m", asked, 20 * GB)
        assert (place.spread, place.free, place.name, place.options) == (
            True,
            21 * GB,
            "cuda × 3",
            {"device_map": "auto"},
        )
    assert not choose_placement("cuda:1", 20 * GB).spread  # one is asked for
    with pytest.raises(ModelTooLarge, match="21 GB are free"):
        place_model("m", "auto", 22 * GB)


def test_without_accelerate_the_sentence_names_it(gpus: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(NeedsAccelerate) as raised:
        place_model("m", "auto", 20 * GB)
    assert "about 20 GB of memory, more than one GPU has free" in str(raised.value)
    del gpus[1:]  # a single one: nothing would help
    with pytest.raises(ModelTooLarge):
        place_model("m", "auto", 20 * GB)


def test_a_device_that_is_not_there_is_said() -> None:
    with pytest.raises(DeviceMissing, match="mps"):
        place_model("m", "mps", 1)


@pytest.mark.parametrize(
    "there, best", [(("cuda", "mps"), "cuda"), (("cuda",), "cuda"), (("mps",), "mps"), ((), "cpu")]
)
def test_auto_is_cuda_before_mps_before_cpu(monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...], best: str) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: "cuda" in there)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: "mps" in there)
    assert best_device("auto") == torch.device(best)
    assert best_device("cpu") == torch.device("cpu")  # what is asked for is not bettered


def test_what_mixes_devices_is_one_sentence() -> None:
    with pytest.raises(OneDeviceOnly, match="spread over several devices"), on_one_device():
        raise RuntimeError("Expected all tensors to be on the same device, but found at least two devices")
    with pytest.raises(RuntimeError, match="else"), on_one_device():
        raise RuntimeError("something else")


def test_a_value_is_brought_with_all_its_tensors() -> None:
    given = {"a": (torch.zeros(2), [torch.ones(1)]), "b": 3}
    moved = to_device(given, torch.device("meta"))
    assert moved["a"][0].device.type == moved["a"][1][0].device.type == "meta"
    assert moved["b"] == 3
    assert to_device(given["a"], torch.device("cpu")) is given["a"]


def test_a_mask_of_a_models_own_making_is_read_cell_by_cell_if_it_only_keeps_and_hides() -> None:
    hidden = torch.finfo(torch.float32).min
    added = torch.tensor([[[[0.0, hidden, 0.0]]]])
    assert cells_of(added, 2) is not None
    assert cells_of(added, 2).tolist() == [[True, False, True]] * 2  # pyright: ignore[reportOptionalMemberAccess]
    kept = torch.tensor([[[[True, False], [True, True]]]])
    assert cells_of(kept, 2).tolist() == kept[0, 0].tolist()  # pyright: ignore[reportOptionalMemberAccess]
    assert cells_of(torch.tensor([[[[0.0, -0.5, 0.0]]]]), 1) is None  # it weighs, too
    assert cells_of(torch.cat([kept, ~kept], dim=1), 2) is None  # each head another one
    assert cells_of(torch.cat([kept, kept]), 2) is None  # two texts


# -- layers that are given copies -------------------------------------------------------------------------------------


def copying(model: Any) -> Any:
    """Every layer is given copies, as another device has them: neither the tensor nor its place tells a mask."""

    def copy(_module: Any, args: tuple[Any, ...], given: dict[str, Any]) -> Any:
        def new(one: Any) -> Any:
            if isinstance(one, tuple):
                return tuple(map(new, one))
            return one.clone() if torch.is_tensor(one) else one

        return new(args), {name: new(one) for name, one in given.items()}

    for layer in model.model.layers:
        layer.register_forward_pre_hook(copy, with_kwargs=True)
    return model


def test_layers_that_are_given_copies_of_their_masks_show_the_rules_they_have() -> None:
    make = tiny("gemma3_text", **WINDOWED)
    own, copied = (
        LocalRunner(model, byte_tokenizer(), name=name, device="cpu")
        for name, model in (("own", make()), ("copied", copying(make())))
    )
    for text in ("dog", TEXT):  # within the window, where both masks are alike, and beyond it
        one, other = (runner.capture(CaptureRequest(text)) for runner in (own, copied))
        for layer in range(one.n_layers):
            assert one.record(layer).mask == other.record(layer).mask
            assert one.record(layer).window == other.record(layer).window
            torch.testing.assert_close(one.weights(layer, 1), other.weights(layer, 1), rtol=0, atol=0)
    steps = [list(runner.generate(GenerateRequest("the dog", 8))) for runner in (own, copied)]
    assert [step.token.id for step in steps[0]] == [step.token.id for step in steps[1]]


# -- layers whose weights are elsewhere -------------------------------------------------------------------------------


@pytest.mark.long
def test_a_model_that_accelerate_parts_is_captured_as_the_whole_one(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("accelerate", reason="requirements-quantized.txt is not installed")
    places_of = {"model.layers.1": "disk", "model.layers.2": "disk"}
    rest = ("model.embed_tokens", "model.layers.0", "model.norm", "model.rotary_emb", "lm_head")
    parted: Any = AutoModelForCausalLM.from_pretrained(
        folder,
        device_map=places_of | dict.fromkeys(rest, "cpu"),
        offload_folder=tmp_path / "parts",
        dtype=torch.float32,
    )
    assert parted.model.layers[1].mlp.up_proj.weight.device.type == "meta"
    spread = LocalRunner(parted, byte_tokenizer(), name="parted", device="cpu")
    whole = LocalRunner(AutoModelForCausalLM.from_pretrained(folder), byte_tokenizer(), name="whole", device="cpu")
    assert set(spread.info.device.split(", ")) == {"cpu", "disk"}
    one, other = (runner.capture(CaptureRequest(TEXT)) for runner in (whole, spread))
    for layer in range(one.n_layers):
        assert other.verify(layer).ok
        torch.testing.assert_close(one.weights(layer, 1), other.weights(layer, 1))
        torch.testing.assert_close(one.q_unrotated(layer), other.q_unrotated(layer))
    for _ in range(2):  # the second time the output layer still finds the weights
        torch.testing.assert_close(one.logits(-1), other.logits(-1))
    steps = [[step.token.id for step in runner.generate(GenerateRequest("the dog", 5))] for runner in (whole, spread)]
    assert steps[0] == steps[1]
    with pytest.raises(OneDeviceOnly):  # it reads the layers' weights by itself
        spread.submit(WhichHeads(other.request, 1, 0)).result()


def test_a_model_with_a_map_of_devices_stays_where_it_is() -> None:
    model: Any = tiny("llama")()
    model.hf_device_map = {"model.layers.0": 0, "model.layers.1": 1, "lm_head": "cpu"}
    assert devices.move_model(model, "meta") is model
    assert model.device.type == "cpu"
    assert devices.devices_of(model) == "cuda:0, cuda:1, cpu"
