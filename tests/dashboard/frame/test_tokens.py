from __future__ import annotations

import re
from pathlib import Path

import pytest

TEXT = (
    Path(__file__).resolve().parents[3] / "static" / "css" / "tokens.css"
).read_text()
Palette = dict[str, str]
PAIRS = re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", TEXT)
LIGHT: Palette = {name: light for name, light, _ in PAIRS}
DARK: Palette = {name: dark for name, _, dark in PAIRS}
INKS = ["ink", "ink-2", "ink-3", "accent", "ok", "warn", "crit", "unk"]
GROUNDS = ["bg", "surface", "raised", "sunken"]


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4
        for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def test_every_colour_is_given_once_for_light_and_for_dark() -> None:
    assert len(LIGHT) == len(PAIRS) > 0
    assert TEXT.count("#") == 2 * len(PAIRS)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("ink", INKS)
def test_text_can_be_read_on_every_surface(
    palette: Palette, ink: str, ground: str
) -> None:
    assert contrast(palette[ink], palette[ground]) >= 4.5


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("state", ["ok", "warn", "crit", "unk"])
def test_states_can_be_read_on_their_soft_ground(palette: Palette, state: str) -> None:
    assert contrast(palette[state], palette[f"{state}-soft"]) >= 4.5


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("owner", range(1, 13))
def test_owners_stand_out_and_carry_their_letter(palette: Palette, owner: int) -> None:
    hue, ink = palette[f"owner-{owner}"], palette[f"owner-{owner}-ink"]
    assert contrast(hue, palette["surface"]) >= 3
    assert contrast(hue, ink) >= 4.5


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_heat_goes_one_way(palette: Palette) -> None:
    steps = [luminance(palette[f"heat-{step}"]) for step in range(7)]
    assert steps in (sorted(steps), sorted(steps, reverse=True))


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_borders_of_controls_can_be_seen(palette: Palette) -> None:
    assert contrast(palette["line-strong"], palette["surface"]) >= 3
