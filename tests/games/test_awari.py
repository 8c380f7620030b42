"""Awari against a slow program that has boards as lists, and against its rules one by one."""

from fractions import Fraction
from itertools import product
from math import comb

import pytest

from retrograde.databases import open_database
from retrograde.games import LOSE, TIE, UNDECIDED, WIN
from retrograde.games.awari import Awari
from retrograde.games.catalog import load_game
from retrograde.solver.play.solution import open_solution
from retrograde.solver.values.measures import in_words
from retrograde.solver.verification.verify import verify
from tests.helpers.command_line import retrograde
from tests.helpers.measuring import Graph, slow_endless_gains


def sown(board, pit, slam):
    """Return the board after a move as the other sees it, and what is taken; a board is a list, own pits first."""
    size = len(board) // 2
    board = list(board)
    hand, board[pit] = board[pit], 0
    at = pit
    for _ in range(hand):
        at = (at + 1) % (2 * size)
        if at == pit:
            at = (at + 1) % (2 * size)
        board[at] += 1
    after = list(board)
    while at >= size and after[at] in (2, 3):
        after[at] = 0
        at -= 1
    if not slam and not any(after[size:]):
        after = board
    return (*after[size:], *after[:size]), sum(board) - sum(after)


def moves_of(board, slam):
    """Return (board, taken) after each move; those that leave the other nothing to move with only if he has some."""
    size = len(board) // 2
    found = []
    for pit in range(size):
        if board[pit]:
            after, taken = sown(board, pit, slam)
            if any(board[size:]) or any(after[:size]) or taken:
                found.append((after, taken))
    return found


def slow_solution(size, stones, slam):
    """Return the score and the plies of all boards with at most so many stones."""
    boards = [board for board in product(range(stones + 1), repeat=2 * size) if sum(board) <= stones]
    boards.sort(key=lambda board: -sum(board))
    number = {board: i for i, board in enumerate(boards)}
    moves = [moves_of(board, slam) for board in boards]
    children = [[number[after] for after, _ in found] for found in moves]
    gains = {(i, n): Fraction(taken, 2) for i, found in enumerate(moves) for n, (_, taken) in enumerate(found)}
    pays = [(sum(board[:size]), sum(board[size:])) for board in boards]
    tiers = [stones - sum(board) for board in boards]
    scores, plies = slow_endless_gains(Graph(2, tiers, children, [0] * len(boards), pays, True, {}, gains))
    return {board: (scores[i], plies[i]) for board, i in number.items()}


@pytest.mark.long
@pytest.mark.parametrize(("size", "stones", "slam"), [pytest.param(2, 7, True, marks=pytest.mark.slow), (3, 4, False)])
def test_all_boards_are_worth_what_the_slow_program_says(size, stones, slam, solved):
    text = f"awari:{size},stones={stones}" + ",slam=no" * (not slam)
    game = load_game(text)
    exact = slow_solution(size, stones, slam)
    with open_database(solved(text), game=game) as database:
        assert len(database) == len(exact) == comb(stones + 2 * size, 2 * size)
        for board, worth in exact.items():
            position = game.read("/".join(",".join(map(str, row)) for row in (board[:size], board[size:])))
            assert (database.measures(position)["score"], database[position].remoteness) == worth, board
        assert not slam or verify(database).ok


@pytest.mark.long
def test_the_best_move_brings_what_the_position_is_worth_and_is_nearer_to_its_end(solved):
    text = "awari:2,stones=7"
    with open_solution(solved(text), game=load_game(text)) as solution:
        ends = 0
        for position in solution.game.starts:
            choices = solution.moves(position)
            if choices:
                value, remoteness = solution.value(position)
                assert choices[0].brings == value
                assert choices[0].worth == in_words("score", {}, [solution.worth(position)["score"]])
                if remoteness is not None:
                    ends += choices[0].remoteness is None
                    assert remoteness == (choices[0].remoteness or 0) + 1
        assert ends > 10, "some moves are the last that pay before play goes on for ever"


@pytest.mark.parametrize("stones", [1, 2, 3])
def test_there_are_as_many_boards_as_there_are_combinations(stones):
    """C(n + 12, 12) boards of at most n stones, as in all databases of the endgame."""
    assert len(set(Awari(6, stones=stones).starts)) == comb(stones + 12, 12)


def after(game, text, pit):
    position = game.read(text)
    move = game.move(position, pit)
    return game.write(game.do_move(position, move)), game.reward(position, move, 0), game.reward(position, move, 1)


def test_stones_are_sown_and_taken_by_the_rules():
    game, board = Awari(6, 4), "4,4,4,4,4,4/4,4,4,4,4,4"
    assert game.write(game.start) == board
    assert after(game, board, "3") == ("5,4,4,4,4,4/4,4,0,5,5,5", 0, 0)
    assert after(game, "0,0,0,0,0,2/1,1,3,0,0,0", "6") == ("0,0,3,0,0,0/0,0,0,0,0,0", 4, 0), "and backwards"
    assert after(game, "0,0,0,0,0,2/0,1,3,0,0,0", "6") == ("1,0,3,0,0,0/0,0,0,0,0,0", 2, 0), "until one has none such"
    assert after(game, "0,0,0,0,0,3/1,1,3,0,0,0", "6") == ("2,2,4,0,0,0/0,0,0,0,0,0", 0, 0), "a four is not taken"
    assert after(game, "1,1,0,0,0,0/1,0,0,0,0,0", "1") == ("1,0,0,0,0,0/0,2,0,0,0,0", 0, 0), "nor are one's own"
    assert after(game, "0,0,0,12,0,0/0,0,0,0,0,0", "4") == ("1,1,1,1,1,1/1,1,1,0,2,1", 0, 0), "its own pit left out"


def test_all_that_the_other_has_may_be_taken_or_not():
    board = "0,0,1,0,0,2/1,1,0,0,0,0"
    assert after(Awari(6), board, "6") == ("0,0,0,0,0,0/0,0,1,0,0,0", 4, 0)
    assert after(Awari(6, slam=False), board, "6") == ("2,2,0,0,0,0/0,0,1,0,0,0", 0, 0)


def test_who_has_none_must_be_given_some():
    game = Awari(6, 4)
    position = game.read("1,0,0,0,2,1/0,0,0,0,0,0")
    assert [game.move_name(position, move) for move in game.generate_moves(position)] == ["5", "6"]
    kept = game.read("3,0,0,0,1,0/0,0,0,0,0,0")
    assert game.primitive(kept) == WIN and (game.payoff(kept, 0), game.payoff(kept, 1)) == (4, 0)
    none = game.read("0,0,0,0,0,0/0,2,0,0,0,1")
    assert game.primitive(none) == LOSE and (game.payoff(none, 0), game.payoff(none, 1)) == (0, 3)
    assert game.primitive(game.read("0,0,0,0,0,0/0,0,0,0,0,0")) == TIE
    assert game.primitive(game.start) == UNDECIDED


def test_what_is_no_board_is_refused():
    game = Awari(3, 1)
    assert game.read(game.write(game.start)) == game.start
    for wrong in ("1,1,1", "1,1,1/1,1", "1,1,1/1,1,x", "1,1,1/1,1,9"):
        with pytest.raises(ValueError, match=r"two rows|no more than"):
            game.read(wrong)
    for options in ({"pits": 7}, {"seeds": 0}, {"pits": 6, "seeds": 5}, {"stones": 16}):
        with pytest.raises(ValueError, match="must be"):
            Awari(**options)


def test_a_board_without_stones_is_over_and_no_tie(tmp_path, monkeypatch):
    """Who has won follows from what was taken before, which the position does not tell."""
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    retrograde("solve", "awari:2,stones=3")
    assert "awari:pits=2,stones=3: over at the start" in retrograde("info", "awari:2,stones=3").output
    told = retrograde("query", "awari:2,stones=3", "0,0/0,0").stdout
    assert "the game is over: no stones are left\nScore: 0" in told and "tie" not in told
