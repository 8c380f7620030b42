"""Games that have no database and that no search proves: puzzles, games of chance and of several players are played."""

import json
from random import Random

import pytest

from retrograde.games import UNDECIDED, WIN
from retrograde.games.catalog import load_game
from retrograde.games.eightpuzzle import EightPuzzle
from retrograde.solver.engine import solve
from retrograde.solver.play.answer import answer_of
from retrograde.solver.play.match import play
from retrograde.solver.play.oracles.by_rules import RulesOracle
from retrograde.solver.play.oracles.open import searching_oracle
from retrograde.solver.play.player import make_player
from retrograde.solver.play.solution import open_solution
from tests.helpers.command_line import retrograde
from tests.helpers.marks import thorough_but

SMALL = 1 << 16


def test_a_puzzle_is_answered_as_its_database_answers(tmp_path):
    game = EightPuzzle(3, 2)
    path = solve(game, tmp_path / "puzzle.h5")
    with open_solution(path, game=game) as truth, searching_oracle(game, 60.0, size=SMALL) as oracle:
        assert isinstance(oracle, RulesOracle)
        position, chance = game.start, Random(1)
        for _ in range(4):
            answer = answer_of(oracle, position)
            assert answer.bounds.outcome == truth.value(position)
            assert len(answer.line) == truth.value(position).remoteness
            known = {one.choice.move: one.bounds.outcome for one in answer.moves}
            assert known == {choice.move: truth.value(choice.position) for choice in truth.moves(position)}
            assert (oracle.best(position)[0].remoteness or 0) + 1 == truth.value(position).remoteness
            position = game.do_move(position, chance.choice(list(game.generate_moves(position))))


@pytest.mark.thorough
def test_the_perfect_player_solves_a_large_puzzle():
    game = load_game("eightpuzzle:4,4")
    with searching_oracle(game, 60.0, size=1 << 20) as oracle:
        player = make_player("perfect", oracle, Random(1))
        played = play(oracle, game.read("51.4/2638/9A7B/DEFC"), (player, player))
        assert played.value == WIN and len(played.moves) == 10


@pytest.mark.thorough
def test_a_player_that_looks_ahead_reaches_the_target_of_2048_and_a_random_one_does_not():
    game = load_game("game2048:4,4,256")
    with searching_oracle(game, 0.1, size=SMALL) as oracle:
        for name, reaches in (("depth:2", True), ("random", False)):
            player, dice = make_player(name, oracle, Random(1)), Random(1)
            for _ in range(4):
                assert (play(oracle, game.start, (player, player), dice).value == WIN) is reaches


def test_the_perfect_player_wins_a_game_of_chance_at_once():
    game = load_game("game2048:4,4,256")
    with searching_oracle(game, 0.1, size=SMALL) as oracle:
        (choice,) = oracle.best(game.read("2,.,.,2/.,.,.,./4,.,.,./128,128,.,."))
        assert choice.name in ("left", "right")


def test_several_players_play_without_a_database():
    game = load_game("nim3:3+2")
    with searching_oracle(game, 0.1, size=SMALL) as oracle:
        player = make_player("perfect", oracle, Random(1))
        played = play(oracle, game.start, (player, player))
        position = game.start
        for move in played.moves:
            assert game.primitive(position) == UNDECIDED
            assert not oracle.probe(position).proved
            position = game.do_move(position, move)
        assert game.primitive(position) != UNDECIDED


@pytest.mark.long
@pytest.mark.parametrize(
    "text", thorough_but(["game2048:4,4", "eightpuzzle:4,4", "pig:10", "cantstop:2,1"], "pig:10", "cantstop:2,1")
)
def test_query_and_match_work_without_a_database(text):
    facts = json.loads(retrograde("query", text, "--time", "0.2", "--json").stdout)
    assert facts["value"] is None and not facts["proved"]
    counts = json.loads(retrograde("match", text, "depth:1", "random", "--games", "2", "--json").stdout)
    assert [player["mistakes"] for player in counts["players"]] == [0, 0]


def test_play_shows_positions_and_moves():
    game = retrograde("play", "game2048:3,3", "--seed", "3", input="left\n?\nquit\n").stdout
    assert "player, your move: left" in game and "The moves, best first" in game and "chance: 2@" in game
    text = retrograde("play", "game2048:3,3", "--first", "depth:2", "--seed", "1").stdout
    assert "there is a 16" in text and "paid: 1" in text
    puzzle = retrograde("play", "eightpuzzle:3,3", "--from", "123/456/.78", "--first", "perfect").stdout
    assert "solved in 2 moves (proved by search" in puzzle and "solved after 2 moves" in puzzle


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        ("search kalah:3,2", "play it: retrograde play kalah:pits=3; if it is small, solve it"),
        ("search eightpuzzle:4,4 --method pn", "search it: retrograde search eightpuzzle:width=4,height=4"),
        ("prove eightpuzzle:4,4", "search it: retrograde search eightpuzzle:width=4,height=4"),
    ],
)
def test_refusals_advise_what_can_be_done(arguments, advice):
    result = retrograde(*arguments.split(), status=1)
    assert advice in result.stderr and len(result.stderr.splitlines()) == 1
