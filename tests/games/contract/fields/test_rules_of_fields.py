"""Digests of rules with fields: other layouts, bounds or symmetries are other rules; other colours are not."""

import pytest

from retrograde.games.catalog import load_game
from retrograde.games.identity.digest import rules_digest

RULES = '''"""A game of fields."""

from retrograde.games import Cells, Flag, Game, Number, Turn
from retrograde.games.contract.drawing import grid


class Rows(Game):
    """Fill cells."""

    cells = Cells(grid(3, 2), symmetries="mirror", X="red disc", O="blue disc")
    left = Number(0, 6)
    open = Flag()
    mover = Turn("XO")

    def generate_moves(self, position):
        for cell in self.cells.empty(position):
            yield cell

    def do_move(self, position, cell):
        return self.mover.passed(self.cells.add(position, cell, self.mover.sign(position)))
'''


def digest_of(source, folder):
    folder.mkdir()
    (folder / "rows.py").write_text(source)
    return rules_digest(load_game(str(folder / "rows.py")))


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ('X="red disc"', 'X="green cross"', True),
        ('symmetries="mirror"', 'symmetries="all"', False),
        ('symmetries="mirror", ', "", False),
        ("grid(3, 2)", "grid(2, 3)", False),
        ('X="red disc", O="blue disc"', 'O="blue disc", X="red disc"', False),
        ("Number(0, 6)", "Number(0, 7)", False),
        ('X="red disc"', 'packed=True, X="red disc"', False),
        ('Turn("XO")', 'Turn("OX")', False),
        ("    left = Number(0, 6)\n    open = Flag()\n", "    open = Flag()\n    left = Number(0, 6)\n", False),
        ("    open = Flag()\n", "    open = Flag()\n\n    # a comment\n", True),
    ],
)
def test_what_decides_positions_decides_the_digest(old, new, same, tmp_path):
    assert old in RULES
    assert (digest_of(RULES, tmp_path / "a") == digest_of(RULES.replace(old, new), tmp_path / "b")) is same


def test_images_leave_out_bits_that_are_of_no_field():
    """So that a database or a certificate tells such a number from a position."""
    game = load_game("tictactoe")
    stray = 1 << 40 | game.start
    assert game.canonical(stray) != stray and stray not in game.images(game.canonical(stray))
