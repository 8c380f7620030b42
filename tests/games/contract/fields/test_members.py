"""What follows from fields: starts, texts, images, subclasses, pickles, and what `check` says of them."""

import pickle
import re
import subprocess
import sys

import pytest

from retrograde.games import LOSE, UNDECIDED, Cells, Flag, Game, Number, Numbers, Turn
from retrograde.games.catalog import load_game
from retrograde.games.contract.drawing import Board, grid
from retrograde.games.contract.fields import check_arguments
from retrograde.solver import check
from tests.helpers.marks import thorough_but

TURNED = ((4, 5, 2, 3, 0, 1), (5, 4, 3, 2, 1, 0))
WIDE_TURNED = (tuple(cell ^ 1 for cell in range(63, -1, -1)), tuple(range(63, -1, -1)))


class Crossing(Game):
    """Men step ahead on a board of two columns; whoever cannot move loses."""

    cells = Cells(grid(2, 3), symmetries="mirror", exchanges=TURNED, X="red disc", O="blue disc")
    mover = Turn("XO")
    start = "OO/../XX/X"

    def generate_moves(self, position):
        for cell in self.cells.having(position, self.mover.sign(position)):
            goal = cell + 4 * self.mover.get(position) - 2
            if 0 <= goal < 6 and self.cells.is_empty(position, goal):
                yield cell

    def do_move(self, position, cell):
        return self.mover.passed(self.cells.go(position, cell, cell + 4 * self.mover.get(position) - 2))


class WithHands(Crossing):
    """The same, with fields of all kinds."""

    start = "OO/../XX/X/3/1,2/yes"

    plies = Number(2, 5)
    hands = Numbers(2, 0, 2)
    open = Flag()


class OutOfRange(Game):
    """Rules that look at a cell that is not there."""

    cells = Cells(3, X="cross")

    def generate_moves(self, position):
        yield from self.cells.empty(position)

    def do_move(self, position, cell):
        return self.cells.add(position, cell, self.cells.X)

    def primitive(self, position):
        return LOSE if self.cells.has(position, 3, self.cells.X) else UNDECIDED


@pytest.mark.long
def test_a_start_is_written_as_text_and_rules_with_exchanges_keep_the_contract():
    game = Crossing()
    assert game.write(game.start) == "OO/../XX/X"
    report = check(game, 500, 1.0)
    assert report.ok and not report.slow, str(report)
    assert report.understood["fields"].startswith("13 bits (cells 12, mover 1), ")


def test_exchanges_of_a_class_with_other_fields_are_refused():
    (finding,) = check(WithHands(), 500, 1.0).findings
    assert "an exchange of signs does not say what becomes of plies; define images(position)" in str(finding)


def test_images_mirror_the_board_and_exchange_the_players():
    game = Crossing()
    images = {game.write(image) for image in game.images(game.read("O./X./.X/O"))}
    assert images == {".O/.X/X./O", ".O/O./X./X", "O./.O/.X/X"}


def test_a_class_with_more_fields_has_other_texts():
    game = WithHands()
    assert game.write(game.start) == "OO/../XX/X/3/1,2/yes"
    assert game.fields(game.start) == {
        "cells": "OO/../XX", "mover": "X", "plies": "3", "hands": "1,2", "open": "yes"
    }  # fmt: skip
    assert game.show(game.start).splitlines()[-4:] == ["mover: X", "plies: 3", "hands: 1,2", "open: yes"]
    assert pickle.loads(pickle.dumps(game)) == game
    for text in (
        "OO/../XX/X/6/1,2/yes",
        "OO/../XX/X/3/1/yes",
        "OO/../XX/X/3/1,2/maybe",
        "OO/../XX/X",
        "OO/../XX/Z/3/1,2/no",
    ):
        with pytest.raises(ValueError, match=r"plies|hands|open|mover|position"):
            game.read(text)


def test_arguments_are_checked_where_it_is_asked_for():
    game = WithHands()
    wrong = [
        lambda: game.cells.get(game.start, 6),
        lambda: game.cells.put(game.start, 0, 3),
        lambda: game.cells.add(game.start, 0, 1),
        lambda: game.plies.add(game.start, 3),
        lambda: game.hands.get(game.start, 2),
    ]
    with check_arguments(game):
        for ask in wrong:
            with pytest.raises(ValueError, match=r"^\w+\.\w+: "):
                ask()
    assert game.cells.put(game.start, 2, 1) == game.cells.add(game.start, 2, 1)


def test_check_finds_a_cell_that_is_not_there():
    (finding,) = check(OutOfRange(), 100, 0.5, compiled=False).findings
    assert "cells.has: cell is 3, and must be from 0 to 2" in str(finding)


class WideCrossing(Crossing):
    """The same on a board of 64 cells: columns 0 and 1 have the men, and the others are empty."""

    cells = Cells(grid(2, 32), symmetries="mirror", exchanges=WIDE_TURNED, X="red disc", O="blue disc")
    start = "/".join(["OO", *[".."] * 30, "XX", "X"])

    def generate_moves(self, position):
        for cell in self.cells.having(position, self.mover.sign(position)):
            goal = cell + 4 * self.mover.get(position) - 2
            if 0 <= goal < 64 and self.cells.is_empty(position, goal):
                yield cell


class WideHands(WideCrossing):
    """The same, with many numbers."""

    cells = Cells(grid(2, 32), symmetries="mirror", X="red disc", O="blue disc")
    start = "/".join(["OO", *[".."] * 30, "XX", "X", ",".join(["1"] * 40), "yes"])
    hands = Numbers(40, 0, 2)
    open = Flag()


@pytest.mark.thorough
@pytest.mark.parametrize("kind", thorough_but([WideCrossing, WideHands], WideCrossing))
def test_rules_with_fields_of_several_words_keep_the_contract(kind):
    game = kind()
    assert len(game.start) == (5 if kind is WideHands else 3)
    assert game.read(game.write(game.start)) == game.start
    report = check(game, 500, 1.0)
    assert report.ok and not report.slow, str(report)
    if kind is WideCrossing:
        assert report.understood["fields"].startswith("129 bits in 3 words (cells 128, mover 1), ")


def test_images_of_several_words_mirror_the_board_and_exchange_the_players():
    game = WideCrossing()
    one, other = [".O", ".X", *[".."] * 29, "X."], ["O.", *[".."] * 29, ".O", ".X"]
    images = {game.write(image) for image in game.images(game.read("/".join([*one, "X"])))}
    mirrored = ["/".join([row[::-1] for row in rows]) for rows in (one, other)]
    assert images == {f"{mirrored[0]}/X", "/".join([*other, "O"]), f"{mirrored[1]}/O"}


def test_too_many_bits_and_cells_are_refused():
    class Many(Game):
        hands = Numbers(9, 0, 1 << 61)

    class Large(Game):
        cells = Cells(65, A="cross")

    class Long(Game):
        number = Number(0, 1 << 62)

    with pytest.raises(ValueError, match="a position has at most 8 words of 62 bits; its fields need hands 558"):
        Many()
    with pytest.raises(ValueError, match="cells has 65 cells, and must have from 1 to 64"):
        Large()
    with pytest.raises(ValueError, match="number needs 63 bits, and a number has at most 62"):
        Long()


@pytest.mark.parametrize(
    ("field", "complaint"),
    [
        (lambda: Number(5, 2), "faulty: its least number, 5, is above its greatest, 2"),
        (lambda: Number(0, 2.5), "faulty holds whole numbers, and not numbers from 0 to 2.5"),
        (lambda: Numbers(0, 0, 3), "faulty has 0 numbers, and must have at least 1"),
        (lambda: Turn("XX"), "faulty has a sign for each player, as in Turn('XO'), and not 'XX'"),
        (lambda: Turn("X"), "faulty has a sign for each player, as in Turn('XO'), and not 'X'"),
        (lambda: Turn("XO", by="cells"), "faulty follows from 'cells'; name a field of cells"),
        (lambda: Cells(4), "Cells needs a sign or several, each with its look, as in Cells(9, X='cross', O='ring')"),
        (lambda: Cells("abcd", X="cross"), "faulty has a board, names of cells, or their number, and not 'abcd'"),
        (lambda: Cells(4, looks="cross"), "Cells has no argument 'looks'; signs are single letters, as in X='cross'"),
        (lambda: Cells(4, **{"/": "cross"}), "Cells has no argument '/'; signs are single letters, as in X='cross'"),
        (
            lambda: Cells(4, symmetries="al", X="cross"),
            "faulty: no symmetries 'al'; name 'all', 'mirror' or 'start', or permutations",
        ),
        (
            lambda: Cells(4, symmetries=[(1, 0, 3)], X="cross"),
            "faulty: (1, 0, 3) is no permutation of the cells 0 to 3",
        ),
    ],
)
def test_a_faulty_declaration_is_refused_in_one_line(field, complaint):
    def used():
        game = type("Faulty", (Game,), {"faulty": field()})()
        return game.images(game.start)

    with pytest.raises(ValueError, match=f"^{re.escape(complaint)}$"):
        used()


@pytest.mark.parametrize("name", ["turn", "board", "start", "images"])
def test_a_field_is_not_called_like_a_member_of_the_contract(name):
    kind = type("Taken", (Game,), {name: Turn("XO")})
    with pytest.raises(ValueError, match=f"'{name}' is a member of the game contract; give the field another name"):
        kind()


def test_rules_with_fields_run_as_a_script(tmp_path):
    """The class then is in `__main__`, and its source in the script."""
    script = tmp_path / "filling.py"
    script.write_text(
        "from retrograde.games import Cells, Game\n\n\n"
        'class Filling(Game):\n    """Fill cells."""\n\n    cells = Cells(4, symmetries="mirror", X="cross")\n\n'
        "    def generate_moves(self, position):\n        yield from self.cells.empty(position)\n\n"
        "    def do_move(self, position, cell):\n        return self.cells.add(position, cell, self.cells.X)\n\n\n"
        'if __name__ == "__main__":\n'
        "    from retrograde.games.contract.snapshot import has_source\n"
        "    from retrograde.games.identity.digest import rules_digest\n\n"
        "    print(has_source(Filling), rules_digest(Filling) == rules_digest(Filling()))\n"
    )
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert run.stdout == "True True\n"


class Pawns(Game):
    """Has a start of its own."""

    cells = Cells(4, X="white pawn", O="black pawn")
    mover = Turn("XO")
    start = "XOXO/X"


class MorePawns(Pawns):
    """Declares a field of its base once more."""

    cells = Cells(4, "mirror", X="white pawn", O="black pawn")


def test_what_a_base_defines_stays_where_a_field_is_declared_once_more():
    for kind in (Pawns, MorePawns):
        assert kind().write(kind().start) == "XOXO/X"


def test_a_method_of_a_declaration_says_that_it_needs_a_game():
    with pytest.raises(NotImplementedError, match="get\\(\\) needs the bits of a game"):
        load_game("tictactoe").__class__.cells.get(0, 0)


@pytest.mark.parametrize(("columns", "rows"), [(3, 2), (1, 4), (8, 8)])
def test_sets_of_cells_move_as_their_cells_do(columns, rows):
    ways = [(right, down) for right in (-1, 0, 1) for down in (-2, -1, 0, 1)]
    cells = Cells(grid(columns, rows), X="disc").sized_for(Crossing())
    for number, (left, right, reached) in enumerate(cells.shifts(*ways)):
        for cell, goals in enumerate(cells.steps(*ways)):
            assert 1 << cell << left >> right & reached == (1 << goals[number] if goals[number] >= 0 else 0)
        goals = {goals[number] for goals in cells.steps(*ways)} - {-1}
        assert ((1 << cells.size) - 1) << left >> right & reached == sum(1 << goal for goal in goals)


def test_a_way_that_moves_cells_by_different_numbers_has_no_shift():
    board = Board(((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.0, 2.0)), tuple("1234"), {})
    cells = Cells(board, X="disc").sized_for(Crossing())
    with pytest.raises(ValueError, match=r"the way \(0, 1\) moves cells of this board by different numbers"):
        cells.shifts((0, 1))
