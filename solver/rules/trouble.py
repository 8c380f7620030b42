"""What a kernel that asks rules may find: how it ended, as all kernels say it."""

from enum import IntEnum


class Trouble(IntEnum):
    """Anything but FINE breaks the contract, at the position in `trouble[1]`; the last five need not."""

    FINE = 0
    NO_MOVES = 1
    OUT_OF_RANGE = 2
    TIER_FALLS = 3
    BAD_PRIMITIVE = 4
    BAD_TIER = 5
    BAD_MOVE = 6
    BAD_IMAGES = 7
    BAD_INDEX = 8
    """index() gives what is no slot of the tier."""
    BAD_PARENTS = 9
    """parents() gives others than those from which moves lead there."""
    NO_ROOM = 10
    """What was to be written to is full; the kernel is called again with more."""
    BROKEN = 11
    """The rules break the contract in some way; the interpreted ones will say in which."""
    OTHER_TIER = 12
    """A move leads to another tier than it does elsewhere in the same one."""
    UNSORTED = 13
    """Children by one move do not ascend where it was taken for granted that they do."""
    LOST = 14
    """A child was not found among the positions that are solved."""
    UNSOLVED = 15
    """A move leads to a tier that is not solved yet."""
