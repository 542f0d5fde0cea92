"""A value of one kind that a session holds between its runs, declared once by who owns it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

T = TypeVar("T")


@dataclass(frozen=True)
class SessionValue(Generic[T]):
    """``initial`` makes the value that it has until one is set; ``name`` is its own in the whole app."""

    name: str
    initial: Callable[[], T]

    def get(self) -> T:
        """The value; what ``initial`` makes is held from the first look on, so that it can be changed in place."""
        if self.name not in st.session_state:
            st.session_state[self.name] = self.initial()
        return st.session_state[self.name]

    def set(self, value: T) -> None:
        """Hold another value."""
        st.session_state[self.name] = value

    def take(self) -> T:
        """The value, which is ``initial`` again from now on."""
        value = self.get()
        del st.session_state[self.name]
        return value
