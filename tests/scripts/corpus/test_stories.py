"""TinyStories excerpts are cleaned and de-duplicated."""

from __future__ import annotations

import json
from pathlib import Path

from scripts.corpus.stories import story_documents


def story(name: str) -> str:
    return f"Once upon a time, there was a fox named {name}. " + f"{name} was happy. " * 20 + "The end."


def test_every_form_of_an_excerpt_is_split_into_its_stories(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text(json.dumps([story("Ann"), story("Bob")]))
    (tmp_path / "marked.txt").write_text(story("Cid") + "<|endoftext|>" + story("Dot"))
    (tmp_path / "plain.txt").write_text(story("Eva") + "\n" + story("Flo"))
    files = [tmp_path / name for name in ("list.json", "marked.txt", "plain.txt")]
    assert list(story_documents(files)) == [story(name) for name in ("Ann", "Bob", "Cid", "Dot", "Eva", "Flo")]


def test_copies_fragments_and_foreign_letters_are_left_out(tmp_path: Path) -> None:
    cut_off = story("Hal").removesuffix(".")
    chunks = [story("Gus"), story("Gus"), "Too short.", cut_off, story("Zoé")]
    (tmp_path / "list.json").write_text(json.dumps(chunks))
    assert list(story_documents([tmp_path / "list.json"])) == [story("Gus")]
