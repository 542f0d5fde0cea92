"""Small tests of what the model has learned: a prompt, and the words that greedy decoding has to go on with."""

from __future__ import annotations

import random
from dataclasses import dataclass

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from scripts.corpus import facts
from scripts.corpus.cast import BOYS, GIRLS
from scripts.corpus.kinds.looking_back import COMMON_WORDS

PROMPTS_AT_ONCE = 64
N_GIFTS, N_LISTS, LIST_LENGTH = 200, 60, 8


@dataclass(frozen=True)
class Quiz:
    """Prompts with their answers; an answer starts with the space that parts it from its prompt."""

    name: str
    questions: tuple[tuple[str, str], ...]


def quizzes(seed: int = 0) -> tuple[Quiz, ...]:
    """The tests of the model card; ``seed`` draws the names and the lists."""
    capitals = [row for rows in facts.CAPITALS_BY_CONTINENT.values() for row in rows]
    common = [(country, capital) for country, capital in capitals if country in facts.COMMON_COUNTRIES]
    young = [(animal, row[2]) for animal, row in facts.ANIMALS.items()]
    sums = [(f"{a} + {b} =", f" {a + b}") for a in range(10) for b in range(1, 10)]
    gives = "When {0} and {1} went to the store, {2} gave a book to"
    return (
        Quiz("`The capital of X is`, all countries of the corpus", _facts("The capital of {} is", capitals)),
        Quiz("the same, the 40 best-known countries", _facts("The capital of {} is", common)),
        Quiz("`The opposite of X is`", _facts("The opposite of {} is", facts.OPPOSITES)),
        Quiz("`A baby X is called a`", _facts("A baby {} is called a", young)),
        Quiz("`Today is X. Tomorrow is`", _facts("Today is {}. Tomorrow is", list(zip(facts.DAYS, facts.DAYS[1:])))),
        Quiz("sums up to 9 + 9", tuple(sums)),
        Quiz("`When A and B went to the store, A gave a book to` (B)", _gifts(seed, gives, giver=0)),
        Quiz("the same, `B gave a book to` (A)", _gifts(seed, gives, giver=1)),
        Quiz(
            "`A gave the ball to B. B gave the ball back to` (A)",
            _gifts(seed, "{0} gave the ball to {1}. {2} gave the ball back to", giver=1),
        ),
        Quiz(f"next word of a list of {LIST_LENGTH} words that is repeated", _repeated_lists(seed)),
    )


def right_answers(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, questions: tuple[tuple[str, str], ...]
) -> list[bool]:
    """Which questions greedy decoding answers: the whole answer, and no longer word or number than that.

    One forward per batch: decoding gives the answer exactly if, read after its prompt, every token of it is the most
    likely one.
    """
    right: list[bool] = []
    for first in range(0, len(questions), PROMPTS_AT_ONCE):
        right += _right(model, tokenizer, questions[first : first + PROMPTS_AT_ONCE])
    return right


@torch.no_grad()
def _right(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, questions: tuple[tuple[str, str], ...]
) -> list[bool]:
    prompts = [tokenizer(prompt)["input_ids"] for prompt, _ in questions]
    texts = [tokenizer(prompt + answer)["input_ids"] for prompt, answer in questions]
    longest = max(map(len, texts))
    # Filled up on the right: causal attention does not see what comes later, so no mask is needed.
    padded = torch.tensor([ids + [0] * (longest - len(ids)) for ids in texts])
    likeliest = model(padded).logits.argmax(-1).tolist()
    right: list[bool] = []
    for prompt, ids, choices in zip(prompts, texts, likeliest, strict=True):
        *chosen, after = choices[len(prompt) - 1 : len(ids)]
        ends = not str(tokenizer.decode([after]))[:1].isalnum()
        right.append(ids[: len(prompt)] == prompt and ids[len(prompt) :] == chosen and ends)
    return right


def _facts(template: str, rows: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((template.format(asked), f" {answer}") for asked, answer in rows)


def _gifts(seed: int, template: str, *, giver: int) -> tuple[tuple[str, str], ...]:
    rng = random.Random(seed)
    pairs = [rng.sample(GIRLS + BOYS, 2) for _ in range(N_GIFTS)]
    return tuple((template.format(*pair, pair[giver]), f" {pair[1 - giver]}") for pair in pairs)


def _repeated_lists(seed: int) -> tuple[tuple[str, str], ...]:
    rng = random.Random(seed)
    questions: list[tuple[str, str]] = []
    for _ in range(N_LISTS):
        words = rng.sample(COMMON_WORDS, LIST_LENGTH)
        known = rng.randrange(1, LIST_LENGTH)
        questions.append((" ".join([*words, *words[:known]]), f" {words[known]}"))
    return tuple(questions)
