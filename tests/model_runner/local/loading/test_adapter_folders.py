"""Folders of adapters as they come, and as strangers make them: each opens right, or is one sentence, at once."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig
from safetensors.torch import load_file, save_file

from model_runner.adapter import (
    AdapterBaseMissing,
    AdapterIncomplete,
    AdapterNotQuantized,
    AdapterRefused,
    BaseNotAsked,
)
from model_runner.errors import Cancelled, EmptyText, ModelPickled, RunnerError
from model_runner.local.loading.adapter_files import base_inside, inspect_adapter
from model_runner.local.loading.loader import load_runner
from model_runner.local.local_models import LocalModels
from model_runner.request import CaptureRequest
from tests.model_runner.folders import save, write_weights
from tests.model_runner.local.loading.test_adapters import CONFIG, WEIGHTS, captured, logits_of, made, opened
from tests.model_runner.tiny import byte_tokenizer, tiny

Spoil = Callable[[Path], object]
Q = "base_model.model.model.layers.1.self_attn.q_proj"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base and an adapter of it, by peft."""
    folder = tmp_path_factory.mktemp("adapter")
    made(folder, config=LoraConfig(r=4, target_modules=["q_proj", "v_proj"]))
    return folder


@pytest.fixture
def adapter(whole: Path, tmp_path: Path) -> Path:
    """A copy of the adapter that a test may break; its base lies within it."""
    for name in ("adapter", "adapter/base"):
        (tmp_path / name).mkdir()
        for file in (whole / name.replace("adapter/", "")).iterdir():
            (tmp_path / name / file.name).write_bytes(file.read_bytes())
    setting(base_model_name_or_path="base")(tmp_path / "adapter")
    return tmp_path / "adapter"


def setting(**values: Any) -> Spoil:
    """Say something else in adapter_config.json."""

    def apply(folder: Path) -> None:
        config = json.loads((folder / CONFIG).read_text("utf-8"))
        (folder / CONFIG).write_text(json.dumps(config | values), "utf-8")

    return apply


def tensors(change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]) -> Spoil:
    return lambda folder: save_file(change(load_file(folder / WEIGHTS)), folder / WEIGHTS)


def without(name: str) -> Spoil:
    return tensors(lambda held: {key: one for key, one in held.items() if key != name})


def with_(name: str, shape: tuple[int, ...]) -> Spoil:
    return tensors(lambda held: held | {name: torch.ones(shape)})


def pickled(folder: Path) -> None:
    (folder / WEIGHTS).rename(folder / "adapter_model.bin")


REFUSED: dict[str, tuple[Spoil, type[RunnerError], str]] = {
    "a tensor is missing": (
        without(f"{Q}.lora_B.weight"),
        AdapterIncomplete,
        f"1 tensors that its settings ask for are missing, {Q}.lora_B first",
    ),
    "a layer is missing": (
        lambda folder: (without(f"{Q}.lora_B.weight")(folder), without(f"{Q}.lora_A.weight")(folder)),
        AdapterIncomplete,
        f"2 tensors that its settings ask for are missing, {Q}.lora_A first",
    ),
    "a tensor of no module": (
        with_("base_model.model.model.layers.7.self_attn.q_proj.lora_A.weight", (4, 32)),
        AdapterRefused,
        "model.layers.7.self_attn.q_proj.lora_A.weight belongs to no module of the base",
    ),
    "a tensor of another model": (
        with_("transformer.h.0.lora_A.weight", (4, 32)),
        AdapterRefused,
        "belongs to no module",
    ),
    "a tensor that is not asked for": (
        with_("base_model.model.model.layers.0.self_attn.k_proj.lora_A.weight", (4, 32)),
        AdapterRefused,
        "k_proj.lora_A.weight is for a module that its settings do not name",
    ),
    "lengths that are not asked for": (
        with_(f"{Q}.lora_magnitude_vector", (32,)),
        AdapterRefused,
        "q_proj.lora_magnitude_vector is for a module",
    ),
    "the same twice": (
        lambda folder: (
            setting(use_dora=True)(folder),
            with_(f"{Q}.lora_magnitude_vector", (32,))(folder),
            with_(f"{Q}.lora_magnitude_vector.weight", (32,))(folder),
        ),
        AdapterRefused,
        "stands beside others",
    ),
    "another shape": (
        with_(f"{Q}.lora_A.weight", (4, 33)),
        AdapterRefused,
        "lora_A.weight has the shape (4, 33), not (4, 32)",
    ),
    "another rank": (setting(r=8), AdapterRefused, "has the shape (4, 32), not (8, 32)"),
    "a rank of a billion": (setting(r=10**9), AdapterRefused, "its setting r: 1000000000 has a value"),
    "a rank of a billion by pattern": (
        setting(rank_pattern={"q_proj": 10**9}),
        AdapterRefused,
        "its setting rank_pattern",
    ),
    "no rank": (setting(r=0), AdapterRefused, "its setting r: 0"),
    "a scale without end": (setting(lora_alpha=float("inf")), AdapterRefused, "its setting lora_alpha"),
    "a table of another vocabulary": (
        lambda folder: (
            setting(modules_to_save=["embed_tokens"])(folder),
            with_("base_model.model.model.embed_tokens.weight", (300, 32))(folder),
        ),
        AdapterRefused,
        "embed_tokens.weight has the shape (300, 32), not (264, 32)",
    ),
    "a module that is not there whole": (
        setting(modules_to_save=["lm_head"]),
        AdapterIncomplete,
        "base_model.model.lm_head.weight first",
    ),
    "a target that is no matrix": (
        setting(target_modules=["self_attn"]),
        AdapterRefused,
        "not a matrix or embedding of the base",
    ),
    "another kind": (setting(peft_type="LOHA"), AdapterRefused, "it is of the kind LOHA"),
    "no kind": (setting(peft_type=None), AdapterRefused, "it is of the kind None"),
    "another start": (setting(init_lora_weights="pissa"), AdapterRefused, "by changing the weights of its base"),
    "what is not known": (
        setting(alora_invocation_tokens=[1]),
        AdapterRefused,
        "its setting alora_invocation_tokens: [1]",
    ),
    "more layers": (setting(layer_replication=[[0, 2], [1, 3]]), AdapterRefused, "its setting layer_replication"),
    "no base": (setting(base_model_name_or_path=None), AdapterRefused, "names no base model"),
    "no weights": (
        lambda folder: (folder / WEIGHTS).unlink(),
        AdapterIncomplete,
        "adapter_model.safetensors is missing",
    ),
    "pickled weights": (pickled, ModelPickled, "are pickled (adapter_model.bin)"),
    "cut weights": (lambda folder: os.truncate(folder / WEIGHTS, 900), AdapterIncomplete, "adapter_model.safetensors"),
    "no settings": (lambda folder: (folder / CONFIG).write_text("[]"), AdapterIncomplete, "is not a JSON object"),
    # what a stranger may have made to hang, end, fill or lead the server elsewhere
    "a pattern that never ends": (
        setting(target_modules=r"((\w|\.)+)+$(a)"),
        AdapterRefused,
        "cannot be used: it needs more than 2 seconds",
    ),
    "an exclusion that never ends": (setting(exclude_modules=r"((\w|\.)+)+$(a)"), AdapterRefused, "cannot be used"),
    "a rank's pattern that never ends": (
        setting(rank_pattern={r"((\w|\.)+)+$(a)": 3}),
        AdapterRefused,
        "cannot be used",
    ),
    "a pattern that is none": (setting(target_modules="(("), AdapterRefused, "cannot be used"),
    "a pattern in place of a name": (setting(modules_to_save=["(a|a)+"]), AdapterRefused, "a plain name is expected"),
    "itself as its base": (setting(base_model_name_or_path="."), AdapterRefused, "names itself as its base"),
    "an adapter as its base": (
        lambda folder: ((folder / "base" / "model.safetensors").unlink(), (folder / "base" / CONFIG).write_text("{}")),
        AdapterRefused,
        "its base base is an adapter too",
    ),
    "code of its own": (
        setting(auto_map={"AutoModel": "evil.Model"}),
        AdapterRefused,
        "its setting auto_map",
    ),
    "a module that is imported": (
        setting(megatron_config={"a": 1}, megatron_core="os"),
        AdapterRefused,
        "megatron_config",
    ),
    "a hundred thousand targets": (
        setting(target_modules=["a"] * 100_000),
        AdapterRefused,
        "its setting target_modules",
    ),
    "a header of nonsense": (
        lambda folder: write_weights(folder / WEIGHTS, {"a": 5}),
        AdapterIncomplete,
        "no readable header",
    ),
    "settings nested deep": (
        lambda folder: (folder / CONFIG).write_text('{"a":' * 10_000 + "1" + "}" * 10_000),
        AdapterIncomplete,
        "not readable",
    ),
}


@pytest.mark.parametrize("spoil, error, words", REFUSED.values(), ids=REFUSED)
def test_what_is_not_right_is_one_sentence(spoil: Spoil, error: type[RunnerError], words: str, adapter: Path) -> None:
    spoil(adapter)
    begun = time.monotonic()
    with pytest.raises(error) as raised:
        opened(adapter, sandboxed=True, agreed=())
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)
    assert time.monotonic() - begun < 30  # of a busy machine


def test_a_pickled_adapter_is_never_read(adapter: Path) -> None:
    """Beside one that is whole, too: the other goes first, and nothing opens this one."""

    class Bomb:
        def __reduce__(self) -> Any:
            return (os.mkdir, (str(adapter / "exploded"),))

    torch.save({"a": Bomb()}, adapter / "adapter_model.bin")
    opened(adapter)
    assert not (adapter / "exploded").exists()


def test_an_adapter_beside_a_whole_model_is_passed_over(adapter: Path) -> None:
    """transformers would add it where peft is installed."""
    base = adapter / "base"
    alone = logits_of(captured(opened(base)))
    for name in (CONFIG, WEIGHTS):
        (base / name).write_bytes((adapter / name).read_bytes())
    both = opened(base)
    assert both.info.adapter is None
    assert torch.equal(logits_of(captured(both)), alone)


def test_the_tokenizer_of_the_adapter_goes_first(adapter: Path) -> None:
    tokenizer = byte_tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": ["<turn>"]})
    tokenizer.save_pretrained(adapter)
    runner = opened(adapter, sandboxed=True, agreed=())
    assert runner.ids_of("<turn>") == (259,)
    assert runner.base is not None
    assert runner.base.ids_of("<turn>") == (259,)


def test_an_adapter_of_the_base_model_alone_is_found_in_the_whole_one(adapter: Path) -> None:
    """Trained on transformers' AutoModel, whose names lack the first part."""
    expected = logits_of(captured(opened(adapter)))
    tensors(lambda held: {key.replace("model.model.", "model.", 1): one for key, one in held.items()})(adapter)
    assert torch.equal(logits_of(captured(opened(adapter))), expected)


@pytest.mark.parametrize("dtype", ["int8", "nf4"])
def test_a_quantized_base_takes_no_adapter(dtype: Any, adapter: Path) -> None:
    with pytest.raises((AdapterNotQuantized, RunnerError), match="quantized|not installed"):
        load_runner(str(adapter), device="cpu", dtype=dtype)
    config = json.loads((adapter / "base" / "config.json").read_text("utf-8"))
    config["quantization_config"] = {"quant_method": "bitsandbytes"}
    (adapter / "base" / "config.json").write_text(json.dumps(config))
    with pytest.raises(AdapterNotQuantized, match=r"its weights are quantized \(bitsandbytes\)"):
        opened(adapter)


def test_the_embedded_model_is_a_base_by_its_name(adapter: Path) -> None:
    """By name: neither asked for nor looked for elsewhere. It has more layers than this adapter's."""
    setting(base_model_name_or_path="default")(adapter)
    with pytest.raises(AdapterIncomplete, match="20 tensors .* are missing"):
        opened(adapter, sandboxed=True, agreed=())


# -- a base outside of the adapter's folder ---------------------------------------------------------------------------


@pytest.fixture
def outside(adapter: Path) -> Path:
    """The base beside the adapter."""
    return (adapter / "base").rename(adapter.parent / "elsewhere")


LEADING_OUT: dict[str, Callable[[Path, Path], str]] = {
    "a whole path": lambda _, base: str(base),
    "by dots": lambda _, base: f"../{base.name}",
    "by dots within": lambda _, base: f"./x/../../{base.name}",
    "by a link": lambda adapter, base: ((adapter / "linked").symlink_to(base), "linked")[1],
    "by a link and dots": lambda adapter, base: ((adapter / "up").symlink_to(base.parent), f"up/{base.name}")[1],
}


@pytest.mark.parametrize("named", LEADING_OUT.values(), ids=LEADING_OUT)
def test_a_base_elsewhere_is_named_and_waits_for_its_reader(
    named: Callable[[Path, Path], str], adapter: Path, outside: Path
) -> None:
    setting(base_model_name_or_path=named(adapter, outside))(adapter)
    (adapter / "x").mkdir()
    cache = LocalModels()
    with pytest.raises(BaseNotAsked) as raised:
        cache.open(str(adapter)).result()
    assert raised.value.values["base"] == str(outside.resolve())
    with pytest.raises(BaseNotAsked):
        cache.open(str(adapter), agreed=["/", str(adapter)]).result()
    agreed = cache.open(str(adapter), agreed=[str(outside.resolve())]).result()
    assert agreed.info.adapter is not None
    assert torch.equal(
        logits_of(captured(opened(adapter))), logits_of(captured(agreed))
    )  # in a notebook it is one's own


def test_a_base_that_is_not_there_says_nothing_of_the_machine(adapter: Path) -> None:
    """To a stranger's adapter a path that exists and one that does not are alike."""
    told: list[str] = []
    for path in ("/etc", "/etc/none"):
        setting(base_model_name_or_path=path)(adapter)
        with pytest.raises(BaseNotAsked) as raised:
            opened(adapter, sandboxed=True, agreed=())
        told.append(str(raised.value).replace(path, "…"))
    assert told[0] == told[1]
    with pytest.raises(AdapterBaseMissing, match="names /etc/none as its base"):
        opened(adapter)


def test_a_base_of_the_hub_is_asked_for_as_any_model_of_the_hub(adapter: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str | None, bool]] = []
    from model_runner.errors import HubNotAsked
    from model_runner.local.loading import model_folder

    def fetch(name: str, revision: str | None, *_: object, ask_hub: bool) -> Path:
        asked.append((name, revision, ask_hub))
        if not ask_hub:
            raise HubNotAsked(name=name)
        return adapter / "base"

    monkeypatch.setattr(model_folder, "fetch", fetch)
    setting(base_model_name_or_path="owner/base", revision="v1")(adapter)
    with pytest.raises(BaseNotAsked) as raised:
        opened(adapter, sandboxed=True, ask_hub=True, agreed=())
    assert raised.value.values == {"name": str(adapter), "base": "owner/base"}
    opened(adapter, sandboxed=True, agreed=("owner/base",))
    assert asked == [("owner/base", "v1", False), ("owner/base", "v1", True)]


def test_links_in_a_circle_lead_nowhere(adapter: Path) -> None:
    (adapter / "a").symlink_to(adapter / "b")
    (adapter / "b").symlink_to(adapter / "a")
    setting(base_model_name_or_path="a")(adapter)
    assert base_inside(inspect_adapter("x", adapter)) is None
    with pytest.raises(RunnerError):
        opened(adapter, sandboxed=True, agreed=())


# -- with and without -------------------------------------------------------------------------------------------------


def test_a_request_says_whether_the_adapter_is_in(adapter: Path) -> None:
    runner = opened(adapter)
    assert runner.base is not None
    assert runner.capture(CaptureRequest("a")).request.adapter is True
    assert runner.base.capture(CaptureRequest("a")).request.adapter is False
    with pytest.raises(RunnerError, match="names True"):
        runner.base.capture(CaptureRequest("a", adapter=True))
    assert load_runner(str(adapter), device="cpu", adapter=False).info.adapter == runner.base.info.adapter


def test_what_neither_changes_is_held_once(adapter: Path) -> None:
    runner = opened(adapter)
    assert runner.base is not None
    with_it, alone = (dict(one.engine.model.named_parameters()) for one in (runner, runner.base))
    apart = {name for name in alone if alone[name].data_ptr() != with_it[name].data_ptr()}
    assert apart == {f"model.layers.{layer}.self_attn.{which}_proj.weight" for layer in range(3) for which in "qv"}


@pytest.mark.long
def test_a_model_that_is_given_up_lets_its_base_go_too(adapter: Path) -> None:
    cache = LocalModels()
    runner = cache.open(str(adapter)).result()
    assert runner.base is not None
    runner.give_up()
    for one in (runner, runner.base):
        with pytest.raises(Cancelled):
            one.capture(CaptureRequest("something new"))


@pytest.mark.long
def test_limits_of_a_server_hold_for_the_base_too(adapter: Path) -> None:
    def allow(_question: object) -> None:
        raise EmptyText()

    runner = LocalModels(allow=allow).open(str(adapter)).result()
    assert runner.base is not None
    for one in (runner, runner.base):
        with pytest.raises(EmptyText):
            one.capture(CaptureRequest("a"))


def test_a_base_of_another_size_is_no_base(adapter: Path) -> None:
    (adapter / "base").rename(adapter / "old")
    save(adapter / "base", tiny("llama", hidden_size=64, head_dim=16, num_key_value_heads=2)())
    with pytest.raises(AdapterRefused, match=r"\(4, 32\), not \(4, 64\)"):
        opened(adapter)
