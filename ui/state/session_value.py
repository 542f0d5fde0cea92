"""A typed value in the session state, declared once by its owner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

T = TypeVar("T")


@dataclass(frozen=True)
class SessionValue(Generic[T]):
    """``initial`` makes the default value; ``name`` must be unique in the app."""

    name: str
    initial: Callable[[], T]

    def get(self) -> T:
        """The value. The default is stored on first access, so that it can be changed in place."""
        if self.name not in st.session_state:
            st.session_state[self.name] = self.initial()
        return st.session_state[self.name]

    def set(self, value: T) -> None:
        """Set the value."""
        st.session_state[self.name] = value

    def take(self) -> T:
        """Return the value and reset it."""
        value = self.get()
        del st.session_state[self.name]
        return value
