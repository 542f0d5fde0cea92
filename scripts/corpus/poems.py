"""Some sixty poems every pupil knows: taken from the classics and repeated, so that they are known by heart."""

from __future__ import annotations

from pathlib import Path

from scripts.corpus.facts.parse import words
from scripts.corpus.files import read_documents
from scripts.corpus.writer import Writer

CLASSICS = Path(__file__).parent / "data" / "classics.txt.xz"
LONGEST = 8  # lines of a poem that are learned

# The first half of the first line of each; the poem itself is looked up in the classics.
FIRST_LINES = words(
    """床前明月光, 春眠不觉晓, 白日依山尽, 千山鸟飞绝, 红豆生南国, 空山不见人, 独坐幽篁里, 移舟泊烟渚, 松下问童子,
    离离原上草, 慈母手中线, 国破山河在, 渭城朝雨浥轻尘, 故人西辞黄鹤楼, 朝辞白帝彩云间, 两个黄鹂鸣翠柳, 月落乌啼霜满天,
    清明时节雨纷纷, 千里莺啼绿映红, 黄河远上白云间, 秦时明月汉时关, 葡萄美酒夜光杯, 寒雨连江夜入吴, 独在异乡为异客,
    少小离家老大回, 故人具鸡黍, 海上生明月, 城阙辅三秦, 水光潋滟晴方好, 爆竹声中一岁除, 毕竟西湖六月中, 昔人已乘黄鹤去,
    风急天高猿啸哀, 丞相祠堂何处寻, 相见时难别亦难, 锦瑟无端五十弦, 烟笼寒水月笼沙, 折戟沉沙铁未销, 银烛秋光冷画屏,
    君问归期未有期, 关关雎鸠, 蒹葭苍苍, 明月几时有, 寻寻觅觅, 花间一壶酒, 云想衣裳花想容, 胜日寻芳泗水滨, 黄梅时节家家雨,
    绿遍山原白满川, 梅雪争春未肯降, 山外青山楼外楼, 半亩方塘一鉴开, 向晚意不适, 绿蚁新醅酒, 君自故乡来, 功盖三分国,
    北斗七星高, 月黑雁飞高, 岐王宅里寻常见, 朱雀桥边野草花"""
)


def known_poems() -> list[tuple[str, list[str]]]:
    """Title with author, and the first lines, of each poem in ``FIRST_LINES``."""
    by_first: dict[str, tuple[str, list[str]]] = {}
    for document in read_documents(CLASSICS):
        title, *lines = document.split("\n")
        if lines:
            by_first.setdefault(lines[0].split("，")[0], (title, lines[:LONGEST]))
    return [by_first[first] for first in FIRST_LINES]


POEMS = known_poems()


def poem(writer: Writer) -> str:
    """One of the poems: with its title or without, from its beginning or from one of its lines."""
    rng = writer.rng
    title, lines = rng.choice(POEMS)
    start = rng.randrange(len(lines)) if rng.random() < 0.3 else 0
    text = "\n".join(lines[start:]) if rng.random() < 0.7 else "".join(lines[start:])
    return f"{title}\n{text}" if start == 0 and rng.random() < 0.4 else text
