"""Write the training corpus of the embedded model, or rebuild one of its parts.

    python -m scripts.corpus                                the whole corpus, into build/corpus
    python -m scripts.corpus books   --checkouts DIR ...    scripts/corpus/data/books.txt.xz from Standard Ebooks
    python -m scripts.corpus stories --files FILE ...       scripts/corpus/data/stories.txt.xz from TinyStories excerpts

The whole corpus is the generated part (from a seed) and the two parts in the repository, unpacked. The README beside
the data says where every part comes from and under which licence.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator
from pathlib import Path

from scripts.corpus.books import book_documents
from scripts.corpus.files import read_documents, write_documents
from scripts.corpus.generator import CHINESE, KINDS, PARALLEL, PRACTICE, documents
from scripts.corpus.stories import story_documents

DATA = Path(__file__).parent / "data"
PACKED = ("stories", "books", "classics")
# part: its size relative to the first, and the kinds of texts in it
GENERATED = {
    "generated": (1.0, KINDS),
    "practice": (0.4, PRACTICE),
    "chinese": (0.6, CHINESE),
    "parallel": (0.2, PARALLEL),
}
log = logging.getLogger(__name__)


def write_corpus(folder: Path, *, megabytes: float, seed: int) -> None:
    """Write the generated parts and those in the repository into ``folder``, each as ``NAME.txt``."""
    for part, (share, kinds) in GENERATED.items():
        _write(folder / f"{part}.txt", documents(seed, kinds), megabytes * share * 1e6)
    for part in PACKED:
        _write(folder / f"{part}.txt", iter(read_documents(DATA / f"{part}.txt.xz")))


def main(arguments: list[str] | None = None) -> None:
    """Run the command line (``arguments``: as in ``sys.argv[1:]``)."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    args = _parser().parse_args(arguments)
    if args.command == "books":
        _write(args.out, (text for checkout in sorted(args.checkouts) for text in book_documents(checkout)))
    elif args.command == "stories":
        _write(args.out, story_documents(args.files))
    else:
        write_corpus(args.folder, megabytes=args.megabytes, seed=args.seed)


def _write(path: Path, texts: Iterator[str], limit: float = float("inf")) -> None:
    count, size = write_documents(path, texts, limit)
    log.info("%s: %s documents, %.1f million characters", path, f"{count:,}", size / 1e6)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.corpus", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=Path("build/corpus"), help="default: %(default)s")
    parser.add_argument("--megabytes", type=float, default=18.0, help="size of the generated part, default: 18")
    parser.add_argument("--seed", type=int, default=17, help="seed of the generated part, default: 17")
    parts = parser.add_subparsers(dest="command", title="rebuild one part")
    books = parts.add_parser("books", help="extract Standard Ebooks checkouts")
    books.add_argument("--checkouts", type=Path, nargs="+", required=True)
    books.add_argument("--out", type=Path, default=DATA / "books.txt.xz")
    stories = parts.add_parser("stories", help="clean TinyStories excerpts")
    stories.add_argument("--files", type=Path, nargs="+", required=True)
    stories.add_argument("--out", type=Path, default=DATA / "stories.txt.xz")
    return parser


if __name__ == "__main__":
    main()
