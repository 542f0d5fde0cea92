"""The colours keep their promises: one direction of lightness, masked none of a scale, hues apart for every eye."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

from viz.color import diverging, palette, sequential

# Colour blindness simulated on linear RGB (Machado, Oliveira and Fernandes 2009, severity 1.0).
EYES = {
    "typical": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
SIDES = ("light", "dark")


def linear(rgb):
    value = np.asarray(rgb, dtype=np.float64) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def luminance(rgb):
    return linear(rgb) @ [0.2126, 0.7152, 0.0722]


def oklab(rgb, eye="typical"):
    """OKLab coordinates (Ottosson 2020) of what this eye sees; a distance of 0.02 is about the least one notices."""
    seen = np.clip(linear(rgb) @ np.array(EYES[eye]).T, 0, 1)
    cones = np.cbrt(
        seen
        @ np.array([[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
                    [0.0883024619, 0.2817188376, 0.6299787005]]).T
    )  # fmt: skip
    return cones @ np.array([[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
                             [0.0259040371, 0.7827717662, -0.8086757660]]).T  # fmt: skip


def distance(a, b, eye):
    return float(np.linalg.norm(oklab(a, eye) - oklab(b, eye)))


@pytest.mark.parametrize("dark", [False, True])
def test_more_weight_always_contrasts_more_with_the_background(dark):
    steps = luminance(sequential(np.linspace(0, 1, 101), dark=dark)[:, :3])
    assert (np.diff(steps) > 0).all() if dark else (np.diff(steps) < 0).all()


@pytest.mark.parametrize("dark", [False, True])
def test_equal_steps_of_weight_are_equal_steps_of_lightness(dark):
    lightness = oklab(sequential(np.linspace(0, 1, 9), dark=dark)[:, :3])[:, 0]
    steps = np.abs(np.diff(lightness))
    assert steps.max() / steps.min() < 1.25  # rounding to 8 bits alone gives about 1.05


@pytest.mark.parametrize("dark", [False, True])
def test_signed_values_contrast_with_zero_equally_in_both_directions(dark):
    size = np.linspace(0, 1, 51)
    plus, minus = (oklab(diverging(sign * size, dark=dark)[:, :3])[:, 0] for sign in (1, -1))
    direction = 1 if dark else -1
    assert (direction * np.diff(plus) > 0).all()
    assert (direction * np.diff(minus) > 0).all()
    assert np.abs(plus - minus).max() < 0.03  # a third of one ninth of the ramp


@pytest.mark.parametrize("dark", [False, True])
def test_negative_is_orange_and_positive_is_the_colour_of_a_weight(dark):
    for size in (0.3, 0.6, 1.0):
        red, green, blue, _ = diverging(np.float64(-size), dark=dark).tolist()
        assert red > green > blue
        weight = sequential(np.float64(size * 7 / 8), dark=dark)  # a step before the darkest
        assert np.abs(diverging(np.float64(size), dark=dark).astype(int) - weight).max() <= 1


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("dark", [False, True])
def test_no_sign_has_the_colour_of_a_query_or_a_key(dark, eye):
    colors = [palette()[name]["dark" if dark else "light"] for name in ("query", "key")]
    ends = [diverging(np.float64(sign), dark=dark)[:3] for sign in (-1, 1)]
    assert min(distance(end, color, eye) for end in ends for color in colors) > 0.06  # three times what one notices


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("dark", [False, True])
def test_signs_stay_apart_for_every_eye(dark, eye):
    for size in (0.25, 0.5, 1.0):
        plus, minus = (diverging(np.float64(sign * size), dark=dark)[:3] for sign in (1, -1))
        assert distance(plus, minus, eye) > 0.08


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("dark", [False, True])
def test_the_lines_of_what_is_masked_are_seen_on_the_paper(dark, eye):
    lines = palette()["masked"]["dark" if dark else "light"]
    assert distance(lines, sequential(np.float64(0), dark=dark)[:3], eye) > 0.04
    assert distance(lines, diverging(np.float64(0), dark=dark)[:3], eye) > 0.04


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("paint", [sequential, diverging])
def test_masked_is_clear_paper_and_no_colour_of_a_scale(paint, dark):
    masked, zero = paint(np.array([np.nan, 0.0]), dark=dark).tolist()
    assert masked[3] == 0
    assert zero[3] == 255


@pytest.mark.parametrize("dark", [False, True])
def test_masked_lines_are_grey_where_every_weight_of_their_lightness_is_indigo(dark):
    masked = oklab(palette()["masked"]["dark" if dark else "light"])
    ramp = oklab(sequential(np.linspace(0, 1, 256), dark=dark)[:, :3])
    assert np.linalg.norm(ramp - masked, axis=1).min() > 0.02
    assert np.hypot(*masked[1:]) < 0.015  # a warm grey; the palest tenth of the ramp has 0.02


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("side", SIDES)
def test_query_key_and_value_stay_apart_for_every_eye(side, eye):
    colors = palette()
    for a, b in itertools.combinations(("query", "key", "value"), 2):
        assert distance(colors[a][side], colors[b][side], eye) > 0.08, (a, b)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", ["query", "key", "compare"])
def test_coloured_words_are_readable_on_the_background(name, side):
    colors = palette()
    background = colors["sequential"][side][0][1:]
    light, dark = sorted((luminance(colors[name][side]), luminance(background)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_values_outside_the_range_are_clipped_and_nan_is_clear():
    pixels = sequential([[-5.0, 0.0, np.nan], [1.0, 7.0, np.nan]])
    assert pixels.shape == (2, 3, 4)
    assert pixels.dtype == np.uint8
    assert pixels[..., 3].tolist() == [[255, 255, 0], [255, 255, 0]]
    assert pixels[0, 0].tolist() == pixels[0, 1].tolist()
    assert pixels[1, 0].tolist() == pixels[1, 1].tolist()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", ["sequential", "diverging"])
def test_palette_and_pixels_tell_the_same_colours(name, dark):
    points = palette()[name]["dark" if dark else "light"]
    assert [point[0] for point in points] == sorted(point[0] for point in points)
    assert (points[0][0], points[-1][0]) == (0, 1)
    for t, *color in points:
        value = np.float64(t if name == "sequential" else 2 * t - 1)
        pixel = (sequential if name == "sequential" else diverging)(value, dark=dark)
        assert pixel[:3].tolist() == color


def test_palette_is_json():
    assert json.loads(json.dumps(palette(), allow_nan=False)) == palette()
