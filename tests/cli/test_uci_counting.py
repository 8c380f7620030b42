"""The UCI engine and matches by the fifty-move rule, with python-chess as the arbiter."""

import json
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from retrograde.cli.main import main
from retrograde.cli.uci.engine import Engine
from retrograde.databases import database_path
from retrograde.games.catalog import load_game
from retrograde.games.contract.game import LOSE, WIN
from retrograde.games.contract.zeroing import PATIENCE
from retrograde.solver.engine import solve
from retrograde.solver.play.solution import open_solution

chess = pytest.importorskip("chess")
chess_pgn = pytest.importorskip("chess.pgn")

pytestmark = pytest.mark.long

LONGEST = "5R2/8/8/8/8/k7/8/2K3n1 b - - {} 1"
"""White wins in 54 plies to a zeroing move, in 78 to the mate."""
CURSED = "8/3B4/8/1R6/5r2/8/3K4/5k2 w - - 0 1"
"""The longest cursed win of KRBKR, 117 plies to zeroing, by regular-stats.txt of syzygy-tables.info."""


def solved_by_both(ending, folder):
    """Solve an ending by mate and by zeroing, in a folder."""
    for metric in ("", "dtz"):
        solve(
            load_game(f"chess:{ending}"),
            database_path(f"chess:{ending}", folder, metric),
            metric=metric or "remoteness",
        )


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    solved_by_both("KRKN", folder)
    return folder


class Talker:
    """An engine that is asked about boards; *said* is what it said last."""

    def __init__(self, folder):
        self.said = []
        self.engine = Engine(self.said.append)
        self.tell(f"setoption name DatabasePath value {folder}")

    def tell(self, *lines):
        self.said.clear()
        for line in lines:
            self.engine.answer(line)
        self.engine.finish()
        return self.said

    def move(self, start, board, how="go movetime 1"):
        """Return the engine's move on a board that was reached from FEN."""
        self.tell(f"position fen {start} moves {' '.join(move.uci() for move in board.move_stack)}", how)
        return chess.Move.from_uci(self.said[-1].split()[1])

    def score(self, fen, how="go movetime 1"):
        """Return the score of a position, `mate 3` or `cp 1`."""
        self.tell(f"position fen {fen}", how)
        return " ".join(self.said[-2].partition(" score ")[2].split()[:2])


@pytest.fixture
def talker(home):
    talker = Talker(home)
    yield talker
    talker.engine.close()


def play_out(fen, white, black):
    """Return the board at the end of a game: mate, or whatever else python-chess calls an end, by the rule as well."""
    board = chess.Board(fen)
    while not board.is_game_over() and not board.is_fifty_moves() and not board.is_repetition(3):
        board.push((white if board.turn else black)(fen, board))
    return board


def random_mover(seed):
    chance = Random(seed)
    return lambda fen, board: chance.choice(list(board.legal_moves))


def check_play_outs(folder, ending, every):
    """Hold that what is won by the rule after just so many plies is won, and after one more is not, in positions of
    every so-manieth distance to zeroing, against best play and against random moves."""
    talker = Talker(folder)
    with open_solution(database_path(f"chess:{ending}", folder, "dtz")) as solution:
        rows = [row for row in solution.database.file.legend if row.value in (WIN, LOSE) and row.remoteness]
        positions = [(solution.game.write(row.example), row) for row in rows[::every]]
    played = 0
    for fen, row in positions:
        winner = chess.Board(fen).turn == (row.value == WIN)
        for late in (0, 1) if row.remoteness <= PATIENCE else (1,):
            start = f"{fen.rsplit(maxsplit=2)[0]} {max(0, PATIENCE - row.remoteness + late)} 1"
            for other in (talker.move, random_mover(played)):
                players = (talker.move, other) if winner else (other, talker.move)
                board = play_out(start, *players)
                if late:
                    assert other != talker.move or board.is_fifty_moves() or board.is_repetition(3), start
                else:
                    assert board.is_checkmate() and board.turn != winner, start
                played += 1
    talker.engine.close()
    return played


@pytest.mark.thorough
def test_what_is_won_by_the_rule_is_won_on_the_board(home):
    assert check_play_outs(home, "KRKN", 27) > 5


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["KQKR", "KBNK", "KRBKR"])
def test_so_it_is_in_longer_endings(tmp_path, monkeypatch, ending):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    solved_by_both(ending, tmp_path)
    assert check_play_outs(tmp_path, ending, 3) > 40
    if ending == "KRBKR":
        talker = Talker(tmp_path)
        assert talker.score(CURSED) == "cp 1"
        board = play_out(CURSED, talker.move, talker.move)
        assert board.is_fifty_moves() and not board.is_checkmate()
        talker.tell("setoption name Syzygy50MoveRule value false")
        assert talker.score(CURSED).startswith("mate ")
        talker.engine.close()


def test_scores_are_by_the_rule(talker):
    """The mate, where it comes in time; a win of which that is not sure; what the rule spoils; and without the rule."""
    how = "go searchmoves g1e2"
    assert talker.score(LONGEST.format(0), how) == "mate -39"
    assert talker.score(LONGEST.format(30), how) == "cp -20000"
    assert talker.score(LONGEST.format(47), how) == "cp -1"
    talker.tell("setoption name Syzygy50MoveRule value false")
    assert talker.score(LONGEST.format(47), how) == "mate -39"
    assert talker.tell("setoption name syzygy50moverule value x") == [
        "info string Syzygy50MoveRule must be true or false, not 'x'"
    ]


@pytest.mark.thorough
def test_mate_with_the_hundredth_ply_is_in_time(home, talker):
    """By the mate in one, by a long line that python-chess plays to the mate, and by the score of a longer one."""
    mate = "k7/8/1K6/8/8/8/8/7R w - - {} 1"
    assert talker.score(mate.format(99)) == "mate 1" and talker.said[-1] == "bestmove h1h8"
    assert talker.score(mate.format(100)) == "cp 1"
    fen = "8/8/8/8/8/2k5/1R6/K7 w - - {} 1"
    assert talker.score(fen.format(69), "go depth 40") == "mate 16"
    board = chess.Board(fen.format(69))
    for move in talker.said[-2].partition(" pv ")[2].split():
        board.push_uci(move)
    assert board.is_checkmate() and board.halfmove_clock == PATIENCE
    assert talker.score(fen.format(70)) == "cp 1"
    how = "go searchmoves g1e2"
    assert talker.score(LONGEST.format(22), how) == "mate -39"
    assert talker.score(LONGEST.format(23), how) == "cp -20000"


def test_moves_count_on_from_fen_and_captures_anew(talker):
    fen = "8/8/8/8/8/2k5/1n6/KR6 w - - 98 80"
    talker.tell(f"position fen {fen} moves a1a2")
    assert talker.engine.board.count == 99
    talker.tell(f"position fen {fen} moves b1b2")
    assert talker.engine.board.count == 0
    assert talker.score(fen) == "mate 17"  # by the capture, and only by it


@pytest.mark.thorough
def test_lines_by_the_rule_are_played_to_the_mate(talker):
    for count in (0, 30, 46):
        talker.tell(f"position fen {LONGEST.format(count)}", "go depth 1")
        board = chess.Board(LONGEST.format(count))
        for move in talker.said[-2].split(" pv ")[1].split():
            assert not board.is_fifty_moves()
            board.push_uci(move)
        assert board.is_checkmate()


def test_without_distances_to_zeroing_mate_comes_soonest(home, tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    (tmp_path / "chess,KRKN.h5").write_bytes((home / "chess,KRKN.h5").read_bytes())
    talker = Talker(tmp_path)
    assert talker.score(LONGEST.format(47)) == "mate -39"
    talker.engine.close()


def match(home, tmp_path, *arguments):
    """Return the counts of a match, and its games as python-chess reads them."""
    path = Path(tmp_path / "games.pgn")
    words = ["match", "chess:KRKN", *arguments, "--pgn", str(path), "--json"]
    result = CliRunner().invoke(main, words, env={"RETROGRADE_HOME": str(home)})
    assert result.exit_code == 0, result.output
    with path.open() as file:
        return json.loads(result.output)["players"], [*iter(lambda: chess_pgn.read_game(file), None)]


@pytest.mark.thorough
def test_a_match_counts_from_fen(home, tmp_path):
    for count, result in ((46, "1-0"), (47, "1/2-1/2")):
        players, games = match(home, tmp_path, "perfect", "perfect", "--games", "2", "--from", LONGEST.format(count))
        assert [game.headers["Result"] for game in games] == [result] * 2
        assert [player["drawn"] for player in players] == [2 * (result == "1/2-1/2")] * 2
        assert all(player["mistakes"] == 0 for player in players)
        for game in games:
            end = game.end()
            assert end.board().is_fifty_moves() == (count == 47) == (end.comment == "draw by the fifty-move rule")
            assert end.board().is_checkmate() == (count == 46) and game.board().halfmove_clock == count


def test_a_win_that_is_let_go_by_the_count_is_a_mistake_in_a_match(home, tmp_path):
    players, games = match(
        home, tmp_path, "random", "perfect", "--games", "6", "--from", "5R2/8/8/8/8/k7/8/2K3n1 w - - 80 1"
    )
    assert all(game.end().board().is_fifty_moves() or game.end().board().is_game_over() for game in games)
    assert players[0]["mistakes"] > 0 == players[1]["mistakes"]
