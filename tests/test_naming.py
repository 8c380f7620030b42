"""What people call games, players and what stands on a board."""

import re

import pytest

from retrograde.games import Game, RuleError, VariantError
from retrograde.games.catalog import load_game, trust
from retrograde.games.naming import piece_name, player_to_move, variant_title

from .command_line import HEAP

TITLES = {
    "connect4:5,4": "Connect Four 5 × 4",
    "connect4:5,4,3": "Connect Four 5 × 4, 3 in a row",
    "tictactoe": "Tic-tac-toe",
    "tictactoe:4,true": "Tic-tac-toe 4 × 4, misère",
    "chess:KRKN": "King and rook against king and knight",
    "dodgem:3": "Dodgem 3 × 3",
    "mutorere": "Mū Tōrere",
}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("write: str = 'x'", "heap: write is an option, and a method of the contract; call it something else"),
        ("show = 3", "heap: show is 3, and a method of the contract; call it something else"),
        ("players = 'two'", "heap: players is 'two'; it must be an int from 1 on"),
        ("players = 0", "heap: players is 0; it must be an int from 1 on"),
    ],
)
def test_words_of_the_contract_are_kept_for_it(line, complaint, tmp_path):
    path = tmp_path / "heap.py"
    path.write_text(HEAP.replace("    size: int = 10\n", f"    size: int = 10\n    {line}\n"), encoding="utf-8")
    with pytest.raises(RuleError, match=complaint):
        load_game(str(path))


def test_rules_of_ones_own_are_named_by_their_file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(HEAP, encoding="utf-8")
    trust(load_game(str(path)))
    what = re.escape(f"no game 'mine' is installed; for your rules of that name write {path}:size=12")
    with pytest.raises(VariantError, match=what):
        load_game("mine:size=12")


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
