"""Rules that do not compile: they keep the contract, and the line and what stands there are told in words."""

import json
import re
import threading
import warnings
from fractions import Fraction
from functools import cached_property

import pytest
from numba import njit

from retrograde.games import LOSE, UNDECIDED, WIN, Cells
from retrograde.games.catalog import load_game
from retrograde.solver.conformance.check import check
from retrograde.solver.rules import compiled, ports
from retrograde.solver.rules.examine import NotCompilable
from retrograde.solver.rules.reason import compilable
from retrograde.solver.search.searcher import Search
from tests.helpers.command_line import HEAP, retrograde
from tests.helpers.heap import Heap
from tests.helpers.marks import thorough_but

pytestmark = pytest.mark.long

NAMES = {0: "none"}
BIG = 1 << 70
ORDER = [1, 2]
PAIRS = {1: 2}
ENDS = ["none"]
SET = {"none"}
ROWS = ((0, 0), (0, 0, 0)) * 150 + ((0, 0, 0, 0),)


class Counter:
    """Something with a number in it."""

    def __init__(self, number):
        self.number = number


def down(number):
    return 0 if number == 0 else down(number - 1)  # told: the function calls itself


class Dict(Heap):
    def primitive(self, heap):
        return LOSE if heap in NAMES else UNDECIDED  # told: NAMES is a dict outside the function


class Formatted(Heap):
    def primitive(self, heap):
        return LOSE if f"{heap:b}" == "0" else UNDECIDED  # told: compiled code does not know formats in f-strings


class Percent(Heap):
    def primitive(self, heap):
        return LOSE if "%d" % heap == "0" else UNDECIDED  # noqa: UP031  # told: compiled code does not know mod(str, int


class Super(Heap):
    def primitive(self, heap):
        return super(Heap, self).primitive(heap)  # told: compiled code knows super() only as in


class Instance(Heap):
    def primitive(self, heap):
        return LOSE if Counter(heap).number == 0 else UNDECIDED  # told: Counter is a class, which compiled code


class Fractional(Heap):
    def do_move(self, heap, taken):
        return int(Fraction(heap) - taken)  # told: Fraction is a class


class Recursive(Heap):
    def do_move(self, heap, taken):
        return heap - taken + down(heap)


class Binary(Heap):
    def primitive(self, heap):
        return LOSE if bin(heap) == "0b0" else UNDECIDED  # told: compiled code does not know bin()


class SortedByMethod(Heap):
    def do_move(self, heap, taken):
        return max([heap - taken, 0], key=(0).__add__)  # told: compiled code does not know


class Import(Heap):
    def do_move(self, heap, taken):
        import math  # told: an import belongs to the top of the file

        return math.floor(heap - taken)


class BigNumber(Heap):
    def do_move(self, heap, taken):
        return (heap & BIG - 1) - taken  # told: 1180591620717411303424 has more than 64 bits


class List(Heap):
    def primitive(self, heap):
        return LOSE if ENDS[heap] else UNDECIDED  # told: ENDS is a list outside the function


class Set(Heap):
    def primitive(self, heap):
        return LOSE if heap in SET else UNDECIDED  # told: SET is a set outside the function


class Joined(Heap):
    def primitive(self, heap):
        return LOSE if len(ORDER + [heap]) == 3 else UNDECIDED  # noqa: RUF005  # told: ORDER is a list outside


class KeysOf(Heap):
    def primitive(self, heap):
        for key in PAIRS:  # told: compiled code does not go through a dict; write .keys()
            heap -= key
        return LOSE if heap == 0 else UNDECIDED


class Unified(Heap):
    def do_move(self, heap, taken):
        pair = (1, 2) if heap > 3 else (1,)  # told: a name stands for
        return heap - taken + 0 * len(pair)


class ForPeople(Heap):
    def do_move(self, heap, taken):
        return heap - taken + 0 * len(self.write(heap))  # told: it asks a method that is for people


class Excepting(Heap):
    def do_move(self, heap, taken):
        try:
            return heap - taken
        except ValueError:  # told: compiled code knows only `except Exception`
            return heap


class RowsInClass(Heap):
    rows = ROWS

    def do_move(self, heap, taken):
        return heap - taken + 0 * len(self.rows[heap])  # told: the rows of rows differ in length


class RowsOfProperty(Heap):
    @cached_property
    def steps(self):
        return ROWS

    def do_move(self, heap, taken):
        return heap - taken + 0 * len(self.steps[heap])  # told: the rows of steps differ in length; make them of one


class Strict(Heap):
    def do_move(self, heap, taken):
        for one, other in zip((0,), (0,), strict=True):  # told: the compiler raises AssertionError
            heap += one + other
        return heap - taken


class With(Heap):
    def primitive(self, heap):
        with threading.Lock():  # told: unsupported context manager
            return LOSE if heap == 0 else UNDECIDED


class Stepping(Heap):
    cells = Cells(9, X="cross")
    start = 10

    def do_move(self, heap, taken):
        return heap - taken + 0 * self.cells.steps((1, 0))[0][0]  # told: rules cannot call steps(); make its table


SLOW = [
    *(Dict, Formatted, Percent, Super, Instance, Fractional, Recursive, Binary, SortedByMethod, Import, BigNumber),
    *(Stepping, With, List, Set, Joined, KeysOf, Unified, ForPeople, Excepting, Strict, RowsInClass, RowsOfProperty),
]


@njit
def ask(game, position):
    """Compile two rules, as the solver's kernels do, and nothing else: that is quick."""
    return game.primitive(position) + 0, game.do_move(position, 1)


@pytest.mark.parametrize(
    "game", thorough_but(SLOW, Dict, Recursive, Import, List, Excepting, RowsInClass), ids=lambda game: game.__name__
)
def test_line_and_construct_are_told(game):
    compiled.prepare(game())
    with pytest.raises(NotCompilable) as caught, compilable(game()):
        ask(game(), 9)
    told = str(caught.value)
    found = re.fullmatch(r"the rules of test_reason do not compile: test_reason\.py, line (\d+): `(.*)`: (.*)", told)
    assert found, told
    with open(__file__, encoding="utf-8") as file:
        line = file.read().splitlines()[int(found[1]) - 1].strip()
    assert line == found[2]
    assert found[3].startswith(line.split("# told: ")[1])
    assert found[3].count(";") == 1 or "super" in found[3] or "top of the file" in found[3], "a remedy"
    assert "0x" not in told
    assert "locals" not in told


class Table(Heap):
    weights = (0.5, 1.5)

    def do_move(self, heap, taken):
        return int(heap - taken + 0 * self.weights[0])


def test_a_table_that_does_not_fit_is_told():
    report = check(Table(), seconds=0.3)
    assert report.ok
    assert report.slow.endswith("weights is (0.5, 1.5); a table must hold whole numbers, in rows of one length")


def test_the_command_says_that_it_works_slowly(tmp_path):
    file = tmp_path / "heap.py"
    file.write_text(HEAP.replace("heap == 0", "NAMES.get(heap, '')") + "\n\nNAMES = {0: 'none'}\n")
    text = " ".join(retrograde("check", str(file)).stdout.split())
    assert text.startswith("heap: keeps the contract players: 2, alternating")
    assert " it works, slowly: the rules of heap do not compile: heap.py, line" in text
    report = json.loads(retrograde("check", str(file), "--json").stdout)
    assert (report["ok"], report["compiles"]) == (True, False)
    assert "NAMES is a dict" in report["slow"]


@pytest.fixture
def ragged(tmp_path, monkeypatch):
    """Return the file of rules with a table whose rows differ in length."""
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)  # where `export` and `plot` put their files
    path = tmp_path / "ragged.py"
    path.write_text(HEAP.replace("heap - taken", "NEXT[heap][taken - 1]") + NEXT)
    return path


NEXT = "\n\nNEXT = tuple(tuple(heap - taken for taken in (1, 2, 3) if taken <= heap) for heap in range(999))\n"
TOLD = (
    "the rules of ragged do not compile: the rows of NEXT differ in length; make them of one length, as with -1 at "
    "their ends, or have at most 256 rows"
)
PLAYERS = ["--first", "perfect", "--second", "random"]
ARGUMENTS = {"query": ["10"], "match": ["perfect", "random", "--games", "2"], "play": PLAYERS, "book": ["--plies", "2"]}
OPTIONS = {"--metric": ["score"], "--against": ["random"]}


@pytest.mark.thorough
def test_every_command_takes_rules_that_do_not_compile(ragged):
    report = json.loads(retrograde("check", ragged, "--json").stdout)
    assert (report["ok"], report["compiles"]) == (True, False)
    told = retrograde("check", ragged).stdout
    assert f"  it works, slowly: {TOLD}\n" in told and "refuse" not in told
    for command in ("query", "play", "match", "search", "book"):
        retrograde(command, ragged, *ARGUMENTS.get(command, []))
    retrograde("solve", ragged, "--metric", "score")


def test_rules_that_do_not_compile_go_on_as_calls_with_one_warning(ragged, monkeypatch):
    monkeypatch.setattr(ports, "PATIENCE", 0.0)
    game = load_game(str(ragged))
    with pytest.warns(UserWarning, match="the rules of ragged do not compile: .*; they run interpreted, which is slow"):
        found = Search(game).find(10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Search(game).find(10).value == found.value == WIN


def test_the_other_commands_take_it_once_it_is_solved(ragged):
    retrograde("solve", ragged)
    for command in ("query", "play", "match", "verify", "info", "export", "plot"):
        retrograde(command, ragged, *ARGUMENTS.get(command, []))


@pytest.mark.parametrize("command", ["search", "prove"])
def test_a_search_says_so_as_well(command, tmp_path):
    path = tmp_path / "hinted.py"
    path.write_text(HEAP + "\n    def promise(self, position, move):\n        return move / 2\n", encoding="utf-8")
    done = retrograde(command, path, status=1)
    assert done.stderr.splitlines()[-1].endswith(
        "promise() of hinted gives 0.5; it must give an int (to divide ints, write //)"
    )
