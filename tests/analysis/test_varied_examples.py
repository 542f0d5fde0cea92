"""An example with one word changed: the sentences about it agree with plain transformers, for both texts."""

from __future__ import annotations

import functools

import pytest

from analysis.examples import examples_of
from analysis.joined import Joined, as_square
from analysis.opening import opening_head, opening_query
from analysis.stories import LISTED, Varied, first_head, told_query, variation_of, varied_in
from model_runner import Capture, CaptureRequest, load_runner
from model_runner.edits import ScaledHead
from model_runner.local.loading.model_folder import EMBEDDED
from scripts.check.story_reader import Ids, Reader, Reading

# Of every example of every embedded model, in the order of the examples, and what learners tried.
CHANGES = {
    "default": (
        ("The pig is behind the dog. It", "The cat is behind the dog. It"),
        ("The dog chased the squirrel because it", "The cat chased the squirrel because it"),
        (
            "The capital of Italy is Rome. The capital of France is",
            "The capital of Italy is Rome. The capital of Spain is",
        ),
        ("The Shawshank", "A Shawshank"),
        ("king bell ball lion king bell ball", "king bell ball tree king bell ball"),
        (
            "John gave the book to Anna. Anna gave the book back to",
            "Peter gave the book to Anna. Anna gave the book back to",
        ),
        (
            "When Mary and John went to the store, John gave a drink to",
            "When Mary and John went to the store, Mary gave a drink to",
        ),
        ("3 + 5 = ", "3 + 4 = "),
        ("def add(a, b): return a +", "def add(a, c): return a +"),
        ("猫看见了狗，它", "牛看见了狗，它"),
        ("狮子帮助了青蛙，因为它", "狮子帮助了老虎，因为它"),
        ("意大利的首都是罗马。法国的首都是", "意大利的首都是罗马。德国的首都是"),
        ("床前明月光，", "床前明月亮，"),
        ("火车，春天，学校，医生，火车，春天，学校，", "火车，春天，学校，电影，火车，春天，学校，"),
        ("小丽把花给了小芳，小芳又把它还给了", "小明把花给了小芳，小芳又把它还给了"),
        ("小明和小红去了商店，小红把一本书送给了", "小明和小红去了商店，小明把一本书送给了"),
        ("8加9等于17。2加4等于", "8加9等于17。2加5等于"),
        ("3 + 5 = ", "4 + 5 = "),
    ),
    "encoder": (
        ("Monday, Tuesday, [MASK], Thursday.", "Monday, Tuesday, [MASK], Friday."),
        ("The capital of France is [MASK].", "The capital of Spain is [MASK]."),
        ("One, two, [MASK], four, five.", "One, two, [MASK], six, five."),
        ("法国的首都是[MASK]。", "德国的首都是[MASK]。"),
        ("小明把书给了小红，[MASK]说谢谢。", "小明把书给了小丽，[MASK]说谢谢。"),
        ("狗看见了猫，它[MASK]叫。", "牛看见了猫，它[MASK]叫。"),
    ),
    "translator": (
        (
            "The dog chased the cat in the garden yesterday.",
            "The dog chased the bird in the garden yesterday.",
        ),
        (
            "The boy writes the expensive letter every week.",
            "The girl writes the expensive letter every week.",
        ),
        (
            "The monkey put the peach on the bridge last night.",
            "The monkey put the apple on the bridge last night.",
        ),
        ("那只松鼠每天在房子里写那本书。", "那只松鼠每天在房子里写那本信。"),
        ("那匹马今早把那首绿色的诗放在了屋顶下面。", "那匹马今早把那首绿色的诗放在了桌子下面。"),
        ("因为约翰追了亨利，所以一个年轻的女孩借了一面鼓。", "因为约翰追了亨利，所以一个年轻的男孩借了一面鼓。"),
    ),
}
EVERY = [(name, *change) for name, changes in CHANGES.items() for change in changes]


@functools.cache
def reader(name: str) -> Reader:
    return Reader(EMBEDDED[name])


def read(name: str, text: str) -> Capture:
    runner = load_runner(name)
    return as_square(runner.capture(CaptureRequest(text, attention="cross" if runner.info.attentions else None)))


def found_in(capture: Capture) -> Varied:
    found = varied_in(capture, load_runner(capture.request.model).token_text)
    assert found is not None
    return found


def plainly(name: str, capture: Capture, query: int, key: int) -> Reading:
    """The same tokens through plain transformers, and each head's look from ``query`` at ``key``."""
    first = capture.n_read if isinstance(capture, Joined) else 0
    ids = [token.id for token in capture.tokens]
    read, written = (ids[:first], ids[first:]) if first else (ids, [])
    return reader(name).read([Ids(tuple(read), query - first, (key,), 0, tuple(written))])


def same_as_plain(name: str, capture: Capture, query: int, said: tuple[str, float]) -> None:
    """What comes next, of a text that a row of examples.json or a sentence speaks of."""
    plain = plainly(name, capture, query, 0).logits[0].double().softmax(-1)
    assert load_runner(name).token_text(int(plain.argmax())) == said[0]
    assert float(plain.max()) == pytest.approx(said[1], abs=1e-4)


def test_every_example_is_changed() -> None:
    for name, changes in CHANGES.items():
        assert {before for before, _after in changes} == {one.text for one in examples_of(name, "en")}


@pytest.mark.parametrize("name, before, after", EVERY)
def test_what_is_said_is_what_plain_transformers_give(name: str, before: str, after: str) -> None:
    capture, original = read(name, after), read(name, before)
    found = found_in(capture)
    one = found.variation
    assert one.example.text == before
    assert before[: one.start] + one.new + before[one.start + len(one.old) :] == after
    assert first_head(capture) == one.head == first_head(original)
    assert found.query == told_query(capture)
    same_as_plain(name, capture, found.query, (found.next.token, found.next.probability))
    then = opening_query(original)
    same_as_plain(name, original, then, (found.next_before.token, found.next_before.probability))
    if found.looks is None or found.looks_before is None:
        assert one.story is None
        return
    for text, query, look in ((capture, found.query, found.looks), (original, then, found.looks_before)):
        plain = float(plainly(name, text, query, look.key).look[0][one.head])
        assert plain == pytest.approx(look.weight, abs=1e-4)
        assert look.token == text.tokens[look.key].text
    every = [float(plainly(name, capture, found.query, key).look[0][one.head]) for key in range(first_written(capture))]
    assert max(every) == pytest.approx(found.looks.weight, abs=1e-4)
    start, end = one.span
    token = capture.tokens[found.looks.key]
    assert found.there is (token.start < end and token.end > start and not token.special)


def first_written(capture: Capture) -> int:
    return capture.n_read if isinstance(capture, Joined) else len(capture.tokens)


@pytest.mark.parametrize("name, before, after", EVERY)
def test_a_word_that_is_copied_no_more_is_said(name: str, before: str, after: str) -> None:
    capture = read(name, after)
    found = found_in(capture)
    if found.looks is None:
        return
    token_text = load_runner(name).token_text
    best = capture.logits(found.query).double().softmax(-1).sort(descending=True)
    words = [token_text(int(i)).strip("·") for i in best.indices[:LISTED]]
    word = found.looks.token.strip("·")
    listed = pytest.approx(float(best.values[words.index(word)]), rel=1e-9) if word in words else None
    assert found.listed == listed


def test_the_lion_is_copied_and_the_tree_is_not() -> None:
    found = found_in(read("default", "king bell ball tree king bell ball"))
    assert found.looks is not None
    assert (found.there, found.copies, found.listed) == (True, True, None)
    assert found.looks.weight > 0.8
    assert found.next.token.strip("·") != "tree"


def test_the_other_name_comes_next_when_the_other_one_gives() -> None:
    """What its caption invites to: the head looks there all the same, though another name comes next."""
    capture = read("default", "When Mary and John went to the store, Mary gave a drink to")
    found = found_in(capture)
    assert found.at == 10
    assert capture.tokens[10].text == "·Mary"
    assert (found.next.token, found.next_before.token) == ("·John", "·Mary")
    assert found.there


def test_two_answers_keep_both_heads() -> None:
    capture = read("default", "The cat chased the squirrel because it")
    found = found_in(capture)
    assert found.other is not None
    here, before = found.other
    assert here.token == "·squirrel"
    assert float(plainly("default", capture, found.query, here.key).look[0][6, 3]) == pytest.approx(
        here.weight, abs=1e-4
    )
    assert before.key == 5


def test_a_word_of_characters_is_said_whole() -> None:
    one = variation_of(read("default", "意大利的首都是罗马。德国的首都是"))
    assert one is not None
    assert (one.old, one.new) == ("法国", "德国")


@pytest.mark.parametrize(
    "request_",
    [
        CaptureRequest("Another text"),
        CaptureRequest("The pig is behind the dog. It"),
        CaptureRequest("The cat is behind the dog. It", continuation=(5,)),
        CaptureRequest("The cat is behind the dog. It", edits=(ScaledHead(0, 0, 0.0),)),
    ],
    ids=["another", "the example", "continued", "edited"],
)
def test_no_other_text_is_a_variation(request_: CaptureRequest) -> None:
    assert variation_of(load_runner("default").capture(request_)) is None


def test_what_a_reader_has_written_is_no_variation() -> None:
    request = CaptureRequest("The girl writes the expensive letter every week.", attention="cross", target="女孩")
    capture = as_square(load_runner("translator").capture(request))
    assert variation_of(capture) is None
    assert (told_query(capture), first_head(capture)) == (opening_query(capture), opening_head(capture))
