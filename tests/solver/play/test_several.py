"""Games of several players: who has won is said by what each has got, in matches, at the terminal and in reviews."""

from random import Random

import pytest

from retrograde.games import LOSE, TIE, WIN, Game
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.play.ending import leaders_of, shares_of
from retrograde.solver.play.match import judge_moves, play, review
from retrograde.solver.play.player import make_player
from retrograde.solver.play.solution import open_solution
from tests.helpers.command_line import retrograde

SECOND_WINS = ["7>6", "6>4", "4>3", "3>2", "2>0"]
"""A game of nim3 in which player 2 takes the last object."""
RING_WINS = ["a1", "a2", "a3", "c3", "b2", "b1", "c1", "c2"]
"""A game of tictactoe3 in which O owns the middle row."""
NOBODY_WINS = ["a3", "c3", "a2", "b3", "b2", "c2", "a1", "b1", "c1"]


@pytest.fixture(scope="module", params=["first", "leader", "average", "paranoid"])
def nim(request, tmp_path_factory):
    game, folder = load_game("nim3"), tmp_path_factory.mktemp("nim")
    with open_solution(solve(game, folder / "nim3.h5", ties=request.param), game=game) as solution:
        yield solution


@pytest.fixture
def printed(solved):
    """A function that plays a game between people with some moves, and returns what is printed."""

    def printed(variant, moves):
        people = "--first", "human", "--second", "human"
        moves = "".join(f"{move}\n" for move in moves)
        return retrograde("play", variant, "--database", solved(variant), *people, input=moves).stdout

    return printed


def played(game, names):
    """Return the positions and the moves of a game."""
    positions, moves = [game.start], []
    for name in names:
        moves.append(game.move(positions[-1], name))
        positions.append(game.do_move(positions[-1], moves[-1]))
    return positions, moves


@pytest.mark.parametrize(
    ("variant", "names", "shares"),
    [("nim3", SECOND_WINS, [0, 1, 0]), ("tictactoe3", RING_WINS, [0, 3, 0]), ("tictactoe3", NOBODY_WINS, [1, 1, 1])],
)
def test_what_each_has_got_is_what_the_end_pays(variant, names, shares):
    game = load_game(variant)
    positions, moves = played(game, names)
    assert shares_of(game, game.start, moves) == shares
    assert shares == [game.payoff(positions[-1], player) for player in range(3)]
    assert leaders_of(shares) == [player for player in range(3) if shares[player] == max(shares)]


class Auction(Game):
    """Each of three players in turn bids 0 to 2, and gets at once what they bid; player 3 also gets 3 at the end."""

    players = 3
    start = 0

    def turn(self, position):
        return position % 3

    def generate_moves(self, position):
        yield from range(3)

    def do_move(self, position, bid):
        return position + 1

    def primitive(self, position):
        return LOSE if position == 3 else 0

    def reward(self, position, bid, player):
        return bid if player == position else 0

    def payoff(self, position, player):
        return 3 * (player == 2)


def test_what_moves_pay_counts():
    assert shares_of(Auction(), 0, [2, 1, 0]) == [2, 1, 3]


def test_the_first_player_of_a_match_has_lost_if_another_gets_more(nim):
    game = nim.game
    for seed in range(20):
        players = [make_player("random", nim, Random(seed)) for _ in range(2)]
        finished = play(nim, game.start, players)
        winner = (len(finished.moves) - 1) % 3  # who has taken the last object
        assert finished.value == (WIN if winner == 0 else LOSE)


def test_perfect_players_make_no_mistakes_however_ties_are_decided(nim):
    positions = [choice.position for choice in nim.moves(nim.game.start)]
    player = make_player("perfect", nim, Random(1))
    for position in [nim.game.start, *positions]:
        assert play(nim, position, (player, player)).mistakes == (0, 0)
        assert review(nim, position, player(nim, position)).verdict == "best"


def test_a_move_that_gets_its_player_less_is_a_mistake(solved):
    game = load_game("tictactoe3")
    with open_solution(solved("tictactoe3"), game=game) as solution:
        positions, moves = played(game, RING_WINS)
        reviews = judge_moves(solution, positions, moves, range(len(moves)))
        assert [one.verdict for one in reviews] == ["best"] * 6 + ["mistake", "best"]
        assert reviews[6].better == ["c2"] and reviews[6].played.worth == "0 : 3 : 0"
        names = iter(RING_WINS)
        by_the_book = lambda oracle, position: game.move(position, next(names))  # noqa: E731
        finished = play(solution, game.start, (by_the_book, by_the_book))
        assert finished.value == LOSE and finished.mistakes == (1, 0)  # X let O win, and moved first


def test_a_tie_of_three_is_a_tie(solved):
    game = load_game("tictactoe3")
    with open_solution(solved("tictactoe3"), game=game) as solution:
        player = make_player("perfect", solution, Random(1))
        assert play(solution, game.start, (player, player)).value == TIE


def test_the_terminal_names_the_winner(printed):
    text = printed("nim3", SECOND_WINS)
    assert "\nplayer 2 wins after 5 moves: 0 : 1 : 0\n" in text and "player 3, your move: 4>3" in text
    text = printed("tictactoe3", RING_WINS)
    assert "\nO wins after 8 moves: 0 : 3 : 0\n" in text and "X wins" not in text
    assert "7.  c1  got less: 0 : 3 : 0 rather than 1 : 1 : 1; better c2\n" in text


def test_one_of_several_who_resigns_names_no_winner(printed):
    text = printed("nim3", ["7>6", "resign"])
    assert "\nplayer 2 resigns\n" in text and "wins" not in text


def test_a_person_is_told_what_others_get(solved):
    told = retrograde("play", "nim3", "--database", solved("nim3"), input="?\n").stdout
    assert "another gets more than player 1 in 5 plies\n" in told
    over = retrograde("play", "nim3", "--database", solved("nim3"), "--from", "0,3").stdout
    assert over.endswith("\nanother gets more than player 3: the game is over\n")


def test_points_of_a_match_go_to_who_gets_more(solved):
    told = retrograde("match", "nim3", "perfect", "perfect", "--games", "4", "--database", solved("nim3")).stdout
    rows = [line.split() for line in told.splitlines()[-2:]]
    assert rows == [["perfect", "2", "0", "0", "2", "2", "0", "0", "2"]] * 2
