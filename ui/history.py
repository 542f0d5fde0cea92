"""The browser's Back and Forward buttons."""

from __future__ import annotations

from streamlit.runtime.scriptrunner import get_script_run_ctx


def moved() -> bool:
    """Whether Back or Forward asked for this run: the address is then the one gone to. Streamlit (1.67) tells it here."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and context.is_history_navigation
