"""Computes how many GPUs a number of users needs, from stated assumptions, for docs/scale.md.

    python -m scripts.capacity                       write the tables of docs/scale.md
    python -m scripts.capacity --print --users 5000 --price 2.2 --parameters 70.6e9 --layers 80 …

Every assumption is an option. A test fails if the document and this script differ.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "scale.md"
BEGIN, END = "<!-- python -m scripts.capacity -->", "<!-- end of python -m scripts.capacity -->"
USERS = (100, 1_000, 10_000, 100_000)
FLEETS = (1, 10, 100)  # GPUs
TEXTS = (128, 1_024, 8_192, 32_768)  # tokens


def said(default: float, meaning: str) -> Any:
    """A field for an assumption, with its meaning and its source."""
    return field(default=default, metadata={"meaning": meaning})


@dataclass(frozen=True)
class Assumptions:
    """The inputs; by default, a Llama with 8 billion parameters in bfloat16, and one H200 per replica."""

    parameters: float = said(8.03e9, "of the model (Llama 3.1 8B)")
    layers: float = said(32, "of it")
    heads: float = said(32, "a layer")
    kv_heads: float = said(8, "a layer")
    d_head: float = said(128, "numbers of a query, key or value")
    d_model: float = said(4096, "numbers of the residual stream")
    vocabulary: float = said(128_256, "tokens")
    bytes_a_number: float = said(2, "bfloat16")
    gpu_memory: float = said(141e9, "bytes, as the H200's data sheet has it")
    gpu_flops: float = said(989e12, "FLOP/s in bfloat16, dense, as the data sheet has it")
    gpu_bandwidth: float = said(4.8e12, "bytes/s of its memory, as the data sheet has it")
    mfu: float = said(
        0.47,
        "share of them that a capture reaches: measured at 32,768 tokens ([performance.md](performance.md))",
    )
    overhead: float = said(0.03, "s of Python and launches a forward pass: assumed, not measured")
    small: float = said(0.004, "s of the GPU for a small question (logits of a position, a layer's check): assumed")
    memory_share: float = said(0.8, "of the GPU's memory that weights and captures fill: assumed")
    working: float = said(0.05, "share of the users who work at the same time: assumed")
    captures: float = said(3, "a minute and working reader: assumed")
    clicks: float = said(36, "small questions a minute and working reader: assumed")
    generated: float = said(12, "tokens a minute and working reader: assumed")
    tokens: float = said(1_024, "of a text: assumed")
    kept_share: float = said(0.3, "of the captures that the replica has kept (Back, the class's text): assumed")
    texts: float = said(2, "captures that are kept for a working reader, the open one and the one before: assumed")
    load: float = said(0.6, "of its time that a replica works: above it waiting grows quickly")
    sessions: float = said(60, "working readers of one app process: the default of `limits.sessions`")
    price: float = said(3.5, "dollars a GPU-hour: assumed, for a rented H200")


@dataclass(frozen=True)
class Capacity:
    """What follows from the assumptions."""

    given: Assumptions

    @property
    def weight_bytes(self) -> float:
        return self.given.parameters * self.given.bytes_a_number

    @property
    def token_bytes(self) -> float:
        """Bytes kept per token of a capture: q, k, v and the output of every layer, the stream around each, the last
        state.
        """
        one = self.given
        layer = (2 * one.heads + 2 * one.kv_heads) * one.d_head
        return one.bytes_a_number * (one.layers * layer + (one.layers + 1) * one.d_model + one.d_model)

    def forward_flops(self, tokens: float) -> float:
        """Two per parameter and token, plus the scores and sums of causal attention."""
        one = self.given
        return 2 * one.parameters * tokens + one.layers * 4 * one.heads * one.d_head * tokens**2 / 2

    def forward_seconds(self, tokens: float) -> float:
        """At least the time to read the weights once."""
        one = self.given
        computing = self.forward_flops(tokens) / (one.gpu_flops * one.mfu)
        return max(computing, self.weight_bytes / one.gpu_bandwidth) + one.overhead

    # -- a reader ---------------------------------------------------------------------------------------------------

    @property
    def services(self) -> tuple[tuple[float, float], ...]:
        """(questions per second, GPU seconds for each) of an active user."""
        one = self.given
        fresh = one.captures * (1 - one.kept_share)
        return (
            (fresh / 60, self.forward_seconds(one.tokens)),
            (one.clicks / 60, one.small),
            (one.generated / 60, self.forward_seconds(1)),
        )

    @property
    def busy(self) -> float:
        """GPU seconds per second and active user."""
        return sum(rate * seconds for rate, seconds in self.services)

    @property
    def network(self) -> float:
        """Bytes per second and active user: outlines, an opened head's q and k, rows and logits of new tokens."""
        one = self.given
        outline = 20 * one.tokens + 1_000 * one.layers
        head = 2 * one.d_head * one.bytes_a_number * one.tokens
        step = self.token_bytes + 4 * one.vocabulary  # logits in float32
        return (one.captures * outline + one.clicks * head + one.generated * step) / 60

    @property
    def whole_network(self) -> float:
        """The same if every capture were sent whole."""
        return self.given.captures * self.given.tokens * self.token_bytes / 60

    # -- a replica --------------------------------------------------------------------------------------------------

    @property
    def replica_gpus(self) -> int:
        """GPUs that hold the weights once, with a quarter of their size to spare; pipelined, so no faster than one."""
        return math.ceil(1.25 * self.weight_bytes / (self.given.gpu_memory * self.given.memory_share))

    @property
    def room(self) -> float:
        """Bytes of a replica for captures."""
        return self.replica_gpus * self.given.gpu_memory * self.given.memory_share - self.weight_bytes

    @property
    def readers_by_time(self) -> float:
        return self.given.load / self.busy

    @property
    def readers_by_memory(self) -> float:
        one = self.given
        return self.room / (one.texts * one.tokens * self.token_bytes)

    @property
    def readers(self) -> int:
        """Active users that one replica serves."""
        return max(1, math.floor(min(self.readers_by_time, self.readers_by_memory)))

    @property
    def wait(self) -> float:
        """Mean seconds before a question's turn on a full replica (Pollaczek–Khinchine formula for an M/G/1 queue)."""
        squares = self.readers * sum(rate * seconds**2 for rate, seconds in self.services)
        return squares / (2 * (1 - self.readers * self.busy))

    # -- a fleet ----------------------------------------------------------------------------------------------------

    def working(self, users: float) -> int:
        return math.ceil(users * self.given.working)

    def replicas(self, users: float) -> int:
        return math.ceil(self.working(users) / self.readers)

    def gpus(self, users: float) -> int:
        return self.replicas(users) * self.replica_gpus

    def dollars(self, users: float) -> float:
        """Dollars per hour."""
        return self.gpus(users) * self.given.price

    def served(self, gpus: int) -> tuple[int, int]:
        """Active users, and all users, that this many GPUs serve."""
        working = gpus // self.replica_gpus * self.readers
        return working, math.floor(working / self.given.working)


# -- tables -----------------------------------------------------------------------------------------------------------


def tables(given: Assumptions, users: tuple[int, ...] = USERS) -> str:
    """The tables of docs/scale.md."""
    found = Capacity(given)
    return "\n\n".join((_assumed(given), _sizes(found), _fleets(found, users), _by_gpus(found), _sentence(found)))


def _rows(*rows: tuple[str, ...]) -> str:
    align = ("---", *("---:",) * (len(rows[0]) - 1))
    return "\n".join(f"| {' | '.join(row)} |" for row in (rows[0], align, *rows[1:]))


def _assumed(given: Assumptions) -> str:
    rows = [(f"`{one.name}`", number(getattr(given, one.name)), one.metadata["meaning"]) for one in fields(given)]
    return "\n".join(
        f"| {' | '.join(row)} |" for row in (("assumption", "value", "what it is"), ("---", "---:", "---"), *rows)
    )


def _sizes(found: Capacity) -> str:
    one = found.given
    head = 2 * one.d_head * one.bytes_a_number
    return _rows(
        ("tokens of a text", "forward pass", "capture", "whole over 10 Gb/s", "one head's q and k"),
        *(
            (f"{tokens:,}", seconds(found.forward_seconds(tokens)), size(tokens * found.token_bytes),
             seconds(tokens * found.token_bytes / 1.25e9), size(tokens * head))
            for tokens in TEXTS
        ),
    )  # fmt: skip


def _fleets(found: Capacity, users: tuple[int, ...]) -> str:
    return _rows(
        ("users", "work at once", "replicas", "GPUs", "captures kept", "network", "if captures were sent whole",
         "app processes", "an hour"),
        *(
            (f"{count:,}", f"{found.working(count):,}", f"{found.replicas(count):,}", f"{found.gpus(count):,}",
             size(found.working(count) * found.given.texts * found.given.tokens * found.token_bytes),
             f"{size(found.working(count) * found.network)}/s", f"{size(found.working(count) * found.whole_network)}/s",
             f"{math.ceil(found.working(count) / found.given.sessions):,}", f"${found.dollars(count):,.2f}")
            for count in users
        ),
    )  # fmt: skip


def _by_gpus(found: Capacity) -> str:
    rows = []
    for gpus in FLEETS:
        working, users = found.served(gpus)
        rows.append((f"{gpus}", f"{working:,}", f"{users:,}", f"{size(working * found.network)}/s",
                     f"${gpus * found.given.price:,.2f}"))  # fmt: skip
    return _rows(("GPUs", "work at once", "users", "network", "an hour"), *rows)


def _sentence(found: Capacity) -> str:
    by_time, by_memory = found.readers_by_time, found.readers_by_memory
    gpus, bound = found.replica_gpus, "time" if by_time <= by_memory else "memory"
    return (
        f"A replica takes {gpus} GPU{'s' if gpus > 1 else ''}, {size(found.weight_bytes)} of "
        f"weights and {size(found.room)} of captures. Its time is enough for {by_time:.3g} working readers, its memory "
        f"for {by_memory:.3g}; the {bound} decides. At that load a question waits {seconds(found.wait)} on average."
    )


def number(value: float) -> str:
    """Format a number briefly: 8.03e9, 0.47, 128,256."""
    return f"{value:.3g}".replace("e+0", "e").replace("e+", "e") if value >= 1e6 or value < 1 else f"{value:,.10g}"


def size(n_bytes: float) -> str:
    """Format a size in the unit that leaves one to three digits before the point."""
    for unit, each in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if n_bytes >= each:
            return f"{n_bytes / each:.3g} {unit}" if n_bytes < 1000 * each else f"{n_bytes / each:,.0f} {unit}"
    return f"{n_bytes / 1e3:.3g} kB"


def seconds(value: float) -> str:
    if value >= 10:
        return f"{value:,.0f} s"
    return f"{value:.2g} s" if value >= 1 else f"{1000 * value:.2g} ms" if value < 0.0995 else f"{1000 * value:.0f} ms"


def with_tables(document: str, made: str) -> str:
    """The document with the text between its two marks replaced."""
    before, rest = document.split(f"{BEGIN}\n", 1)
    after = rest.split(END, 1)[1]
    return f"{before}{BEGIN}\n\n{made}\n\n{END}{after}"


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print", dest="only_print", action="store_true", help="write nothing into the document")
    parser.add_argument("--users", type=int, nargs="+", default=list(USERS))
    for one in fields(Assumptions):
        meaning = one.metadata["meaning"].replace("%", "%%")
        parser.add_argument(f"--{one.name.replace('_', '-')}", type=float, default=one.default, help=meaning)
    options = vars(parser.parse_args(arguments))
    only_print, users = options.pop("only_print"), tuple(options.pop("users"))
    given = replace(Assumptions(), **options)
    if wrong := [name for name, value in options.items() if value <= 0 and name != "kept_share"]:
        parser.error(f"--{wrong[0].replace('_', '-')} must be larger than 0")
    if only_print or given != Assumptions() or users != USERS:
        print(tables(given, users))
        return
    DOCUMENT.write_text(with_tables(DOCUMENT.read_text(encoding="utf-8"), tables(given)), encoding="utf-8")


if __name__ == "__main__":
    main()
