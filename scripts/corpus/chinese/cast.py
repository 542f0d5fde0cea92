"""Who and what appears in a Chinese text. A letter in capitals is a name or a thing, the small one its pronoun."""

from __future__ import annotations

from random import Random

from scripts.corpus.cast import Cast
from scripts.corpus.chinese.facts import ANIMALS, DAYS, words

GIRLS = words(
    """小红, 小丽, 小美, 小芳, 小兰, 小梅, 小雪, 小云, 小雨, 小月, 丽丽, 婷婷, 莉莉, 玲玲, 芳芳, 圆圆, 妞妞, 佳佳, 甜甜, 王芳, 李娜, 张丽,
    刘敏, 陈静"""
)
BOYS = words(
    """小明, 小刚, 小强, 小军, 小华, 小龙, 小杰, 小虎, 小勇, 小亮, 小宝, 小波, 乐乐, 明明, 东东, 亮亮, 壮壮, 豆豆, 冬冬, 王伟, 李强, 张明,
    刘洋, 陈亮"""
)
GROWN_UPS = [
    ("妈妈", "她"), ("爸爸", "他"), ("奶奶", "她"), ("爷爷", "他"), ("外婆", "她"), ("外公", "他"), ("姐姐", "她"), ("哥哥", "他"),
    ("老师", "她"), ("叔叔", "他"), ("阿姨", "她"),
]  # fmt: skip
THINGS = [
    ("本", "书"), ("个", "皮球"), ("只", "风筝"), ("支", "铅笔"), ("把", "雨伞"), ("顶", "帽子"), ("件", "毛衣"), ("个", "盒子"), ("辆", "小汽车"),
    ("条", "围巾"), ("个", "书包"), ("块", "橡皮"), ("张", "画"), ("封", "信"), ("朵", "花"), ("个", "苹果"), ("块", "蛋糕"), ("个", "娃娃"),
    ("把", "钥匙"), ("个", "杯子"), ("面", "镜子"), ("个", "气球"), ("颗", "糖"), ("只", "船"), ("个", "铃铛"), ("个", "鼓"), ("盏", "灯"), ("个", "篮子"),
    ("枚", "硬币"), ("块", "石头"), ("双", "手套"), ("根", "绳子"),
]  # fmt: skip
QUALITIES = words("红色的, 蓝色的, 绿色的, 黄色的, 新的, 旧的, 小小的, 大大的, 漂亮的, 金色的, 木头的, 圆圆的, 可爱的")
FOODS = words(
    "面包, 苹果, 饺子, 面条, 米饭, 蛋糕, 饼干, 包子, 西瓜, 葡萄, 香蕉, 糖果, 鸡蛋, 豆腐, 粽子, 月饼, 汤圆, 玉米, 花生, 冰糖葫芦"
)
PLACES = words(
    "公园, 学校, 图书馆, 商店, 市场, 森林, 花园, 海边, 河边, 山上, 动物园, 操场, 博物馆, 车站, 村子, 城里, 果园, 田野, 湖边, 电影院"
)
ROOMS = words("厨房, 花园, 卧室, 客厅, 浴室, 书房, 学校, 公园, 教室, 院子, 办公室, 图书馆, 商店")
PETS = [
    ("狗", "旺财"),
    ("猫", "咪咪"),
    ("兔子", "雪球"),
    ("小鸟", "点点"),
    ("狗", "小黑"),
    ("猫", "花花"),
    ("鸭子", "黄黄"),
    ("狗", "豆包"),
]
WILD = ["老虎", "狮子", "狼", "青蛙", "兔子", "猴子", "小鸟", "老鼠", "狐狸", "松鼠", "大象", "小鹿", "乌龟", "刺猬"]
WILD_QUALITIES = words("小小的, 饿了的, 孤单的, 善良的, 好奇的, 聪明的, 受伤的, 迷路的, 可爱的, 害羞的")
COLOURS = words("红, 黄, 蓝, 绿, 白, 黑, 紫, 粉")
SYLLABLES = words(
    """阿, 巴, 卡, 达, 迪, 法, 菲, 加, 吉, 哈, 拉, 里, 洛, 马, 米, 莫, 娜, 尼, 诺, 帕, 皮, 普, 奇, 萨, 塞, 索, 塔, 托, 图, 瓦, 维, 西, 雅, 佐, 特, 克,
    斯, 尔, 兰, 贝"""
)


def child(rng: Random, taken: set[str]) -> tuple[str, str]:
    """A name that is not in ``taken``, which then holds it, and its pronoun; now and then a name from abroad."""
    while True:
        names, pronoun = rng.choice([(GIRLS, "她"), (BOYS, "他")])
        name = invented(rng) if rng.random() < 0.06 else rng.choice(names)
        if name not in taken:
            taken.add(name)
            return name, pronoun


def invented(rng: Random) -> str:
    """A made-up name such as 米卡洛."""
    return "".join(rng.choices(SYLLABLES, k=rng.randint(2, 3)))


def thing(rng: Random) -> tuple[str, str]:
    """One thing as an object (一本红色的书), and how the text speaks of it from then on (书)."""
    measure, noun = rng.choice(THINGS)
    quality = rng.choice(QUALITIES) if rng.random() < 0.5 else ""
    return f"一{measure}{quality}{noun}", noun


def new_cast(rng: Random) -> Cast:
    """Everyone and everything a tale may need."""
    taken: set[str] = set()
    cast: Cast = {}
    for letter in "ABC":
        cast[letter], cast[letter.lower()] = child(rng, taken)
    cast["M"], cast["m"] = rng.choice(GROWN_UPS)
    cast["k"], cast["P"] = rng.choice(PETS)
    cast["O"], cast["o"] = thing(rng)
    cast["F"], cast["f"] = rng.sample(FOODS, 2)
    cast["L"], cast["l"] = rng.sample(PLACES, 2)
    cast["W"], cast["w"] = rng.choice(WILD), rng.choice(WILD_QUALITIES)
    cast["H"], cast["D"] = rng.choice(COLOURS), rng.choice(DAYS)
    cast["N"] = rng.choice(list(ANIMALS))
    return cast
