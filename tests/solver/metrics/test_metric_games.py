"""Games by score and by utilities against what is published, and against slow recursions over the rules."""

import sys
from functools import cache

import pytest

from retrograde.databases import open_database
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import LOSE, UNDECIDED, WIN
from retrograde.solver.engine import solve
from retrograde.solver.verification.verify import verify
from tests.helpers.marks import thorough


def scores_of(game):
    """Return a function that gives the score and the plies of a position, by recursion over games that end."""
    sys.setrecursionlimit(10_000)

    @cache
    def worth(position):
        turn = game.turn(position)
        if game.primitive(position) != UNDECIDED:
            return game.payoff(position, turn) - game.payoff(position, 1 - turn), 0
        options = []
        for move in game.generate_moves(position):
            child = game.do_move(position, move)
            score, plies = worth(game.canonical(child))
            gain = game.reward(position, move, turn) - game.reward(position, move, 1 - turn)
            options.append((gain + (score if game.turn(child) == turn else -score), plies + 1))
        most = max(score for score, _ in options)
        return most, (max if most < 0 else min)(plies for score, plies in options if score == most)

    return worth


def same_everywhere(game, database, worth):
    """See that a database says of each position what the recursion does."""
    for _, positions, _, plies in database.records():
        for position, far in zip(positions.tolist(), plies.tolist(), strict=True):
            assert (database.measures(position)["score"], far) == worth(position)


@pytest.mark.thorough
@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "score"),
    [("dotsandboxes", 2), ("dotsandboxes:3,1", -1), pytest.param("dotsandboxes:3,2", -2, marks=pytest.mark.slow)],
)
def test_dots_and_boxes(text, score, tmp_path):
    """On 2 × 2 boxes who begins wins by 3 to 1: Berlekamp, Conway and Guy, Winning Ways (1982), chapter 16."""
    game = load_game(text)
    with open_database(solve(game, tmp_path / "game.h5")) as database:
        assert database.measures(game.start) == {"score": score}
        same_everywhere(game, database, scores_of(game))
        assert verify(database).ok


@pytest.mark.slow
def test_three_by_three_boxes_are_lost_by_three(tmp_path):
    """Wilson, Dots-and-Boxes analysis (2002); Barker and Korf, Solving Dots-and-Boxes (2012)."""
    game = load_game("dotsandboxes:3,3")
    with open_database(solve(game, tmp_path / "game.h5")) as database:
        assert database.measures(game.start) == {"score": -3}


@pytest.mark.slow
def test_othello_on_four_by_four_is_lost_by_eight(tmp_path):
    game = load_game("othello")
    with open_database(solve(game, tmp_path / "othello.h5")) as database:
        assert database.measures(game.start) == {"score": -8}
        same_everywhere(game, database, scores_of(game))
        assert verify(database).ok


@pytest.mark.thorough
@pytest.mark.long
def test_small_othello_is_as_the_recursion_says(tmp_path):
    game = load_game("othello:4,3")
    with open_database(solve(game, tmp_path / "othello.h5")) as database:
        same_everywhere(game, database, scores_of(game))


def test_who_can_turn_nothing_passes():
    game = load_game("othello")
    position = game.read("XXXX/XXXO/XXX./XXX.,O")
    assert [game.move_name(position, move) for move in game.generate_moves(position)] == ["pass"]
    after = game.do_move(position, game.move(position, "pass"))
    assert game.write(after) == "XXXX/XXXO/XXX./XXX.,X"
    assert [game.move_name(after, move) for move in game.generate_moves(after)] == ["d3"]
    end = game.do_move(after, game.move(after, "d3"))
    assert game.write(end) == "XXXX/XXXX/XXXX/XXX.,O" and game.primitive(end) == LOSE
    assert (game.payoff(end, 0), game.payoff(end, 1)) == (15, 0)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_domineering_on_small_squares_is_won_by_the_first(size):
    """Conway, On Numbers and Games (1976); Breuker, Uiterwijk, van den Herik, Solving 8 × 8 Domineering (2000)."""
    game = load_game(f"domineering:{size},{size}")

    @cache
    def wins(position):
        return any(not wins(game.do_move(position, move)) for move in game.generate_moves(position))

    assert wins(game.start)


@pytest.mark.slow
def test_domineering_on_five_by_five_is_won_by_the_second(tmp_path):
    game = load_game("domineering:5,5")
    with open_database(solve(game, tmp_path / "game.h5")) as database:
        assert database[game.start].value == LOSE


@pytest.mark.long
def test_domineering_is_solved_as_the_recursion_says(tmp_path):
    game = load_game("domineering:4,3")

    @cache
    def wins(position):
        return any(not wins(game.do_move(position, move)) for move in game.generate_moves(position))

    with open_database(solve(game, tmp_path / "game.h5")) as database:
        for _, positions, values, _ in database.records():
            for position, value in zip(positions.tolist(), values.tolist(), strict=True):
                assert value == (WIN if wins(position) else LOSE)


@pytest.mark.long
@pytest.mark.parametrize("ties", [*map(thorough, ["first", "leader", "average"])])
def test_tictactoe_for_three_is_shared(ties, tmp_path):
    """By a program of our own: 26,930 positions, and each gets a third."""
    game = load_game("tictactoe3")
    with open_database(solve(game, tmp_path / "game.h5", ties=ties)) as database:
        scale = database.file.details["scale"]
        assert len(database) == 26_930 and database.file.details["ties"] == ties
        if ties == "first":
            assert database.measures(game.start) == {"player0": scale, "player1": scale, "player2": scale}
        assert all(sum(row.measures) == pytest.approx(3 * scale, rel=1e-6) for row in database.file.legend)
        assert verify(database).ok


def test_nobody_can_force_to_win_nim_for_three():
    """Propp, Three-player impartial games (2000): from four on, any two can keep the third from winning."""

    @cache
    def forces(game, player, position):
        if game.primitive(position) != UNDECIDED:
            return game.payoff(position, player) == 1
        children = [game.do_move(position, move) for move in game.generate_moves(position)]
        return (any if game.turn(position) == player else all)(forces(game, player, child) for child in children)

    for heap in range(1, 20):
        game = load_game(f"nim3:heaps={heap}")
        assert [player for player in range(3) if forces(game, player, game.start)] == {1: [0], 2: [0], 3: [1]}.get(
            heap, []
        )


@pytest.mark.thorough
@pytest.mark.long
def test_nim_for_three_is_solved_as_the_recursion_says(tmp_path):
    game = load_game("nim3:heaps=5+3")

    @cache
    def worth(position):
        if game.primitive(position) != UNDECIDED:
            return tuple(game.payoff(position, player) for player in range(3))
        children = [worth(game.do_move(position, move)) for move in game.generate_moves(position)]
        return max(children, key=lambda paid: paid[game.turn(position)])

    with open_database(solve(game, tmp_path / "game.h5")) as database:
        for _, positions, _, _ in database.records():
            for position in positions.tolist():
                assert tuple(database.measures(position).values()) == worth(position)
        assert verify(database).ok


@pytest.mark.parametrize(
    "text", ["tictactoe3", "nim3", "domineering", "domineering:4,3", "dotsandboxes:3,2", "othello"]
)
def test_positions_and_moves_are_read_as_they_are_written(text):
    game = load_game(text)
    position = game.start
    while game.primitive(position) == UNDECIDED:
        moves = list(game.generate_moves(position))
        assert game.read(game.write(position)) == position
        assert all(game.turn(image) == game.turn(position) for image in game.images(position))
        names = [game.move_name(position, move) for move in moves]
        assert len(set(names)) == len(moves)
        position = game.do_move(position, game.move(position, names[-1]))
    assert game.read(game.write(position)) == position
    for wrong in ("", "?", "X", "9,9", "....,v"):
        with pytest.raises(ValueError, match=r"position|board|heaps"):
            game.read(wrong)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("tictactoe3:5", "size must be from 1 to 4"),
        ("nim3:players=2", "players must be from 3 to 8"),
        ("nim3:most=0", "most, how many"),
        ("nim3:heaps=40", "numbers from 1 to 31"),
        ("domineering:12,12", "half of the rows take 72 bits"),
        ("dotsandboxes:6,5", "less than 62 edges"),
        ("othello:9,8", "at most 64 cells"),
    ],
)
def test_options_that_cannot_be_are_refused(text, what):
    with pytest.raises(ValueError, match=what):
        load_game(text)
