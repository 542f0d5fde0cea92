"""Values stored in a session: typed, each under its own name."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[3]
DECLARED = re.compile(r'SessionValue(?:\[.*?\])?\(\s*"(\w+)"', re.DOTALL)
WIDGET = re.compile(r'\bkey="(\w+)"')


def test_a_name_is_of_one_value_and_of_no_widget():
    sources = [path.read_text() for room in ("ui", "pages") for path in (ROOT / room).rglob("*.py")]
    names = Counter(name for source in sources for name in DECLARED.findall(source))
    widgets = {name for source in sources for name in WIDGET.findall(source)}
    assert len(names) > 20
    assert [name for name, count in names.items() if count > 1] == []
    assert names.keys() & widgets == set()


def test_a_value_is_held_between_runs_changed_in_place_and_taken_once():
    def script() -> None:
        import streamlit as st

        from ui.state.session_value import SessionValue

        words = SessionValue[list[str]]("words_of_the_test", list)
        words.get().append("run")
        st.write(" ".join(words.get()))
        if len(words.get()) == 2:
            st.write(str(words.take()), str(words.get()))

    app = AppTest.from_function(script).run()
    assert [one.value for one in app.markdown] == ["run"]
    app.run()
    assert [one.value for one in app.markdown] == ["run run", "['run', 'run'] []"]
