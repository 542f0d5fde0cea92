"""Variants read a token at a time: the same outputs, and a state and a step's work as their formulas say."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn.functional import elu, relu
from torch.utils.flop_counter import FlopCounterMode

from attention.zoo import performer
from attention.zoo.table import BY_NAME, VARIANTS
from tests.attention.zoo.made import made

N, D, WIDTH = 23, 6, 5
HEAD = made(N, D, width=WIDTH)
READ = [variant for variant in VARIANTS if variant.recurrent is not None]
VALUES = {
    "half_life": 5,
    "momentum": 40,
    "forgotten": 5,
    "kept": 90,
    "features": 8,
    "gate": 30,
    "power": 150,
    "gate_same": 40,
}

State = dict[str, Tensor]  # what is held from one token to the next; rows are (1, width)
Step = Callable[[State, Tensor, Tensor, Tensor, int], Tensor]


def nothing(rows: int, columns: int) -> Tensor:
    return torch.zeros(rows, columns, dtype=torch.float64)


def held(state: State, name: str, rows: int, columns: int) -> Tensor:
    return state.setdefault(name, nothing(rows, columns))


def kernel(of_query: Callable[..., list[Tensor]], of_key: Callable[..., Tensor]) -> Step:
    """Katharopoulos et al. 2020, eq. 18 to 20; each of the query's features reads a part of the values."""

    def step(state: State, q: Tensor, k: Tensor, v: Tensor, place: int) -> Tensor:
        phi = of_key(k, place)
        with_one = torch.cat([v, torch.ones(1, 1, dtype=v.dtype)], dim=1)
        state["sums"] = held(state, "sums", phi.shape[1], with_one.shape[1]) + phi.T @ with_one
        values, total = state["sums"][:, :-1], state["sums"][:, -1:]
        parts, found = of_query(q, place), []
        for part, one in zip(
            parts, values.tensor_split([-(-v.shape[1] // 2)] if len(parts) > 1 else [], 1), strict=True
        ):
            read = part @ torch.cat([one, total], dim=1)
            found.append(read[:, :-1] / read[:, -1:])
        return torch.cat(found, dim=1)

    return step


def same(feature: Callable[..., Tensor]) -> Step:
    return kernel(lambda q, place: [feature(q, place)], feature)


def of_performer(features: int, seed: int) -> Step:
    omega = performer.directions(features, D, seed)

    def feature(x: Tensor, _place: int) -> Tensor:
        x = x * HEAD.scale**0.5
        return (x @ omega.T - x.square().sum() / 2).exp()

    return same(feature)


def of_cosformer() -> Step:
    def feature(x: Tensor, place: int) -> Tensor:
        angle = math.pi / 2 * place / N
        return torch.cat([relu(x) * math.cos(angle), relu(x) * math.sin(angle)], dim=1)

    return same(feature)


def of_polaformer(power: float, opposite: int, gate_same: float, gate_opposite: float) -> Step:
    def signs(x: Tensor) -> tuple[Tensor, Tensor]:
        return relu(x) ** power, relu(-x) ** power

    plain = kernel(
        lambda q, _place: [torch.cat(signs(q), dim=1), torch.cat(signs(q)[::-1], dim=1)],
        lambda k, _place: torch.cat(signs(k), dim=1),
    )
    half = -(-WIDTH // 2)
    gates = torch.tensor([gate_same] * half + [gate_opposite] * (WIDTH - half), dtype=torch.float64)
    return lambda *given: plain(*given) * gates


def decaying(scale: float, left: Callable[[Tensor], float], written: Callable[[Tensor], float]) -> Step:
    def step(state: State, q: Tensor, k: Tensor, v: Tensor, _place: int) -> Tensor:
        state["sum"] = held(state, "sum", D, WIDTH) * left(k) + written(k) * (k.T @ v)
        return scale * q @ state["sum"]

    return step


def of_transnormer() -> Step:
    def step(state: State, q: Tensor, k: Tensor, v: Tensor, _place: int) -> Tensor:
        state["sum"] = held(state, "sum", D, WIDTH) + (elu(k) + 1).T @ v
        found = (elu(q) + 1) @ state["sum"]
        return found / found.square().mean().sqrt()

    return step


def size(x: Tensor) -> Tensor:
    return x.square().sum().sqrt()


def of_delta(strength: float, kept: float) -> Step:
    def step(state: State, q: Tensor, k: Tensor, v: Tensor, _place: int) -> Tensor:
        k, before = k / size(k), kept * held(state, "sum", D, WIDTH)
        state["sum"] = before + strength * k.T @ (v - k @ before)
        return q / size(q) @ state["sum"]

    return step


def learn(state: State, k: Tensor, told: Tensor, step: float, momentum: float, forgotten: float) -> None:
    """Equations 10 and 13 of Titans."""
    shape = D, told.shape[1]
    k, memory = k / size(k), held(state, "memory", *shape)
    state["carried"] = momentum * held(state, "carried", *shape) - 2 * step * k.T @ (k @ memory - told)
    state["memory"] = (1 - forgotten) * memory + state["carried"]


def of_titans(**memory: float) -> Step:
    def step(state: State, q: Tensor, k: Tensor, v: Tensor, _place: int) -> Tensor:
        learn(state, k, v, **memory)
        return q / size(q) @ state["memory"]

    return step


def kept_rows(state: State, name: str, row: Tensor, most: int) -> Tensor:
    """The last rows, this one among them."""
    state[name] = torch.cat([held(state, name, 0, row.shape[1]), row])[-most:]
    return state[name]


def softmax(scores: Tensor, sink: float = -math.inf) -> Tensor:
    exps = (scores - scores.max()).exp()
    return exps / (exps.sum() + math.exp(sink - float(scores.max())))


def persistent_of(count: int, seed: int) -> Tensor:
    """Keys that every text has before it; their values are 0."""
    return torch.randn(count, D, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def attend(state: State, q: Tensor, k: Tensor, v: Tensor, most: int, first: Tensor | None = None) -> Tensor:
    first = nothing(0, D) if first is None else first
    keys = torch.cat([first, kept_rows(state, "keys", k, most)])
    values = torch.cat([nothing(len(first), WIDTH), kept_rows(state, "values", v, most)])
    return softmax(q @ keys.T * HEAD.scale) @ values


def of_gate(window: int, gate: float, persistent: int, seed: int, **memory: float) -> Step:
    titans, first = of_titans(**memory), persistent_of(persistent, seed)

    def step(state: State, q: Tensor, k: Tensor, v: Tensor, place: int) -> Tensor:
        return gate * attend(state, q, k, v, window, first) + (1 - gate) * titans(state, q, k, v, place)

    return step


def of_layer(window: int, persistent: int, seed: int, **memory: float) -> Step:
    titans, first = of_titans(**memory), persistent_of(persistent, seed)

    def step(state: State, q: Tensor, k: Tensor, v: Tensor, place: int) -> Tensor:
        return attend(state, q, k, titans(state, q, k, v, place), window, first)

    return step


def of_context(segment: int, persistent: int, seed: int, **memory: float) -> Step:
    first = torch.cat([persistent_of(persistent, seed), nothing(persistent, WIDTH)], dim=1)

    def step(state: State, q: Tensor, k: Tensor, v: Tensor, place: int) -> Tensor:
        told = torch.cat([k, v], dim=1)
        if place % segment == 0:
            before = held(state, "memory", D, D + WIDTH)
            state.update(before=before, own=nothing(0, D + WIDTH), reads=nothing(0, D + WIDTH))
        read = q / size(q) @ state["before"]
        learn(state, k, told, **memory)
        own, reads = kept_rows(state, "own", told, segment), kept_rows(state, "reads", read, segment)
        rows = torch.cat([first, reads, own] if place >= segment else [first, own])
        return softmax(q @ rows[:, :D].T * HEAD.scale) @ rows[:, D:]

    return step


def of_blocks(size: int) -> Step:
    def step(state: State, q: Tensor, k: Tensor, v: Tensor, place: int) -> Tensor:
        if place % size == 0:
            state.clear()
        return attend(state, q, k, v, size)

    return step


def cached(rule: Callable[[Tensor], Tensor]) -> Step:
    def step(state: State, q: Tensor, k: Tensor, v: Tensor, _place: int) -> Tensor:
        keys = kept_rows(state, "keys", k, N)
        return rule(q @ keys.T * HEAD.scale) @ kept_rows(state, "values", v, N)

    return step


STEPS: dict[str, Callable[..., Step]] = {
    "linear": lambda: same(lambda x, _place: elu(x) + 1),
    "relu": lambda: same(lambda x, _place: relu(x)),
    "performer": of_performer,
    "cosformer": of_cosformer,
    "transnormer": of_transnormer,
    "polaformer": of_polaformer,
    "blocks": of_blocks,
    "flash": lambda rows, columns: cached(softmax),
    "lightning": lambda half_life, tile: decaying(HEAD.scale, lambda k: 0.5 ** (1 / half_life), lambda k: 1.0),
    "delta": of_delta,
    "ssd": lambda rate: decaying(
        HEAD.scale, lambda k: math.exp(-rate * float(size(k)) / D**0.5), lambda k: float(size(k)) / D**0.5
    ),
    "titans": of_titans,
    "titans_mac": of_context,
    "titans_mag": of_gate,
    "titans_mal": of_layer,
    "sigmoid": lambda keys: cached(lambda scores: (scores - math.log(keys)).sigmoid()),
    "log_n": lambda length: cached(lambda scores: softmax(scores * (math.log(scores.shape[1]) / math.log(length)))),
    "off_by_one": lambda sink: cached(lambda scores: softmax(scores, sink)),
}


def test_every_row_with_a_recurrent_form_is_stepped_here():
    assert [variant.name for variant in READ] == list(STEPS)


@pytest.mark.parametrize("variant", READ, ids=lambda variant: variant.name)
@pytest.mark.parametrize("least", [False, True])
def test_a_token_at_a_time_gives_the_output_and_holds_and_does_what_is_written(variant, least):
    head = HEAD
    if variant.name in ("relu", "cosformer"):  # no query without a positive entry in common with a key
        head = replace(HEAD, q=HEAD.q.abs(), k=HEAD.k.abs())
    named = {one.name: VALUES.get(one.name, one.usual(N)) for one in variant.parameters}
    values = {
        one.name: max(one.least, min(named[one.name], 3)) if least else named[one.name] for one in variant.parameters
    }
    numbers = variant.numbers(values, N)
    step, state, rows, sizes, work = STEPS[variant.name](**numbers), State(), [], [], []
    for place in range(N):
        q, k, v = (one[place : place + 1] for one in (head.q, head.k, head.v))
        with FlopCounterMode(display=False) as counted:
            rows.append(step(state, q, k, v, place))
        work.append(counted.get_total_flops() / 2)
        sizes.append(sum(one.numel() for one in state.values()))
    torch.testing.assert_close(torch.cat(rows), variant.mixed(head, values), rtol=1e-9, atol=1e-11)
    assert max(sizes) == variant.recurrent.state.of(N, D, WIDTH, **numbers)
    assert max(work) == variant.recurrent.step.of(N, D, WIDTH, **numbers)


@pytest.mark.parametrize("variant", READ, ids=lambda variant: variant.name)
def test_the_formulas_that_are_written_are_those_that_are_counted(variant):
    n, d, d_v = 4096, 64, 48
    numbers = variant.numbers({}, n)
    letters = {"n": n, "d": d, "d_v": d_v} | {one.letter: numbers[one.name] for one in variant.parameters if one.letter}
    for formula in (variant.recurrent.state, variant.recurrent.step):
        written = re.sub(r"(?<=[\w)]) (?=[\w(])", " * ", formula.written)
        assert eval(written, {}, letters) == formula.of(n, d, d_v, **numbers)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_the_memory_that_is_written_is_the_one_that_is_counted(variant):
    n, d, d_v = 4096, 64, 48
    numbers = variant.numbers({}, n)
    letters = {"n": n, "d": d, "d_v": d_v} | {one.letter: numbers[one.name] for one in variant.parameters if one.letter}
    written = re.sub(r"(?<=[\w)]) (?=[\w(])", " * ", variant.memory.written.replace("²", "**2"))
    assert eval(written, {}, letters) == variant.memory.of(n, d, d_v, **numbers)


@pytest.mark.parametrize("name", ["blocks", "titans_mac", "titans_mag", "titans_mal"])
def test_the_work_of_a_whole_text_is_that_of_its_steps(name):
    """Whose output is computed by a whole map; their steps are counted above."""
    variant = BY_NAME[name]
    numbers = variant.numbers({}, 100)
    assert variant.multiply_adds(100, 8, **numbers) == 100 * variant.recurrent.step.of(100, 8, 8, **numbers)


def test_softmax_alone_keeps_more_with_every_token():
    for variant in READ:
        numbers = variant.numbers({}, 100)
        grows = variant.recurrent.state.of(100, 8, 8, **numbers) != variant.recurrent.state.of(200, 8, 8, **numbers)
        assert grows == (variant.name in ("flash", "sigmoid", "log_n", "off_by_one"))
    assert not BY_NAME["titans_mag"].recurrent.by_query


@pytest.mark.parametrize("variant", READ, ids=lambda variant: variant.name)
def test_heads_that_share_keys_and_values_share_the_state_unless_queries_went_into_it(variant):
    """Another query: what is held is the same, or the variant says that it is not."""
    numbers = variant.numbers({}, N)
    states = []
    for q in (HEAD.q, HEAD.q.flip(0)):
        step, state = STEPS[variant.name](**numbers), State()
        for place in range(N):
            step(state, *(one[place : place + 1] for one in (q, HEAD.k, HEAD.v)), place)
        states.append(torch.cat([one.flatten() for one in state.values()]))
    assert torch.equal(*states) is not variant.recurrent.by_query
