"""What rules raise is told as an error of the rules, by what it is and where it arose."""

from functools import cached_property

import pytest

from retrograde.games import LOSE, UNDECIDED, Game, RuleError
from retrograde.games.drawing import grid
from retrograde.games.drops import AROUND, Drops
from retrograde.games.hunt import Hunt
from retrograde.games.mills import Mills
from retrograde.games.points import alquerque
from retrograde.games.raised import asked, given_start
from retrograde.solver.conformance.check import check


class Heap(Game):
    """Take one, two or three from the heap; whoever takes the last one wins."""

    size: int = 5

    def generate_moves(self, heap):
        yield from range(1, min(3, heap) + 1)

    def do_move(self, heap, taken):
        return heap - taken

    def primitive(self, heap):
        return LOSE if heap == 0 else UNDECIDED


class Misspelt(Heap):
    @property
    def start(self):
        return self.sise


class MisspeltKept(Heap):
    @cached_property
    def start(self):
        return self.size.bit_lenght()


class MisspeltBoard(Heap):
    start = 5

    @property
    def board(self):
        return self.bord


class Kings(Drops):
    setup = "k../.../..K"
    steps = {"K": AROUND}  # noqa: RUF012  # as authors of rules write it
    to_move = "Kk"


class NoSetup(Drops):
    steps, to_move = Kings.steps, Kings.to_move


class NoSteps(Drops):
    setup, to_move = Kings.setup, Kings.to_move


class NoKings(Drops):
    setup, steps = Kings.setup, Kings.steps


class MisspeltLines(Mills):
    bits = to_move = "XO"
    board = grid(3, 3, {"X": "white disc", "O": "black disc"})
    men = 3

    @property
    def lines(self):
        return self.bord.in_a_row(3)


class NoPoints(Hunt):
    bits, to_move = "TG", "GT"
    board = alquerque(3, 3, {"T": "darkorange disc", "G": "white disc"})
    lairs = 0, 8
    goats, taken = 3, 2


COMPLAINTS = {
    Heap: "start: is missing; give the class the first position as its start",
    Misspelt: "start: raises AttributeError: 'Misspelt' object has no attribute 'sise' (test_raised.py, line ",
    MisspeltKept: "start: raises AttributeError: 'int' object has no attribute 'bit_lenght' (test_raised.py, line ",
    MisspeltBoard: "board: raises AttributeError: 'MisspeltBoard' object has no attribute 'bord' (test_raised.py, line",
    NoSetup: "start: needs setup, which NoSetup does not have",
    NoSteps: "start: needs steps, which NoSteps does not have",
    NoKings: "start: needs to_move, which NoKings does not have",
    MisspeltLines: "placements: raises AttributeError: 'MisspeltLines' object has no attribute 'bord' (test_raised.py",
    NoPoints: "placements: needs points, which NoPoints does not have",
}


@pytest.mark.parametrize("cls", COMPLAINTS, ids=lambda cls: cls.__name__)
def test_an_attribute_error_within_a_member_is_told_and_not_taken_for_its_absence(cls):
    findings = check(cls(), compiled=False).findings
    assert [str(finding).startswith(COMPLAINTS[cls]) for finding in findings] == [True], findings


def test_what_declares_all_of_it_passes():
    assert check(Kings(), limit=50, compiled=False).findings == []


def test_only_what_nobody_defines_is_not_there():
    assert given_start(Heap()) is None
    assert given_start(Kings()) == Kings().start
    assert asked(MisspeltLines(), "men") == 3
    with pytest.raises(AttributeError, match="bord"):
        asked(MisspeltLines(), "lines")
    with pytest.raises(RuleError, match=r"^test_raised, start: raises AttributeError: 'Misspelt' object has"):
        given_start(Misspelt())
