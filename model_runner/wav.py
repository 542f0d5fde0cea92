"""Reads a WAV file as a sound, with Python's own ``wave``."""

from __future__ import annotations

import io
import wave
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from model_runner.errors import N_, Reason, RunnerError, first_line
from model_runner.sound import RATES, Sound, sound_of
from model_runner.sound_errors import SoundTooLong, SoundUnreadable

LARGEST = 64 << 20  # bytes; 30 seconds of two channels at 192,000 Hz in 32 bits are 46 million
LONGEST = 30.0  # seconds
CHANNELS = 8
CUT_OFF = N_("the file ends before its sound does")


def read_wav(file: str | Path | bytes) -> Sound:
    """The sound of a WAV file, given its path or its contents: PCM of 8, 16, 24 or 32 bits; channels are averaged.

    Raises SoundUnreadable for any other file, with the reason, and SoundTooLong beyond 30 seconds, before it is read
    whole.
    """
    if isinstance(file, bytes):
        return _read(file)
    try:
        path = Path(file)
        if path.stat().st_size > LARGEST:
            raise _too_large(path.stat().st_size)
        return _read(path.read_bytes())
    except OSError as error:
        raise SoundUnreadable(reason=first_line(error)) from error


def _read(data: bytes) -> Sound:
    if not data:
        raise SoundUnreadable(reason=N_("the file is empty"))
    if len(data) > LARGEST:
        raise _too_large(len(data))
    try:
        with wave.open(io.BytesIO(data)) as opened:
            channels, width, rate, count = opened.getparams()[:4]
            _check(channels, width, rate)
            if count / rate > LONGEST:
                raise SoundTooLong(seconds=f"{count / rate:,.1f}", limit=f"{LONGEST:g}")
            frames = opened.readframes(count)
    except RunnerError:
        raise
    except (wave.Error, EOFError, ArithmeticError, ValueError, RuntimeError) as error:
        why = Reason(N_("it is not a WAV file of plain samples ({why})"), {"why": first_line(error) or CUT_OFF})
        raise SoundUnreadable(reason=why) from error
    if len(frames) < count * channels * width:
        raise SoundUnreadable(reason=CUT_OFF)
    if not frames:
        raise SoundUnreadable(reason=N_("it has no samples"))
    return sound_of(_numbers(frames, width).unflatten(0, (-1, channels)).mean(1), rate)


def _check(channels: int, width: int, rate: int) -> None:
    least, most = RATES
    if not least <= rate <= most:
        raise SoundUnreadable(reason=Reason(N_("its sample rate, {rate} Hz, is implausible"), {"rate": f"{rate:,}"}))
    if width not in (1, 2, 3, 4):
        raise SoundUnreadable(reason=Reason(N_("its samples have {bits} bits"), {"bits": 8 * width}))
    if channels > CHANNELS:
        raise SoundUnreadable(reason=Reason(N_("it has {count} channels"), {"count": channels}))


def _numbers(frames: bytes, width: int) -> Float[Tensor, "values"]:
    """The values of all channels, interleaved, between −1 and 1."""
    held = bytearray(frames)
    if width == 1:  # the only unsigned width in WAV
        return (torch.frombuffer(held, dtype=torch.uint8).float() - 128) / 128
    if width == 2:
        return torch.frombuffer(held, dtype=torch.int16).float() / 2**15
    if width == 4:
        return (torch.frombuffer(held, dtype=torch.int32).double() / 2**31).float()
    low, middle, high = torch.frombuffer(held, dtype=torch.uint8).unflatten(0, (-1, 3)).int().unbind(1)
    return ((low + 256 * middle + 65536 * high - 2**24 * (high > 127).int()).float()) / 2**23


def _too_large(size: int) -> SoundUnreadable:
    values = {"size": f"{size:,}", "most": f"{LARGEST:,}"}
    return SoundUnreadable(reason=Reason(N_("the file has {size} bytes, and up to {most} are read"), values))
