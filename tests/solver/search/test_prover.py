"""Proof-number search against slow solvers: the same value everywhere, round in circles and in tables far too small."""

import json
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrograde.games import DRAW, LOSE, TIE, WIN
from retrograde.games.catalog import load_game
from retrograde.games.draughts.rules import Draughts
from retrograde.solver.search.proof_kernels import NOTED, NOTES, add_note, make_path, settle_notes
from retrograde.solver.search.proof_table import INFINITE, find, make_table
from retrograde.solver.search.prover import ProofNumberSearch
from tests.helpers import tangle
from tests.helpers.command_line import retrograde
from tests.helpers.graph import Graph, graph_of
from tests.helpers.paths import ROOT
from tests.helpers.reference import solve
from tests.helpers.solving import graphs

pytestmark = pytest.mark.long

SMALL = 1 << 20
TINY = 1 << 10
"""Bytes for 64 entries."""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("text", "size"),
    [
        *((text, SMALL) for text in ("tictactoe", "connect4:3,3,3", "mutorere")),
        *((text, TINY) for text in ("tictactoe", "connect4:3,3,3", "mutorere", "dodgem")),
        *(
            pytest.param(text, SMALL, marks=pytest.mark.slow)
            for text in ("tictactoe:3,true", "connect4:4,3,3", "tentozero", "dodgem", "hareandhounds")
        ),
        pytest.param("hareandhounds", TINY, marks=pytest.mark.slow),
    ],
)
def test_values_are_those_of_a_slow_solver(text, size):
    game = load_game(text)
    truth = solve(game, symmetric=True)
    prover = ProofNumberSearch(game, size)
    for position in Random(1).sample(sorted(truth), min(200, len(truth))):
        found = prover.find(position)
        assert (found.value, found.proved) == (truth[position][0], True)


@pytest.mark.parametrize(
    ("text", "value", "nodes"),
    [("connect4:4,4", TIE, 10_583), ("mutorere", DRAW, 143), ("dodgem", WIN, 3_328), ("hareandhounds", WIN, 368)],
)
def test_no_search_visits_more_positions_than_it_did(text, value, nodes):
    """A fault in the thresholds or in the order of children makes no value wrong, but searches longer."""
    game = load_game(text)
    found = ProofNumberSearch(game, SMALL).find(game.start)
    assert found.value == value and found.nodes <= 1.05 * nodes


def test_a_game_without_ties_is_a_draw_where_neither_side_wins(monkeypatch):
    game = Draughts("MMvMM", 4)
    truth = solve(game, starts=[game.start])
    monkeypatch.setattr(ProofNumberSearch, "reaches_tie", lambda self, position: pytest.fail("it looked for ties"))
    prover = ProofNumberSearch(game, SMALL)
    found = {position: prover.find(position).value for position in Random(3).sample(sorted(truth), 100)}
    assert found == {position: truth[position][0] for position in found} and DRAW in found.values()


@pytest.mark.thorough
@given(graphs, st.sampled_from([0, TINY, SMALL]))
@settings(max_examples=50)
def test_values_of_random_games_are_right(start, size):
    """With cycles, ties and draws, in a table that is far too small as well."""
    game = tangle.Tangle()
    truth = solve(game, starts=[start])
    prover = ProofNumberSearch(game, size)
    for position, (value, _) in sorted(truth.items()):
        found = prover.find(position)
        assert found.value == found.at_least == found.at_most == value


TRAP = {
    "R": "P Q",
    **{"P": "X E", "E": "F G H I", "F": "E", "G": "E", "H": "E", "I": "E"},
    **{"Q": "N J K", "J": "W", "K": "W"},
    **{"N": "D", "D": "X"},
    **{"X": "S T", "S": "N"},
    **{"T": "a b c d", "a": "A", "b": "B", "c": "C", "d": "W"},
    **{"A": "e f g", "B": "e f h", "C": "f g h", "W": "e h", "e": "Z", "f": "Z", "g": "Z", "h": "Z"},
    "Z": "",
}
"""The graph-history interaction, as Kishimoto and Müller (2004) tell it, where games that go on for ever are drawn.

R, N and X are the attacker's. By P, whence the defender can go round in E and F, she comes to X, and from there over S
and N to D, which leads back to X: on this path alone, N seems to be of no use. By Q she comes to N as well, and there
the way over D and X to T wins. Who remembers N without the path says that R is a draw.
"""


@pytest.mark.thorough
def test_what_rests_on_a_repetition_is_not_remembered_as_if_it_did_not():
    game, starts, names = graph_of(TRAP, orders=8)
    truth = solve(game, starts=starts)
    assert {truth[start][0] for start in starts} == {WIN}
    for size in (0, TINY, SMALL):
        prover = ProofNumberSearch(game, size)
        for start in starts:
            for node in range(start, start + len(TRAP)):
                assert prover.find(node).value == truth[node][0], names[node]


@pytest.mark.parametrize("high", [1, 2])
def test_a_note_becomes_an_answer_only_if_the_level_that_it_rests_on_has_one(high):
    """A note rests on level 2, which is left without a win, an answer that rests on level *high*."""
    game = load_game("tictactoe")
    path, table, key = make_path(game, 4, 4, np.zeros(1, np.uint8)), make_table(TINY), 6
    path.levels[2, NOTED] = 0
    add_note.py_func(path, key, 2, 2, 5)
    settle_notes.py_func(game, 2, True, high, table, path)
    answered = high == 2
    assert find.py_func(table, key) == ((0, INFINITE) if answered else (1, 1))
    left = path.counts[NOTES]
    assert path.noted[:left].tolist() == ([] if answered else [key])
    assert path.notes[:left, :2].tolist() == ([] if answered else [[1, 1]])


def random_rows(chance: Random, nodes: int, first: int) -> list[tuple[int, ...]]:
    """Return the children of the nodes of a random graph that goes round in many circles and has few ends."""
    rows: list[tuple[int, ...]] = [(-1,) * 4] * 2
    for _ in range(nodes - 2):
        count = chance.randint(1, 4)
        rows.append((*(first + chance.randrange(nodes) for _ in range(count)), *[-1] * (4 - count)))
    return rows


@pytest.mark.slow
def test_values_of_dense_graphs_are_right():
    """A hundred graphs in one game, compiled once; the first two nodes of each are ends, one of them a tie."""
    chance, nodes, graphs = Random(5), 24, 100
    rows = [row for graph in range(graphs) for row in random_rows(chance, nodes, nodes * graph)]
    game = Graph(tuple(rows), tuple(int(node % nodes == 1) for node in range(len(rows))))
    truth = solve(game, starts=range(len(rows)))
    assert len({value for value, _ in truth.values()}) == 4
    for graph in range(graphs):
        for size in (0, SMALL):
            prover = ProofNumberSearch(game, size)
            for node in range(nodes * graph, nodes * (graph + 1)):
                assert prover.find(node).value == truth[node][0], node


@pytest.mark.thorough
def test_out_of_time_is_an_answer():
    game = load_game("connect4")
    found = ProofNumberSearch(game, SMALL).find(game.start, seconds=0.3)
    assert (found.value, found.proved, found.at_least, found.at_most) == (None, False, LOSE, WIN)


def test_the_command_line():
    told = json.loads(retrograde("search", "mutorere", "--json").stdout)
    assert (told["value"], told["remoteness"], told["proved"], told["line"]) == ("draw", None, True, [])
    told = json.loads(retrograde("search", "tictactoe", "--method", "pn", "--json").stdout)
    assert (told["value"], told["remoteness"], told["proved"]) == ("tie", None, True)
    told = json.loads(retrograde("search", "dodgem", "--json").stdout)
    assert (told["value"], told["remoteness"], len(told["line"])) == ("win", 19, 19)
    refused = retrograde("search", "mutorere", "--method", "pn", "--depth", 3, status=2).output
    assert "--depth needs --method alpha-beta" in refused


def test_a_depth_beyond_what_the_table_holds_is_said():
    told = retrograde("search", "tictactoe", "--depth", 300)
    assert "searching to 253 plies, the most that the entries of the table hold" in told.stderr
    assert "within 253 plies" in told.stdout
    assert "the most that" not in retrograde("search", "tictactoe", "--depth", 253).stderr


def test_what_is_known_without_a_tie_or_a_draw_is_told():
    from retrograde.cli.render.oracles import verdict
    from retrograde.solver.play.oracle import bounds_of_finding
    from retrograde.solver.search.searcher import SearchResult

    assert (
        verdict(bounds_of_finding(SearchResult(None, None, DRAW, TIE, 0, 9, 0.1)), "X") == "not known: a tie or a draw"
    )


# Published values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("hex.py:2", WIN),
        ("hex.py:3", WIN),
        ("mnk.py:4,3,3", WIN),
        ("mnk.py:4,4,3", WIN),
        ("domineering.py:4,4", WIN),
        ("domineering.py:5,5", LOSE),
    ],
)
@pytest.mark.slow
def test_small_boards_have_their_published_values(text, value):
    """Hex: the first player (Nash); m,n,k: Uiterwijk and van den Herik, 2000; domineering: Breuker et al., 2000."""
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("hex.py:4", WIN),
        ("mnk.py:4,4,4", TIE),
        ("mnk.py:3,4,4", TIE),
        ("mnk.py:4,4,3,true", LOSE),
        ("domineering.py:6,6", WIN),
    ],
)
@pytest.mark.slow
def test_larger_boards_have_their_published_values(text, value):
    assert value_of(text) == value


def value_of(text):
    game = load_game(str(ROOT / "tests" / "helpers" / text))
    return ProofNumberSearch(game, 1 << 27).find(game.start).value
