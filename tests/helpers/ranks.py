"""Solves games on the ranks of an MPI job; run as `mpiexec -n 3 python -m tests.helpers.ranks FOLDER VARIANT:WAY …`."""

import sys
from pathlib import Path

from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.runtime.cluster.mpi import ranks
from tests.helpers.solving import small_enough


def main(folder: str, *asked: str) -> None:
    with ranks() as executor:
        for number, one in enumerate(asked if executor else ()):
            variant, _, way = one.rpartition("/")
            path = Path(folder) / f"{number}.h5"
            solve(load_game(variant), path, method=way, sizes=small_enough(way), executor=executor)


if __name__ == "__main__":
    main(*sys.argv[1:])
