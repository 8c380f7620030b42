"""Puzzles solved by tables of orders and turns: the same bytes as slot by slot, and tables compared with the rules."""

from concurrent.futures import ProcessPoolExecutor
from functools import cached_property
from random import Random

import numpy as np
import pytest

from retrograde.databases import open_database
from retrograde.games import LOSE, UNDECIDED, WIN, Game, RuleError
from retrograde.games.catalog import load_game
from retrograde.games.cube import CubePart
from retrograde.games.pocketcube import PocketCube
from retrograde.solver.conformance.check import check
from retrograde.solver.engine import solve
from retrograde.solver.methods.numbered import by_orders, by_slots
from retrograde.solver.methods.numbered.orientations import is_oriented, subtract
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.verification.verify import verify
from tests.helpers.command_line import LATE
from tests.helpers.marks import thorough, thorough_but

pytestmark = pytest.mark.long


class Wreath(Game):
    """Random moves of orders and turns: each order goes to another, and the turns change by a table and by a sum."""

    name = "wreath"
    players = 1
    tiers = (0,)
    orders = 50

    seed: int = 0
    states: int = 3
    digits: int = 2
    moves: int = 3
    wins: int = 4
    """How many positions are goals."""
    losses: int = 0

    @property
    def orientations(self):
        return self.states, self.digits

    @cached_property
    def turns(self):
        return self.states**self.digits

    @cached_property
    def after(self):
        """For each move and slot, the next slot."""
        chance, found = Random(self.seed), []
        for _ in range(self.moves):
            orders, table = chance.sample(range(self.orders), self.orders), chance.sample(range(self.turns), self.turns)
            sums = [
                [sum((a // n + b // n) % self.states * n for n in map(self.states.__pow__, range(self.digits)))
                 for a in table]
                for b in (chance.randrange(self.turns) for _ in range(self.orders))
            ]  # fmt: skip
            found += [orders[order] * self.turns + turns for order in range(self.orders) for turns in sums[order]]
        return tuple(found)

    @cached_property
    def ends(self):
        slots = Random(self.seed).sample(range(self.size(0)), self.wins + self.losses)
        values = dict(zip(slots, [WIN] * self.wins + [LOSE] * self.losses, strict=True))
        return tuple(int(values.get(slot, UNDECIDED)) for slot in range(self.size(0)))

    def generate_moves(self, position):
        yield from range(self.moves)

    def do_move(self, position, move):
        return self.after[move * self.orders * self.turns + position]

    def primitive(self, position):
        return self.ends[position]

    def size(self, tier):
        return self.orders * self.turns

    def index(self, position):
        return position

    def unindex(self, tier, i):
        return i


class Twister(PocketCube):
    """The pocket cube with another split of the slot: the first twist counts as part of the order."""

    faces: int = 2

    @property
    def orientations(self):
        return 3, self.twisted - 1


class Sticky(Wreath):
    """The same, but from some turns of late orders, from which no table is measured, the first move does nothing."""

    orientations = Wreath.orientations

    def do_move(self, position, move):
        return position if move == 0 and position > 99 and position % 9 > 3 else super().do_move(position, move)


GAMES = [
    *(Wreath(seed) for seed in range(4)),
    Wreath(4, states=2, digits=5, moves=2),
    Wreath(5, states=7, digits=1, moves=1),
    Wreath(6, wins=60),
]
CUBES = [thorough(load_game(name)) for name in ("cube:URF-UFL", "pocketcube:faces=2", "cube:UR-UF")]


def bytes_by_slot(game, folder):
    return solve(game, folder / "slots.h5", method="numbered", fresh=True).read_bytes()


@pytest.mark.parametrize("game", thorough_but([*GAMES, *CUBES], GAMES[0], GAMES[4], GAMES[5]), ids=str)
def test_same_bytes_as_slot_by_slot(game, tmp_path, monkeypatch):
    expected = bytes_by_slot(game, tmp_path)
    monkeypatch.setattr(by_slots, "solve_by_slots", None)
    path = solve(game, tmp_path / "orders.h5", method="setwise", fresh=True)
    assert path.read_bytes() == expected
    with open_database(path, game=game) as database:
        verify(database)


def test_same_bytes_in_scratch_in_processes_and_with_more_bits(tmp_path, monkeypatch):
    game = Wreath(1, wins=1)
    expected = bytes_by_slot(game, tmp_path)
    monkeypatch.setattr(by_slots, "solve_by_slots", None)
    monkeypatch.setattr(by_orders, "BLOCK", 100)
    monkeypatch.setattr(by_orders, "SAMPLE", 2)
    for number, sizes in enumerate((Sizes(scores_in_scratch=True), Sizes(plies_bits=(3, 14)))):
        path = solve(game, tmp_path / f"{number}.h5", method="setwise", sizes=sizes)
        assert path.read_bytes() == expected
    with ProcessPoolExecutor(1) as processes:
        assert solve(game, tmp_path / "2.h5", method="setwise", executor=processes).read_bytes() == expected


@pytest.mark.parametrize("game", [Wreath(2, losses=3), Wreath(2, wins=450), Wreath(2, wins=400)], ids=str)
def test_other_puzzles_are_solved_slot_by_slot(game, tmp_path):
    expected = bytes_by_slot(game, tmp_path)
    assert solve(game, tmp_path / "orders.h5", method="setwise").read_bytes() == expected


@pytest.mark.parametrize("game", [Twister(), Sticky()], ids=["split", "sticky"])
def test_orientations_that_differ_from_the_rules_are_refused(game, tmp_path):
    with pytest.raises(RuleError, match=r"orientations.* differ from the other rules; correct them or leave them out"):
        solve(game, tmp_path / "wrong.h5", method="setwise")


def test_check_compares_orientations_with_moves():
    report = check(Twister(), compiled=False)
    assert {finding.rule for finding in report.findings} == {"orientations"}
    report = check(PocketCube(faces=2), limit=60, seconds=LATE, compiled=False)
    assert not report.findings
    assert report.checks["orientations"] > 50


def test_orientations_are_not_inherited():
    class Own(PocketCube):
        """A class that may have other rules."""

    assert is_oriented(PocketCube())
    assert is_oriented(CubePart("corners"))
    assert not is_oriented(CubePart("URF-UR"))
    assert not is_oriented(Own())


def test_orientations_that_are_no_pair_are_refused(tmp_path):
    class Single(PocketCube):
        orientations = 3

    with pytest.raises(RuleError, match=r"orientations are 3; give a pair of ints, as in \(3, 6\), or \(\)"):
        solve(Single(), tmp_path / "wrong.h5")


def test_digits_are_subtracted_without_carry():
    for states, digits in ((2, 4), (3, 3), (10, 2)):
        numbers = np.arange(states**digits)
        for a, row in enumerate(subtract(numbers[:, None], numbers, states).tolist()):
            for b, found in enumerate(row):
                units = [states**k for k in range(digits)]
                assert found == sum((a // unit - b // unit) % states * unit for unit in units)
