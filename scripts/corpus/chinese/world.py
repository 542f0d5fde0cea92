"""Chinese facts in many wordings: capitals, opposites, animals, what follows what, kinds of things, colours."""

from __future__ import annotations

from scripts.corpus.chinese import facts
from scripts.corpus.chinese.cast import child
from scripts.corpus.chinese.tales import joined
from scripts.corpus.writer import Writer

WEIGHTS = [3.0 if country in facts.COMMON_COUNTRIES else 1.0 for country, _ in facts.CAPITALS]


def capitals(writer: Writer) -> str:
    """Several countries with their capitals, as sentences, questions or a table."""
    rng = writer.rng
    if rng.random() < 0.15:
        mark = rng.choice(["：", "——", "，", " -> "])
        return "\n".join(country + mark + capital for country, capital in rng.sample(facts.CAPITALS, 6))
    items: list[str] = []
    for country, capital in rng.choices(facts.CAPITALS, WEIGHTS, k=rng.randint(2, 8)):
        name, _ = child(rng, set())
        items.append(
            rng.choice(
                [
                    f"{country}的首都是{capital}。",
                    f"{country}的首都是{capital}。",
                    f"{country}的首都是{capital}。",
                    f"{capital}是{country}的首都。",
                    f"{country}的首都是哪里？{country}的首都是{capital}。",
                    f"{country}的首都叫什么？叫{capital}。",
                    f"问：{country}的首都是哪里？答：{capital}。",
                    f"{name}住在{capital}，{capital}是{country}的首都。",
                    f"{name}去了{country}的首都{capital}。",
                    f"老师问：“{country}的首都是哪里？”{name}说：“{country}的首都是{capital}。”",
                ]
            )
        )
    return joined(writer, items)


def opposites(writer: Writer) -> str:
    """Pairs of opposites, as sentences, questions or a table."""
    rng = writer.rng
    rows = writer.some(facts.OPPOSITES, 2, 7)
    if rng.random() < 0.2:
        mark = rng.choice(["——", "：", "和", " -> ", "，"])
        return "\n".join(a + mark + b for a, b in rows)
    items: list[str] = []
    for a, b in rows:
        name, _ = child(rng, set())
        items.append(
            rng.choice(
                [
                    f"{a}的反义词是{b}。",
                    f"{a}的反义词是{b}。",
                    f"{a}的反义词是{b}。",
                    f"{a}的反义词是什么？{a}的反义词是{b}。",
                    f"{a}和{b}是一对反义词。",
                    f"不是{a}，就是{b}。",
                    f"老师问：“{a}的反义词是什么？”{name}说：“{b}。”",
                ]
            )
        )
    return joined(writer, items)


def animals(writer: Writer) -> str:
    """How animals sound, what they eat, where they live, how their young are called, and which measure word they take."""
    rng, items = writer.rng, []
    for _ in range(rng.randint(2, 6)):
        animal = rng.choice(list(facts.ANIMALS))
        measure, call, sound, young, home, food = facts.ANIMALS[animal]
        items.append(
            rng.choice(
                [
                    f"{animal}{call}。",
                    f"{animal}会{call}。",
                    f"{animal}怎么叫？{animal}{call}。",
                    f"“{sound}，{sound}！”{animal}叫道。",
                    f"{animal}的孩子叫{young}。",
                    f"{animal}喜欢吃{food}。",
                    f"{animal}住在{home}。" if home != "树上" else f"{animal}在树上。",
                    f"一{measure}{animal}，两{measure}{animal}，三{measure}{animal}。",
                    f"{animal}是一种动物。",
                    f"{animal}吃饱了，它{call}。",
                ]
            )
        )
    return joined(writer, items)


def order(writer: Writer) -> str:
    """Days, months, numbers, signs of the year: things that come in a fixed order."""
    rng, items = writer.rng, []
    for _ in range(rng.randint(1, 4)):
        series, _ = rng.choice([(facts.DAYS, "天")] * 3 + facts.ORDERED + [([numeral(n) for n in range(1, 100)], "数")])
        i = rng.randrange(len(series) - 1)
        here, after = series[i], series[i + 1]
        start = rng.choice([0, 0, i])
        stop = min(len(series), start + rng.randint(3, 14))
        items.append(
            rng.choice(
                [
                    "，".join(series[start:stop]) + "。",
                    "、".join(series[start:stop]) + "。",
                    f"{here}后面是{after}。",
                    f"{after}前面是{here}。",
                    f"{here}后面是什么？{here}后面是{after}。",
                ]
            )
        )
        if series is facts.DAYS:
            items[-1] = rng.choice([items[-1], f"今天是{here}，明天是{after}。"])
    return joined(writer, items)


def things(writer: Writer) -> str:
    """Which kind a thing is of, and which colour it has."""
    rng, items = writer.rng, []
    for _ in range(rng.randint(2, 7)):
        kind = rng.choice(list(facts.CATEGORIES))
        member = rng.choice(facts.CATEGORIES[kind])
        other = rng.choice([k for k in facts.CATEGORIES if k != kind])
        thing, colour = rng.choice(facts.COLOURS)
        items.append(
            rng.choice(
                [
                    f"{member}是一种{kind}。",
                    f"{member}是什么？{member}是一种{kind}。",
                    f"{member}是{other}吗？不是，{member}是{kind}。",
                    f"{'、'.join(writer.some(facts.CATEGORIES[kind], 3, 5))}都是{kind}。",
                    f"{thing}是{colour}的。",
                    f"{thing}是什么颜色的？{thing}是{colour}的。",
                ]
            )
        )
    return joined(writer, items)


def sayings(writer: Writer) -> str:
    """A few sayings and pieces of general knowledge."""
    return joined(writer, writer.some(facts.SAYINGS, 1, 4))


def numeral(number: int) -> str:
    """A number below a hundred in Chinese characters."""
    tens, ones = divmod(number, 10)
    if tens == 0:
        return facts.DIGITS[ones]
    return (facts.DIGITS[tens] if tens > 1 else "") + "十" + (facts.DIGITS[ones] if ones else "")
