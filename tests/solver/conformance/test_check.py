"""The conformance test: every game of ours passes, and each kind of broken rule is found and told as what it is."""

import os
import sys
import time
from itertools import count

import pytest

from retrograde.games import LOSE, TIE, UNDECIDED, Game
from retrograde.games.catalog import BUILT_IN, game_class, load_game
from retrograde.games.catalog import variant as text_of
from retrograde.games.contract.drawing import Board, grid
from retrograde.games.tictactoe import TicTacToe
from retrograde.solver.conformance.check import EndlessRules, check, raise_after
from tests.helpers.command_line import LATE

OTHERS = ["connect4:4,3,3", "dodgem:2", "hareandhounds:5,yes", "tentozero:30,2+5", "tictactoe:misere", "tictactoe:4"]


class Heap(Game):
    """Take one or two from the heap; the player who takes the last one wins. Most games below are this with one fault.

    A position is twice the heap, plus 1 after a move of two; the two that differ only in that are symmetric.
    """

    size: int = 9

    @property
    def start(self):
        return 2 * self.size

    def generate_moves(self, position):
        yield 1
        if position >> 1 > 1:
            yield 2

    def do_move(self, position, move):
        return ((position >> 1) - move) * 2 + (move == 2)

    def primitive(self, position):
        return LOSE if position < 2 else UNDECIDED

    def images(self, position):
        yield position ^ 1

    def tier(self, position):
        return self.size - (position >> 1)

    def write(self, position):
        return f"{position >> 1}{'ab'[position & 1]}"

    def read(self, text):
        return 2 * int(text[:-1]) + "ab".index(text[-1])

    def move_name(self, position, move):
        return f"take{move}"


# Games that keep the contract


ALIKE = {"lasker", "teeko", "baghchal", "draughts", "fanorona", "yahtzee"}
"""Games that take ten seconds to compile each; those like them are compiled here as well, or they are elsewhere."""
QUICK = {"tictactoe", "pig"}
"""Games of some kinds, that are quick to compile."""

LIMIT = 300
"""Positions of a game that are tried, however long it takes."""


def when(name):
    """Return the mark of a game by how long it takes to compile, or none."""
    if name in ALIKE:
        return pytest.mark.slow
    return () if name in QUICK else pytest.mark.thorough


def with_example(name):
    """Return the variant of a game that its example is."""
    example = game_class(name).example
    return f"{name}:{example}" if example else name


@pytest.mark.parametrize("variant", [pytest.param(name, marks=when(name)) for name in BUILT_IN])
@pytest.mark.long
def test_our_games_pass(variant):
    report = check(load_game(with_example(variant)), limit=LIMIT, seconds=LATE)
    assert report.findings == []
    assert report.ok
    assert report.variant == text_of(load_game(with_example(variant)))
    assert 10 <= report.positions <= LIMIT
    assert {"tier", "primitive", "generate_moves", "do_move", "write", "read", "move"} < report.checks.keys()
    assert report.checks["compiled"] > 10


@pytest.mark.thorough
@pytest.mark.parametrize("variant", [*map(with_example, sorted(ALIKE)), *OTHERS])
def test_other_variants_pass(variant):
    assert check(load_game(variant), limit=LIMIT, seconds=LATE, compiled=False).findings == []


def test_optional_rules_are_checked_where_there_are_any():
    assert {"images", "parents"} & check(load_game("dodgem"), 10, compiled=False).checks.keys() == {"parents"}
    assert {"images", "parents"} & check(load_game("tictactoe"), 10, compiled=False).checks.keys() == {"images"}
    assert "compiled" not in check(load_game("tictactoe"), 10, compiled=False).checks


@pytest.mark.thorough
def test_a_game_with_ties_may_not_deny_them():
    class Denying(TicTacToe):
        has_ties = False

    (finding,) = check(Denying(), compiled=False).findings
    assert finding.rule == "has_ties" and "the position is a TIE" in finding.complaint


def test_all_positions_of_a_small_game_are_tried():
    report = check(load_game("hexapawn"), compiled=False, seconds=LATE)
    assert (report.positions, report.complete) == (135, True)
    report = check(load_game("hexapawn"), limit=20, compiled=False)
    assert (report.positions, report.complete) == (20, False)


def test_the_heap_itself_passes():
    report = check(Heap())
    assert report.findings == []
    assert (report.positions, report.complete) == (18, True)  # all 20, less that nothing leads to 9b and 8b


# Games that break it: each with the finding it must yield, and no other

COUNTER = count()


class NoStart(Heap):
    @property
    def start(self):
        raise AttributeError("start")


class StartTooLarge(Heap):
    size: int = 1 << 61


class StartAsText(Heap):
    start = "18"


class PrimitiveForgetsToReturn(Heap):
    def primitive(self, position):
        if position < 2:
            return LOSE


class NoMoves(Heap):
    def generate_moves(self, position):
        if position >> 1 > 1:
            yield 1
            yield 2


class EndlessMoves(Heap):
    def generate_moves(self, position):
        move = 0
        while True:
            move += 1
            yield move


class MovesForgetToYield(Heap):
    def generate_moves(self, position):
        pass


class NegativeMoves(Heap):
    def generate_moves(self, position):
        yield -1

    def do_move(self, position, move):
        return position + 2 * move


class MovesTwice(Heap):
    def generate_moves(self, position):
        yield 1
        yield 1


class PositionsBelowZero(Heap):
    def generate_moves(self, position):
        yield 1
        yield 2

    def write(self, position):
        return str(position)


class Halves(Heap):
    def do_move(self, position, move):
        return position / 2


class MovesByTurns(Heap):
    def do_move(self, position, move):
        return position ^ next(COUNTER) % 2


class Raises(Heap):
    def primitive(self, position):
        return [LOSE, UNDECIDED, UNDECIDED, UNDECIDED][position >> 1]


class TierFalls(Heap):
    def tier(self, position):
        return position >> 1


class TierIsNoInt(Heap):
    def tier(self, position):
        return position / 2


class Unreadable(Heap):
    def read(self, text):
        return 2 * int(text[:-1])


class ReadsAnything(Heap):
    def read(self, text):
        return 2 * int("0" + text[:-1].replace("?", "")) + (text[-1] == "b")


class WritesLines(Heap):
    def write(self, position):
        return f"{position >> 1}\n{'ab'[position & 1]}"


class SameNames(Heap):
    def move_name(self, position, move):
        return "take"


class OtherMoves(Heap):
    def move(self, position, text):
        return 1


class ImagesOfOneSideOnly(Heap):
    def images(self, position):
        if position & 1:
            yield position ^ 1


class ImagesOfOtherWorth(Heap):
    def primitive(self, position):
        return LOSE if position < 2 else TIE if position == 3 else UNDECIDED


class ImagesWithOtherMoves(Heap):
    def generate_moves(self, position):
        yield 1
        if position >> 1 > 1 and not position & 1:
            yield 2


class Circle(Game):
    """Step or jump around a circle of places, by turns; whoever comes to place 0 has won. All in one tier."""

    places: int = 7

    start = 3

    def generate_moves(self, position):
        yield 1
        yield 2

    def do_move(self, position, move):
        return (position + move) % self.places

    def primitive(self, position):
        return LOSE if position == 0 else UNDECIDED

    def parents(self, position):
        yield (position - 1) % self.places
        yield (position - 2) % self.places


class PositionsOutOfRange(Circle):
    def do_move(self, position, move):
        return position << 30


class ParentForgotten(Circle):
    def parents(self, position):
        yield (position - 1) % self.places


class ParentTooMany(Circle):
    def parents(self, position):
        for move in range(1, 4):
            yield (position - move) % self.places


class Overflows(Circle):
    def primitive(self, position):
        return LOSE if position << 62 >> 62 == 0 else UNDECIDED


class TierTooLarge(Heap):
    def tier(self, position):
        return 2**70


class FloatImages(Heap):
    def images(self, position):
        yield position / 1


class ImagesByTurns(Heap):
    def images(self, position):
        if next(COUNTER) % 2:
            yield position ^ 1


class FloatParents(Circle):
    def parents(self, position):
        yield ((position - 1) % self.places) / 1


class ParentsByTurns(Circle):
    def parents(self, position):
        if next(COUNTER) % 2:
            yield (position - 1) % self.places
        yield (position - 2) % self.places


class StartByTurns(Heap):
    @property
    def start(self):
        return 8 + 2 * (next(COUNTER) % 2)


class Exits(Heap):
    def do_move(self, position, move):
        if position < 8:
            os._exit(0)
        return super().do_move(position, move)


class Leaves(Heap):
    def primitive(self, position):
        sys.exit("enough")


class Interrupts(Heap):
    def primitive(self, position):
        raise KeyboardInterrupt


class TextOption(Heap):
    colour: str = "red, or blue"


class NumberOption(Heap):
    weight: float = 1.5


class Drawn(Heap):
    def draw_board(self):
        return grid(10, 1, {"O": "disc"})

    def draw_pieces(self, position):
        return "".join(".O"[place == position >> 1] for place in range(10))

    def draw_move(self, position, move):
        return ((position >> 1) - move,)


class NamesMissing(Drawn):
    def draw_board(self):
        return Board(((0.0, 0.0),), (), {})


class PiecesMissing(Drawn):
    def draw_pieces(self, position):
        return "O"


class UnknownPieces(Drawn):
    def draw_pieces(self, position):
        return "X" * 10


class UnknownTurn(Drawn):
    def draw_turn(self, position):
        return "second"


class PlacesBeyond(Drawn):
    def draw_move(self, position, move):
        return (10,)


class Steps(Drawn):
    """A heap that is set up and played in more than one step, as it should be."""

    def draw_steps(self, position, move):
        return (self.draw_move(position, move),)

    def draw_reach(self, position, move):
        return () if move > 1 else (9,)

    def draw_end(self, position):
        return (0,)

    def draw_board(self):
        return grid(10, 1, {"O": "disc", "Q": "ring"})

    def draw_pieces(self, position):
        return Drawn.draw_pieces(self, position).replace("O", "OQ"[position & 1])

    def read_pieces(self, pieces, turn):
        if pieces.count(".") != 9:
            raise ValueError("there must be one disc or one ring")
        return self.heap_of(pieces)

    def heap_of(self, pieces):
        return 2 * max(pieces.find("O"), pieces.find("Q")) + ("Q" in pieces)


class PiecesOfAnother(Steps):
    def read_pieces(self, pieces, turn):
        return Steps.read_pieces(self, pieces, turn) ^ 2


class PiecesReadAnyhow(Steps):
    def read_pieces(self, pieces, turn):
        return self.heap_of(pieces)


class PiecesNotRefused(Steps):
    def read_pieces(self, pieces, turn):
        assert pieces.count(".") == 9
        return Steps.read_pieces(self, pieces, turn)


class PiecesUnread(Steps):
    def read_pieces(self, pieces, turn):
        raise KeyError(pieces)


class StepsElsewhere(Steps):
    def draw_steps(self, position, move):
        return ((0,), (9,))


class ReachOfTwo(Steps):
    def draw_reach(self, position, move):
        return (9,)


class ReachBeyond(Steps):
    def draw_reach(self, position, move):
        return (10,)


class EndBeyond(Steps):
    def draw_end(self, position):
        return 0


class ChangesItself(Heap):
    def do_move(self, position, move):
        ChangesItself.primitive = lambda self, position: Heap.primitive(self, position)
        return super().do_move(position, move)


class MovesAgain(Drawn):
    """Whoever takes two from an even heap moves again: as in Kalah, the turn does not always pass."""

    def do_move(self, position, move):
        turn, heap = divmod(position, 32)
        again = move == 2 and heap >> 1 & 1 == 0
        return 32 * (turn if again else 1 - turn) + Heap.do_move(self, heap, move)

    def primitive(self, position):
        return Heap.primitive(self, position % 32)

    def generate_moves(self, position):
        yield from Heap.generate_moves(self, position % 32)

    def images(self, position):
        yield position

    def tier(self, position):
        return Heap.tier(self, position % 32)

    def write(self, position):
        return f"{'AB'[position // 32]}{position % 32}"

    def read(self, text):
        return 32 * "AB".index(text[0]) + int(text[1:])

    def draw_board(self):
        return grid(10, 1, {"O": "disc", "A": "first", "B": "second"})

    def draw_pieces(self, position):
        return Drawn.draw_pieces(self, position % 32)

    def draw_move(self, position, move):
        return Drawn.draw_move(self, position % 32, move)

    def draw_turn(self, position):
        return "AB"[position // 32]


class Concedes(Heap):
    def at_best(self, position):
        return LOSE


class ConcedesForEver(Game):
    """Walk round for ever."""

    start = 0

    def generate_moves(self, position):
        yield 1
        yield 2

    def do_move(self, position, move):
        return (position + move) % 9

    def primitive(self, position):
        return UNDECIDED

    def at_best(self, position):
        return LOSE


class ConcedesNothing(Heap):
    def at_best(self, position):
        return UNDECIDED


BROKEN = {
    Concedes: ("at_best", None, "gives LOSE, and no reply to move "),
    ConcedesForEver: ("at_best", "0", "gives LOSE, and tier() does not rise"),
    ConcedesNothing: ("at_best", "9a", "it must give WIN, TIE, DRAW or LOSE"),
    NoStart: ("start", None, "is missing; give the class the first position as its start"),
    StartTooLarge: ("start", None, "gives 4611686018427387904, but positions go from 0 to 2**62 - 1"),
    StartAsText: ("start", None, "gives '18', which is no int"),
    PrimitiveForgetsToReturn: ("primitive", "9a", "gives None; let it give WIN, LOSE, TIE or DRAW, or UNDECIDED"),
    NoMoves: ("generate_moves", None, "let that say who has won, or tie it"),
    EndlessMoves: ("generate_moves", "9a", "yields 65,536 ints and more; does it end?"),
    MovesForgetToYield: ("generate_moves", "9a", "gives None; it must yield ints"),
    NegativeMoves: ("generate_moves", "9a", "yields -1; moves must be ints from 0"),
    MovesTwice: ("generate_moves", "9a", "yields the move 1 more than once; yield each once"),
    PositionsBelowZero: ("do_move", None, "for the move 2 it gives -1, but positions go from 0"),
    PositionsOutOfRange: ("do_move", str(3 << 60), "but positions go from 0 to 2**62 - 1"),
    Halves: ("do_move", "9a", "for the move 1 it gives 9.0, which is no int"),
    MovesByTurns: ("do_move", "9a", "and, asked again, 1"),
    Raises: ("primitive", "9a", r"raises IndexError: list index out of range (test_check.py, line "),
    TierFalls: ("tier", "9a", "falls from 9 to 8 by the move 1; it must never fall along a move"),
    TierIsNoInt: ("tier", "9a", "gives 9.0; it must give an int"),
    Unreadable: ("read", None, "b', which write() gives for"),
    ReadsAnything: ("read", "9a", "for '?!'; let it raise ValueError"),
    WritesLines: ("write", "9 a", r"gives '9\na'; it must give one line of text"),
    SameNames: ("move_name", "9a", "gives 'take' for the moves 1 and 2; names must differ"),
    OtherMoves: ("move", "9a", "gives 1 for 'take2', which move_name() gives for 2; each must undo the other"),
    NamesMissing: ("draw_board", "9a", "has 1 places, 0 names and 0 cells; each place has one name"),
    PiecesMissing: ("draw_pieces", "9a", "gives 'O', 1 signs; there must be one for each of 10 places"),
    UnknownPieces: ("draw_pieces", "9a", "gives the sign 'X', and draw_board() does not say"),
    UnknownTurn: ("draw_turn", "9a", "gives 'second', and draw_board() does not say"),
    PlacesBeyond: ("draw_move", "9a", "gives (10,) for the move 1; places are numbers from 0 to 9"),
    PiecesOfAnother: ("read_pieces", "9a", "gives 16 for ('.........O', ''), which is drawn for 18; each must undo"),
    PiecesReadAnyhow: (
        "read_pieces",
        "9a",
        "for 'OOOOOOOOOO', for which 'O.........' is drawn; let it raise ValueError",
    ),
    PiecesNotRefused: ("read_pieces", "9a", "raises AssertionError for 'OOOOOOOOOO'; let it raise ValueError"),
    PiecesUnread: ("read_pieces", "9a", "raises KeyError for what is drawn, ('.........O', '')"),
    StepsElsewhere: (
        "draw_steps",
        "9a",
        "gives ((0,), (9,)) for the move 1, and draw_move() (8,); both must have the same places",
    ),
    ReachOfTwo: ("draw_reach", "9a", "gives 9 for the moves 1 and 2; a place stands for one move"),
    ReachBeyond: ("draw_reach", "9a", "gives (10,) for the move 1; places are numbers from 0 to 9"),
    EndBeyond: ("draw_end", None, "gives 0; places are numbers from 0 to 9"),
    ImagesOfOneSideOnly: ("images", None, "whose images are others; yield of each position all symmetric ones"),
    ImagesOfOtherWorth: ("images", None, "; they must be the same"),
    ImagesWithOtherMoves: ("images", "9a", "yields 9b, from which moves lead elsewhere; symmetric positions have"),
    ParentForgotten: ("parents", "5", "does not yield 3, from which a move leads here"),
    ParentTooMany: ("parents", None, "from which no move leads here"),
    Overflows: ("compiled", None, "do ints exceed 64 bits on the way?"),
    TierTooLarge: ("tier", "9a", "gives 1180591620717411303424; it must give an int below 2**62"),
    FloatImages: ("images", "9a", "it gives 18.0, which is no int"),
    ImagesByTurns: ("images", "9a", "and, asked again, "),
    FloatParents: ("parents", None, "it gives 3.0, which is no int"),
    ParentsByTurns: ("parents", None, "and, asked again, "),
    StartByTurns: ("start", None, "and, asked again, "),
    Exits: ("do_move", None, "rules must not end the process, as os._exit() does"),
    ChangesItself: ("primitive", None, "is another one than before the rules were asked; rules must stay what they"),
    Leaves: ("primitive", "9a", "raises SystemExit: enough (test_check.py, line "),
    Interrupts: ("primitive", "9a", "raises KeyboardInterrupt:  (test_check.py, line "),
    MovesAgain: ("turns", None, "turns alternate unless turn() says who is to move"),
    TextOption: ("options", None, "options must be ints, tuples of ints, yes or no, or text without spaces"),
    NumberOption: ("options", None, "options must be ints, tuples of ints, yes or no, or text without spaces"),
}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_what_is_broken_is_found_and_nothing_else(broken):
    rule, position, complaint = BROKEN[broken]
    report = check(broken())
    assert not report.ok
    assert [finding.rule for finding in report.findings] == [rule]
    finding = report.findings[0]
    assert complaint in finding.complaint
    assert str(finding).startswith(f"{rule}: " if finding.position is None else f"{rule} at {finding.position}: ")
    if position is not None:
        assert finding.position == position


@pytest.mark.thorough
@pytest.mark.parametrize("game", [Circle(), Drawn(), Steps()])
def test_others_like_them_pass(game):
    assert check(game).findings == []


# Rules that go on and on


class GoesRound(Heap):
    def primitive(self, position):
        while position >= 2:
            position ^= 2 if position > 10**9 else 0
        return LOSE


def test_rules_that_go_round_for_ever_are_interrupted(monkeypatch):
    monkeypatch.setattr("retrograde.solver.conformance.check.PATIENCE", 0.2)
    report = check(GoesRound(), seconds=0.2)
    assert [str(finding) for finding in report.findings] == ["primitive at 9a: goes on and on; does it end?"]


def test_play_that_never_ends_is_fine():
    assert check(load_game("mutorere"), limit=200, compiled=False).ok


def test_patience_leaves_nothing_behind():
    check(load_game("tentozero"), compiled=False, seconds=0.1)
    time.sleep(0.2)
    assert sys.exc_info() == (None, None, None)


def test_rules_that_wait_for_a_busy_machine_are_not_interrupted():
    """Seconds of the processor count, of which a thread that sleeps takes none; but no rule may wait for ever."""
    with raise_after(0.2):
        for _ in range(60):
            time.sleep(0.01)
    with pytest.raises(EndlessRules), raise_after(0.01):
        any(time.sleep(0.01) for _ in count())


def test_a_report_gives_the_same_findings_each_time():
    assert check(ParentTooMany()).findings == check(ParentTooMany()).findings
