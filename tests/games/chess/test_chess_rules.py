"""The rules of chess endings against python-chess, against published counts, and each rule against its inverse.

python-chess is a test-only oracle. The counts in `data/chess/` are those of Gaviota's tables, published by M. Ballicora
(https://sites.google.com/site/gaviotachessengine), read by python-chess. `summary.csv` has the legal positions of each
table and side to move, all of them (raw) and but for symmetry (unique); `dtm.csv` has them by result and distance to
mate in plies.
"""

import csv
from collections import Counter
from random import Random

import numpy as np
import pytest
from numba import njit

from retrograde.games import DRAW, LOSE, UNDECIDED, WIN, Game, MoveError, PositionError
from retrograde.games.chess import Chess
from retrograde.games.chess.anyboard import AnyBoard
from retrograde.games.chess.board import COLOURS, TURN
from retrograde.games.chess.men import TIERS, ending_name, tier_of, tiers_from
from retrograde.games.chess.numbering import EMPTY
from retrograde.games.chess.san import uci
from retrograde.games.chess.squares import image_of_square
from retrograde.solver.conformance.check import check
from retrograde.solver.rules.compiled import prepare
from retrograde.solver.rules.expansion import Expander
from tests.helpers.marks import thorough, thorough_but
from tests.helpers.paths import ROOT

chess = pytest.importorskip("chess")

DATA = ROOT / "tests" / "data" / "chess"
ENDINGS = ["KRK", "KPK", "KRKN", "KQKR", "KBBK", "KBKB", "KRKR", "KRKP", "KPKP", "KPPK", "KNNKP", "KPPKP", "KQPKP"]
ENDINGS += ["KRBKB", "KPPPK", "KQQKQ"]
"""Endings for random positions."""
each_ending = pytest.mark.parametrize("name", thorough_but(ENDINGS, "KRK", "KPKP", "KQPKP"))


def random_positions(name: str, count: int, seed: int = 0, passing: bool = True) -> list[int]:
    """Return random legal positions of an ending, in both colours, some of them (if any) with en passant rights."""
    game, tier, chance = Chess(name), tier_of(name), Random(f"{name} {seed}")
    positions: list[int] = []
    plain, size = game.plain_size(tier), game.size(tier)
    while len(positions) < count:
        rights = passing and size > plain and len(positions) % 4 == 0
        position = game.unindex(tier, chance.randrange(plain, size) if rights else chance.randrange(plain))
        if position != EMPTY:
            positions.append(chance.choice(list(game.images(position))))
    return positions


def board_of(game: Chess, position: int) -> "chess.Board":
    """Return python-chess' board of a position."""
    board = chess.Board(game.write(position))
    assert board.status() & ~chess.STATUS_INVALID_EP_SQUARE & ~chess.STATUS_TOO_MANY_CHECKERS & \
        ~chess.STATUS_IMPOSSIBLE_CHECK == chess.STATUS_VALID  # fmt: skip
    return board


# Against python-chess


MANY = [pytest.param(name, 20_000, marks=pytest.mark.slow) for name in ("KRKN", "KBNK", "KRPK", "KPKP", "KPPKP")]


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "count"), [*((name, 500) for name in ENDINGS), *MANY])
@pytest.mark.long
def test_moves_and_ends_are_those_of_python_chess(name, count):
    game = Chess(name)
    for position in random_positions(name, count):
        board = board_of(game, position)
        moves = {uci(position, move): move for move in game.generate_moves(position)}
        assert set(moves) == {move.uci() for move in board.legal_moves}, game.write(position)
        assert len(moves) == len(list(game.generate_moves(position)))
        assert game.in_check(position) == board.is_check()
        over = LOSE if board.is_checkmate() else DRAW if board.is_stalemate() else UNDECIDED
        assert game.primitive(position) == (DRAW if board.is_insufficient_material() else over), game.write(position)
        assert game.write(position) == board.fen(en_passant="legal")


@pytest.mark.thorough
@each_ending
@pytest.mark.long
def test_what_moves_lead_to_is_what_python_chess_says(name):
    game = Chess(name)
    for position in random_positions(name, 100, seed=1):
        board = board_of(game, position)
        for move in game.generate_moves(position):
            theirs = chess.Move.from_uci(uci(position, move))
            assert game.move_name(position, move) == board.san(theirs)
            child = game.do_move(position, move)
            board.push(theirs)
            assert game.write(child).split()[:4] == board.fen(en_passant="legal").split()[:4]
            assert game.possible(child) and game.tier(child) in game.tiers
            assert game.tier(child) >= game.tier(position)
            board.pop()


@pytest.mark.parametrize("name", ["KBBK", "KBKB"])
@pytest.mark.parametrize("other", ["d1", "e1"])
def test_bishops_on_squares_of_one_colour_cannot_mate(name, other):
    """b1 and d1 are light, e1 is dark."""
    board = chess.Board(None)
    colour = chess.WHITE if name == "KBBK" else chess.BLACK
    men = {"a8": "K", "a6": "k", "b1": "B", other: "B" if colour else "b"}
    for square, man in men.items():
        board.set_piece_at(chess.parse_square(square), chess.Piece.from_symbol(man))
    game, dead = Chess(name), other == "d1"
    assert board.is_insufficient_material() == dead
    assert game.is_dead(game.read(board.fen())) == dead
    assert AnyBoard.from_fen(board.fen()).is_dead() == dead


@pytest.mark.parametrize("plies", [3, thorough(4)])
def test_perft(plies):
    """Numbers of leaves of python-chess's move trees, with en passant, promotions and mates on the way."""
    for text in ("8/2p5/8/1P1k4/8/8/4P3/3K4 w", "8/1P4k1/8/8/8/8/1p5K/8 b", "4k3/3p4/8/2P1P3/8/8/8/4K3 b"):
        game = Chess("KPPKP")
        assert perft(game, game.read(text), plies) == their_perft(chess.Board(f"{text} - - 0 1"), plies)


def perft(game, position, depth):
    children = [game.do_move(position, move) for move in game.generate_moves(position)]
    return len(children) if depth == 1 else sum(perft(game, child, depth - 1) for child in children)


def their_perft(board, depth):
    if depth == 1:
        return board.legal_moves.count()
    count = 0
    for move in board.legal_moves:
        board.push(move)
        count += their_perft(board, depth - 1)
        board.pop()
    return count


# Each against its inverse


@each_ending
@pytest.mark.long
def test_parents_are_the_inverse_of_moves_within_a_tier(name):
    game, met = Chess(name), Counter()
    some = random_positions(name, 60, seed=2)
    after_rights = [child for position in some if position & 15 for child in children_of(game, position)]
    for position in some + [child for child in after_rights if game.tier(child) == tier_of(name)][::5]:
        parents = list(game.parents(position))
        assert len(parents) == len(set(parents))
        met["rights gone"] += any(parent & 15 for parent in parents)
        met["rights new"] += position & 15 > 0
        for parent in parents:
            assert game.possible(parent) and game.tier(parent) == game.tier(position)
            assert position in children_of(game, parent)
        for child in children_of(game, position):
            assert (position in game.parents(child)) == (game.tier(child) == game.tier(position))
    both = all("P" in side for side in name.split("K")[1:])
    assert both == (met["rights gone"] > 0) == (met["rights new"] > 0)


def children_of(game, position):
    return [game.do_move(position, move) for move in game.generate_moves(position)]


@each_ending
@pytest.mark.long
def test_images_are_worth_the_same_and_have_one_canonical(name):
    game = Chess(name)
    for position in random_positions(name, 20, seed=3):
        images = set(game.images(position))
        assert position in images and position ^ 1 << COLOURS in images
        least = Game.canonical(game, position)
        outcomes = {
            (
                game.canonical(image),
                game.primitive(image),
                game.tier(image),
                game.index(image),
                game.possible(image),
                frozenset(game.images(image)) == images,
                tuple(sorted(game.canonical(child) for child in children_of(game, image))),
            )
            for image in images
        }
        assert len(outcomes) == 1
        assert next(iter(outcomes))[0] == least == game.unindex(game.tier(position), game.index(position))


@each_ending
@pytest.mark.long
def test_fen_and_moves_are_read_as_they_are_written(name):
    game = Chess(name)
    for position in random_positions(name, 30, seed=4):
        assert game.read(game.write(position)) == position
        assert game.read(game.write(position).replace(" ", "_")) == position
        for move in game.generate_moves(position):
            san = game.move_name(position, move)
            for text in (san, uci(position, move), san.rstrip("+#"), san.replace("x", ""), san.replace("=", "")):
                assert game.move(position, text) == move


# The numbering


def published():
    """Return the counts of legal positions by table and side to move: unique, raw."""
    with open(DATA / "summary.csv", newline="") as file:
        return {(row["table"], row["stm"]): tuple(map(int, list(row.values())[2:])) for row in csv.DictReader(file)}


@njit(nogil=True)
def survey(game, tier, begin, end, positions, sizes):
    """Write the positions of slots and, if *sizes* has room, of how many placements each is one, colours as within."""
    for slot in range(begin, end):
        position = game.unindex(tier, slot)
        positions[slot - begin] = position
        if len(sizes) and position != EMPTY:
            size = 0
            for image in game.images(position):
                size += image == position
            sizes[slot - begin] = (2 if game.pawn_tiers[game.row(tier)] else 8) // size


def all_positions(name, sizes=False):
    """Return what is in each slot of a tier, by the compiled rules, and how many placements it stands for."""
    game, tier = Chess("KK"), tier_of(name)
    prepare(game)
    positions = np.empty(game.size(tier), np.int64)
    placements = np.zeros(len(positions) if sizes else 0, np.int64)
    survey(game, tier, 0, len(positions), positions, placements)
    return positions, placements


SMALL = ["KBK", "KNK", "KPK", "KQK", "KRK", "KQKQ"]
LARGE = ["KBBK", "KRKN", "KBNK", "KQKR", "KRKR", "KRKP"]


@pytest.mark.parametrize(
    "name",
    [
        *map(thorough, (*SMALL, *LARGE[:2])),
        *(pytest.param(name, marks=pytest.mark.slow) for name in LARGE[2:]),
    ],
)
@pytest.mark.long
def test_slots_are_the_published_positions(name):
    plain = Chess("KK").plain_size(tier_of(name))
    positions, placements = all_positions(name, sizes=True)
    positions, placements = positions[:plain], placements[:plain]
    legal = positions[positions != EMPTY]
    assert len(np.unique(legal)) == len(legal)
    white, black = name.split("K")[1:]
    for turn, side in enumerate("wb"):
        here = (positions != EMPTY) & (positions >> TURN == turn)
        if white == black:
            here = positions != EMPTY  # Black to move is White to move with sides exchanged
        assert (here.sum(), placements[here].sum()) == published()[name, side]


@pytest.mark.parametrize("name", thorough_but(["KRK", "KPK", "KRKN", "KBBK"], "KPK"))
@pytest.mark.long
def test_every_placement_has_a_slot(name):
    """Positions that python-chess finds legal, put together at random, are those that have a slot."""
    game, chance, met = Chess(name), Random(0), Counter()
    white, black = name[1:].split("K")
    for _ in range(2000):
        board = chess.Board(None)
        board.turn = chance.random() < 0.5
        squares = chance.sample(range(64), len(name))
        for square, letter in zip(squares, f"K{white}k{black.lower()}", strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(letter))
        legal = board.status() & ~chess.STATUS_IMPOSSIBLE_CHECK & ~chess.STATUS_TOO_MANY_CHECKERS == chess.STATUS_VALID
        met[legal] += 1
        if legal:
            position = game.read(board.fen())
            assert game.unindex(tier_of(name), game.index(position)) == game.canonical(position)
        else:
            with pytest.raises(PositionError, match="no legal position"):
                game.read(board.fen())
    assert min(met[True], met[False]) > 100


@each_ending
def test_every_slot_has_at_most_one_position(name):
    game, tier, chance = Chess("KK"), tier_of(name), Random(name)
    plain, size = game.plain_size(tier), game.size(tier)
    some = [chance.randrange(plain) for _ in range(200)] + [0, plain - 1]
    if size > plain:
        some += [chance.randrange(plain, size) for _ in range(1000)] + [plain, size - 1]
    met = 0
    for slot in some:
        position = game.unindex(tier, slot)
        if position != EMPTY:
            met += slot >= plain
            assert game.index(position) == slot and game.tier(position) == tier and game.possible(position)
            assert (position & 15 > 0) == (slot >= plain) and position == Game.canonical(game, position)
    assert (met > 0) == (size > plain)


@pytest.mark.parametrize("name", thorough_but(["KPKP", "KPPKP", "KQPKP"], "KPKP"))
@pytest.mark.long
def test_positions_met_in_play_have_slots(name):
    game, rights, chance = Chess(name), 0, Random(0)
    for position in random_positions(name, 1000, seed=5, passing=False):
        for child in children_of(game, position):
            if rights and chance.random() < 0.8:
                continue
            rights += child & 15 > 0
            tier = game.tier(child)
            assert 0 <= game.index(child) < game.size(tier)
            assert game.unindex(tier, game.index(child)) == game.canonical(child)
    assert rights


# Compiled


@pytest.mark.thorough
@pytest.mark.long
def test_compiled_rules_do_the_same():
    expander = Expander(Chess("KK"))
    for name in ("KRK", "KRKN", "KPKP", "KPPKP", "KQPKP", "KBKB"):
        game = Chess(name)
        positions = [game.canonical(position) for position in random_positions(name, 100, seed=6)]
        array = np.array(positions, np.int64)
        block = expander.expand(tier_of(name), array)
        for position, primitive, children in zip(positions, *block.lists_by_position(), strict=True):
            assert primitive == game.primitive(position)
            over = primitive != UNDECIDED
            assert children == ([] if over else [game.canonical(child) for child in children_of(game, position)])
        parents = expander.expand_parents(tier_of(name), array).children
        for number, position in enumerate(positions):
            column = [parent for parent in parents[:, number].tolist() if parent >= 0]
            assert column == list(dict.fromkeys(game.canonical(parent) for parent in game.parents(position)))


class FromAPosition(Chess):
    """Endings with a first position, as `check` wants one."""

    name = "chess"
    start = Chess("KPKP").read("8/3p4/8/1k2P3/8/8/8/3K4 b")


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.thorough
def test_the_contract_is_kept(compiled):
    report = check(FromAPosition("KPKP"), limit=3000, seconds=3, compiled=compiled)
    assert not report.findings, report.findings
    assert {"parents", "images", "read", "move"} <= set(report.checks)


# Solved from the definitions


def solved(name):
    """Return (side, result, plies) counts of an ending, by passes over all positions of it and all that may follow."""
    expander, tiers = Expander(Chess("KK")), tiers_from(name)
    in_tiers = [positions[positions != EMPTY] for positions, _ in (all_positions(TIERS[tier]) for tier in tiers)]
    positions = np.sort(np.concatenate(in_tiers))
    children = np.full((len(positions), 40), -1, np.int32)
    value = np.zeros(len(positions), np.uint8)
    for tier, own in zip(tiers, in_tiers, strict=True):
        for begin, end in expander.blocks(0, len(own)):
            block = expander.expand(tier, own[begin:end])
            places = np.searchsorted(positions, own[begin:end])
            value[places] = block.primitives
            found = block.children[:, : block.columns].T
            kids = np.where(found < 0, -1, np.searchsorted(positions, found))
            assert (positions[kids[kids >= 0]] == found[found >= 0]).all()
            children[places[block.origins[: block.columns]], : kids.shape[1]] = kids
    plies = np.where(value == UNDECIDED, -1, 0)
    open_, count = np.flatnonzero(value == UNDECIDED), 0
    while True:
        count += 1
        kids = children[open_]
        kid_values = np.where(kids < 0, WIN, value[kids])
        wins, losses = ((kid_values == LOSE) & (kids >= 0)).any(1), (kid_values == WIN).all(1)
        if not (wins | losses).any():
            break
        value[open_[wins]], value[open_[losses]] = WIN, LOSE
        plies[open_[wins | losses]] = count
        open_ = open_[~(wins | losses)]
    own = np.searchsorted(positions, in_tiers[tiers.index(tier_of(name))])
    results = {WIN: "win", LOSE: "loss"}
    return Counter(
        ("wb"[int(positions[place] >> TURN & 1)], results.get(value[place], "draw"), max(0, int(plies[place])))
        for place in own
    )


@pytest.mark.parametrize("name", ["KRK", pytest.param("KPK", marks=pytest.mark.slow)])
@pytest.mark.thorough
def test_ending_is_solved_as_published(name):
    with open(DATA / "dtm.csv", newline="") as file:
        table = {
            (row["side"], row["result"], int(row["plies"])): int(row["unique"])
            for row in csv.DictReader(file)
            if row["table"] == name
        }
    assert solved(name) == table


# Names of endings


def test_endings_are_named_in_any_way():
    for text in ("KRKN", "KRvKN", "krkn", "KNKR", "KNvKR", " knkr "):
        assert ending_name(text) == "KRKN" and Chess(text) == Chess("KRKN")
    assert (
        ending_name("KNBK") == ending_name("kkbn") == "KBNK"
        and ending_name("KPKQ") == "KQKP"
        and ending_name("KvK") == "KK"
    )
    assert ending_name("KBKQQ") == "KQQKB" and ending_name("KQKNN") == "KNNKQ" and ending_name("KPKPQ") == "KQPKP"


@pytest.mark.parametrize("text", ["", "K", "RK", "KRKX", "KRNBKQN", "KRNPKQ", "KK K", "K1K"])
def test_other_names_are_refused(text):
    with pytest.raises(ValueError, match=r"KRKN|men"):
        Chess(text)


def test_tiers_rise_with_captures_and_promotions():
    assert len(TIERS) == 146 and len(set(TIERS)) == 146
    for tier, name in enumerate(TIERS):
        assert tier_of(name) == tier and ending_name(name) == name
        assert tiers_from(name)[0] == tier and tiers_from(name)[-1] == len(TIERS) - 1
    assert [TIERS[tier] for tier in tiers_from("KRKN")] == ["KRKN", "KNK", "KRK", "KK"]
    assert {TIERS[tier] for tier in tiers_from("KPK")} == {"KPK", "KQK", "KRK", "KBK", "KNK", "KK"}


# FEN and moves, read and refused

REFUSED = {
    "8/8/8/3k4/8/8/8/n3K2R w KQ - 0 1": "castling rights 'K'",
    "8/8/8/3k4/8/8/2n5/KNBR2QR w - - 0 1": "8 men are on the board; endings have 6",
    "8/8/8/3k3R/8/8/2n5/K7 w - - 0 1": "White is to move and Black is in check",
    "8/8/8/3k4/8/1n6/8/K6R b - - 0 1": "Black is to move and White is in check",
    "8/8/8/3k4/8/8/8/K6P w - - 0 1": "a pawn stands on h1",
    "8/8/8/3k4/8/8/8/K5KR w - - 0 1": "White has 2 kings",
    "8/8/8/8/8/8/8/K5NR w - - 0 1": "Black has no king",
    "8/8/8/8/8/8/1k6/K6R w - - 0 1": "kings stand next to each other",
    "8/8/8/3k4/8/8/2b5/K6R w - - 0 1": "this is KRKB",
    "8/8/8/3k4/8/8/2q5/K6R w - - 0 1": "chess:KQKR",
    "8/8/8/3k4/8/8/8/K6R w - e6 0 1": "passed e6",
    "8/8/8/3k4/8/8/2n5/K6R x - - 0 1": "no FEN",
    "8/8/8/3k4/8/8/2n5/K6R": "no FEN",
    "": "no FEN",
    "8/8/8/3k4/8/8/2n5/K6R w - - zero 1": "no FEN",
    "8/8/8/3k4/8/8/2n5/K6R w - e9 0 1": "no FEN",
    "8/8/8/3k4/8/8/K6R w": "no board",
    "8/8/8/3k4/8/8/2n6/K6R w": "no board",
    "8/8/8/3k4/8/8/2x5/K6R w": "no board",
}


@pytest.mark.parametrize("text", REFUSED)
def test_other_positions_are_refused_in_one_line(text):
    with pytest.raises(PositionError) as caught:
        Chess("KRKN").read(text)
    assert REFUSED[text] in str(caught.value) and "\n" not in str(caught.value)


def test_en_passant_is_kept_only_where_it_is_legal():
    game = Chess("KPKP")
    assert game.write(game.read("8/8/8/8/3pP3/8/8/K6k b - e3 0 1")) == "8/8/8/8/3pP3/8/8/K6k b - e3 0 1"
    assert game.write(game.read("8/8/8/8/2p1P3/8/8/K6k b - e3 0 1")) == "8/8/8/8/2p1P3/8/8/K6k b - - 0 1"
    assert game.write(game.read("8/8/8/8/k2pP2R/8/8/K7 b - e3 0 1".replace("R", "1"))).split()[3] == "e3"
    both_gone = "8/8/8/8/k2pP2R/8/8/K7 b - e3 0 1"  # both pawns leave the rank, and the king is in check
    assert Chess("KRPKP").write(Chess("KRPKP").read(both_gone)).split()[3] == "-"
    for text in ("8/8/8/8/3pP3/4p3/8/K6k b - e3", "8/8/8/8/3pP3/8/8/K6k w - e3", "8/8/8/8/3pP3/8/8/K6k b - d3"):
        with pytest.raises(PositionError, match=r"passed|KPPKP"):
            Chess("KPPKP" if text.count("p") > 1 else "KPKP").read(text)


def test_fen_stays_in_its_own_colours():
    game = Chess("KRKN")
    theirs = "k6r/2N5/8/8/3K4/8/8/8 b - - 0 1"
    position, reversed_ = game.read("8/8/8/3k4/8/8/2n5/K6R w - - 0 1"), game.read(theirs)
    assert game.write(reversed_) == theirs and game.canonical(reversed_) == game.canonical(position)
    assert {game.move_name(reversed_, move) for move in game.generate_moves(reversed_)} == {"Ka7", "Kb8", "Kb7"}
    assert "Black to move" in game.show(reversed_)


def test_moves_are_read_leniently_and_refused_with_their_names():
    game = Chess("KRRK")
    position = game.read("7k/8/8/8/R6R/8/8/K7 b")
    assert game.primitive(position) == UNDECIDED
    position = game.read("6k1/8/8/8/R6R/8/8/K7 w")
    assert game.move(position, "Rad4") == game.move(position, "Ra4d4") == game.move(position, "a4d4")
    for text in ("Rd4", "d4", "Rh9", "castle", "", "O-O", "a4a1", "a4d4q"):
        with pytest.raises(MoveError, match="Rad4"):
            game.move(position, text)
    promoting = Chess("KPK").read("8/4P1k1/8/8/8/8/8/K7 w")
    assert Chess("KPK").move_name(promoting, Chess("KPK").move(promoting, "e8N")) == "e8=N+"


def test_symmetries_of_the_board_are_eight():
    images = {tuple(image_of_square(square, symmetry) for square in range(64)) for symmetry in range(8)}
    assert len(images) == 8 and all(sorted(image) == list(range(64)) for image in images)


@each_ending
def test_a_king_walks_to_the_squares_of_his_box(name):
    game = Chess(name)
    for position in random_positions(name, 50, seed=3):
        board, turn = board_of(game, position), position >> TURN & 1
        for colour, side in ((board.turn, turn), (not board.turn, 1 - turn)):
            without_king = board.copy()
            king = without_king.king(colour)
            without_king.remove_piece_at(king)
            own = without_king.occupied_co[colour]
            reached, waiting = {king}, [king]
            while waiting:
                for target in chess.SquareSet(chess.BB_KING_ATTACKS[waiting.pop()] & ~own):
                    if target not in reached and not without_king.is_attacked_by(not colour, target):
                        reached.add(target)
                        waiting.append(target)
            assert game.box(position, side) == len(reached), game.write(position)


def test_the_estimate_counts_men_and_drives_the_weaker_king_to_the_edge():
    game = Chess("KQKR")
    even, corner, middle = (
        game.read(fen) for fen in ("4k3/8/8/8/8/8/8/4K3 w", "7k/8/5K2/8/8/8/8/Q7 w", "8/8/8/3k4/8/8/8/QK6 w")
    )
    assert game.estimate(even) == 0 < 900 < game.estimate(middle) < game.estimate(corner)
    for fen in ("7k/8/5K2/8/8/8/8/Q7", "3r3k/8/5K2/8/8/8/8/Q7"):
        assert game.estimate(game.read(f"{fen} w")) == -game.estimate(game.read(f"{fen} b"))
