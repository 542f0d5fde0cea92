"""Sounds: the content of a WAV file, other sample rates, and one error message for each invalid file."""

from __future__ import annotations

import io
import math
import struct
import wave

import pytest
import torch

from model_runner.sound import Sound, resampled, rising_tone, sound_of
from model_runner.sound_errors import SoundTooLong, SoundUnreadable
from model_runner.wav import LARGEST, read_wav

RATE = 8000


def sine(rate: int, pitch: float, seconds: float = 0.5) -> torch.Tensor:
    return 0.5 * torch.sin(2 * math.pi * pitch * torch.arange(int(seconds * rate), dtype=torch.float64) / rate)


def wav(samples: torch.Tensor, *, rate: int = RATE, bits: int = 16, channels: int = 1) -> bytes:
    """As Python writes it, byte by byte, from values between −1 and 1; two channels hold them one after the other."""
    full = 2 ** (bits - 1)
    numbers = [max(-full, min(full - 1, round(float(one) * full))) for one in samples]
    frames = b"".join(
        struct.pack("<i", number)[: bits // 8] if bits > 8 else struct.pack("B", number + 128) for number in numbers
    )
    held = io.BytesIO()
    with wave.open(held, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(bits // 8)
        file.setframerate(rate)
        file.writeframes(frames)
    return held.getvalue()


@pytest.mark.parametrize("bits", [8, 16, 24, 32])
def test_samples_of_every_width_are_read_to_their_last_bit(bits):
    samples = torch.tensor([0.0, 0.5, -0.5, 0.25, -1.0, 1 - 2.0 ** (1 - bits)])
    sound = read_wav(wav(samples, bits=bits))
    assert sound.rate == RATE
    torch.testing.assert_close(sound.samples(), samples, atol=2.0**-24, rtol=0)


def test_of_two_channels_the_mean_is_heard():
    sound = read_wav(wav(torch.tensor([0.5, 0.0, -0.25, 0.75]), channels=2))
    assert sound.samples().tolist() == [0.25, 0.25]


@pytest.mark.parametrize("rate", [8000, 22_050, 44_100, 48_000, 11_127])
def test_the_same_tone_of_another_rate_is_the_same_tone(rate):
    found = resampled(sound_of(sine(rate, 440), rate), 16_000)
    wanted = sine(16_000, 440)
    assert abs(len(found) - len(wanted)) <= 2  # of a rate that halves no second
    inside = slice(100, len(wanted) - 100)  # at its ends a tone has no neighbours
    torch.testing.assert_close(found[inside].double(), wanted[inside], atol=5e-4, rtol=0)


def test_what_is_too_high_for_the_new_rate_is_left_out_and_not_folded_back():
    found = resampled(sound_of(sine(48_000, 12_000), 48_000), 16_000)
    assert found[100:-100].abs().max() < 1e-3


def test_a_sound_of_that_rate_stays_as_it_is():
    assert torch.equal(resampled(rising_tone(), 16_000), rising_tone().samples())


def test_a_sound_is_written_down_by_its_digest_alone():
    first, second = (sound_of(sine(RATE, pitch), RATE) for pitch in (440, 441))
    assert first == sound_of(sine(RATE, 440), RATE)
    assert repr(first) != repr(second)
    assert len(repr(first)) < 120


def float_wav() -> bytes:
    """A file of floats, which wave does not read."""
    form = struct.pack("<HHIIHH", 3, 1, RATE, 4 * RATE, 4, 32)
    body = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<If", 4, 0.5)
    return b"RIFF" + struct.pack("<I", len(body)) + body


GOOD = wav(sine(RATE, 440))


@pytest.mark.parametrize(
    "data, words",
    [
        (b"", "the file is empty"),
        (b"ID3 an mp3 begins so", "it is not a WAV file of plain samples"),
        (float_wav(), "unknown format: 3"),
        (GOOD[:30], "it is not a WAV file of plain samples"),
        (GOOD[:-100], "the file ends before its sound does"),
        (wav(torch.zeros(0)), "it has no samples"),
        (wav(torch.zeros(4), rate=100), "its sample rate, 100 Hz"),
        (wav(torch.zeros(18), channels=9), "it has 9 channels"),
        (bytes(LARGEST + 1), "and up to 67,108,864 are read"),
    ],
)
def test_a_file_that_is_no_sound_is_told_in_a_sentence(data, words):
    with pytest.raises(SoundUnreadable) as told:
        read_wav(data)
    assert words in str(told.value)
    assert str(told.value).startswith("This sound cannot be read: ")


def test_a_sound_of_more_than_half_a_minute_is_not_read():
    with pytest.raises(SoundTooLong, match=r"lasts 31\.0 seconds, and up to 30 can be listened to at once"):
        read_wav(wav(torch.zeros(31_000), rate=1000))


def test_a_header_that_promises_more_than_there_is_takes_no_memory_for_it():
    lying = bytearray(GOOD)
    lying[40:44] = struct.pack("<I", 20 * RATE * 2)  # of the data chunk: twenty seconds
    with pytest.raises(SoundUnreadable, match="the file ends before its sound does"):
        read_wav(bytes(lying))


def test_a_path_is_read_and_one_that_is_nowhere_told(tmp_path):
    (tmp_path / "a.wav").write_bytes(GOOD)
    assert read_wav(tmp_path / "a.wav") == read_wav(GOOD)
    with pytest.raises(SoundUnreadable, match="No such file"):
        read_wav(str(tmp_path / "b.wav"))


@pytest.mark.parametrize(
    "data, rate, words",
    [
        (b"", RATE, "it has no samples"),
        (b"abc", RATE, "it has no samples"),
        (b"\0" * 4, 0, "its sample rate is implausible"),
        (b"\0\0\xc0\x7f", RATE, "some of its samples are not numbers"),
    ],
)
def test_what_is_no_sound_is_no_value(data, rate, words):
    with pytest.raises(SoundUnreadable, match=words):
        Sound(data, rate)
