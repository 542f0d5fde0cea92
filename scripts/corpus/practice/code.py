"""Small Python functions, and what they give when they are called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scripts.corpus.cast import BOYS, GIRLS
from scripts.corpus.writer import Writer


@dataclass(frozen=True)
class Function:
    """A function of numbers, a word or a list; ``{0}`` and ``{1}`` stand for its parameters."""

    name: str
    body: str
    takes: str  # "n": a number, "nn": two, "s": a word, "l": a list
    result: Callable[..., Any]

    def line(self, names: tuple[str, ...]) -> str:
        """The function up to and without what it returns."""
        return f"def {self.name}({', '.join(names)}): return"


FUNCTIONS: tuple[Function, ...] = (
    Function("add", "{0} + {1}", "nn", lambda a, b: a + b),
    Function("subtract", "{0} - {1}", "nn", lambda a, b: a - b),
    Function("multiply", "{0} * {1}", "nn", lambda a, b: a * b),
    Function("divide", "{0} / {1}", "nn", lambda a, b: a / (b or 1)),
    Function("square", "{0} * {0}", "n", lambda a: a * a),
    Function("double", "2 * {0}", "n", lambda a: 2 * a),
    Function("is_even", "{0} % 2 == 0", "n", lambda a: a % 2 == 0),
    Function("first", "{0}[0]", "l", lambda items: items[0]),
    Function("last", "{0}[-1]", "l", lambda items: items[-1]),
    Function("size", "len({0})", "l", len),
    Function("bigger", "max({0}, {1})", "nn", max),
    Function("smaller", "min({0}, {1})", "nn", min),
    Function("negative", "-{0}", "n", lambda a: -a),
    Function("is_odd", "{0} % 2 == 1", "n", lambda a: a % 2 == 1),
    Function("greet", '"Hello, " + {0}', "s", lambda name: "Hello, " + name),
    Function("upper", "{0}.upper()", "s", lambda word: word.upper()),
    Function("total", "sum({0})", "l", sum),
    Function("equal", "{0} == {1}", "nn", lambda a, b: a == b),
)
PARAMETERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "n": (("n",), ("x",), ("a",), ("number",)),
    "nn": (("a", "b"), ("a", "b"), ("x", "y"), ("m", "n"), ("left", "right")),
    "s": (("name",), ("word",), ("text",)),
    "l": (("items",), ("numbers",), ("xs",)),
}


def code(writer: Writer) -> str:
    """One to three functions, on a line or two, each with a few calls and what these give."""
    rng, parts = writer.rng, []
    for function in rng.sample(FUNCTIONS, rng.randint(1, 3)):
        names = rng.choice(PARAMETERS[function.takes])
        body = function.body.format(*names)
        line = rng.choice(
            [f"{function.line(names)} {body}", f"def {function.name}({', '.join(names)}):\n    return {body}"]
        )
        calls: list[str] = []
        style = rng.choice([">>> {0}\n{1}", "{0}  # {1}", "print({0})  # {1}", "assert {0} == {1}"])
        for _ in range(rng.randint(0, 3)):
            given = arguments(writer, function.takes)
            result = function.result(*given)
            shown = str(result) if style.startswith("print") else repr(result)
            calls.append(style.format(f"{function.name}({', '.join(map(repr, given))})", shown).replace("'", '"'))
        parts.append("\n".join([line, *calls]))
    return "\n\n".join(parts)


def arguments(writer: Writer, takes: str) -> list[Any]:
    """What a function is called with."""
    rng = writer.rng
    if takes == "s":
        return [rng.choice(GIRLS + BOYS)]
    if takes == "l":
        return [[rng.randint(0, 9) for _ in range(rng.randint(2, 5))]]
    return [rng.randint(1, 9) for _ in takes]
