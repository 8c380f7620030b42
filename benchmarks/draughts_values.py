"""How many bits a position who wins alone would take, of draughts endings that are solved with distances.

    retrograde solve draughts:5
    python benchmarks/draughts_values.py draughts:5

Won, drawn or lost, a byte for each slot in the order of the numbering, are compressed by zstd in pieces, each to be
read by itself. `filled`: where the player to move can capture, who wins is what the slot before says, whatever that
is, for one search tells it; so Chinook's databases leave such positions out.
"""

import sys

import numpy as np
import zstandard

from retrograde.databases import open_database
from retrograde.solver.rules import compiled
from retrograde.solver.runtime.kernel import kernel

PIECES = 1 << 16, 1 << 20
"""Slots that are compressed together."""
LEVEL = 19


@kernel
def fill(game, tier, first, values):
    """Give the slots of a tier, from number *first* on, in which there is a capture the value before; return how many
    there are."""
    count = 0
    for i in range(len(values)):
        position = game.unindex(tier, first + i)
        for move in game.generate_moves(position):
            if move >> 5 & 15:
                values[i] = values[max(i - 1, 0)]
                count += 1
            break
    return count


def packed(values: np.ndarray) -> dict[int, int]:
    """Return the bytes that values take, by the slots in a piece."""
    squeeze = zstandard.ZstdCompressor(level=LEVEL)
    return {
        size: sum(len(squeeze.compress(values[at : at + size].tobytes())) for at in range(0, len(values), size))
        for size in PIECES
    }


def main() -> None:
    """Print bits a position."""
    slots = captures = 0
    plain, filled = dict.fromkeys(PIECES, 0), dict.fromkeys(PIECES, 0)
    with open_database(sys.argv[1]) as database:
        rules = database.game.family
        compiled.prepare(rules)
        values_of = np.array([int(row.value) for row in database.file.legend], np.uint8)
        for tier in database.game.tiers:
            first = 0
            for rows in database.tier_rows(tier):
                values = values_of[rows]
                for size, found in packed(values).items():
                    plain[size] += found
                captures += fill(rules, tier, first, values)
                for size, found in packed(values).items():
                    filled[size] += found
                first += len(values)
            slots += first
    print(f"{sys.argv[1]}: {slots:,} slots, {captures / slots:.1%} of them with a capture")
    for size in PIECES:
        plainly, better = (8 * found[size] / slots for found in (plain, filled))
        print(f"  {size:,} slots together: {plainly:.3f} bits a slot, filled {better:.3f}")


if __name__ == "__main__":
    main()
