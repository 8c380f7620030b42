"""Players: the perfect one never gives anything away and sets traps; the others play as they say; matches count."""

import json
import sys
from random import Random

import pytest

from retrograde.databases import open_database
from retrograde.games import FLIPPED, LOSE, TIE, UNDECIDED, WIN, Game
from retrograde.games.contract.choice import Choice
from retrograde.games.tictactoe_player import by_rules
from retrograde.solver.play.match import Review, judge, play, random_position
from retrograde.solver.play.oracles.kernels import play_out
from retrograde.solver.play.player import (
    NoPlayer,
    count_problems,
    first_best,
    greedy_player,
    make_player,
    perfect,
    skilled_player,
)
from retrograde.solver.play.solution import Solution
from retrograde.solver.rules.ports import rules_for
from tests.helpers.command_line import retrograde

SMALL = ["tictactoe", "tictactoe:misere", "connect4:4,4", "dodgem", "hareandhounds", "mutorere", "tentozero"]
SLOW = ["lgame", "connect4:5,4", "chess:KRK", "chess:KQKR"]


@pytest.fixture
def solution_of(solved):
    """A function from a variant to its solution, which is closed afterwards."""
    opened = []

    def open_solution(text):
        opened.append(Solution(open_database(solved(text))))
        return opened[-1]

    yield open_solution
    for solution in opened:
        solution.close()


def games_without_a_slip(solution, games, seed):
    """Play the perfect player against chance, from either side, and look at what each of its moves keeps."""
    game, chance = solution.game, Random(seed)
    for number in range(games):
        position = random_position(solution, chance) if not hasattr(game, "start") else game.start
        for ply in range(200):
            if game.primitive(position) != UNDECIDED:
                break
            if ply % 2 != number % 2:
                position = game.do_move(position, chance.choice(list(game.generate_moves(position))))
                continue
            value, remoteness = solution.value(position)
            position = game.do_move(position, perfect(solution, position))
            after, left = solution.value(position)
            assert (FLIPPED[after], left if left is None else left + 1) == (value, remoteness)


@pytest.mark.parametrize("text", SMALL)
@pytest.mark.long
def test_the_perfect_player_gives_nothing_away(solution_of, text):
    games_without_a_slip(solution_of(text), 60, 1)


@pytest.mark.slow
@pytest.mark.parametrize("text", SMALL + SLOW)
def test_the_perfect_player_gives_nothing_away_in_a_thousand_games_a_side(solution_of, text):
    games_without_a_slip(solution_of(text), 2000, 2)


def test_of_equal_moves_the_one_with_most_ways_to_go_wrong_is_made(solution_of):
    solution = solution_of("tictactoe")
    game = solution.game
    # After a corner seven of eight replies lose, after the centre four, after an edge four.
    assert game.move_name(0, perfect(solution, 0)) == "a1"
    rated = {
        choice.name: count_problems(choice, solution.moves(choice.position))[0] for choice in solution.best(game.start)
    }
    assert {rated[name] for name in ("a1", "c1", "a3", "c3")} == {7}
    assert {rated[name] for name in ("b1", "a2", "c2", "b3", "b2")} == {4}


@pytest.mark.parametrize("text", ["connect4:4,4", "mutorere", "tictactoe"])
def test_problems_are_counted_as_they_are(solution_of, text):
    solution = solution_of(text)
    game, chance = solution.game, Random(3)
    for _ in range(30):
        position = random_position(solution, chance)
        for choice in solution.moves(position):
            if game.primitive(choice.position) != UNDECIDED:
                continue
            ends = [solution.value(game.do_move(choice.position, m)) for m in game.generate_moves(choice.position)]
            if choice.value == LOSE:
                losing = [end for end in ends if end.remoteness + 1 < choice.remoteness]
                others = []
            else:
                losing = [end for end in ends if end.value == WIN]
                others = [end for end in ends if end.value != WIN and FLIPPED[end.value] != choice.value]
            counted = count_problems(choice, solution.moves(choice.position))
            assert counted[:2] == (len(losing), len(others))
            if losing:
                assert counted[2] == -min(end.remoteness for end in losing)


@pytest.mark.thorough
def test_traps_bring_points(solution_of):
    for text in ("connect4:4,4", "mutorere", "tictactoe"):
        solution = solution_of(text)
        for opponent in ("random", "0.8"):
            won = {}
            for name in ("perfect", "first"):
                won[name] = 0.0
                for number in range(60):
                    players = [make_player(name, solution, Random(0)), make_player(opponent, solution, Random(number))]
                    side = number % 2
                    value = play(solution, solution.game.start, players[:: 1 - 2 * side]).value
                    value = FLIPPED[value] if side else value
                    won[name] += {WIN: 1.0, LOSE: 0.0}.get(value, 0.5)
            assert won["perfect"] >= won["first"], (text, opponent, won)


def test_whoever_plays_tictactoe_by_rules_is_beaten_when_it_errs(solution_of):
    solution = solution_of("tictactoe")
    errors = 0
    for number in range(200):
        chance = Random(number)
        position = random_position(solution, chance)  # so that it comes to where the rules fail
        simple = by_rules(solution, chance)
        players = (perfect, simple) if number % 2 else (simple, perfect)
        rules = number % 2  # the turn of the player by rules
        game, erred = solution.game, False
        for ply in range(9):
            if game.primitive(position) != UNDECIDED:
                break
            move = players[ply % 2](solution, position)
            if ply % 2 == rules:
                judgement = judge(solution, position, move)
                erred = erred or (judgement.mistake and judgement.played.value == WIN)
            position = game.do_move(position, move)
        if erred:
            errors += 1
            assert game.primitive(position) == LOSE
            assert ply % 2 == rules  # it is to move, and has lost
    assert errors > 5


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("XX./OO./...", "c1"),  # wins
        ("X../OO./X..", "c2"),  # blocks
        ("X../.../...", "b2"),  # takes the centre
        ("X../.../..O", None),
    ],
)
def test_the_rules_that_people_learn(solution_of, text, move):
    solution = solution_of("tictactoe")
    position = solution.game.read(text)
    chosen = by_rules(solution, Random(1))(solution, position)
    if move is None:
        assert solution.game.move_name(position, chosen) == "b2"
    else:
        assert solution.game.move_name(position, chosen) == move


def test_the_player_by_rules_knows_no_other_game(solution_of):
    with pytest.raises(NoPlayer, match="tictactoe alone"):
        make_player("rules", solution_of("tictactoe:misere"), Random(1))
    names = "perfect, first, random, greedy, depth:N, time:S, paranoid:N, mcts:N, skill:P, exploit:MODEL, rules"
    with pytest.raises(NoPlayer, match=rf"no player 'best'; the players are {names}"):
        make_player("best", solution_of("mutorere"), Random(1))
    with pytest.raises(NoPlayer):
        make_player("1.5", solution_of("mutorere"), Random(1))


MAKERS = """
def last(solution, chance):
    return lambda solution, position: max(solution.game.generate_moves(position))


def first(solution, chance):
    raise AssertionError("a name of ours was looked for elsewhere")


def choosy(solution, chance):
    raise ValueError("it does not like this game")
"""


@pytest.fixture
def distribution(tmp_path, monkeypatch):
    """Another distribution, whose players are installed."""
    about = tmp_path / "pastimes-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: pastimes\nVersion: 1.0\n")
    names = {"last": "last", "first": "first", "0.5": "first", "choosy": "choosy", "gone": "gone"}
    points = [f"{name} = pastimes:{function}" for name, function in names.items()]
    (about / "entry_points.txt").write_text("\n".join(["[retrograde.players]", *points, "lost = pastimes.none:lost"]))
    (tmp_path / "pastimes.py").write_text(MAKERS)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("pastimes", None)


@pytest.mark.usefixtures("distribution")
def test_other_distributions_offer_players(solved, solution_of):
    solution = solution_of("mutorere")
    start = solution.game.start
    assert make_player("last", solution, Random(1))(solution, start) == max(solution.game.generate_moves(start))
    assert make_player("first", solution, Random(1)) is first_best
    assert make_player("0.5", solution, Random(1))(solution, start) in solution.game.generate_moves(start)
    for name, complaint in {
        "choosy": "it does not like this game",
        "gone": "'gone' cannot be loaded from pastimes:gone: module 'pastimes' has no",
        "lost": "'lost' cannot be loaded from pastimes.none:lost: No module named",
        "nobody": "paranoid:N, mcts:N, skill:P, exploit:MODEL, 0.5, choosy, first, gone, last, lost, rules, or a",
    }.items():
        with pytest.raises(NoPlayer, match=complaint):
            make_player(name, solution, Random(1))
    assert "choosy, first, gone, last, lost, rules." in retrograde("match", "--help").stdout
    assert "choosy, first, gone, last, lost, rules." in retrograde("play", "--help").stdout
    told = json.loads(retrograde("match", solved("mutorere"), "perfect", "last", "--games", "2", "--json").stdout)
    assert told["players"][0]["lost"] == 0
    assert "'gone' cannot be" in retrograde("match", solved("mutorere"), "gone", "last", status=2).stderr


def test_the_greedy_player_looks_one_ply_ahead(solution_of):
    solution = solution_of("connect4:4,4")
    game = solution.game
    position = game.read("112233")
    assert game.move_name(position, greedy_player(Random(1))(solution, position)) == "4"
    misere = solution_of("tictactoe:misere")
    position = misere.game.read("XX./OO./...")
    assert misere.game.move_name(position, greedy_player(Random(1))(misere, position)) != "c1"


def test_skill_is_how_often_it_is_perfect(solution_of):
    solution = solution_of("tictactoe")
    position = solution.game.read("XX./OO./...")  # one move wins, four do not
    moves = [skilled_player(0.6, Random(seed))(solution, position) for seed in range(400)]
    share = moves.count(perfect(solution, position)) / 400
    assert 0.6 < share < 0.76  # 0.6 + 0.4 / 5, give or take
    assert all(skilled_player(1.0, Random(seed))(solution, 0) == perfect(solution, 0) for seed in range(20))
    assert first_best(solution, 0) in [choice.move for choice in solution.best(0)]


class Countdown(Game):
    """Count down to 0; a player who cannot has lost."""

    start = 500

    def generate_moves(self, number):
        yield 1

    def do_move(self, number, move):
        return number - 1

    def primitive(self, number):
        return UNDECIDED if number else LOSE


@pytest.mark.parametrize(("plies", "points"), [(0, 0), (1, 2), (198, 0), (199, 2), (200, 1), (500, 1)])
def test_a_random_game_that_takes_too_long_counts_as_a_draw(plies, points):
    assert play_out(rules_for(Countdown()), plies, 1, 1)[0] == points


# Reviews


def test_a_move_that_keeps_the_value_is_slower_if_a_win_comes_later_or_a_loss_sooner():
    for value, better, worse in ((LOSE, 2, 6), (WIN, 7, 3), (TIE, 2, 6)):
        best, played = (Choice(0, "a", 0, value, plies) for plies in (better, worse))
        assert Review(played, [best], best.brings).slower == 4
        assert Review(best, [best], best.brings).slower == 0


# Matches


def test_a_match_is_a_table(solved):
    path = solved("tictactoe")
    text = retrograde("match", path, "perfect", "random", "--games", "20", "--seed", "3").stdout
    assert text.startswith("tictactoe: perfect against random, 20 games, seed 3\n\n")
    head, one, other = [line.split() for line in text.splitlines()[2:]]
    assert head == ["won", "tied", "drawn", "lost", "points", "mistakes", "as", "first", "as", "second"]
    assert [one[0], other[0]] == ["perfect", "random"]
    assert one[4] == "0" and one[6] == "0"  # neither lost nor mistaken
    assert retrograde("match", path, "perfect", "random", "--games", "20", "--seed", "3").stdout == text
    assert retrograde("match", path, "perfect", "random", "--games", "20", "--seed", "4").stdout != text


def test_a_match_adds_up(solved):
    for text in ("mutorere", "chess:KRK"):
        told = json.loads(retrograde("match", solved(text), "0.9", "0.5", "--games", "7", "--json").stdout)
        one, other = told["players"]
        assert one["won"] + one["tied"] + one["drawn"] + one["lost"] == 7
        assert (one["won"], one["lost"]) == (other["lost"], other["won"])
        assert one["points"] + other["points"] == 7
        assert one["points"] == one["won"] + (one["tied"] + one["drawn"]) / 2 == one["first"] + one["second"]


def test_a_match_may_begin_anywhere(solved):
    options = ["--games", "4", "--from", "XX./OO./...", "--json"]
    one = json.loads(retrograde("match", solved("tictactoe"), "perfect", "perfect", *options).stdout)["players"][0]
    assert (one["won"], one["lost"], one["first"]) == (2, 2, 2)
    retrograde("match", solved("tictactoe"), "perfect", "nobody", status=2)


@pytest.mark.long
def test_whoever_looks_further_ahead_plays_better(solution_of):
    """Held against the database: fewer moves that give up value."""
    solution = solution_of("connect4:4,4")
    given_up = {}
    for name in ("depth:1", "depth:3", "depth:8"):
        given_up[name] = 0
        for number in range(15):
            players = [make_player(name, solution, Random(number)), make_player("random", solution, Random(number))]
            start = random_position(solution, Random(number))
            given_up[name] += play(solution, start, players).mistakes[0]
    assert given_up["depth:1"] > given_up["depth:3"] >= given_up["depth:8"], given_up
    assert make_player("time:0.01", solution, Random(1))(solution, solution.game.start) in range(4)


@pytest.mark.parametrize(("name", "least"), [("chess:KRK", 25), ("chess:KQK", 24)])
def test_four_plies_are_enough_to_mate_with_one_strong_man(solution_of, name, least):
    """From 25 won positions, against the longest resistance."""
    solution = solution_of(name)
    positions = [random_position(solution, Random(number)) for number in range(100)]
    won = [position for position in positions if solution.probe(position).value == WIN][:25]
    values = []
    for number, position in enumerate(won):
        players = [make_player("depth:4", solution, Random(number)), make_player("first", solution, Random(number))]
        values.append(play(solution, position, players).value)
    assert len(values) == 25 and values.count(WIN) >= least


@pytest.mark.parametrize("name", ["depth:0", "depth:x", "depth:101", "depth:", "time:-1", "time:inf", "time:nan"])
def test_looking_ahead_takes_a_number(solution_of, name):
    with pytest.raises(NoPlayer, match=f"no player '{name}'"):
        make_player(name, solution_of("mutorere"), Random(1))
