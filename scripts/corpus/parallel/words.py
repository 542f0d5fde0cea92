"""The words of the parallel sentences: English with its Chinese, a noun with its measure word, a verb with its forms."""

from __future__ import annotations

from dataclasses import dataclass

from scripts.corpus.facts.parse import words


@dataclass(frozen=True)
class Noun:
    """One thing or being; a name has no measure word."""

    english: str
    chinese: str
    measure: str = ""


@dataclass(frozen=True)
class Verb:
    """What somebody does: ``reads``, ``read`` (now and after "will"), ``read`` (past), and ``seen`` where the past is."""

    base: str
    third: str
    past: str
    chinese: str


def _nouns(text: str) -> tuple[Noun, ...]:
    return tuple(Noun(*row.split()) for row in words(text))


def _verbs(text: str) -> tuple[Verb, ...]:
    return tuple(Verb(*row.split()) for row in words(text))


PEOPLE = _nouns(
    """boy 男孩 个, girl 女孩 个, teacher 老师 位, doctor 医生 位, farmer 农民 个, student 学生 个, king 国王 位, queen 王后 位, nurse 护士 位, cook 厨师 位,
    soldier 士兵 名, driver 司机 名, singer 歌手 名, painter 画家 位, writer 作家 位, friend 朋友 个, neighbor 邻居 个, child 孩子 个, man 男人 个, woman 女人 个,
    baker 面包师 位, hunter 猎人 个, sailor 水手 名, thief 小偷 个"""
)
NAMES = _nouns(
    "Lily 莉莉, Tom 汤姆, Mary 玛丽, John 约翰, Anna 安娜, Jack 杰克, Lucy 露西, Peter 彼得, Emma 艾玛, Henry 亨利"
)
ANIMALS = _nouns(
    """dog 狗 只, cat 猫 只, rabbit 兔子 只, bird 鸟 只, horse 马 匹, cow 牛 头, sheep 羊 只, pig 猪 头, tiger 老虎 只, lion 狮子 头, monkey 猴子 只,
    elephant 大象 头, mouse 老鼠 只, duck 鸭子 只, fox 狐狸 只, wolf 狼 只, bear 熊 头, squirrel 松鼠 只, panda 熊猫 只, frog 青蛙 只, snake 蛇 条"""
)
READABLE = _nouns(
    "book 书 本, letter 信 封, newspaper 报纸 份, story 故事 个, poem 诗 首, map 地图 张, dictionary 词典 本, diary 日记 篇"
)
EDIBLE = _nouns(
    """apple 苹果 个, cake 蛋糕 块, egg 鸡蛋 个, pear 梨 个, banana 香蕉 根, dumpling 饺子 个, cookie 饼干 块, peach 桃子 个, carrot 胡萝卜 根, potato 土豆 个,
    tomato 西红柿 个, melon 西瓜 个"""
)
THINGS = _nouns(
    """ball 球 个, box 盒子 个, hat 帽子 顶, umbrella 雨伞 把, bag 包 个, cup 杯子 个, key 钥匙 把, kite 风筝 只, toy 玩具 个, lamp 灯 盏, chair 椅子 把,
    flower 花 朵, stone 石头 块, picture 画 张, mirror 镜子 面, basket 篮子 个, drum 鼓 面, knife 刀 把, bowl 碗 个, pencil 铅笔 支, shirt 衬衫 件, coat 外套 件,
    scarf 围巾 条, ring 戒指 枚, coin 硬币 枚, clock 钟 座, camera 相机 台, phone 手机 部, plate 盘子 个, bottle 瓶子 个, rope 绳子 根, bell 铃铛 个"""
)
PLACES = _nouns(
    """park 公园, library 图书馆, school 学校, kitchen 厨房, garden 花园, forest 森林, market 市场, house 房子, shop 商店, hospital 医院, station 车站, museum 博物馆,
    village 村子, city 城市, field 田野, zoo 动物园, classroom 教室, office 办公室, restaurant 饭馆, hotel 旅馆, theater 剧院, temple 寺庙, farm 农场, factory 工厂,
    bedroom 卧室, castle 城堡, square 广场, airport 机场"""
)
SURFACES = _nouns("table 桌子, bed 床, shelf 架子, roof 屋顶, desk 书桌, sofa 沙发, tree 树, bridge 桥")
SIDES = (("on", "上"), ("under", "下面"), ("behind", "后面"))

WITH_READABLE = _verbs(
    "read reads read 读, write writes wrote 写, print prints printed 印, translate translates translated 翻译, copy copies copied 抄"
)
WITH_EDIBLE = _verbs(
    "eat eats ate 吃, cut cuts cut 切, wash washes washed 洗, taste tastes tasted 尝, cook cooks cooked 煮"
)
WITH_THING = _verbs(
    """buy buys bought 买, sell sells sold 卖, find finds found 找到, lose loses lost 弄丢, see sees saw 看见, draw draws drew 画, take takes took 拿走,
    make makes made 做, hide hides hid 藏, break breaks broke 打破, clean cleans cleaned 擦, carry carries carried 搬, use uses used 用, borrow borrows borrowed 借,
    steal steals stole 偷, paint paints painted 涂, fix fixes fixed 修, choose chooses chose 选"""
)
WITH_BEING = _verbs(
    """chase chases chased 追, help helps helped 帮助, visit visits visited 拜访, teach teaches taught 教, call calls called 叫, hear hears heard 听见,
    follow follows followed 跟踪, feed feeds fed 喂, kiss kisses kissed 亲, hit hits hit 打, thank thanks thanked 感谢, save saves saved 救, meet meets met 遇见,
    catch catches caught 抓住, wake wakes woke 叫醒, push pushes pushed 推, protect protects protected 保护, watch watches watched 观察"""
)
STATES = _verbs(
    "like likes liked 喜欢, want wants wanted 想要, need needs needed 需要, love loves loved 爱, hate hates hated 讨厌, know knows knew 认识"
)
GIVE = _verbs("give gives gave 给, bring brings brought 带给, send sends sent 寄给, lend lends lent 借给")

BEING_QUALITIES = tuple(
    tuple(row.split())
    for row in words(
        """tall 高, young 年轻, happy 快乐, sad 伤心, hungry 饿, clever 聪明, brave 勇敢, kind 善良, lazy 懒, tired 累, quiet 安静, angry 生气, rich 富有, poor 贫穷,
        famous 有名, strong 强壮, polite 礼貌, busy 忙, healthy 健康, honest 诚实"""
    )
)
THING_QUALITIES = tuple(
    tuple(row.split())
    for row in words(
        """red 红色, blue 蓝色, green 绿色, yellow 黄色, white 白色, black 黑色, big 大, small 小, new 新, old 旧, beautiful 漂亮, heavy 重, light 轻, clean 干净,
        dirty 脏, expensive 贵, cheap 便宜, round 圆, long 长, short 短, strange 奇怪, golden 金色"""
    )
)
PAST_TIMES = (
    ("yesterday", "昨天"),
    ("last night", "昨晚"),
    ("last week", "上周"),
    ("last year", "去年"),
    ("this morning", "今早"),
)
COMING_TIMES = (("tomorrow", "明天"), ("tonight", "今晚"), ("next week", "下周"), ("next year", "明年"))
USUAL_TIMES = (("every day", "每天"), ("every morning", "每天早上"), ("every week", "每周"), ("every night", "每晚"))
