"""A saved or pickled capture draws and verifies without its model, with one error message for what it cannot do."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import pytest
import torch

from inline import show
from model_runner import CaptureRequest, load_capture, load_runner, runner_of
from model_runner.errors import AwayFromModel, CaptureOfOthers, Unreadable, WrongModel
from model_runner.wire import to_bytes
from tests.model_runner.cases import FAMILY, TEXT, shared_runner
from tests.model_runner.test_wire import everything, same
from tests.model_runner.tiny import byte_tokenizer


@pytest.mark.parametrize("name", ["llama", "gpt-oss", "gemma2", "deepseek-v3.2"])
def test_what_was_saved_or_pickled_says_the_same_without_its_model(name, tmp_path):
    own = shared_runner(name).capture(CaptureRequest(text=f"{TEXT} saved"))
    own.save(tmp_path / "x.safetensors")
    for back in (load_capture(tmp_path / "x.safetensors"), pickle.loads(pickle.dumps(own))):
        assert repr(back) == repr(own)
        for layer in range(own.n_layers):
            assert back.verify(layer) == own.verify(layer)
            assert torch.equal(back.weights(layer), own.weights(layer))
            assert torch.equal(back.z(layer), own.z(layer))
        assert torch.equal(back.logits(), own.logits())  # they came with it
        for kind in ("map", "lines", "grid"):
            assert show(back, 1, 2, kind=kind)._repr_html_() == show(own, 1, 2, kind=kind)._repr_html_()
        for ask, *at in ((back.logits, 0), (back.mlp_out, 0), (back.head_writes, 0, 0), (back.surprisals,)):
            with pytest.raises(AwayFromModel, match="loaded without it"):
                ask(*at)


def test_a_translators_capture_is_saved_with_all_three_attentions(tmp_path):
    own = load_runner("translator").capture("The wolf loves Mary.")
    own.save(tmp_path / "x.safetensors")
    back = load_capture(tmp_path / "x.safetensors")
    for kind in ("encoder", "decoder", "cross"):
        one, its = back.attention(kind), own.attention(kind)
        assert torch.equal(one.weights(1), its.weights(1))
        assert one.verify(1).ok
        assert show(one, 1, 0)._repr_html_() == show(its, 1, 0)._repr_html_()


def test_with_the_runner_of_its_model_it_says_all(tmp_path):
    runner, path = shared_runner("llama"), tmp_path / "x.safetensors"
    own = runner.capture(TEXT)
    own.save(path)
    back = load_capture(str(path), runner)
    for mine, its in zip(everything(back), everything(own), strict=True):
        assert same(mine, its)
    assert torch.equal(back.mlp_out(1), own.mlp_out(1))
    with pytest.raises(WrongModel, match="llama"):
        load_capture(path, shared_runner("gpt2"))
    other: Any = FAMILY["llama"].build()
    with torch.no_grad():
        other.model.layers[0].mlp.up_proj.weight.mul_(2)
    with pytest.raises(CaptureOfOthers, match="numbers other than"):
        load_capture(path, runner_of(other, byte_tokenizer(), name="llama"))


def test_a_copy_of_a_capture_is_the_capture():
    own = shared_runner("llama").capture(TEXT)
    assert copy.copy(own) is own
    assert copy.deepcopy([own])[0] is own


def test_a_file_of_something_else_is_told(tmp_path):
    path = tmp_path / "x.safetensors"
    for data in (b"not a file of ours", to_bytes(CaptureRequest(text="a"))):
        path.write_bytes(data)
        with pytest.raises(Unreadable, match="hold no capture"):
            load_capture(path)
    with pytest.raises(FileNotFoundError):
        load_capture(tmp_path / "none.safetensors")


@pytest.mark.long
def test_a_pickle_opens_in_another_process(tmp_path):
    path = tmp_path / "capture.pickle"
    path.write_bytes(pickle.dumps(shared_runner("llama").capture(TEXT)))
    code = f"import pickle; c = pickle.load(open({str(path)!r}, 'rb')); print(c.verify(1).ok, len(c.tokens))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", str(len(byte_tokenizer()(TEXT).input_ids))]
