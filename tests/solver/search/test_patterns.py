"""Lower bounds from databases of smaller puzzles: against the solved table, and by moves of the smaller puzzles."""

from random import Random

import numpy as np
import pytest

from retrograde.databases import open_database
from retrograde.databases.location import database_path
from retrograde.games import UNDECIDED
from retrograde.games.catalog import VariantError, load_game, variant
from retrograde.games.eightpuzzle import EightPuzzle
from retrograde.games.wide.eightpuzzle import FifteenPuzzle
from retrograde.solver.engine import solve
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.search.patterns import least_plies
from retrograde.solver.search.probing.patterns import find_patterns, missing_patterns
from retrograde.solver.search.puzzles import PuzzleSearch
from tests.helpers.command_line import retrograde


def scrambled(game, moves, seed):
    """Yield the positions of a random walk from the start."""
    chance, position = Random(seed), game.start
    for _ in range(moves):
        position = game.do_move(position, chance.choice([*game.generate_moves(position)]))
        yield position


@pytest.mark.parametrize("game", [FifteenPuzzle(3, 3), FifteenPuzzle(4, 4)], ids=variant)
def test_a_move_is_a_move_of_one_smaller_puzzle_at_most(game):
    smaller, before = game.abstractions, None
    assert sum(puzzle.mask for puzzle in smaller) == game.mask  # each tile counts once
    for position in scrambled(game, 150, 1):
        after = [game.abstracted(position, number) for number in range(len(smaller))]
        if before:
            changed = [number for number in range(len(smaller)) if after[number] != before[number]]
            assert len(changed) <= 1
            for number in changed:
                puzzle, one, other = smaller[number], before[number], after[number]
                assert other in [puzzle.do_move(one, move) for move in puzzle.generate_moves(one)]
                assert one in [puzzle.do_move(other, move) for move in puzzle.generate_moves(other)]
        for puzzle, seen in zip(smaller, after, strict=True):
            assert puzzle.read(puzzle.write(seen)) == seen
        before = after
    assert [game.abstracted(game.goal, number) for number in range(len(smaller))] == [each.goal for each in smaller]


def slow_distances(counted):
    """Return the distances of the 3 x 3 puzzle in which some tiles count, from Dijkstra's idea in plain dicts.

    A state is where the counted tiles and the gap are. To move another tile costs nothing.
    """
    places = (*(tile - 1 for tile in counted), 8)
    known, wave, plies = {places: 0}, [places], 0
    while wave:
        following = []
        while wave:  # moves that cost nothing first
            *tiles, gap = state = wave.pop()
            if known[state] != plies:
                continue
            for cell in range(9):
                if abs(cell // 3 - gap // 3) + abs(cell % 3 - gap % 3) == 1:
                    child = (*(gap if at == cell else at for at in tiles), cell)
                    cost = plies + (cell in tiles)
                    if cost < known.get(child, 99):
                        known[child] = cost
                        (wave if cost == plies else following).append(child)
        wave, plies = following, plies + 1
    return known


@pytest.mark.parametrize("only", ["1", "2-5", "1-2-3-5-6", "1-5-6-9-10-13"])
def test_each_slot_of_a_smaller_puzzle_is_a_position(only):
    game, chance = load_game(f"eightpuzzle:4,4,only={only}"), Random(3)
    slots = {0, game.size(0) - 1, *(chance.randrange(game.size(0)) for _ in range(300))}
    assert [game.index(game.unindex(0, slot)) for slot in slots] == [*slots]
    found = [game.start]
    for _ in range(200):
        found.append(game.do_move(found[-1], chance.choice([*game.generate_moves(found[-1])])))
    assert [game.unindex(0, game.index(position)) for position in found] == found


def test_smaller_puzzles_have_as_many_positions_as_there_are_places_for_tiles_and_gap():
    """874,080 positions were found by exploring them. Six tiles stand in 16!/10! ways (Korf and Felner, 2002)."""
    assert FifteenPuzzle(4, 4, "1-2-3-5-6").size(0) == 874_080
    game = FifteenPuzzle(4, 4, "1-5-6-9-10-13")
    assert len({taken for taken, _ in game.regions}) * game.orders == 5_765_760
    assert sum(reached.bit_count() for _, reached in game.regions) * game.orders == 5_765_760 * 10  # each gap, once


class UnnumberedPuzzle(FifteenPuzzle):
    """The same puzzle, whose smaller puzzles are not numbered."""

    name = "listed"
    tiers = ()


@pytest.mark.thorough
def test_bounds_are_the_same_if_smaller_puzzles_are_not_numbered(home, patterns, tmp_path, monkeypatch):
    game, listed = FifteenPuzzle(3, 3), UnnumberedPuzzle(3, 3)
    for puzzle in listed.abstractions:
        solve(puzzle, database_path(variant(puzzle), tmp_path))
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    others = find_patterns(listed)
    assert patterns.are_numbered and not others.are_numbered
    for position in scrambled(game, 1000, 7):
        bound = least_plies(rules_for(game), position, patterns)
        assert least_plies(rules_for(listed), position, others) == bound


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home folder with the smaller puzzles of 3 x 3, and the 8-puzzle itself."""
    folder = tmp_path_factory.mktemp("home")
    for game in (*FifteenPuzzle(3, 3).abstractions, EightPuzzle()):
        solve(game, database_path(variant(game), folder))
    return folder


@pytest.fixture
def patterns(home, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    return find_patterns(FifteenPuzzle(3, 3))


@pytest.mark.thorough
def test_smaller_puzzles_have_the_distances_of_free_moves(home):
    for game in FifteenPuzzle(3, 3).abstractions:
        counted, seen = [tile for tile in range(1, 9) if game.mask >> tile & 1], {}
        for state, plies in slow_distances(counted).items():
            position = [0] * 9
            for tile, cell in zip(counted, state, strict=False):
                position[cell] = tile
            words = game.split(sum(tile << 4 * cell for cell, tile in enumerate(position)))
            seen[game.seen_with(words, state[-1], game.mask, game.free_tile(game.mask))] = plies
        with open_database(database_path(variant(game), home), game=game) as database:
            assert len(database) == len(seen)
            assert all(database[position].remoteness == plies for position, plies in seen.items())


@pytest.mark.thorough
def test_lower_bounds_hold_in_every_position_and_lengths_are_those_of_the_table(home, patterns):
    game, one = FifteenPuzzle(3, 3), EightPuzzle()
    search, count, tight = PuzzleSearch(game, 1 << 24, patterns), 0, 0
    rules, chance = rules_for(game), Random(5)
    with open_database(database_path(variant(one), home), game=one) as truth:
        for _, positions, _, distances in truth.records():
            for position, distance in zip(positions.tolist(), distances.tolist(), strict=True):
                count += 1
                if not distance:
                    continue
                bound = least_plies(rules, game.split(position), patterns)
                assert one.least_plies(position) <= bound <= distance
                tight += bound > one.least_plies(position)
                if chance.random() < 0.002:
                    found, line = search.find(game.split(position))
                    assert found.remoteness == len(line) == distance
    assert count == 181_440 and tight > 100_000


@pytest.mark.thorough
def test_search_says_where_its_bounds_come_from(home):
    """The rules of 4 x 2 have one word; only the whole 15-puzzle has smaller ones."""
    at = "1234/5678/9ABC/D.EF"
    text = retrograde("search", "eightpuzzle:4,4", at, env={"RETROGRADE_HOME": str(home)}).stdout
    missing = missing_patterns(load_game("eightpuzzle:4,4"))
    assert "solved in 2 moves" in text and all(f"retrograde solve {name}" in text for name in missing)
    assert "smaller" not in retrograde("search", "eightpuzzle:4,4", at, "--no-tables").stdout


class ReorderedPuzzle(FifteenPuzzle):
    """The puzzle by other rules: tiles move as before, but in another order."""

    name = "eightpuzzle"

    def generate_moves(self, position):
        yield from [*super().generate_moves(position)][::-1]


@pytest.mark.thorough
def test_a_search_goes_on_without_databases_that_other_rules_have_made(tmp_path):
    name = "eightpuzzle:width=4,height=4,only=2-3-4"
    solve(ReorderedPuzzle(4, 4, "2-3-4"), database_path(name, tmp_path))
    text = retrograde("search", "eightpuzzle:4,4", "1234/5678/9ABC/D.EF", env={"RETROGRADE_HOME": str(tmp_path)}).stdout
    assert "solved in 2 moves" in text
    (line,) = [line for line in text.splitlines() if name in line]
    assert f"other rules made {name}, or it is damaged" in line and f"retrograde solve {name} --fresh" in line
    solved = "retrograde solve eightpuzzle:width=4,height=4,only=1-5-6-9-10-13 &&"
    assert solved in line


@pytest.mark.parametrize("only", ["2-1", "1-x", "", "1-2-3-4-5-6-7-8-9-10-11-12-13-14", "0-1"])
def test_tiles_that_do_not_exist_or_are_too_many_are_refused(only):
    with pytest.raises(VariantError, match="name 13 tiles at most, in order"):
        load_game(f"eightpuzzle:4,4,only={only}")


def test_positions_of_smaller_puzzles_say_how_far_the_gap_gets():
    """The corner behind 2 and 5 is closed."""
    game = load_game("eightpuzzle:4,4,only=2-5")
    assert game.primitive(game.goal) != UNDECIDED
    position = game.read("12../5.../..../....")
    assert [game.tile(position, cell) for cell in (0, 2)] == [1, 0]
    with pytest.raises(ValueError, match="the gap can get to"):
        game.read(".2../5.../..../....")
    assert np.array(position).shape == (2,)
