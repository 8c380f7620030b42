"""Time proof-number search: python benchmarks/search.py [VARIANT …]

For each variant the value of its start, by a search of its own in 64 MiB, after the rules are compiled. A VARIANT that
ends in `.py`, options behind a colon or not, is a file of rules.
"""

import sys
import time
from pathlib import Path

from retrograde.games.catalog import load_game
from retrograde.solver.search.prover import Prover

SIZE = 1 << 26
RULES = Path(__file__).parent.parent / "tests"
VARIANTS = [
    "connect4:5,4",
    "dodgem:4",
    f"{RULES / 'hex.py'}:4",
    f"{RULES / 'mnk.py'}:4,4,4",
    f"{RULES / 'domineering.py'}:6,6",
]


def main() -> None:
    print(f"{'':24} {'value':>8} {'positions':>12} {'CPU s':>8} {'k/s':>8}")
    for text in sys.argv[1:] or VARIANTS:
        game = load_game(text)
        prover = Prover(game, SIZE)
        prover.find(game.start, seconds=0.01)  # the first call links what was compiled
        prover = Prover(game, SIZE)
        began = time.process_time()
        found = prover.find(game.start)
        spent = time.process_time() - began
        value = found.value.name if found.value else "?"
        rate = found.nodes / spent / 1000
        print(f"{text.rpartition('/')[2]:24} {value:>8} {found.nodes:12,} {spent:8.2f} {rate:8.0f}", flush=True)


if __name__ == "__main__":
    main()
