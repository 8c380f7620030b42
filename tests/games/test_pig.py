"""Pig: its numbering against all positions of play, and its values against value iteration and a solve by lists."""

import pytest

from retrograde.databases import open_database
from retrograde.databases.bounds.database import BoundsDatabase
from retrograde.databases.records.database import RecordsDatabase
from retrograde.games import UNDECIDED
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve


def reached(game):
    """Return all positions that play can reach."""
    found, wave = {game.start}, {game.start}
    while wave:
        wave = {game.do_move(at, move) for at in wave if game.primitive(at) == UNDECIDED
                for move in game.generate_moves(at)} - found  # fmt: skip
        found |= wave
    return found


def chances(target, sides):
    """Return the probability to win with (own score, other score, turn total), by value iteration from the end."""
    found = {}

    def chance(own, other, total):
        return 1.0 if own + total >= target else found[own, other, total]

    for points in range(2 * target - 2, -1, -1):
        states = [(own, points - own, total) for own in range(points + 1) if own < target and points - own < target
                  for total in range(target - own)]  # fmt: skip
        found.update(dict.fromkeys(states, 0.5))
        for _ in range(200):
            for own, other, total in reversed(states):
                rolled = 1 - chance(other, own, 0)
                rolled += sum(chance(own, other, total + face) for face in range(2, sides + 1))
                held = 1 - chance(other, own + total, 0) if total else 0.0
                found[own, other, total] = max(rolled / sides, held)
    return found


@pytest.mark.parametrize("text", ["pig:1", "pig:2", "pig:7", "pig:12,3"])
def test_each_decision_of_the_first_player_has_a_slot_of_its_own(text):
    game = load_game(text)
    slots = {(tier, i): game.unindex(tier, i) for tier in game.tiers for i in range(game.size(tier))}
    assert len({*slots.values()}) == len(slots) == game.target**2 * (game.target + 1) // 2
    assert all((game.tier(position), game.index(position)) == slot for slot, position in slots.items())
    for position in reached(game) | {*slots.values()}:
        other = game.swapped(position)
        assert game.swapped(other) == position and other != position
        decides = game.turn(position) == 0 and game.primitive(position) == UNDECIDED
        assert decides == (position in slots.values()) == (game.index(position) >= 0)


@pytest.mark.long
def test_slots_have_the_values_of_value_iteration_and_of_a_solve_by_lists(tmp_path):
    """Those with a total of 1, which play never reaches, as well."""
    game, expected = load_game("pig:6"), chances(6, 6)
    by_slot = solve(game, tmp_path / "slots.h5", method="numbered")
    by_lists = solve(game, tmp_path / "lists.h5", method="listed")
    with open_database(by_slot, game=game) as slots, open_database(by_lists, game=game) as lists:
        assert (type(slots), type(lists)) == (BoundsDatabase, RecordsDatabase)
        scale = slots.file.details["scale"]
        for (own, other, total), chance in expected.items():
            low, high = slots.bounds(own << 16 | other << 8 | total)
            assert low / scale - 1e-11 < 2 * chance - 1 < high / scale + 1e-11 and high - low < 1e-9 * scale
        for position in reached(game):
            low, high = slots.bounds(position)
            listed = lists.measures(position)
            assert listed["low"] <= high and low <= listed["high"]
