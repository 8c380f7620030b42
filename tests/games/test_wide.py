"""Games on boards of more than 62 bits: the same rules as the smaller ones, and what others have counted and proved."""

import pickle
from itertools import islice
from random import Random

import pytest

from retrograde.databases import open_database
from retrograde.games import LOSE, TIE, UNDECIDED, WIN, VariantError
from retrograde.games.catalog import load_game, variant
from retrograde.games.connect4 import Connect4
from retrograde.games.contract.game import CHANCE, defines
from retrograde.games.domineering import Domineering
from retrograde.games.eightpuzzle import EightPuzzle
from retrograde.games.game2048 import Game2048
from retrograde.games.wide.connect4 import WideConnect4
from retrograde.games.wide.domineering import WideDomineering
from retrograde.games.wide.eightpuzzle import FifteenPuzzle
from retrograde.games.wide.lightsout import LargeLightsOut
from retrograde.solver.engine import solve
from retrograde.solver.search.depth.names import depth_search_for
from retrograde.solver.search.searcher import Search
from tests.helpers.marks import thorough_but

PAIRS = [
    *((Connect4, WideConnect4, options) for options in ((4, 4), (5, 4), (7, 6), (6, 5, 3), (3, 5, 3), (8, 6))),
    *((Domineering, WideDomineering, options) for options in ((4, 4), (5, 4), (4, 5), (5, 2), (1, 6), (7, 8))),
    *((EightPuzzle, FifteenPuzzle, options) for options in ((3, 3), (5, 2), (2, 4), (5, 3))),
]
LARGE = {
    "connect4:width=9,height=7": WideConnect4,
    "connect4:width=8,height=8": WideConnect4,
    "domineering:width=8,height=8": WideDomineering,
    "eightpuzzle:width=4,height=4": FifteenPuzzle,
    "lightsout:width=7,height=7": LargeLightsOut,
    "game2048:width=4,height=4,target=2048": Game2048,
}


def played(game, seed, most=150):
    """Yield the positions and moves of random games, each with None for a move at its end."""
    random = Random(seed)
    for _ in range(8):
        position = game.start
        for _ in range(most):
            over = game.primitive(position) != UNDECIDED
            move = None if over else random.choice([*game.generate_moves(position)])
            yield position, move
            if over:
                break
            position = game.do_move(position, move)


@pytest.mark.parametrize(
    ("one", "wide", "options"), thorough_but(PAIRS, *PAIRS[::3]), ids=lambda value: getattr(value, "__name__", None)
)
def test_two_words_hold_the_position_of_one(one, wide, options):
    one, wide = one(*options), wide(*options)
    for position, move in played(one, 1):
        words = wide.split(position)
        for ask in ("primitive", "turn", "write", "show", "draw_pieces", "draw_turn", "draw_end"):
            assert getattr(one, ask)(position) == getattr(wide, ask)(words)
        assert wide.read(wide.write(words)) == words == wide.read(one.write(position))
        assert {*wide.images(words)} == {wide.split(image) for image in one.images(position)}
        if move is None:
            assert one.ending(position) == wide.ending(words)
            continue
        hints = [hint for hint in ("estimate", "quiet", "tie_in", "at_best") if defines(one, hint)]
        assert [getattr(one, hint)(position) for hint in hints] == [getattr(wide, hint)(words) for hint in hints]
        assert [*one.generate_moves(position)] == [*wide.generate_moves(words)]
        for ask in ("move_name", "draw_move", "draw_reach", "promise"):
            assert getattr(one, ask)(position, move) == getattr(wide, ask)(words, move)
        assert wide.do_move(words, move) == wide.split(one.do_move(position, move))
        assert wide.tier(words) <= wide.tier(wide.do_move(words, move))


@pytest.mark.parametrize(("text", "cls"), LARGE.items())
def test_a_large_variant_is_found_by_its_text(text, cls):
    game = load_game(text)
    assert type(game) is cls
    assert variant(game) == text
    assert pickle.loads(pickle.dumps(game)) == game
    assert game.variant_title() == "" or str(game.width) in game.variant_title()
    for position, move in played(game, 2, 40):
        assert game.read(game.write(position)) == position
        assert move is None or game.move(position, game.move_name(position, move)) == move


@pytest.mark.parametrize(
    "text", ["connect4:20,7", "domineering:12,12", "eightpuzzle:5,5", "lightsout:8,8", "game2048:6,6"]
)
def test_what_is_still_too_large_is_told_in_one_line(text):
    with pytest.raises(VariantError, match=r"^[a-z0-9]+: [^\n]*(at most|fewer than|room for|2 to 62)"):
        load_game(text)


@pytest.mark.parametrize("text", ["connect4:9,7", "connect4:8,8"])
def test_the_game_ends_with_a_row_that_the_picture_shows(text):
    game = load_game(text)
    rows = game.draw_board().in_a_row(4)
    for position, _ in played(game, 3):
        signs = game.signs(position)
        full = [row for row in rows if {signs[cell] for cell in row} in ({"X"}, {"O"})]
        assert (game.primitive(position) == LOSE) == bool(full)
        assert game.tie_in(position) == signs.count(".")
        assert (game.primitive(position) == TIE) == ("." not in signs and not full)


def test_the_15_puzzle_has_as_many_positions_at_each_distance_as_published():
    """OEIS A089484."""
    game = load_game("eightpuzzle:4,4")
    known, wave, counts = {game.goal}, [game.goal], []
    while len(counts) < 12:
        counts.append(len(wave))
        wave = [
            child for position in wave for child in game.parents(position) if not (child in known or known.add(child))
        ]
    assert counts == [1, 2, 4, 10, 24, 54, 107, 212, 446, 946, 1948, 3938]
    assert game.primitive(game.goal) == WIN


def test_33_presses_switch_49_lights_off():
    """OEIS A075464: on 7 x 7 lights no two sets of presses do the same, and 33 presses switch all off."""
    game = load_game("lightsout:7,7")
    # Gauss-Jordan elimination over two numbers, with the presses of each row above its lights.
    rows = [lights | 1 << 49 + number for number, lights in enumerate(game.presses)]
    for light in range(49):
        pivot = next(
            row for row in rows if row & (1 << 49) - 1 & -(1 << light) == row & (1 << 49) - 1 and row >> light & 1
        )
        rows = [pivot] + [row ^ pivot if row >> light & 1 else row for row in rows if row is not pivot]
        rows = rows[1:] + rows[:1]
    total = 0
    for row in rows:
        total ^= row
    presses = [number for number in range(49) if total >> 49 + number & 1]
    position = game.start
    for number, light in enumerate(presses):
        assert (game.primitive(position), number) != (WIN, 33)
        position = game.do_move(position, light)
    assert (len(presses), game.primitive(position)) == (33, WIN)


SMALL = [
    (Connect4(4, 3), WideConnect4(4, 3)),
    (Domineering(3, 4), WideDomineering(3, 4)),
    (EightPuzzle(3, 2), FifteenPuzzle(3, 2)),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("one", "wide"), SMALL, ids=lambda game: game.name)
def test_all_positions_have_the_same_value(tmp_path, one, wide):
    paths = [solve(game, tmp_path / f"{number}.h5") for number, game in enumerate((one, wide))]
    tables = [open_database(path, game=game) for path, game in zip(paths, (one, wide), strict=True)]
    left, known = [one.start], {one.start}
    while left:
        position = left.pop()
        assert tables[0].get(position) == tables[1].get(wide.split(position)) is not None
        if one.primitive(position) == UNDECIDED:
            children = {one.do_move(position, move) for move in one.generate_moves(position)} - known
            known |= children
            left += children
    assert tables[0].file.start_outcome[:2] == tables[1].file.start_outcome[:2]
    for table in tables:
        table.close()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("one", "wide"), [(Connect4(5, 4), WideConnect4(5, 4)), (Domineering(6, 6), WideDomineering(6, 6))]
)
def test_searches_find_the_same(one, wide):
    found = [Search(game).find(game.start) for game in (one, wide)]
    assert found[0].proved
    assert (found[0].value, found[0].remoteness) == (found[1].value, found[1].remoteness)


@pytest.mark.thorough
def test_searches_to_a_depth_give_the_same_scores():
    one, wide = EightPuzzle(3, 3), FifteenPuzzle(3, 3)
    searches = [depth_search_for(game) for game in (one, wide)]
    for position, move in islice(played(one, 4), 40):
        if move is not None:
            assert [*searches[0].scores(position, 3)] == [*searches[1].scores(wide.split(position), 3)]


def merged(line):
    """Return a row or column of texts after its tiles have slid to its beginning, two equal ones into one."""
    tiles, after = [int(tile) for tile in line if tile != "."], []
    while tiles:
        twice = tiles[:2] == [tiles[0]] * 2
        after.append(str(2 * tiles[0] if twice else tiles[0]))
        del tiles[: 1 + twice]
    return after + ["."] * (len(line) - len(after))


def slid(rows, name):
    """Return rows of tiles after a move."""
    lines = rows if name in ("left", "right") else [list(column) for column in zip(*rows, strict=True)]
    lines = [merged(line[::-1])[::-1] if name in ("right", "down") else merged(line) for line in lines]
    return lines if name in ("left", "right") else [list(row) for row in zip(*lines, strict=True)]


TILES = [(3, 3, 64), (5, 3, 2048), (4, 4, 2048), (2, 8, 64), (6, 5, 512), (20, 1, 16)]


@pytest.mark.parametrize(
    "options",
    [pytest.param(one, marks=() if one in (TILES[0], TILES[3], TILES[5]) else pytest.mark.thorough) for one in TILES],
)
def test_tiles_slide_in_one_word_or_two_as_they_do_in_rows_of_texts(options):
    game = Game2048(*options)
    assert isinstance(game.start, tuple) == (game.cells > 15)
    for position, move in played(game, 5):
        if move is None or game.turn(position) == CHANCE:
            continue
        rows = game.rows(position)
        afters = {name: slid(rows, name) for name in ("left", "right", "up", "down")}
        moves = {game.move_name(position, one): one for one in game.generate_moves(position)}
        assert {*moves} == {name for name, after in afters.items() if after != rows}
        for name, one in moves.items():
            after = game.do_move(position, one)
            assert game.write(after) == "/".join(map(",".join, afters[name])) + "?"
            assert game.tier(after) == 2 * sum(int(tile) for row in rows for tile in row if tile != ".") + 1
            turned = [[*row] for row in zip(*rows, strict=True)] if game.width == game.height else rows
            mirrored = [flipped for each in (rows, turned) for flipped in (each, [row[::-1] for row in each])]
            images = {"/".join(map(",".join, each)) for board in mirrored for each in (board, board[::-1])}
            assert {game.write(image) for image in (position, *game.images(position))} == images


@pytest.mark.thorough
def test_the_rules_of_2048_in_two_words_compile(recwarn):
    game = Game2048(4, 4, 64)
    search = depth_search_for(game)
    for position, move in islice(played(game, 4), 40):
        if move is not None and game.turn(position) != CHANCE:
            assert len([*search.scores(position, 2)]) == len([*game.generate_moves(position)])
    assert not [warning for warning in recwarn if "do not compile" in str(warning.message)]


@pytest.mark.slow
def test_the_first_player_wins_domineering_on_49_cells():
    """Breuker, Uiterwijk and van den Herik, Solving 8 x 8 Domineering (2000)."""
    game = WideDomineering(7, 7)
    assert Search(game).find(game.start, distance=False).value == WIN
