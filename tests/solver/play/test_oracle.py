"""Oracles that search: what they tell is true, and as much as the time allows; and they move so as to keep it."""

import json
from concurrent.futures import ThreadPoolExecutor
from random import Random
from time import monotonic, sleep

import pytest

from retrograde.databases import Outcome
from retrograde.games import DRAW, LOSE, TIE, UNDECIDED, WIN
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import FLIPPED, RuleError
from retrograde.solver.play import match
from retrograde.solver.play.match import judge_moves, play
from retrograde.solver.play.oracle import BOOK, Evidence, ValueBounds, bounds_for_mover, exact_bounds
from retrograde.solver.play.oracles.searching import SearchingOracle, bounds_key, merge_bounds
from retrograde.solver.play.player import make_player, perfect
from tests.helpers.command_line import LATE, retrograde
from tests.helpers.reference import solve

pytestmark = pytest.mark.long

SMALL = 1 << 20
ACYCLIC = ["tictactoe", "connect4:4,3,3", "tentozero"]
SOME_ACYCLIC = ["tictactoe", *(pytest.param(text, marks=pytest.mark.thorough) for text in ACYCLIC[1:])]
CYCLIC = ["dodgem", "mutorere"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty folder for databases."""
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    return tmp_path


def oracle_of(text, seconds=1.0, **options):
    return SearchingOracle(load_game(text), seconds, size=SMALL, **options)


def some(truth, count, seed=1):
    return Random(seed).sample(sorted(truth), min(count, len(truth)))


def is_true(known, truth):
    """Tell whether nothing is told of a position that contradicts its value and remoteness."""
    value, remoteness = truth
    told = known.remoteness is None or (known.proved and known.remoteness == remoteness)
    quiet = known.proved or value not in (WIN, LOSE) or remoteness > known.no_end_within
    return known.at_least <= value <= known.at_most and told and quiet


# Truth


@pytest.mark.thorough
@pytest.mark.parametrize("text", ACYCLIC)
def test_what_a_search_tells_is_what_a_slow_solver_does(text):
    game = load_game(text)
    truth = solve(game, symmetric=True)
    with oracle_of(text) as oracle:
        for position in some(truth, 60):
            known = oracle.probe(position)
            assert known.is_exact
            assert known.outcome == truth[position]
            value, remoteness = truth[position]
            choices = oracle.moves(position)
            assert {choice.move for choice in choices} == set(
                game.generate_moves(position) if game.primitive(position) == UNDECIDED else ()
            )
            for choice in choices:
                assert (choice.value, choice.remoteness) == truth[game.canonical(choice.position)]
            if choices:
                assert (FLIPPED[choices[0].value], choices[0].remoteness + 1) == (value, remoteness)
            assert len(oracle.line(position)) == remoteness


@pytest.mark.parametrize("text", CYCLIC)
def test_where_play_goes_round_in_circles_what_is_told_is_true_and_short_wins_are_found(text):
    truth = solve(load_game(text), symmetric=True)
    with oracle_of(text, 0.3) as oracle:
        told = 0
        for position in some(truth, 25, 2):
            known = oracle.probe(position)
            assert is_true(known, truth[position])
            value, remoteness = truth[position]
            if value in (WIN, LOSE) and remoteness <= 8:
                told += 1
                assert known.outcome == (value, remoteness)
        assert told > 3


@pytest.mark.parametrize("text", ["ponghauki", "chopsticks"])
def test_draws_by_endless_play_are_proved(text):
    """After the first search has given up, by proof numbers in the time that is left."""
    with oracle_of(text) as oracle:
        assert oracle.probe(oracle.game.start, LATE).outcome == (DRAW, None)
        assert {choice.value for choice in oracle.moves(oracle.game.start, LATE)} == {DRAW}


@pytest.mark.thorough
@pytest.mark.parametrize("text", [*ACYCLIC, *CYCLIC])
@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.021, 0.03])
def test_in_no_time_little_is_told_and_nothing_wrong(text, seconds):
    truth = solve(load_game(text), symmetric=True)
    with oracle_of(text, seconds) as oracle:
        for position in some(truth, 15, 3):
            for choice in oracle.moves(position):
                child = oracle.probe(choice.position, 0)
                assert is_true(child, truth[oracle.game.canonical(choice.position)])
                assert choice.value in (UNDECIDED, child.value)
            best = oracle.best(position)
            assert all(
                is_true(oracle.probe(one.position, 0), truth[oracle.game.canonical(one.position)]) for one in best
            )
            assert is_true(oracle.probe(position), truth[position])
            assert is_true(oracle.probe(position, 0), truth[position])


def test_nothing_is_searched_in_no_time():
    with oracle_of("connect4") as oracle:
        game = oracle.game
        assert oracle.probe(game.start, 0)[:3] == (LOSE, WIN, None)
        assert len(oracle.moves(game.start, 0)) == 7
        assert len(oracle.best(game.start, 0)) == 1
        assert oracle.looked_at == 0


@pytest.mark.thorough
@pytest.mark.parametrize("seconds", [0.3, 1.0])
def test_questions_take_no_longer_than_they_may(seconds):
    """They would go on for days."""
    with oracle_of("connect4", seconds) as oracle:
        oracle.prepare()
        for ask in (oracle.probe, oracle.moves, oracle.best):
            ask(oracle.game.start)


# Play


@pytest.mark.parametrize("text", SOME_ACYCLIC)
def test_the_move_keeps_what_the_position_is_worth_and_a_win_is_not_put_off(text):
    game = load_game(text)
    truth = solve(game, symmetric=True)
    with oracle_of(text) as oracle:
        for position in some(truth, 20, 4):
            if game.primitive(position) == UNDECIDED:
                child = game.canonical(game.do_move(position, perfect(oracle, position)))
                assert FLIPPED[truth[child][0]] == truth[position][0]
                if truth[position][0] == WIN:
                    assert truth[child][1] + 1 == truth[position][1]


@pytest.mark.parametrize("text", CYCLIC)
def test_wins_in_circles_come_to_an_end(text):
    game = load_game(text)
    truth = solve(game, symmetric=True)
    wins = [position for position in sorted(truth) if truth[position][0] == WIN and truth[position][1] <= 9]
    with oracle_of(text, 0.5) as oracle:
        for start in Random(5).sample(wins, 3):
            players = [make_player(name, oracle, Random(1)) for name in ("perfect", "random")]
            played = play(oracle, start, players)
            assert played.value == WIN
            assert len(played.moves) <= truth[start][1]
            assert played.mistakes[0] == 0


def test_a_move_that_loses_at_once_is_not_made_where_the_value_is_not_known():
    with oracle_of("connect4", 0.3) as oracle:
        game = oracle.game
        position = game.read("1213")  # Red has 1, 1 and Yellow 2, 3: nothing to see yet
        for text, wanted in (("414141", "4"), ("454647", None)):
            position = game.read(text)
            if wanted:
                assert game.move_name(position, perfect(oracle, position)) == wanted
            else:
                assert game.primitive(game.do_move(position, perfect(oracle, position))) == LOSE


def test_a_depth_limited_search_ends_once_the_question_is_stopped():
    with oracle_of("connect4") as oracle, ThreadPoolExecutor(1) as thread:
        moves = oracle.legal(oracle.start)
        oracle.seemingly_best(oracle.start, moves, monotonic())  # compiles
        before = oracle.depth_search.search.nodes
        asked = thread.submit(oracle.seemingly_best, oracle.start, moves, monotonic() + 2 * LATE)
        while oracle.depth_search.search.nodes == before:
            sleep(0.01)
        oracle.stop()
        assert asked.result(LATE) in moves
        assert oracle.seemingly_best(oracle.start, moves, monotonic() + 600) == moves[0]  # still stopped
        oracle.stopped = False
        assert oracle.seemingly_best(oracle.start, moves, monotonic() + 0.2) in moves


def test_moves_are_judged_by_what_is_proved(monkeypatch):
    """The time is enough for all of the one, and for nothing of the other, on any machine."""
    monkeypatch.setattr(match, "FOR_SCORECARD", 60.0)
    with oracle_of("connect4:4,4", 60.0) as oracle:
        game = oracle.game
        start = game.read("2122")
        moves = [next(iter(game.generate_moves(start)))]
        assert [mark.verdict for mark in judge_moves(oracle, [start], moves, [0])] == ["best"]
    monkeypatch.setattr(match, "FOR_SCORECARD", 0.1)
    with oracle_of("connect4", 0.1) as oracle:
        assert [mark.verdict for mark in judge_moves(oracle, [0], [3], [0])] == ["unknown"]


# First one, then the other


def test_what_is_at_hand_is_asked_first_and_the_rest_is_searched():
    game = load_game("tictactoe")
    truth = solve(game, symmetric=True)
    asked = []

    def source(position):
        asked.append(position)
        stones = sum(sign != "." for sign in game.write(position).replace("/", ""))
        return exact_bounds(Outcome(*truth[game.canonical(position)]), Evidence(BOOK)) if stones <= 2 else None

    with oracle_of("tictactoe", sources=[source]) as oracle:
        assert oracle.probe(game.start).evidence.source == BOOK
        assert len(oracle.line(game.start)) == 9
        beyond = game.read("XO./X../...")
        assert oracle.probe(beyond).evidence.source == "search"
        assert oracle.probe(beyond).outcome == truth[game.canonical(beyond)]
    assert asked


def test_a_source_that_knows_a_bound_is_believed_as_far_as_it_goes():
    bound = ValueBounds(DRAW, WIN, None, Evidence("certificate"))
    with SearchingOracle(load_game("connect4"), 0.1, sources=[lambda position: bound]) as oracle:
        assert oracle.probe(0, 0)[:2] == (DRAW, WIN)
        assert oracle.probe(0, 0).evidence.source == "certificate"


def test_what_moves_bring_is_in_order():
    how = Evidence("search")
    worths = [
        ValueBounds(LOSE, LOSE, 2, how),
        ValueBounds(LOSE, WIN, None, how),
        ValueBounds(TIE, TIE, 4, how),
        ValueBounds(WIN, WIN, 1, how),
    ]
    assert sorted(Random(6).sample(worths, 4), key=bounds_key) == worths
    assert bounds_for_mover(ValueBounds(DRAW, TIE, None, how))[:2] == (DRAW, TIE)


# Commands


def test_query_without_a_database_searches_and_says_so(home):
    result = retrograde("query", "connect4:4,4", "2122", "--time", "5")
    assert "Red (X) to move loses in 12 plies" in result.stdout
    assert "proved by search: " in result.stdout
    assert result.stderr.startswith("no database for connect4:width=4,height=4: searching, up to 5.0 s a question; ")
    assert "to solve it: retrograde solve connect4:4,4" in result.stderr


def test_query_as_json_has_what_search_has_and_its_own(home):
    searched = json.loads(retrograde("search", "connect4:4,4", "2122", "--json").stdout)
    asked = json.loads(retrograde("query", "connect4:4,4", "2122", "--json").stdout)
    assert searched.keys() <= asked.keys()
    assert asked["source"] == "search"
    for name in ("variant", "position", "value", "remoteness", "at_least", "at_most", "proved"):
        assert asked[name] == searched[name]
    assert len(asked["line"]) == 12
    assert {move["value"] for move in asked["moves"]} == {"win"}


def test_out_of_time_is_an_answer(home):
    asked = json.loads(retrograde("query", "connect4", "--json", "--time", "0.1").stdout)
    assert (asked["value"], asked["at_least"], asked["at_most"], asked["proved"]) == (None, "lose", "win", False)
    assert "not known" in retrograde("query", "connect4", "--time", "0.1").stdout


def test_chess_is_searched_where_no_database_has_the_men(home):
    asked = json.loads(retrograde("query", "chess", "k7/8/1K6/8/8/8/8/7R w - -", "--json", "--time", "1").stdout)
    assert (asked["variant"], asked["value"], asked["remoteness"]) == ("chess:KRK", "win", 1)


@pytest.mark.thorough
def test_play_without_a_database_says_what_it_knows_and_how(home):
    lost = ("play", "connect4:4,4", "--from", "2122", "--time", "2")
    result = retrograde(*lost, input="1\n?\nline\nhints\nquit\n")
    assert "Yellow (O) to move wins in 11 plies (proved by search: " in result.stdout
    assert "Best play  " in result.stdout
    assert "the best of a lost game, in 12" in result.stdout
    told = retrograde("play", "connect4", "--time", "0.2", input="4\n?\nline\nquit\n").stdout
    assert "not known" in told and "(no proof: " in told
    assert "best play from here is not known" in told
    assert "threw something away, of 1 it is not known" in told
    assert retrograde("play", "connect4", "--from", "longest", status=2).stderr.endswith("retrograde play --help\n")


@pytest.mark.thorough
def test_match_without_a_database_is_played_by_search(home):
    told = json.loads(retrograde("match", "connect4:3,3,3", "perfect", "random", "--games", "4", "--json").stdout)
    perfect_one, random_one = told["players"]
    assert perfect_one["mistakes"] == 0
    assert perfect_one["points"] + random_one["points"] == 4
    assert perfect_one["lost"] == 0


def test_a_database_that_is_named_must_be_there(home):
    for command in ("query", "play"):
        stderr = retrograde(command, "connect4:4,4", "--database", home / "none.h5", status=1).stderr
        assert "no database" in stderr


def test_answers_that_contradict_each_other_are_the_fault_of_a_hint():
    won, lost = (ValueBounds(value, value, 3, Evidence(BOOK)) for value in (WIN, LOSE))
    tied = ValueBounds(DRAW, TIE, None, Evidence(BOOK))
    for old, new in ((won, lost), (lost, won), (won, tied), (tied, lost)):
        with pytest.raises(RuleError, match="a hint of the rules is wrong"):
            merge_bounds(old, new)
    assert merge_bounds(ValueBounds(DRAW, WIN, None, Evidence(BOOK)), won).at_least == WIN
