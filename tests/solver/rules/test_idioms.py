"""The idioms of docs/compiling.md: each compiles to the right result, or the program says what to write instead."""

import ast
import re

import pytest
from numba import njit

from retrograde.games.catalog import game_class
from retrograde.solver.rules import compiled
from retrograde.solver.rules.examine import NotCompilable
from retrograde.solver.rules.positions import whole
from retrograde.solver.rules.reason import compilable
from tests.helpers.paths import ROOT

RULES = """from retrograde.games import Game

ORDER = [2, 7, 1]
GRID = [[1, 2], [3, 4]]
CORNERS = {0, 5, 9}
VALUES = {5: 50, 1: 10, -3: 4}


def weight(n):
    return n % 3


class Idioms(Game):
    size: int = 5
    start = 0
    row = (3, 1, 4)
    rows = ((1, 2), (3,), ())

    def cells(self, n):
        yield from range(n, n + 4)

    @staticmethod
    def twice(n):
        return 2 * n

    @classmethod
    def most(cls):
        return max(cls.row) + cls.twice(cls.size)

"""
PAGE = (ROOT / "docs/compiling.md").read_text("utf-8")
COMPILED = [line for line in PAGE.split("```py\n")[1].split("```")[0].splitlines() if line and not line.startswith("#")]
OTHER = re.findall(r"^\| `(.*)` \| `(.*)` \|$", PAGE, re.M)
NUMBERS = (0, 1, 2, 5, 12)


def lines_of(idiom):
    """Return the lines of a method that evaluates an idiom, or runs it and returns what it made of n."""
    code = idiom.replace(": case", ":\n            case")
    try:
        ast.parse(code, mode="eval")
    except SyntaxError:
        return [code, "return n"]
    return [f"return {code}"]


def game_of(folder, *idioms, size=5):
    """Return the game of the page, with a method `use0`, `use1`, … for each idiom."""
    text = RULES
    for number, idiom in enumerate(idioms):
        text += "\n        ".join([f"    def use{number}(self, n):", *lines_of(idiom)]) + "\n\n"
    file = folder / "idioms.py"
    file.write_text(text)
    game = game_class(str(file))(size)
    compiled.prepare(game)
    return game


def compiled_use(number):
    """Return a function that calls a method of a game in compiled code, where a rule must give an int."""
    names = {"whole": whole}
    exec(f"def use(game, n):\n    return whole(game.use{number}(n))", names)
    return njit(names["use"])


def plain_use(number):
    return lambda game, n: getattr(game, f"use{number}")(n)


def test_the_page_has_forty_idioms():
    assert len(COMPILED) >= 40 and len(OTHER) >= 10 and all(instead for _, instead in OTHER)


def most_are_thorough(cases):
    """Return cases of a test, of which every twelfth is not thorough."""
    return [
        pytest.param(case, marks=pytest.mark.thorough if number % 12 else pytest.mark.long)
        for number, case in enumerate(cases)
    ]


@pytest.mark.parametrize("idiom", most_are_thorough(COMPILED))
def test_an_idiom_compiles_to_the_same(tmp_path, idiom):
    game = game_of(tmp_path, idiom, size=6)  # not the default of the class
    use, plain = compiled_use(0), plain_use(0)
    assert [use(game, n) for n in NUMBERS] == [plain(game, n) for n in NUMBERS]


@pytest.mark.parametrize("idiom", most_are_thorough(OTHER), ids=str)
def test_another_idiom_is_told_and_what_stands_beside_it_compiles(tmp_path, idiom):
    idiom, instead = idiom
    game = game_of(tmp_path, idiom, instead)
    with pytest.raises(NotCompilable) as caught, compilable(game):
        compiled_use(0)(game, 2)
    assert re.search(r"idioms\.py, line \d+: `.*`: .*(;|write)", str(caught.value)), str(caught.value)
    use, plain, before = compiled_use(1), plain_use(1), plain_use(0)
    for n in NUMBERS:
        assert use(game, n) == plain(game, n) == int(before(game, n))
