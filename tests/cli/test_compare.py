"""A database of chess beside Syzygy's tables (three of which are in `methods/chess/syzygy/`) and Gaviota's."""

import json
import signal
from random import Random

import pytest
from click.testing import CliRunner

pytest.importorskip("chess")

from chess import gaviota, syzygy

from retrograde.cli import main
from retrograde.cli.commands import compare
from retrograde.databases import database_path
from retrograde.games import DRAW, LOSE, TIE, WIN
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from tests.helpers.command_line import retrograde
from tests.helpers.paths import ROOT
from tests.helpers.solving import in_one_file

pytestmark = pytest.mark.long

TABLES = ROOT / "tests" / "data" / "syzygy"
MATED = "8/8/8/8/8/1K6/8/k6R b"
"""Lost at once."""


@pytest.fixture
def home(tmp_path, monkeypatch, solved):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    for variant in ("chess:KRK", "tictactoe"):
        database_path(variant, tmp_path).write_bytes(solved(variant).read_bytes())
    return tmp_path


def test_values_are_those_of_syzygy(home):
    told = retrograde("compare", "chess:KRK", TABLES, "--positions", 2000).stdout
    assert told == f"chess:KRK: 2,000 positions beside the tables in {TABLES}\nSyzygy, values: 2,000 alike, 0 differ\n"


def test_men_of_whom_there_is_no_table_are_named(home):
    """A pawn may become a knight or a bishop, which are not there; what pawns, rooks and queens are worth is. All of
    them are in one file, as once."""
    with in_one_file():
        solve(load_game("chess:KPK"), database_path("chess:KPK"))
    facts = json.loads(retrograde("compare", "chess:KPK", TABLES, "--positions", 3000, "--json").stdout)
    (beside,) = facts["beside"]
    assert facts["positions"] == 3000 == beside["alike"] + sum(beside["missing"].values())
    assert {*beside["missing"]} == {"KBvK", "KNvK"} and beside["alike"] > 1500 and beside["differ"] == []
    assert (
        "were not compared: there is no table of KBvK"
        in retrograde("compare", "chess:KPK", TABLES, "--positions", 300).stdout
    )


def test_what_differs_is_shown_and_ends_with_status_1(home, monkeypatch):
    probe = syzygy.Tablebase.probe_wdl
    monkeypatch.setattr(syzygy.Tablebase, "probe_wdl", lambda self, board: -probe(self, board))
    facts = json.loads(retrograde("compare", "chess:KRK", TABLES, "--positions", 200, "--json", status=1).stdout)
    (beside,) = facts["beside"]
    assert len(beside["differ"]) > 100 and beside["alike"] + len(beside["differ"]) == 200
    first = beside["differ"][0]
    assert {first["ours"], first["theirs"]} == {"win", "lose"}
    told = retrograde("compare", "chess:KRK", TABLES, "--positions", 200, status=1).stdout
    assert f"  {first['position']}  here {first['ours']}, there {first['theirs']}\n" in told
    assert f"and {len(beside['differ']) - 10} more; --json has them all" in told


def test_wins_that_take_too_long_are_wins_and_are_counted(home, monkeypatch):
    probe = syzygy.Tablebase.probe_wdl
    monkeypatch.setattr(syzygy.Tablebase, "probe_wdl", lambda self, board: probe(self, board) // 2)
    told = retrograde("compare", "chess:KRK", TABLES, "--positions", 500).stdout
    assert "500 alike" in told and "wins and losses take longer than the fifty-move rule allows" in told


def test_gaviota_tells_plies_from_who_is_to_move(home, monkeypatch, tmp_path):
    """Its own reader has been held against all positions of three men; here is what becomes of what it says."""

    class Fake:
        def probe_dtm(self, board):
            return {"b": -12, "w": 7}[board.fen().split()[1]]

    folder = tmp_path / "gaviota"
    folder.mkdir()
    (folder / "krk.gtb.cp4").write_bytes(b"")
    monkeypatch.setattr(gaviota, "open_tablebase", lambda folder: Fake())
    (tables,) = compare.tables_in(folder, compare.KINDS["remoteness"])
    outcomes = (WIN, 7), (LOSE, 12), (LOSE, 0), (DRAW, -1), (TIE, 0)
    assert [tables.of_ours(*outcome) for outcome in outcomes] == [7, -12, 0, 0, 0]
    beside = compare.TableComparison(tables)
    board = compare.board_of(MATED)
    for value, remoteness in ((LOSE, 12), (LOSE, 14), (WIN, 12), (DRAW, -1)):
        beside.compare(MATED, board, value, remoteness)
    assert beside.alike == 1
    ours = [ours for _, ours, _ in beside.differ]
    assert ours == ["mate in 14 plies, lost", "mate in 12 plies, won", "a draw, or mate"]
    assert "distances to mate" in retrograde("compare", "chess:KRK", folder, "--positions", 20, status=1).stdout


@pytest.mark.thorough
def test_all_positions_are_compared_once(home):
    facts = json.loads(retrograde("compare", "chess:KRK", TABLES, "--all", "--json").stdout)
    stored = json.loads(retrograde("info", "chess:KRK", "--json").stdout)["stored"]
    (beside,) = facts["beside"]
    assert facts["positions"] == stored == beside["alike"] > 40_000


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("chess:KRK", "nowhere"), "no folder 'nowhere'"),
        (("chess:KRK", "."), "no tables in '.': no Syzygy's (*.rtbw) and no Gaviota's (*.gtb.cp4)"),
        (("tictactoe", TABLES), "others' tables are of chess, not of tictactoe"),
        (("chess:KQK", TABLES), "no database for chess:KQK"),
    ],
)
def test_what_cannot_be_compared_is_said(words, said, home, monkeypatch):
    monkeypatch.chdir(home)
    result = retrograde("compare", *words, status=2 if "tables in" in said or "folder" in said else 1)
    assert said in result.stderr and result.stderr.count("\n") == 1


def test_without_python_chess_it_says_what_to_do(home, monkeypatch):
    def missing(folder):
        raise ModuleNotFoundError("No module named 'chess'")

    monkeypatch.setattr(compare.Syzygy, "__init__", lambda self, folder: missing(folder))
    assert "pip install chess" in retrograde("compare", "chess:KRK", TABLES, status=1).stderr


# Damaged tables


def damaged(content, chance):
    """Return the bytes of a table as accidents leave them: cut off, changed, another's, or nothing of the kind."""
    kind, end = chance.randrange(6), len(content)
    if kind == 0:
        return content[: chance.randrange(end)]
    if kind == 1:
        return chance.randbytes(chance.randrange(4000))
    if kind == 2:
        return content[:4] + chance.randbytes(end - 4)
    if kind == 3:
        return (TABLES / "KQvK.rtbw").read_bytes()
    changed = bytearray(content)
    for _ in range(chance.choice((1, 3, 10, 100))):
        changed[chance.randrange(4, end if kind == 4 else 200)] = chance.randrange(256)
    return bytes(changed)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="python-chess cannot be interrupted here")
@pytest.mark.parametrize("cases", [15, pytest.param(1000, marks=pytest.mark.slow)])
def test_damaged_tables_are_said_to_be_damaged(home, tmp_path, monkeypatch, cases):
    """In one line that blames the file, and soon, even where python-chess would loop for ever."""
    monkeypatch.setattr(compare, "LONGEST_PROBE", 0.2)
    before = signal.getsignal(signal.SIGALRM)  # that of pytest-timeout
    content, chance, folder, told = (TABLES / "KRvK.rtbw").read_bytes(), Random(cases), tmp_path / "tables", set()
    folder.mkdir()
    for _ in range(cases):
        (folder / "KRvK.rtbw").write_bytes(damaged(content, chance))
        done = CliRunner().invoke(main, ["compare", "chess:KRK", str(folder), "--positions", "20"])
        assert done.exit_code in (0, 1) and "fault of retrograde" not in done.stderr
        if done.exit_code and not done.stdout:
            assert done.stderr.startswith("retrograde: error: Syzygy's table of K") and done.stderr.count("\n") == 1
            assert done.stderr.endswith("; the file may be damaged: fetch it again, or move it away\n")
            told.add(done.stderr.partition("(")[2].partition(":")[0])
    assert {"OSError", "TimeoutError"} <= told
    assert signal.getsignal(signal.SIGALRM) == before
