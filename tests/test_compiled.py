"""Rules as machine code: made for each variant, of the rules as they were imported."""

from dataclasses import field

import pytest
from numba import typeof

from retrograde.games import LOSE, UNDECIDED, Game
from retrograde.games.catalog import game_class, load_game
from retrograde.solver.rules import kernels
from retrograde.solver.rules.compiled import prepare

pytestmark = pytest.mark.long


class Shift(Game):
    """A game with options that are not compared, and not shown."""

    by: int = field(default=1, compare=False)
    twice: int = field(default=0, repr=False, compare=False)
    start = 0

    def generate_moves(self, position):
        yield 0

    def do_move(self, position, move):
        return position

    def primitive(self, position):
        return LOSE if position else UNDECIDED

    def images(self, position):
        yield position - self.by - 2 * self.twice


def least(game, position=100):
    prepare(game)
    return kernels.canonical(game, position)[0]


def test_games_that_are_equal_and_look_alike_have_code_of_their_own():
    games = [Shift(1), Shift(2), Shift(2, 5)]
    assert games[0] == games[1] == games[2]
    assert [least(game) for game in games] == [99, 98, 88]


def test_games_of_a_family_share_their_code():
    one, other = (typeof(load_game(f"chess:{name}")) for name in ("KRK", "KQKN"))
    assert one is other and one.game == load_game("chess:KRK").family
    assert typeof(load_game("draughts:KvK,6")) is not typeof(load_game("draughts:KvK,4"))


GENERATOR = '''from retrograde.games import LOSE, UNDECIDED, Game


class Lower(Game):
    """A generator that is spelled out."""

    start = 0

    def generate_moves(self, position):
        yield 0

    def do_move(self, position, move):
        return position

    def primitive(self, position):
        return LOSE if position else UNDECIDED

    def images(self, position):
        yield from range(position - 3, position)
'''


@pytest.mark.parametrize("then", [None, "nonsense(", GENERATOR.replace("- 3", "- 7")])
def test_what_is_compiled_is_what_was_imported(tmp_path, then):
    file = tmp_path / "lower.py"
    file.write_text(GENERATOR)
    game = game_class(str(file))()
    if then is None:
        file.unlink()
    else:
        file.write_text(then)
    assert least(game) == 97 == min(game.images(100))
    if then and "7" in then:  # both states of the file at once
        other = game_class(str(file))()
        assert least(other) == 93
        assert least(game) == 97
