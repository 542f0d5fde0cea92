"""The browser's Back and Forward buttons."""

from __future__ import annotations

from streamlit.runtime.scriptrunner import get_script_run_ctx


def moved() -> bool:
    """Whether Back or Forward asked for this run: its address is the one gone to (Streamlit 1.67)."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and context.is_history_navigation
