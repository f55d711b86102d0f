"""The colours of the report: contrast, and difference for colour-blind readers.

A browser's checker judges neither the text and the marks of an SVG nor colour vision,
so the tokens of style.css are judged here, light and dark.
"""

import itertools
import math
import re

import pytest

from report.page import identity
from report.page.frame import TEMPLATE_DIR

Colour = tuple[float, float, float]
Matrix = tuple[Colour, Colour, Colour]

STYLE = (TEMPLATE_DIR / "style.css").read_text("utf-8")
ENGINES = [f"e{i}" for i in range(identity.COLOURS)]
HEAT_STRENGTH = 0.3
# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
VISION: dict[str, Matrix] = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanope": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranope": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanope": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def tokens(start: str, style: str = STYLE) -> dict[str, Colour]:
    """Return the colours of the block that begins with `start`."""
    block = style[style.index(start) :].split("}")[0]
    matches = re.findall(r"--([\w-]+): (#[0-9a-f]{6}|\d+,\d+,\d+);", block)
    return {name: colour(text) for name, text in matches}


def colour(text: str) -> Colour:
    if text.startswith("#"):
        r, g, b = (int(text[i : i + 2], 16) / 255 for i in (1, 3, 5))
    else:
        r, g, b = (int(part) / 255 for part in text.split(","))
    return r, g, b


def linear(channel: float) -> float:
    if channel <= 0.04045:
        return channel / 12.92
    return float(((channel + 0.055) / 1.055) ** 2.4)


def contrast(first: Colour, second: Colour) -> float:
    weights = (0.2126, 0.7152, 0.0722)
    light = sorted(
        sum(w * linear(c) for w, c in zip(weights, rgb, strict=True))
        for rgb in (first, second)
    )
    return (light[1] + 0.05) / (light[0] + 0.05)


def seen(rgb: Colour, matrix: Matrix) -> Colour:
    """Return the CIELAB values of a colour as an eye with `matrix` sees it."""
    flat = [linear(c) for c in rgb]
    r, g, b = (
        min(1.0, max(0.0, sum(m * c for m, c in zip(row, flat, strict=True))))
        for row in matrix
    )
    xyz = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883,
    )
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


LIGHT = tokens(":root {")
THEMES = {
    "light": LIGHT,
    "dark": LIGHT | tokens(":root[data-theme=dark] {"),
}


@pytest.fixture(params=THEMES)
def theme(request: pytest.FixtureRequest) -> dict[str, Colour]:
    return THEMES[request.param]


def test_both_ways_into_the_dark_have_the_same_colours() -> None:
    chosen = tokens(":root[data-theme=dark] {")
    assert chosen == tokens(":root:not([data-theme=light]) {")
    assert set(chosen) == set(LIGHT)


def test_text_has_contrast(theme: dict[str, Colour]) -> None:
    for text in ("ink", "ink2", "ink3", "acc", "bad", "warn", *ENGINES):
        for ground in ("bg", "bg2", "card"):
            ratio = contrast(theme[text], theme[ground])
            assert ratio >= 4.5, f"{text} on {ground}: {ratio:.2f}"
    assert contrast(theme["warn"], theme["warnbg"]) >= 4.5


def test_marks_have_contrast(theme: dict[str, Colour]) -> None:
    for engine in ENGINES:
        assert contrast(theme[engine], theme["track"]) >= 3, engine


def test_the_rate_over_time_has_contrast(theme: dict[str, Colour]) -> None:
    """The area under the rate is paler than a bar; the stalls are not."""
    match = re.search(r"\.spark path \{[^}]*fill-opacity: (\.\d+)", STYLE)
    assert match
    strength = float(match[1])
    for engine in ENGINES:
        pairs = zip(theme[engine], theme["track"], strict=True)
        r, g, b = (c * strength + t * (1 - strength) for c, t in pairs)
        assert contrast((r, g, b), theme["track"]) >= 3, engine
    assert contrast(theme["bad"], theme["card"]) >= 3


def test_text_on_the_strongest_heat_has_contrast(theme: dict[str, Colour]) -> None:
    assert f"calc(var(--h) * {HEAT_STRENGTH:g})".replace("0.", ".") in STYLE
    pairs = zip(theme["heat"], theme["bg"], strict=True)
    r, g, b = (h * HEAT_STRENGTH + w * (1 - HEAT_STRENGTH) for h, w in pairs)
    for text in ("ink", "ink2"):
        assert contrast(theme[text], (r, g, b)) >= 4.5, text


def test_verdicts_have_contrast_and_both_ways_into_the_dark() -> None:
    style = (TEMPLATE_DIR / "two_builds/regressions.css").read_text("utf-8")
    dark = tokens(":root[data-theme=dark] {", style)
    assert dark == tokens(":root:not([data-theme=light]) {", style)
    tokens_by_theme = {"light": tokens(":root {", style), "dark": dark}
    for name, theme in THEMES.items():
        both = theme | tokens_by_theme[name]
        for verdict in ("good", "bad", "warn", "ink3"):
            for ground in ("bg", "card"):
                assert contrast(both[verdict], both[ground]) >= 4.5, (name, verdict)
            assert contrast(both[verdict], both["band"]) >= 3, (name, verdict)
        assert contrast(both["ink"], both["warnbg"]) >= 4.5


@pytest.mark.parametrize("eye", VISION)
def test_engine_colours_differ_for_every_kind_of_vision(
    theme: dict[str, Colour], eye: str
) -> None:
    for first, second in itertools.combinations(ENGINES, 2):
        distance = math.dist(
            seen(theme[first], VISION[eye]), seen(theme[second], VISION[eye])
        )
        assert distance >= 18, f"{first} and {second}: {distance:.0f}"
