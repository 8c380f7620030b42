"""Boards: what games say of theirs fits their rules, and pictures show it; in the terminal as well."""

import xml.etree.ElementTree as ET
from random import Random

import click
import pytest

from retrograde.cli.board import drawn
from retrograde.databases import open_database
from retrograde.games import UNDECIDED, WIN
from retrograde.games.catalog import load_game
from retrograde.games.drawing import CHESS_MEN, SHAPES, grid
from retrograde.solver.play.picture import MEN, board_svg, piece
from retrograde.solver.play.solution import Solution

from .command_line import HEAP, retrograde

VARIANTS = [
    *("tictactoe", "tictactoe:4", "connect4:5,4", "connect4", "dodgem", "dodgem:4", "hareandhounds", "lgame"),
    *("mutorere", "tentozero", "chess:KQKR", "chess:KPKP"),
]
SVG = "{http://www.w3.org/2000/svg}"


def positions_of(game, count=30):
    """Return positions of a game by chance, those that are over among them."""
    chance = Random(5)
    while count:
        if hasattr(game, "start"):
            position = game.start
            for _ in range(chance.randrange(40)):
                if game.primitive(position) != UNDECIDED:
                    break
                position = game.do_move(position, chance.choice(list(game.generate_moves(position))))
        else:
            tier = next(iter(game.tiers))
            position = game.unindex(tier, chance.randrange(game.size(tier)))
            if position < 0:
                continue
        count -= 1
        yield position


@pytest.mark.parametrize("text", VARIANTS)
def test_what_games_say_of_their_boards_fits_their_rules(text):
    game = load_game(text)
    board = game.draw_board()
    assert len(board.names) == len(board.places) >= board.cells
    for look in board.pieces.values():
        assert any(word in SHAPES or word in MEN for word in look.split())
    for position in positions_of(game):
        signs = game.draw_pieces(position)
        assert len(signs) == len(board.places)
        assert set(signs) <= {".", *board.pieces}
        assert game.draw_turn(position) in ("", *board.pieces)
        if game.primitive(position) != UNDECIDED:
            continue
        for move in game.generate_moves(position):
            places = game.draw_move(position, move)
            assert places and all(0 <= place < len(signs) for place in places)
            child = game.draw_pieces(game.do_move(position, move))
            changed = {place for place in range(len(signs)) if signs[place] != child[place]}
            assert changed & set(places)
            if game.name not in ("lgame", "tentozero", "chess"):  # whose moves change more: an L, a counter, en passant
                assert changed <= set(places)


@pytest.mark.parametrize("text", VARIANTS)
def test_moves_that_touch_the_same_places_are_few(text):
    game = load_game(text)
    for position in positions_of(game):
        if game.primitive(position) == UNDECIDED:
            moves = list(game.generate_moves(position))
            together = {tuple(sorted(game.draw_move(position, move))) for move in moves}
            assert len(moves) <= 4 * len(together)  # a pawn may become one of four
            if game.name not in ("chess", "lgame"):
                assert len(moves) == len(together)


@pytest.mark.long
def test_a_picture_shows_pieces_and_moves(solved):
    with Solution(open_database(solved("tictactoe"))) as solution:
        position = solution.game.read("X.O/.X./...")
        svg = board_svg(solution.game, position, solution.moves(position), (0,))
        tree = ET.fromstring(svg)
        assert tree.find(f"{SVG}title").text == "tictactoe X.O/.X./..."
        moves = {group.get("data-move"): group for group in tree.iter(f"{SVG}g") if group.get("class") == "move"}
        assert set(moves) == {"b1", "a2", "c2", "a3", "b3", "c3"}
        assert moves["c3"].find(f"{SVG}circle").get("fill") == "#ffff00"
        assert moves["b1"].find(f"{SVG}circle").get("fill") == "#800000"
        assert len([one for one in tree.iter() if one.get("data-place")]) == 9
        assert len([one for one in tree.iter() if one.get("class") == "last"]) == 1
        assert solution.picture(position)._repr_svg_() == solution.picture(position).svg
        assert solution._repr_svg_() == solution.picture(solution.game.start).svg
    with Solution(open_database(solved("chess:KRK"))) as solution:
        assert ET.fromstring(solution._repr_svg_()).tag == f"{SVG}svg"


def test_a_game_without_a_board_is_shown_as_text(tmp_path):
    (tmp_path / "heap.py").write_text(HEAP)
    game = load_game(f"{tmp_path / 'heap.py'}")
    tree = ET.fromstring(board_svg(game, 7))
    assert [text.text for text in tree.iter(f"{SVG}text")] == ["7"]
    assert drawn(game, 7) == "7"


def test_every_piece_can_be_drawn():
    looks = [*CHESS_MEN.values(), *SHAPES, *(f"teal {shape}" for shape in SHAPES), "disc H", "gold disc <", "♞", "&"]
    for look in looks:
        ET.fromstring(f"<svg>{piece(look, 1, 2)}</svg>")
    assert "&lt;" in piece("gold disc <", 0, 0)
    assert ">♞<" in piece("♞", 0, 0)


def test_grids_have_names():
    board = grid(2, 2, {"X": "cross"}, beyond=[(2, 0, "off")])
    assert board.names == ("a1", "b1", "a2", "b2", "off")
    assert board.places[1] == (1.0, 0.0) and board.cells == 4
    assert {text for _, _, text in board.labels} == {"a", "b", "1", "2"}


# In the terminal


def test_a_board_in_a_box():
    game = load_game("tictactoe")
    text = drawn(game, game.read("X.O/.X./..."), last=(0,), moves={8: WIN})
    assert click.unstyle(text).splitlines() == [
        "  ┌───┬───┬───┐",
        "1 │[X]│   │ O │",
        "  ├───┼───┼───┤",
        "2 │   │ X │   │",
        "  ├───┼───┼───┤",
        "3 │   │   │ + │",
        "  └───┴───┴───┘",
        "    a   b   c",
    ]
    assert text != click.unstyle(text)


@pytest.mark.parametrize("text", VARIANTS)
def test_boards_of_all_games_say_what_the_game_says(text):
    game = load_game(text)
    for position in positions_of(game, 5):
        plain = click.unstyle(drawn(game, position))
        for sign in set(game.draw_pieces(position)) - set(".>^"):
            assert plain.count(sign) >= game.draw_pieces(position).count(sign)


# Charts


@pytest.mark.parametrize("suffix", [".png", ".svg"])
@pytest.mark.long
def test_a_chart_of_counts(solved, tmp_path, suffix):
    pytest.importorskip("matplotlib")
    output = tmp_path / f"counts{suffix}"
    for text in ("mutorere", "connect4:4,4"):
        assert retrograde("plot", solved(text), "--output", output).stdout == f"{output}\n"
        head = output.read_bytes()[:300]
        assert head.startswith(b"\x89PNG") if suffix == ".png" else b"<svg" in head or b"<?xml" in head
        output.unlink()


@pytest.mark.long
def test_a_chart_that_cannot_be_written(solved, tmp_path):
    pytest.importorskip("matplotlib")
    retrograde("plot", solved("mutorere"), "--output", tmp_path / "counts.txt", status=2)
    retrograde("plot", solved("mutorere"), "--output", tmp_path / "no" / "counts.png", status=1)
