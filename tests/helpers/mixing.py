"""Numbers that look random and are the same everywhere: what random games are made of."""


def mix(number):
    """Return a number below 2**15 that looks random."""
    for _ in range(3):
        number = number * 1103515245 + 12345 & 0x7FFFFFFF
    return number >> 16
