"""The UCI engine with python-chess as the client, line by line, hostile lines and files, and the rules it has for any
board."""

import os
import subprocess
import threading
from concurrent.futures import Future
from contextlib import ExitStack
from importlib.metadata import version
from random import Random
from time import perf_counter, process_time, sleep

import h5py
import psutil
import pytest

from retrograde.cli.uci import deepening, searches
from retrograde.cli.uci.clock import Clock, ClockLimits
from retrograde.cli.uci.deepening import key_of
from retrograde.cli.uci.engine import SPINS, Engine
from retrograde.cli.uci.lines import Prober
from retrograde.cli.uci.searches import LEAST_TABLE
from retrograde.cli.uci.twoply import best_by_two_plies
from retrograde.databases import open_database
from retrograde.games.chess import Chess
from retrograde.games.chess.anyboard import STARTING_POSITION, AnyBoard
from retrograde.games.chess.san import uci
from retrograde.games.contract.game import DRAW, WIN
from retrograde.solver.engine import solve
from retrograde.solver.play.match import random_position
from retrograde.solver.play.solution import Solution
from tests.helpers.command_line import COMMAND, LATE, Child
from tests.helpers.marks import thorough, thorough_but
from tests.helpers.paths import ROOT
from tests.helpers.solving import copy_whole, in_one_file

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


@pytest.mark.parametrize("seed", thorough_but(range(6), 0, 1))
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
        copy_whole(path, folder)
    return folder


@pytest.fixture(scope="module")
def pawn(tmp_path_factory):
    """Return a database that has what a pawn may become as well."""
    with in_one_file():
        return solve(Chess("KPK"), tmp_path_factory.mktemp("one") / "chess,KPK.h5")


@pytest.fixture(scope="module")
def client(home):
    """One engine for all tests: each that starts makes the rules of chess ready anew."""
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


@pytest.mark.thorough
def test_the_engine_against_itself_mates_when_it_says(client):
    board = chess.Board("8/8/8/8/8/2k5/1R6/K7 w - - 0 1")
    while not board.is_game_over():
        board.push(client.play(board, engine.Limit(nodes=1)).move)
    assert board.is_checkmate() and len(board.move_stack) == 31


@pytest.mark.thorough
@pytest.mark.long
def test_outside_its_tables_it_moves_legally(client):
    board, chance = chess.Board(), Random(5)
    for _ in range(60):
        if board.is_game_over():
            break
        mine = client.play(board, engine.Limit(time=0.1), info=engine.INFO_ALL) if chance.random() < 0.5 else None
        board.push(mine.move if mine else chance.choice(list(board.legal_moves)))
    assert len(board.move_stack) == 60 or board.is_game_over()


@pytest.mark.thorough
def test_database_path(home, pawn, tmp_path):
    elsewhere = {**os.environ, "RETROGRADE_HOME": str(tmp_path)}
    with engine.SimpleEngine.popen_uci([*COMMAND, "uci"], env=elsewhere) as client:
        board = chess.Board("8/8/8/8/8/2k5/1R6/K7 w - - 0 1")
        assert client.analyse(board, engine.Limit(time=1))["score"].white().mate() is None
        client.configure({"DatabasePath": str(home)})
        assert client.analyse(board, engine.Limit(time=1))["score"].white().mate() == 16
        client.configure({"DatabasePath": str(pawn)})
        assert client.analyse(board, engine.Limit(time=1))["score"].white().mate() == 16


# Options, lines and the clock


@pytest.fixture(scope="module")
def queens(solved, home):
    """Return the folder with an ending in which mate is far."""
    copy_whole(solved("chess:KQKR"), home)
    return home


def furthest(solved):
    """Return the position of KQKR with the longest way to mate, as FEN, and the plies."""
    with Solution(open_database(solved("chess:KQKR"))) as solution:
        row = max((row for row in solution.database.file.legend if row.value == WIN), key=lambda row: row.remoteness)
        return solution.game.write(row.example), row.remoteness


@pytest.mark.thorough
def test_lines_are_whole(queens, solved, client):
    fen, plies = furthest(solved)
    assert plies > 61
    info = client.analyse(chess.Board(fen), engine.Limit(depth=1))
    board = chess.Board(fen)
    for move in info["pv"]:
        board.push(move)  # raises where it is illegal
    assert board.is_checkmate() and len(info["pv"]) == info["depth"] == plies
    assert info["score"].relative.mate() == (plies + 1) // 2
    assert info["tbhits"] == info["nodes"] >= plies


@pytest.mark.long
def test_several_lines(queens, solved, client):
    """The best moves as the solution ranks them, each with its own line; all that there are where more are wanted."""
    fen, _ = furthest(solved)
    board = chess.Board(fen)
    with Solution(open_database(solved("chess:KQKR"))) as solution:
        position = solution.game.read(fen)
        ranked = solution.moves(position)
    for wanted in (1, 3, 100):
        infos = client.analyse(board, engine.Limit(depth=1), multipv=wanted)
        assert len(infos) == min(wanted, len(ranked))
        assert [info["multipv"] for info in infos] == list(range(1, len(infos) + 1))
        assert [board.san(info["pv"][0]) for info in infos] == [choice.name for choice in ranked[: len(infos)]]
        for info, choice in zip(infos, ranked, strict=False):
            after = board.copy()
            for move in info["pv"]:
                after.push(move)
            assert after.is_checkmate() == (choice.value != DRAW)
            assert choice.value == DRAW or len(info["pv"]) == choice.remoteness + 1


@pytest.mark.parametrize(
    "fen",
    [
        "8/8/8/8/8/2k5/8/K7 w - - 0 1",
        "8/8/8/8/8/8/8/KBk5 b - - 0 1",
        "8/8/8/8/8/8/8/KNk5 w - - 12 1",
        "8/8/8/8/8/3b4/8/KBk5 w - - 0 1",  # bishops on one colour, and no database
    ],
)
def test_in_a_dead_position_every_move_is_a_draw(ask, fen):
    """For the rules of endings the game is over, but a program may go on. There is no remark, such as of a database."""
    position, legal = f"position fen {fen}", [move.uci() for move in chess.Board(fen).legal_moves]
    told, best = ask(position, "go movetime 500")
    assert " score cp 0 " in told and best == f"bestmove {told.split(' pv ')[1]}" and best.split()[1] in legal
    *lines, best = ask("setoption name MultiPV value 500", position, "go")
    assert [line.split(" multipv ")[1].split()[0] for line in lines] == [str(n + 1) for n in range(len(legal))]
    assert sorted(line.split(" pv ")[1] for line in lines) == sorted(legal) and " score cp 0 " in lines[-1]
    assert ask(position, f"go searchmoves {legal[-1]}")[-1] == f"bestmove {legal[-1]}"


def test_searchmoves_and_several_lines(ask):
    position = "position fen 8/8/8/8/8/2k5/1R6/K7 w - - 0 1"
    said = ask("setoption name multipv value 5", position, "go searchmoves b2b8 b2b7 a1a2")
    assert {line.split(" pv ")[1].split()[0] for line in said[:-1]} == {"b2b8", "b2b7", "a1a2"}
    assert said[-1] == f"bestmove {said[0].split(' pv ')[1].split()[0]}"


@pytest.mark.long
def test_options_are_taken(client):
    assert {"Hash", "Move Overhead", "MultiPV", "DatabasePath"} <= set(client.options)
    client.configure({"Hash": 128, "Move Overhead": 50})
    board = chess.Board("8/8/8/8/8/2k5/1R6/K7 w - - 0 1")
    assert client.play(board, engine.Limit(time=1)).move in board.legal_moves


def test_a_small_table_is_for_the_whole_game_only(home, monkeypatch):
    """As the page of `uci` says: a search for a proof has a table of 16 MiB at least."""
    sizes = []
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    monkeypatch.setattr(searches, "in_background", lambda make: sizes.append(make.args) or Future())
    monkeypatch.setattr(deepening, "in_background", lambda make: sizes.append(make.args) or Future())
    talker = Engine(lambda line: None)
    for fen in ("4k3/8/8/8/8/8/8/3QK2n w - - 0 1", STARTING_POSITION):
        for line in ("setoption name Hash value 1", f"position fen {fen}", "go movetime 20"):
            talker.answer(line)
        talker.finish()
    talker.close()
    assert sizes == [("KQKN", 16), (1 << 13,)]  # MiB, and entries: 2^13 take less than a MiB, and 2^14 more
    page = (ROOT / "docs" / "commands" / "uci.md").read_text("utf-8")
    assert "in MiB, 16 by default; a search for a proof in an ending takes at least 16 |" in page
    assert (SPINS["Hash"].default, LEAST_TABLE) == (16, 16)


@pytest.mark.parametrize(
    ("words", "white", "seconds"),
    [
        ("", True, None),
        ("depth 12 nodes 1", True, None),
        ("movetime 1000", True, 0.99),
        ("movetime 12", True, 0.0),
        ("movetime -5", True, 0.0),
        ("movetime x", True, None),
        ("wtime 100 btime 60000 winc 10 binc 10", True, 0.0),
        ("wtime 100 btime 60000 winc 10 binc 10", False, 1.458),
        ("wtime 60000 btime 1 movestogo 1", True, 29.99),
        ("wtime 60000 movestogo 0", True, 29.99),
        ("wtime 300 winc 100000", True, 0.14),  # never more than half of what is left
        ("wtime -30 btime 10", True, 0.0),
    ],
)
def test_time_for_lines(words, white, seconds):
    assert ClockLimits.of(words.split(), white).seconds(10) == seconds


def test_where_time_is_short_only_the_move_is_looked_up(queens, solved, ask):
    """The line is whole, or not begun."""
    fen, plies = furthest(solved)
    for clock in ("wtime 100 btime 100 winc 10 binc 10", "movetime 1"):
        told, best = ask(f"position fen {fen}", f"go {clock}")
        assert told.split(" pv ")[1] == best.split()[1]
        assert int(told.split(" nodes ")[1].split()[0]) <= len(list(chess.Board(fen).legal_moves)) + 1
        assert f"score mate {(plies + 1) // 2}" in told
    told, best = ask(f"position fen {fen}", "go wtime 60000 btime 60000")
    assert len(told.split(" pv ")[1].split()) == plies and told.split(" pv ")[1].startswith(best.split()[1])
    told, best = ask("setoption name Move Overhead value 5000", f"position fen {fen}", "go movetime 5005")
    assert told.split(" pv ")[1] == best.split()[1]


@pytest.mark.long
def test_a_line_that_time_does_not_last_for_is_not_told(solved, monkeypatch):
    fen, plies = furthest(solved)
    with Solution(open_database(solved("chess:KQKR"))) as solution:
        prober = Prober(solution)
        best = prober.best(solution.game.read(fen))
        assert len(prober.line(best, Clock.start(None))) == plies
        times = iter(range(5000))
        monkeypatch.setattr("retrograde.cli.uci.clock.monotonic", lambda: next(times))
        assert prober.line(best, Clock.start(plies - 5)) == [best.name]
        assert len(prober.line(best, Clock.start(10_000))) == plies


@pytest.mark.long
def test_the_first_best_move_is_that_of_the_solution(solved):
    """Though not all moves are looked up."""
    chance = Random(8)
    for text in ("chess:KPK", "chess:KQKR"):
        with Solution(open_database(solved(text))) as solution:
            prober = Prober(solution)
            for _ in range(200):
                position = random_position(solution, chance)
                ranked = solution.moves(position)
                assert prober.best(position)[::2] == ranked[0][::2]
                names = chance.sample([uci(position, choice.move) for choice in ranked], min(3, len(ranked)))
                wanted = [choice.move for choice in ranked if uci(position, choice.move) in names][:2]
                assert [choice.move for choice in prober.ranked(position, names, 2)] == wanted
            assert prober.hits < 400 * 15


@pytest.mark.long
def test_an_answer_within_20_ms(queens, monkeypatch):
    """Where time is short, and whatever is known of the files is known: half of the answers at the least."""
    monkeypatch.setenv("RETROGRADE_HOME", str(queens))
    said, taken = [], []
    talker = Engine(said.append)
    talker.answer("isready")
    chance = Random(3)
    for _ in range(40):
        board = random_board(chance, "KQkr")
        began = process_time()  # of this process, whatever else the machine does
        talker.answer(f"position fen {board.fen()}")
        talker.answer("go wtime 100 btime 100 winc 10 binc 10")
        talker.finish()
        taken.append(process_time() - began)
    talker.close()
    assert sum(line.startswith("bestmove") for line in said) == 40 and "readyok" in said
    assert sorted(taken)[20] < 0.02


def test_a_game_that_goes_on_is_not_begun_anew(ask, monkeypatch):
    """A program sends all moves with every move; only what is new is made, and another game is another."""
    start = "8/8/8/8/8/2k5/1R6/K7 w - - 0 1"
    read = []
    before = AnyBoard.from_fen
    monkeypatch.setattr(AnyBoard, "from_fen", lambda fen: read.append(fen) or before(fen))
    said = []
    talker = Engine(said.append)
    read.clear()
    moves = ["b2b8", "c3c4", "a1b2", "c4d5"]
    for count in range(len(moves) + 1):
        talker.answer(f"position fen {start} moves {' '.join(moves[:count])}")
    assert read == [start]
    assert talker.board.fen() == "1R6/8/8/3k4/8/8/1K6/8 w - - 0 1"
    talker.answer(f"position fen {start} moves b2b7 c3c4")  # another way from the same start
    assert talker.board.fen() == "8/1R6/8/8/2k5/8/8/K7 w - - 0 1"
    talker.answer(f"position fen {start} moves b2b7 c3c4 a1a8")
    assert said == [
        "info string no legal move 'a1a8' in 8/1R6/8/8/2k5/8/8/K7 w - - 0 1; "
        "go is answered by bestmove 0000 until another position is sent"
    ]
    talker.answer(f"position fen {start} moves b2b7")
    assert talker.board.fen() == "8/1R6/8/8/8/2k5/8/K7 b - - 0 1"
    talker.close()


@pytest.mark.thorough
def test_a_new_game_reads_files_that_have_become_others(home, pawn, tmp_path):
    said = []
    talker = Engine(said.append)
    path = tmp_path / "chess,KRK.h5"
    path.write_bytes(pawn.read_bytes())
    lines = ("ucinewgame", "isready", "position fen 8/8/8/8/8/2k5/1R6/K7 w - - 0 1", "go")
    for line in (f"setoption name DatabasePath value {tmp_path}", *lines):
        talker.answer(line)
    talker.finish()
    assert any("score mate 16" in line for line in said)  # KPK knows rooks
    kept = list(talker.tables.solutions.values())
    talker.answer("ucinewgame")
    assert list(talker.tables.solutions.values()) == kept
    path.unlink()
    said.clear()
    for line in lines:
        talker.answer(line)
    talker.finish()
    assert "no database of KRK" in said[1]
    path.write_bytes((home / "chess,KRK.h5").read_bytes())
    said.clear()
    for line in lines:
        talker.answer(line)
    talker.close()
    assert "score mate 16" in said[1]


def random_board(chance, men):
    """Return a legal position by chance in which the game goes on."""
    while True:
        board = chess.Board(None)
        for square, man in zip(chance.sample(chess.SQUARES, len(men)), men, strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(man))
        board.turn = chance.random() < 0.5
        if board.is_valid() and not board.is_game_over():
            return board


def own_time(player):
    """Return the seconds that an engine has computed."""
    times = psutil.Process(player.transport.get_pid()).cpu_times()
    return times.user + times.system


def busy():
    """Tell whether more wants to run on this machine than can."""
    return psutil.getloadavg()[0] > psutil.cpu_count() / 2


@pytest.mark.parametrize("games", [3, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.thorough
def test_no_game_is_lost_on_time(queens, games):
    """Two engines at 0.1 s + 0.01 s a move, with python-chess as the arbiter; won games are won.

    Where others keep the machine busy, what runs is the time that the engine itself has had.
    """
    command = [*COMMAND, "uci"]
    variables = {**os.environ, "RETROGRADE_HOME": str(queens)}
    with ExitStack() as stack:
        players = [stack.enter_context(engine.SimpleEngine.popen_uci(command, env=variables)) for _ in range(2)]
        for game in range(games):
            board = random_board(Random(game), ("KRk", "KPk", "KQkr")[game % 3])
            expected = [player.analyse(board, engine.Limit(nodes=1), game=game)["score"].white() for player in players]
            clocks = {chess.WHITE: 0.1, chess.BLACK: 0.1}
            while not board.is_game_over(claim_draw=True):
                white, black = clocks[chess.WHITE], clocks[chess.BLACK]
                limit = engine.Limit(white_clock=white, black_clock=black, white_inc=0.01, black_inc=0.01)
                player = players[not board.turn]
                began, used = perf_counter(), own_time(player)
                move = player.play(board, limit, game=game).move
                passed = perf_counter() - began
                clocks[board.turn] += 0.01 - (min(passed, own_time(player) - used) if busy() else passed)
                assert clocks[board.turn] > 0.01, (game, board.fen())
                board.push(move)
            assert board.is_checkmate() == expected[0].is_mate()


# Line by line


@pytest.fixture
def ask(home, monkeypatch):
    """A function that returns what an engine says to some lines. It does not compile the rules of endings."""
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    monkeypatch.setattr(searches, "in_background", lambda make: Future())

    def answers(*lines):
        said = []
        talker = Engine(said.append)
        going = [talker.answer(line) for line in lines]
        assert all(going) == ("quit" not in lines)
        talker.finish()
        talker.close()
        return said

    return answers


def test_greeting(ask):
    said = ask("uci", "isready", "quit")
    assert said[0] == f"id name retrograde {version('retrograde')}" and said[-2:] == ["uciok", "readyok"]
    assert any(line.startswith("option name DatabasePath type string") for line in said)


def test_infinite_waits_for_stop(home, monkeypatch):
    """The best move is looked up and its line told, but `bestmove` comes after `stop`, once."""
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    said, told = [], threading.Event()
    talker = Engine(lambda line: (said.append(line), " pv " in line and told.set()))
    talker.answer("position fen 8/8/8/8/8/2k5/1R6/K7 w - - 0 1")
    talker.answer("go infinite")
    assert told.wait(60) and talker.is_thinking
    assert not any(line.startswith("bestmove") for line in said)
    for line in ("isready", "stop", "stop"):
        talker.answer(line)
    talker.close()
    assert said[-2] == "readyok" and said[-1].startswith("bestmove")
    assert sum(line.startswith("bestmove") for line in said) == 1


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
        (["position startpos moves e2e5", "go"], "info string no legal move 'e2e5'"),
        (["position fen 8/8/8/8/8/2k5/1Q6/K7 w - - 0 1", "go"], "info string no legal position"),
        (["position startpos", "go movetime 20"], "info string 32 men are on the board"),
        (["position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1", "go"], "info string no database knows castling"),
        (["position fen 4k3/8/8/8/8/8/8/3QK2n w - - 0 1", "go"], "info string no database of KQKN in"),
        (["setoption name Threads value 12"], "info string no option 'Threads'; there are DatabasePath, Hash, Move"),
        (["setoption name Hash value x"], "info string Hash must be from 1 to 33554432, not 'x'"),
        (["setoption name move  overhead value -1"], "info string Move Overhead must be from 0 to 5000, not '-1'"),
        (["setoption name DatabasePath value /no/where"], "info string there is no '/no/where'"),
        (["position fen R6k/8/7K/8/8/8/8/8 b - - 0 1", "go"], "info depth 0 score mate 0"),
        (["position fen 7k/8/6Q1/8/8/8/8/K7 b - - 0 1", "go"], "info depth 0 score cp 0"),
    ],
)
def test_what_it_says(ask, lines, answer):
    said = ask(*lines)
    assert said[0].startswith(answer), said
    if lines[-1].startswith("go"):
        assert said[-1].startswith("bestmove") and any(" score " in line for line in said)


def test_what_is_not_understood_is_passed_over(ask):
    assert ask("", "xyzzy", "register later", "debug on", "ponderhit", "stop") == []


# Without a database


@pytest.fixture
def bare(tmp_path):
    """A way to ask an engine that has no databases, but compiled rules."""
    said: list[str] = []
    talker = Engine(said.append)
    talker.answer(f"setoption name DatabasePath value {tmp_path}")
    oracle = talker.thinker.searches.compiled_in_time("KQKN", LEAST_TABLE, Clock.start(None))
    assert oracle is not None

    def ask(*lines):
        for line in lines:
            talker.answer(line)
        talker.finish()
        answers = said[:]
        said.clear()
        return answers

    ask.talker, ask.said = talker, said
    yield ask
    talker.close()


@pytest.mark.thorough
@pytest.mark.long
def test_a_mate_is_found_by_search(bare):
    """With the queen guarded by the king, in one move; with a knight looking on, too."""
    told = bare("position fen 7k/8/5KQ1/8/8/8/8/n7 w - - 0 1", "go movetime 60000")
    assert told[0].startswith("info string no database of KQKN in ") and "searching; make one with" in told[0]
    assert any("score mate 1 nodes" in line and " time " in line for line in told)
    board = chess.Board("7k/8/5KQ1/8/8/8/8/n7 w - - 0 1")
    board.push_uci(told[-1].split()[1])
    assert board.is_checkmate()


@pytest.mark.thorough
@pytest.mark.long
def test_stop_ends_a_long_search_for_good(bare):
    """The thread of the search ends as well: else the process could not, and the next search would wait."""
    talker, said = bare.talker, bare.said
    talker.answer("position fen 4k3/8/8/8/8/8/8/3QK2n w - - 0 1")
    for _ in range(2):
        said.clear()
        talker.answer("go movetime 600000")
        limit = perf_counter() + LATE
        while not any(line.startswith("info nodes") for line in said) and perf_counter() < limit:
            sleep(0.02)
        talker.answer("stop")
        assert said[-1].startswith("bestmove ")
        talker.thinker.searches.searching.result(20)


@pytest.mark.thorough
@pytest.mark.long
@pytest.mark.parametrize("clock", ["movetime 800", "movetime 1500", "wtime 2400 btime 100 movestogo 1", "movetime 50"])
def test_a_search_never_takes_longer_than_the_clock_allows(bare, clock):
    allowed = {"800": 0.8, "1500": 1.5, "2400": 1.2, "50": 0.05}[clock.split()[1]]
    began = perf_counter()
    told = bare("position fen 4k3/8/8/8/8/8/8/3QK2n w - - 0 1", f"go {clock}")
    assert busy() or perf_counter() - began < allowed + 2
    board = chess.Board("4k3/8/8/8/8/8/8/3QK2n w - - 0 1")
    assert chess.Move.from_uci(told[-1].split()[1]) in board.legal_moves


@pytest.mark.thorough
@pytest.mark.long
def test_moves_that_are_asked_for_alone_are_searched(bare):
    told = bare("position fen 4k3/8/8/8/8/8/8/3QK2n w - - 0 1", "go movetime 700 searchmoves e1f1 e1e2")
    assert told[-1] in ("bestmove e1f1", "bestmove e1e2")


@pytest.fixture
def compiling(tmp_path, monkeypatch):
    """An engine without databases whose rules are never compiled, and what it says."""
    monkeypatch.setattr(searches, "in_background", lambda make: Future())
    said: list[str] = []
    talker = Engine(said.append)
    talker.answer(f"setoption name DatabasePath value {tmp_path}")
    yield talker, said
    talker.close()


@pytest.mark.parametrize("go", ["go movetime 400", *map(thorough, ("go", "go depth 5")), "go wtime 100 btime 100"])
def test_compiling_never_holds_back_a_move(compiling, go):
    talker, said = compiling
    talker.answer("position fen 4k3/8/8/8/8/8/8/3QK2n w - - 0 1")
    talker.answer(go)
    talker.finish()
    assert "info string the rules are being compiled; until then the engine looks two plies ahead" in said
    assert "info depth 2 score cp " in said[-2] and said[-1].startswith("bestmove ")


@pytest.mark.parametrize("last", ["stop", "quit"])
def test_stop_and_quit_end_an_infinite_search_while_rules_are_compiled(compiling, last):
    talker, said = compiling
    talker.answer("position fen 4k3/8/8/8/8/8/8/3QK2n w - - 0 1")
    talker.answer("go infinite")
    talker.answer("isready")
    assert said[-1] == "readyok" and talker.is_thinking
    assert talker.answer(last) == (last == "stop")
    assert said[-1].startswith("bestmove ") and " score cp " in said[-2]


# The whole game


def searched(ask, *lines):
    """Return the move of the last `go`, and the words of the info lines of its depths."""
    said = ask("ucinewgame", "isready", *lines)
    return said[-1].split()[1], [line.split() for line in said if line.startswith("info depth")]


@pytest.mark.long
def test_the_whole_game_is_searched_deeper_and_deeper(ask):
    move, told = searched(ask, "position startpos moves e2e4", "go depth 3")
    assert [words[2] for words in told] == ["1", "2", "3"]
    assert [words[3:4] + words[6:7] + words[8:9] for words in told] == [["score", "nodes", "nps"]] * 3
    assert int(told[-1][7]) > int(told[0][7]) >= 20
    for words in told:
        board = chess.Board("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1")
        for line in words[words.index("pv") + 1 :]:
            board.push_uci(line)
    assert move == told[-1][told[-1].index("pv") + 1]


@pytest.mark.long
@pytest.mark.parametrize(
    ("setup", "go", "best", "score"),
    [
        ("fen r1b1kb1r/pppp1ppp/5q2/4n3/3KP3/2N3PN/PPP4P/R1BQ1B1R b kq - 0 1", "depth 6", "f8c5", "mate 3"),
        ("fen 6k1/6pp/8/8/8/8/r6P/1q4BK b - - 0 1 moves b1g1", "depth 4", "h1g1", None),
        ("fen r3k2r/8/8/8/8/8/8/4K3 b kq - 0 1", "depth 2 searchmoves e8g8", "e8g8", None),
    ],
)
def test_the_search_of_the_whole_game_mates_and_obeys(ask, setup, go, best, score):
    move, told = searched(ask, f"position {setup}", f"go {go}")
    assert move == best and (score is None or " ".join(told[-1][4:6]) == score)


@pytest.mark.long
@pytest.mark.parametrize(("move", "is_drawn"), [("d1d2", True), ("d1d3", False)])
def test_a_move_that_repeats_a_position_of_the_game_counts_as_a_draw(ask, move, is_drawn):
    game = "position fen 7k/8/p1p5/P1P5/8/8/8/K2Q4 w - - 0 1 moves d1d2 h8g8 d2d1 g8h8"
    best, told = searched(ask, game, f"go depth 4 searchmoves {move}")
    assert best == move and (int(told[-1][5]) == 0) == is_drawn


@pytest.mark.long
def test_several_moves_are_shown_by_the_search_of_the_whole_game(ask):
    fen = "r1b1kb1r/pppp1ppp/5q2/4n3/3KP3/2N3PN/PPP4P/R1BQ1B1R b kq - 0 1"
    setup = f"position fen {fen}"
    scores = {}
    for move in chess.Board(fen).legal_moves:  # each alone
        _, told = searched(ask, setup, f"go depth 2 searchmoves {move.uci()}")
        scores[move.uci()] = " ".join(told[-1][4:6])
    best, told = searched(ask, "setoption name MultiPV value 4", setup, "go depth 2")
    assert [(words[2], words[4]) for words in told] == [(depth, rank) for depth in "12" for rank in "1234"]
    moves = [words[words.index("pv") + 1] for words in told[4:]]
    assert best == moves[0] and [" ".join(words[6:8]) for words in told[4:]] == [scores[move] for move in moves]
    numbers = [int(score.split()[1]) for score in scores.values()]
    assert [int(words[7]) for words in told[4:]] == sorted(numbers, reverse=True)[:4]
    assert len(set(moves)) == 4
    few = searched(ask, "setoption name MultiPV value 4", setup, "go depth 2 searchmoves f6f2 f6b6")[1]
    assert [(words[2], words[4]) for words in few] == [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")]


@pytest.mark.long
def test_several_moves_are_shown_by_a_search_for_a_proof_and_by_two_plies(bare):
    fen = "7k/8/5KQ1/8/8/8/8/n7 w - - 0 1"
    bare("setoption name MultiPV value 3", f"position fen {fen}")
    for go, plain in (("go movetime 3000", " nodes "), ("go movetime 30", " time ")):
        *told, best = bare(go)
        lines = [line for line in told if " multipv " in line]
        assert [line.split(" multipv ")[1].split()[0] for line in lines] == ["1", "2", "3"] and plain in lines[0]
        moves = [line.split(" pv ")[1].split()[0] for line in lines]
        assert len(set(moves)) == 3 and best == f"bestmove {moves[0]}"
        assert "score mate 1" in lines[0]


@pytest.mark.long
def test_stop_ends_the_search_of_the_whole_game(home, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    said, deep = [], threading.Event()
    talker = Engine(lambda line: (said.append(line), "depth 4" in line and deep.set()))
    for line in ("ucinewgame", "isready", "position startpos", "go infinite"):
        talker.answer(line)
    assert deep.wait(60) and talker.is_thinking
    talker.answer("stop")
    assert said[-1].startswith("bestmove") and not talker.is_thinking
    talker.answer("go depth 2")  # the flag that stops a search is down again
    talker.finish()
    assert said[-1].startswith("bestmove") and said[-2].startswith("info depth 2")
    talker.close()


@pytest.mark.parametrize(
    ("fen", "best"),
    [
        ("7k/8/5KQ1/8/8/8/8/n7 w - - 0 1", "g6g7"),  # mates, rather than take a man
        ("4k3/8/8/3q4/8/4B3/3R4/4K3 w - - 0 1", "d2d5"),  # takes what nobody guards
        ("4k3/8/4p3/3p4/8/8/3Q4/4K3 w - - 0 1", None),  # leaves alone what somebody guards
        ("k1K5/8/1P6/8/8/8/8/8 w - - 0 1", "b6b7"),
    ],
)
def test_two_plies_see_mates_and_what_is_taken(fen, best):
    board = AnyBoard.from_fen(fen)
    found = best_by_two_plies(board, board.moves(), Clock.start(None))
    assert found.line[0] == best if best else "d5" not in found.line[0]


@pytest.mark.parametrize(
    "setup", ["fen 8/8/8/8/8/2k5/1Q6/K7 w - - 0 1", *map(thorough, ("startpos moves e2e5", "fen foo"))]
)
def test_an_illegal_position_has_no_move(ask, setup):
    said = ask(f"position {setup}", "go", "go infinite", "stop", "position startpos", "go")
    answers = [line for line in said if line.startswith("bestmove")]
    assert answers[:2] == ["bestmove 0000"] * 2 and len(answers[2]) == len("bestmove e2e4")


@pytest.mark.thorough
@pytest.mark.long
def test_an_infinite_search_goes_on_until_stop(bare):
    """A proved mate is told, and the search ends by itself; of a position it cannot prove it tells more each second."""
    talker, said = bare.talker, bare.said
    for fen, lines in (("7k/8/5KQ1/8/8/8/8/n7 w - - 0 1", 1), ("4k3/8/8/8/8/8/8/3QK2n w - - 0 1", 3)):
        said.clear()
        talker.answer(f"position fen {fen}")
        talker.answer("go infinite")
        limit = perf_counter() + LATE
        while sum(" score " in line for line in said) < lines and perf_counter() < limit:
            sleep(0.05)
        assert talker.is_thinking and not said[-1].startswith("bestmove")
        talker.answer("stop")
        assert said[-1].startswith("bestmove ") and sum(" score " in line for line in said) >= lines


# As a tournament program checks an engine: the steps of fastchess --compliance


@pytest.fixture
def process(tmp_path):
    """Return a function that sends a line to the command and returns its output up to a line with a given beginning."""
    variables = {**os.environ, "RETROGRADE_HOME": str(tmp_path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    with Child([*COMMAND, "uci"], env=variables, **pipes) as player:
        timer = threading.Timer(LATE, player.kill)
        timer.start()

        def ask(line, last):
            player.stdin.write(f"{line}\n")
            said = []
            while not said or not said[-1].startswith(last):
                said.append(player.stdout.readline())
                assert said[-1], (line, said)  # else it has ended
            return [one.rstrip() for one in said]

        yield ask
        player.stdin.write("quit\n")
        assert player.wait(LATE) == 0
        timer.cancel()


@pytest.mark.thorough
def test_the_steps_of_fastchess_compliance(process):
    said = process("uci", "uciok")
    assert any(line.startswith("id name retrograde ") for line in said)
    assert any(line.startswith("id author ") for line in said)
    games = [
        ("fen 3r2k1/p5n1/1pq1p2p/2p3p1/2P1P1n1/1P1P2pP/PN1Q2K1/5R2 w - - 0 27", "wtime 100"),
        ("fen rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", "btime 100"),
        ("fen rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", "wtime 100 winc 100 btime 100 binc 100"),
        ("startpos", "wtime 100 btime 100"),
        ("startpos moves e2e4 e7e5", "wtime 100 btime 100"),
    ]
    for setup, limits in games:
        assert process("ucinewgame\nisready", "readyok") == ["readyok"]
        process(f"position {setup}\nisready", "readyok")
        said = process(f"go {limits}", "bestmove")
        fen, _, moves = setup.removeprefix("fen ").partition(" moves ")
        board = chess.Board(chess.STARTING_FEN if fen == "startpos" else fen)
        for move in moves.split():
            board.push_uci(move)
        assert chess.Move.from_uci(said[-1].split()[1]) in board.legal_moves
        scored = [line.split() for line in said if line.startswith("info") and " score " in line]
        assert scored and all(words[words.index("score") + 1] in ("cp", "mate") for words in scored)
        assert all(words[words.index("time") + 1].isdigit() and "pv" in words for words in scored)


@pytest.mark.long
def test_stop_is_heard_in_a_process_that_compiles(process):
    process("position fen 4k3/8/8/8/8/8/8/3QK2n w - - 0 1\nisready", "readyok")
    process("go infinite", "info string")
    process("isready", "readyok")
    said = process("stop", "bestmove")
    assert any(" score " in line for line in said)


# Hostile


@pytest.mark.parametrize(
    "value",
    thorough_but(
        ["~nobodyhere/x", "/" + "x" * 5000, "x" * 5000, "a\0b", "~", "\x1b[2J\x07", "\udcff", "/dev/null", "  "],
        "~nobodyhere/x",
        "x" * 5000,
        "a\0b",
        "\udcff",
    ),
    ids=lambda value: ascii(value[:12]),
)
def test_no_path_ends_it(ask, value):
    said = ask(f"setoption name DatabasePath value {value}", "position startpos", "isready", "go movetime 10")
    assert "readyok" in said and said[-1].startswith("bestmove")
    assert all(line.isprintable() and len(line) < 600 for line in said)


def test_a_home_of_nobody_does_not_end_it(ask, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", "~nobodyhere/x\ny")
    said = ask("uci", "position fen 8/8/8/8/8/2k5/1R6/K7 w - - 0 1", "go movetime 10")
    assert "uciok" in said and said[-1].startswith("bestmove")
    assert all(line.isprintable() for line in said)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_what_is_no_file_hinders_nothing(ask, home, tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path / "nothing"))  # or searches would find tables there
    os.mkfifo(tmp_path / "chess,KQK.h5")
    (tmp_path / "chess,KBNK.h5").mkdir()
    (tmp_path / "chess,KNNK.h5").write_bytes(b"junk")
    (tmp_path / "chess,KRK.h5").write_bytes((home / "chess,KRK.h5").read_bytes())
    position = "position fen 8/8/8/8/8/2k5/1R6/K7 w - - 0 1"
    for place in (tmp_path, tmp_path / "chess,KQK.h5", tmp_path / "chess,KBNK.h5"):
        said = ask(f"setoption name DatabasePath value {place}", position, "go movetime 10")
        assert said[-1].startswith("bestmove")
        assert any("score mate 16" in line for line in said) == (place == tmp_path)


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_whatever_a_database_raises_a_move_is_made(ask, monkeypatch):
    for error in (MemoryError(), KeyError("x"), StopIteration(), RuntimeError("a\nb\x1b"), OSError(5, "no")):

        def fail(*_, error=error):
            raise error

        with monkeypatch.context() as patch:
            patch.setattr("retrograde.solver.play.tablebase.files.open_database", fail)
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
    monkeypatch.setattr(searches, "in_background", lambda make: Future())
    monkeypatch.chdir(tmp_path)
    chance, said = Random(seed), []
    talker = Engine(said.append)
    asked = 0
    for _ in range(1000):
        line = hostile_line(chance)
        if line.split()[:1] == ["quit"]:
            continue
        assert talker.answer(line), line
        if line.split()[:1] == ["go"]:
            talker.finish()
        asked += line.split()[:1] == ["go"]
        assert sum(answer.startswith("bestmove ") for answer in said) == asked, line
    assert all(answer.isprintable() and len(answer) < 1000 for answer in said)
    said.clear()
    talker.answer(f"setoption name DatabasePath value {home}")
    talker.answer("position fen 8/8/8/8/8/2k5/1R6/K7 w - - 0 1")
    talker.answer("go")
    talker.finish()
    talker.close()
    assert "score mate 16" in said[0]


@pytest.mark.long
def test_the_command_lives_through_anything(home):
    """As a process of its own, whose output knows ASCII only."""
    path = b"setoption name DatabasePath value "
    lines = [path + b"~nobodyhere/x", b"\xff\xfe\0", path + b"\xc3\xa9", b"position fen " + b"8" * 100_000]
    lines += [b"go", b"isready", b"quit"]
    environment = {**os.environ, "RETROGRADE_HOME": str(home), "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [*COMMAND, "uci"], env=environment, input=b"\n".join(lines), capture_output=True, timeout=LATE
    )
    assert (done.returncode, done.stderr) == (0, b"")
    said = done.stdout.splitlines()
    assert {b"readyok", b"bestmove 0000"} == {*said[-2:]}


def test_a_position_with_a_capture_en_passant_is_not_repeated_by_the_one_without():
    start = AnyBoard.from_fen("4k3/8/8/8/3p4/8/4P3/4K3 w - - 0 1").after("e2e4")
    later = start
    for move in ("e8d8", "e1d1", "d8e8", "d1e1"):
        later = later.after(move)
    assert later.fen() != start.fen()
    assert key_of(start) != key_of(later)
    assert key_of(later) == key_of(AnyBoard.from_fen(later.fen()))
