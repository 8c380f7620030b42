"""Distances to conversion in chess endings: against what is published, and against what is slow and obvious.

Without pawns these are the distances to zeroing, so that the counts of Syzygy's tables hold them as well
(tests/data/zeroing.csv): M. Bourzutschky, J. Tamplin and G. Haworth, "Chess endgames: 6-man data and strategy" (2005),
speak of "pawnless endgames for which DTC ≡ DTZ". That no win takes more than 3 moves with two queens, and three, and
10 with one, is G. Haworth's on the list math-fun, 10 April 2006.
"""

import importlib
import json

import pytest
from click.testing import CliRunner

from retrograde.cli.main import main
from retrograde.databases import database_path, open_database
from retrograde.games import RuleError
from retrograde.games.catalog import load_game
from retrograde.games.chess.men import tier_of
from retrograde.games.contract.game import DRAW, LOSE, WIN
from retrograde.solver import engine
from retrograde.solver.engine import solve
from retrograde.solver.methods.chess import tiers, zeroing
from retrograde.solver.methods.numbered import by_sets
from retrograde.solver.options import CannotSolve
from retrograde.solver.play.solution import open_solution
from retrograde.solver.verification.verify import verify
from tests.helpers.paths import ROOT
from tests.helpers.solving import copy_whole

pytestmark = pytest.mark.long

Plain = dict[str, tuple[object, int | None]]
"""The value and the plies of each position, by its text."""
FORCED = "8/8/8/7Q/8/5K2/1Q6/k7 b"
"""The king has one move, to take a queen."""


@pytest.fixture(scope="module")
def home(solved, tmp_path_factory):
    """A folder with rook against knight by both distances, and with two queens and a pawn by that to conversion."""
    folder = tmp_path_factory.mktemp("home")
    copy_whole(solved("chess:KRKN"), folder)
    for ending in ("KRKN", "KQQK", "KPK"):
        copy_whole(solved(f"chess:{ending}", "dtc"), folder)
    return folder


@pytest.fixture(scope="module")
def pawns(solved, tmp_path_factory):
    """A folder with pawn against pawn by the distance to conversion."""
    return copy_whole(solved("chess:KPKP", "dtc"), tmp_path_factory.mktemp("pawns")).parent


@pytest.fixture
def endings(monkeypatch):
    """The benchmark that counts as Syzygy's tables do."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("endings")


def run(home, *arguments):
    result = CliRunner().invoke(main, arguments, env={"RETROGRADE_HOME": str(home)})
    assert result.exit_code == 0, result.output
    return result.output


def longest_win(database, ending):
    """Return in how many of his moves whoever wins that takes longest converts."""
    tier, legend = tier_of(ending), database.file.legend
    rows = [legend[row.outcome] for row in database.contents.counts if row.tier == tier]
    return (max(row.plies for row in rows if row.value == WIN) + 1) // 2


@pytest.mark.thorough
@pytest.mark.parametrize("ending", ["KRKN", "KQQK"])
def test_plies_without_pawns_are_as_published(home, endings, ending):
    with open_database(database_path(f"chess:{ending}", home, "dtc")) as database:
        assert endings.counts_of(database, ending) == endings.published()[ending]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["KBNK", "KBBK", "KRRK", "KQKR", "KQKQ", "KRKB", "KRBKR", "KQQQK"])
def test_plies_of_more_endings_without_pawns_are_as_published(tmp_path, endings, ending):
    path = solve(load_game(f"chess:{ending}"), database_path(f"chess:{ending}", tmp_path, "dtc"), metric="dtc")
    with open_database(path) as database:
        if ending == "KQQQK":
            assert longest_win(database, ending) == 3
        else:
            assert endings.counts_of(database, ending) == endings.published()[ending]


@pytest.mark.thorough
def test_more_queens_convert_no_later(home):
    """A queen can be left to be taken, when there are others."""
    for ending, plies in (("KQK", 10), ("KQQK", 3)):
        with open_database(database_path(f"chess:{ending}", home, "dtc")) as database:
            assert longest_win(database, ending) == plies


# With pawns, against what is slow and obvious


def plainly(boards, value_of):
    """Return what all positions of a set of boards are worth from which only captures and promotions lead away, by
    python-chess; `value_of` tells what a position is worth to which they do."""
    known: Plain = {}
    children, parents, loses, wins, saved = {}, {}, [], [], set()
    for board in boards:
        here = board.epd()
        children[here], brought = set(), set()
        for move in list(board.legal_moves):
            leaves = board.is_capture(move) or move.promotion
            board.push(move)
            if leaves:
                brought.add(value_of(board))
            else:
                children[here].add(board.epd())
                parents.setdefault(board.epd(), []).append(here)
            board.pop()
        if board.is_checkmate():
            known[here] = LOSE, 0
        elif LOSE in brought:
            wins.append(here)
        elif DRAW in brought or board.is_stalemate():
            saved.add(here)  # from losing, but another move may win
        elif brought and not children[here]:
            loses.append(here)
    due, plies = {LOSE: [here for here in known if known[here][0] == LOSE], WIN: []}, 0
    while plies == 0 or any(due.values()):
        plies += 1
        won = {before for here in due[LOSE] for before in parents.get(here, ()) if before not in known}
        lost = {before for here in due[WIN] for before in parents.get(here, ()) if before not in known}
        if plies == 1:
            won, lost = won | set(wins), set(loses)
        lost = [
            here for here in lost - won - saved
            if all(known.get(child, (DRAW, 0))[0] == WIN for child in children[here])
        ]  # fmt: skip
        known.update(dict.fromkeys(won, (WIN, plies)))
        known.update(dict.fromkeys(lost, (LOSE, plies)))
        due = {LOSE: lost, WIN: list(won)}
    return {here: known.get(here, (DRAW, None)) for here in children}


def placements(chess, pawns):
    """Yield all legal boards with both kings and with pawns on squares of their own, and where one has just gone two
    steps, with the right to capture it as well."""
    for squares in pawns:
        for white in range(64):
            for black in range(64):
                if white == black or {white, black} & set(squares.values()) or chess.square_distance(white, black) < 2:
                    continue
                board = chess.Board(None)
                board.set_piece_at(white, chess.Piece(chess.KING, chess.WHITE))
                board.set_piece_at(black, chess.Piece(chess.KING, chess.BLACK))
                for colour, square in squares.items():
                    board.set_piece_at(square, chess.Piece(chess.PAWN, colour))
                for turn in (chess.WHITE, chess.BLACK):
                    board.turn, board.ep_square = turn, None
                    if not board.is_valid():
                        continue
                    yield board
                    free = {chess.A2, chess.A3}.isdisjoint({white, black})
                    if turn == chess.BLACK and squares[chess.WHITE] == chess.A4 and free and len(squares) == 2:
                        board.ep_square = chess.A3
                        if board.is_valid() and board.has_legal_en_passant():
                            yield board


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["KPK", "KPKP"])
def test_plies_with_pawns_are_those_of_a_plain_analysis(pawns, ending):
    """Of king and pawn against king all, and of pawn against pawn those with White's on the a-file, and Black's that
    has come to b4 or further: so White's may be captured en passant."""
    chess = pytest.importorskip("chess")
    squares = [chess.square(file, rank) for file in range(4 if ending == "KPK" else 1) for rank in range(1, 7)]
    standing = [{chess.WHITE: square} for square in squares]
    if ending == "KPKP":
        others = chess.B4, chess.B3, chess.B2
        standing = [{chess.WHITE: square, chess.BLACK: other} for square in squares for other in others]
    with open_solution(database_path("chess:KPKP", pawns, "dtc")) as solution:
        game = solution.game

        def value_of(board):
            return solution.value(game.read(board.epd())).value

        found = plainly(placements(chess, standing), value_of)
        assert len(found) > 100_000
        assert ending == "KPK" or sum(" a3" in here for here in found) > 1000
        wrong = [here for here, worth in found.items() if tuple(solution.value(game.read(here))) != worth]
    assert not wrong, (len(wrong), wrong[:5])


@pytest.mark.thorough
def test_verification_derives_them_again(pawns):
    """All of pawn against pawn, captures en passant among them."""
    with open_database(database_path("chess:KPKP", pawns, "dtc")) as database:
        assert verify(database).ok


@pytest.mark.thorough
def test_verification_sees_what_is_wrong(tmp_path, monkeypatch):
    """Wins in 15 plies told as in 17, and nothing looked at on the way."""
    wrong = zeroing.table_of_scores().copy()
    wrong[16] = wrong[18]
    monkeypatch.setattr(zeroing, "table_of_scores", lambda: wrong)
    monkeypatch.setattr(by_sets, "check_slot", lambda *about: None)
    monkeypatch.setattr(engine, "verify_sample", lambda *about: None)
    with open_database(solve(load_game("chess:KRK"), tmp_path / "krk.h5", metric="dtc", fresh=True)) as database:
        found = verify(database)
    assert found.wrong > 1000 and any("WIN in 17" in str(problem) for problem in found.problems)


def test_slots_that_do_not_follow_are_seen(tmp_path, monkeypatch):
    collect = tiers.collect_scores

    def wrong(formation, known, scores, pawns, table):
        counts = collect(formation, known, scores, pawns, table)
        scores[len(scores) // 5 :] ^= 3
        return counts

    monkeypatch.setattr(tiers, "collect_scores", wrong)
    with pytest.raises(RuleError):
        solve(load_game("chess:KRK"), tmp_path / "game.h5", fresh=True, metric="dtc")


# Asking


def test_a_database_by_conversion_is_asked_like_others(home):
    position = "5R2/8/8/8/8/k7/8/2K3n1 b"
    text = run(home, "query", "chess:KRKN@dtc", position)
    assert "Black to move loses: converting in 54" in text and "Ne2+ lose converting in 54" in text
    assert "fifty" not in text and "Dtc" not in text
    told = json.loads(run(home, "query", "chess:KRKN@dtc", position, "--json"))
    assert (told["value"], told["dtc"], told["remoteness"]) == ("lose", -54, 54)
    assert "dtz" not in told and "category" not in told
    assert "converting in 54" in run(home, "info", "chess:KRKN@dtc")
    assert json.loads(run(home, "info", "chess:KRKN@dtc", "--json"))["metric"] == "dtc"


def test_captures_and_promotions_count_one_and_moves_of_pawns_do_not(home):
    with open_solution(database_path("chess:KPK", home, "dtc")) as solution:
        game = solution.game
        pushed = {choice.name: choice for choice in solution.moves(game.read("8/8/8/8/8/1k6/7P/K7 w"))}["h4"]
        assert (pushed.brings, pushed.remoteness, pushed.far) == (WIN, 8, "converting in 9")
        promoted = solution.moves(game.read("8/7P/8/8/8/1k6/8/K7 w"))[0]
        assert (promoted.brings, promoted.remoteness, promoted.far) == (WIN, 0, "converting in 1")
    with open_solution(database_path("chess:KQQK", home, "dtc")) as solution:
        assert [*solution.value(solution.game.read(FORCED))] == [LOSE, 1]


def test_a_game_is_played_by_it(home):
    told = run(home, "play", "chess:KRKN@dtc", "--from", "longest", "--first", "perfect", "--second", "perfect")
    assert "#" in told


def test_other_games_have_none(tmp_path):
    for variant, way in (("tictactoe", None), ("chess:KRK", "numbered")):
        with pytest.raises(CannotSolve, match="dtc, the distance to conversion, is computed for chess endgames only"):
            solve(load_game(variant), tmp_path / "game.h5", metric="dtc", method=way)
    assert not list(tmp_path.iterdir())


@pytest.mark.thorough
def test_a_set_by_conversion(tmp_path):
    assert "5 of 5 solved" in run(tmp_path, "solve", "chess:all=3", "--metric", "dtc")
    assert {path.name for path in tmp_path.glob("*.h5")} == {
        f"chess,{ending}@dtc.h5" for ending in ("KK", "KRK", "KQK", "KNK", "KBK", "KPK")
    }
    told = run(tmp_path, "solve", "chess:all=4@dtc", "--estimate", "--json").splitlines()[-1]
    assert json.loads(told)["records"] > 1_000_000


def test_distances_to_mate_are_not_compared_with_these(home, tmp_path):
    pytest.importorskip("chess")
    (tmp_path / "KRvKN.rtbw").touch()
    path = database_path("chess:KRKN", home, "dtc")
    beside = CliRunner().invoke(main, ["compare", str(path), str(tmp_path)])
    assert beside.exit_code == 1 and "and chess:KRKN@dtc has others; name chess:KRKN" in beside.output
