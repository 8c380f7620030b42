"""What is asked of solutions in which a player moves again, and of puzzles: values, best moves, games, words."""

import json
from collections import Counter
from random import Random

import pytest

from retrograde.games import FLIPPED, LOSE, UNDECIDED, WIN, RetrogradeError
from retrograde.games.eightpuzzle import EightPuzzle
from retrograde.games.kalah import Kalah
from retrograde.solver.engine import solve
from retrograde.solver.play.match import judge, judge_moves, play, review
from retrograde.solver.play.player import greedy_player, make_player, perfect
from retrograde.solver.play.solution import open_solution
from retrograde.solver.search.prover import ProofNumberSearch
from retrograde.solver.search.searcher import Search
from tests.helpers import turning
from tests.helpers.command_line import retrograde

KALAH, PUZZLE = Kalah(3, 1), EightPuzzle(3, 2)


@pytest.fixture(scope="module")
def kalah(tmp_path_factory):
    with open_solution(solve(KALAH, tmp_path_factory.mktemp("kalah") / "game.h5"), game=KALAH) as solution:
        yield solution


@pytest.fixture(scope="module")
def puzzle(tmp_path_factory):
    with open_solution(solve(PUZZLE, tmp_path_factory.mktemp("puzzle") / "game.h5"), game=PUZZLE) as solution:
        yield solution


def test_the_best_move_brings_what_the_position_is_worth(kalah):
    truth = turning.solve(KALAH)
    again = 0
    for position, (value, remoteness) in truth.items():
        choices = kalah.moves(position)
        for choice in choices:
            same = KALAH.turn(choice.position) == KALAH.turn(position)
            assert choice.again is same
            assert choice.brings == (choice.value if same else FLIPPED[choice.value])
        if choices:
            assert (choices[0].brings, choices[0].remoteness + 1) == (value, remoteness)
            assert [choice.brings for choice in choices] == sorted((c.brings for c in choices), reverse=True)
            again += choices[0].again
    assert again >= 15


def test_best_play_ends_with_what_was_promised(kalah, puzzle):
    for solution in (kalah, puzzle):
        game = solution.game
        line = solution.line(game.start)
        value, remoteness = solution.value(game.start)
        assert len(line) == remoteness
        end = line[-1].position
        same = game.players == 1 or game.turn(end) == game.turn(game.start)
        assert (game.primitive(end) if same else FLIPPED[game.primitive(end)]) == value


def test_a_game_between_perfect_players_ends_as_it_should_without_mistakes(kalah):
    for position, (value, _) in list(turning.solve(KALAH).items())[:100]:
        played = play(kalah, position, (perfect, perfect))
        assert (played.value, played.mistakes) == (value, (0, 0))


def test_each_move_is_made_and_judged_by_whose_turn_it_is(kalah):
    movers = Counter()

    def noting(side):
        def player(oracle, position):
            movers[side, KALAH.turn(position)] += 1
            return make_player("random", oracle, chance)(oracle, position)

        return player

    chance = Random(1)
    for _ in range(20):
        played = play(kalah, KALAH.start, (noting("first"), noting("second")))
        positions = [KALAH.start]
        for move in played.moves:
            positions.append(KALAH.do_move(positions[-1], move))
        marks = judge_moves(kalah, positions[:-1], played.moves, range(len(played.moves)))
        reviewed = zip(positions, marks, strict=False)
        mistakes = Counter(KALAH.turn(position) for position, one in reviewed if one.verdict == "mistake")
        assert played.mistakes == (mistakes[0], mistakes[1])
        first = KALAH.payoff(positions[-1], 0) - KALAH.payoff(positions[-1], 1)
        assert played.value == (WIN if first > 0 else LOSE if first < 0 else played.value)
    assert set(movers) == {("first", 0), ("second", 1)}


def test_a_greedy_player_wins_at_once_whoever_is_to_move_there(kalah, puzzle):
    chance = Random(1)
    for solution in (kalah, puzzle):
        for position, (value, remoteness) in turning.solve(solution.game).items():
            if (value, remoteness) == (WIN, 1):
                child = solution.game.do_move(position, greedy_player(chance)(solution, position))
                assert solution.game.primitive(child) != UNDECIDED


def test_a_move_is_reviewed_by_what_it_brings(puzzle):
    for position, (_, remoteness) in list(turning.solve(PUZZLE).items())[:50]:
        for choice in puzzle.moves(position):
            seen = review(puzzle, position, choice.move)
            assert not seen.mistake, "every position can be solved"
            assert seen.slower == choice.remoteness + 1 - remoteness
            assert not judge(puzzle, position, choice.move).mistake


@pytest.mark.parametrize("make", [Search, ProofNumberSearch], ids=lambda make: make.__name__)
@pytest.mark.parametrize("game", [KALAH, PUZZLE], ids=["kalah", "puzzle"])
def test_searches_refuse_what_does_not_alternate_in_one_line(make, game):
    with pytest.raises(RetrogradeError, match="this search is for two players who alternate; ") as caught:
        make(game)
    assert len(str(caught.value).splitlines()) == 1


def test_searches_refuse_on_the_command_line():
    for arguments in (["search", "kalah"], ["search", "eightpuzzle:3,2", "--method", "pn"]):
        assert "this search is for two players who alternate" in retrograde(*arguments, status=1).stderr


def test_a_search_that_refuses_a_game_with_payoffs_names_the_one_by_score():
    command = "retrograde search kalah:pits=3 --metric score"
    for arguments in (["search", "kalah:3,2"], ["search", "kalah:3,2", "--value-only"]):
        assert f"; search for its score: {command}; play it: " in retrograde(*arguments, status=1).stderr
    assert "Score: +4" in retrograde(*command.split()[1:]).stdout
    assert "--metric score" not in retrograde("search", "gates", status=1).stderr  # it has no points


@pytest.fixture
def solved_puzzle(tmp_path):
    path = tmp_path / "puzzle.h5"
    return solve(PUZZLE, path)


def test_a_puzzle_is_told_in_words_of_its_own(solved_puzzle):
    file = str(solved_puzzle)
    text = retrograde("query", file, "1.3/425").stdout
    assert "solved in 9 moves" not in text
    remoteness = json.loads(retrograde("query", file, "1.3/425", "--json").stdout)["remoteness"]
    assert f"solved in {remoteness} moves" in text
    assert "and what each brings:" in text
    assert "1 move" in retrograde("query", file, "123/4.5").stdout
    assert "solved" in retrograde("query", file, "123/45.").stdout
    info = retrograde("info", file).stdout
    assert "The farthest from a solution: solved in 21 moves" in info
    facts = json.loads(retrograde("info", file, "--json").stdout)
    assert facts["players"] == 1
    assert facts["eccentricity"]["remoteness"] == 21
    assert facts["eccentricity"]["positions"] == facts["longest_win"]["count"] == 1
    far = PUZZLE.read(facts["eccentricity"]["first"])
    assert turning.solve(PUZZLE)[far] == (WIN, 21)


def test_a_puzzle_is_played_alone(solved_puzzle):
    file = str(solved_puzzle)
    watched = retrograde("play", file, "--first", "perfect", "--from", "123/.45").stdout
    assert "solved after 2 moves" in watched
    played = retrograde("play", file, "--from", "123/.45", "--hints", input=b"swap\n4\n5\n").stdout
    assert "there is no other side" in played
    assert "solved in 2 moves" in played
    assert "solved after 2 moves" in played
    assert "given up" in retrograde("play", file, input=b"resign\n").stdout
    contest = json.loads(
        retrograde("match", file, "perfect", "random", "--games", "4", "--from", "123/.45", "--json").stdout
    )
    assert contest["players"][0]["won"] == 2
    assert contest["players"][0]["lost"] == contest["players"][0]["mistakes"] == 0


def test_several_first_positions_are_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "walk.py").write_text(
        "from retrograde.games import UNDECIDED, WIN, Game\n\n\n"
        "class Walk(Game):\n    players = 1\n    starts = (9, 4, 12)\n\n"
        "    def generate_moves(self, n):\n        yield from range(1, 3)\n\n"
        "    def do_move(self, n, move):\n        return max(n - move, 0)\n\n"
        "    def primitive(self, n):\n        return UNDECIDED if n else WIN\n"
    )
    file = str(tmp_path / "walk.h5")
    retrograde("solve", "./walk.py", "--database", file)
    assert "play begins in 3 positions: 9, 4, 12" in retrograde("info", file).stdout
    facts = json.loads(retrograde("info", file, "--json").stdout)
    assert facts["starts"] == ["9", "4", "12"]
    assert facts["start"]["position"] == "9"
    assert facts["positions"] == 13
    assert "every one is right" in retrograde("verify", "./walk.py", "--database", file).stdout


def test_the_page_is_told_whose_turn_it_is_after_each_move(kalah, puzzle):
    view = pytest.importorskip("retrograde.cli.web.view", reason="the page needs the extra web")
    assert view.players(kalah, KALAH.start) == ["South", "North"]
    once_more = next(choice for choice in kalah.moves(KALAH.start) if choice.again)
    names = [once_more.name, kalah.moves(once_more.position)[0].name]
    told = view.show_game(kalah, KALAH.start, names)
    positions = [KALAH.read(step.position) for step in told.steps]
    assert [step.side for step in told.steps] == [KALAH.turn(position) for position in positions]
    assert told.steps[1].side == 0
    shown = view.show_position(kalah, KALAH.start, None, False)
    assert {move.name: move.again for move in shown.moves}[once_more.name]
    alone = view.show_game(puzzle, PUZZLE.start, [choice.name for choice in puzzle.line(PUZZLE.start)])
    assert {step.side for step in alone.steps} == {0}
    assert alone.last.over
