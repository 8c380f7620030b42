"""Solutions, players and summaries against the slow reference, the definitions, and published numbers."""

import subprocess
import sys
from itertools import pairwise
from random import Random

import pytest

from retrograde.databases import DatabaseFile, NotInDatabase, Outcome
from retrograde.games import DRAW, LOSE, TIE, UNDECIDED, WIN
from retrograde.games.contract.choice import Choice, equally_good, preference, ranked
from retrograde.solver.play.analysis import summary
from retrograde.solver.play.offered import offered
from retrograde.solver.play.oracles.searching import SearchingOracle
from retrograde.solver.play.player import PLAYERS, make_player, perfect, random_player
from retrograde.solver.play.solution import open_solution
from tests.helpers import published, reference
from tests.helpers.command_line import LATE
from tests.helpers.marks import thorough_but

VARIANTS = ["tictactoe", "tictactoe:misere", "tentozero", "mutorere", "dodgem", "hareandhounds", "connect4:3,3,3"]
each_variant = pytest.mark.parametrize("variant", thorough_but(VARIANTS, "tictactoe", "tentozero", "mutorere"))


@pytest.fixture
def open_solved(solved):
    opened = []

    def open_one(variant):
        opened.append(open_solution(solved(variant)))
        return opened[-1]

    yield open_one
    for solution in opened:
        solution.close()


# Values and moves


def test_a_search_ranks_moves_as_the_database_does(open_solved):
    """Equal moves too: whoever answers, the first move is the same."""
    solution = open_solved("tictactoe")
    oracle = SearchingOracle(solution.game, LATE, 1, 1 << 22)
    with oracle:
        for text in ("X../.O./...", "XO./.../...", "X../.O./..X", "XOX/.O./...", ".../.../..."):
            position = solution.game.read(text)
            choices = oracle.moves(position)
            assert all(oracle.bounds_without_search(choice.position).is_exact for choice in choices)
            assert [choice.name for choice in choices] == [choice.name for choice in solution.moves(position)]


def test_ranked_keeps_the_order_of_equal_moves():
    equal = [Choice(move, str(move), 0, TIE, 3) for move in (5, 2, 9)]
    best = Choice(7, "7", 0, LOSE, 4)
    assert [choice.move for choice in ranked([*equal, best])] == [7, 5, 2, 9]
    assert equally_good(ranked(equal)) == equal and equally_good(ranked([*equal, best])) == [best]


@each_variant
@pytest.mark.long
def test_values_are_those_of_the_reference(variant, open_solved):
    solution = open_solved(variant)
    outcomes = reference.solve(solution.game)
    assert {position: solution.value(position) for position in outcomes} == outcomes


@each_variant
def test_moves_are_all_there_with_the_positions_they_lead_to(variant, open_solved):
    solution = open_solved(variant)
    game = solution.game
    for position in list(reference.explore(game))[::7]:
        choices = solution.moves(position)
        legal = list(game.generate_moves(position)) if game.primitive(position) == UNDECIDED else []
        assert sorted(choice.move for choice in choices) == sorted(legal)
        for choice in choices:
            assert choice.name == game.move_name(position, choice.move)
            assert choice.position == game.do_move(position, choice.move)
            assert (choice.value, choice.remoteness) == solution.value(choice.position)


@each_variant
@pytest.mark.long
def test_the_first_move_keeps_what_the_position_is_worth(variant, open_solved):
    solution = open_solved(variant)
    for position, (value, remoteness) in reference.solve(solution.game).items():
        if remoteness != 0:
            best = solution.moves(position)[0]
            assert best.value == {WIN: LOSE, LOSE: WIN}.get(value, value)
            assert best.remoteness == (None if value == DRAW else remoteness - 1)


def test_moves_go_from_the_soonest_win_to_the_latest_loss():
    best_first = [(LOSE, 0), (LOSE, 4), (TIE, 1), (TIE, 6), (DRAW, None), (WIN, 9), (WIN, 1)]
    choices = [Choice(move, str(move), move, *child) for move, child in enumerate(best_first)]
    assert sorted([*choices[3:], *choices[:3]], key=preference) == choices


def test_equal_moves_keep_the_order_of_the_rules(open_solved):
    solution = open_solved("tictactoe")
    choices = solution.moves(solution.game.start)
    assert [choice.move for choice in choices] == list(range(9))  # all tie
    assert {choice[3:5] for choice in choices} == {(TIE, 8)}


def test_a_position_out_of_reach_is_refused(open_solved):
    solution = open_solved("tictactoe")
    nonsense = solution.game.read("XXX/OOO/...")
    for ask in (solution.value, solution.moves, solution.line):
        with pytest.raises(NotInDatabase, match="cannot be reached"):
            ask(nonsense)


# Lines


@each_variant
@pytest.mark.long
def test_a_line_takes_as_many_plies_as_the_remoteness_says(variant, open_solved):
    solution = open_solved(variant)
    for position, (_, remoteness) in list(reference.solve(solution.game).items())[::11]:
        if remoteness is not None:
            line = solution.line(position)
            assert [choice.remoteness for choice in line] == list(reversed(range(remoteness)))


def test_a_line_of_a_draw_stops_at_the_first_repetition(open_solved):
    solution = open_solved("mutorere")
    start = solution.game.start
    positions = [start, *(choice.position for choice in solution.line(start))]
    assert len(positions) > 2
    assert {solution.value(position) for position in positions} == {Outcome(DRAW, None)}
    assert len(set(positions)) == len(positions) - 1
    assert positions[-1] in positions[:-1]


def test_a_line_stops_at_the_limit(open_solved):
    solution = open_solved("tictactoe")
    line = solution.line(0)
    assert len(line) == 9
    assert solution.line(0, limit=4) == line[:4]


# Players


@pytest.mark.parametrize("seed", range(5))
def test_perfect_never_does_worse_than_the_position_is_worth(seed, open_solved):
    solution = open_solved("dodgem")
    game = solution.game
    chance = random_player(Random(seed))
    position, plies = game.start, 0
    worth = [solution.value(position)]  # for perfect, who moves first
    while game.primitive(position) == UNDECIDED:
        player = [perfect, chance][plies % 2]
        position = game.do_move(position, player(solution, position))
        plies += 1
        if plies % 2 == 0:
            worth.append(solution.value(position))
    assert worth[0].value == WIN
    assert {outcome.value for outcome in worth} == {WIN}
    assert all(later.remoteness <= earlier.remoteness - 2 for earlier, later in pairwise(worth))


def test_random_players_of_one_seed_play_alike(open_solved):
    solution = open_solved("connect4:3,3,3")

    def moves(seed):
        player = random_player(Random(seed))
        return [player(solution, solution.game.start) for _ in range(50)]

    assert moves(1) == moves(1) != moves(2)
    assert set(moves(1)) == {0, 1, 2}


def test_every_player_has_a_legal_move(open_solved):
    solution = open_solved("tictactoe")
    start = solution.game.start
    for name in (*PLAYERS, *offered()):
        assert make_player(name, solution, Random(3))(solution, start) in solution.game.generate_moves(start)


# Summaries


@pytest.mark.parametrize("variant", sorted({*VARIANTS} & published.COUNTS.keys()))
def test_a_summary_has_the_published_counts(variant, open_solved):
    facts = summary(open_solved(variant).database)
    expected = published.COUNTS[variant]
    assert facts["by_remoteness"] == [
        {"value": value.name.lower(), "remoteness": remoteness, "count": count}
        for (value, remoteness), count in sorted(expected.items(), key=lambda item: (item[0][0], item[0][1] or 0))
    ]
    assert facts["positions"] == sum(expected.values())
    for value in (WIN, LOSE, TIE, DRAW):
        assert facts["values"][value.name.lower()] == sum(n for (of, _), n in expected.items() if of == value)


def test_a_summary_of_tictactoe(open_solved, solved):
    facts = summary(open_solved("tictactoe").database)
    assert (facts["variant"], facts["positions"], facts["stored"]) == ("tictactoe", 5478, 765)
    assert facts["values"] == {"win": 2836, "lose": 1574, "tie": 1068, "draw": 0}
    assert facts["start"] == {"position": ".../.../...", "value": "tie", "remoteness": 9}
    size = solved("tictactoe").stat().st_size
    assert (facts["bytes"], facts["path"]) == (size, str(solved("tictactoe")))
    assert facts["bits_per_position"] == pytest.approx(8 * size / 5478, abs=0.001)
    assert facts["longest"] == {"value": "tie", "remoteness": 9, "position": ".../.../...", "count": 1}
    assert (facts["longest_win"]["remoteness"], facts["longest_win"]["count"]) == (5, 122)


@pytest.mark.parametrize("variant", ["dodgem", "tictactoe"])
def test_the_longest_win_is_where_the_summary_says(variant, open_solved):
    solution = open_solved(variant)
    longest = summary(solution.database)["longest_win"]
    assert solution.value(solution.game.read(longest["position"])) == (WIN, longest["remoteness"])


def test_a_summary_of_a_file_alone_has_numbers_for_positions(solved, open_solved):
    with DatabaseFile(solved("dodgem")) as file:
        alone = summary(file)
    solution = open_solved("dodgem")
    assert alone["start"]["position"] == str(solution.game.start)
    assert solution.value(int(alone["longest_win"]["position"])) == (WIN, alone["longest_win"]["remoteness"])
    assert alone["values"] == summary(solution.database)["values"]


def test_a_game_nobody_wins_has_no_longest_win(open_solved):
    facts = summary(open_solved("tictactoe:1").database)  # the first to move completes a line at once
    assert facts["longest_win"]["remoteness"] == 1
    facts = summary(open_solved("connect4:1,1").database)
    assert (facts["longest_win"], facts["longest"]["value"], facts["values"]["tie"]) == (None, "tie", 2)


def test_reading_a_solution_needs_no_compiler():
    code = (
        "import sys, retrograde.solver.play.player, retrograde.solver.play.analysis; "
        "import retrograde.solver.verification.verify; "
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
