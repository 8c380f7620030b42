"""Search against slow solvers and published values: the same value and distance, by any number of threads."""

import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrograde.games import LOSE, TIE, UNDECIDED, WIN
from retrograde.games.catalog import load_game
from retrograde.solver.search import bounds, kernels, searcher
from retrograde.solver.search.hashing import permute
from retrograde.solver.search.prover import ProofNumberSearch
from retrograde.solver.search.scores.searcher import ScoreSearch
from retrograde.solver.search.searcher import GROWTH, Search
from retrograde.solver.search.table import TableTooSmall, make_table
from tests.helpers import tangle
from tests.helpers.command_line import retrograde
from tests.helpers.reference import solve
from tests.helpers.solving import graphs

pytestmark = pytest.mark.long

SMALL = 1 << 20


OTHERS = ["tictactoe:3,true", "connect4:4,3,3", "tentozero"]
ACYCLIC = ["tictactoe", "connect4:3,3,3", *(pytest.param(text, marks=pytest.mark.thorough) for text in OTHERS)]
"""Games with symmetric positions, and with hints; others are much like them."""


@pytest.mark.parametrize("text", ACYCLIC)
@pytest.mark.parametrize("workers", [1, 2])
def test_games_without_cycles_have_the_values_of_a_slow_solver(text, workers):
    game = load_game(text)
    truth = solve(game, symmetric=True)
    search = Search(game, workers, SMALL)
    for position in Random(1).sample(sorted(truth), min(150, len(truth))):
        found = search.find(position)
        assert (found.value, found.remoteness) == truth[position]
        line = search.line(position, found)
        assert len(line) == found.remoteness
        assert game.primitive(played(game, position, line)) != UNDECIDED


@pytest.mark.parametrize("order", [bounds.SOON_FIRST, bounds.ANY_DISTANCE, bounds.DEEPENING])
def test_questions_lead_to_every_worth(order):
    """Each question lies between the bounds known, and the last answer leaves one worth; without distance its value."""
    far = 63
    for worth in range(1 - far, far):
        for distance in (True, False):
            low, high, asked = 1 - far, far - 1, 0
            while (bound := kernels.next_bound(low, high, order, distance, far)) != far:
                assert low < bound <= high
                low, high, asked = (bound, high, asked + 1) if worth >= bound else (low, bound - 1, asked + 1)
            assert asked < 2 * far if order == bounds.DEEPENING else asked < 18
            assert low <= worth <= high
            if worth == 0 or (distance and abs(worth) > 1):
                # Deepening never ends where neither side wins. Beyond `far`, no distance is asked for.
                assert low == high or (order == bounds.DEEPENING and worth == 0) or far - abs(worth) > 32
            elif order != bounds.DEEPENING:
                assert low > 0 or high < 0


@pytest.fixture
def first_size(monkeypatch):
    """Let tables be smaller at first than they are, so that a small game fills them."""
    monkeypatch.setattr(searcher, "FIRST_SIZE", 1 << 12)
    return searcher.FIRST_SIZE


def test_a_table_grows_with_the_search_and_keeps_what_it_knows(first_size):
    game = load_game("connect4:4,4")
    search = Search(game, 1, 1 << 24)
    assert search.table.words.nbytes == first_size
    assert search.find(game.start, distance=False).value == TIE
    assert first_size < search.table.words.nbytes <= 1 << 24
    workspace, before, size = search.workspaces[0], search.nodes, search.table.words.nbytes
    workspace.counters[kernels.TROUBLE] = kernels.NODE_LIMIT
    search.enlarge([workspace])
    assert search.table.words.nbytes == GROWTH * size
    assert search.find(game.start, distance=False).value == TIE
    assert search.nodes - before < 10  # the table answers


def test_the_table_of_a_long_search_grows_beyond_its_size_where_it_may(first_size):
    game, most = load_game("connect4:4,4"), GROWTH * first_size
    usual, grows = Search(game, 2, first_size), Search(game, 2, first_size, most=most)
    for search, size in (usual, first_size), (grows, most):
        found = search.find(game.start)
        assert (found.value, found.remoteness, search.table.words.nbytes) == (TIE, 16, size)
    assert usual.table.layout.far == grows.table.layout.far


@pytest.mark.as_python
def test_a_table_for_positions_of_several_words_does_not_grow_beyond_its_size(first_size):
    """Its entries cannot be copied into a larger table."""
    most = GROWTH * first_size
    assert Search(load_game("connect4:9,8"), 1, first_size, most=most).most == 0


def played(game, position, moves):
    for move in moves:
        position = game.do_move(position, move)
    return position


@pytest.mark.parametrize("text", ["dodgem", "mutorere"])
def test_wins_and_losses_are_found_where_play_goes_round_in_circles(text):
    game = load_game(text)
    truth = solve(game, symmetric=True)
    search = Search(game, 1, SMALL)
    for position in Random(2).sample(sorted(truth), min(60, len(truth))):
        value, remoteness = truth[position]
        found = search.find(position, depth=12)
        if value in (WIN, LOSE) and remoteness <= 12:
            assert (found.value, found.remoteness) == (value, remoteness)
        else:
            assert (found.value, found.no_end_within) == (None, 12)


@given(graphs, st.integers(1, 2), st.sampled_from([1 << 12, SMALL]))
@settings(max_examples=12)
def test_nothing_wrong_is_ever_said_of_random_games(start, workers, size):
    """With cycles, ties and draws, in a table that is far too small as well."""
    game = tangle.Tangle()
    truth = solve(game, starts=[start])
    search = Search(game, workers, size)
    for position, (value, remoteness) in sorted(truth.items())[:20]:
        found = search.find(position, depth=None if not search.cyclic else 40)
        assert found.at_least <= value <= found.at_most
        if found.value is not None:
            assert found.value == value
            assert found.remoteness in (None, remoteness)
        elif value in (WIN, LOSE):
            assert remoteness > found.no_end_within


def alpha_beta(game, distance):
    return Search(game, 1, 1 << 22).find(game.start, distance=distance)


def proof_numbers(game, _):
    return ProofNumberSearch(game, 1 << 22).find(game.start)


def score(game, _):
    return ScoreSearch(game, 1, 1 << 22).score(game.start)


@pytest.mark.parametrize(
    ("text", "search", "distance", "nodes"),
    [
        ("connect4:5,4", alpha_beta, False, 13_611),
        pytest.param("connect4:6,4", alpha_beta, True, 439_377, marks=pytest.mark.thorough),
        ("dodgem", alpha_beta, True, 4_153),
        ("connect4:4,4", proof_numbers, True, 10_583),
        ("dodgem", proof_numbers, True, 3_328),
        pytest.param("dotsandboxes:2,2", score, True, 1_008, marks=pytest.mark.thorough),
        pytest.param("othello:4,4", score, True, 1_006, marks=pytest.mark.thorough),
    ],
)
def test_searches_look_at_as_many_positions_as_ever(text, search, distance, nodes):
    """Within a fifth, as measured by one thread: what is slower without being wrong shows here, and so does what is
    left out. Whoever makes a search better writes down the new number."""
    found = search(load_game(text), distance)
    assert nodes / 1.2 < found.nodes < nodes * 1.2


def test_out_of_time_is_an_answer():
    found = Search(load_game("connect4"), 2, SMALL).find(load_game("connect4").start, seconds=0.3)
    assert (found.value, found.proved, found.at_least, found.at_most) == (None, False, LOSE, WIN)


@pytest.mark.parametrize("position_bits", [7, 20, 49, 62])
def test_a_table_never_takes_one_position_for_another(position_bits):
    """The mixing is a bijection, and the word holds what is left of it."""
    table = make_table(1 << 23, position_bits)
    workspace = kernels.make_workspace(1, 1, 5)
    memory = kernels.memory_of(table, workspace)
    rng = Random(position_bits)
    sample = {rng.randrange(1 << position_bits) for _ in range(2000)}
    keys = {permute(position, position_bits) for position in sample}
    assert len(keys) == len(sample)
    assert all(0 <= key < 1 << position_bits for key in keys)
    for key in keys:
        low, high = -(key % 50), key % 49
        kernels.store(key, low, high, key % 63, memory)
        assert kernels.bounds_of(kernels.find(key, memory), memory) == (low, high, key % 63)
        other = key ^ 1 << position_bits - 1
        assert kernels.find(other, memory) != kernels.find(key, memory)


def test_a_table_too_small_is_refused():
    with pytest.raises(TableTooSmall, match="need a table of"):
        make_table(1 << 8)


PUBLISHED = {"connect4:6,4": (LOSE, None), "connect4:5,5": (TIE, None), "connect4:5,4": (TIE, None)}
"""Tromp's table of Connect Four boards: https://tromp.github.io/c4/c4.html"""


def test_the_command_line():
    told = json.loads(retrograde("search", "tictactoe", "X.O/.X./O..", "--json").stdout)
    assert (told["value"], told["remoteness"], told["proved"], len(told["line"])) == ("win", 1, True, 1)
    text = retrograde("search", "mutorere", "--depth", 4).output
    assert "not known: neither side can force a win within 4 plies" in text
