"""Rules as machine code: made for each variant, of the rules as they were imported."""

import warnings
from dataclasses import field

import numpy as np
import pytest
from numba import typeof

from retrograde.databases import open_database
from retrograde.games import LOSE, TIE, UNDECIDED, WIN, Game
from retrograde.games.catalog import game_class, load_game
from retrograde.games.contract.game import RuleError
from retrograde.solver.engine import solve
from retrograde.solver.rules import kernels
from retrograde.solver.rules.compiled import prepare
from retrograde.solver.rules.constants import MOST_BYTES, constant
from tests.helpers.paths import ROOT

pytestmark = pytest.mark.long

MISERE = ROOT / "tests" / "helpers" / "misere4.py"
"""A variation of a game, that of docs/kinds.md."""


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


def test_large_tables_are_narrowed_or_named():
    """Numba would not cache machine code that holds more than a megabyte."""
    narrow = constant(tuple(range(-2, 200_000)), "numbers")
    assert narrow.nbytes < MOST_BYTES and narrow.tolist() == list(range(-2, 200_000))
    assert constant((1 << 31, *range(1000))).dtype == np.int64
    for values in (range(1 << 31, (1 << 31) + 200_000), range(400_000)):
        with pytest.warns(UserWarning, match="numbers is a table of 1.6 MB; methods that use"):
            assert constant(tuple(values), "numbers").tolist() == list(values)


class Table(Shift):
    """A position's image stands in a table of more than a megabyte."""

    table = tuple(-at for at in range(150_000))

    def images(self, position):
        yield (self.table[position] << 40) >> 40


def test_rules_read_narrow_tables_as_others():
    assert [least(Table(), position) for position in (0, 77_777)] == [0, -77_777]


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


class Low(Game):
    """Numbers, of which those below by one, and by a step, are images."""

    step: int = 5
    start = 0
    below = (10, 20)

    @property
    def more(self):
        return self.step

    def generate_moves(self, position):
        yield 0

    def do_move(self, position, move):
        return position

    def primitive(self, position):
        return LOSE if position else UNDECIDED

    def images(self, position):
        yield position - 1
        yield position - self.more


class Beside:
    """What stands between the two in the line of a class."""

    def images(self, position):
        for image in super().images(position):
            yield image - 100


class Lower(Low):
    below = (30,)

    @property
    def more(self):
        return 10 * super().more + super().below[1]

    def images(this, position):  # noqa: N805  # whatever the game is called
        yield from super().images(position)
        yield position - 2


class Between(Beside, Lower):
    pass


class Spelled(Lower):
    """What Python looks up where a class is made, or has names of its own for, and a method of another class."""

    far = 7
    __private = 100

    def so_far(self, position, far=far, more: "Unknown" = 50) -> "Unknown":  # noqa: F821  # known to type checkers
        yield from super().images(position=position - far - more)

    def images(self, position):
        yield from self.so_far(position, more=40)
        yield from self.so_far(position + self.__private)


class Borrowing(Spelled):
    images = Spelled.images
    so_far = Spelled.so_far


@pytest.mark.parametrize(
    "game",
    [
        Lower(7),
        *(
            pytest.param(game, marks=pytest.mark.thorough)
            for game in (Low(), Lower(), Between(), Between(1), Borrowing(), Spelled())
        ),
    ],
)
def test_super_is_what_comes_next_in_the_line_of_the_class(game):
    images = [*game.images(1000)]
    assert least(game, 1000) == min(images)
    below = {Low: 0, Lower: 15, Between: 115, Spelled: 15 + 47, Borrowing: 15 + 47}[type(game)]
    assert min(images) == (995 if type(game) is Low else 995 - 10 * game.step - below)


def test_super_of_a_class_that_is_not_in_the_line_is_told():
    class Strange(Low):
        images = Lower.images

    with pytest.raises(RuleError, match="game of another kind"):
        least(Strange())


@pytest.mark.thorough
def test_a_variation_of_a_game_is_compiled(tmp_path):
    game = load_game(f"{MISERE}:4,4")
    legends = []
    for way in ("interpreted", "listed"):
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message=".*run interpreted")
            path = solve(game, tmp_path / f"{way}.h5", method=way)
        with open_database(path) as database:
            legends.append([*database.file.legend])
            assert database.file.start_outcome[:2] == (LOSE, 13)
    assert legends[0] == legends[1]
    values = [sum(row.positions for row in legends[0] if row.value == value) for value in (WIN, LOSE, TIE)]
    assert values == [49_017, 21_338, 90_674]  # 161,029, as many as in the normal game: both end at the same positions
