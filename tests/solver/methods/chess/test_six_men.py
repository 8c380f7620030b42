"""Endings of six men: their names and numbers, moves beside python-chess, how they lie in words, and what they take.

One of them is solved, and held against the counts of Syzygy's tables (tests/data/six_men.csv, from regular-stats.txt of
github.com/niklasf/syzygy-tables.info), and position by position against its children.
"""

import importlib
from itertools import permutations
from random import Random

import chess as python_chess
import numpy as np
import pytest

from retrograde.databases import database_path, open_database
from retrograde.games import PositionError
from retrograde.games.catalog import load_game, own_tiers, rests_on
from retrograde.games.chess import Chess
from retrograde.games.chess.men import LOWEST, SIX_MEN, ending_name, name_of_tier, tier_of, tiers_from
from retrograde.games.chess.san import uci
from retrograde.games.contract.game import DRAW, FLIPPED, LOSE, WIN
from retrograde.solver.methods.chess import kernels
from retrograde.solver.methods.chess.en_passant import CapturablePawns
from retrograde.solver.methods.chess.formation import (
    Formation,
    Men,
    arrangement,
    geometry,
    group_like_men,
    indices_of,
    men_of,
)
from retrograde.solver.methods.chess.words import rests_of
from retrograde.solver.methods.numbered.numbering import MOST_SLOTS
from tests.helpers.command_line import retrograde
from tests.helpers.marks import thorough, thorough_but
from tests.helpers.paths import ROOT

pytestmark = pytest.mark.long

SOME = ["KNNNKN", "KRRKRN", "KNNKNN", "KQRBKN", "KBBBBK", "KQRKBN"]


# Names, numbers, moves


def test_six_men_are_numbered_below_all_others():
    assert len(set(SIX_MEN)) == 170 and LOWEST == -170
    for tier, name in enumerate(SIX_MEN, LOWEST):
        assert tier_of(name) == tier and name_of_tier(tier) == name and ending_name(name) == name
        assert tiers_from(name)[0] == tier and all(later >= 0 for later in tiers_from(name)[1:])
    assert ending_name("KNKNNN") == "KNNNKN" and ending_name("KNNKBB") == "KBBKNN"
    assert {Chess(name).variant_title().count("ing") for name in SIX_MEN} == {2}
    assert Chess("KNNNNK").variant_title() == "King and four knights against king"


def test_six_men_rest_on_the_databases_of_five():
    game = load_game("chess:KNNNKN")
    assert own_tiers(game) == [tier_of("KNNNKN")]
    others = ["KK", "KNK", "KNNK", "KNKN", "KNNNK", "KNNKN"]
    assert rests_on(game) == [f"chess:{other}" for other in others]


def test_six_men_with_pawns_are_refused():
    with pytest.raises(ValueError, match="6 men; endings of more than 5 are known without pawns"):
        Chess("KNPPKN")
    with pytest.raises(PositionError, match="with pawns; endings with pawns have 5 at most"):
        Chess("KNNNKN").read("8/8/8/3k4/8/2n5/PN6/K6N w")


def test_all_slots_are_few_enough():
    assert max(Chess(name).size(tier_of(name)) for name in SIX_MEN) == 2 * 462 * 64**4 < MOST_SLOTS


def positions_of(name, count, seed=0):
    """Yield slots of an ending, by chance, and their positions."""
    game, tier, dice = Chess(name), tier_of(name), Random(f"{name}{seed}")
    while count:
        slot = dice.randrange(game.size(tier))
        if (position := game.unindex(tier, slot)) >= 0:
            count -= 1
            yield slot, position


@pytest.mark.parametrize("name", SOME)
def test_slots_and_positions_undo_one_another(name):
    game, tier = Chess(name), tier_of(name)
    for slot, position in positions_of(name, 30):
        images = set(game.images(position))
        assert len(images) in (8, 16) and min(images) == position == game.canonical(position) < 1 << 58
        assert {(game.tier(image), game.index(image), game.canonical(image)) for image in images} == {
            (tier, slot, position)
        }
        assert game.read(game.write(position)) == position


@pytest.mark.parametrize("name", thorough_but(SOME, "KNNNKN", "KNNKNN", "KQRKBN"))
def test_moves_are_those_of_another_program(name):
    game = Chess(name)
    for _, position in positions_of(name, 12, 1):
        board = python_chess.Board(game.write(position))
        assert {uci(position, move) for move in game.generate_moves(position)} == {m.uci() for m in board.legal_moves}
        for move in game.generate_moves(position):
            child = game.do_move(position, move)
            board.push_uci(uci(position, move))
            assert game.write(child).split()[:2] == board.fen().split()[:2]
            board.pop()
            if game.tier(child) == game.tier(position):
                assert position in map(game.canonical, game.parents(child))


# Words


@pytest.mark.parametrize(
    "codes", [(), (3,), (3, 3), (1, 11), *(thorough((codes,)) for codes in ((3, 3, 3), (1, 1, 11), (0, 1, 2)))]
)
@pytest.mark.parametrize("grouped", [False, True])
def test_rests_become_others_as_men_are_moved(codes, grouped):
    rests, board, dice = rests_of(codes, grouped, geometry().turned), geometry(), Random(1)

    def like(squares):
        return tuple(sorted(zip(codes, squares, strict=True))) if grouped else tuple(squares)

    numbers = {like(squares): number for number, squares in enumerate(rests.squares.tolist())}
    assert len(numbers) == len(rests.squares)
    for rest in dice.choices(range(len(numbers)), k=200):
        squares = rests.squares[rest].tolist()
        bits = sum(1 << square for square in {*squares}) if len({*squares}) == len(squares) else 0
        assert int(rests.bits[rest]) == bits
        symmetry, square = dice.randrange(8), dice.randrange(64)
        assert rests.turned[symmetry, rest] == numbers[like(board.turned[symmetry][squares].tolist())]
        for man in range(len(codes)):
            after = like([square if other == man else here for other, here in enumerate(squares)])
            assert rests.more[rests.less[rest, man], square] == numbers.get(after, -1)


def test_slots_of_six_men_lie_where_their_men_stand():
    for name in SOME:
        codes = Formation(name).codes
        assert sorted(codes) == sorted(Chess(name).codes[4 * (tier_of(name) - LOWEST) :][:4])
        assert codes.count(codes[0]) == max(map(codes.count, codes))
    formation, dice = Formation("KNNNKN"), Random(0)
    squares = [[*sorted(dice.sample(range(64), 3)), dice.randrange(64)] for _ in range(200)]
    places = indices_of(formation.codes, np.array(squares)).tolist()
    assert [[*formation.men.rests.squares[place >> 6], place & 63] for place in places] == squares


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["KNNNNK", "KBBKNN"])
def test_one_of_two_mirror_images_has_a_slot(name):
    """Where both kings are on the diagonal."""
    game, tier, codes = Chess(name), tier_of(name), Formation(name).codes
    places, kept = arrangement(codes)
    assert len(places) * 462 * 2 == game.size(tier) and len({*places.tolist()}) == len(places)
    pair, dice = game.king_pairs[:462].index(0 << 6 | 18), Random(0)  # a1 and c3
    for spot in dice.choices(range(len(places)), k=3000):
        slot = pair * len(places) + spot
        position = game.placed(tier, slot)
        if game.possible(position):
            assert (game.unindex(tier, slot) >= 0) == (kept[spot] > 0)
            assert len({*game.images(position)}) == (8 if kept[spot] == 2 else 16)


def as_set(men: Men, codes, pairs, squares):
    """Return a set of positions, however like men stand in for one another; and which of its bits the first is, and so
    on, by the squares of men in the order of *codes*."""
    numbers = {tuple(some): number for number, some in enumerate(men.rests.squares.tolist())}
    words, own = np.zeros(len(men.squares) * len(numbers), np.uint64), tuple(range(len(codes)))
    for order in permutations(range(len(codes))):
        if [codes[man] for man in order] == list(codes):
            rests = [numbers.get(tuple(some), -1) for some in squares[:, order[:-1]].tolist()]
            spots = (pairs * len(numbers) + rests) << 6 | squares[:, order[-1]]
            if order == own:
                first = spots
            there = spots[np.array(rests) >= 0]
            np.bitwise_or.at(words, there >> 6, np.uint64(1) << (there & 63).astype(np.uint64))
    return words, first


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", ["KQQKR", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("KNNNK", "KRKBB"))]
)
def test_sets_of_grouped_men_are_carried_as_those_of_men_told_apart(name):
    apart, board, dice = Formation(name), geometry(), np.random.default_rng(0)
    codes = group_like_men(apart.codes)
    squares = np.sort(np.argsort(dice.random((2000, 64)), 1)[:, :3], 1)
    pairs = dice.integers(0, 4, len(squares))
    order = sorted(range(3), key=lambda man: codes.index(apart.codes[man]))
    nothing = CapturablePawns(np.full(3, -1), *np.zeros((2, 0, 1), np.uint64))
    for side in (0, 1):
        found = []
        for men, some in ((apart.men, squares), (men_of(codes, True), squares[:, order])):
            reached, spots = as_set(men, apart.codes if men is apart.men else codes, pairs, some)
            legal, checked = np.empty_like(reached), np.empty_like(reached)
            kernels.find_legal(men, board, side, legal, checked)
            carried, closed = np.zeros_like(reached), legal.copy()
            kernels.add_predecessors(men, board, side, nothing, reached & legal, carried)
            kernels.remove_escapes(men, board, side, nothing, reached & legal, closed)
            found.append([words[spots >> 6] >> (spots & 63).astype(np.uint64) & np.uint64(1)
                          for words in (legal, checked, legal & carried, legal & ~closed)])  # fmt: skip
        assert all(map(np.array_equal, *found)) and all(bits.any() for bits in found[0][2:])


# What they take


def test_what_takes_too_much_memory_is_refused_before_anything_is_done(tmp_path):
    complaint = retrograde("solve", "chess:KQRBKN", "--memory", "2G", "--database", tmp_path / "a.h5", status=1).output
    assert "solving 15,502,147,584 slots of positions needs about 4" in complaint
    assert "GB of memory, and the limit is 2 GB; raise it with --memory" in complaint
    assert complaint.count("\n") == 1 and not [*tmp_path.glob("*.h5")]


def test_an_estimate_says_what_they_take():
    told = retrograde("solve", "chess:KNNNKN", "--estimate").output
    assert "2,463,842,304 slots" in told and "chess:KNNNK, chess:KNNKN, which are solved first" in told


# One of them


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with three knights against one: it takes some minutes, and 6.8 GB of memory."""
    folder = tmp_path_factory.mktemp("home")
    retrograde("solve", "chess:KNNNKN", "--memory", "9G", env={"RETROGRADE_HOME": str(folder)})
    return folder


@pytest.mark.slow
def test_values_are_counted_as_by_others(home, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    endings = importlib.import_module("endings")
    with open_database(database_path("chess:KNNNKN", home)) as database:
        assert endings.by_value(endings.counts_of(database, "KNNNKN")) == endings.published()["KNNNKN"]


@pytest.mark.slow
def test_values_follow_by_the_moves_of_another_program(home):
    with open_database(database_path("chess:KNNNKN", home)) as database:
        game = database.game
        for _, position in positions_of("KNNNKN", 2000, 2):
            board = python_chess.Board(game.write(position))
            assert database[position] == one_ply(database, board), board.fen()


def one_ply(database, board):
    """Return what a position is worth by what its children are, as another program moves."""
    worth = []
    for move in board.legal_moves:
        board.push(move)
        value, plies = database[database.game.read(board.fen())]
        worth.append((FLIPPED[value], None if value == DRAW else plies + 1))
        board.pop()
    if not worth:
        return (LOSE, 0) if board.is_check() else (DRAW, None)
    best = max(value for value, _ in worth)
    plies = [plies for value, plies in worth if value == best]
    return best, None if best == DRAW else min(plies) if best == WIN else max(plies)
