"""The whole game of chess against published counts of lines and against python-chess, a test-only oracle."""

from random import Random

import numpy as np
import pytest
from numba import njit

from retrograde.games import DRAW, LOSE, UNDECIDED, MoveError, PositionError
from retrograde.games.catalog import load_game, named_game, variant
from retrograde.games.chess.anyboard import STARTING_POSITION
from retrograde.solver.conformance.check import precheck
from retrograde.solver.rules.expansion import Expander
from retrograde.solver.rules.ports import rules_for
from retrograde.solver.rules.positions import as_position
from retrograde.solver.search.counting import count_lines
from retrograde.solver.search.depth.scores import DECIDED, FAR
from retrograde.solver.search.depth.searcher import QUIESCENCE, ValueSearch
from retrograde.solver.search.probing.tables import LoadedTables
from retrograde.solver.search.trees import tree as trees
from tests.helpers.command_line import retrograde
from tests.helpers.marks import thorough_but

chess = pytest.importorskip("chess")

GAME = load_game("chess")
PERFT = {
    STARTING_POSITION: (20, 400, 8902, 197281, 4865609),
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1": (48, 2039, 97862, 4085603, 193690690),
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1": (14, 191, 2812, 43238, 674624),
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1": (6, 264, 9467, 422333, 15833292),
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8": (44, 1486, 62379, 2103487, 89941194),
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10": (46, 2079, 89890, 3894594, 164075551),
}
"""Lines of one to five plies from the six positions of the Chess Programming Wiki, "Perft Results"."""
each_position = pytest.mark.parametrize(
    ("fen", "lines"), thorough_but(PERFT.items(), *list(PERFT.items())[::3]), ids=range(1, 7)
)


def random_games(positions, seed=0, plies=400):
    """Yield about so many positions of random games from the six positions, as ours and as python-chess' board."""
    random, seen = Random(seed), 0
    while seen < positions:
        board = chess.Board(random.choice([*PERFT]))
        position = GAME.read(board.fen())
        for _ in range(random.randrange(plies)):
            yield position, board
            seen += 1
            if GAME.primitive(position) != UNDECIDED:
                break
            move = random.choice([*GAME.generate_moves(position)])
            board.push_uci(GAME.uci(move))
            position = GAME.do_move(position, move)


def fen_of(board):
    """Return the FEN of python-chess without the number of the move, which our positions do not hold."""
    return board.fen(en_passant="legal").rsplit(maxsplit=1)[0]


# Counts of lines


@each_position
def test_lines_of_two_plies_are_as_published_in_plain_python(fen, lines):
    start = GAME.read(fen)
    children = [GAME.do_move(start, move) for move in GAME.generate_moves(start)]
    assert len(children) == lines[0]
    assert sum(1 for child in children for _ in GAME.generate_moves(child)) == lines[1]


@pytest.mark.long
@each_position
def test_lines_of_three_plies_are_as_published(fen, lines):
    assert [count.lines for count in count_lines(GAME, GAME.read(fen), 3)] == [1, *lines[:3]]


@pytest.mark.slow
@each_position
def test_lines_of_five_plies_are_as_published(fen, lines):
    @njit
    def perft(game, position, plies):
        lines = 0
        for move in game.generate_moves(position):
            lines += 1 if plies == 1 else perft(game, as_position(game.do_move(position, move)), plies - 1)
        return lines

    assert [perft(rules_for(GAME), GAME.read(fen), plies) for plies in range(1, 6)] == [*lines]


# Against python-chess


def test_moves_and_ends_are_those_of_another_program():
    for position, board in random_games(1000):
        assert {*map(GAME.uci, GAME.generate_moves(position))} == {move.uci() for move in board.legal_moves}
        assert GAME.in_check(position) == board.is_check()
        value = GAME.primitive(position)
        assert (value == LOSE) == board.is_checkmate()
        drawn = board.is_stalemate() or board.is_insufficient_material() or board.halfmove_clock >= 100
        assert (value == DRAW) == (drawn and not board.is_checkmate())


def test_positions_and_moves_have_the_texts_of_another_program():
    for position, board in random_games(60, seed=1):
        assert GAME.write(position).rsplit(maxsplit=1)[0] == fen_of(board)
        assert GAME.read(GAME.write(position)) == position
        assert GAME.draw_pieces(position) == "".join(str(board).split())
        moves = [*GAME.generate_moves(position)]
        for move in moves:
            assert GAME.zeroes(position, move) == board.is_zeroing(chess.Move.from_uci(GAME.uci(move)))
        if moves:
            san = board.san(chess.Move.from_uci(GAME.uci(moves[-1])))
            assert GAME.move_name(position, moves[-1]) == san
            assert GAME.move(position, san) == GAME.move(position, GAME.uci(moves[-1])) == moves[-1]


@pytest.mark.long
def test_compiled_rules_are_those_of_plain_python():
    positions = [position for position, _ in random_games(500, seed=2)]
    Expander(GAME).spot_check(GAME.tier(GAME.start), np.array(positions))


@pytest.mark.parametrize(
    ("fen", "value", "ending"),
    [
        ("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", LOSE, "checkmate"),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", DRAW, "stalemate"),
        ("8/8/4k3/8/8/3B4/3BK3/8 w - - 0 1", UNDECIDED, None),  # bishops on squares of both colours
        ("8/8/4k3/8/1B6/8/3BK3/8 w - - 0 1", DRAW, "a dead position, no mate is possible"),
        ("8/8/4k3/8/8/8/3NK3/8 w - - 0 1", DRAW, "a dead position, no mate is possible"),
        ("4k3/8/8/8/8/8/4R3/4K3 b - - 100 80", DRAW, "draw by the fifty-move rule"),
        ("4k3/8/8/8/8/8/4R3/4K3 b - - 99 80", UNDECIDED, None),
        ("4k3/4Q3/4K3/8/8/8/8/8 b - - 100 80", LOSE, "checkmate"),  # mate comes before the rule
    ],
)
def test_a_game_ends_as_the_laws_say(fen, value, ending):
    position = GAME.read(fen)
    assert GAME.primitive(position) == value
    assert value == UNDECIDED or GAME.ending(position) == ending
    assert [*map(GAME.draw_pieces(position).__getitem__, GAME.draw_end(position))] == (
        [GAME.draw_turn(position)] if value == LOSE else []
    )


# As a game of the catalogue


def test_chess_without_options_is_the_whole_game():
    assert variant(GAME) == "chess" and named_game("chess") == GAME and GAME.start == GAME.read(STARTING_POSITION)
    assert variant(load_game("chess:KRK")) == "chess:KRK"
    precheck(GAME).require_ok()


def test_a_picture_gives_kings_and_rooks_at_home_their_rights():
    assert GAME.read_pieces(GAME.draw_pieces(GAME.start), "K") == GAME.start
    position = GAME.read_pieces("....k..r" + "." * 48 + "R...KR..", "k")
    assert position == GAME.read("4k2r/8/8/8/8/8/8/R3KR2 b Qk - 0 1")


def test_faulty_texts_are_refused():
    with pytest.raises(PositionError, match="Chess960"):
        GAME.read("1r2k3/8/8/8/8/8/8/4K3 b b - 0 1")
    with pytest.raises(PositionError, match="not to move is in check"):
        GAME.read("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1")
    with pytest.raises(PositionError, match="no pawn can just have passed e6"):
        GAME.read("4k3/8/8/3P4/8/8/8/4K3 w - e6 0 1")
    with pytest.raises(MoveError, match="no move 'e2e5'"):
        GAME.move(GAME.start, "e2e5")


def test_lines_are_counted_from_a_fen():
    said = retrograde("count", "chess", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "--plies", "1").stdout
    assert "6 lines of 1 ply" in said


# Search


def slow_search(position, depth):
    """Return the score of a position by negamax, with no cutoffs, no table and no order of moves."""
    value = GAME.primitive(position)
    if value != UNDECIDED:
        return -FAR if value == LOSE else 0
    moves, scores = [*GAME.generate_moves(position)], []
    if depth <= 0 and (depth == -QUIESCENCE or not GAME.in_check(position)):
        scores = [GAME.estimate(position)]
        moves = [move for move in moves if depth > -QUIESCENCE and GAME.promise(position, move) > 0]
    for move in moves:
        score = -slow_search(GAME.do_move(position, move), depth - 1)
        scores.append(score - 1 if score > DECIDED else score + 1 if score < -DECIDED else score)
    return max(scores)


@pytest.mark.long
@pytest.mark.parametrize("positions", [pytest.param(count, marks=pytest.mark.thorough) for count in (5, 1000)])
def test_search_with_cutoffs_table_and_exchanges_is_slow_search(positions, monkeypatch):
    monkeypatch.setattr(f"{__name__}.QUIESCENCE", 2)
    search = ValueSearch(GAME)
    search.scoring = search.scoring._replace(quiescence=2)
    seen = 0
    for position, board in random_games(positions, seed=3):
        if GAME.primitive(position) == UNDECIDED and board.legal_moves.count() < 12:
            seen += 1
            for depth in (1, 2):
                assert search.find(position, depth).score == slow_search(position, depth)
    assert seen > positions // 20


def test_the_quiescence_tree_is_slow_search(monkeypatch):
    """`slow_search` has no cutoffs. The tree has `QUIESCENCE` plies of exchanges, too."""
    monkeypatch.setattr(f"{__name__}.QUIESCENCE", trees.QUIESCENCE)
    further = 0
    for position, board in random_games(25, seed=5):
        if GAME.primitive(position) == UNDECIDED and board.legal_moves.count() < 12:
            *_, tree = trees.trees_of(GAME, position, 1).drawn
            if tree.name.startswith("quiescence"):
                score = slow_search(position, 1)
                assert tree.root.value == score or abs(score) > DECIDED < abs(tree.root.value)
                further += any(node.estimated and node.children for node in tree.root.nodes())
    assert further > 3


def mirrored(fen):
    """Return the FEN of the same position for the other side."""
    return chess.Board(fen).mirror().fen()


def test_both_sides_estimate_alike():
    for position, board in random_games(100, seed=4):
        other = GAME.read(mirrored(board.fen()))
        assert GAME.estimate(position) == GAME.estimate(other)
        assert sorted(GAME.promise(position, move) for move in GAME.generate_moves(position)) == (
            sorted(GAME.promise(other, move) for move in GAME.generate_moves(other))
        )


@pytest.mark.long
@pytest.mark.parametrize(
    ("fen", "depth", "best"),
    [
        ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", 1, "Rd8#"),
        ("r1b1kb1r/pppp1ppp/5q2/4n3/3KP3/2N3PN/PPP4P/R1BQ1B1R b kq - 0 1", 5, "Bc5+"),  # mate in three
        ("4k3/8/8/3q4/8/2N5/8/4K3 w - - 0 1", 1, "Nxd5"),
        ("4k3/2p5/3p4/8/8/8/3R4/4K3 w - - 0 1", 1, None),  # the pawn is defended: no rook takes it
    ],
)
def test_search_finds_mates_and_counts_what_is_taken_back(fen, depth, best):
    position = GAME.read(fen)
    found = GAME.move_name(position, ValueSearch(GAME, tables=LoadedTables(GAME)).find(position, depth).move)
    assert found == best if best else found != "Rxd6"
