"""A folder that only a link names is opened when its reader says so, and not before."""

from __future__ import annotations

from tests.ui.driving import button, components, open_app, sentences


def test_a_link_opens_no_folder_until_its_reader_agrees(folder_of):
    folder = folder_of("gpt2")
    app = open_app(chosen=False, model=folder, text="one two")
    assert sentences(app) == [
        f"Only a link names the folder {folder}. Have it opened if you know where the link is from."
    ]
    assert "head_map" not in components(app)
    app.button(key="fetch_model").click().run()
    assert sentences(app) == []
    assert "head_map" in components(app)


def test_one_that_there_is_not_is_asked_about_in_the_same_words():
    app = open_app(chosen=False, model="/no/such/folder")
    assert "Only a link names the folder /no/such/folder." in "".join(sentences(app))
    app.button(key="fetch_model").click().run()
    assert "Only a link" not in "".join(sentences(app))
    assert not button(app, "fetch_model")
