"""Declared placements: numberings held against all placements written down, and games that are models of them."""

import csv
import dataclasses
from collections import Counter
from functools import cached_property
from itertools import product
from math import comb
from random import Random
from types import SimpleNamespace

import pytest

from retrograde.databases import DatabaseFile, open_database
from retrograde.games import LOSE, UNDECIDED, RuleError, Value
from retrograde.games.catalog import load_game
from retrograde.games.contract.drawing import grid
from retrograde.games.kinds.placed import Placed, placements
from retrograde.games.kinds.placements import closed, composed, inverse, reordered
from retrograde.games.morris import Morris
from retrograde.solver.conformance.check import check
from retrograde.solver.engine import solve
from retrograde.solver.methods.numbered.method import find_sources
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.verification.verify import verify
from tests.helpers import reference, three_men
from tests.helpers.marks import thorough, thorough_but
from tests.helpers.paths import ROOT
from tests.helpers.reached import MorrisOfBoth, QuixoOfBoth, by_value, counts_reached
from tests.helpers.solving import counts, outcomes

pytestmark = pytest.mark.long

WIN, DRAW = Value.WIN, Value.DRAW


class Stones(Placed):
    """No game, only placements: of some kinds on a board, their number the tier; see `exchange`."""

    width: int = 2
    height: int = 2
    kinds: int = 2
    exchange: str = ""

    @cached_property
    def placements(self):
        cells = self.width * self.height
        counts = [men for men in product(range(cells + 1), repeat=self.kinds) if sum(men) <= cells]
        board = grid(self.width, self.height).symmetries
        symmetries = {"": board, "turned": (), "none": ()}[self.exchange]
        swap = () if self.exchange == "none" else (1, 0, *range(2, self.kinds))
        order = range(cells)[::-1] if self.exchange == "turned" else ()
        return placements(cells, ((sum(men), men) for men in counts), symmetries, swap, order)


def all_placements(game):
    """Yield all positions that are declared, written down cell by cell, with either player to move where it is told."""
    declared = game.placements
    for signs in product(range(declared.kinds + 1), repeat=declared.cells):
        position = sum(1 << cell + declared.cells * (sign - 1) for cell, sign in enumerate(signs) if sign)
        for turn in range(1 + bool(declared.swap)):
            yield position | turn << declared.cells * declared.kinds


def image_by_cells(game, position, order, exchanged):
    """Return an image of a position, cell by cell."""
    declared, image = game.placements, 0
    for kind in range(declared.kinds):
        for place, cell in enumerate(order):
            there = position >> cell + declared.cells * kind & 1
            image |= there << place + declared.cells * (declared.swap[kind] if exchanged else kind)
    turn = position >> declared.cells * declared.kinds
    return image | (turn ^ exchanged) << declared.cells * declared.kinds


def images_by_cells(game, position):
    """Return all positions equal by symmetry."""
    declared = game.placements
    plain = {image_by_cells(game, position, order, 0) for order in declared.symmetries}
    if not declared.swap:
        return plain
    return plain | {image_by_cells(game, image, declared.swap_order, 1) for image in plain}


SMALL = [
    *(Stones(2, 2), Stones(3, 2), Stones(1, 3), Stones(4, 1, 3), Stones(2, 2, 3), Stones(3, 2, 1, "none")),
    *(Stones(3, 2, 2, "turned"), Stones(2, 3, 2, "none")),
    pytest.param(Stones(3, 3), marks=pytest.mark.slow, id="3 × 3"),
]


@pytest.mark.parametrize("game", SMALL, ids=str)
def test_each_placement_has_a_slot_of_its_own_but_for_symmetry(game):
    classes: dict[int, set[int]] = {}
    for position in all_placements(game):
        images = images_by_cells(game, position)
        least, tier = min(images), game.tier(position)
        assert set(game.images(position)) == images
        assert game.canonical(position) == least
        assert game.unindex(tier, game.index(position)) == least
        assert game.multiplicity(position) == len(images)
        classes.setdefault(tier, set()).add(least)
    assert sorted(classes) == list(game.tiers)
    for tier, expected in classes.items():
        slots = [game.unindex(tier, slot) for slot in range(game.size(tier))]
        there = [position for position in slots if position >= 0]
        assert len(there) == len(set(there))
        assert set(there) == expected
        assert all(game.index(position) == slot for slot, position in enumerate(slots) if position >= 0)
        assert sum(slots for _, slots in game.parts(tier)) == game.size(tier)


def test_few_slots_of_a_board_are_empty():
    """By Burnside's lemma there are 5,398,083 placements of two kinds on 4 × 4 cells but for its eight symmetries."""
    declared = Stones(4, 4).placements
    slots = sum(subsection.slots for subsection in declared.subsections)
    assert slots == 5_864_611
    fixed = sum(3 ** len(cycles(order)) for order in declared.symmetries)
    assert fixed // 8 == 5_398_083
    assert slots < 1.09 * fixed // 8


def cycles(order):
    """Return the cycles of a symmetry.

    >>> cycles((1, 0, 2))
    {frozenset({0, 1}), frozenset({2})}
    """
    found = set()
    for cell in range(len(order)):
        cycle = {cell}
        while (cell := order[cell]) not in cycle:
            cycle.add(cell)
        found.add(frozenset(cycle))
    return found


LARGE = {"morris": (24, 16, 16), "quixo": (25, 16, 8)}


@pytest.mark.thorough
@pytest.mark.parametrize("name", LARGE)
def test_a_board_of_more_cells_than_are_in_the_table_is_numbered_as_well(name):
    game, dice = load_game(name), Random(7)
    declared = game.placements
    assert (declared.cells, len(declared.key), len(declared.symmetries)) == LARGE[name]
    for section in dice.sample(declared.sections, 40):
        for _ in range(10):
            cells = dice.sample(range(declared.cells), sum(section.men))
            position = sum(1 << cell for cell in cells[: section.men[0]])
            position |= sum(1 << cell + declared.cells for cell in cells[section.men[0] :])
            position |= section.number << 2 * declared.cells
            images = images_by_cells(game, position)
            assert set(game.images(position)) == images
            assert game.multiplicity(position) == len(images)
            slot = game.index(position)
            assert {game.index(image) for image in images} == {slot}
            assert game.tier(position) == section.tier
            assert game.unindex(section.tier, slot) == min(images)


def test_slots_of_a_large_board_stand_for_all_placements():
    """The positions equal to those of all slots of a section are all placements of so many men."""

    class Few(Placed):
        @cached_property
        def placements(self):
            return placements(25, [(0, (2, 1))], grid(5, 5).symmetries)

    game = Few()
    slots = [game.unindex(0, slot) for slot in range(game.size(0))]
    images = [images_by_cells(game, position) for position in slots if position >= 0]
    assert sum(map(len, images)) == len(set().union(*images)) == comb(25, 2) * 23


@pytest.mark.thorough
def test_few_slots_of_nine_mens_morris_are_empty():
    """By Burnside's lemma there are 8,904,593,601 placements of three to nine men each but for sixteen symmetries. R.
    Gasser's hash function gives them 9,074,932,579 numbers, more than these slots."""
    game = load_game("morris")
    declared = game.placements
    moving = [part for part in declared.subsections if part.section.number == 0 and min(part.section.men) > 2]
    men = {part.section.men for part in moving}
    assert men == {(mine, theirs) for mine in range(3, 10) for theirs in range(3, 10)}
    orbits = sum(fixed_by(order, *each) for order in declared.symmetries for each in men) // len(declared.symmetries)
    assert orbits == 8_904_593_601
    assert sum(part.slots for part in moving) == 9_051_356_056
    assert max(game.size(tier) for tier in game.tiers if "#" in game.parts(tier)[0][0]) < 610_000_000


def fixed_by(order, *men):
    """Return how many placements of so many men of each kind a symmetry leaves as they are."""
    ways = Counter({(0,) * len(men): 1})
    for cycle in cycles(order):
        for there, number in list(ways.items()):
            for kind in range(len(men)):
                ways[tuple(count + len(cycle) * (at == kind) for at, count in enumerate(there))] += number
    return ways[men]


def test_what_is_no_placement_has_no_slot():
    game = load_game("quixo:3")
    for position in (1 | 1 << 9, 0b1 << 20, 3 << 18):  # two on a cell, numbers that no section has
        assert game.tier(position) < 0
        assert game.index(position) < 0


def test_symmetries_follow_by_composition():
    quarter = (6, 3, 0, 7, 4, 1, 8, 5, 2)
    assert len(closed(9, [quarter])) == 4
    assert set(closed(9, [quarter, (2, 1, 0, 5, 4, 3, 8, 7, 6)])) == {tuple(range(9)), *grid(3, 3).symmetries}
    for order in grid(3, 3).symmetries:
        assert composed(order, inverse(order)) == tuple(range(9))
        assert reordered(reordered(0b110_100_001, order), inverse(order)) == 0b110_100_001


FAULTS = {
    "must have a section": {"sections": []},
    "one is (0, 3)": {"sections": [(0, 3)]},
    "one is (0, (1, -1))": {"sections": [(0, (1, -1))]},
    "has 10 men on 9 cells": {"sections": [(0, (5, 5))]},
    "all sections of placements have as many kinds": {"sections": [(0, (1,)), (1, (1, 1))]},
    "have the section 1-1 twice": {"sections": [(0, (1, 1)), (1, (1, 1))]},
    "with swap the number of a section is even": {"sections": [(0, (1, 1), 1)], "swap": (1, 0)},
    "are more than 62 bits": {"cells": 31, "sections": [(0, (1, 1), 1)]},
    "tiers of placements must be below": {"sections": [(1 << 16, (1, 1))]},
    "too many sections": {"sections": [(0, (1, 1), 1 << 16)]},
    "one is (0, 1, 2)": {"symmetries": [(0, 1, 2)]},
    "one is (0, 0, 1, 2, 3, 4, 5, 6, 7)": {"symmetries": [(0, 0, *range(1, 8))]},
    "make more than 128 by composition": {"symmetries": [(*range(1, 9), 0), (1, 0, *range(2, 9))]},
    "swap must exchange kinds in pairs": {"swap": (1, 1)},
    "swap_order, done twice": {"swap": (1, 0), "swap_order": (*range(1, 9), 0)},
}


@pytest.mark.parametrize("words", FAULTS)
def test_a_declaration_that_cannot_be_meant_is_told_in_one_line(words):
    with pytest.raises(RuleError) as error:
        placements(**({"cells": 9, "sections": [(0, (1, 1))]} | FAULTS[words]))
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_game_without_placements_says_what_it_needs():
    class Bare(Placed):
        def generate_moves(self, position):
            yield 0

    report = check(Bare(), compiled=False)
    assert "needs placements, as placements(…)" in str(report.findings[0])


def test_a_position_outside_all_sections_is_told():
    class Grows(Placed):
        """A stone more each move, and a section missing."""

        start = 0

        @cached_property
        def placements(self):
            return placements(3, [(0, (0,)), (1, (1,))])

        def generate_moves(self, position):
            yield from (cell for cell in range(3) if not position >> cell & 1)

        def do_move(self, position, cell):
            return position | 1 << cell

        def primitive(self, position):
            return LOSE if position == 7 else UNDECIDED

    report = check(Grows(), compiled=False)
    assert any(finding.rule == "tier" for finding in report.findings)


# Games


@pytest.mark.parametrize(
    "variant",
    [
        "quixo:2",
        *map(thorough, ("teeko:3,2", "quixo:3", "teeko:3,3", "morris:3", "lasker:3")),
    ],
)
def test_games_keep_the_contract(variant):
    report = check(load_game(variant), 400, seconds=60, compiled=False)  # whatever else the machine does
    assert report.ok, report.findings
    assert {"tiers", "index", "unindex", "images", "parents", "read_pieces"} <= set(report.checks)


@pytest.mark.parametrize(
    ("variant", "value", "plies"), thorough_but([("quixo:2", WIN, 3), ("quixo:3", WIN, 7)], ("quixo:2", WIN, 3))
)
def test_small_quixo_is_what_a_slow_solver_makes_of_it(variant, value, plies, tmp_path):
    """Three by three is a win in 7: GamesmanOne."""
    game, path = load_game(variant), tmp_path / "quixo.h5"
    solve(game, path, method="interpreted")
    solution = reference.solve(game, symmetric=True)
    found = outcomes(path, game)
    assert all(found[position] == outcome for position, outcome in solution.items())
    assert found[game.start] == (value, plies)
    assert sum(counts(path).values()) == 2 * 3 ** (game.side**2)


@pytest.mark.thorough
@pytest.mark.parametrize("flying", thorough_but([True, False], True))
def test_three_mens_morris_is_what_a_slow_solver_makes_of_it(flying, tmp_path):
    game, path = load_game(f"morris:3,{'yes' if flying else 'no'}"), tmp_path / "morris.h5"
    solve(game, path, method="interpreted")
    solution = reference.solve(game)
    with open_database(path, game=game) as database:
        assert all(database[position] == outcome for position, outcome in solution.items())
    assert len(solution) == 5262


@pytest.mark.thorough
@pytest.mark.parametrize("flying", ["yes", "no"])
def test_small_lasker_morris_is_what_a_slow_solver_makes_of_it(flying, tmp_path):
    """Once no man is in hand it is men's morris."""
    game, other, path = load_game(f"lasker:3,{flying}"), load_game(f"morris:3,{flying}"), tmp_path / "lasker.h5"
    solve(game, path, method="interpreted")
    solve(other, tmp_path / "morris.h5", method="interpreted")
    solution = reference.solve(game)
    assert len(solution) == (12_154 if flying == "yes" else 12_138)
    with open_database(path, game=game) as database, open_database(tmp_path / "morris.h5", game=other) as morris:
        assert all(database[position] == outcome for position, outcome in solution.items())
        assert database[game.start] == ((DRAW, None) if flying == "yes" else (WIN, 11))
        last = [tier for tier in other.tiers if "#" not in other.parts(tier)[0][0]]
        slots = [other.unindex(tier, slot) for tier in last for slot in range(other.size(tier))]
        assert all(database[position] == morris[position] for position in slots if position >= 0)


@pytest.mark.slow
def test_lasker_morris_on_two_squares(tmp_path):
    game, path = load_game("lasker:4"), tmp_path / "lasker.h5"
    solve(game, path)
    with open_database(path, game=game) as database:
        assert verify(database).ok


def test_texts_of_lasker_morris_say_what_both_have_in_hand():
    game = load_game("lasker:4")
    position = game.do_move(game.start, game.move(game.start, "a1"))
    assert game.write(position) == "X../.../..../.../.../O/3-4"
    assert game.read(game.write(position)) == position
    assert game.show(position).endswith("3-4 in hand")
    with pytest.raises(ValueError, match="with 0-3 men in hand no game comes to so many men"):
        game.read("X../.../..../.../.../O/0-3")


def test_the_first_man_of_three_mens_morris():
    """Who begins in the centre wins, in a corner draws, at a side loses: as is told of tapatan."""
    game = load_game("morris:3,no")
    solution = reference.solve(game)
    worth = {game.move_name(game.start, move): move for move in game.generate_moves(game.start)}
    found = {name: solution[game.do_move(game.start, move)][0] for name, move in worth.items()}
    corners, sides = dict.fromkeys(("a1", "c1", "a3", "c3"), DRAW), dict.fromkeys(("b1", "a2", "c2", "b3"), WIN)
    assert found == {"b2": LOSE, **corners, **sides}


def test_tiers_are_not_taken_from_a_game_with_other_options(tmp_path):
    """Tiers of the same number and size are there: what is in them is another game's."""
    solve(load_game("morris:3"), tmp_path / "flying.h5", method="interpreted")
    for variant in ("morris:3", "morris:3,no"):
        game = load_game(variant)
        table = SimpleNamespace(game=game, bits=8)
        store = SimpleNamespace(table=table, own=SlotNumbering.own(game), metric="remoteness")
        sources = find_sources(store, tmp_path / "other.h5")
        assert set(sources) == (set(range(len(game.tiers))) if game.flying else set())


@pytest.mark.parametrize("variant", ["baghchal:3,2,4,2", "baghchal:3,1,3,1,no"])
def test_small_bagh_chal_is_what_a_slow_solver_makes_of_it(variant, tmp_path):
    game, path = load_game(variant), tmp_path / "baghchal.h5"
    solve(game, path, method="interpreted")
    found, solution = outcomes(path, game), reference.solve(game, symmetric=True)
    assert all(found[position] == outcome for position, outcome in solution.items())
    assert found[game.start] == solution[game.canonical(game.start)]


def test_as_many_positions_of_bagh_chal_differ_as_are_published():
    """88,260,972 with 20 to 16 goats on the board, either player to move: Lim and Nievergelt; by Burnside's lemma, that
    for few men agrees with the slots that stand for positions."""
    game = load_game("baghchal:placing=no")
    *sliding, _ = game.placements.sections
    assert sorted({one.men for one in sliding}) == [(4, goats) for goats in range(16, 21)]
    assert sum(orbits(game.placements.symmetries, one.men) for one in sliding) == 88_260_972
    small = load_game("baghchal:3,2,4,2,no")
    for section in small.placements.sections:
        of_tier = (small.unindex(section.tier, slot) for slot in range(small.size(section.tier)))
        there = sum(position >= 0 and position >> 18 == section.number for position in of_tier)
        assert there == orbits(small.placements.symmetries, section.men)


def orbits(symmetries, men):
    """Return in how many ways men of two kinds may stand on a board, those equal by symmetry once: on average, as many
    as a symmetry leaves as they are."""
    fixed = 0
    for order in symmetries:
        ways, left = Counter({(0, 0): 1}), set(range(len(order)))
        while left:
            cycle = {cell := min(left)}
            while (cell := order[cell]) not in cycle:
                cycle.add(cell)
            left -= cycle
            for (first, second), count in list(ways.items()):
                ways[first + len(cycle), second] += count
                ways[first, second + len(cycle)] += count
        fixed += ways[men]
    assert fixed % len(symmetries) == 0
    return fixed // len(symmetries)


@pytest.mark.slow
def test_bagh_chal_without_placing(tmp_path):
    """As many positions are stored as are published: Lim and Nievergelt."""
    game, path = load_game("baghchal:placing=no"), tmp_path / "baghchal.h5"
    solve(game, path)
    with DatabaseFile(path) as file:
        last = max(game.tiers)
        assert sum(row.stored for row in file.contents.counts if row.tier != last) == 88_260_972


@pytest.mark.parametrize("variant", ["teeko:3,2", "teeko:3,3"])
def test_small_teeko_is_what_a_slow_solver_makes_of_it(variant, tmp_path):
    game, path = load_game(variant), tmp_path / "teeko.h5"
    solve(game, path, method="interpreted")
    found = outcomes(path, game)
    assert all(found[position] == outcome for position, outcome in reference.solve(game, symmetric=True).items())


def test_as_many_men_stand_on_the_board_of_teeko_as_are_published():
    """75,710,250 placements of four men each, with either player to move: G. L. Steele."""
    game = load_game("teeko")
    *others, last = game.placements.sections
    before = placements(25, [(one.tier, one.men) for one in others], swap=(1, 0))
    assert last.men == (4, 4)
    assert game.placements.count - before.count == 2 * 75_710_250


MORRIS = {
    "morris:4": 4_111_327,
    "morris:4,flying=no": 4_111_151,
    "morris:5": 17_846_785,
    "morris:5,flying=no": 17_844_721,
    "morris:6": 42_383_945,
    "morris:6,flying=no": 42_372_745,
}
"""Positions of morris on two squares that can be reached; all are draws. GamesmanOne, solved-games/game-solver."""


@pytest.mark.parametrize("variant", [pytest.param(one, marks=pytest.mark.slow) for one in MORRIS])
def test_as_many_positions_of_morris_can_be_reached_as_others_count(variant, tmp_path):
    game, path = load_game(variant), tmp_path / "morris.h5"
    solve(game, path)
    with open_database(path, game=game) as database:
        reached = counts_reached(MorrisOfBoth(*dataclasses.astuple(game)), database)
        assert sum(reached.values()) == MORRIS[variant]
        assert database[game.start].value == DRAW
        assert verify(database).ok


class LastThree(Morris):
    """Nine men's morris when three each are left."""

    name = "morris"
    start = 0b111 | 0b111 << 30

    def sections(self):
        return [(0, (3, 3), 0), (1, (2, 3), 0)]


@pytest.mark.slow
def test_three_men_each_on_three_squares(tmp_path):
    """Held against a solver that shares nothing with the rules or the numbering."""
    path = tmp_path / "morris.h5"
    solve(LastThree(), path, method="compiled")
    with DatabaseFile(path) as file:
        found, stored, longest = Counter(), Counter(), 0
        for row in file.contents.counts:
            if row.tier == 0:
                value, plies = file.legend[row.outcome][:2]
                found[value] += row.positions
                stored[value] += row.stored
                longest = max(longest, plies if value != DRAW else 0)
    assert (dict(found), longest) == three_men.counts()
    assert found.total() == 2 * comb(24, 3) * comb(21, 3)
    lines = (ROOT / "benchmarks" / "morris_sliding.csv").read_text(encoding="utf-8").splitlines()
    assert f"3,3,{stored[WIN]},{stored[DRAW]},{stored[LOSE]},25,{longest}" in lines


@pytest.mark.long
def test_the_counts_of_nine_mens_morris_are_of_all_its_sections():
    """Each row of the files has as many positions as a section has slots, but for slots without a position."""
    sections = {}
    for file in ("morris_sliding.csv", "morris_placing.csv"):
        for row in csv.DictReader((ROOT / "benchmarks" / file).read_text(encoding="utf-8").splitlines()):
            hand = int(row.get("in_hand", 0))
            name = f"{row['own']}-{row['other']}" + (f" #{2 * hand}" if hand else "")
            sections[name] = sum(int(row[value]) for value in ("win", "draw", "lose"))
    game = load_game("morris:9")
    slots = dict(part for tier in game.tiers for part in game.parts(tier))
    assert sections.keys() == slots.keys()
    assert all(0.5 * slots[name] < count <= slots[name] for name, count in sections.items())
    assert sum(sections.values()) == 26_763_310_058


@pytest.mark.slow
def test_teeko_is_a_draw(tmp_path):
    """With perfect play nobody wins: G. L. Steele, 1998."""
    game, path = load_game("teeko"), tmp_path / "teeko.h5"
    solve(game, path)
    with open_database(path, game=game) as database:
        assert database[game.start].value == DRAW
        assert verify(database).ok


@pytest.mark.slow
def test_quixo_on_four_by_four_cells(tmp_path):
    """GamesmanOne: 82,497,861 positions that can be reached."""
    game, path = load_game("quixo:4"), tmp_path / "quixo.h5"
    solve(game, path)
    with open_database(path, game=game) as database:
        reached = by_value(counts_reached(QuixoOfBoth(*dataclasses.astuple(game)), database))
        assert reached == {WIN: 49_953_979, LOSE: 29_330_646, DRAW: 3_213_236}
        assert database[game.start] == (WIN, 21)
        assert verify(database).ok
