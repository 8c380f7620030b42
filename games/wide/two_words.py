"""Positions of two words: the two parts of an int that is too long for compiled code."""

from typing import Any


class TwoWords:
    """Base class for games that declare `low_bits`, the number of bits of the first word."""

    low_bits: Any

    def split(self, number):
        """Return both words of a position of one int."""
        return number & (1 << self.low_bits) - 1, number >> self.low_bits

    def joined(self, position):
        """Return both words as one int, for people: Python's ints have any length."""
        return position[0] | position[1] << self.low_bits
