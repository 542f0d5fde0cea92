"""The rule for when a story may give a reason: the effect of the word that should matter, of another, and of the head.

It is measured on held-out sentences of the story's template. If a head attends as the story says, but the answer stays
without it, the story tells where the head attends, not why the answer comes.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from random import Random
from typing import Literal

import torch

from scripts.check.story_reader import Ids, Place, Reader, Reading
from scripts.check.story_templates import Template

SENTENCES, SEED = 200, 2026
SHARE = 0.8  # of the sentences in which a story has to hold
LOOK = 0.5  # of a head's attention: then it attends to the word
FALL, STILL = 1.0, 0.2  # nats of log-odds: the answer depends on the heads; the control leaves it unchanged
TRIES = 50  # draws per sentence before a template is given up

Told = Literal["why", "where", "not"]


@dataclass(frozen=True)
class Claim:
    """The heads that a story names, the one that is opened first, and as many control heads of the same layers."""

    template: Template
    heads: tuple[Place, ...]
    control: tuple[Place, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.heads) <= 3:
            raise ValueError(f"a story names one to three heads, not {len(self.heads)}")
        if self.control and sorted(layer for layer, _ in self.control) != sorted(layer for layer, _ in self.heads):
            raise ValueError("the control has as many heads of each layer as the story names")
        if set(self.control) & set(self.heads):
            raise ValueError("a head cannot be its own control")


@dataclass(frozen=True)
class Measured:
    """Shares of the sentences, 0..1, and medians in nats.

    ``looks``: the first head attends to the word, in the least of the three kinds of sentences. ``follows`` and
    ``stays``: every named head attends to it and the answer is right, before and after the change. ``hangs``: without
    the heads, the answer falls by a nat of log-odds or changes; ``fall`` is the median fall, ``control`` the median
    change without the control heads.
    """

    sentences: int
    looks: float
    follows: float
    stays: float
    hangs: float
    fall: float
    control: float | None

    @property
    def told(self) -> Told:
        """Why, if all four hold; where, if only ``looks`` does."""
        if self.looks < SHARE:
            return "not"
        kept = min(self.follows, self.stays, self.hangs) >= SHARE
        return "why" if kept and self.control is not None and self.control <= STILL else "where"

    def rounded(self) -> dict[str, float | int | None]:
        """Rounded for the file."""
        return {name: round(value, 3) if isinstance(value, float) else value for name, value in asdict(self).items()}


def trials(
    reader: Reader, template: Template, example: str, *, count: int = SENTENCES, seed: int = SEED
) -> list[tuple[Ids, Ids, Ids]]:
    """``count`` different trials whose words are distinct in tokens, none of which contains the example itself.

    Raises ValueError if the template does not have that many.
    """
    rng, found = Random(seed), dict[tuple[Ids, ...], tuple[Ids, Ids, Ids]]()
    for _ in range(count * TRIES):
        trial = template(rng)
        if example not in [one.text for one in trial.sentences]:
            base, changed, other = (reader.ids(one) for one in trial.sentences)
            if base and changed and other and base.keys and changed.keys and other.keys:
                found[base, changed, other] = base, changed, other
        if len(found) == count:
            return list(found.values())
    raise ValueError(f"only {len(found)} of {count} held-out sentences like “{example}”")


def measure(reader: Reader, claim: Claim, held_out: list[tuple[Ids, Ids, Ids]]) -> Measured:
    """Measure the rule on these sentences."""
    base, changed, other = (list(kind) for kind in zip(*held_out, strict=True))
    first, after, beside = (reader.read(kind) for kind in (base, changed, other))
    answers, new = [one.answer for one in base], [one.answer for one in changed]
    right = first.right(answers) & _every(first, claim)
    without = reader.read(base, claim.heads)
    falls = first.log_odds - without.log_odds
    hangs = (falls >= FALL) | (first.right(answers) & ~without.right(answers))
    control = reader.read(base, claim.control) if claim.control else None
    differs = torch.tensor(answers) != torch.tensor(new)
    return Measured(
        sentences=len(base),
        looks=min(float((one.look[:, *claim.heads[0]] >= LOOK).double().mean()) for one in (first, after, beside)),
        follows=_share(right & differs & after.right(new) & _every(after, claim)),
        stays=_share(right & beside.right(answers) & _every(beside, claim)),
        hangs=_share(hangs),
        fall=float(falls.median()),
        control=None if control is None else float((first.log_odds - control.log_odds).abs().median()),
    )


def _every(reading: Reading, claim: Claim) -> torch.Tensor:
    """The sentences in which all heads that the story names attend to the word."""
    return torch.stack([reading.look[:, layer, head] >= LOOK for layer, head in claim.heads]).all(0)


def _share(held: torch.Tensor) -> float:
    return float(held.double().mean())
