"""`retrograde export`: what is written is what the database holds, in every form."""

import csv
import json
import sys

import numpy as np
import pytest

from retrograde.games import DRAW, LOSE, WIN, Value
from retrograde.solver.play.solution import open_solution
from tests.helpers.command_line import retrograde

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def home(solved, monkeypatch, tmp_path):
    """The folder with databases of tic-tac-toe, Mū tōrere and Connect Four; files are written elsewhere."""
    for variant in ("tictactoe", "mutorere", "connect4:4,4"):
        path = solved(variant)
    monkeypatch.setenv("RETROGRADE_HOME", str(path.parent))
    monkeypatch.chdir(tmp_path)
    return path.parent


def read(path) -> list[tuple]:
    """Return what a file holds: tier, position, text, value, remoteness (None for a draw) and, perhaps, moves."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            head, *rows = csv.reader(file)
        assert head[:5] == ["tier", "position", "text", "value", "remoteness"]
        return [(int(r[0]), int(r[1]), r[2], Value[r[3].upper()], int(r[4]) if r[4] else None, *r[5:]) for r in rows]
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            assert list(arrays)[:5] == ["tier", "position", "text", "value", "remoteness"]
            rows = list(zip(*(arrays[name].tolist() for name in arrays), strict=True))
        return [(*r[:3], Value(r[3]), None if r[4] < 0 else r[4], *r[5:]) for r in rows]
    table = pytest.importorskip("pyarrow.parquet").read_table(path)
    assert table.column_names[:5] == ["tier", "position", "text", "value", "remoteness"]
    assert table.schema.field("value").type.ordered
    assert table["value"].combine_chunks().dictionary.to_pylist() in (["lose", "draw", "tie", "win"], [])
    rows = zip(*table.to_pydict().values(), strict=True)
    return [(*r[:3], Value[r[3].upper()], *r[4:]) for r in rows]


def stored(source, keep=lambda value, remoteness: True, moves=False) -> list[tuple]:
    """Return the same of a database."""
    with open_solution(source) as solution:
        rows = [
            (tier, position, solution.game.write(position), Value(value), None if value == DRAW else plies)
            for tier, *arrays in solution.database.records()
            for position, value, plies in zip(*(array.tolist() for array in arrays), strict=True)
            if keep(value, plies)
        ]
        if moves:
            names = [" ".join(one.name for one in solution.best(row[1])) for row in rows]
            rows = [(*row, name) for row, name in zip(rows, names, strict=True)]
        return rows


@pytest.mark.parametrize("form", ["csv", "npz", "parquet"])
@pytest.mark.parametrize("variant", ["tictactoe", "mutorere", pytest.param("connect4:4,4", marks=pytest.mark.thorough)])
def test_all_is_written_as_it_is_stored(variant, form, tmp_path):
    if form == "parquet":
        pytest.importorskip("pyarrow")
    file = tmp_path / f"all.{form}"
    result = retrograde("export", variant, "-o", file)
    rows = read(file)
    assert rows == stored(variant)
    assert result.stdout == f"{len(rows):,} positions in {file}\n"
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize("form", ["csv", "npz", "parquet"])
def test_moves_and_filters(form, tmp_path):
    if form == "parquet":
        pytest.importorskip("pyarrow")
    file = tmp_path / f"some.{form}"
    retrograde("export", "tictactoe", "-o", file, "--value", "win", "--remoteness", "2..", "--moves")
    rows = read(file)
    assert rows == stored("tictactoe", lambda value, plies: value == WIN and plies >= 2, moves=True)
    assert len(rows) > 20
    retrograde("export", "tictactoe", "-o", file, "--value", "lose", "--remoteness", "0")
    assert read(file) == stored("tictactoe", lambda value, plies: value == LOSE and plies == 0)
    retrograde("export", "tictactoe", "-o", file, "--tier", "9")
    assert read(file) == [row for row in stored("tictactoe") if row[0] == 9]
    retrograde("export", "tictactoe", "-o", file, "--value", "draw")
    assert read(file) == []


@pytest.mark.thorough
def test_a_sample_repeats_with_its_seed(tmp_path):
    def sample(seed):
        retrograde("export", "connect4:4,4", "-o", "some.csv", "--sample", "300", "--seed", seed)
        return read(tmp_path / "some.csv")

    once = sample("1")
    assert once == sample("1") != sample("2")
    assert len(set(once)) == 300
    assert set(once) < set(stored("connect4:4,4"))


def test_the_name_of_the_file_and_facts_for_machines(tmp_path, home):
    facts = json.loads(retrograde("export", home / "tictactoe.h5", "--json").stdout)
    assert facts == {"variant": "tictactoe", "positions": 765, "path": "tictactoe.csv"}
    assert len(read(tmp_path / "tictactoe.csv")) == 765


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (["-o", "some.xlsx"], 2, "the file must be .parquet, .csv, .npz, not 'some.xlsx'"),
        (["--seed", "1"], 2, "--seed goes with --sample"),
        (["--remoteness", "9..3"], 2, "'9..3' is no number of plies, such as 5, and no range, such as 12.. or 3..9"),
        (["--remoteness", "few"], 2, "'few' is no number of plies"),
        (["--value", "won"], 2, "'won' is not one of"),
        (["-o", "nowhere/some.csv"], 1, "cannot write 'nowhere/some.csv': No such file or directory"),
        (["-o", "nowhere/some.npz"], 1, "cannot write 'nowhere/some.npz': No such file or directory"),
    ],
)
def test_what_cannot_be_done_is_said_on_a_line(options, status, said, tmp_path):
    result = retrograde("export", "tictactoe", *options, status=status)
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_parquet_without_pyarrow_is_refused_on_a_line(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    said = retrograde("export", "tictactoe", "-o", "some.parquet", status=1).stderr
    what = "get it with: pip install pyarrow, or write .csv or .npz"
    assert said == f"retrograde: error: Parquet needs pyarrow; {what}\n"
    assert not list(tmp_path.iterdir())


def test_a_file_that_was_there_stays_until_the_new_one_is_whole(tmp_path, monkeypatch):
    (tmp_path / "some.csv").write_text("mine", encoding="utf-8")
    retrograde("export", "nosuch", "-o", "some.csv", status=1)
    assert (tmp_path / "some.csv").read_text(encoding="utf-8") == "mine"


def test_a_tier_that_is_not_there_is_told_on_a_line(tmp_path):
    done = retrograde("export", "tictactoe", "--tier", "77", "-o", tmp_path / "some.csv", status=1)
    what = "there is no tier 77 in the database of tictactoe, of 10 tiers: 0, 1, 2, 3, 4, 5, …, 9"
    assert done.output == f"retrograde: error: {what}\n"
    assert not list(tmp_path.glob("some*"))
