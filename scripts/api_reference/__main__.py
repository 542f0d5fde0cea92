"""The API reference of the library packages, as HTML that works offline: python -m scripts.api_reference build/docs."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pdoc
import pdoc.render

from attention_atlas import __version__

HERE = Path(__file__).resolve().parent
PACKAGES = ("model_runner", "attention", "analysis", "viz", "inline")
ENGINE = "!model_runner.local"  # not public: outside code uses load_runner and Runner


def write(folder: Path, *modules: str) -> None:
    """Write one page per module into ``folder``, with an index and a search that runs in the browser."""
    pdoc.render.configure(
        docformat="restructuredtext",
        footer_text=f"Attention Atlas {__version__}",
        math=False,  # these two would be loaded from a CDN
        mermaid=False,
        show_source=False,
        template_directory=HERE,
    )
    with warnings.catch_warnings():
        # Imported only for type checkers: such a name is shown without a link.
        warnings.filterwarnings("ignore", "Error parsing type annotation")
        pdoc.pdoc(*modules, output_directory=folder)


if __name__ == "__main__":
    write(Path(sys.argv[1]), *PACKAGES, ENGINE)
