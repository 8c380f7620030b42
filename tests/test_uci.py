"""The UCI engine with python-chess as the client, line by line, hostile lines and files, and the rules it has for any
board."""

import os
import subprocess
from random import Random

import h5py
import pytest

from retrograde.cli.uci.engine import Engine
from retrograde.games.catalog import legacy_digest
from retrograde.games.chess import Chess
from retrograde.games.chess.anyboard import STARTING_POSITION, AnyBoard
from tests.command_line import COMMAND
from tests.forge import Forged

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
@pytest.mark.long
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
def home(solved, tmp_path_factory):
    """Return the folder of a few databases."""
    folder = tmp_path_factory.mktemp("home")
    for path in (solved("chess:KRK"), solved("chess:KPK")):
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


@pytest.fixture
def client(home):
    with engine.SimpleEngine.popen_uci([*COMMAND, "uci"], env={**os.environ, "RETROGRADE_HOME": str(home)}) as client:
        yield client


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.mark.long
def test_the_engine_against_itself_mates_when_it_says(client):
    board = chess.Board("8/8/8/8/8/2k5/1R6/K7 w - - 0 1")
    while not board.is_game_over():
        board.push(client.play(board, engine.Limit(nodes=1)).move)
    assert board.is_checkmate() and len(board.move_stack) == 31


@pytest.mark.long
def test_outside_its_tables_it_moves_legally(client):
    board, chance = chess.Board(), Random(5)
    for _ in range(60):
        if board.is_game_over():
            break
        mine = client.play(board, engine.Limit(time=0.1), info=engine.INFO_ALL) if chance.random() < 0.5 else None
        board.push(mine.move if mine else chance.choice(list(board.legal_moves)))
    assert len(board.move_stack) > 20


@pytest.mark.long
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


@pytest.mark.long
def test_infinite_waits_for_stop(ask):
    position = "position fen 8/8/8/8/8/2k5/1R6/K7 w - - 0 1"
    assert not any(line.startswith("bestmove") for line in ask(position, "go infinite"))
    assert ask(position, "go infinite", "stop", "stop")[-1].startswith("bestmove")


@pytest.mark.long
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


# Hostile


@pytest.mark.parametrize(
    "value",
    ["~nobodyhere/x", "/" + "x" * 5000, "x" * 5000, "a\0b", "~", "\x1b[2J\x07", "\udcff", "/dev/null", "  "],
    ids=lambda value: ascii(value[:12]),
)
def test_no_path_ends_it(ask, value):
    said = ask(f"setoption name DatabasePath value {value}", "position startpos", "isready", "go")
    assert "readyok" in said and said[-1].startswith("bestmove")
    assert all(line.isprintable() and len(line) < 600 for line in said)


def test_a_home_of_nobody_does_not_end_it(ask, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", "~nobodyhere/x\ny")
    said = ask("uci", "position fen 8/8/8/8/8/2k5/1R6/K7 w - - 0 1", "go")
    assert "uciok" in said and said[-1].startswith("bestmove")
    assert all(line.isprintable() for line in said)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_what_is_no_file_hinders_nothing(ask, home, tmp_path):
    os.mkfifo(tmp_path / "chess,KQK.h5")
    (tmp_path / "chess,KBNK.h5").mkdir()
    (tmp_path / "chess,KNNK.h5").write_bytes(b"junk")
    (tmp_path / "chess,KRK.h5").write_bytes((home / "chess,KRK.h5").read_bytes())
    position = "position fen 8/8/8/8/8/2k5/1R6/K7 w - - 0 1"
    for place in (tmp_path, tmp_path / "chess,KQK.h5", tmp_path / "chess,KBNK.h5"):
        said = ask(f"setoption name DatabasePath value {place}", position, "go")
        assert said[-1].startswith("bestmove")
        assert any("score mate 16" in line for line in said) == (place == tmp_path)


def test_of_two_databases_the_sound_one_answers(ask, home, tmp_path):
    """The first has the ending, and is damaged where nobody looks before a move is asked for."""
    content = bytearray((home / "chess,KRK.h5").read_bytes())
    with h5py.File(home / "chess,KRK.h5") as file:
        for number in range(file["slots"].id.get_num_chunks()):
            chunk = file["slots"].id.get_chunk_info(number)
            content[chunk.byte_offset + chunk.size // 2] ^= 255
    (tmp_path / "a.h5").write_bytes(content)
    position = "position fen 8/8/8/8/8/2k5/1R6/K7 w - - 0 1"
    said = ask(f"setoption name DatabasePath value {tmp_path}", position, "go")
    assert "damaged" in said[0] and said[-1].startswith("bestmove")
    (tmp_path / "b.h5").write_bytes((home / "chess,KRK.h5").read_bytes())
    said = ask(f"setoption name DatabasePath value {tmp_path}", position, "go")
    assert "damaged" in said[0] and "score mate 16" in said[1]


@pytest.mark.long
def test_a_database_of_the_older_format_is_read(ask, home, tmp_path):
    forged = Forged.read(home / "chess,KRK.h5")
    forged.attributes |= {"format_version": 1, "rules": legacy_digest(Chess)}
    del forged.attributes["checks"], forged.attributes["digest"], forged.parts["blocks"]
    forged.write(tmp_path / "chess,KRK.h5")
    said = ask(f"setoption name DatabasePath value {tmp_path}", "position fen 8/8/8/8/8/2k5/1R6/K7 w", "go")
    assert "score mate 16" in said[0]


def test_whatever_a_database_raises_a_move_is_made(ask, monkeypatch):
    for error in (MemoryError(), KeyError("x"), StopIteration(), RuntimeError("a\nb\x1b"), OSError(5, "no")):

        def fail(*_, error=error):
            raise error

        with monkeypatch.context() as patch:
            patch.setattr("retrograde.cli.uci.engine.open_database", fail)
            said = ask("position fen 8/8/8/8/8/2k5/1R6/K7 w - - 0 1", "go")
        assert said[-1].startswith("bestmove") and all(line.isprintable() for line in said)


BEGINNINGS = ["uci", "isready", "setoption", "ucinewgame", "position", "go", "stop", "ponderhit", "debug", "\0", ""]
WORDS = [
    "startpos", "fen", "moves", "name", "value", "DatabasePath", "Hash", "infinite", "ponder", "searchmoves", "e2e4",
    "a7a8q", "0000", "e2", "~nobodyhere", "/" * 300, "x" * 3000, "\0", "\x1b[2J", "\udcff", "é", "٣", "-1", "1e9",
    "8/8/8/8/8/2k5/1R6/K7", "8/8/8/8/8/8/8/8", "kK6/8/8/8/8/8/8/8", "9/9/9/9/9/9/9/9", "/" * 7, "w", "b", "-", "KQkq",
    "e3", "e9", "8/P7/8/8/8/2k5/8/K7", "4k3/8/8/8/8/8/8/R3K2R", "7k/8/8/8/8/8/8/KNNNNNNN", "rnbqkbnr/pppppppp/8/8",
]  # fmt: skip


def hostile_line(chance):
    if chance.random() < 0.1:
        return "".join(chr(chance.choice((chance.randrange(128), chance.randrange(0x3000)))) for _ in range(40))
    if chance.random() < 0.4:
        men = "".join(chance.choice("KkKkQRBNPqrbnp12345678////") for _ in range(chance.randrange(30)))
        return f"position fen {men} {chance.choice('wbx')} {chance.choice(WORDS)} {chance.choice(WORDS)} 0 1"
    return " ".join([chance.choice(BEGINNINGS), *chance.choices(WORDS, k=chance.randrange(8))])


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 40))])
def test_no_line_ends_it(home, monkeypatch, tmp_path, seed):
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    chance, said = Random(seed), []
    talker = Engine(said.append)
    asked = 0
    for _ in range(1000):
        line = hostile_line(chance)
        if line.split()[:1] == ["quit"]:
            continue
        assert talker.answer(line), line
        talker.answer("stop")
        asked += line.split()[:1] == ["go"]
        assert sum(answer.startswith("bestmove ") for answer in said) == asked, line
    assert all(answer.isprintable() and len(answer) < 1000 for answer in said)
    said.clear()
    talker.answer(f"setoption name DatabasePath value {home}")
    talker.answer("position fen 8/8/8/8/8/2k5/1R6/K7 w - - 0 1")
    talker.answer("go")
    talker.close()
    assert "score mate 16" in said[0]


@pytest.mark.long
def test_the_command_lives_through_anything(home):
    """As a process of its own, whose output knows ASCII only."""
    path = b"setoption name DatabasePath value "
    lines = [path + b"~nobodyhere/x", b"\xff\xfe\0", path + b"\xc3\xa9", b"position fen " + b"8" * 100_000]
    lines += [b"go", b"isready", b"quit"]
    environment = {**os.environ, "RETROGRADE_HOME": str(home), "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*COMMAND, "uci"], env=environment, input=b"\n".join(lines), capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    said = done.stdout.splitlines()
    assert said[-1] == b"readyok" and said[-2].startswith(b"bestmove")
