"""Three men against three on the board of nine men's morris, all flying: solved by arrays, without a numbering, without
symmetry, and on a board of its own."""

from functools import reduce
from itertools import combinations

import numpy as np

from retrograde.games import DRAW, LOSE, WIN

TRIPLES = list(combinations(range(24), 3))
"""Points by rings of eight, corners first."""
SIDES = [{8 * ring + (corner + step) % 8 for step in range(3)} for ring in range(3) for corner in (0, 2, 4, 6)]
MILLS = SIDES + [{point, point + 8, point + 16} for point in (1, 3, 5, 7)]


def some(matrices):
    """Return where any of some matrices is true."""
    return reduce(np.logical_or, matrices)


def counts():
    """Return how many positions have each value, with either player to move, and the most plies to an end."""
    number = {triple: at for at, triple in enumerate(TRIPLES)}
    bits = np.array([sum(1 << point for point in triple) for triple in TRIPLES])
    mill = np.array([set(triple) in MILLS for triple in TRIPLES])
    apart = bits[:, None] & bits == 0
    moves = np.array([
        [number[tuple(sorted({*triple, to} - {source}))] for source in triple for to in range(24) if to not in triple]
        for triple in TRIPLES
    ])  # fmt: skip
    plies = np.full(apart.shape, -1, np.int16)  # by the men of who is to move, and the other's: odd where it is won
    plies[apart & some(mill[after][:, None] & apart[after] for after in moves.T)] = 1
    longest, found = 1, True
    while found:
        longest += 1
        new = apart & (plies < 0)
        if longest % 2:
            new &= some(apart[after] & (longest - 1 == plies[:, after].T) for after in moves.T)
        else:
            bad = (plies < 0) | (plies % 2 == 0)
            new &= ~some(apart[after] & bad[:, after].T for after in moves.T)
        plies[new] = longest
        found = new.any()
    ended = apart & (plies > 0)
    values = {WIN: ended & (plies % 2 == 1), LOSE: ended & (plies % 2 == 0), DRAW: apart & (plies < 0)}
    return {value: 2 * int(there.sum()) for value, there in values.items()}, longest - 1
