"""Databases of chess endings probed by a board, as python-chess probes its tables."""

import shutil
from random import Random

import chess as python_chess
import pytest

import retrograde
from retrograde.databases import NoDatabase, Outcome
from retrograde.games import PositionError
from retrograde.games.contract.game import WIN
from retrograde.solver.play.solution import Solution
from tests.helpers.solving import copy_whole

pytestmark = pytest.mark.long

LONGEST = "8/8/8/8/8/2k5/1R6/K7 b - - 0 1"
MATED = "k7/8/K7/8/8/8/8/7R w - - 0 1"  # in one
STALEMATE = "k7/1R6/K7/8/8/8/8/8 b - - 0 1"


@pytest.fixture(scope="module")
def home(solved, tmp_path_factory):
    """A folder with rook against king by the mate and by zeroing, and pawn against king by the mate."""
    folder = tmp_path_factory.mktemp("home")
    for ending in ("KRK", "KPK", "KQK"):
        shutil.copy(solved(f"chess:{ending}"), folder)
    copy_whole(solved("chess:KRK", "dtz"), folder)
    return folder


@pytest.fixture
def tables(home):
    with retrograde.open_tablebase(home) as opened:
        yield opened


def test_distances_have_the_signs_of_tables(tables):
    """The longest mate with a rook is in 16 moves: Gaviota's tables and many others."""
    assert (tables.probe_dtm(LONGEST), tables.probe_dtz(LONGEST), tables.probe_wdl(LONGEST)) == (-32, -32, -2)
    assert (tables.probe_dtm(MATED), tables.probe_dtz(MATED), tables.probe_wdl(MATED)) == (1, 1, 2)
    assert (tables.probe_dtm(STALEMATE), tables.probe_dtz(STALEMATE), tables.probe_wdl(STALEMATE)) == (0, 0, 0)


def test_boards_of_python_chess_are_probed_of_either_colour(tables):
    board = python_chess.Board(MATED)
    mirrored = board.mirror()
    assert tables.probe_dtm(board) == tables.probe_dtm(mirrored) == 1
    board.push_uci("h1h8")
    assert board.is_checkmate()
    assert (tables.probe_dtm(board), tables.probe_dtz(board), tables.probe_wdl(board)) == (0, -1, -2)


def test_a_board_is_probed_as_its_fen_is(tables):
    """Also boards with a pawn on a wrong rank, kings in check or side by side, and too few or too many kings."""
    dice, told = Random(1), []
    for _ in range(600):
        board = python_chess.Board(None)
        men = dice.choice(["KRk", "Kkr", "KPk", "Kkp", "KQk", "KBk", "Kkk", "Kk", "KRPk"])
        for square, man in zip(dice.sample(range(64), len(men)), men, strict=True):
            board.set_piece_at(square, python_chess.Piece.from_symbol(man))
        board.turn = dice.random() < 0.5
        answers = []
        for asked in (board, board.fen()):
            try:
                answers.append(tables.probe_dtm(asked))
            except (NoDatabase, PositionError) as error:
                answers.append(f"{type(error).__name__}: {error}")
        assert answers[0] == answers[1]
        told.append(answers[0])
    assert sum(isinstance(answer, int) and answer != 0 for answer in told) > 100
    assert {str(answer).partition(":")[0] for answer in told} > {"NoDatabase", "PositionError"}


def test_best_play_by_the_tables_mates_when_they_say(tables):
    """Of the legal moves, as python-chess knows them, each leads to what follows from the distance before."""
    board = python_chess.Board(LONGEST)
    for left in range(32, 0, -1):
        told = tables.probe_dtm(board)
        assert told == (-left if board.turn == python_chess.BLACK else left)
        after = []
        for move in board.legal_moves:
            board.push(move)
            captured = len(board.piece_map()) == 2
            after.append((0 if captured else tables.probe_dtm(board), board.is_checkmate(), move.uci()))
            board.pop()
        if board.turn == python_chess.WHITE:
            winning = [(dtm, mate, move) for dtm, mate, move in after if mate or dtm < 0]
            dtm, _, move = max(winning)
            assert -dtm == left - 1
        else:
            dtm, _, move = max(after)
            assert all(one[0] > 0 for one in after) and dtm == left - 1
        board.push_uci(move)
    assert board.is_checkmate()


def test_what_is_not_there_is_said(tables, home):
    for board, what in [
        ("8/8/8/8/8/2k5/1B6/K7 b", "no database of KBK in .*; make one with: retrograde solve chess:KBK"),
        (python_chess.Board(), "32 men are on the board"),
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "castling"),
    ]:
        with pytest.raises(NoDatabase, match=what):
            tables.probe_dtm(board)
        assert tables.get_dtm(board) is None
        assert tables.get_wdl(board, 7) == 7
    with pytest.raises(NoDatabase, match="retrograde solve chess:KRK --metric dtc"):
        tables.probe_dtc(LONGEST)
    assert tables.get_dtz("8/8/8/8/1P6/2k5/8/K7 w") is None and tables.get_dtm("8/8/8/8/1P6/2k5/8/K7 w") is not None
    with pytest.raises(NoDatabase, match="make databases with"):
        retrograde.open_tablebase(home / "nowhere")


def test_what_is_no_position_is_said(tables):
    for board in ("x", "8/8/8/8/8/2k5/1R6/8 b", "k7/8/1K6/8/8/8/8/R7 w"):  # the last: Black is in check
        with pytest.raises(PositionError, match=r"FEN|legal"):
            tables.get_dtm(board)
    with pytest.raises(TypeError, match="not int"):
        tables.probe_dtm(3)


def test_a_damaged_database_is_named(home, tmp_path):
    path = tmp_path / "chess,KRK.h5"
    content = bytearray((home / path.name).read_bytes())
    content[len(content) // 2 :] = bytes(len(content) - len(content) // 2)
    path.write_bytes(content)
    with retrograde.open_tablebase(tmp_path) as tables, pytest.raises(Exception, match="KRK"):
        tables.probe_dtm(LONGEST)


def test_of_a_win_that_may_come_too_late_nothing_is_said(tables, monkeypatch):
    """Where mate is farther than the rule allows, and how far zeroing is nobody knows."""
    board = "8/8/8/8/1P6/2k5/8/K7 w"
    monkeypatch.setattr(Solution, "value", lambda self, position: Outcome(WIN, 101))
    assert tables.probe_dtm(board) == 101
    with pytest.raises(NoDatabase, match="retrograde solve chess:KPK --metric dtz"):
        tables.probe_wdl(board)
