"""Nim-sequences: against published nimbers and periods, slow recursion and the moves of the rules."""

import json
from functools import reduce
from operator import xor
from random import Random

import numpy as np
import pytest

from retrograde.cli.render.nimbers import rows_of
from retrograde.games.catalog import load_game
from retrograde.games.contract.heap_code import options_of, sizes_in
from retrograde.games.grundy import Grundy
from retrograde.games.octal import Octal
from retrograde.solver.conformance.check import check
from retrograde.solver.search import nim_sequence
from retrograde.solver.search.nim_sequence import LARGEST, NimSequence, Period, period_of
from tests.helpers.command_line import retrograde

PERIODS = {
    # Berlekamp, Conway and Guy, Winning Ways, chapter 4; OEIS A002186, A002187, A071453, A071434, A071452, A071435.
    # They give the last exception, which is one before the first heap of the period.
    ".77": Period(71, 12),
    ".07": Period(53, 34),
    ".137": Period(52, 34),
    ".117": Period(47, 48),
    ".1377": Period(141, 24),
    ".11377": Period(187, 32),
    ".177": Period(497, 20),
    # A. Flammenkamp, Sprague-Grundy values of octal games
    ".165": Period(5181, 1550),
    ".356": Period(7315, 142),
    ".644": Period(3256, 442),
}
GRUNDY = (
    # OEIS A002188, from heap 0 on
    *(0, 0, 0, 1, 0, 2, 1, 0, 2, 1, 0, 2, 1, 3, 2, 1, 3, 2, 4, 3, 0, 4, 3, 0, 4, 3, 0, 4, 1, 2, 3, 1, 2, 4, 1, 2, 4),
    *(1, 2, 4, 1, 5, 4, 1, 5, 4, 1, 5, 4, 1, 0, 2, 1, 0, 2, 1, 5, 2, 1, 3, 2, 1, 3, 2, 4, 3, 2, 4, 3, 2, 4, 3, 2, 4),
)


def code_of(text):
    return Octal(text).heap_code


def nimbers_by_recursion(code, count):
    """Return the nimbers of the first heaps by the definition."""
    nimbers = []
    for heap in range(count):
        reached = {reduce(xor, (nimbers[size] for size in left), 0) for left in options_of(code, heap)}
        nimbers.append(next(nimber for nimber in range(count) if nimber not in reached))
    return nimbers


@pytest.mark.parametrize("text", PERIODS)
def test_periods_of_octal_games_are_as_published(text):
    sequence = NimSequence(code_of(text))
    sequence.find(16384)
    assert sequence.period == PERIODS[text]


@pytest.mark.parametrize("text", [".77", ".07", ".137"])
def test_a_period_is_proved_by_as_many_heaps_as_the_theorem_asks_for_and_by_no_fewer(text):
    """Guy and Smith: the nimbers must repeat up to heap 2 n0 + 2 p + k - 1, where a move takes at most k."""
    code, (first, length) = code_of(text), PERIODS[text]
    sequence = NimSequence(code)
    sequence.find(1000)
    enough = 2 * first + 2 * length + len(code) - 1
    assert period_of(sequence.values[:enough], sequence.code) == (first, length)
    assert period_of(sequence.values[: enough - 1], sequence.code) is None


def test_no_period_is_proved_for_games_that_are_not_octal():
    """However long the nimbers repeat: the theorem says nothing about them."""
    code = NimSequence(Grundy().heap_code).code
    assert period_of(np.arange(1000) % 3, code) is None


@pytest.mark.thorough
def test_a_period_that_begins_late_is_found():
    """A. Gangolli and T. Plambeck, A note on periodicity in some octal games, 1989."""
    sequence = NimSequence(code_of(".127"))
    sequence.find(100_000)
    assert sequence.period == Period(46578, 4)


def test_grundys_game_has_the_nimbers_that_are_published():
    sequence = NimSequence(Grundy().heap_code)
    assert sequence.find(len(GRUNDY)) is not None
    assert sequence.values[: len(GRUNDY)].tolist() == list(GRUNDY)
    assert sequence.period is None


def test_nimbers_of_all_codes_are_those_of_slow_recursion():
    chance, periods = Random(5), 0
    for _ in range(15):
        code = (chance.choice([0, 0, 4]), *(chance.randrange(8) for _ in range(chance.randrange(1, 6))))
        if chance.random() < 0.3:
            code = (*code, chance.choice([16, 17, 18, 19]))
        slow = nimbers_by_recursion(code, 400)
        sequence = NimSequence(code)
        sequence.find(10)
        assert sequence.values[:400].tolist() == slow, code
        if sequence.period:  # as if fewer heaps were known, so that the others are known by the period
            first, length = sequence.period
            sequence.values = sequence.values[: first + length]
            assert [sequence.nimber(heap) for heap in range(400)] == slow, code
            periods += 1
    assert periods > 3


@pytest.mark.parametrize("code", [(0, 7, 7), (0, 0, 7), (0, 1, 2), (16,), (4, 3)], ids=str)
def test_a_winning_option_leads_to_its_goal_and_is_found_if_there_is_one(code):
    sequence = NimSequence(code)
    sequence.find(5000)
    for heap in [*range(40), 4095, 4096, 4097, 4999, 5000, *[10**15, 10**15 + 7] * (sequence.period is not None)]:
        for goal in range(9):
            left = sequence.winning_option(heap, goal)
            if left is not None:
                assert 0 < len(left) <= 2 or heap < len(code)
                assert reduce(xor, map(sequence.nimber, left), 0) == goal
                assert heap - len(code) < sum(left) <= heap
            elif goal < sequence.nimber(heap):
                pytest.fail(f"no move from {heap} to *{goal}")
            if heap < 40:
                reached = {reduce(xor, map(sequence.nimber, one), 0) for one in options_of(code, heap)}
                assert (left is not None) == (goal in reached)


def test_heaps_that_are_too_large_are_refused_unless_a_period_is_known(monkeypatch):
    assert NimSequence(code_of(".77")).find(10**30) == NimSequence(code_of(".77")).find(72 + (10**30 - 72) % 12)
    stopped = NimSequence(Grundy().heap_code)
    assert stopped.find(LARGEST, seconds=0.05) is None and len(stopped.values) > 1
    monkeypatch.setattr(nim_sequence, "LARGEST", 1 << 14)
    monkeypatch.setattr(nim_sequence, "TRIED_FIRST", 1 << 12)
    with pytest.raises(ValueError, match="no period was found, so a heap may have at most 16,384 objects"):
        NimSequence(Grundy().heap_code).find((1 << 14) + 1)


@pytest.mark.parametrize("text", ["octal:code=.77,n=9", "octal:code=.137,n=9", "octal:code=.6,n=9", "grundy:12"])
def test_codes_are_those_of_the_moves(text):
    report = check(load_game(text), compiled=False)
    assert report.complete and report.checks["heap_code"] == report.positions and not report.findings


class Misdeclared(Octal):
    heap_code = (0, 7, 3)


class Overdone(Grundy):
    heap_code = (4,)


class Nonsense(Grundy):
    heap_code = (8,)


@pytest.mark.parametrize(
    ("game", "what"),
    [
        (Misdeclared(n=9), "lacks a move to 6+1, and the rules have it"),
        (Overdone(12), "has a move to 10+2, and the rules lack it"),
        (Nonsense(12), "each number must be a sum of 1, 2, 4 and 16"),
    ],
    ids=["misdeclared", "overdone", "nonsense"],
)
def test_wrong_codes_are_found(game, what):
    (finding,) = check(game, compiled=False).findings
    assert finding.rule == "heap_code" and what in finding.complaint


def test_sizes_are_read_and_other_texts_refused():
    assert sizes_in("7+3 + 0+3") == [7, 3, 3] and sizes_in("0") == []
    for text in ("", "7+", "7+-3", "x", "²"):
        with pytest.raises(ValueError, match="heaps are written as their sizes"):
            sizes_in(text)


def test_the_table_has_no_rows_of_heaps_whose_nimbers_are_not_known():
    sequence = NimSequence(load_game("octal:code=.77").heap_code)
    assert [row.split() for row in rows_of(sequence).splitlines()[1:]] == [["0", "0"]]


def test_search_prints_nimbers_of_heaps_and_their_period():
    said = retrograde("search", "octal:code=.77", "10000").stdout
    assert "Nimber: *1\nthe player to move wins: 10000>9997+1\n" in said
    assert "nimbers repeat with period 12 from heap 71 on: proved" in said
    found = json.loads(retrograde("search", "grundy", "7+5+3", "--json").stdout)
    assert (found["nimber"], found["move"], found["period"]) == (3, "5>3+2", None)
    assert found["nimbers"][: len(GRUNDY)] == list(GRUNDY)
    assert "the player to move loses" in retrograde("search", "octal", "0").stdout
    assert "not found in" in retrograde("search", "grundy", "1000000", "--time", "0.1").stdout
    assert "wins in" in retrograde("search", "octal", "7", "--metric", "remoteness").stdout


def test_searches_for_nimbers_that_cannot_be_are_refused():
    assert "no position '7+x' of octal" in retrograde("search", "octal", "7+x", status=1).stderr
    said = retrograde("search", "nim", "--metric", "nimber", status=2).stderr
    assert "declare their heap_code; in others, retrograde solve nim --metric nimber computes them" in said
    said = retrograde("search", "octal:n=10000", status=1).stderr
    assert "`retrograde search octal:code=.77 HEAP` finds nimbers of larger heaps" in said
    said = retrograde("search", "octal", "--metric", "nimber", "--depth", "3", status=2).stderr
    assert "nimbers are searched without --depth" in said
