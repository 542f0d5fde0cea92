"""Folders as people have them, made small: each opens, and its weights are eager attention's; or is one sentence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from model_runner.errors import RunnerError, TokenizerDiffers
from model_runner.local.loading import checkpoint
from model_runner.local.loading.loader import load_runner
from model_runner.request import CaptureRequest
from tests.model_runner.folders import CONFIG, WEIGHTS, change_config, change_weights, save
from tests.model_runner.tiny import byte_tokenizer, tiny

TEXT = "twelve folders"


def same_as_eager(folder: Path, name: Path | None = None) -> None:
    """Weights of every head and the next token, against transformers' own eager attention of the same folder."""
    capture = load_runner(str(name or folder), device="cpu", dtype="float32", sandboxed=True).capture(
        CaptureRequest(TEXT)
    )
    model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32)
    with torch.no_grad():
        said: Any = model(torch.tensor([[token.id for token in capture.tokens]]), output_attentions=True)
    for layer, heads in enumerate(said.attentions):
        for head, weights in enumerate(heads[0]):
            assert (capture.weights(layer, head) - weights).abs().max() < 1e-5
    assert (capture.logits(-1) - said.logits[0, -1]).abs().max() < 1e-4
    assert capture.verify(0).ok


def sharded(folder: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(folder)
    (folder / WEIGHTS).unlink()
    model.save_pretrained(folder, max_shard_size="20KB")
    assert len(list(folder.glob("*.safetensors"))) > 2


def half_with_whole_norms(folder: Path) -> None:
    change_weights(folder, lambda held: {name: one if "norm" in name else one.bfloat16() for name, one in held.items()})
    change_config(folder, dtype="bfloat16")


def tied_and_twice(folder: Path) -> None:
    """The output layer is the table, and the file has both."""
    save(folder, tiny("llama", tie_word_embeddings=True)())
    table = "model.embed_tokens.weight"
    change_weights(folder, lambda held: {**held, "lm_head.weight": held[table].clone()})


def more_tokens_than_rows(folder: Path) -> None:
    tokenizer = byte_tokenizer()
    tokenizer.add_tokens([f"word{number}" for number in range(50)])
    tokenizer.save_pretrained(folder)


def more_rows_than_tokens(folder: Path) -> None:
    save(folder, tiny("llama", vocab_size=512)())


def of_transformers_4(folder: Path) -> None:
    """Names of its time: torch_dtype, rope_theta beside the rest, and no settings that came later."""
    config = json.loads((folder / CONFIG).read_text("utf-8"))
    theta = config.pop("rope_parameters")["rope_theta"]
    config |= {"torch_dtype": config.pop("dtype", "float32"), "rope_theta": theta, "transformers_version": "4.30.0"}
    (folder / CONFIG).write_text(json.dumps(config))


def old_scaling(folder: Path) -> None:
    of_transformers_4(folder)
    change_config(folder, rope_scaling={"type": "linear", "factor": 4.0})


def template_apart(folder: Path) -> None:
    (folder / "chat_template.jinja").write_text("{% for turn in messages %}[{{ turn.content }}]{% endfor %}")


def adapter_beside(folder: Path) -> None:
    """Which peft, where it is installed, would have transformers add."""
    names = [f"base_model.model.model.layers.{layer}.self_attn.q_proj" for layer in range(3)]
    tensors = {f"{name}.lora_{part}.weight": torch.ones(shape) for name in names for part, shape in SHAPES.items()}
    save_file(tensors, folder / "adapter_model.safetensors")
    settings = {"peft_type": "LORA", "r": 2, "lora_alpha": 2, "target_modules": ["q_proj"]}
    (folder / "adapter_config.json").write_text(json.dumps({**settings, "base_model_name_or_path": "/nowhere"}))


SHAPES = {"A": (2, 32), "B": (32, 2)}


def linked_out(folder: Path) -> None:
    """The weights lie elsewhere, as in the cache of the hub."""
    elsewhere = folder.with_name("blobs")
    elsewhere.mkdir()
    shutil.move(folder / WEIGHTS, elsewhere / "a1b2")
    (folder / WEIGHTS).symlink_to(elsewhere / "a1b2")


FOLDERS: dict[str, Callable[[Path], object]] = {
    "sharded": sharded,
    "bfloat16 with norms in float32": half_with_whole_norms,
    "tied, and in the file twice": tied_and_twice,
    "a tokenizer of more tokens than the table": more_tokens_than_rows,
    "a table of more rows than there are tokens": more_rows_than_tokens,
    "a configuration of transformers 4": of_transformers_4,
    "no generation_config": lambda folder: (folder / "generation_config.json").unlink(),
    "a scaled rotation in its old form": old_scaling,
    "a chat template apart": template_apart,
    "links out of the folder": linked_out,
}


@pytest.mark.parametrize("change", FOLDERS.values(), ids=FOLDERS)
def test_a_folder_as_people_have_it_opens_as_what_it_is(change: Callable[[Path], object], folder: Path) -> None:
    change(folder)
    same_as_eager(folder)


def test_an_adapter_beside_full_weights_changes_nothing(folder: Path, tmp_path: Path) -> None:
    plain = Path(shutil.copytree(folder, tmp_path / "plain"))
    adapter_beside(folder)
    same_as_eager(plain, folder)


def test_the_old_form_of_a_scaled_rotation_is_not_passed_over(folder: Path, tmp_path: Path) -> None:
    plain = Path(shutil.copytree(folder, tmp_path / "plain"))
    old_scaling(folder)
    with pytest.raises(AssertionError):
        same_as_eager(plain, folder)


def test_a_token_beyond_the_table_is_one_sentence(folder: Path) -> None:
    more_tokens_than_rows(folder)
    runner = load_runner(str(folder), device="cpu", sandboxed=True)
    with pytest.raises(TokenizerDiffers, match="or tokens were added to it and not to the model"):
        runner.capture(CaptureRequest("a word49 that is new"))


def test_a_chat_template_apart_is_used(folder: Path) -> None:
    template_apart(folder)
    capture = load_runner(str(folder), device="cpu").capture(CaptureRequest("hello", chat=True))
    assert capture.text == "[hello]"


def test_nothing_is_written_where_a_model_lies(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a disk that is read-only: taking the permission away does not stop root."""
    adapter_beside(folder)
    before = {path: path.stat().st_mtime_ns for path in (folder, *folder.rglob("*"))}
    load_runner(str(folder), device="cpu", sandboxed=True).capture(CaptureRequest(TEXT))
    assert {path: path.stat().st_mtime_ns for path in (folder, *folder.rglob("*"))} == before


def test_a_machine_without_a_place_for_links_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> str:
        raise OSError(30, "Read-only file system")

    adapter_beside(folder)
    monkeypatch.setattr(checkpoint.tempfile, "mkdtemp", full)
    with pytest.raises(RunnerError, match="Read-only file system"):
        load_runner(str(folder), device="cpu")


def test_weights_are_those_of_the_file(folder: Path) -> None:
    """What the tests above compare with reads the same file; one number of it, by hand."""
    runner = load_runner(str(folder), device="cpu")
    held = load_file(folder / WEIGHTS)["model.layers.1.self_attn.q_proj.weight"]
    assert torch.equal(runner.engine.model.get_submodule("model.layers.1.self_attn.q_proj").weight, held)
