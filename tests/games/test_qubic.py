"""The benchmark file of tic-tac-toe on 4 × 4 × 4 cells: positions of three words, held against a slow solver."""

import pytest

from retrograde.games.catalog import load_game
from retrograde.solver import open_solution, solve
from retrograde.solver.verification.verify import verify
from tests.helpers import reference
from tests.helpers.paths import ROOT


def qubic(empty):
    return load_game(f"{ROOT / 'benchmarks' / 'qubic_end.py'}:empty={empty}")


@pytest.mark.parametrize("empty", [8, pytest.param(10, marks=pytest.mark.thorough)])
def test_values_are_those_of_a_slow_solver(empty, tmp_path):
    game = qubic(empty)
    assert len(game.start) == 3 and len(game.lines) == 76 and max(game.lines) >= 1 << 63
    known = reference.solve(game)
    for method in ("interpreted", *(("listed",) if empty > 8 else ())):
        with open_solution(solve(game, tmp_path / f"{method}.h5", method=method), game=game) as solution:
            assert sum(row.positions for row in solution.database.file.legend) == len(known)
            assert all(solution.value(position) == value for position, value in known.items())
            assert verify(solution.database).ok
