"""The heads that each example's story names, and the template of its held-out sentences; the rest is measured."""

from __future__ import annotations

from types import MappingProxyType

from scripts.check import story_translations as translations
from scripts.check.story_rule import Claim
from scripts.check.story_templates import (
    CAPITALS,
    CHINESE_CALLS,
    CHINESE_NAMES,
    CHINESE_NOISES,
    CHINESE_THINGS,
    COMMON_CAPITALS,
    COMMON_CHINESE_CAPITALS,
    NAMES,
    NOISES,
    THINGS,
    animals,
    capitals,
    chases,
    gave_back,
    givers,
    hidden_capital,
    lists,
    repeated,
    says_thanks,
    sums,
)
from scripts.corpus.chinese import facts as chinese
from scripts.corpus.kinds.looking_back import COMMON_WORDS
from scripts.corpus.practice.lists import WORDS

CHASE, CHINESE_HELP = "The {0} chased the {1} because it", "{0}帮助了{1}，因为它"
DEFAULT = {
    "The pig is behind the dog. It": Claim(
        animals("The {0} is behind the {1}. It", NOISES), ((5, 5), (5, 4)), ((5, 1), (5, 3))
    ),
    "The dog chased the squirrel because it": Claim(chases(CHASE, list(NOISES), " was"), ((6, 4),), ((6, 0),)),
    "The capital of Italy is Rome. The capital of France is": Claim(
        capitals("The capital of {0} is {1}. The capital of {2} is", COMMON_CAPITALS, " {}"),
        ((7, 1),),
        ((7, 3),),
    ),
    "king bell ball lion king bell ball": Claim(repeated(COMMON_WORDS, " ", "", " {}"), ((5, 5),), ((5, 0),)),
    "John gave the book to Anna. Anna gave the book back to": Claim(
        gave_back("{0} gave the {2} to {1}. {1} gave the {2} back to", NAMES, THINGS, " {}"),
        ((7, 1), (7, 0)),
        ((7, 3), (7, 2)),
    ),
    "When Mary and John went to the store, John gave a drink to": Claim(
        givers("When {0} and {1} went to the store, {2} gave a drink to", NAMES, " {}"), ((5, 4),), ((5, 0),)
    ),
    "3 + 5 = ": Claim(sums("", "{} + {} = "), ((4, 7),), ()),
    "猫看见了狗，它": Claim(animals("{0}看见了{1}，它", CHINESE_NOISES), ((7, 1),), ((7, 6),)),
    "狮子帮助了青蛙，因为它": Claim(chases(CHINESE_HELP, list(CHINESE_NOISES), "想玩"), ((3, 2),), ((3, 5),)),
    "意大利的首都是罗马。法国的首都是": Claim(
        capitals("{0}的首都是{1}。{2}的首都是", COMMON_CHINESE_CAPITALS, "{}"), ((7, 1), (7, 0)), ((7, 2), (7, 6))
    ),
    "火车，春天，学校，医生，火车，春天，学校，": Claim(repeated(WORDS, "，", "，", "{}"), ((5, 5),), ((5, 6),)),
    "小丽把花给了小芳，小芳又把它还给了": Claim(
        gave_back("{0}把{2}给了{1}，{1}又把它还给了", CHINESE_NAMES, CHINESE_THINGS, "{}"), ((6, 2),), ((6, 6),)
    ),
    "小明和小红去了商店，小红把一本书送给了": Claim(
        givers("{0}和{1}去了商店，{2}把一本书送给了", CHINESE_NAMES, "{}"), ((7, 1),), ((7, 3),)
    ),
    "8加9等于17。2加4等于": Claim(sums("{}加{}等于{}。", "{}加{}等于"), ((3, 4),), ((3, 5),)),
}
ENCODER = {
    "Monday, Tuesday, [MASK], Thursday.": Claim(lists("{}, {}, [MASK], {}.", COMMON_WORDS, 2), ((0, 3),), ()),
    "The capital of France is [MASK].": Claim(
        hidden_capital("The capital of {} is [MASK].", CAPITALS, " {}"), ((0, 1),), ()
    ),
    "One, two, [MASK], four, five.": Claim(lists("{}, {}, [MASK], {}, {}.", COMMON_WORDS, 2), ((0, 3),), ()),
    "法国的首都是[MASK]。": Claim(hidden_capital("{}的首都是[MASK]。", chinese.CAPITALS, "{}"), ((1, 3),), ((1, 1),)),
    "小明把书给了小红，[MASK]说谢谢。": Claim(says_thanks, ((1, 3),), ((1, 1),)),
    "狗看见了猫，它[MASK]叫。": Claim(animals("{0}看见了{1}，它[MASK]叫。", CHINESE_CALLS), ((1, 3),), ((1, 1),)),
}
TRANSLATOR = {
    "The dog chased the cat in the garden yesterday.": Claim(translations.place, ((3, 1),), ()),
    "The boy writes the expensive letter every week.": Claim(translations.subject, ((3, 3),), ()),
    "The monkey put the peach on the bridge last night.": Claim(translations.what_was_put, ((3, 3),), ()),
    "那匹马今早把那首绿色的诗放在了屋顶下面。": Claim(translations.under_what, ((3, 1),), ()),
    "那只松鼠每天在房子里写那本书。": Claim(translations.what_is_written, ((3, 1),), ()),
    "因为约翰追了亨利，所以一个年轻的女孩借了一面鼓。": Claim(translations.borrowed, ((3, 1),), ()),
}
CLAIMS = MappingProxyType({"default": DEFAULT, "encoder": ENCODER, "translator": TRANSLATOR})
# Where a look is no reason: another head of the same layer, and the word that it looks at.
BESIDE = MappingProxyType(
    {
        "The dog chased the squirrel because it": Claim(
            chases(CHASE, list(NOISES), " was", second=True), ((6, 3),), ()
        ),
        "狮子帮助了青蛙，因为它": Claim(chases(CHINESE_HELP, list(CHINESE_NOISES), "想玩", second=True), ((3, 4),), ()),
    }
)
