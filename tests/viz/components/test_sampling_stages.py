"""JavaScript's distribution is Python's: every stage, any order, the whole vocabulary, and the same draws."""

from __future__ import annotations

import base64
import itertools
import json
import math
import random
import subprocess
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

import viz.components
from model_runner.local.loading.model_folder import DEFAULT_FOLDER
from model_runner.sampling import draw, stages, uniforms
from model_runner.transforms import DEFAULT, TRANSFORMS, Sampling
from tests.model_runner.sampling_reference import REFERENCES, extreme_settings, mild_settings
from tests.model_runner.test_sampling import PROMPT
from tests.model_runner.test_sampling_draws import THREEFRY
from tests.node import NODE

pytestmark = pytest.mark.table  # its tests take a second each

FOLDER = Path(viz.components.__file__ or "").parent / "sampling_bench"
BRIDGE = """
import { createInterface } from "node:readline"
import { chiSquared, computeStages, drawMany, drawTokens } from "%(folder)s/stages.js"
import { isPossible } from "%(folder)s/settings.js"
import { threefry, uniformsOf } from "%(folder)s/uniforms.js"

const transforms = %(table)s
const bytesOf = (text) => new Uint8Array(Buffer.from(text, "base64")).buffer
const textOf = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("base64")
const told = ({ name, kept, keptMass, entropy, probabilities }) =>
  ({ name, kept, keptMass, entropy, probabilities: textOf(Float64Array.from(probabilities)) })
const logitsOf = {}
const stagesOf = ({ name, settings, previous, memory }) =>
  computeStages(logitsOf[name], settings, Int32Array.from(previous), transforms, memory).map(told)
for await (const line of createInterface({ input: process.stdin })) {
  const asked = eval(`(${line})`) // as Python writes JSON: NaN and Infinity are JavaScript's too
  const code = eval(`(${asked.code})`)
  const found = typeof code === "function" ? code(asked.given) : code
  process.stdout.write((JSON.stringify(found) ?? "null") + "\\n")
}
"""
EXACT = 1e-12  # the same float64 arithmetic, summed in another order: far inside the 1e-6 that is asked for


class Bench:
    """A process that holds stages.js, settings.js and uniforms.js, and evaluates code beside them."""

    def __init__(self) -> None:
        table = json.dumps({name: row.described(100) for name, row in TRANSFORMS.items()})
        code = BRIDGE % {"folder": FOLDER.as_uri(), "table": table}
        pipe = subprocess.PIPE
        self.node = subprocess.Popen([NODE, "--input-type=module", "-e", code], stdin=pipe, stdout=pipe, text=True)

    def evaluate(self, code: str, given: Any = None) -> Any:
        assert self.node.stdin is not None
        assert self.node.stdout is not None
        self.node.stdin.write(json.dumps({"code": code, "given": given}) + "\n")
        self.node.stdin.flush()
        return json.loads(self.node.stdout.readline())


@pytest.fixture
def bench():
    """A fresh one."""
    bench = Bench()
    yield bench
    bench.node.communicate()


def give(bench, logits, name="logits"):
    text = base64.b64encode(logits.numpy().astype(np.float32).tobytes()).decode()
    bench.evaluate("([name, text]) => { logitsOf[name] = new Float32Array(bytesOf(text)) }", [name, text])


def shown(bench, sampling, previous):
    """JavaScript's stages of the logits that it was given."""
    return bench.evaluate("stagesOf", {"name": "logits", "settings": asdict(sampling), "previous": previous})


def array(text):
    return np.frombuffer(base64.b64decode(text), np.float64)


def assert_equal(found, expected):
    assert [stage["name"] for stage in found] == [stage.name for stage in expected]
    for here, there in zip(found, expected, strict=True):
        assert here["kept"] == there.kept, there.name
        assert np.abs(array(here["probabilities"]) - there.probabilities.numpy()).max() < EXACT, there.name
        assert here["keptMass"] == pytest.approx(there.kept_mass, abs=1e-11)
        assert here["entropy"] == pytest.approx(there.entropy, abs=1e-9)


@pytest.fixture(scope="module")
def real():
    """The embedded model's logits after every token of PROMPT."""
    model = AutoModelForCausalLM.from_pretrained(DEFAULT_FOLDER, dtype=torch.float32).eval()
    with torch.no_grad():
        return model(torch.tensor([PROMPT])).logits[0]


def large(n_tokens, scale):
    """Random logits with few bits, as of a bfloat16 model: most values come many times."""
    logits = scale * torch.randn(n_tokens, generator=torch.Generator().manual_seed(n_tokens))
    return logits.bfloat16().float()


def some_settings(count, seed):
    """Settings that all do something, each in an order of its own; the first in generate()'s."""
    draws = random.Random(seed)
    for order in [DEFAULT.order, *draws.sample(list(itertools.permutations(TRANSFORMS)), count - 1)]:
        yield Sampling(**mild_settings(draws), order=order)


# -- the distribution -------------------------------------------------------------------------------------------------


def test_every_stage_is_pythons_on_real_logits(bench, real):
    for position, sampling in enumerate(some_settings(40, seed=1)):
        logits = real[position % len(real)]
        give(bench, logits)
        assert_equal(shown(bench, sampling, PROMPT), stages(logits, sampling, PROMPT))


@pytest.mark.parametrize("scale", [0.5, 3.0])
@pytest.mark.parametrize("n_tokens", [50_257, 151_936])
def test_every_stage_is_pythons_on_a_large_vocabulary_full_of_ties(bench, n_tokens, scale):
    logits = large(n_tokens, scale)
    give(bench, logits)
    previous = random.Random(0).choices(range(n_tokens), k=400) + logits.topk(20).indices.tolist()
    for sampling in some_settings(4, seed=n_tokens):
        assert_equal(shown(bench, sampling, previous), stages(logits, sampling, previous))


@pytest.mark.parametrize("name", TRANSFORMS)
def test_each_transform_alone_is_pythons_on_a_large_vocabulary(bench, name):
    logits = large(151_936, 2.0)
    give(bench, logits)
    previous = logits.topk(300).indices.tolist()
    sampling = Sampling(**{name: getattr(next(some_settings(1, seed=5)), name)})
    assert_equal(shown(bench, sampling, previous), stages(logits, sampling, previous))


def test_extreme_settings_equal_logits_and_removed_tokens_are_pythons(bench):
    for seed in range(250):
        draws = random.Random(seed)
        n_tokens = draws.choice([1, 2, 5, 40])
        logits = draws.choice([0, 1, 30, 1e30]) * torch.randn(n_tokens, generator=torch.Generator().manual_seed(seed))
        if draws.random() < 0.5:
            logits = logits.round()
        if draws.random() < 0.4:
            logits[1::2] = -torch.inf
        sampling = extreme_settings(draws)
        previous = [draws.randrange(n_tokens + 3) for _ in range(draws.choice([0, 5]))]
        give(bench, logits)
        assert_equal(shown(bench, sampling, previous), stages(logits, sampling, previous))


def test_of_both_zeros_greedy_takes_the_first(bench):
    logits = torch.tensor([-1.0, -0.0, 0.0, -0.0])
    give(bench, logits)
    assert_equal(shown(bench, Sampling(temperature=0), []), stages(logits, Sampling(temperature=0), []))


def test_what_is_remembered_from_one_call_to_the_next_never_shows(bench, real):
    """One memory through 60 changes of one setting, the order, the text or the logits at a time."""
    for position in range(2):
        give(bench, real[position], f"logits {position}")
    bench.evaluate("() => { globalThis.memory = {}; globalThis.texts = {} }")
    draws = random.Random(2)
    sampling, position, previous = next(some_settings(1, seed=3)), 0, PROMPT
    for _ in range(60):
        match draws.choice(["order", "previous", "position", *TRANSFORMS]):
            case "order":
                sampling = replace(sampling, order=tuple(draws.sample(DEFAULT.order, len(DEFAULT.order))))
            case "previous":
                previous = draws.choices(range(4096), k=9)
            case "position":
                position = 1 - position
            case name:
                value = getattr(extreme_settings(draws), name)
                sampling = replace(sampling, **{name: value})
        found = bench.evaluate(
            """({ name, settings, previous }) => {
                const ids = (texts[previous] ??= Int32Array.from(previous)) // an array that stays the same
                return computeStages(logitsOf[name], settings, ids, transforms, memory).map(told)
            }""",
            {"name": f"logits {position}", "settings": asdict(sampling), "previous": previous},
        )
        assert_equal(found, stages(real[position], sampling, previous))


@pytest.mark.parametrize("broken", [[1.0, math.nan], [math.inf, 0.0], [-math.inf, -math.inf]])
def test_broken_logits_have_no_stages(bench, broken):
    give(bench, torch.tensor(broken))
    settings = asdict(Sampling())
    assert (
        bench.evaluate("settings => computeStages(logitsOf.logits, settings, new Int32Array(0), transforms)", settings)
        is None
    )


def test_javascript_finds_the_same_settings_impossible(bench):
    for name, known in REFERENCES.items():
        for values, possible in ((known.right, True), (known.wrong, False)):
            seen = [math.inf if value == 10**309 else value for value in values]  # as JavaScript reads them
            found = bench.evaluate(
                "([name, all]) => all.map((x) => isPossible(x, transforms[name].bounds))", [name, seen]
            )
            assert found == [possible] * len(values), name


# -- draws ------------------------------------------------------------------------------------------------------------


def test_the_random_words_are_the_known_answers_of_the_paper(bench):
    for key, counter, words in THREEFRY:
        assert tuple(bench.evaluate("args => threefry(...args)", [key, counter])) == words


@pytest.mark.parametrize("seed", [0, 1, -5, 2**63, 2**64, -(2**64), 12345678901234567890123, -(2**200)])
def test_the_random_numbers_are_pythons_bit_for_bit(bench, seed):
    for position in (0, 3, 2047):
        found = bench.evaluate("args => [...uniformsOf(...args)]", [str(seed), position, 1000])
        assert found == uniforms(seed, position, 1000)


@pytest.mark.parametrize("n_tokens", [0, 50_257, 151_936])  # 0: the real logits
@pytest.mark.parametrize("seed", [0, 11])
def test_the_same_numbers_draw_the_same_tokens_as_in_python(bench, real, n_tokens, seed):
    logits = large(n_tokens, 3.0) if n_tokens else real[-1]
    sampling = Sampling(temperature=1.3, top_p=0.98, seed=seed)
    numbers = uniforms(seed, len(PROMPT), 1000)
    probabilities = stages(logits, sampling, PROMPT)[-1].probabilities
    drawn = [draw(probabilities, number) for number in numbers]
    give(bench, logits)
    found = bench.evaluate(
        """([settings, numbers]) => {
            const { probabilities } = computeStages(logitsOf.logits, settings, new Int32Array(0), transforms).at(-1)
            const counts = drawMany(probabilities, Float32Array.from(numbers))
            const { value, freedom } = chiSquared(counts, probabilities, numbers.length)
            return [[...drawTokens(probabilities, Float32Array.from(numbers))], [...counts], value, freedom]
        }""",
        [asdict(sampling), numbers],
    )
    counts = np.bincount(drawn, minlength=len(logits))
    assert found[0] == drawn
    assert found[1] == counts.tolist()
    possible = probabilities.numpy() > 0
    expected = 1000 * probabilities.numpy()[possible]
    assert found[2] == pytest.approx(((counts[possible] - expected) ** 2 / expected).sum(), rel=1e-9)
    assert found[3] == possible.sum() - 1


def test_a_draw_at_the_edge_of_two_tokens_is_the_second_and_never_a_removed_one(bench):
    probabilities, numbers = [0.25, 0, 0.5, 0.25, 0], [0, 0.2499, 0.25, 0.7499, 0.75, 1 - 2**-24]
    assert bench.evaluate("args => [...drawTokens(...args)]", [probabilities, numbers]) == [0, 0, 2, 2, 3, 3]


def test_greedy_choice_after_typical_sampling_has_the_mass_of_its_token(bench):
    logits = torch.tensor([2.0, *[0.0] * 40])  # typical sampling removes the likeliest token, and keeps its equals
    order = ("typical_p", *(name for name in TRANSFORMS if name != "typical_p"))
    sampling = Sampling(typical_p=0.5, temperature=0, order=order)
    expected = stages(logits, sampling, [])
    assert expected[1].kept == 40
    give(bench, logits)
    assert_equal(shown(bench, sampling, []), expected)


def test_a_removed_token_that_was_drawn_is_infinitely_unlikely(bench):
    assert bench.evaluate("chiSquared([1, 1], [1, 0], 2).value === Infinity")
