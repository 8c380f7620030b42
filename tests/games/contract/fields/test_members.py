"""What follows from fields: starts, texts, images, subclasses, pickles, and what `check` says of them."""

import pickle
import subprocess
import sys

import pytest

from retrograde.games import LOSE, UNDECIDED, Cells, Flag, Game, Number, Numbers, Turn
from retrograde.games.contract.drawing import grid
from retrograde.games.contract.fields import checked
from retrograde.solver import check

TURNED = ((4, 5, 2, 3, 0, 1), (5, 4, 3, 2, 1, 0))


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


def test_a_start_is_written_as_text_and_rules_with_exchanges_keep_the_contract():
    game = Crossing()
    assert game.write(game.start) == "OO/../XX/X"
    report = check(game, 500, 1.0)
    assert report.ok and not report.slow, str(report)
    assert report.understood["fields"].startswith("13 bits (cells 12, mover 1), ")


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
    with checked(game):
        for ask in wrong:
            with pytest.raises(ValueError, match=r"^\w+\.\w+: "):
                ask()
    assert game.cells.put(game.start, 2, 1) == game.cells.add(game.start, 2, 1)


def test_check_finds_a_cell_that_is_not_there():
    (finding,) = check(OutOfRange(), 100, 0.5, compiled=False).findings
    assert "cells.has: cell is 3, and must be from 0 to 2" in str(finding)


def test_too_many_bits_are_refused():
    class Wide(Game):
        cells = Cells(21, A="cross", B="ring", C="disc")

    with pytest.raises(ValueError, match="a position has 62 bits, and its fields take 63: cells 63"):
        Wide()


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
