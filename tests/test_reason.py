"""Rules that do not compile: they keep the contract, and the line and what stands there are told in words."""

import json
import re
import threading
from fractions import Fraction

import pytest
from numba import njit

from retrograde.games import LOSE, UNDECIDED
from retrograde.solver.conformance.check import check
from retrograde.solver.rules import compiled
from retrograde.solver.rules.reason import NOT_COMPILED, reason
from tests.command_line import HEAP, retrograde
from tests.heap import Heap

pytestmark = pytest.mark.long

NAMES = {0: "none"}
BIG = 1 << 70


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


class Generator(Heap):
    def primitive(self, heap):
        return UNDECIDED if any(heap > k for k in (0, 1)) else LOSE  # told: compiled code does not know generator


class Binary(Heap):
    def primitive(self, heap):
        return LOSE if bin(heap) == "0b0" else UNDECIDED  # told: compiled code does not know bin()


class SortedByKey(Heap):
    def do_move(self, heap, taken):
        return max([heap - taken, 0], key=lambda number: number)  # told: compiled code does not know max(list(int64)


class Import(Heap):
    def do_move(self, heap, taken):
        import math  # told: an import belongs to the top of the file

        return math.floor(heap - taken)


class BigNumber(Heap):
    def do_move(self, heap, taken):
        return (heap & BIG - 1) - taken  # told: 1180591620717411303424 has more than 64 bits


class With(Heap):
    def primitive(self, heap):
        with threading.Lock():  # told: unsupported context manager
            return LOSE if heap == 0 else UNDECIDED


SLOW = [
    *(Dict, Formatted, Percent, Super, Instance, Fractional, Recursive, Generator, Binary, SortedByKey, Import),
    *(BigNumber, With),
]


@njit
def ask(game, position):
    """Compile two rules, as the solver's kernels do, and nothing else: that is quick."""
    return game.primitive(position) + 0, game.do_move(position, 1)


@pytest.mark.parametrize("game", SLOW, ids=lambda game: game.__name__)
def test_line_and_construct_are_told(game):
    compiled.prepare(game())
    with pytest.raises(NOT_COMPILED) as caught:
        ask(game(), 9)
    told = reason(game(), caught.value)
    found = re.fullmatch(r"the rules of test_reason do not compile: test_reason\.py, line (\d+): `(.*)`: (.*)", told)
    assert found, told
    with open(__file__, encoding="utf-8") as file:
        line = file.read().splitlines()[int(found[1]) - 1].strip()
    assert line == found[2]
    assert found[3].startswith(line.split("# told: ")[1])
    assert "0x" not in told
    assert "locals" not in told


class Table(Heap):
    weights = (0.5, 1.5)

    def do_move(self, heap, taken):
        return int(heap - taken + 0 * self.weights[0])


def test_a_table_that_does_not_fit_is_told():
    report = check(Table(), seconds=0.3)
    assert report.ok
    assert report.slow.endswith("a table must hold whole numbers, in rows of one length; this one is (0.5, 1.5)")


def test_the_command_says_that_it_works_slowly(tmp_path):
    file = tmp_path / "heap.py"
    file.write_text(HEAP.replace("heap == 0", "heap in NAMES") + "\n\nNAMES = {0: 'none'}\n")
    text = " ".join(retrograde("check", str(file)).stdout.split())
    assert text.startswith("heap: keeps the contract it works, slowly: the rules of heap do not compile: heap.py, line")
    report = json.loads(retrograde("check", str(file), "--json").stdout)
    assert (report["ok"], report["compiles"]) == (True, False)
    assert "NAMES is a dict" in report["slow"]


@pytest.mark.parametrize("command", ["search", "prove"])
def test_a_search_says_so_as_well(command, tmp_path):
    path = tmp_path / "hinted.py"
    path.write_text(HEAP + "\n    def promise(self, position, move):\n        return move / 2\n", encoding="utf-8")
    done = retrograde(command, path, status=1)
    what = "a rule gives a float64 where it must give an int (to divide ints, write //)"
    assert done.stderr.splitlines()[-1] == f"retrograde: error: the rules of hinted do not compile: {what}"
