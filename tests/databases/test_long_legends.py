"""Legends with more columns, and nearly as many rows as there are records: written, read, held against forgery."""

from types import SimpleNamespace

import h5py
import numpy as np
import pytest

from retrograde.databases import DamagedDatabase, DatabaseFile, VersionTooNew, open_database
from retrograde.databases.header import write_attributes
from retrograde.databases.layout import LegendRow
from retrograde.databases.write import write_database
from retrograde.games.contract.game import LOSE, WIN, Game
from retrograde.solver.metrics.method import MetricResult, solved_from

COUNT = 100_000


class Row(Game):
    """A row of cells, along which nothing happens."""

    start = 0

    def generate_moves(self, cell):
        yield 0

    def do_move(self, cell, move):
        return cell


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A database of a hundred thousand records, each with an outcome of its own but two."""
    cells = np.arange(COUNT)
    space = SimpleNamespace(positions=7 * cells, tiers=np.array([0]), starts=np.array([0, COUNT]))
    explored = SimpleNamespace(space=space, sizes=np.zeros(0, np.uint16))
    low = np.where(cells == 5, 4, cells) * (-1) ** cells
    columns = {"low": low, "high": low + 2}
    values, plies = np.where(low > 0, WIN, LOSE).astype(np.uint8), np.zeros(COUNT, np.int32)
    solved = solved_from(explored, MetricResult(values, plies, columns, {"scale": 4}), "expectation")
    return write_database(tmp_path_factory.mktemp("long") / "row.h5", Row(), solved)


@pytest.mark.thorough
def test_each_record_has_its_own_measures(path):
    with open_database(path, game=Row()) as database:
        assert database.metric == "expectation" and database.file.details == {"scale": 4}
        assert len(database.file.legend) == COUNT
        for cell in (0, 1, 2, 4, 99_999):
            own = cell * (-1) ** cell
            assert database.measures(7 * cell) == {"low": own, "high": own + 2}
            assert database[7 * cell] == (WIN if own > 0 else LOSE, 0)
        values, plies = database.lookup(7 * np.arange(-1, 6))
        assert values.tolist() == [0, 1, 1, 4, 1, 4, 1] and plies.tolist() == [-1, 0, 0, 0, 0, 0, 0]
        rows = list(database.file.legend)
        assert rows[0] == LegendRow(LOSE, 0, 1, 1, 7 * 99_999, (-99_999, -99_997)) == database.file.legend[0]
        assert database.file.legend[:3] == rows[:3] and rows == sorted(rows, key=lambda row: (*row[:2], row.measures))
        database.file.check()


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("measures", '["low"]', "measures|columns|type"),
        ("measures", '["low", "value"]', "its attribute measures"),
        ("measures", '["low", "low"]', "its attribute measures"),
        ("measures", '["low", "Hi gh"]', "its attribute measures"),
        ("measures", "[]", "its attribute measures"),
        ("details", "[]", "its attribute details"),
        ("metric", "remoteness in plies", "the metric is 'remoteness in plies'; known is 'score'"),
        ("format_version", 2, "the metric is 'expectation'"),
        ("format_version", 3, "the metric is 'expectation'"),
        ("start_row", 1 << 40, "damaged"),
        ("start_row", 0, "the start is worth one thing"),
    ],
)
def test_forged_attributes_are_refused(path, tmp_path, name, value, what):
    copy = tmp_path / "copy.h5"
    copy.write_bytes(path.read_bytes())
    with h5py.File(copy, "r+") as file:
        if name == "start_row" and value == 0:
            file.attrs.modify("start_value", np.int64(4))
        del file.attrs[name]
        write_attributes(file, {name: value})
    with pytest.raises((DamagedDatabase, VersionTooNew), match=what), DatabaseFile(copy) as file:
        file.legend[0]
