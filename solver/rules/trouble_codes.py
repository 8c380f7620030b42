"""Codes by which a kernel reports a fault of the rules; the caller raises the error that describes it."""

from enum import IntEnum


class Trouble(IntEnum):
    """How a kernel call ended. Codes up to BAD_PARENTS are breaches of the contract at the position in `trouble[1]`."""

    FINE = 0
    NO_MOVES = 1
    OUT_OF_RANGE = 2
    TIER_FALLS = 3
    BAD_PRIMITIVE = 4
    BAD_TIER = 5
    BAD_MOVE = 6
    BAD_IMAGES = 7
    BAD_INDEX = 8
    """index() returns a number that is not a slot of the tier."""
    BAD_PARENTS = 9
    """parents() returns positions other than those from which a move leads here."""
    NO_ROOM = 10
    """An output array is full; the caller enlarges it and calls the kernel again."""
    BROKEN = 11
    """The rules break the contract in some way; calling the interpreted rules shows how."""
    OTHER_TIER = 12
    """A move leads to another tier than the same move does elsewhere in this tier."""
    UNSORTED = 13
    """The children by one move do not ascend although the caller relies on that order."""
    LOST = 14
    """A child is not among the solved positions."""
    UNSOLVED = 15
    """A move leads to a tier that is not solved yet."""
