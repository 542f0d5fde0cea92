"""The rule finds a head that makes the answer, and no other; its sentences are new, and differ in the one word."""

from __future__ import annotations

import functools
from random import Random

import pytest

from analysis.examples import examples_of
from model_runner.local.loading.model_folder import EMBEDDED
from scripts.check.story_claims import BESIDE, CLAIMS
from scripts.check.story_reader import Reader
from scripts.check.story_rule import Claim, measure, trials
from scripts.check.story_templates import CHINESE_NOISES, animals, repeated

EVERY = [
    *((name, text, claim) for name, claims in CLAIMS.items() for text, claim in claims.items()),
    *(("default", text, claim) for text, claim in BESIDE.items()),
]


@functools.cache
def reader(name: str = "default") -> Reader:
    return Reader(EMBEDDED[name])


@pytest.mark.parametrize("name, text, claim", EVERY, ids=lambda value: value if isinstance(value, str) else "")
def test_held_out_sentences_differ_in_the_word_that_should_matter(name: str, text: str, claim: Claim) -> None:
    rng = Random(5)
    for _ in range(30):
        trial = claim.template(rng)
        base, changed, other = trial.sentences
        word = base.text[slice(*base.span)]
        assert changed.text != base.text
        assert word in base.text
        assert changed.text[slice(*changed.span)] != word  # the word itself changes
        if other.text != base.text:  # one template has nothing else that could
            assert other.text[slice(*other.span)] == word
    found = trials(reader(name), claim.template, text, count=60)
    assert len(set(found)) == 60
    assert found == trials(reader(name), claim.template, text, count=60)  # the seed makes them
    example = reader(name).tokenizer(text)["input_ids"]
    assert all(list(one.read) != example for trial in found for one in trial)


def test_the_example_itself_is_never_among_the_sentences() -> None:
    two = animals("{0}看见了{1}，它", {name: CHINESE_NOISES[name] for name in ("狗", "猫", "牛", "羊")})
    found = trials(reader(), two, "猫看见了狗，它", count=10)
    assert all(reader().tokenizer("猫看见了狗，它")["input_ids"] != list(one.read) for row in found for one in row)


def test_a_template_with_too_few_sentences_is_refused() -> None:
    few = animals("{0}看见了{1}，它", {name: CHINESE_NOISES[name] for name in ("狗", "猫", "牛", "羊")})
    with pytest.raises(ValueError, match="of 200 held-out sentences like “猫看见了狗，它”"):
        trials(reader(), few, "猫看见了狗，它")


def test_the_head_that_continues_a_list_passes_and_the_heads_beside_it_do_not() -> None:
    template = repeated(["tree", "river", "seven", "cloud", "pencil", "enemy", "silver", "rope"], " ", "", " {}")
    sentences = trials(reader(), template, "", count=30)
    made = measure(reader(), Claim(template, ((5, 5),), ((5, 0),)), sentences)
    assert made.looks > 0.8
    assert made.hangs > 0.8
    assert made.fall > 1
    assert made.control is not None
    assert made.control < 0.4
    still = measure(reader(), Claim(template, ((5, 0),), ((5, 1),)), sentences)
    assert still.told == "not"
    assert still.hangs < 0.2


@pytest.mark.parametrize(
    "heads, control, says",
    [
        ((), (), "one to three heads, not 0"),
        (((1, 1), (1, 2), (1, 3), (1, 4)), (), "one to three heads, not 4"),
        (((1, 1), (2, 2)), ((1, 3),), "as many heads of each layer"),
        (((1, 1),), ((2, 1),), "as many heads of each layer"),
        (((1, 1),), ((1, 1),), "its own control"),
    ],
)
def test_a_claim_that_could_not_be_checked_is_refused(heads, control, says) -> None:
    with pytest.raises(ValueError, match=says):
        Claim(animals("{0}看见了{1}，它", CHINESE_NOISES), heads, control)


def test_every_embedded_model_has_a_claim_for_every_example_that_is_not_known_by_heart() -> None:
    for name, claims in CLAIMS.items():
        without = [example.text for example in examples_of(name, "en") if example.text not in claims]
        assert len(without) <= (3 if name == "default" else 0), without
