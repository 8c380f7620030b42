"""Declared boards: texts, names of moves and pictures that follow from a board and from what stands on it."""

import inspect
import re
from hashlib import sha256
from itertools import permutations

import pytest

from retrograde.databases import NotInDatabase, OtherRules, open_database
from retrograde.games import LOSE, TIE, UNDECIDED, Cells, Game, Turn
from retrograde.games.catalog import load_game
from retrograde.games.contract.drawing import Board, grid
from retrograde.games.contract.game import PositionError, can_set_up, declares
from retrograde.games.identity.digest import rules_digest
from retrograde.solver import open_solution
from retrograde.solver.conformance.check import check
from retrograde.solver.engine import solve
from tests.databases.test_bytes import contents_of
from tests.helpers import reference
from tests.helpers.forge import Forged
from tests.helpers.paths import ROOT

# Boards


def test_the_symmetries_of_a_square_are_its_turns_and_mirrors():
    assert set(grid(2, 2).symmetries) == {
        *((1, 3, 0, 2), (3, 2, 1, 0), (2, 0, 3, 1)),  # turns
        *((1, 0, 3, 2), (2, 3, 0, 1), (0, 2, 1, 3), (3, 1, 2, 0)),  # mirrors
    }
    assert [len(grid(size, size).symmetries) for size in (1, 2, 3, 5)] == [0, 7, 7, 7]
    assert (6, 3, 0, 7, 4, 1, 8, 5, 2) in grid(3, 3).symmetries


@pytest.mark.parametrize(("columns", "rows"), [(3, 2), (2, 3), (4, 2), (7, 1), (2, 2)])
def test_symmetries_are_all_orders_that_keep_neighbours(columns, rows):
    """Of small boards every order of the cells is tried: those are symmetries that keep who is beside whom."""
    cells = range(columns * rows)
    beside = {
        (a, b) for a in cells for b in cells if abs(a % columns - b % columns) + abs(a // columns - b // columns) == 1
    }
    keeping = {order for order in permutations(cells) if all((order[a], order[b]) in beside for a, b in beside)}
    assert {*grid(columns, rows).symmetries, tuple(cells)} == keeping


def test_symmetries_keep_lines_and_leave_out_what_is_beyond():
    corners = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0))
    assert Board(corners, tuple("abcd"), {}, lines=((0, 1),)).symmetries == ((1, 0, 3, 2),)
    assert grid(2, 1, {}, beyond=[(5, 0, "off")]).symmetries == ((1, 0),)
    assert len(load_game("mutorere").draw_board().symmetries) == 7  # of the sixteen those by quarters
    assert load_game("hareandhounds").draw_board().symmetries[0] == (2, 1, 0, 7, 6, 5, 4, 3, 10, 9, 8)


def test_rows_are_found_in_every_direction():
    """Connect Four has 69 rows of four (Allis, 1988), tic-tac-toe eight of three."""
    assert len(grid(7, 6).in_a_row(4)) == 69
    assert sorted(map(sorted, grid(3, 3).in_a_row(3))) == [
        *([0, 1, 2], [0, 3, 6], [0, 4, 8], [1, 4, 7]),
        *([2, 4, 6], [2, 5, 8], [3, 4, 5], [6, 7, 8]),
    ]
    assert grid(2, 2).in_a_row(1) == ((0,), (1,), (2,), (3,))
    assert grid(2, 2).in_a_row(3) == ()


def test_columns_have_names_however_many_there_are():
    assert grid(30, 2).names[24:32] == ("y1", "z1", "aa1", "ab1", "ac1", "ad1", "a2", "b2")


# Games of ours


def positions(game):
    """Return all positions that play leads to."""
    found, left = {game.start}, [game.start]
    while left:
        position = left.pop()
        if game.primitive(position) == UNDECIDED:
            new = {game.do_move(position, move) for move in game.generate_moves(position)} - found
            found |= new
            left += new
    return sorted(found)


def slower(texts, *thorough):
    """Return parameters, some of them marked as thorough."""
    return [pytest.param(text, marks=pytest.mark.thorough if text in thorough else ()) for text in texts]


WRITTEN = {
    # what the games wrote before they declared boards: positions, and a digest of their texts and the names of moves
    "tictactoe": (5478, "eb271aa94337b253"),
    "tictactoe:misere": (5478, "eb271aa94337b253"),
    "tictactoe:2": (29, "d2b85869f57ad21b"),
    "tictactoe3:2": (53, "09553566b96dce95"),
    "connect4:3,3": (869, "9a155451d7d6d768"),
    "dodgem:2": (15, "6605320d0fc3c9ea"),
    "dodgem": (1963, "9fc75c923073979b"),
    "hareandhounds:5,yes": (2511, "87de77237661169a"),
    "othello:4,2": (5, "edfd827eb6f18f38"),
    "othello:3,3": (47, "6ce84aec53e9843b"),
    "cram:3,2": (18, "b71b64e948ed2e1a"),
    "domineering:3,3": (46, "f014f648f0bf60a9"),
    "lightsout:3,2": (16, "6806bc6a10252932"),
    "pegsolitaire:4": (42, "05cd7e80d610fb36"),
    "eightpuzzle:3,2": (360, "8ac412df4bdec244"),
}


@pytest.mark.long
@pytest.mark.parametrize("text", slower(WRITTEN, "tictactoe", "tictactoe:misere", "dodgem", "hareandhounds:5,yes"))
def test_games_write_what_they_wrote_and_read_it(text):
    game = load_game(text)
    assert (len(positions(game)), digest_of_texts(game, positions(game))) == WRITTEN[text]


@pytest.mark.parametrize(
    ("text", "digest"), [("hareandhounds:5,yes", "1397c4d3ab4eab13"), ("dodgem", "9288ff2cd4056293")]
)
def test_large_games_write_what_they_wrote_of_each_twentieth_position(text, digest):
    game = load_game(text)
    assert digest_of_texts(game, positions(game)[::20]) == digest


def digest_of_texts(game, some):
    """Read what is written of some positions and their moves; return a digest of the texts."""
    found = []
    for position in some:
        found.append(game.write(position))
        assert game.read(found[-1]) == position
        assert game.read_pieces(game.draw_pieces(position), game.draw_turn(position)) == position
        if game.primitive(position) == UNDECIDED:
            moves = list(game.generate_moves(position))
            found.append(" ".join(game.move_name(position, move) for move in moves))
            assert [game.move(position, name) for name in found[-1].split()] == moves
    return sha256("\n".join(found).encode()).hexdigest()[:16]


@pytest.mark.long
@pytest.mark.parametrize("text", slower(["tictactoe", "tictactoe:2", "tictactoe3:2"], "tictactoe"))
def test_positions_look_like_what_was_put_down(text):
    """Held against a board of signs that is kept by hand, move by move."""
    game, players = load_game(text), "XOA" if text.startswith("tictactoe3") else "XO"
    size, left, known = game.size, [(game.start, ("........." if game.size == 3 else "....", 0))], set()
    while left:
        position, (signs, ply) = left.pop()
        if position in known:
            continue
        known.add(position)
        rows = [signs[at : at + size] for at in range(0, size * size, size)]
        assert game.write(position) == "/".join(rows)
        assert game.show(position) == "\n".join(" ".join(row) for row in rows)
        assert game.draw_pieces(position) == "".join(game.signs(position)) == signs
        assert game.draw_turn(position) == players[ply % len(players)]
        assert game.read("\n".join(rows)) == game.read(game.show(position)) == game.read(f" {'/'.join(rows)} ")
        if game.primitive(position) == UNDECIDED:
            for cell, sign in enumerate(signs):
                if sign == ".":
                    after = signs[:cell] + players[ply % len(players)] + signs[cell + 1 :]
                    assert game.draw_move(position, cell) == (cell,)
                    left.append((game.do_move(position, cell), (after, ply + 1)))
    assert len(known) == len(positions(game))


LITERAL = {
    ("tictactoe", 0): (".../.../...", "X", "a1 b1 c1 a2 b2 c2 a3 b3 c3"),
    ("tictactoe", 0b10001 | 0b10 << 9): ("XO./.X./...", "O", "c1 a2 c2 a3 b3 c3"),
    ("tictactoe3", 0b1 | 0b10 << 9 | 0b100 << 18): ("XOA/.../...", "X", "a2 b2 c2 a1 b1 c1"),
    ("dodgem:2", 0b0_0001_1000): ("O./.X/O", "O", "a1-b1 a1-a2"),
    ("othello", 1 << 4 * 1 + 1 | 1 << 16 + 4 * 1 + 2): ("..../.XO./..../....,X", "X", "d2"),
    ("othello", 1 << 32 | 1): ("X.../..../..../....,O", "O", ""),
    ("domineering:3,2", 0b1_000000): (".../...,h", "h", "a1 b1 a2 b2"),
    ("cram:3,1", 0b100): ("..#", "", "a1-"),
    ("lightsout:3,2", 0b100001): ("O../..O", "", "a1 b1 c1 a2 b2 c2"),
    ("pegsolitaire:4", 0b1011): ("O/O./O../....", "", "1-6"),
    ("eightpuzzle:2,2", 0x3021): ("12/.3", "", "1 3"),
}


@pytest.mark.parametrize(("text", "position"), LITERAL)
def test_positions_are_written_by_their_bits(text, position):
    game = load_game(text)
    written, turn, names = LITERAL[text, position]
    assert (game.write(position), game.draw_turn(position)) == (written, turn)
    assert game.read(written) == position
    over = game.primitive(position) != UNDECIDED
    assert " ".join(() if over else (game.move_name(position, move) for move in game.generate_moves(position))) == names


@pytest.mark.parametrize(
    ("text", "written", "complaint"),
    [
        ("tictactoe", "XO/../...", "a board is 3 lines of 3 signs of .XO, parted by /"),
        ("tictactoe", "XO?/.../...", "a board is 3 lines of 3 signs of .XO, parted by /"),
        ("tictactoe", "XX./.../...", "there must be as many X as O, or one X more"),
        ("tictactoe3", "XXO/.../...", "X, O and A move by turns, and here they have 2, 1 and 0"),
        ("connect4:3,3", "XX./XOX/XOX", "there must be as many X (Red) as O (Yellow), or one X more"),
        ("dodgem", "O../O../.XX", "a position is 3 lines of 3 signs of .XO and who is to move, O or X, parted by /"),
        ("dodgem", "O../O../.XX/A", "a position is 3 lines of 3 signs of .XO and who is to move, O or X, parted by /"),
        ("dodgem", "OO./O../.XX/O", "there must be no more than 2 of X (Red) and of O (Blue)"),
        ("dodgem", ".../.../.XX/O", "O (Blue) has won, and is not to move"),
        ("pegsolitaire:4", "O/OO/OOO", "a board is lines of 1, 2, 3 and 4 signs of .O, parted by /"),
        ("pegsolitaire:4", "./../.../....", "there must be a peg"),
        ("eightpuzzle:2,2", "11/2.", "each tile must be there once, and one cell be empty"),
        ("lightsout:3,2", "OX./...", "a board is 2 lines of 3 signs of .O, parted by /"),
    ],
)
def test_what_is_no_position_is_told_in_a_line(text, written, complaint):
    with pytest.raises(ValueError, match=f"^{re.escape(complaint)}$"):
        load_game(text).read(written)


def test_pieces_and_players_are_apart_where_positions_are_set_up(solved):
    """In Domineering `v` and `h` are players, and nothing that stands on the board."""
    view = pytest.importorskip("retrograde.cli.web.view", reason="the page needs the extra web")
    with open_solution(solved("domineering:2,2"), game=load_game("domineering:2,2")) as solution:
        parts = view.parts(solution)
        assert [man.sign for man in parts.men] == ["#"]
        assert [(player.sign, player.name) for player in parts.players] == [("v", "Vertical"), ("h", "Horizontal")]
        assert view.set_up(solution, "#.#.", "h").position == "#./#.,h"
        for pieces, turn in (("#.v.", "h"), ("#.#.", "v"), ("#...", "h"), ("#.#.", "x")):
            with pytest.raises((PositionError, NotInDatabase)):
                view.set_up(solution, pieces, turn)


def test_rules_written_in_other_words_are_those_of_databases_made_before(tmp_path):
    """Of tic-tac-toe: the file is what it was but for the digest, and one with that digest is read."""
    path, game = tmp_path / "tictactoe.h5", load_game("tictactoe")
    solve(game, path, method="interpreted")
    forged = Forged.read(path)
    assert forged.attributes["rules"] == rules_digest(game)
    forged.attributes["rules"] = "a6aeea55cdd381bc64ae56ace66818d3"
    older = forged.write(tmp_path / "older.h5")
    assert contents_of(older) == "a0293bf66ece46899562cf038b89381c5c72c6f35ca7c7a0104780067ee6ee4d"  # as was pinned
    with open_solution(older, game=game) as solution:
        assert solution.value(game.start) == (TIE, 9)
    forged.attributes["rules"] = "a6aeea55cdd381bc64ae56ace66818d4"
    with pytest.raises(OtherRules, match="made with other rules"):
        open_database(forged.write(tmp_path / "other.h5"), game=game)


# Games of others


class Crosses(Game):
    """Claim cells in turn, the first player with crosses, the second with rings; three in a row win."""

    cells = Cells(grid(3, 3), symmetries="all", X="cross", O="ring")
    mover = Turn("XO", by="cells")
    lines = cells.bits_of(grid(3, 3).in_a_row(3))

    def generate_moves(self, position):
        yield from self.cells.empty(position)

    def do_move(self, position, cell):
        return self.cells.add(position, cell, self.mover.sign(position))

    def primitive(self, position):
        for line in self.lines:
            if self.cells.set(position, self.mover.other(position)) & line == line:
                return LOSE
        return UNDECIDED if self.cells.free(position) else TIE


def test_the_game_of_the_docs_is_tic_tac_toe():
    game, solution = Crosses(), reference.solve(Crosses())
    assert inspect.getsource(Crosses) in docs_of("ten-minutes")
    assert (solution[0], len(solution)) == ((TIE, 9), 5478)
    assert len({min(position, *game.images(position)) for position in solution}) == 765


def docs_of(page):
    return (ROOT / "docs" / f"{page}.md").read_text("utf-8")


class Claim(Game):
    """Claim a cell that is free; whoever cannot has lost. The games below are this with one thing otherwise."""

    width: int = 3

    board = grid(3, 1, {"X": "cross", "O": "ring"})
    bits = by_turns = "XO"
    start = 0

    def generate_moves(self, position):
        for cell in range(3):
            if not (position | position >> 3) >> cell & 1:
                yield cell

    def do_move(self, position, cell):
        return position | 1 << cell + 3 * (position.bit_count() & 1)

    def primitive(self, position):
        return LOSE if position.bit_count() == 3 else UNDECIDED


class ByOption(Claim):
    @property
    def board(self):
        return grid(self.width, 1, {"X": "cross", "O": "ring"})


class Tuples(Claim):
    """As ternary digits, and the turn above them, told apart by the author."""

    bits = by_turns = ""
    to_move = "XO"

    def generate_moves(self, position):
        for cell in range(3):
            if position // 3**cell % 3 == 0:
                yield cell

    def do_move(self, position, cell):
        turn = position // 27
        return position + (turn + 1) * 3**cell + (27 if turn == 0 else -27)

    def primitive(self, position):
        full = True
        for cell in range(3):
            full = full and position // 3**cell % 3 > 0
        return LOSE if full else UNDECIDED

    def signs(self, position):
        return tuple(".XO"[position // 3**cell % 3] for cell in range(3))

    def position_of(self, signs, turn):
        return sum(".XO".index(sign) * 3**cell for cell, sign in enumerate(signs)) + 27 * self.to_move.index(turn)

    def draw_turn(self, position):
        return self.to_move[position // 27]


class OtherMeanings(Claim):
    """Names of the contract that mean something else in rules of before: nothing follows from them."""

    board = 0b111
    by_turns = True
    signs = ".XO"

    @property
    def bits(self):
        return 3


class OtherMethods(Game):
    """Signs of something else, of a game that writes its positions itself."""

    start = 0
    board = 0b111
    generate_moves, do_move, primitive = Claim.generate_moves, Claim.do_move, Claim.primitive

    def signs(self, position):
        return position.bit_count()

    def write(self, position):
        return f"{position:06b}"

    def read(self, text):
        return int(text, 2)


OTHERS = [Claim(), ByOption(), Tuples(), OtherMeanings(), OtherMethods()]


@pytest.mark.parametrize("game", OTHERS, ids=lambda game: type(game).__name__)
def test_games_of_others_keep_the_contract(game):
    report = check(game, compiled=False)
    assert report.ok, report.findings
    assert report.complete


@pytest.mark.thorough
def test_rules_with_a_board_compile():
    report = check(Crosses())
    assert report.ok, report.findings
    assert report.checks["compiled"] and not report.slow


def test_what_a_small_game_declares_is_all_it_needs():
    game = Claim()
    position = game.do_move(game.do_move(0, 1), 2)
    assert (game.write(position), game.show(position), game.draw_turn(position)) == (".XO", ". X O", "X")
    assert (game.move_name(position, 0), game.move(position, "a1"), game.draw_move(position, 0)) == ("a1", 0, (0,))
    assert game.read(". X O") == game.read_pieces(".XO", "X") == position
    assert declares(game) and can_set_up(game) and game.draw_board() is Claim.board


def test_a_text_tells_the_turn_where_only_the_position_does():
    game = Tuples()
    position = game.do_move(game.do_move(0, 1), 2)
    assert (game.write(position), game.show(position)) == (".XO/X", ". X O\nX to move")
    assert game.read(".XO/X") == game.read(".XO,X") == game.read_pieces(".XO", "X") == position
    with pytest.raises(ValueError, match=r"a position is 1 lines of 3 signs of \.XO and who is to move, X or O"):
        game.read(".XO")
    with pytest.raises(ValueError, match="it must be the turn of X or O"):
        game.read_pieces(".XO", "")


def test_names_that_meant_something_else_still_do():
    game = OtherMeanings()
    assert not declares(game) and not can_set_up(game) and game.draw_board() is None
    assert (game.write(5), game.show(5), game.move_name(5, 1), game.draw_move(5, 1)) == ("5", "5", "1", ())
    assert (game.draw_pieces(5), game.draw_turn(5), game.read("5")) == ("", "", 5)


def test_what_others_declare_can_neither_move_the_cursor_nor_hide():
    class Evil(Claim):
        board = Board(((0.0, 0.0), (1.0, 0.0), (2.0, 0.0)), ("a\x1b[2J", "b", "c"), {"X": "cross", "\x1b": "ring"})
        bits = "X\x1b"
        by_turns = ""

    game = Evil()
    texts = game.write(0b001_010), game.show(0b001_010), game.draw_pieces(0b001_010), game.move_name(0, 0)
    assert not any("\x1b" in text for text in texts)


# What is declared wrongly


class NoBoard(Claim):
    board = None


class BoardAsText(Claim):
    board = "3x3"


class BoardWithoutNames(Claim):
    board = Board(((0.0, 0.0), (1.0, 0.0), (2.0, 0.0)), ("a", "b"), {"X": "cross", "O": "ring"})


class BitsWithoutALook(Claim):
    bits = "XQ"


class BitsTwice(Claim):
    bits = "XX"


class BitsAsList(Tuples):
    bits = ["X", "O"]  # noqa: RUF012  # as somebody may write


class TooManyBits(Claim):
    board = grid(32, 1, {"X": "cross", "O": "ring"})


class BitsAbove(Claim):
    by_turns = ""

    def do_move(self, position, cell):
        return Claim.do_move(self, position, cell) | 1 << 6

    def primitive(self, position):
        return LOSE if (position & 63).bit_count() == 3 else UNDECIDED


class TwoOnACell(Claim):
    by_turns = ""

    def do_move(self, position, cell):
        return position | 0b1001 << cell

    def primitive(self, position):
        return LOSE if position.bit_count() == 6 else UNDECIDED


class OnePlayer(Claim):
    by_turns = "X"


class TurnsTwice(Claim):
    to_move = "XO"


class NobodysTurn(Tuples):
    draw_turn = Game.draw_turn


class TurnOfAnother(Tuples):
    def draw_turn(self, position):
        return "Q"


class SignsMissing(Tuples):
    def signs(self, position):
        return Tuples.signs(self, position)[1:]


class SignsUnknown(Tuples):
    def signs(self, position):
        return "Q.."


class SignsAsNumbers(Tuples):
    def signs(self, position):
        return [0, 1, 2]


class SignsTooLong(Tuples):
    def signs(self, position):
        return ("10", ".", ".")


class NoWayBack(Tuples):
    position_of = Game.position_of


class AnotherWayBack(Tuples):
    def position_of(self, signs, turn):
        return Tuples.position_of(self, signs[::-1], turn)


class MovesAreNoCells(Claim):
    def generate_moves(self, position):
        for cell in range(3):
            if not (position | position >> 3) >> cell & 1:
                yield 2 - cell

    def do_move(self, position, move):
        return Claim.do_move(self, position, 2 - move)


class NotByTurns(Claim):
    def do_move(self, position, cell):
        return position | 1 << cell


class ByTurnBit(Claim):
    by_turns = ""
    to_move = "XO"

    def do_move(self, position, cell):
        return (position | 1 << cell + 3 * (position >> 6)) ^ 1 << 6

    def primitive(self, position):
        return LOSE if (position & 63).bit_count() == 3 else UNDECIDED


class TurnForgotten(ByTurnBit):
    def do_move(self, position, cell):
        return ByTurnBit.do_move(self, position, cell) ^ 1 << 6


class OneMoveBeside(Claim):
    beside = (2,)

    def generate_moves(self, position):
        for cell in Claim.generate_moves(self, position):
            yield cell + 10 * (cell in self.beside)

    def do_move(self, position, move):
        return Claim.do_move(self, position, move % 10)


class MovesBeside(OneMoveBeside):
    beside = (1, 2)


class MovesBesideWithNames(MovesBeside):
    def move_name(self, position, move):
        return f"to{move % 10}"


BROKEN = {
    NoBoard: (
        "board",
        'is None; let it be a board, as grid(3, 3, {"X": "cross"}) of retrograde.games.contract.drawing gives it',
    ),
    BoardAsText: ("board", "is '3x3'; let it be a board, as grid(3, 3,"),
    BoardWithoutNames: ("board", "has 3 places, 2 names and 0 cells; each place has one name"),
    BitsWithoutALook: ("bits", "has the sign 'Q', and the board does not say what that looks like"),
    BitsTwice: ("bits", "is 'XX'; let each sign be another one"),
    BitsAsList: ("bits", "is ['X', 'O']; it must be signs as text"),
    TooManyBits: ("bits", "take 64 bits, for 32 places and 2 signs; there are 62"),
    BitsAbove: ("bits", "leave 1 above 6 bits; there stands who is to move by to_move, and else 0"),
    TwoOnACell: ("bits", "put two pieces on "),
    OnePlayer: ("by_turns", "is 'X'; there must be two players or more, or nothing"),
    TurnsTwice: ("to_move", "is there as well as by_turns"),
    NobodysTurn: ("to_move", "says who may be to move, and nothing who is; let draw_turn(position) give that sign"),
    TurnOfAnother: ("draw_turn", "gives 'Q'; by to_move it must be one of 'XO'"),
    SignsMissing: ("signs", "gives '..', 2 signs; there must be one for each of 3 places"),
    SignsUnknown: ("signs", "gives the sign 'Q', and the board does not say what that looks like"),
    SignsAsNumbers: ("signs", "gives [0, 1, 2]; it must give one sign for each place, as text or as a tuple"),
    SignsTooLong: ("signs", "gives ('10', '.', '.'); it must give one sign for each place"),
    NoWayBack: ("position_of", "is missing; give the position back from what signs(position) gives"),
    MovesAreNoCells: (
        "draw_move",
        "is not there, so that the move 2 is taken for the place c1, where it changes nothing",
    ),
    MovesBeside: ("draw_move", "is not there, so that the move 0 is called a1, and 11 and others by their numbers"),
    TurnForgotten: ("turns", "stay with 'X' after the move 0, and are solved as if they passed to the other player"),
}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_a_wrong_declaration_is_told_in_one_line_and_nothing_else(broken):
    rule, complaint = BROKEN[broken]
    report = check(broken(), compiled=False)
    assert [finding.rule for finding in report.findings] == [rule], report.findings
    assert complaint in report.findings[0].complaint
    assert len(str(report.findings[0]).splitlines()) == 1


@pytest.mark.parametrize("cls", [ByTurnBit, OneMoveBeside, MovesBesideWithNames])
def test_games_like_those_that_are_wrong_pass(cls):
    assert check(cls(), compiled=False).findings == []


@pytest.mark.parametrize(
    ("broken", "rule", "complaint"),
    [
        (AnotherWayBack, "read", "no position looks like "),
        (NotByTurns, "read", "there must be as many X as O, or one X more"),
    ],
)
def test_what_is_read_is_held_against_what_is_written(broken, rule, complaint):
    findings = check(broken(), compiled=False).findings
    assert rule in [finding.rule for finding in findings]
    assert any(complaint in finding.complaint for finding in findings)
