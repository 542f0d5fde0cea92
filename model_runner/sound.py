"""A sound as a value: the input of an audio model, in place of a text.

Samples are mono 32-bit floats, where 1 is full scale. This module knows nothing of models.
"""

from __future__ import annotations

import functools
import hashlib
import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model_runner.errors import N_
from model_runner.sound_errors import SoundUnreadable

RATES = (1000, 384_000)  # the least and the greatest sample rate, in samples per second
ZEROS = 16  # zero crossings of the sinc on either side
AT_ONCE = 2**21  # products in one block when a sound is resampled


@dataclass(frozen=True, repr=False)
class Sound:
    """``data`` are the samples, little-endian, ``rate`` of them per second. Raises SoundUnreadable.

    Equal sounds make equal requests; in a log or a key, a sound appears as its length and a SHA-256 digest.
    """

    data: bytes
    rate: int

    def __post_init__(self) -> None:
        least, most = RATES
        if not self.data or len(self.data) % 4:
            raise SoundUnreadable(reason=N_("it has no samples"))
        if not least <= self.rate <= most:
            raise SoundUnreadable(reason=N_("its sample rate is implausible"))
        if not bool(self.samples().isfinite().all()):
            raise SoundUnreadable(reason=N_("some of its samples are not numbers"))

    def samples(self) -> Float[Tensor, "samples"]:
        """A copy of the samples, on the CPU."""
        return torch.frombuffer(bytearray(self.data), dtype=torch.float32)

    @property
    def seconds(self) -> float:
        return len(self.data) / 4 / self.rate

    @functools.cached_property
    def digest(self) -> str:
        """A hash that differs for different samples."""
        return hashlib.sha256(self.data).hexdigest()

    def __repr__(self) -> str:
        return f"<sound of {self.seconds:.2f} s at {self.rate} Hz, {self.digest}>"


def sound_of(samples: Float[Tensor, "samples"], rate: int) -> Sound:
    """Make a sound from these samples. Raises SoundUnreadable if there are none, or some are not finite."""
    return Sound(samples.detach().cpu().float().contiguous().numpy().astype("<f4").tobytes(), rate)


@functools.cache
def rising_tone() -> Sound:
    """A two-second tone that rises from 220 to 880 Hz at half of full scale; synthesized, not recorded."""
    seconds, rate, low, high = 2.0, 16_000, 220.0, 880.0
    time = torch.arange(int(seconds * rate), dtype=torch.float64) / rate
    return sound_of(0.5 * torch.sin(2 * math.pi * (low * time + (high - low) * time**2 / (2 * seconds))), rate)


def resampled(sound: Sound, rate: int) -> Float[Tensor, "samples"]:
    """The samples of a sound at another rate, by band-limited interpolation.

    Each new sample is the sum of the old ones around it, weighted by a sinc in a Hann window of ZEROS crossings on
    either side; frequencies above half of the smaller rate are removed (Smith 2002, ccrma.stanford.edu/~jos/resample).
    """
    samples = sound.samples()
    if sound.rate == rate:
        return samples
    shared = math.gcd(sound.rate, rate)
    # the number of different places between old samples where new ones fall
    step, phases = sound.rate // shared, rate // shared
    cutoff = min(1.0, rate / sound.rate)  # relative to half of the old rate
    reach = math.ceil(ZEROS / cutoff)
    around = torch.arange(1 - reach, reach + 1)
    apart = (around[None] - (torch.arange(phases) * step % phases).double()[:, None] / phases) * cutoff
    weights = torch.sinc(apart) * torch.cos(math.pi / 2 * (apart / ZEROS).clamp(-1, 1)).square() * cutoff
    weights, padded = weights.float(), torch.nn.functional.pad(samples, (reach, reach))
    count, block = math.ceil(len(samples) * rate / sound.rate), max(1, AT_ONCE // len(around))
    found: list[Tensor] = []
    for first in range(0, count, block):
        wanted = torch.arange(first, min(count, first + block))
        places = (wanted * step // phases)[:, None] + around[None] + reach  # integers, so that no time drifts
        found.append((padded[places.clamp(max=len(padded) - 1)] * weights[wanted % phases]).sum(-1))
    return torch.cat(found)
