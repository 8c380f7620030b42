"""Time both ways to search: python benchmarks/search.py [VARIANT …]

For each variant the value of its start, by searches of their own in 64 MiB on one thread, after the rules are compiled:
by proof numbers, and by alpha-beta where play comes to an end. A VARIANT that ends in `.py`, options behind a colon or
not, is a file of rules.
"""

import sys
import time
from pathlib import Path

from retrograde.games.catalog import load_game
from retrograde.solver.search.prover import ProofNumberSearch, can_repeat
from retrograde.solver.search.searcher import Search, SearchResult

SIZE = 1 << 26
RULES = Path(__file__).parent.parent / "tests" / "helpers"
VARIANTS = [
    "connect4:5,4",
    "dodgem:4",
    f"{RULES / 'hex.py'}:4",
    f"{RULES / 'mnk.py'}:4,4,4",
    f"{RULES / 'domineering.py'}:6,6",
]


def main() -> None:
    print(f"{'':24} {'':10} {'value':>8} {'positions':>12} {'CPU s':>8} {'k/s':>8}")
    for text in sys.argv[1:] or VARIANTS:
        game, name = load_game(text), text.rpartition("/")[2]
        tell(name, "pn", *by_proof_numbers(game))
        if not can_repeat(game, game.start):  # where alpha-beta proves no draw by endless play
            tell(name, "alpha-beta", *by_alpha_beta(game))


def by_proof_numbers(game) -> tuple[SearchResult, float]:
    """Return what proof-number search finds, and the CPU seconds that it takes."""
    ProofNumberSearch(game, SIZE).find(game.start, seconds=0.01)  # the first call links what was compiled
    prover = ProofNumberSearch(game, SIZE)
    began = time.process_time()
    return prover.find(game.start), time.process_time() - began


def by_alpha_beta(game) -> tuple[SearchResult, float]:
    """Return what alpha-beta search finds, and the CPU seconds that it takes."""
    Search(game, 1, SIZE).find(game.start, 0.01, distance=False)
    search = Search(game, 1, SIZE)
    began = time.process_time()
    return search.find(game.start, distance=False), time.process_time() - began


def tell(name: str, method: str, found: SearchResult, spent: float) -> None:
    """Print how a search went."""
    value = found.value.name if found.value else "?"
    rate = found.nodes / spent / 1000
    print(f"{name:24} {method:10} {value:>8} {found.nodes:12,} {spent:8.2f} {rate:8.0f}", flush=True)


if __name__ == "__main__":
    main()
