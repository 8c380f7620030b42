"""Boards of awari against the rules of awari, and against a slow program that has boards as lists."""

from random import Random

import pytest

from retrograde.databases import open_database
from retrograde.games.awari import Awari
from retrograde.games.awariboards import AwariBoards
from retrograde.games.catalog import load_game
from retrograde.solver.verification.verify import verify
from tests.games.test_awari import slow_solution
from tests.helpers.marks import thorough


@pytest.mark.parametrize("slam", [True, False])
def test_the_rules_are_those_of_awari(slam):
    boards, awari, chance = AwariBoards(6, 24, slam), Awari(6, 4, slam=slam), Random(slam)
    for _ in range(300):
        tier = chance.choice(boards.tiers)
        position = boards.unindex(tier, chance.randrange(boards.size(tier)))
        other = awari.read(boards.write(position))
        moves = [*boards.generate_moves(position)]
        assert (boards.tier(position), boards.primitive(position)) == (tier, awari.primitive(other))
        assert moves == [*awari.generate_moves(other)]
        for move in moves:
            assert boards.write(boards.do_move(position, move)) == awari.write(awari.do_move(other, move))
            assert boards.reward(position, move, 0) == awari.reward(other, move, 0)
        for player in (0, 1) if not moves else ():
            assert boards.payoff(position, player) == awari.payoff(other, player)


@pytest.mark.parametrize("slam", [True, False])
def test_parents_are_the_boards_from_which_a_move_without_a_capture_leads_here(slam):
    game = AwariBoards(2, 6, slam)
    for tier in game.tiers:
        boards = [game.unindex(tier, slot) for slot in range(game.size(tier))]
        edges = {(board, game.do_move(board, move)) for board in boards for move in game.generate_moves(board)}
        within = {(board, child) for board, child in edges if game.tier(child) == tier}
        assert within == {(parent, board) for board in boards for parent in game.parents(board)}


def test_boards_have_one_slot_each():
    game = AwariBoards(6, 30)
    assert [game.size(-stones) for stones in (0, 1, 24)] == [1, 12, 417_225_900]
    assert sum(map(game.size, range(-24, 1))) == 1_251_677_700, "C(24 + 12, 12)"
    for stones in (1, 2, 29, 30):
        for slot in {0, 5, game.size(-stones) // 3, game.size(-stones) - 1}:
            assert game.index(game.unindex(-stones, slot)) == slot


@pytest.mark.long
@pytest.mark.parametrize(("pits", "stones", "slam"), [(3, 4, True), thorough((3, 4, False))])
def test_all_boards_are_worth_what_the_slow_program_says(pits, stones, slam, solved):
    game = load_game(f"awariboards:{pits},{stones},{'yes' if slam else 'no'}")
    exact = slow_solution(pits, stones, slam)
    with open_database(solved(f"awariboards:{pits},{stones},{'yes' if slam else 'no'}"), game=game) as database:
        assert len(database) == len(exact)
        for board, (score, _) in exact.items():
            position = game.read("/".join(",".join(map(str, row)) for row in (board[:pits], board[pits:])))
            assert database.measures(position) == {"score": score}, board
        assert verify(database).ok


@pytest.mark.thorough
@pytest.mark.parametrize(("pits", "stones", "slam"), [(3, 8, "yes"), (4, 7, "no")])
def test_all_boards_are_worth_what_awari_says_that_is_solved_in_lists(pits, stones, slam, solved):
    boards, awari = f"awariboards:{pits},{stones},{slam}", f"awari:{pits},stones={stones},slam={slam}"
    game, other = load_game(boards), load_game(awari)
    with open_database(solved(boards), game=game) as database, open_database(solved(awari), game=other) as listed:
        assert len(database) == len(listed)
        for _, positions, _, _ in database.records():
            for position in positions.tolist():
                assert database.measures(position) == listed.measures(other.read(game.write(position)))


@pytest.mark.thorough
def test_one_stone_in_each_pit_is_worth_0_as_in_the_game_from_there(solved):
    game = load_game("awariboards:6,12")
    with open_database(solved("awariboards:6,12"), game=game) as database:
        assert len(database) == 2_704_156
        assert database.measures(game.start) == {"score": 0}
