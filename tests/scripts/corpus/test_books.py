"""Standard Ebooks chapters become plain passages."""

from __future__ import annotations

from pathlib import Path

from scripts.corpus.books import book_documents, chapter_paragraphs

CHAPTER = """<html><head><title>I</title></head><body><section>
<header><h2>I</h2><p>A motto.</p></header>
<p>\u201cIt\u2019s late,\u201d said the <i>White\u00a0Rabbit</i>\u2026\
<a href="endnotes.xhtml#n1" epub:type="noteref">1</a></p>
<figure><p>A picture.</p></figure>
<p>Fish &amp;<br/>
chips.</p><p>!</p></section></body></html>"""


def test_a_chapter_keeps_its_words_and_loses_headings_pictures_and_note_marks() -> None:
    assert chapter_paragraphs(CHAPTER) == ['"It\'s late," said the White Rabbit...', "Fish & chips."]


def test_chapters_come_in_reading_order_without_front_matter(tmp_path: Path) -> None:
    folder = tmp_path / "src/epub/text"
    folder.mkdir(parents=True)
    for name in ("chapter-10", "chapter-2", "colophon", "endnotes-1"):
        (folder / f"{name}.xhtml").write_text(f"<p>{name} {'word ' * 50}</p>", encoding="utf-8")
    assert [text.split()[0] for text in book_documents(tmp_path)] == ["chapter-2", "chapter-10"]


def test_a_passage_has_at_most_so_many_paragraphs(tmp_path: Path) -> None:
    folder = tmp_path / "src/epub/text"
    folder.mkdir(parents=True)
    (folder / "chapter-1.xhtml").write_text(f"<p>{'word ' * 50}</p>" * 5, encoding="utf-8")
    assert [text.count("\n\n") + 1 for text in book_documents(tmp_path, paragraphs_per_document=2)] == [2, 2, 1]
