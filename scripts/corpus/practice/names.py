"""Who gives what to whom, in English and in Chinese: the giver is named first as often as second, others stand by."""

from __future__ import annotations

from scripts.corpus.chinese import cast as chinese
from scripts.corpus.chinese.tales import joined
from scripts.corpus.templates import tidy
from scripts.corpus.writer import Writer

# X and Y are the two who were named first as A and B; which of them gives is drawn.
ENGLISH: list[str] = [
    "When <A> and <B> went to <L>, <X> [gave|handed|passed|showed] a <O> to <Y>.",
    "When <A> and <B> went to <L>, <X> gave [a|the] <O> to <Y>.",
    "When <A> and <B> [were at|came to|walked to] <L>, <X> gave [a|the] <O> to <Y>.",
    "Then, <A> and <B> went to <L>. <X> gave [a|the] <O> to <Y>.",
    "After <A> and <B> went to <L>, <X> gave a <O> to <Y>.",
    "<A> and <B> went to <L>. [It was a sunny day.|<C> stayed at home.|<C> was there, too.] <X> gave a <O> to <Y>.",
    "<A> and <B> had a <O>. <X> gave the <O> to <Y>. Now <Y> has the <O>.",
    "<A> met <B> at <L>. <X> [gave|showed|threw] the <O> to <Y>, and <Y> [thanked|smiled at] <X>.",
    "<A> gave the <O> to <B>. <B> gave the <O> back to <A>.",
    "While <A> and <B> were playing with <C>, <X> gave a <O> to <Y>.",
    "Who has the <O>? <X> gave the <O> to <Y>. <Y> has the <O>.",
    '<A> and <B> were [friends|at school|in the garden]. <X> said to <Y>, "Hello, <Y>!"',
]
CHINESE: list[str] = [
    "<A>和<B>去了<L>，<X>把<O>[送|递|交|拿]给了<Y>。",
    "<A>和<B>去了<L>，<X>把<O>送给了<Y>。",
    "<A>和<B>在<L>，<X>把<O>送给了<Y>。",
    "<A>和<B>一起去<L>。[天气很好。|<C>在家里。|<C>也在。]<X>把<O>送给了<Y>。",
    "<A>在<L>遇见了<B>，<X>把<O>给了<Y>，<Y>谢谢<X>。",
    "<A>把<O>给了<B>，<B>又把它还给了<A>。",
    "<A>和<B>是好朋友。<X>对<Y>说：“你好，<Y>！”",
    "<A>和<B>跟<C>一起玩，<X>把<O>给了<Y>。现在<Y>有<o>了。",
    "<o>在谁那里？<X>把<o>给了<Y>，<o>在<Y>那里。",
]


def english_gifts(writer: Writer) -> str:
    """A few short scenes; in each the receiver is the one of the two who does not give."""
    items: list[str] = []
    for _ in range(writer.rng.randint(3, 8)):
        cast = writer.cast()
        giver, receiver = writer.rng.sample("AB", 2)
        cast |= {"X": cast[giver], "Y": cast[receiver]}
        items.append(tidy(writer.fill(writer.rng.choice(ENGLISH), cast)))
    return writer.lines(items)


def chinese_gifts(writer: Writer) -> str:
    """The same in Chinese."""
    items: list[str] = []
    for _ in range(writer.rng.randint(3, 8)):
        cast = chinese.new_cast(writer.rng)
        giver, receiver = writer.rng.sample("AB", 2)
        cast |= {"X": cast[giver], "Y": cast[receiver]}
        items.append(writer.fill(writer.rng.choice(CHINESE), cast))
    return joined(writer, items)
