"""Boards of kalah against a slow program that has boards as lists, and against published scores."""

from functools import cache
from itertools import product
from random import Random

import numpy as np
import pytest

from retrograde.databases import open_database
from retrograde.games.catalog import load_game
from retrograde.games.kalah import Kalah
from retrograde.games.kalahboards import KalahBoards
from retrograde.solver.verification.verify import verify
from tests.helpers.command_line import retrograde
from tests.helpers.marks import thorough_but

OPTIONS = [(True, True), (True, False), (False, True), (False, False)]


def slow_scores(pits, empty, either):
    """Return a function from a board, own pits first, to the best lead that the player to move can still reach."""

    @cache
    def score(board):
        own, other = board[:pits], board[pits:]
        if not any(own) or (either and not any(other)):
            return sum(own) - sum(other)
        return max(after(board, pit) for pit in range(pits) if board[pit])

    def after(board, pit):
        cells = [*board[:pits], 0, *board[pits:]]  # with the own store
        hand, cells[pit] = cells[pit], 0
        at = pit
        for _ in range(hand):
            at = (at + 1) % len(cells)
            cells[at] += 1
        opposite = 2 * pits - at
        if at < pits and cells[at] == 1 and (cells[opposite] or empty):
            cells[pits] += cells[opposite] + 1
            cells[at] = cells[opposite] = 0
        own, won, other = cells[:pits], cells[pits], cells[pits + 1 :]
        return won + score((*own, *other)) if at == pits else won - score((*other, *own))

    return score


def text_of(board):
    half = len(board) // 2
    return "/".join(",".join(map(str, row)) for row in (board[:half], board[half:]))


@pytest.mark.long
@pytest.mark.parametrize(("empty", "either"), thorough_but(OPTIONS, OPTIONS[1], OPTIONS[2]))
def test_all_boards_are_worth_what_the_slow_program_says(empty, either, solved):
    variant = f"kalahboards:3,5,{'yes' if empty else 'no'},{'yes' if either else 'no'}"
    game, score = load_game(variant), slow_scores(3, empty, either)
    boards = [board for board in product(range(6), repeat=6) if sum(board) <= 5]
    with open_database(solved(variant), game=game) as database:
        assert len(database) == len(boards)
        for board in boards:
            for turn in "SN":
                assert database.measures(game.read(f"{text_of(board)}/{turn}")) == {"score": score(board)}, board
        assert verify(database).ok


@pytest.mark.parametrize(("empty", "either"), OPTIONS)
def test_the_rules_are_those_of_kalah(empty, either):
    boards, kalah, chance = KalahBoards(6, 24, empty, either), Kalah(6, 4, empty, either), Random(0)
    for _ in range(200):
        tier, turn = chance.choice(boards.tiers), chance.randrange(2)
        position = boards.unindex(tier, chance.randrange(boards.size(tier))) | turn << boards.turn_bit
        stores = (chance.randrange(49 + tier),)
        stores += (48 + tier - stores[0],)
        other = with_stores(kalah, boards, position, stores)
        over = boards.primitive(position) != 0
        assert over == (kalah.primitive(other) != 0)
        for player in (0, 1) if over else ():
            assert kalah.payoff(other, player) == boards.payoff(position, player) + stores[player]
        for move in [*boards.generate_moves(position)] if not over else ():
            won = [boards.reward(position, move, player) for player in (0, 1)]
            after = with_stores(kalah, boards, boards.do_move(position, move), tuple(np.add(stores, won).tolist()))
            assert kalah.do_move(other, move) == after


def with_stores(kalah, boards, position, stores):
    """Return the position of kalah with such pits and stores, South's first."""
    turn = boards.turn(position)
    rows = boards.numbers(position)[:: -1 if turn else 1]
    south, north = (",".join(map(str, [*row, store])) for row, store in zip(rows, stores, strict=True))
    return kalah.read(f"{south}/{north}/{'SN'[turn]}")


@pytest.mark.parametrize(("empty", "either"), OPTIONS)
def test_parents_are_the_boards_from_which_a_move_within_the_row_leads_here(empty, either):
    game = KalahBoards(3, 5, empty, either)
    for tier in game.tiers:
        boards = [game.unindex(tier, slot) | turn << 30 for slot in range(game.size(tier)) for turn in (0, 1)]
        going_on = {board for board in boards if not game.primitive(board)}
        edges = {(board, game.do_move(board, move)) for board in going_on for move in game.generate_moves(board)}
        within = {(board, child) for board, child in edges if game.tier(child) == tier}
        given = {(parent, board) for board in boards for parent in game.parents(board)}
        assert within == {edge for edge in given if edge[0] in going_on}


@pytest.mark.thorough
@pytest.mark.parametrize(("board", "score"), [("1,1,1,1,1,1/1,1,1,1,1,1", 2), ("3,3,3,3/3,3,3,3", 8)])
def test_the_scores_are_the_published_ones(board, score, solved):
    """G. Irving, J. Donkers and J. Uiterwijk, Solving Kalah (2000)."""
    pits, stones = board.count(",") // 2 + 1, sum(map(int, board.replace("/", ",").split(",")))
    game = load_game(f"kalahboards:{pits},{stones}")
    with open_database(solved(f"kalahboards:{pits},{stones}"), game=game) as database:
        assert database.measures(game.read(f"{board}/S")) == {"score": score}


@pytest.mark.long
def test_many_positions_are_looked_up_whoever_is_to_move(solved):
    game = load_game("kalahboards:3,5")
    with open_database(solved("kalahboards:3,5"), game=game) as database:
        positions = np.array([position for _, some, _, _ in database.records() for position in some.tolist()])
        both = np.concatenate([positions, positions | 1 << game.turn_bit])
        values, _ = database.lookup(np.tile(both, 10))
        assert values.all() and (values[: len(positions)] == values[len(positions) : len(both)]).all()


@pytest.mark.long
def test_a_query_and_a_summary_speak_of_no_plies(solved):
    path = str(solved("kalahboards:3,5"))
    asked = retrograde("query", "kalahboards:3,5", "0,0,2/1,1,0/N", "--database", path).stdout
    assert "North (N) to move loses\nScore: -2\n" in asked and "game is over" not in asked
    assert (
        "kalahboards:pits=3,stones=5: the first player wins\nScore: +1\n"
        in retrograde("info", "kalahboards:3,5", "--database", path).stdout
    )
