"""Streamlit's command line, in a process whose sockets have limits; `make serve` runs it."""

from __future__ import annotations

from streamlit.web.cli import main

from hosting.logs import use_log
from hosting.visitors.protocols import hosted, use_bounds

if __name__ == "__main__":
    use_log(hosted().log)
    use_bounds()
    main(prog_name="streamlit")
