"""Who answers by scores where there is no database: never wrong, in time, and told in words and JSON."""

import json
import re
from random import Random

import pytest

from retrograde.databases import open_database
from retrograde.games import LOSE, TIE, UNDECIDED, WIN
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import same_mover
from retrograde.solver.engine import solve
from retrograde.solver.play.match import play
from retrograde.solver.play.oracles.open import searching_oracle
from retrograde.solver.play.oracles.scoring import ScoringOracle
from retrograde.solver.play.player import perfect
from retrograde.solver.play.solution import Solution
from tests.helpers import turning
from tests.helpers.command_line import retrograde
from tests.helpers.marks import thorough

pytestmark = pytest.mark.long

GAMES = [thorough("kalah:3,2"), thorough("awari:2,2"), "dotsandboxes:1,2"]
SMALL = 1 << 24


@pytest.fixture(scope="module", params=GAMES)
def pair(request, tmp_path_factory):
    """A game's truth by scores, and who searches."""
    game = load_game(request.param)
    path = solve(game, tmp_path_factory.mktemp("truth") / "game.h5", metric="score")
    with Solution(open_database(path, game=game)) as truth, searching_oracle(game, 1.0, size=SMALL) as oracle:
        assert isinstance(oracle, ScoringOracle)
        oracle.prepare()
        yield truth, oracle


def positions_of(game, count, seed=0):
    chance = Random(seed)
    for _ in range(count):
        position = game.start
        for _ in range(chance.randrange(12)):
            if game.primitive(position) == UNDECIDED:
                position = game.do_move(position, chance.choice(list(game.generate_moves(position))))
        yield position


def following(moves):
    """Return a player who makes these moves, whoever he plays for."""
    script = iter(moves)
    return lambda oracle, position: next(script)


def true_score(truth, position):
    return truth.database.measures(position)["score"]


@pytest.mark.thorough
def test_what_is_told_is_so(pair):
    """Of positions and moves, however short the time is: within the bounds is the score that the database has."""
    truth, oracle = pair
    exact = 0
    for number, position in enumerate(positions_of(oracle.game, 60)):
        seconds = (0, 0.03, 1.0)[number % 3]
        known, score = oracle.probe(position, seconds, distance=number % 2 == 0), true_score(truth, position)
        found = oracle.score(position)
        assert (found.low is None or found.low <= score) and (found.high is None or score <= found.high)
        sign = WIN if score > 0 else LOSE if score else TIE
        assert known.at_least <= sign <= known.at_most
        exact += found.score is not None
        best = {choice.move: choice for choice in truth.moves(position)}
        for choice in oracle.moves(position, seconds):
            after = true_score(truth, choice.position)
            again = same_mover(oracle.game, position, choice.position)
            brings = oracle.search.gain(position, choice.move) + (after if again else -after)
            bounds = oracle.score_after(position, choice.move)
            assert (bounds.low is None or bounds.low <= brings) and (bounds.high is None or brings <= bounds.high)
            assert choice.again == again and choice.brings in (UNDECIDED, best[choice.move].brings)
            assert choice.value == UNDECIDED or choice.gives == choice.brings
    assert exact > 20


def test_it_plays_as_well_as_can_be(pair):
    truth, oracle = pair
    game = oracle.game
    for position in positions_of(game, 12, 1):
        if game.primitive(position) != UNDECIDED:
            continue
        (choice,) = oracle.best(position, 60.0)  # it stops once the score is known
        after = true_score(truth, choice.position)
        brings = oracle.search.gain(position, choice.move) + (after if choice.again else -after)
        assert brings == true_score(truth, position)
        oracle.seconds = 60.0  # a line stops where time runs out
        oracle.probe(position)
        line = oracle.line(position)
        assert line and game.primitive(line[-1].position) != UNDECIDED
    score = true_score(truth, game.start)
    for known_by in (oracle, truth):
        played = play(known_by, game.start, (perfect, perfect))
        assert played.value == (WIN if score > 0 else LOSE if score else TIE)
        assert played.mistakes == (0, 0)


def test_mistakes_are_counted_by_points(pair):
    truth, _ = pair
    game, chance = truth.game, Random(3)
    for _ in range(10):
        position, wrong, moves = game.start, [0, 0], []
        while game.primitive(position) == UNDECIDED:
            moves.append(chance.choice(truth.moves(position)))
            position = moves[-1].position
        played = play(truth, game.start, [following([choice.move for choice in moves])] * 2)
        position, side = game.start, 0
        for choice in moves:
            wrong[side] += choice.brings != max(one.brings for one in truth.moves(position))
            side = side if choice.again else 1 - side
            position = choice.position
        assert played.mistakes == tuple(wrong)


@pytest.mark.thorough
def test_time_is_kept():
    with searching_oracle(load_game("kalah:6,3"), 0.5, size=SMALL) as oracle:
        oracle.prepare()
        oracle.depth_search.search.find(oracle.start, 1)
        (choice,) = oracle.best(oracle.start)
        assert choice.move in oracle.game.generate_moves(oracle.start)
        assert oracle.probe(oracle.start, 0.2).at_least == LOSE


class Perverse(turning.Told):
    """Who takes the last one has won, and is paid less."""

    start = 2 << 3 | 1

    def payoff(self, position, player):
        return 3 if self.turn(position) == player else 1


@pytest.mark.thorough
def test_a_value_that_points_contradict_is_not_told():
    with searching_oracle(Perverse(), 1.0, size=SMALL) as oracle:
        oracle.prepare()
        known = oracle.probe(oracle.start)
        assert oracle.search.is_contradicted and not known.proved
        assert oracle.score(oracle.start).score is not None
        assert all(choice.value == UNDECIDED for choice in oracle.moves(oracle.start))


@pytest.mark.thorough
def test_query_and_match_tell_of_scores():
    told = retrograde("query", "kalah:3,2", "--time", "4").stdout
    assert "South (S) to move wins" in told and "Score: +4" in told
    facts = json.loads(retrograde("query", "kalah:3,2", "--time", "4", "--json").stdout)
    assert (facts["score"], facts["value"], facts["proved"]) == (4, "win", True)
    assert any(move.get("again") for move in facts["moves"])
    contest = json.loads(retrograde("match", "kalah:3,2", "perfect", "random", "--games", "2", "--json").stdout)
    assert contest["players"][0]["mistakes"] == 0
    assert "+4" in retrograde("play", "kalah:3,2", "--second", "random", input=b"?\nquit\n").stdout
    boxes = retrograde("play", "dotsandboxes:1,2", "--first", "perfect", "--second", "random", "--seed", "1").stdout
    assert re.search("after 7 moves: (2 to 0|1 to 1)", boxes), "its ends are ties by the rules, and boxes count"


def test_the_page_tells_of_moves_whoever_is_to_move_next():
    view = pytest.importorskip("retrograde.cli.web.view", reason="the page needs the extra web")
    with searching_oracle(load_game("kalah:3,2"), 4.0, size=SMALL) as oracle:
        oracle.prepare()
        shown = view.show_position(oracle, oracle.start, None, True, 4.0)
        assert shown.value == "win" and "proved by search" in shown.how
        moves = {move.name: move for move in shown.moves}
        assert {name: move.value for name, move in moves.items()} == {"1": "lose", "2": "win", "3": "tie"}
        assert moves["2"].again and moves["2"].best and not moves["3"].best
