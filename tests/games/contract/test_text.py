"""What rules and files say reaches people without control characters."""

import json
import unicodedata

import numpy as np
import pytest

from retrograde.databases import open_database
from retrograde.games import LOSE, Game
from retrograde.games.contract.game import TEXTS, defines
from retrograde.games.contract.text import REPLACEMENT, printable
from retrograde.solver.engine import solve
from retrograde.solver.rules.expansion import Expander
from tests.helpers.command_line import retrograde
from tests.helpers.heap import Heap

HOSTILE = "a\x1b[31mb\x07\x9b2J\u202ec\u2066\tx\r"
HARMLESS = f"a{REPLACEMENT}[31mb{REPLACEMENT}{REPLACEMENT}2J{REPLACEMENT}c{REPLACEMENT}{REPLACEMENT}x{REPLACEMENT}"


class Loud(Heap):
    """The same with control characters in every text."""

    size: int = 5

    def write(self, heap):
        return f"{HOSTILE}{heap}"

    def show(self, heap):
        """Show it."""
        return f"{HOSTILE}\n{heap}"

    def move_name(self, heap, taken):
        return HOSTILE

    def distance(self, value, remoteness):
        return HOSTILE

    def ending(self, heap):
        return HOSTILE

    def tier_name(self, tier):
        return HOSTILE

    def draw_pieces(self, heap):
        return HOSTILE

    def draw_turn(self, heap):
        return HOSTILE


def test_printable_leaves_no_control_characters_but_ends_of_lines():
    for number in [*range(0x300), *range(0x2000, 0x2100), 0xD800, 0xDFFF]:
        text = printable(f"a{chr(number)}")
        hostile = unicodedata.category(chr(number)) in ("Cc", "Cs") and number != 10
        hostile |= 0x202A <= number <= 0x202E or 0x2066 <= number <= 0x2069
        assert text == ("a" + REPLACEMENT if hostile else f"a{chr(number)}")
    assert printable(HOSTILE) == HARMLESS
    assert printable("┌─┐\n│ ♔ │") == "┌─┐\n│ ♔ │"


def test_texts_of_games_are_printable():
    game = Loud()
    assert game.write(3) == f"{HARMLESS}3"
    assert game.show(3) == f"{HARMLESS}\n3"
    assert {game.move_name(3, 1), game.distance(LOSE, 1), game.ending(0), game.tier_name(0)} == {HARMLESS}
    assert {game.draw_pieces(3), game.draw_turn(3)} == {HARMLESS}


def test_nothing_else_changes():
    assert all(defines(Loud, method) for method in TEXTS)
    assert Loud.show.__doc__ == "Show it."
    assert Loud.show.__name__ == "show"

    class Plain(Game):
        start = 0

    assert not any(defines(Plain, method) for method in TEXTS)
    assert Plain.write is Game.write


@pytest.mark.long
def test_such_games_compile(tmp_path):
    children = Expander(Loud()).expand(0, np.array([3, 4])).lists_by_position()[1]
    assert children == [[2, 1, 0], [3, 2, 1]]
    with open_database(solve(Loud(), tmp_path / "loud.h5", method="compiled"), game=Loud()) as database:
        assert len(database) == 6


RULES = '''
"""Notes \x1b]0;title\x07 of a module."""
from retrograde.games import LOSE, UNDECIDED, Game


class Loud(Game):
    """Rules \x9b2J and \u202e more."""

    colour: str = "\x1b[31m"
    start = 5

    def generate_moves(self, heap):
        {moves}

    def do_move(self, heap, taken):
        return heap - 1

    def primitive(self, heap):
        return LOSE if heap == 0 else UNDECIDED

    def show(self, heap):
        return "\x1b[2J" + str(heap)
'''


@pytest.mark.parametrize(
    ("command", "moves", "status"),
    [
        (("games", "loud.py"), "yield 1", 0),
        (("games", "loud.py", "--json"), "yield 1", 0),
        (("check", "loud.py"), "raise ValueError('\\x1b[31m\\x9b')", 1),
        (("solve", "loud.py"), "raise ValueError('\\x1b[31m\\x9b')", 1),
    ],
)
def test_commands_print_none(command, moves, status, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    (tmp_path / "loud.py").write_text(RULES.replace("{moves}", moves), encoding="utf-8")
    output = retrograde(*command, status=status).output
    assert output == printable(output)
    if "--json" in command:
        assert json.loads(output)["rules"]
    elif status == 0:
        assert f"Rules {REPLACEMENT}2J and {REPLACEMENT} more." in output
