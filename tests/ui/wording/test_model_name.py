"""Names of models: a pasted URL names its model, and a long folder is shown by the end of its path."""

from __future__ import annotations

import pytest

from ui.wording.model_name import LONGEST, fitting, model_named


@pytest.mark.parametrize(
    "typed",
    [
        "https://huggingface.co/owner/name", " https://huggingface.co/owner/name/ ", "huggingface.co/owner/name",
        "https://huggingface.co/owner/name/tree/main?x=1#y", "http://www.huggingface.co/owner/name", "https://hf.co/owner/name",
    ],
)  # fmt: skip
def test_a_pasted_address_names_its_model(typed):
    assert model_named(typed) == "owner/name"


@pytest.mark.parametrize(
    "typed, version",
    [("tree/v1.0", "v1.0"), ("tree/refs%2Fpr%2F3/folder", "refs/pr/3"), ("commit/0123abc?x=1", "0123abc")],
)
def test_a_pasted_address_of_a_version_names_it(typed, version):
    assert model_named(f"https://huggingface.co/owner/name/{typed}") == f"owner/name@{version}"


@pytest.mark.parametrize(
    "typed", ["owner/name", "owner/name@v1", "/home/me/huggingface.co/a/b", "default", "https://example.org/a/b", ""]
)
def test_anything_else_is_as_it_was_typed(typed):
    assert model_named(f" {typed} ") == typed


def test_a_version_alone_is_one_of_the_open_model():
    assert model_named("@v2", "owner/name") == model_named(" @v2", "owner/name@v1") == "owner/name@v2"


def test_a_long_folder_shows_its_end():
    assert fitting("/home/someone/of/somewhere/models/bert-tiny") == "…/models/bert-tiny"
    assert fitting("HuggingFaceTB/SmolLM2-135M-Instruct") == "HuggingFaceTB/SmolLM2-135M-Instruct"
    assert len(fitting("/a/" + "a" * 90)) == LONGEST
