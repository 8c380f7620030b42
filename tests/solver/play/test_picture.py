"""Boards: what games say of theirs fits their rules, and pictures show it; in the terminal as well."""

import re
import xml.etree.ElementTree as ET
from random import Random

import click
import pytest

from retrograde.cli.render.board import board_text
from retrograde.databases import open_database
from retrograde.games import CHANCE, DRAW, LOSE, TIE, UNDECIDED, WIN, Value
from retrograde.games.catalog import BUILT_IN, game_class, load_game
from retrograde.games.contract.drawing import CHESS_MEN, SHAPES, grid
from retrograde.games.contract.game import FLIPPED
from retrograde.games.contract.marks import COLOURS, DARK, INK, KINDS, LIGHT, OUTLINES, SIGNS
from retrograde.games.contract.picture import MEN, STYLE, board_svg, piece
from retrograde.solver.play.match import random_position
from retrograde.solver.play.solution import Solution
from tests.helpers.command_line import HEAP, retrograde
from tests.helpers.marks import thorough

VARIANTS = [
    *("tictactoe", "tictactoe:4", "connect4:5,4", "connect4", "dodgem", "dodgem:4", "hareandhounds", "lgame"),
    *("mutorere", "tentozero", "chess:KQKR", "chess:KPKP"),
]
OF_NUMBERS = [
    *("nim", "kalah:3", "pig:20", "piglet", "bearoff:3,3", "bearoff:3,3,2", "cantstop:2,1", "cantstop:3,1,2,2"),
    "hypergammon",
]
"""Games whose boards show numbers, and on which no positions are set up."""
CHANGE_MORE = {"lgame", "tentozero", "chess", "nim", "kalah", "pig", "piglet", "bearoff", "cantstop", "hypergammon"}
"""Games whose moves change more than the places that they touch: an L, a counter, en passant, heaps in order, dice."""
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


@pytest.mark.parametrize("text", VARIANTS + OF_NUMBERS)
def test_what_games_say_of_their_boards_fits_their_rules(text):
    game = load_game(text)
    board = game.draw_board()
    assert len(board.names) == len(board.places) >= board.cells
    for look in board.pieces.values():
        assert text in OF_NUMBERS or any(word in SHAPES or word in MEN for word in look.split())
    for position in positions_of(game):
        signs = game.draw_pieces(position)
        assert len(signs) == len(board.places)
        assert set(signs) <= {".", *board.pieces}
        assert game.draw_turn(position) in ("", *board.pieces)
        if game.primitive(position) != UNDECIDED:
            continue
        chance = game.turn(position) == CHANCE
        for move in game.generate_moves(position):
            places = game.draw_move(position, move)
            if chance or game.move_name(position, move) in ("stop", "bust", "pass"):
                assert places == ()
                continue
            assert places and all(0 <= place < len(signs) for place in places)
            child = game.draw_pieces(game.do_move(position, move))
            changed = {place for place in range(len(signs)) if signs[place] != child[place]}
            assert changed & set(places)
            if game.name not in CHANGE_MORE:
                assert changed <= set(places)


@pytest.mark.parametrize("text", VARIANTS + OF_NUMBERS)
def test_moves_that_touch_the_same_places_are_few(text):
    game = load_game(text)
    for position in positions_of(game):
        if game.primitive(position) == UNDECIDED:
            moves = list(game.generate_moves(position))
            together = {tuple(sorted(game.draw_move(position, move))) for move in moves}
            if game.turn(position) == CHANCE:
                assert together == {()}
                continue
            assert len(moves) <= 4 * len(together)  # a pawn may become one of four
            if game.name not in ("chess", "lgame", "bearoff"):  # two dice may take the same man off
                assert len(moves) == len(together)


@pytest.mark.long
def test_a_picture_shows_pieces_and_moves(solved):
    with Solution(open_database(solved("tictactoe"))) as solution:
        position = solution.game.read("X.O/.X./...")
        svg = board_svg(solution.game, position, solution.moves(position))
        tree = ET.fromstring(svg)
        assert tree.find(f"{SVG}title").text == "tictactoe X.O/.X./..."
        moves = {group.get("data-move"): group for group in tree.iter(f"{SVG}g") if group.get("class") == "move"}
        assert set(moves) == {"b1", "a2", "c2", "a3", "b3", "c3"}
        assert [one.get("href") for one in moves["c3"].iter(f"{SVG}use")] == ["#retrograde-tie"]
        assert [one.get("href") for one in moves["b1"].iter(f"{SVG}use")] == ["#retrograde-lose"]
        assert len([one for one in tree.iter() if one.get("data-place")]) == 9
        assert solution.picture(position)._repr_svg_() == solution.picture(position).svg
        assert solution._repr_svg_() == solution.picture(solution.game.start).svg
    with Solution(open_database(solved("chess:KRK"))) as solution:
        assert ET.fromstring(solution._repr_svg_()).tag == f"{SVG}svg"


@pytest.mark.thorough
@pytest.mark.long
def test_moves_of_two_men_to_one_place_have_a_mark_for_each_worth(solved):
    with Solution(open_database(solved("chess:KQKR"))) as solution:
        chance, both = Random(2), 0
        for _ in range(30):
            position = random_position(solution, chance)
            choices = solution.moves(position)
            tree = ET.fromstring(board_svg(solution.game, position, choices))
            worth, told, marked = {}, {}, {}
            for choice in choices:
                told[choice.name] = "=" if choice.remoteness is None else str(choice.remoteness + 1)
                worth[choice.name] = KINDS[FLIPPED[choice.value]]
            for group in tree.iter(f"{SVG}g"):
                if group.get("class") == "move":
                    assert {text.text for text in group.iter(f"{SVG}text")} == {
                        told[name] for name in group.get("data-move").split()
                    }
                    shapes = {one.get("href").removeprefix("#retrograde-") for one in group.iter(f"{SVG}use")}
                    marked.update(dict.fromkeys(group.get("data-move").split(), shapes))
                    assert shapes == {worth[name] for name in group.get("data-move").split()}
                    both += len(list(group.iter(f"{SVG}use"))) > 1
            assert set(marked) == set(worth)
        assert both > 10


def test_values_differ_by_shape_and_sign_and_what_is_on_them_has_contrast():
    values = (WIN, TIE, LOSE)
    assert len({OUTLINES[value] for value in values}) == len({SIGNS[value] for value in values}) == 3
    assert (KINDS[DRAW], SIGNS[DRAW]) == (KINDS[TIE], SIGNS[TIE])
    for value in Value:
        if value in INK:
            assert contrast(INK[value], COLOURS[value]) >= 4.5


def test_shapes_are_seen_on_any_ground():
    grounds = {how.split(";")[0].removeprefix("fill:") for how in STYLE.values() if how.startswith("fill:#")}
    assert {"#b58863", "#f0d9b5", "#2458a6", "#f7f3e8"} <= grounds
    for ground in {*grounds, "#fff", "#232b32", "#dc143c", "#4169e1", "#000"}:
        assert max(contrast(DARK, ground), contrast(LIGHT, ground)) >= 4.5, ground


def contrast(one, other):
    """Return the contrast of two colours as WCAG has it."""
    dim, bright = sorted((luminance(one), luminance(other)))
    return (bright + 0.05) / (dim + 0.05)


def luminance(colour):
    text = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(text[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_game_without_a_board_is_shown_as_text(tmp_path):
    (tmp_path / "heap.py").write_text(HEAP)
    game = load_game(f"{tmp_path / 'heap.py'}")
    tree = ET.fromstring(board_svg(game, 7))
    assert [text.text for text in tree.iter(f"{SVG}text")] == ["7"]
    assert board_text(game, 7) == "7"


def test_every_piece_can_be_drawn():
    looks = [*CHESS_MEN.values(), *SHAPES, *(f"teal {shape}" for shape in SHAPES), "disc H", "gold disc <", "♞", "&"]
    for look in looks:
        ET.fromstring(f"<svg>{piece(look, 1, 2)}</svg>")
    assert "&lt;" in piece("gold disc <", 0, 0)
    assert ">♞<" in piece("♞", 0, 0)
    assert "fill:#fff" in piece("black disc K", 0, 0) and "fill:#fff" not in piece("ivory disc K", 0, 0)


def test_grids_have_names():
    board = grid(2, 2, {"X": "cross"}, beyond=[(2, 0, "off")])
    assert board.names == ("a1", "b1", "a2", "b2", "off")
    assert board.places[1] == (1.0, 0.0) and board.cells == 4
    assert {text for _, _, text in board.labels} == {"a", "b", "1", "2"}


# In the terminal


def test_a_board_in_a_box():
    game = load_game("tictactoe")
    text = board_text(game, game.read("X.O/.X./..."), last=(0,), moves={8: WIN})
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
        plain = click.unstyle(board_text(game, position))
        for sign in set(game.draw_pieces(position)) - set(".>^"):
            assert plain.count(sign) >= game.draw_pieces(position).count(sign)


# Charts


@pytest.mark.parametrize("suffix", [thorough(".png"), ".svg"])
@pytest.mark.long
def test_a_chart_of_counts(solved, tmp_path, suffix):
    pytest.importorskip("matplotlib")
    output = tmp_path / f"counts{suffix}"
    for text in ("mutorere", "connect4:4,4")[: 1 if suffix == ".svg" else 2]:
        assert retrograde("plot", solved(text), "--output", output).stdout == f"{output}\n"
        head = output.read_bytes()[:300]
        assert head.startswith(b"\x89PNG") if suffix == ".png" else b"<svg" in head or b"<?xml" in head
        output.unlink()


@pytest.mark.long
def test_a_chart_that_cannot_be_written(solved, tmp_path):
    pytest.importorskip("matplotlib")
    retrograde("plot", solved("mutorere"), "--output", tmp_path / "counts.txt", status=2)
    retrograde("plot", solved("mutorere"), "--output", tmp_path / "no" / "counts.png", status=1)


# Positions set up, and the places that end a game


@pytest.mark.parametrize("text", VARIANTS)
def test_what_is_drawn_is_read_back(text):
    game = load_game(text)
    for position in positions_of(game):
        seen = game.draw_pieces(position), game.draw_turn(position)
        again = game.read_pieces(*seen)
        assert again == position or (text == "chess:KPKP" and position & 15)  # a picture does not tell of en passant
        assert (game.draw_pieces(again), game.draw_turn(again)) == seen


@pytest.mark.parametrize(
    ("text", "pieces", "turn", "complaint"),
    [
        ("tictactoe", "X.O......", "O", "X is to move, by the number of X and O"),
        ("tictactoe", "XX.......", "O", "there must be as many X as O, or one X more"),
        ("connect4:4,4", "............X...", "X", "Yellow is to move, by the number of Red and Yellow"),
        ("connect4:4,4", "X...............", "O", "a stone hangs in the air in column 1"),
        ("dodgem", "O..O...XXX>>^^^", "O", "nothing can be put beyond the cells"),
        ("dodgem", "OO.O...XX>>>^^^", "O", "there must be no more than 2 of X (Red) and of O (Blue)"),
        ("mutorere", "XXXOOOO..", "X", "there must be four X (Black) and four O (White)"),
        ("hareandhounds", "D..D...HHD.", "D", "there must be three hounds (D) and one hare (H)"),
        ("lgame", "wXX..OX..OX...Og", "X", "the cells with O must make an L of four"),
        ("tentozero", "O.........O", "", "there must be one disc, on the total"),
        ("chess:KRK", "K" + "." * 63, "K", "no legal position: Black has no king; put one"),
        ("chess:KRK", "K...Q..k" + "." * 56, "K", "White is to move and Black is in check; should Black be to move?"),
        ("chess:KRK", "K......k" + "." * 54 + "Q.", "K", "this is KQK, which does not follow from KRK"),
    ],
)
def test_what_is_no_position_is_told_in_a_line(text, pieces, turn, complaint):
    with pytest.raises(ValueError, match=re.escape(complaint)) as caught:
        load_game(text).read_pieces(pieces, turn)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "position", "names"),
    [
        ("tictactoe", "XXX/OO./...", "a1 b1 c1"),
        ("tictactoe", "XOX/OXO/XOX", "a1 c1 b2 a3 c3"),
        ("tictactoe", "XOX/OXX/OXO", ""),
        ("tictactoe:3,true", "XXX/OO./...", "a1 b1 c1"),
        ("chess:KRK", "R5k1/8/6K1/8/8/8/8/8 b", "g8"),
        ("chess:KQK", "7k/5Q2/6K1/8/8/8/8/8 b", ""),  # a stalemate
        ("lgame", "wXX./.OX./.OX./.OOg/X", None),
        ("mutorere", "XXXXOOOO/./X", None),
        ("hareandhounds", "H../DD.D./.../D", None),
    ],
)
def test_the_places_that_end_a_game_are_told(text, position, names):
    game = load_game(text)
    place = game.read(position)
    board = game.draw_board()
    told = game.draw_end(place)
    if names is not None:
        assert game.primitive(place) != UNDECIDED
        assert " ".join(board.names[one] for one in told) == names
    else:
        signs = {game.draw_pieces(place)[one] for one in told}
        assert signs == ({"H"} if text == "hareandhounds" else {game.draw_turn(place)})


def test_every_row_of_connect_four_that_has_won_is_told():
    game = load_game("connect4:4,4")
    assert game.draw_end(game.read("..../..../OOO./XXXX")) == (12, 13, 14, 15)
    assert game.draw_end(game.read("X.../XO../XOO./XXOO")) == (0, 4, 8, 12)
    assert game.draw_end(game.read("X..O/OX.O/XOXO/XXOX")) == (0, 5, 10, 15)
    assert game.draw_end(game.read("..../..../XO../XO..")) == ()


def test_boards_of_numbers_say_what_positions_say():
    """The heaps of nim, the scores of pig, the men of bear-off and the squares of Can't Stop are those of the text."""
    nim, pig, bearoff = load_game("nim"), load_game("pig"), load_game("bearoff:9,3,2")
    assert nim.draw_pieces(nim.read("5+3+1")) == "OOOOOOOO..O...."
    five, three = 0b101, 0b011
    move = five | 2 << 5  # two are left of five
    assert nim.move_name(nim.start, move) == "5>2"
    assert [nim.draw_board().names[place] for place in nim.draw_move(nim.start, move)] == ["a5", "a4", "a3"]
    assert nim.draw_reach(nim.start, move) == nim.draw_move(nim.start, move)[-1:]
    assert nim.draw_reach(nim.read("3+3"), three) == (0, 5)
    assert pig.draw_pieces(pig.read("31-5+12/0?")) == ".31.12..5...?"
    assert pig.draw_pieces(pig.read("31-5+0/1")) == ".31.....5..0."
    assert bearoff.draw_pieces(bearoff.read("1.0.3/0.2.0 1 5+3")) == "c.ae.B.G53.."
    man = 8 * 2 + 5  # from point 2 by a five
    places = bearoff.draw_move(bearoff.read("1.0.3/0.2.0 1 5+3"), man)
    assert [bearoff.draw_board().names[place] for place in places] == ["2 of second", "off of second"]


def test_markers_of_cant_stop_climb_where_they_are_drawn():
    game, chance = load_game("cantstop:3,1,2,2"), Random(1)
    position, climbs = game.start, 0
    for _ in range(300):
        if game.primitive(position) != UNDECIDED:
            position = game.start
        board, before = game.draw_board(), game.draw_pieces(position)
        move = chance.choice(list(game.generate_moves(position)))
        name, places = game.move_name(position, move), game.draw_move(position, move)
        position = game.do_move(position, move)
        if places and name != "roll":
            after, sums = game.draw_pieces(position), name.split("+")
            reached = [max(place for place in places if board.names[place].startswith(f"{one}-")) for one in sums]
            assert {after[place] for place in reached} == {"m"} and after != before
            climbs += 1
    assert climbs > 30


@pytest.mark.long
def test_no_game_draws_a_look_as_a_long_text():
    for name in BUILT_IN:
        game = load_game(f"{name}:{game_class(name).example}")
        board = game.draw_board()
        for look in board.pieces.values() if board else ():
            assert len(look) <= 3 or any(word in SHAPES or word in MEN for word in look.split()), (name, look)
