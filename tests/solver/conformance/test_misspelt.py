"""Members whose names are those of the contract misspelt are refused, and `check` prints what it understood."""

import importlib
from importlib.util import find_spec

import pytest

from retrograde.games import Game, VariantError
from retrograde.games.catalog import BUILT_IN, game_class, load_game
from retrograde.solver.conformance.check import check
from retrograde.solver.conformance.names import find_misspelt
from tests.helpers.command_line import HEAP, retrograde
from tests.helpers.paths import ROOT

ROW = '''from retrograde.games import LOSE, UNDECIDED, Game

LINES = (0b000000111, 0b000111000, 0b111000000, 0b001001001, 0b010010010, 0b100100100, 0b100010001, 0b001010100)


class Row(Game):
    """Three in a row."""

    start = 0

    def generate_moves(self, position):
        for cell in range(9):
            if not (position | position >> 9) >> cell & 1:
                yield cell

    def do_move(self, position, move):
        return (position >> 9 | position << 9) & (1 << 18) - 1 | 1 << move + 9

    def primitive(self, position):
        for line in LINES:
            if position >> 9 & line == line:
                return LOSE
        return UNDECIDED
'''

PUZZLE = '''from retrograde.games import UNDECIDED, WIN, Game


class Walk(Game):
    """Walk to nought."""

    start = 5
    players = 1

    def generate_moves(self, place):
        yield 0
        yield 1

    def do_move(self, place, move):
        return place - 1 if move else min(place + 1, 9)

    def primitive(self, place):
        return WIN if place == 0 else UNDECIDED

    def payoff(self, place, player):
        return 3 if player == 0 else 0
'''

IMAGES = """
    def images(self, heap):
        yield heap
"""


def replaced(text, old, new):
    assert old in text
    return text.replace(old, new)


MISSPELT = {
    "primitve": (replaced(ROW, "primitive", "primitve"), "primitive"),
    "player": (replaced(PUZZLE, "players = 1", "player = 1"), "players"),
    "image": (HEAP + replaced(IMAGES, "images", "image"), "images"),
    "domove": (replaced(HEAP, "do_move", "domove"), "do_move"),
    "generate_move": (replaced(HEAP, "generate_moves", "generate_move"), "generate_moves"),
    "generateMoves": (replaced(HEAP, "generate_moves", "generateMoves"), "generate_moves"),
    "teir": (HEAP + "\n    def teir(self, heap):\n        return self.size - heap\n", "tier"),
    "tie": (HEAP + "\n    def tie(self, heap):\n        return self.size - heap\n", "tier"),
}


@pytest.mark.parametrize("name", MISSPELT)
def test_a_misspelt_member_is_refused(name, tmp_path, monkeypatch):
    source, meant = MISSPELT[name]
    file = tmp_path / "mine.py"
    file.write_text(source)
    told = retrograde("check", file, status=1).stdout
    assert f"{name}: did you mean {meant}?" in told
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    told = retrograde("solve", file, status=1).stderr
    assert told.startswith(f"retrograde: error: mine breaks the contract: {name}: did you mean {meant}?")
    assert not list(tmp_path.glob("*.h5"))


@pytest.mark.parametrize("source", [ROW, PUZZLE, HEAP, HEAP + IMAGES])
def test_the_same_rules_rightly_spelt_are_not_refused(source, tmp_path):
    (tmp_path / "mine.py").write_text(source)
    assert find_misspelt(type(load_game(f"{tmp_path / 'mine.py'}"))) is None


IMAGE = "def image(self, heap):\n        return heap\n"
READ = {
    "by a method": f"{IMAGE}\n    def images(self, heap):\n        yield self.image(heap)",
    "by its class": "tie = 3\n    tiers_left = tie",
    "by name": f"{IMAGE}\n    def show(self, heap):\n        return getattr(self, 'image')",
    "with an underscore": replaced(IMAGE, "image", "_image"),
}


@pytest.mark.parametrize("how", READ)
def test_a_helper_that_something_reads_is_not_refused(how, tmp_path):
    (tmp_path / "mine.py").write_text(f"{HEAP}\n    {READ[how]}\n")
    assert find_misspelt(type(load_game(f"{tmp_path / 'mine.py'}"))) is None


def test_a_member_that_only_calls_itself_is_read_by_nobody(tmp_path):
    (tmp_path / "mine.py").write_text(f"{HEAP}\n    def image(self, heap):\n        return self.image(heap - 1)\n")
    assert find_misspelt(type(load_game(f"{tmp_path / 'mine.py'}"))) == ("image", "images")


def test_what_a_base_class_lets_games_declare_may_be_misspelt_as_well(tmp_path):
    source = "from retrograde.games.nim import Nim\n\n\nclass Mine(Nim):\n    def chilren(self):\n        return 1\n"
    (tmp_path / "mine.py").write_text(source + "\n    def estimat(self, position):\n        return 1\n")
    assert find_misspelt(type(load_game(f"{tmp_path / 'mine.py'}:heaps=1+2"))) == ("estimat", "estimate")


@pytest.mark.parametrize("name", BUILT_IN)
def test_no_game_of_ours_is_refused(name):
    assert find_misspelt(game_class(name)) is None


def all_below(cls):
    """Yield all classes that are derived from one."""
    for below in cls.__subclasses__():
        yield below
        yield from all_below(below)


def test_no_game_of_a_test_is_refused():
    files = [file.stem for file in (ROOT / "tests" / "helpers").glob("*.py")]
    for name in files:
        if name != "ranks" or find_spec("mpi4py"):  # "ranks" needs it
            importlib.import_module(f"tests.helpers.{name}")
    classes = [cls for cls in all_below(Game) if cls.__module__.startswith("tests.helpers.")]
    assert len(classes) > 20
    assert [cls for cls in classes if find_misspelt(cls)] == []


# What `check` understood


@pytest.mark.long
def test_check_prints_what_it_understood(tmp_path):
    (tmp_path / "walk.py").write_text(PUZZLE)
    told = retrograde("check", tmp_path / "walk.py").stdout
    assert "  players: 1; end: primitive; computed: remoteness; symmetric images: no; tiers: no; " in told
    assert "positions numbered: no; moves named by: their numbers; options: none\n" in told


POINTS = """
from retrograde.games import LOSE, UNDECIDED, Game

class Points(Game):
    start = 7
    rising: bool = False

    def generate_moves(self, heap):
        yield from range(1, min(2, heap) + 1)

    def do_move(self, heap, taken):
        return heap - taken

    def primitive(self, heap):
        return UNDECIDED if heap else LOSE

    def payoff(self, heap, player):
        return 0

    def reward(self, heap, taken, player):
        return taken if player == 0 else 0

    def tier(self, heap):
        return 7 - heap if self.rising else 0
"""


@pytest.mark.thorough
def test_check_says_that_solve_will_refuse_moves_that_pay_and_stay_in_their_tier(tmp_path):
    file = tmp_path / "points.py"
    file.write_text(POINTS)
    assert "computed: score, which solve refuses, because move 1 at 7 pays" in retrograde("check", file).stdout
    assert "stays in its tier()" in retrograde("solve", file, status=1).stderr
    assert "computed: score; " in retrograde("check", f"{file}:rising").stdout
    assert "Score: " in retrograde("solve", f"{file}:rising").stdout


def test_check_says_that_solve_will_refuse_nimbers(tmp_path):
    file = tmp_path / "last.py"
    file.write_text(HEAP.replace("return LOSE if", "return WIN if").replace("import LOSE", "import WIN").replace(
        "class Heap(Game):", "class Last(Game):\n    metric = 'nimber'"))  # fmt: skip
    why = "nimbers need a game in which a player who cannot move loses"
    assert f"computed: nimber, which solve refuses: {why}" in retrograde("check", file).stdout
    assert why in retrograde("solve", file, status=1).stderr
    assert check(load_game("nim"), 300, 0.2, compiled=False).understood["computed"] == "nimber"


UNDERSTOOD = {
    "tictactoe": {"players": "2, alternating", "symmetric images": "8", "moves named by": "the places of the board"},
    "nim3:3": {"players": "3, by turn", "computed": "utilities", "end": "primitive"},
    "pig:10": {"players": "2, by turn, with chance", "computed": "expectation", "moves named by": "move_name"},
    "chess:KQK": {"positions numbered": "yes", "tiers": "yes", "parents": "yes", "options": "material=KQK"},
}


@pytest.mark.long
@pytest.mark.parametrize("variant", UNDERSTOOD)
def test_what_is_understood_is_what_the_rules_say(variant):
    meant = check(load_game(variant), 300, 0.2, compiled=False).understood
    assert {about: meant[about] for about in UNDERSTOOD[variant]} == UNDERSTOOD[variant]


def test_constants_without_annotation_are_no_options_and_how_they_become_some_is_told(tmp_path):
    (tmp_path / "mine.py").write_text(replaced(HEAP, "size: int = 10", "size = 10"))
    with pytest.raises(VariantError, match=r"mine has no option 'size=5'; to make it one, annotate it: size: int = 10"):
        load_game(f"{tmp_path / 'mine.py'}:size=5")
