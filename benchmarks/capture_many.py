"""Are captures faster together? The same number of texts by capture_many and one by one.

    python -m benchmarks.capture_many [--texts 32] [--batch 16] [--threads 0] [--device cpu]

The two ways alternate on the embedded model; each turn uses new texts, so that nothing is cached.
"""

from __future__ import annotations

import argparse
import time
from statistics import median

import torch

from benchmarks._table import Target, machine, print_table
from model_runner import CaptureRequest, load_runner

LENGTHS = (16, 64, 256)
TURNS = 7
RATIO = Target(1 / 3, "×")  # of the time of a single text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=32)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--threads", type=int, default=0, help="of torch; 0: its own number")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    runner = load_runner("default", device=options.device)
    generator = torch.Generator().manual_seed(0)

    def seconds(length: int, together: bool) -> float:
        ids = torch.randint(100, runner.info.n_vocab, (options.texts, length), generator=generator)
        asked = [CaptureRequest(input_ids=tuple(row)) for row in ids.tolist()]
        start = time.perf_counter()
        many = runner.capture_many(asked, batch_size=options.batch)
        found = list(many if together else map(runner.capture, asked))
        took = time.perf_counter() - start
        assert len(found) == options.texts
        runner.forget()
        return took

    rows = []
    for length in LENGTHS:
        seconds(length, True)
        pairs = [(seconds(length, False), seconds(length, True)) for _ in range(TURNS)]
        alone, together = (median(one) for one in zip(*pairs, strict=True))
        ratio = median(other / one for one, other in pairs)
        milliseconds = [f"{1000 * one / options.texts:.1f} ms" for one in (alone, together)]
        rows.append([str(length), *milliseconds, f"{ratio:.2f}×", str(RATIO), RATIO.verdict(ratio)])
    print(
        f"{machine()}, torch {torch.__version__} with {torch.get_num_threads()} thread(s), batches of {options.batch}."
    )
    print_table("Texts together", ["tokens", "a text by itself", "a text of a batch", "ratio", "target", ""], rows)


if __name__ == "__main__":
    main()
