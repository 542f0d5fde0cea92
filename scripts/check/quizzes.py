"""Small tests of what the model has learned: prompts, and the words with which greedy decoding must continue them."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from scripts.corpus import facts
from scripts.corpus.cast import BOYS, GIRLS
from scripts.corpus.chinese import cast as chinese_cast
from scripts.corpus.chinese import facts as chinese
from scripts.corpus.kinds.looking_back import COMMON_WORDS
from scripts.corpus.poems import POEMS
from scripts.corpus.practice.code import FUNCTIONS, PARAMETERS
from scripts.corpus.practice.lists import WORDS

PROMPTS_AT_ONCE = 64
N_GIFTS, N_LISTS, LIST_LENGTH, N_ANIMALS, N_FUNCTIONS = 200, 60, 8, 25, 10
PRONOUNS = ("The {0} saw the {1}. It", "The {0} sat near the {1}, and then it")
CHINESE_PRONOUNS = ("{0}看见了{1}，它", "{0}坐在{1}旁边，后来它")


@dataclass(frozen=True)
class Quiz:
    """Prompts with their answers; an answer starts with the space that separates it from its prompt, if any."""

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
        Quiz(
            f"next word of a list of {LIST_LENGTH} words that is repeated",
            _repeated_lists(seed, COMMON_WORDS, " ", " "),
        ),
        Quiz("`The X saw the Y. It` and one more (what X does)", _pronouns(seed, PRONOUNS, facts.ANIMALS, 0, " {}")),
        Quiz("`def add(a, b): return` and nine more", _code()),
        *_chinese(seed),
    )


def _chinese(seed: int) -> tuple[Quiz, ...]:
    gives = "{0}和{1}去了商店，{2}把一本书送给了"
    names = chinese_cast.GIRLS + chinese_cast.BOYS
    sums = tuple((f"{a}加{b}等于", f"{a + b}。") for a in range(10) for b in range(1, 10))
    return (
        Quiz("`X的首都是`", _facts("{}的首都是", chinese.CAPITALS, "{}。")),
        Quiz("`X的反义词是`", _facts("{}的反义词是", chinese.OPPOSITES, "{}。")),
        Quiz("`3加5等于`, sums up to 9 + 9", sums),
        Quiz("`A和B去了商店，A把一本书送给了` (B)", _gifts(seed, gives, giver=0, names=names, answer="{}。")),
        Quiz("the same, `B把一本书送给了` (A)", _gifts(seed, gives, giver=1, names=names, answer="{}。")),
        Quiz(
            f"next word of a Chinese list of {LIST_LENGTH} words that is repeated",
            _repeated_lists(seed, WORDS, "，", ""),
        ),
        Quiz(
            "`X看见了Y，它` and one more (what X does)",
            _pronouns(seed, CHINESE_PRONOUNS, chinese.ANIMALS, 1, "{}。"),
        ),
        Quiz("next line of sixty poems", _poems()),
    )


def right_answers(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, questions: tuple[tuple[str, str], ...]
) -> list[bool]:
    """Which questions greedy decoding answers: the whole answer, and no longer word or number.

    Runs one forward per batch: greedy decoding gives the answer exactly if, read after its prompt, every token of it is
    the most likely one.
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
        follows = str(tokenizer.decode([after]))[:1]
        ends = not (follows.isalnum() and str(tokenizer.decode(ids))[-1:].isalnum())
        right.append(ids[: len(prompt)] == prompt and ids[len(prompt) :] == chosen and ends)
    return right


def _facts(template: str, rows: list[tuple[str, str]], answer: str = " {}") -> tuple[tuple[str, str], ...]:
    return tuple((template.format(asked), answer.format(known)) for asked, known in rows)


def _gifts(
    seed: int, template: str, *, giver: int, names: list[str] = GIRLS + BOYS, answer: str = " {}"
) -> tuple[tuple[str, str], ...]:
    rng = random.Random(seed)
    pairs = [rng.sample(names, 2) for _ in range(N_GIFTS)]
    return tuple((template.format(*pair, pair[giver]), answer.format(pair[1 - giver])) for pair in pairs)


def _repeated_lists(seed: int, vocabulary: list[str], glue: str, before: str) -> tuple[tuple[str, str], ...]:
    """Lists joined by ``glue``; the answer begins with ``before``, which is then left out of the prompt."""
    rng = random.Random(seed)
    questions: list[tuple[str, str]] = []
    for _ in range(N_LISTS):
        words = rng.sample(vocabulary, LIST_LENGTH)
        known = rng.randrange(1, LIST_LENGTH)
        prompt = glue.join([*words, *words[:known], ""]).removesuffix(before)
        questions.append((prompt, before + words[known] + ("" if before else glue)))
    return tuple(questions)


def _pronouns(
    seed: int, templates: tuple[str, ...], animals: Mapping[str, tuple[str | int, ...]], verb: int, answer: str
) -> tuple[tuple[str, str], ...]:
    """The first ``N_ANIMALS`` animals, each once with every template and another animal beside it."""
    rng = random.Random(seed)
    questions: list[tuple[str, str]] = []
    for animal in list(animals)[:N_ANIMALS]:
        other = rng.choice([name for name in animals if name != animal])
        said = answer.format(animals[animal][verb])
        questions += [(template.format(animal, other), said) for template in templates]
    return tuple(questions)


def _code() -> tuple[tuple[str, str], ...]:
    rows = [(function, PARAMETERS[function.takes][0]) for function in FUNCTIONS[:N_FUNCTIONS]]
    return tuple((function.line(names), f" {function.body.format(*names)}") for function, names in rows)


def _poems() -> tuple[tuple[str, str], ...]:
    halves = (re.split("[，。？！；]", lines[0]) for _, lines in POEMS)
    return tuple((f"{first}，", second) for first, second, *_ in halves)
