"""Parents that follow from how men slide: held against all slides of all positions, made one by one."""

from functools import cache
from itertools import combinations, product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from retrograde.games import UNDECIDED, RuleError
from retrograde.games.catalog import load_game
from retrograde.games.contract.drawing import grid
from retrograde.games.kinds.apart import PlacedApart, apart
from retrograde.games.kinds.placed import placements
from retrograde.games.kinds.sliding import Sliding, joined
from retrograde.solver.conformance.check import check
from tests.helpers.marks import thorough_but


def parents_by_moves(game):
    """Return for each position of a slot its parents within its tier, by the moves of all positions."""
    slots = [game.unindex(tier, slot) for tier in game.tiers for slot in range(game.size(tier))]
    found = {position: set() for position in slots if position >= 0}
    for position in found:
        if game.primitive(position) == UNDECIDED:
            for move in game.generate_moves(position):
                child = game.canonical(game.do_move(position, move))
                if game.tier(child) == game.tier(position):
                    found[child].add(position)
    return found


@pytest.mark.parametrize("variant", ["teeko:3,2", "teeko:3,3", "baghchal:3,1,3,1", "baghchal:3,2,4,2,no", "morris:3"])
def test_parents_of_games_are_those_from_which_moves_lead_there(variant):
    game = load_game(variant)
    for position, expected in parents_by_moves(game).items():
        given = {game.canonical(parent) for parent in game.parents(position)}
        assert all(game.tier(parent) == game.tier(position) for parent in given)
        assert {parent for parent in given if game.primitive(parent) == UNDECIDED} == expected


@pytest.mark.long
@pytest.mark.parametrize("variant", thorough_but(["lasker:3", "morris:3,no"], "morris:3,no"))
def test_parents_of_more_games_are_those_from_which_moves_lead_there(variant):
    test_parents_of_games_are_those_from_which_moves_lead_there(variant)


# Declarations of any kind


@st.composite
def declarations(draw):
    """Draw placements on a small board, and slides by men and number."""
    board = grid(*draw(st.sampled_from([(2, 1), (3, 1), (2, 2)])))
    cells, kinds = board.count, draw(st.integers(1, 2))
    swap = (1, 0) if kinds == 2 and draw(st.booleans()) else ()
    turned = range(cells)[::-1] if swap and draw(st.booleans()) else range(cells)
    symmetries = board.symmetries if draw(st.booleans()) else ()
    numbers = (0, 2) if swap else (0, 1, 2)
    levels = {number: draw(st.integers(0, 1)) for number in numbers}
    every = [men for men in product(range(3), repeat=kinds) if 0 < sum(men) <= cells]
    sections = [(2 * sum(men) + levels[number], men, number) for men in every for number in numbers]
    declared = placements(cells, sections, symmetries, swap, turned)
    reach = st.sets(st.tuples(st.integers(0, cells - 1), st.integers(0, cells - 1)), min_size=1).map(
        lambda pairs: symmetric(declared, pairs)
    )
    slides = {}
    for men in every:
        for number in numbers:
            later = [to for to in range(4 if swap else 3) if levels[to & ~1 if swap else to] >= levels[number]]
            ways = st.tuples(st.integers(0, kinds - 1), st.sampled_from(later), reach)
            slides[men, number] = draw(st.lists(ways, max_size=2))
    return declared, slides


def symmetric(declared, pairs):
    """Return for each cell those that pairs lead to from there, or symmetric pairs."""
    orders = declared.symmetries
    found = [{order.index(to) for order in orders for one, to in pairs if order.index(one) == at} for at in range(9)]
    return tuple(sum(1 << to for to in cells) for cells in found[: declared.cells])


def game_of(declared, slides):
    class Any(Sliding):
        placements = declared

        def slides(self, men, number):
            return slides[men, number]

    return Any()


def children(declared, slides, signs, number):
    """Yield the positions after all slides, each as what stands on its cells and the number."""
    swap, order = declared.swap, declared.swap_order
    second = number & 1 if swap else 0
    if second:  # as the other player sees it, and back
        exchanged = tuple(swap[signs[at]] if signs[at] >= 0 else -1 for at in order)
        for after, then in children(declared, slides, exchanged, number ^ 1):
            yield tuple(swap[after[at]] if after[at] >= 0 else -1 for at in order), then ^ 1
        return
    men = tuple(signs.count(kind) for kind in range(declared.kinds))
    for kind, then, reach in slides.get((men, number), ()):
        for source, target in product(range(declared.cells), repeat=2):
            if signs[source] == kind and signs[target] == -1 and reach[source] >> target & 1:
                after = list(signs)
                after[source], after[target] = -1, kind
                yield tuple(after), then


def coded(declared, signs, number):
    """Return the int that a position is."""
    bits = sum(1 << cell + kind * declared.cells for cell, kind in enumerate(signs) if kind >= 0)
    return bits | number << declared.cells * declared.kinds


@settings(max_examples=12)
@given(declarations())
def test_parents_are_all_positions_of_the_tier_from_which_slides_lead_there(declaration):
    declared, slides = declaration
    game = game_of(declared, slides)
    every = list(product(product(range(-1, declared.kinds), repeat=declared.cells), range(4)))
    expected = {coded(declared, *one): set() for one in every}
    for signs, number in every:
        parent = coded(declared, signs, number)
        for child in children(declared, slides, signs, number):
            if game.tier(coded(declared, *child)) == game.tier(parent) >= 0:
                expected[coded(declared, *child)].add(parent)
    assume(any(expected.values()))
    assert {position: set(game.parents(position)) for position in expected} == expected


# Declarations that are wrong

BESIDE = joined(4, [(0, 1), (0, 2), (1, 3), (2, 3)])
ALL = joined(4, combinations(range(4), 2))


class Two(Sliding):
    """Two men against one, on four cells; who cannot slide has lost."""

    start = 0b1000_0011
    placements = placements(4, [(0, (2, 1)), (0, (1, 2))], grid(2, 2).symmetries, swap=(1, 0))

    def slides(self, men, number):
        return [(0, 1, BESIDE)]

    def generate_moves(self, position):
        turn, filled = position >> 8, position | position >> 4
        for source in range(4):
            for target in range(4):
                beside = source != target and source + target != 3
                if beside and position >> 4 * turn + source & 1 and not filled >> target & 1:
                    yield 4 * source + target

    def do_move(self, position, move):
        return position ^ (1 << move // 4 | 1 << move % 4) << 4 * (position >> 8) ^ 1 << 8


class Aslant(Two):
    """Two men may not come to stand cornerwise."""

    def generate_moves(self, position):
        for move in super().generate_moves(position):
            if not self.aslant(self.do_move(position, move)):
                yield move

    def slid(self, position, cell):
        return not self.aslant(position)

    def aslant(self, position):
        """Tell whether any two men of a kind do."""
        return position & 9 == 9 or position & 6 == 6 or position >> 4 & 9 == 9 or position >> 4 & 6 == 6


class AslantBySuper(Aslant):
    def slid(self, position, cell):
        return True

    def parents(self, position):
        for parent in super().parents(position):
            if not self.aslant(position):
                yield parent


class Fewer(Two):
    def slides(self, men, number):
        return [(0, 1, BESIDE)] if men == (2, 1) else []


class More(Two):
    def slides(self, men, number):
        return [(0, 1, ALL)]


@pytest.mark.parametrize("game", [Two(), Aslant(), AslantBySuper()], ids=str)
def test_slides_that_are_right_keep_the_contract(game):
    report = check(game, seconds=60, compiled=False)
    assert report.ok, report.findings
    assert "parents" in report.checks


@pytest.mark.thorough
@pytest.mark.parametrize("game", [Two(), AslantBySuper()], ids=str)
def test_slides_that_are_right_keep_the_contract_compiled(game):
    report = check(game, seconds=60)
    assert report.ok, report.findings
    assert "compiled" in report.checks


@pytest.mark.parametrize(("game", "words"), [(Fewer(), "does not yield"), (More(), "from which no move leads here")])
def test_slides_that_are_wrong_are_found_by_check(game, words):
    findings = check(game, seconds=60, compiled=False).findings
    assert {finding.rule for finding in findings} == {"parents"}
    assert any(words in str(finding) for finding in findings)


FAULTS = {
    "must give (kind, number, cells in reach of each cell) for each way to slide": [(0, 1)],
    "slides((2, 1), 0) must give (kind, number": 7,
    "has kind 2 and number 1; there are 2 kinds, from 0": [(2, 1, BESIDE)],
    "has kind 0 and number -1": [(0, -1, BESIDE)],
    "must have some of 4 cells as bits for each; it has (1, 2, 4)": [(0, 1, (1, 2, 4))],
    "must have some of 4 cells as bits for each; it has (16, 0, 0, 0)": [(0, 1, (16, 0, 0, 0))],
    "are not the same by the symmetries of placements": [(0, 1, (2, 0, 0, 0))],
    "lead to 2-1 #4, which has tier 0, a lower one than 1": [(0, 4, BESIDE)],
    "lead to 1-2 #2, which placements do not have": [(0, 3, BESIDE)],
    "no slides of Faulty stay in a tier": [(0, 6, BESIDE)],
}


@cache
def faulty_placements():
    """Return placements that share their symmetries, which take a while to list."""
    return placements(4, [(1, (2, 1)), (1, (1, 2)), (0, (2, 1), 4), (2, (2, 1), 6)], grid(2, 2).symmetries, swap=(1, 0))


@pytest.mark.parametrize("words", FAULTS)
def test_slides_that_cannot_be_meant_are_told_in_one_line(words):
    with pytest.raises(RuleError) as error:
        next(with_slides(FAULTS[words]).parents(0b1000_0011))
    assert words in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("words", thorough_but(FAULTS, next(iter(FAULTS))))
def test_check_tells_of_slides_that_cannot_be_meant(words):
    report = check(with_slides(FAULTS[words]), seconds=60, compiled=False)
    assert any(words in str(finding) for finding in report.findings)


def with_slides(wrong):
    """Return a game in which some men slide in a wrong way."""

    class Faulty(Two):
        placements = faulty_placements()

        def slides(self, men, number):
            return wrong if (men, number) == ((2, 1), 0) else []

    return Faulty()


def test_slides_are_not_asked_of_kinds_that_have_no_man():
    class Few(Two):
        placements = placements(4, [(0, (1, 0)), (0, (0, 1))], swap=(1, 0))

    assert set(Few().parents(0b1_0000_0001)) == {0b0010, 0b0100}
    assert not set(Few().parents(0b0000_0001))


def test_a_game_that_says_no_slides_is_told_what_is_missing():
    class Bare(Sliding):
        placements = Two.placements

    with pytest.raises(RuleError, match=r"Bare needs slides\(men, number\)"):
        next(Bare().parents(0))


def test_slides_are_for_positions_that_are_one_int():
    class Wide(Sliding, PlacedApart):
        placements = apart(40, [(0, (1, 1), 0), (0, (1, 1), 1)])

    with pytest.raises(RuleError, match="Wide has tuples for positions"):
        next(Wide().parents((0, 1, 2)))


def test_what_is_no_placement_has_no_parents():
    assert not list(Two().parents(0b0001_0001))
