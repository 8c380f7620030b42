"""What rules raise is told as an error of the rules, by what it is and where it arose."""

from functools import cached_property
from pathlib import Path

import pytest

from retrograde.cli.failure import explain
from retrograde.games import LOSE, UNDECIDED, Game, RuleError
from retrograde.games.catalog import load_game
from retrograde.games.contract.drawing import grid
from retrograde.games.contract.raised import given_start, optional_member
from retrograde.games.kinds.captures import Captures
from retrograde.games.kinds.mills import Mills
from retrograde.games.kinds.placed import placements
from retrograde.games.kinds.points import alquerque
from retrograde.games.kinds.sliding import Sliding, joined
from retrograde.solver.conformance.check import check
from tests.helpers.command_line import HEAP, retrograde


class Heap(Game):
    """Take one, two or three from the heap; the player who takes the last one wins."""

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


class MisspeltLines(Mills):
    bits = to_move = "XO"
    board = grid(3, 3, {"X": "white disc", "O": "black disc"})
    men = 3

    @property
    def lines(self):
        return self.bord.in_a_row(3)


class NoWays(Captures):
    bits = to_move = "XO"
    start = 0b111_100_000 | 0b000_001_111 << 9
    board = alquerque(3, 3, {"X": "black disc", "O": "white disc"})
    placements = placements(9, [(0, (x, o)) for x in range(5) for o in range(5)], swap=(1, 0))
    steps = 8

    def target(self, point, step):
        return self.ways[point][step]

    def taken(self, theirs, point, step):
        return 0

    def plain(self, step):
        return True


COMPLAINTS = {
    Heap: "start: is missing; give the class the first position as its start",
    Misspelt: "start: raises AttributeError: 'Misspelt' object has no attribute 'sise' (test_raised.py, line ",
    MisspeltKept: "start: raises AttributeError: 'int' object has no attribute 'bit_lenght' (test_raised.py, line ",
    MisspeltBoard: "board: raises AttributeError: 'MisspeltBoard' object has no attribute 'bord' (test_raised.py, line",
    MisspeltLines: "placements: raises AttributeError: 'MisspeltLines' object has no attribute 'bord' (test_raised.py",
    NoWays: "primitive at .OX/.O./XOX/X: needs ways, which NoWays does not have",
}


@pytest.mark.parametrize("cls", COMPLAINTS, ids=lambda cls: cls.__name__)
def test_what_a_member_raises_is_told_and_not_taken_for_its_absence(cls):
    findings = check(cls(), compiled=False).findings
    assert [str(finding).startswith(COMPLAINTS[cls]) for finding in findings] == [True], findings


def test_only_what_nobody_defines_is_not_there():
    assert given_start(Heap()) is None
    assert given_start(load_game("nim")) == load_game("nim").start
    assert optional_member(MisspeltLines(), "men") == 3
    with pytest.raises(AttributeError, match="bord"):
        optional_member(MisspeltLines(), "lines")
    with pytest.raises(RuleError, match=r"^test_raised, start: raises AttributeError: 'Misspelt' object has"):
        given_start(Misspelt())


MILLS = """
from retrograde.games.contract.drawing import grid
from retrograde.games.kinds.mills import Mills

class Mine(Mills):
    bits = to_move = "XO"
    board = grid(2, 2, {"X": "white disc", "O": "black disc"})
    lines = grid(3, 3).in_a_row(3)
    men = 3
"""


def test_what_fails_in_a_class_of_ours_that_rules_are_derived_from_fails_in_the_rules(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(MILLS)
    game = load_game(str(file))
    with pytest.raises(IndexError) as error:
        game.move_name(game.start, 8)
    assert explain(error.value).message.startswith("error: the rules raise IndexError: ")
    assert "mills.py, line " in explain(error.value).message


def test_what_fails_in_games_of_ours_is_a_fault_of_ours():
    with pytest.raises(TypeError) as error:
        load_game("nim").do_move("", 1)
    assert "this is a fault of retrograde" in explain(error.value).message


WIDE = HEAP.replace("heap - taken", "heap + (1 << 70)")


@pytest.mark.parametrize("command", [["solve"], ["solve", "--estimate"], ["query"], ["search"], ["prove"]])
def test_every_command_says_of_rules_that_break_the_contract_what_check_says(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    Path("heap.py").write_text(WIDE)
    said = retrograde(*command, "./heap.py", status=1).stderr
    assert "heap breaks the contract: do_move at 10: for the move 1 it gives 1180591620717411303434, but" in said


# Of a numbering, the start as well


class Hem(Sliding):
    """Slide one of your three men to an empty cell beside it; whoever cannot has lost."""

    bits = to_move = "XO"
    start = 0b000_000_111 << 9 | 0b111_000_000
    board = grid(3, 3, {"X": "black disc", "O": "white disc"})
    placements = placements(9, [(0, (3, 3))], grid(3, 3).symmetries, swap=(1, 0))
    beside = joined(9, [pair for pair in grid(3, 3).in_a_row(2) if pair[1] - pair[0] in (1, 3)])

    def generate_moves(self, position):
        mine, theirs = self.sides(position)
        for source in range(9):
            for target in range(9):
                if mine >> source & self.beside[source] >> target & ~(mine | theirs) >> target & 1:
                    yield 9 * source + target

    def do_move(self, position, move):
        return position ^ (1 << move // 9 | 1 << move % 9) << 9 * (position >> 18) ^ 1 << 18

    def draw_move(self, position, move):
        return divmod(move, 9)

    def slides(self, men, number):
        return [(0, 1, self.beside)]


class ManTooFew(Hem):
    start = 0b000_000_111 << 9 | 0b011_000_000


class TwoOnACell(Hem):
    start = 0b000_000_111 << 9 | 0b000_000_111


class NumberBeyond(Hem):
    def index(self, position):
        return 10**6 if position == self.start else super().index(position)


STARTS = {
    Hem: [],
    ManTooFew: ["start at OOO/.../XX./X: is 3776 and has no slot, for there is no tier -1; let it have as"],
    TwoOnACell: [
        "start at OOO/.../.../X: is 3591 and has no slot, for there is no tier -1; let it have as many men as"
    ],
    NumberBeyond: ["start at OOO/.../XXX/X: is 4032 and has no slot: index() gives 1000000, and size(0) is "],
}


@pytest.mark.parametrize("cls", STARTS, ids=lambda cls: cls.__name__)
def test_the_start_of_a_numbered_game_has_a_slot(cls):
    report = check(cls(), limit=100, compiled=False)
    assert report.checks["start"] == 1
    assert [str(finding)[: len(begin)] for finding, begin in zip(report.findings, STARTS[cls], strict=True)] == STARTS[
        cls
    ]
