"""Othello on boards of one word and of several: held against rules that know only rows of letters."""

from itertools import pairwise
from random import Random

import pytest

from retrograde.games import UNDECIDED
from retrograde.games.catalog import load_game
from retrograde.games.othello import Othello
from retrograde.solver.conformance.check import check
from retrograde.solver.search.depth.searcher import CountingSearch
from retrograde.solver.search.scores.searcher import ScoreSearch
from tests.helpers.command_line import retrograde
from tests.helpers.marks import thorough_but

PERFT = (4, 12, 56, 244, 1_396, 8_200, 55_092)
"""Leaves of the 8 × 8 board by plies: https://aartbik.blogspot.com/2009/02/perft-for-reversi.html"""

ENDING = "OXXXXXXX/XXXXOOXX/OXOOOOOX/OXXOXXXX/OXOXXOXX/OOOXXXOX/.XXXXXXX/..XXXXXX,O"


FFO = [
    ("--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO--", 18, 196_441),
    ("-XXXXXX---XOOOO--XOXXOOX-OOOOOOOOOOOXXOOOOOXXOOX--XXOO----XXXXX-", 10, 111_037),
    ("-XXXXXX-X-XXXOO-XOXXXOOXXXOXOOOX-OXOOXXX--OOOXXX--OOXX----XOXXO-", 0, 127_763),
]
"""Positions 1, 2 and 4 of the endgame test of the French Othello Federation, with 14 empty cells and X to move: the
board, the published score, and how many positions the search looked at before moves were put in order."""


def turned(rows, mover, row, column):
    """Return the places that a disc turns."""
    found = []
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            line, y, x = [], row + down, column + right
            while 0 <= y < len(rows) and 0 <= x < len(rows[0]) and rows[y][x] not in (".", mover):
                line.append((y, x))
                y, x = y + down, x + right
            if line and 0 <= y < len(rows) and 0 <= x < len(rows[0]) and rows[y][x] == mover:
                found += line
    return found


def children(text):
    """Return the texts of the positions after each move, by the name of the move; none if the game is over."""
    rows, mover = text[:-2].split("/"), text[-1]
    other = "XO"["OX".index(mover)]
    found = {}
    for row in range(len(rows)):
        for column in range(len(rows[0])):
            if rows[row][column] == "." and (discs := turned(rows, mover, row, column)):
                board = [list(line) for line in rows]
                for y, x in [*discs, (row, column)]:
                    board[y][x] = mover
                found[f"{'abcdefgh'[column]}{row + 1}"] = f"{'/'.join(map(''.join, board))},{other}"
    if not found and children_of_other(rows, other):
        found["pass"] = f"{'/'.join(rows)},{other}"
    return found


def children_of_other(rows, other):
    return any(
        rows[row][column] == "." and turned(rows, other, row, column)
        for row in range(len(rows))
        for column in range(len(rows[0]))
    )


def score(text):
    """Return the best difference of discs for the player to move."""
    after = children(text)
    if not after:
        rows, mover = text[:-2], text[-1]
        return rows.count(mover) - rows.count("XO"["OX".index(mover)])
    return max(-score(child) for child in after.values())


@pytest.mark.parametrize("variant", thorough_but(["4,4", "5,6", "6,6", "7,9", "8,8"], "4,4", "5,6", "7,9"))
def test_random_games_are_as_on_rows_of_letters(variant):
    game, chance = load_game(f"othello:{variant}"), Random(variant)
    for _ in range(2):
        position = game.start
        while True:
            known = children(game.write(position))
            assert game.read(game.write(position)) == position
            if game.primitive(position) != UNDECIDED:
                assert not known
                break
            moves = list(game.generate_moves(position))
            assert {game.move_name(position, move): game.write(game.do_move(position, move)) for move in moves} == known
            position = game.do_move(position, chance.choice(moves))
        rows = game.write(position)
        assert [game.payoff(position, player) for player in (0, 1)] == [rows[:-1].count("X"), rows[:-1].count("O")]


@pytest.mark.thorough
def test_leaves_of_the_large_board_are_as_published():
    game = load_game("othello:8,8")
    positions = [CountingSearch(game).count_minimax(game.start, depth) for depth in range(len(PERFT))]
    assert tuple(after - before for before, after in pairwise(positions)) == PERFT[:-1]


@pytest.mark.thorough
def test_large_boards_keep_the_contract():
    report = check(load_game("othello:8,8"), 300, 0.3)
    assert report.ok and not report.slow, str(report)
    assert report.understood["fields"].startswith("129 bits in 3 words (discs 128, mover 1), ")


@pytest.mark.thorough
def test_large_boards_are_played_and_searched():
    told = retrograde("play", "othello:8,8", "--first", "depth:2", "--second", "random", "--seed", "1").stdout
    assert "\n60. " in told and told.endswith(" moves\n")
    told = retrograde("match", "othello:6,6", "depth:2", "random", "--games", "1", "--time", "0.001").stdout
    assert "depth:2" in told
    told = retrograde("search", "othello:8,8", ENDING).stdout
    assert f"Score: {score(ENDING)}\n" in told


@pytest.mark.thorough
@pytest.mark.parametrize(("board", "known", "before"), FFO)
def test_endings_of_the_large_board_are_as_published_and_moves_are_well_ordered(board, known, before):
    game = load_game("othello:8,8")
    rows = [board[begin : begin + 8].replace("-", ".") for begin in range(0, 64, 8)]
    found = ScoreSearch(game).score(game.read(f"{'/'.join(rows)},X"))
    assert found.score == known
    assert 2 * found.nodes < before


class EmptyCellsToTheWinner(Othello):
    """Othello as the French federation counts it: the winner also gets the cells that stay empty."""

    name = "othello"

    def payoff(self, position, player):
        own, other = self.discs.count_of(position, 1 + player), self.discs.count_of(position, 2 - player)
        return own + (own > other) * (self.discs.size - own - other)


@pytest.mark.thorough
@pytest.mark.long
def test_an_ending_with_a_cell_that_stays_empty_is_as_published_if_the_winner_gets_it():
    """Position 5 of that test, +32. Black ends with 47 discs to 16."""
    board = "-OOOOO----OXXO-XXXOXOXX-XXOXOXXOXXOOXOOOXXXXOO-OX-XOOO---XXXXX--"
    rows = [board[begin : begin + 8].replace("-", ".") for begin in range(0, 64, 8)]
    game = load_game("othello:8,8")
    position = game.read(f"{'/'.join(rows)},X")
    search = ScoreSearch(game)
    assert search.score(position).score == 31
    for move in search.best_line(position, 31):
        position = game.do_move(position, move)
    assert [game.write(position).count(sign) for sign in "XO."] == [47, 16 + 1, 1]  # one O says who would move
    other = EmptyCellsToTheWinner(8, 8)
    assert ScoreSearch(other).score(other.read(f"{'/'.join(rows)},X")).score == 32


def test_a_move_promises_more_the_fewer_replies_it_leaves():
    game, chance = load_game("othello:6,6"), Random(2)
    position, corners = game.start, 0
    while game.primitive(position) == UNDECIDED:
        for move in game.generate_moves(position):
            name, text = game.move_name(position, move), game.write(game.do_move(position, move))
            corner = name in ("a1", "f1", "a6", "f6")
            corners += corner
            replies = len(children(text).keys() - {"pass"})
            few = name == "pass" or game.write(position).count(".") < 4
            assert game.promise(position, move) == (0 if few else 100_000 * (4 * corner - replies))
        position = game.do_move(position, chance.choice([*game.generate_moves(position)]))
    assert corners


def test_what_a_position_promises_one_player_it_takes_from_the_other():
    game, chance = load_game("othello:6,6"), Random(0)
    position, seen = game.start, set()
    while game.primitive(position) == UNDECIDED:
        assert game.estimate(position) == -game.estimate(game.mover.passed(position))
        seen.add(game.estimate(position))
        position = game.do_move(position, chance.choice(list(game.generate_moves(position))))
    assert len(seen) > 10
