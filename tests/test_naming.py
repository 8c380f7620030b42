"""What people call games, players and what stands on a board."""

import pytest

from retrograde.games import Game
from retrograde.games.catalog import load_game
from retrograde.games.naming import piece_name, player_to_move, variant_title

TITLES = {
    "connect4:5,4": "Connect Four 5 × 4",
    "connect4:5,4,3": "Connect Four 5 × 4, 3 in a row",
    "tictactoe": "Tic-tac-toe",
    "tictactoe:4,true": "Tic-tac-toe 4 × 4, misère",
    "chess:KRKN": "King and rook against king and knight",
    "dodgem:3": "Dodgem 3 × 3",
    "mutorere": "Mū Tōrere",
}


@pytest.mark.parametrize("text", TITLES)
def test_variants_have_titles(text):
    assert variant_title(load_game(text)) == TITLES[text]


def test_a_game_that_says_nothing_is_titled_after_its_class_and_options():
    class GreatHeap(Game):
        size: int = 10

    assert (variant_title(GreatHeap()), variant_title(GreatHeap(21))) == ("Great Heap", "Great Heap, size 21")


@pytest.mark.parametrize(
    ("text", "position", "mover", "man"),
    [
        ("connect4:4,4", "2", "Yellow", "Red"),
        ("chess:KRK", "8/8/8/8/8/2k5/1R6/K7 b", "Black", "black king"),
        ("hareandhounds", None, "Hounds", "Hounds"),
    ],
)
def test_players_and_men_are_called_as_in_the_game(text, position, mover, man):
    game = load_game(text)
    place = game.start if position is None else game.read(position)
    board = game.draw_board()
    assert player_to_move(game, place) == mover
    assert man in {piece_name(game, board, sign) for sign in game.draw_pieces(place)}
    assert piece_name(game, board, ".") == ""
