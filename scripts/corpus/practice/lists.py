"""Chinese texts in which looking back helps: lists that repeat, tables asked again, echoes, shopping."""

from __future__ import annotations

from scripts.corpus.chinese import cast, facts
from scripts.corpus.writer import Writer

WORDS = sorted(
    {word for row in facts.CATEGORIES.values() for word in row}
    | {word for pair in facts.OPPOSITES for word in pair}
    | {noun for _, noun in cast.THINGS}
    | {*cast.FOODS, *cast.ROOMS, *cast.PLACES, *facts.ANIMALS}
)


def chinese_words(writer: Writer, count: int) -> list[str]:
    """Words, names or invented names that nothing but looking back predicts."""
    rng, style = writer.rng, writer.rng.random()
    if style < 0.75:
        return rng.sample(WORDS, count)
    if style < 0.85:
        return [cast.invented(rng) for _ in range(count)]
    return rng.sample(cast.GIRLS + cast.BOYS, count)


def chinese_repeats(writer: Writer) -> str:
    """A random list that is repeated once or twice."""
    rng = writer.rng
    glue = rng.choice(["，", "，", "、", " ", "\n"])
    line = glue.join(chinese_words(writer, rng.choice([3, 4, 5, 6, 8, 8, 10, 12, 16])))
    return rng.choice([glue, glue, "。", "\n", "。再来一次：", "\n\n"]).join([line] * rng.choice([2, 2, 2, 3]))


def chinese_lookup(writer: Writer) -> str:
    """A small table is given, then asked again in another order."""
    rng = writer.rng
    keys = chinese_words(writer, rng.randint(3, 7))
    table = list(dict(zip(keys, chinese_words(writer, len(keys)), strict=True)).items())
    mark, glue = rng.choice(["：", "是", "——", "=", " -> "]), rng.choice(["\n", "，", "；", "。"])
    return glue.join(f"{k}{mark}{v}" for k, v in table + rng.sample(table, len(table)))


def chinese_dialogue(writer: Writer) -> str:
    """A shopping list that comes back, or someone who repeats the same thing."""
    rng = writer.rng
    goods = "、".join(writer.some(cast.FOODS, 3, 6))
    (one, she), (two, _) = (cast.child(rng, taken) for taken in [set[str]()] * 2)
    said = "".join(chinese_words(writer, rng.randint(1, 3)))
    return rng.choice(
        [
            f"妈妈对{one}说：“请买{goods}。”{one}去了商店。“你要什么？”“我要{goods}。”{one}说。{she}买了{goods}回家。",
            f"{one}喜欢吃{goods}。{two}也喜欢吃{goods}。",
            f"{one}：请跟我说，{said}。\n{two}：{said}。\n{one}：再说一次。\n{two}：{said}。",
            f"{one}说：“{said}。”{two}问：“你说什么？”{one}说：“我说{said}。”",
            f"{one}：你叫什么名字？\n{two}：我叫{two}。你呢？\n{one}：我叫{one}。",
        ]
    )
