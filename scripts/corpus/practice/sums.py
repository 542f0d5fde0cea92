"""Small sums and counting, in digits and in Chinese words; nothing else beside them, so that each is met often."""

from __future__ import annotations

from scripts.corpus.chinese import cast as chinese
from scripts.corpus.chinese.tales import joined
from scripts.corpus.chinese.world import numeral
from scripts.corpus.writer import Writer


def sums(writer: Writer) -> str:
    """Lines of sums up to 10 + 10, mostly additions; now and then one number counted up."""
    rng = writer.rng
    if rng.random() < 0.15:
        first, step, count = rng.randint(0, 60), rng.choice([1, 1, 1, 2, 5, 10]), rng.randint(5, 15)
        return rng.choice([", ", " ", "，"]).join(str(first + step * i) for i in range(count))
    items: list[str] = []
    for _ in range(rng.randint(5, 14)):
        a, b = rng.randint(0, 10), rng.randint(0, 10)
        items.append(f"{a} + {b} = {a + b}" if rng.random() < 0.75 else f"{a + b} - {b} = {a}")
    return rng.choice(["\n", "\n", ", ", "; "]).join(items)


def chinese_sums(writer: Writer) -> str:
    """Sums as sentences, and small stories with a number that changes."""
    rng, items = writer.rng, []
    for _ in range(rng.randint(4, 9)):
        a, b = rng.randint(0, 10), rng.randint(0, 10)
        name, pronoun = chinese.child(rng, set())
        measure, noun = rng.choice(chinese.THINGS)
        items.append(
            rng.choice(
                [
                    f"{a}加{b}等于{a + b}。",
                    f"{a}加{b}等于{a + b}。",
                    f"{a}加{b}等于{a + b}。",
                    f"{a}加{b}等于几？{a}加{b}等于{a + b}。",
                    f"{numeral(a)}加{numeral(b)}等于{numeral(a + b)}。",
                    f"{a + b}减{b}等于{a}。",
                    f"{name}有{a + b}{measure}{noun}，{pronoun}给了别人{b}{measure}，还有{a}{measure}。",
                ]
            )
        )
    return joined(writer, items)
