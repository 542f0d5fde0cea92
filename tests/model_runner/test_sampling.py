"""Sampling stages: equal to transformers' transforms in any order, to slow loops from the papers, and never empty."""

from __future__ import annotations

import itertools
import math
import random

import pytest
import torch
from torch import Tensor
from transformers import AutoModelForCausalLM

from model_runner.errors import BrokenLogits
from model_runner.local.loading.model_folder import DEFAULT_FOLDER
from model_runner.sampling import MODEL, Stage, stages
from model_runner.transforms import DEFAULT, TRANSFORMS, Sampling
from tests.model_runner import sampling_reference as slow
from tests.model_runner.tiny import tiny

PROMPT = [0, 301, 17, 944, 301, 2048, 77]
SETTINGS = (
    Sampling(),
    Sampling(temperature=0.7, top_p=0.9),
    Sampling(temperature=1.4, top_k=50, repetition_penalty=1.3),
    Sampling(temperature=0.8, top_k=200, top_p=0.95, min_p=0.01, typical_p=0.95, repetition_penalty=1.1),
    Sampling(temperature=2.0, min_p=0.1, repetition_penalty=0.8),
    Sampling(typical_p=0.3),
    Sampling(temperature=1.2, top_p=0.5, typical_p=0.7),
)
ALL_ON = SETTINGS[3]


@pytest.fixture(scope="module")
def real() -> Tensor:
    """The embedded model's logits after PROMPT."""
    model = AutoModelForCausalLM.from_pretrained(DEFAULT_FOLDER, dtype=torch.float32).eval()
    with torch.no_grad():
        return model(torch.tensor([PROMPT])).logits[0, -1]


def noise(n_tokens: int, scale: float = 3.0, seed: int = 0) -> Tensor:
    return scale * torch.randn(n_tokens, generator=torch.Generator().manual_seed(seed))


def their_scores(logits: Tensor, sampling: Sampling, previous: list[int]) -> Tensor:
    return slow.their_list(sampling)(torch.tensor([previous]), logits[None])[0]


def assert_same_distribution(stage: Stage, scores: Tensor) -> None:
    """The same tokens stay, and each is as likely; float32 softmax is off by 1e-7 or so."""
    assert torch.equal(stage.keep, scores > -torch.inf)
    torch.testing.assert_close(stage.probabilities, scores.double().softmax(-1), rtol=0, atol=1e-6)


# -- transformers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampling", SETTINGS)
def test_the_last_stage_is_transformers_own_distribution_on_real_logits_in_float32(real, sampling):
    assert_same_distribution(stages(real, sampling, PROMPT)[-1], their_scores(real, sampling, PROMPT))


def test_in_any_order_every_stage_is_transformers_transforms_up_to_it_to_the_last_bit_in_float64(real):
    all_on = {name: row.first for name, row in TRANSFORMS.items()}
    for order in random.Random(1).sample(list(itertools.permutations(TRANSFORMS)), 40):
        scores, sampling = real[None].double(), Sampling(**all_on, order=order)
        done = stages(real, sampling, PROMPT)
        assert [stage.name for stage in done] == [MODEL, *order]
        for stage, transform in zip(done[1:], slow.their_list(sampling), strict=True):
            scores = transform(torch.tensor([PROMPT]), scores)
            assert torch.equal(stage.exact, scores[0])


@pytest.mark.parametrize("sampling", SETTINGS)
def test_generate_draws_from_the_last_stage_of_the_default_order(sampling):
    """A real generate(): its own order, its own previous tokens."""
    prompt = [5, 9, 5, 40, 7]
    torch.manual_seed(3)
    output = tiny("llama")().generate(
        torch.tensor([prompt]),
        attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
        do_sample=True,
        max_new_tokens=6,
        **{name: getattr(sampling, name) for name in TRANSFORMS if name != "min_p"},
        min_p=sampling.min_p or None,
        pad_token_id=0,
        output_logits=True,
        output_scores=True,
        return_dict_in_generate=True,
    )
    ids = output.sequences[0].tolist()
    assert len(output.scores) >= 1
    for step, (logits, scores) in enumerate(zip(output.logits, output.scores, strict=True)):
        assert_same_distribution(stages(logits[0], sampling, ids[: len(prompt) + step])[-1], scores[0])


def test_a_name_that_is_in_no_row_of_the_table_raises():
    sampling = Sampling(seed=1)
    object.__setattr__(sampling, "order", ("seed",))
    with pytest.raises(KeyError, match="seed"):
        stages(noise(10), sampling, [])


# -- the papers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("seed", range(6))
def test_each_transform_is_what_its_paper_says(name, seed):
    logits = noise(300, seed=seed)
    draws = random.Random(f"{name}{seed}")
    sampling = Sampling(**{name: slow.REFERENCES[name].strong(draws)})
    previous = [draws.randrange(300) for _ in range(20)]
    expected = slow.applied(name, logits.tolist(), sampling, previous)
    stage = next(stage for stage in stages(logits, sampling, previous) if stage.name == name)
    assert stage.exact.tolist() == pytest.approx(expected, rel=1e-14)
    assert stage.exact.tolist() != logits.tolist()  # the setting does something here


@pytest.mark.parametrize("seed", range(12))
def test_a_random_order_of_random_settings_is_the_papers_one_after_the_other(seed):
    draws = random.Random(seed)
    sampling = slow.extreme_settings(draws)
    logits, previous = noise(400, seed=seed), [draws.randrange(400) for _ in range(30)]
    scores, before = logits.tolist(), None
    for stage in stages(logits, sampling, previous):
        if stage.name != MODEL:
            scores = slow.applied(stage.name, scores, sampling, previous)
        expected = slow.softmax(scores)
        assert stage.exact.tolist() == pytest.approx(scores, rel=1e-13)
        assert stage.probabilities.tolist() == pytest.approx(expected, rel=1e-11, abs=1e-300)
        assert stage.entropy == pytest.approx(slow.entropy_bits(expected), rel=1e-11, abs=1e-12)
        assert stage.kept == sum(score > slow.REMOVED for score in scores)
        survived = expected if before is None else before
        mass = math.fsum(p for p, score in zip(survived, scores) if score > slow.REMOVED)
        assert stage.kept_mass == pytest.approx(mass, rel=1e-12)
        before = expected


def test_top_p_keeps_the_token_that_crosses():
    logits = torch.tensor([0.5, 0.3, 0.2]).log()
    kept = {p: stages(logits, Sampling(top_p=p), [])[4].keep.tolist() for p in (0.4, 0.6, 0.81)}
    assert kept == {0.4: [True, False, False], 0.6: [True, True, False], 0.81: [True, True, True]}


# -- ties, and greedy -------------------------------------------------------------------------------------------------


def test_temperature_zero_keeps_what_argmax_keeps():
    for seed in range(20):
        logits = torch.randint(0, 4, (50,), generator=torch.Generator().manual_seed(seed)).float()
        stage = stages(logits, Sampling(temperature=0), [])[-1]
        assert stage.keep.nonzero().flatten().tolist() == [int(logits.argmax())]
        assert (stage.kept, stage.entropy) == (1, 0.0)


def test_greedy_takes_the_most_likely_token_of_what_came_before_it():
    logits = torch.tensor([3.0, 2.9, 0.0])
    assert int(stages(logits, Sampling(temperature=0, repetition_penalty=2.0), [0])[-1].probabilities.argmax()) == 1
    late = ("temperature", "repetition_penalty", *DEFAULT.order[2:])
    assert int(stages(logits, Sampling(temperature=0, repetition_penalty=2.0, order=late), [0])[-1].keep.nonzero()) == 0


def test_top_k_keeps_every_token_as_likely_as_its_last():
    assert stages(torch.tensor([2.0, 1.0, 1.0, 1.0, 0.0]), Sampling(top_k=2), [])[3].kept == 4


def test_of_equals_at_the_cut_top_p_keeps_the_highest_ids_on_every_machine():
    logits = torch.zeros(64)  # a stable sort leaves them in order; the unstable one of AVX-512 does not
    logits[10] = 5.0
    for p in (0.75, 0.8, 0.9, 0.99):
        expected = slow.top_p(logits.tolist(), p)
        kept = stages(logits, Sampling(top_p=p), [])[4].exact.tolist()
        assert kept == expected
        assert 1 < sum(score > slow.REMOVED for score in kept) < 64


# -- the edges --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(300))
def test_at_least_one_token_stays_whatever_is_set(seed):
    draws = random.Random(seed)
    n_tokens = draws.choice([1, 2, 40])
    logits = noise(n_tokens, draws.choice([0, 1, 30, 1e30]), seed).round(decimals=draws.choice([0, 6]))
    if draws.random() < 0.4:
        logits[torch.randperm(n_tokens, generator=torch.Generator().manual_seed(seed))[1:][::2]] = -torch.inf
    previous = [draws.randrange(n_tokens) for _ in range(draws.choice([0, 5]))]
    for stage in stages(logits, slow.extreme_settings(draws), previous):
        assert stage.kept >= 1
        assert float(stage.probabilities.sum()) == pytest.approx(1, abs=1e-12)
        assert bool((stage.probabilities[~stage.keep] == 0).all())
        assert 0 <= stage.kept_mass <= 1 + 1e-12


def test_a_huge_temperature_is_uniform():
    stage = stages(noise(1000), Sampling(temperature=1e30), [])[2]
    assert stage.probabilities.tolist() == pytest.approx([1e-3] * 1000, rel=1e-12)
    assert stage.entropy == pytest.approx(math.log2(1000))


def test_settings_that_are_off_change_nothing():
    logits = noise(100)
    done = stages(logits, Sampling(), [1, 2])
    assert all(torch.equal(stage.scores, logits) for stage in done)
    assert {stage.kept_mass for stage in done} == {1.0}


def test_a_top_k_beyond_the_vocabulary_keeps_all():
    assert stages(noise(10), Sampling(top_k=11), [])[-1].kept == 10


def test_the_penalty_counts_a_repeated_token_once_and_ignores_ids_beyond_the_logits():
    stage = stages(torch.tensor([4.0, -1.0, 2.0]), Sampling(repetition_penalty=2.0), [0, 0, 1, 7])[1]
    assert stage.scores.tolist() == [2.0, -2.0, 2.0]


def test_a_logit_of_minus_infinity_is_a_token_the_model_removed():
    done = stages(torch.tensor([1.0, -torch.inf, 1.0]), Sampling(top_p=0.9, typical_p=0.9, top_k=3), [1])
    assert {(stage.kept, round(stage.entropy, 9)) for stage in done} == {(2, 1.0)}


@pytest.mark.parametrize("broken", [[1.0, math.nan], [math.inf, 0.0], [-math.inf, -math.inf]])
def test_broken_logits_are_refused(broken):
    with pytest.raises(BrokenLogits, match="not numbers"):
        stages(torch.tensor(broken), Sampling(), [])


def test_the_logits_are_not_changed():
    logits = noise(100)
    before = logits.clone()
    stages(logits, ALL_ON, [1, 2, 3])
    assert torch.equal(logits, before)
