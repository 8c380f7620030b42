"""Solves of games whose positions may never end say that there are still more, and by how many a wave."""

import re

import pytest

from retrograde.games import LOSE, UNDECIDED, Game
from retrograde.solver import solve
from retrograde.solver.runtime import progress
from retrograde.solver.runtime.memory import MemoryLimit, reserve, used_memory
from retrograde.solver.runtime.sizes import Sizes
from tests.helpers.marks import thorough

pytestmark = pytest.mark.long

STILL = re.compile(
    r"the number of positions is still growing: [\d,]+ after [\d,]+ waves, [\d,]+ of them new in the last one; "
    r"if play goes on to ever new positions, stop the solve with Ctrl-C and give the rules a limit"
)


class Up(Game):
    """Count up, one by one or, with a step, as the nodes of a tree; too large numbers are lost."""

    start = 1
    step: int = 1

    def generate_moves(self, position):
        yield 0
        if self.step:
            yield 1

    def do_move(self, position, move):
        return 2 * position + move if self.step else position + 1

    def primitive(self, position):
        return LOSE if position >= (1 << 12 if self.step else 1000) else UNDECIDED


class Tiered(Up):
    def tier(self, position):
        return position.bit_length()


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(progress, "FIRST_WARNING", 0.0)


@pytest.mark.parametrize(
    ("game", "way"),
    [(Up(0), "interpreted"), thorough((Up(1), "interpreted")), (Up(1), "listed"), (Tiered(1), "streamed")],
)
def test_it_is_said_that_positions_are_still_growing(game, way, tmp_path):
    with pytest.warns(UserWarning, match=STILL):
        solve(game, tmp_path / "up.h5", method=way, sizes=Sizes(in_memory=1) if way == "streamed" else None)


def test_it_is_said_once_and_then_ever_more_rarely(monkeypatch):
    clock = iter([0.0, 1.0, 9.0, 20.0, 60.0, 65.0])
    monkeypatch.setattr(progress, "FIRST_WARNING", 8.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    waves = progress.Growth()
    told = []
    monkeypatch.setattr(progress.warnings, "warn", lambda text, stacklevel: told.append(re.findall(r"\d+", text)))
    for known in range(1, 6):
        waves.count_wave(10, 10 * known)
    assert told == [["20", "2", "10"], ["50", "5", "10"]]


class Endless(Up):
    def primitive(self, position):
        return UNDECIDED


@pytest.mark.thorough
def test_a_game_without_end_says_so_before_memory_is_out(tmp_path):
    with pytest.warns(UserWarning, match="still growing"), pytest.raises(MemoryLimit):
        solve(Endless(0), tmp_path / "up.h5", method="interpreted", memory=used_memory() + reserve() + 20_000_000)
