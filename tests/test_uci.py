"""The UCI engine with python-chess as the client, line by line, and the rules it has for any board."""

import os
from random import Random

import pytest

from retrograde.games.chess.anyboard import STARTING_POSITION, AnyBoard
from retrograde.solver.uci import Engine
from tests.command_line import COMMAND

chess = pytest.importorskip("chess")
engine = pytest.importorskip("chess.engine")

PERFT = [
    # positions and counts: https://www.chessprogramming.org/Perft_Results
    (STARTING_POSITION, 3, 8_902),
    ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 2, 2_039),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 3, 2_812),
    ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 2, 264),
    ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 2, 1_486),
]


def leaves(board, depth):
    """Return how many positions there are after so many plies."""
    moves = board.moves()
    return len(moves) if depth == 1 else sum(leaves(board.after(move), depth - 1) for move in moves)


@pytest.mark.parametrize(("fen", "depth", "count"), PERFT)
def test_perft(fen, depth, count):
    assert leaves(AnyBoard.from_fen(fen), depth) == count


@pytest.mark.parametrize("seed", range(6))
def test_moves_on_any_board_are_those_of_python_chess(seed):
    chance = Random(seed)
    theirs, ours = chess.Board(), AnyBoard.from_fen(STARTING_POSITION)
    for _ in range(150):
        legal = sorted(move.uci() for move in theirs.legal_moves)
        assert sorted(ours.moves()) == legal, theirs.fen()
        assert ours.fen().split()[:4] == theirs.fen(en_passant="legal").split()[:4]
        if not legal:
            break
        move = chance.choice(legal)
        theirs.push_uci(move)
        ours = ours.after(move)


# With a client


@pytest.fixture(scope="module")
def home(solved):
    """Return the folder of a few databases."""
    solved("chess:KRK")
    return solved("chess:KPK").parent


@pytest.fixture
def client(home):
    with engine.SimpleEngine.popen_uci([*COMMAND, "uci"], env={**os.environ, "RETROGRADE_HOME": str(home)}) as client:
        yield client


def test_analysis(client):
    def analyse(fen):
        return client.analyse(chess.Board(fen), engine.Limit(time=1))

    info = analyse("8/8/8/8/8/2k5/1R6/K7 w - - 0 1")
    assert info["score"] == engine.PovScore(engine.Mate(16), chess.WHITE)
    assert len(info["pv"]) == 31
    info = analyse("8/8/8/8/8/2k5/1R6/K7 b - - 0 1")
    assert info["score"] == engine.PovScore(engine.Mate(-16), chess.BLACK)
    info = analyse("8/8/8/8/1K6/8/p7/2k5 b - - 0 1")  # colours reversed, and a promotion in the line
    assert info["score"].black().is_mate() and any(move.promotion for move in info["pv"])
    assert analyse("8/8/8/8/8/1k6/1p6/1K6 w - - 0 1")["score"] == engine.PovScore(engine.Cp(0), chess.WHITE)


def test_a_game_against_the_engine(client):
    board = chess.Board("8/8/8/8/8/2k5/1R6/K7 w - - 0 1")
    chance = Random(1)
    while not board.is_game_over():
        if board.turn == chess.WHITE:
            result = client.play(board, engine.Limit(time=1))
            board.push(result.move)
        else:
            board.push(chance.choice(list(board.legal_moves)))
    assert board.is_checkmate() and len(board.move_stack) <= 31


def test_the_engine_against_itself_mates_when_it_says(client):
    board = chess.Board("8/8/8/8/8/2k5/1R6/K7 w - - 0 1")
    while not board.is_game_over():
        board.push(client.play(board, engine.Limit(nodes=1)).move)
    assert board.is_checkmate() and len(board.move_stack) == 31


def test_outside_its_tables_it_moves_legally(client):
    board, chance = chess.Board(), Random(5)
    for _ in range(60):
        if board.is_game_over():
            break
        mine = client.play(board, engine.Limit(time=0.1), info=engine.INFO_ALL) if chance.random() < 0.5 else None
        board.push(mine.move if mine else chance.choice(list(board.legal_moves)))
    assert len(board.move_stack) > 20


def test_database_path(home, tmp_path):
    elsewhere = {**os.environ, "RETROGRADE_HOME": str(tmp_path)}
    with engine.SimpleEngine.popen_uci([*COMMAND, "uci"], env=elsewhere) as client:
        board = chess.Board("8/8/8/8/8/2k5/1R6/K7 w - - 0 1")
        assert "score" not in client.analyse(board, engine.Limit(time=1))
        client.configure({"DatabasePath": str(home)})
        assert client.analyse(board, engine.Limit(time=1))["score"].white().mate() == 16
        client.configure({"DatabasePath": str(home / "chess,KPK.h5")})  # it has what a pawn may become
        assert client.analyse(board, engine.Limit(time=1))["score"].white().mate() == 16


# Line by line


@pytest.fixture
def ask(home, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(home))

    def answers(*lines):
        said = []
        talker = Engine(said.append)
        going = [talker.answer(line) for line in lines]
        assert all(going) == ("quit" not in lines)
        talker.close()
        return said

    return answers


def test_greeting(ask):
    said = ask("uci", "isready", "quit")
    assert said[0] == "id name retrograde" and said[-2:] == ["uciok", "readyok"]
    assert any(line.startswith("option name DatabasePath type string") for line in said)


def test_infinite_waits_for_stop(ask):
    position = "position fen 8/8/8/8/8/2k5/1R6/K7 w - - 0 1"
    assert not any(line.startswith("bestmove") for line in ask(position, "go infinite"))
    assert ask(position, "go infinite", "stop", "stop")[-1].startswith("bestmove")


def test_moves_lead_to_an_ending(ask):
    said = ask("position fen 8/8/8/8/8/2k5/1R5q/K7 w - - 0 1 moves b2h2", "go")
    assert said[0].startswith("info depth") and "score mate -" in said[0]


def test_searchmoves(ask):
    said = ask("position fen 8/8/8/8/8/2k5/1R6/K7 w - - 0 1", "go searchmoves b2b8 b2b7")
    assert said[-1] in ("bestmove b2b8", "bestmove b2b7")


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["position fen foo", "go"], "info string no FEN"),
        (["position startpos moves e2e5"], "info string no legal move 'e2e5'"),
        (["position fen 8/8/8/8/8/2k5/1Q6/K7 w - - 0 1"], "info string no legal position"),
        (["position startpos", "go"], "info string 32 men are on the board"),
        (["position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1", "go"], "info string no database knows castling"),
        (["position fen 4k3/8/8/8/8/8/8/3QK2r w - - 0 1", "go"], "info string no database of KQKR in"),
        (["setoption name Hash value 12"], "info string no option 'Hash'; there is DatabasePath"),
        (["setoption name DatabasePath value /no/where"], "info string there is no '/no/where'"),
        (["position fen R6k/8/7K/8/8/8/8/8 b - - 0 1", "go"], "info depth 0 score mate 0"),
        (["position fen 7k/8/6Q1/8/8/8/8/K7 b - - 0 1", "go"], "info depth 0 score cp 0"),
    ],
)
def test_what_it_says(ask, lines, answer):
    said = ask(*lines)
    assert said[0].startswith(answer), said
    if lines[-1] == "go":
        assert said[-1].startswith("bestmove")


def test_what_is_not_understood_is_passed_over(ask):
    assert ask("", "xyzzy", "register later", "debug on", "ponderhit", "stop") == []
