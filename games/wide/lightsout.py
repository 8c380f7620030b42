"""Lights Out with more lights than can be solved at once, to play: one int has room for 62."""

from retrograde.games.contract.game import POSITION_BITS
from retrograde.games.lightsout import LightsOut


class LargeLightsOut(LightsOut):
    """Press lights until all are out. Each press switches the light and its neighbours on or off."""

    name = "lightsout"

    def __post_init__(self):
        if not (self.width >= 1 and self.height >= 1 and 2 <= self.lights <= POSITION_BITS):
            raise ValueError(f"width and height must be at least 1, and there be 2 to {POSITION_BITS} lights")
