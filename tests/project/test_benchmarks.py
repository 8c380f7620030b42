"""The benchmarks run, on something small."""

import ast
import csv
import importlib
import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from retrograde.games import LOSE, WIN
from tests.helpers import published
from tests.helpers.command_line import retrograde
from tests.helpers.paths import ROOT
from tests.helpers.solving import copy_whole

pytestmark = pytest.mark.long

FOLDER = ROOT / "benchmarks"


def run(script: str, *arguments: str) -> str:
    command = [sys.executable, FOLDER / script, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout


@pytest.mark.parametrize("script", sorted(FOLDER.glob("*.py")), ids=lambda script: script.stem)
def test_what_a_benchmark_imports_is_there(script, monkeypatch):
    """Most benchmarks are too long to run here, but a module that is renamed or removed is noticed."""
    monkeypatch.syspath_prepend(str(ROOT))
    for node in ast.parse(script.read_text("utf-8")).body:
        names = [name.name for name in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom):
            module = importlib.import_module(node.module)
            assert all(hasattr(module, name) or importlib.util.find_spec(f"{node.module}.{name}") for name in names)
        elif names:
            assert all(importlib.util.find_spec(name) for name in names)


@pytest.fixture
def table(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("benchmarks.table")


def test_a_row_has_the_least_seconds_and_the_median_ratio(table):
    """A command and a yardstick are run; a yardstick that is not installed leaves its cells empty."""
    pairs = [(table.Spent(4.0, 5_000_000), table.Spent(2.0, 1)), (table.Spent(3.0), table.Spent(1.0))]
    assert table.line("a", "b", [*pairs, (table.Spent(5.0), table.Spent(2.5))]).split(" | ")[1:] == (
        ["3", "5 MB", "b", "1", "0 MB", "2 |"]
    )
    assert table.line("a", "b", [(table.Spent(4.0), None)]) == "| `a` | 4 |  |  |  |  |  |"
    spent = table.command_timer([sys.executable, "-c", "sum(range(10**6))"], ROOT)()
    assert 0 < spent.seconds < 60 and 10**6 < spent.memory < 10**9
    with pytest.raises(SystemExit, match="failed"):
        table.command_timer([sys.executable, "-c", "sys"], ROOT)()
    assert table.yardstick_timer("no-such-program 3", ROOT) is None


@pytest.mark.thorough
@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
def test_the_yardsticks_find_what_is_published(table, tmp_path):
    """Pig to 100: Neller and Presser (2004). The pocket cube: as many positions by distance as we count."""
    for text in ("pig.c 40", "pocketcube.c"):
        assert table.yardstick_timer(text, tmp_path)().seconds >= 0
    told = subprocess.run([tmp_path / "pig", "100"], capture_output=True, text=True, check=True).stdout
    assert abs(float(told) - 0.5306) < 1e-4
    told = subprocess.run([tmp_path / "pocketcube"], capture_output=True, text=True, check=True).stdout
    counts = [int(row.split()[1]) for row in told.splitlines()]
    assert counts == [1, 9, 54, 321, 1847, 9992, 50136, 227536, 870072, 1887748, 623800, 2644]


def test_cluster_simulated(monkeypatch):
    """A wave of a thousand million positions, 40 ns of a processor each: what bounds it is what is short."""
    monkeypatch.syspath_prepend(str(FOLDER))
    cluster = importlib.import_module("cluster")
    measured = cluster.Row("game", 10**9, 1, 20.0, 10**9, 1, 20.0, 10**9, 0.0)
    alone, few, many = (cluster.simulate([1e9], measured, cores) for cores in (1, 4, 10**6))
    assert alone.bound == few.bound == "processors"
    assert 40 < alone.hours * 3600 < 44
    assert 10 < few.hours * 3600 < 13
    assert many.hours < few.hours and many.bound != "processors"
    assert alone.moved == few.moved == 2e9


@pytest.mark.slow
def test_cluster_measured(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    cluster = importlib.import_module("cluster")
    monkeypatch.setattr(cluster, "TABLE", tmp_path / "cluster.csv")
    row = cluster.measure("connect4:5,5")
    cluster.keep(row)
    (again,) = cluster.read()
    assert (again.game, again.positions) == ("connect4:5,5", 69_763_700)
    assert row.forward_tasks > 10 < row.back_tasks
    assert row.forward_bytes > 10**6 < row.back_bytes


@pytest.mark.thorough
def test_scores_of_othello_are_searched():
    lines = run("othello_end.py", "--games", "1", "4", "8").splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]
    assert [row[0] for row in cells] == ["4", "8"]
    assert 0 < int(cells[0][1]) < int(cells[1][1].replace(",", ""))


def test_searches_are_timed(table):
    for kind in (table.Search, table.ProofNumberSearch):
        assert 0 < table.search_timer("tictactoe", kind)().seconds < 60


@pytest.mark.thorough
def test_positions(tmp_path):
    """Scores of two positions by Pons' solver; and a third one that is wrong on purpose."""
    rows = ["set,columns_played,score", "end-easy,2252576253462244111563365343671351441,-1"]
    rows += ["end-easy,7422341735647741166133573473242566,1", "false,7422341735647741166133573473242566,2"]
    (tmp_path / "positions.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    lines = [line.split() for line in run("positions.py", str(tmp_path / "positions.csv"), "2").splitlines()]
    assert [line[:4] for line in lines[1:]] == [["end-easy", "2", "0", "0"], ["false", "1", "1", "0"]]


@pytest.mark.thorough
def test_others_are_found_to_say_the_same(monkeypatch):
    """Without these libraries: values of our own, and calls counted of a function that calls itself."""
    monkeypatch.syspath_prepend(FOLDER)
    others = importlib.import_module("others")
    assert [others.ours(text).sign for text in ("tictactoe", "dotsandboxes:1,1")] == [0, -1]
    library = SimpleNamespace()
    library.walk = lambda plies: -library.walk(plies - 1) if plies else 1
    assert others.timed(library, "walk", lambda: library.walk(5))[:2] == (-1, 6)


@pytest.mark.thorough
def test_lookup(solved):
    lines = run("lookup.py", str(solved("chess:KRK"))).splitlines()
    assert lines[0] == "chess:KRK, slots"
    assert [line[:4] for line in lines[1:]] == ["open", "cold", "the ", "at o"]


@pytest.mark.slow
def test_serve(tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    lines = run("serve.py", "tictactoe").splitlines()
    assert [line.split("  ")[0] for line in lines[1:4]] == [
        "a request that finds nothing", "tictactoe", "tictactoe, with its picture"
    ]  # fmt: skip
    assert lines[4].startswith("16 clients at once: ")
    assert [line.split("  ")[0] for line in lines[5:]] == [
        "a server listens", "/?v=tictactoe", "/api/game?variant=tictactoe",
        "/api/position?variant=tictactoe&line=true", "/api/gallery",
    ]  # fmt: skip


def test_the_page_of_solved_games_is_made_of_its_data(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    solved_games = importlib.import_module("solved")
    rows, text = solved_games.read(), solved_games.PAGE.read_text(encoding="utf-8")
    assert text == solved_games.page(text, rows), "run python benchmarks/solved.py --write"
    assert len({row["command"] for row in rows}) == len(rows) and all(row["start"] or row["digest"] for row in rows)


@pytest.mark.thorough
def test_a_row_of_solved_games_is_computed_again(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(FOLDER))
    solved_games = importlib.import_module("solved")
    (row,) = (row for row in solved_games.read() if row["command"] == "solve tictactoe")
    found = solved_games.compute(row["command"])
    assert solved_games.differences(row, found) == []
    assert solved_games.differences({**row, "start": "win in 9"}, found) == ["start tie in 9, not win in 9"]


@pytest.mark.slow
def test_all_rows_of_solved_games_that_take_half_a_minute_are_computed_again():
    command = [sys.executable, FOLDER / "solved.py", "--below", "30"]
    assert subprocess.run(command, stdout=subprocess.DEVNULL).returncode == 0


@pytest.mark.thorough
def test_the_plain_file_is_the_same_game(solved, tmp_path):
    """What is compared in the benchmarks has the same answer."""
    from retrograde.databases.file import DatabaseFile
    from retrograde.games.catalog import load_game
    from retrograde.solver.engine import solve

    plain = solve(load_game(f"{FOLDER / 'plain_connect4.py'}:4,3"), tmp_path / "plain.h5")
    legends = [DatabaseFile(path).legend for path in (plain, solved("connect4:4,3"))]
    assert [row[:4] for row in legends[0]] == [row[:4] for row in legends[1]]


MISERE = ROOT / "tests" / "helpers" / "misere4.py"


def rows_of_boards(table: str = "boards.csv", rules: str | Path = "connect4") -> dict[str, dict[str, str]]:
    with open(FOLDER / table, newline="", encoding="utf-8") as file:
        return {f"{rules}:{row['width']},{row['height']},{row['in_a_row']}": row for row in csv.DictReader(file)}


def test_boards_are_as_published():
    """Positions and the longest win and loss, by counts from outside, of all boards of which there are any."""
    rows, known = rows_of_boards(), published.connect4()
    assert len(rows) == 40 and {*known} <= {*rows}
    for variant, counts in known.items():
        row = rows[variant]
        longest = [max((far for value, far in counts if value == kind), default=0) for kind in (WIN, LOSE)]
        assert [row["positions"], row["longest_win"], row["longest_loss"]] == list(
            map(str, [sum(counts.values()), *longest])
        )


def test_misere_play_has_the_same_positions():
    """The same moves lead to the same ends, whoever has won there."""
    rows, others = rows_of_boards(), rows_of_boards("misere.csv")
    assert len(others) > 30 and {*others} <= {*rows}
    assert all(row["positions"] == rows[variant]["positions"] for variant, row in others.items())


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("table", "rules", "line"),
    [
        ("boards.csv", "connect4", "3"),
        ("boards.csv", "connect4", "5"),
        ("misere.csv", MISERE, "3"),
        ("misere.csv", MISERE, "4"),
    ],
)
def test_boards_are_worth_what_search_proves(table, rules, line):
    some = {variant: row for variant, row in rows_of_boards(table, rules).items() if row["in_a_row"] == line}
    small = {variant: row for variant, row in some.items() if int(row["width"]) * int(row["height"]) <= 16}
    assert len(small) > 1
    for variant, row in small.items():
        told = json.loads(retrograde("search", variant, "--json").stdout)
        assert (told["value"], told["remoteness"]) == (row["value"], int(row["remoteness"])), variant


@pytest.mark.slow
def test_boards_come_out_the_same(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    boards = importlib.import_module("boards")
    for board in ("3,3,3", "4,4,3", "5,4,5"):
        for table, rules in boards.RULES.items():
            assert boards.solve(board, rules) == boards.read(table)[board]


def test_tables_beside_others(tmp_path, monkeypatch, capsys):
    """Of tables that are in both folders alone; python-chess is what the positions are made with."""
    pytest.importorskip("chess")
    monkeypatch.syspath_prepend(str(FOLDER))
    syzygy = importlib.import_module("syzygy")
    for folder, sizes in (("ours", (300, 500)), ("theirs", (200, 1000))):
        (tmp_path / folder).mkdir()
        for suffix, size in zip(syzygy.SUFFIXES, sizes, strict=True):
            (tmp_path / folder / f"KRvK{suffix}").write_bytes(bytes(size))
    (tmp_path / "ours" / "KQvK.rtbw").write_bytes(bytes(80))
    assert syzygy.main([str(tmp_path / "ours"), str(tmp_path / "theirs")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[1:]] == [
        [name, "300", "200", "1.50", "500", "1,000", "0.50"] for name in ("KRvK", "all")
    ]
    boards = list(syzygy.positions(["KRvK"], 20, syzygy.random.Random(1)))
    assert len({board.fen() for board in boards}) == 20
    assert all(board.is_valid() and len(board.piece_map()) == 3 for board in boards)


def test_exported_endings_are_compared(tmp_path, monkeypatch, solved, capsys):
    """Of three men, from an empty row; then with other distances than those in the table."""
    pytest.importorskip("chess")
    copy_whole(solved("chess:KRK", "dtz"), tmp_path)
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    monkeypatch.syspath_prepend(str(ROOT))
    benchmark = importlib.import_module("benchmarks.endings_syzygy")
    rows = {"KRK": {**benchmark.read()["KRK"], "cpu_seconds": "", "wdl": ""}}
    monkeypatch.setattr(benchmark, "TABLE", tmp_path / "table.csv")
    monkeypatch.setattr(benchmark, "endings_in_order", lambda: ["KRK"])
    benchmark.save(rows)
    assert benchmark.main([str(tmp_path / "tables"), "--positions", "200"]) == 0
    row = benchmark.read()["KRK"]
    assert (row["positions"], row["differ"], row["wdl"], row["original_wdl"]) == ("200", "0", "208", "208")
    assert benchmark.main([str(tmp_path / "tables")]) == 0  # there is nothing left to do
    assert capsys.readouterr().out.startswith("KRK 200 0 208 7")
    monkeypatch.setattr(benchmark, "expected_distance", lambda plies, exact, is_stored: plies + 2)
    assert benchmark.main([str(tmp_path / "tables"), "KRK", "--positions", "200"]) == 1
    assert int(benchmark.read()["KRK"]["differ"]) > 20


def test_the_table_of_exported_endings_has_them_all(monkeypatch):
    """With the sizes of the originals; those of up to four men are also in the table of bytes."""
    pytest.importorskip("chess")
    monkeypatch.syspath_prepend(str(ROOT))
    benchmark = importlib.import_module("benchmarks.endings_syzygy")
    rows = benchmark.read()
    assert {*rows} == {*benchmark.endings_in_order()} and len(rows) == 145
    assert {row["differ"] for row in rows.values() if row["positions"]} == {"0"}
    with open(FOLDER / "endings_bytes.csv", newline="", encoding="utf-8") as file:
        for known in csv.DictReader(file):
            assert rows[known["ending"]]["original_wdl"] == known["rtbw"]
