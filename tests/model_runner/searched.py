"""A beam search after a short text, on tiny models of every family that can continue one."""

from __future__ import annotations

import functools
from typing import Any

from model_runner.beams import BeamSearch
from model_runner.local.beam_search import search_beams
from model_runner.local.runner import LocalRunner
from model_runner.request import GenerateRequest
from tests.model_runner.cases import runner_of
from tests.model_runner.families import FAMILIES
from tests.model_runner.tiny import EOS, byte_tokenizer

TEXT = "the dog chased the dog"  # longer than every window of FAMILIES
TOKENS = 8
ENCODERS = ("bert", "roberta", "distilbert", "modernbert", "albert")
FAMILY = {family.name: family for family in FAMILIES if family.name not in ENCODERS}


@functools.cache
def runner(name: str) -> LocalRunner:
    return runner_of(FAMILY[name])


@functools.cache
def plain(name: str) -> Any:
    """The same weights, which nothing of ours ever touched."""
    return FAMILY[name].build()


def prompt() -> list[int]:
    return byte_tokenizer()(TEXT).input_ids


def search(name: str, *, width: int = 3, limit: int = TOKENS, ends: tuple[int, ...] = (EOS,)) -> BeamSearch:
    held = runner(name)
    request = GenerateRequest(text=TEXT, max_new_tokens=limit)
    return search_beams(held.engine.model, prompt(), request, width=width, limit=limit, ends=ends)


@functools.cache
def likely_ends(name: str) -> tuple[int, ...]:
    """Ids that the search meets on its way: with these as end-of-text ids beams finish at several steps."""
    steps = search(name).steps
    return (steps[1].beams[-1].ids[-1], steps[3].beams[1].ids[-1], steps[5].beams[0].ids[-1])
