"""Steps of lessons as files: read, written, and refused with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from lessons.shelf import MOST_STEPS, lessons
from lessons.step import LONGEST, Broken, LessonStep, read, written

PAGES = {"", "masks"}
GOOD = "---\nlesson: All\ntitle: One\naddress: /masks?layer=1&text=a+b\nquestion: where\n---\nWords **here**.\n"


def test_a_step_is_what_its_file_says():
    step = read(GOOD, PAGES)
    assert step == LessonStep("One", "masks", (("layer", "1"), ("text", "a b")), "Words **here**.", "where", "All")
    assert step.plain_words == "Words here."


@pytest.mark.parametrize(
    "words, plain",
    [
        ("叫一个*词元*（token），看**前一词元**，占 **100%**。", "叫一个词元（token），看前一词元，占 100%。"),
        ("a *token*, a _word_ and `x_1`", "a token, a word and x_1"),
        ("2 * 3 is not 4", "2 * 3 is not 4"),
    ],
)
def test_plain_words_have_no_marks_of_markdown(words: str, plain: str):
    assert LessonStep("One", "", (), words).plain_words == plain


@pytest.mark.parametrize(
    "step",
    [
        read(GOOD, PAGES),
        LessonStep("One", "masks", (), "Words.", tour="A whole subject"),
        LessonStep(
            "标题：一", "", (("text", "狗 & 猫 = 1\n2"), ("edits", "ScaledHead(5,4,0.0)")), "# 词\n\n- 一\n- 二"
        ),
    ],
)
def test_what_is_written_is_read_back(step: LessonStep):
    assert read(written(step), PAGES) == step


def test_an_address_that_was_copied_whole_is_the_same():
    assert read(GOOD.replace(" /masks", " http://127.0.0.1:8501/masks"), PAGES) == read(GOOD, PAGES)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Words alone.",
        GOOD.replace("title: One", "title One"),
        GOOD.replace("title: One\n", ""),
        GOOD.replace("address: /masks?layer=1&text=a+b\n", ""),
        GOOD.replace("/masks", "/nowhere"),
        GOOD.replace("/masks", "masks"),
        GOOD.replace("address: /masks", "address: http://[masks"),
        GOOD.replace("where", "why"),
        GOOD.replace("lesson:", "colour:"),
        GOOD.replace("Words **here**.", ""),
        GOOD + "![](http://example.org/x.png)",
        GOOD + "<img src=x onerror=alert(1)>",
        GOOD + "x" * LONGEST,
    ],
)
def test_a_broken_step_is_refused_with_a_reason_whose_places_are_filled(text: str):
    with pytest.raises(Broken) as refused:
        read(text, PAGES)
    reason = refused.value.reason.format(file="01.md", **refused.value.values)
    assert "01.md" in reason
    assert "{" not in reason


def shelf(root: Path, **folders: list[bytes]) -> Path:
    for name, files in folders.items():
        folder = root / "en" / name.replace("_", "-")
        folder.mkdir(parents=True)
        for number, content in enumerate(files):
            (folder / f"{number:03d}.md").write_bytes(content)
    return root


def test_a_broken_lesson_is_left_out_and_the_others_stay(tmp_path: Path):
    good = GOOD.encode()
    root = shelf(
        tmp_path,
        **{"20_good": [good, good], "10_bytes": [b"\xff\xfe"], "30_empty": [], "40_half": [good, b"no"],
           "50_many": [good] * (MOST_STEPS + 1)},
    )  # fmt: skip
    found, left_out = lessons([root], "en", PAGES)
    assert [(one.name, one.title, len(one.steps)) for one in found] == [("good", "All", 2)]
    assert [one.name for one in left_out] == ["bytes", "empty", "half", "many"]
    assert all(one.reason.format(**one.values) for one in left_out)
    assert lessons([root], "zh", PAGES)[0] == found  # one that is in another language alone


def test_an_earlier_folders_lesson_replaces_one_with_the_same_name_and_a_changed_file_is_read_anew(tmp_path: Path):
    mine, theirs = shelf(tmp_path / "a", **{"10_x": [GOOD.encode()]}), shelf(tmp_path / "b", **{"90_x": [b"broken"]})
    assert [one.title for one in lessons([mine, theirs], "en", PAGES)[0]] == ["All"]
    (mine / "en" / "10-x" / "000.md").write_text(GOOD.replace("All", "Another"), "utf-8")
    assert [one.title for one in lessons([mine, theirs], "en", PAGES)[0]] == ["Another"]


def test_there_are_none_where_there_is_no_folder(tmp_path: Path):
    assert lessons([tmp_path / "none"], "en", PAGES) == ((), ())


def test_the_first_step_says_whether_it_is_a_lesson_or_a_tour(tmp_path: Path):
    for name, head in (("1-short", GOOD), ("2-long", GOOD.replace("lesson: All", "tour: The whole"))):
        (tmp_path / "en" / name).mkdir(parents=True)
        (tmp_path / "en" / name / "1.md").write_text(head, "utf-8")
    found, left_out = lessons([tmp_path], "en", PAGES)
    assert [(one.name, one.title, one.tour) for one in found] == [("short", "All", False), ("long", "The whole", True)]
    assert left_out == ()
