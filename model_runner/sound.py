"""A sound as a value: what a model that listens reads in the place of a text.

Samples are of one channel, in 32-bit floats, 1 being as loud as a file can hold. Knows nothing of models.
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

RATES = (1000, 384_000)  # samples a second, of the poorest and the richest recording
ZEROS = 16  # crossings of zero of the sinc to either side
AT_ONCE = 2**21  # products of one block when a sound is resampled


@dataclass(frozen=True, repr=False)
class Sound:
    """``data`` are the samples, little-endian; ``rate`` of them are a second. Raises SoundUnreadable.

    Equal sounds are equal requests; what is written of one in a log or a key is its length and a digest (SHA-256).
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
        """A copy of them, on the CPU."""
        return torch.frombuffer(bytearray(self.data), dtype=torch.float32)

    @property
    def seconds(self) -> float:
        return len(self.data) / 4 / self.rate

    @functools.cached_property
    def digest(self) -> str:
        """The same for equal samples alone."""
        return hashlib.sha256(self.data).hexdigest()

    def __repr__(self) -> str:
        return f"<sound of {self.seconds:.2f} s at {self.rate} Hz, {self.digest}>"


def sound_of(samples: Float[Tensor, "samples"], rate: int) -> Sound:
    """These samples as a sound. Raises SoundUnreadable where there are none, or some are no numbers."""
    return Sound(samples.detach().cpu().float().contiguous().numpy().astype("<f4").tobytes(), rate)


@functools.cache
def rising_tone() -> Sound:
    """A tone of two seconds that rises from 220 to 880 Hz, half as loud as can be: made here, recorded nowhere."""
    seconds, rate, low, high = 2.0, 16_000, 220.0, 880.0
    time = torch.arange(int(seconds * rate), dtype=torch.float64) / rate
    return sound_of(0.5 * torch.sin(2 * math.pi * (low * time + (high - low) * time**2 / (2 * seconds))), rate)


def resampled(sound: Sound, rate: int) -> Float[Tensor, "samples"]:
    """The samples of a sound at another rate: between two samples stands what their band-limited curve has there.

    Each new sample is the sum of the old ones around it, weighted by a sinc in a Hann window of ZEROS crossings to
    either side; frequencies above half of the smaller rate are left out (Smith 2002, ccrma.stanford.edu/~jos/resample).
    """
    samples = sound.samples()
    if sound.rate == rate:
        return samples
    shared = math.gcd(sound.rate, rate)
    step, phases = sound.rate // shared, rate // shared  # new samples fall on this many places between old ones
    cutoff = min(1.0, rate / sound.rate)  # of half the old rate
    reach = math.ceil(ZEROS / cutoff)
    around = torch.arange(1 - reach, reach + 1)
    apart = (around[None] - (torch.arange(phases) * step % phases).double()[:, None] / phases) * cutoff
    weights = torch.sinc(apart) * torch.cos(math.pi / 2 * (apart / ZEROS).clamp(-1, 1)).square() * cutoff
    weights, padded = weights.float(), torch.nn.functional.pad(samples, (reach, reach))
    count, block = math.ceil(len(samples) * rate / sound.rate), max(1, AT_ONCE // len(around))
    found: list[Tensor] = []
    for first in range(0, count, block):
        wanted = torch.arange(first, min(count, first + block))
        places = (wanted * step // phases)[:, None] + around[None] + reach  # whole numbers: no time drifts
        found.append((padded[places.clamp(max=len(padded) - 1)] * weights[wanted % phases]).sum(-1))
    return torch.cat(found)
