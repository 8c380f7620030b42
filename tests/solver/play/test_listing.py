"""All positions of a database, by value and remoteness, as they stream by and as frames of other libraries."""

import sys
from collections import Counter

import numpy as np
import pytest

from retrograde.databases import open_database
from retrograde.games import DRAW, LOSE, TIE, UNDECIDED, WIN, RetrogradeError, Value
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.play import listing
from retrograde.solver.play.solution import open_solution
from retrograde.solver.runtime.sizes import Sizes
from tests.helpers.marks import thorough_but

pytestmark = pytest.mark.long


def rows(pieces) -> list[tuple[int, ...]]:
    """Return pieces as tuples of tier, position, value, remoteness."""
    return [row for piece in pieces for row in zip(*(column.tolist() for column in piece), strict=True)]


@pytest.fixture
def steps(tmp_path):
    """The path of a database of steps."""
    return solve(load_game("connect4:4,4"), tmp_path / "steps.h5", method="streamed", sizes=Sizes(in_memory=1))


@pytest.mark.parametrize("variant", thorough_but(["connect4:4,4", "mutorere", "chess:KRK"], "connect4:4,4", "mutorere"))
def test_all_records_are_listed_in_order(variant, solved, monkeypatch):
    monkeypatch.setattr(listing, "ROWS", 5000)
    with open_solution(solved(variant)) as solution:
        stored = [
            (tier, *row)
            for tier, *arrays in solution.database.records()
            for row in zip(*(array.tolist() for array in arrays), strict=True)
        ]
        pieces = list(solution.positions())
        assert rows(pieces) == stored
        assert len(stored) == solution.database.file.stored
        assert all(len(piece.positions) < 5000 + 16384 for piece in pieces)
        legend = Counter({(row.value, row.remoteness): row.stored for row in solution.database.file.legend})
        assert Counter(row[2:] for row in rows(pieces)) == legend


@pytest.mark.thorough
def test_slots_are_listed_interpreted_where_they_must(solved, monkeypatch):
    with open_solution(solved("chess:KRK")) as solution:
        compiled = rows(solution.positions(WIN, 3))
        monkeypatch.setattr(listing, "BULK", 1 << 40)
        assert rows(solution.positions(WIN, 3)) == compiled
        assert len(compiled) > 20


@pytest.mark.thorough
def test_steps_are_explored(steps, solved):
    """Positions where the game is over are left out."""
    with open_solution(steps) as solution, open_database(solved("connect4:4,4")) as records:
        found = {row[1]: row for row in rows(solution.positions())}
        expected = {
            position: (tier, position, value, plies)
            for tier, *arrays in records.records()
            for position, value, plies in zip(*(array.tolist() for array in arrays), strict=True)
            if records.game.primitive(position) == UNDECIDED
        }
        assert found == expected
        assert len(solution.positions()) == len(found)
        assert sorted(path.name for path in steps.parent.iterdir()) == ["steps.h5"]  # no scratch is left
        chosen = rows(solution.positions(LOSE, range(4, 7)))
        assert chosen == [row for row in rows(solution.positions()) if row[2] == LOSE and 4 <= row[3] <= 6]


def test_positions_by_value_remoteness_and_tier(solved):
    with open_solution(solved("connect4:4,4")) as solution:
        every = rows(solution.positions())
        tier = every[len(every) // 2][0]
        assert rows(solution.positions(WIN)) == [row for row in every if row[2] == WIN]
        assert rows(solution.positions(remoteness=5)) == [row for row in every if row[3] == 5]
        assert rows(solution.positions(LOSE, range(2, 9, 1), tier)) == [
            row for row in every if row[0] == tier and row[2] == LOSE and 2 <= row[3] <= 8
        ]
        assert rows(solution.positions("lose", np.int64(4))) == rows(solution.positions(LOSE, 4))
        assert rows(solution.positions(DRAW)) == []
    with open_solution(solved("mutorere")) as solution:
        draws = rows(solution.positions(DRAW))
        assert {row[3] for row in draws} == {-1}
        assert not [row for row in rows(solution.positions(remoteness=range(0, 99))) if row[2] == DRAW]


@pytest.mark.parametrize(
    ("wanted", "error", "complaint"),
    [
        ({"value": "won"}, ValueError, "no position is worth 'won'; there are win, lose, tie, draw"),
        ({"value": UNDECIDED}, ValueError, "no position is worth"),
        ({"value": 99}, ValueError, "no position is worth 99"),
        ({"value": (WIN, TIE)}, ValueError, "no position is worth"),
        ({"value": [WIN]}, TypeError, "list"),
        ({"remoteness": -3}, ValueError, "are no numbers of plies"),
        ({"remoteness": 3.5}, TypeError, "float"),
        ({"remoteness": "3"}, TypeError, "str"),
        ({"remoteness": range(2, 9, 2)}, ValueError, "2.* are no numbers of plies, from 0 on, with none left out"),
        ({"remoteness": range(-1, 3)}, ValueError, "no numbers of plies"),
        ({"remoteness": range(3, 3)}, ValueError, "no numbers of plies"),
        ({"tier": "2"}, TypeError, "str"),
    ],
)
def test_what_cannot_be_wanted_is_refused_at_once(wanted, error, complaint, solved):
    with open_solution(solved("tictactoe")) as solution, pytest.raises(error, match=complaint):
        solution.positions(**wanted)


def test_a_tier_that_is_not_there_is_told_with_those_that_are(solved):
    with open_solution(solved("tictactoe")) as solution:
        assert len(rows(solution.positions(DRAW, tier=9))) == 0
        what = "there is no tier -5 in the database of tictactoe, of 10 tiers: 0, 1, 2, 3, 4, 5, …, 9"
        with pytest.raises(LookupError, match=what):
            solution.positions(tier=-5).to_numpy()


def test_a_sample_is_by_chance_and_repeats_with_its_seed(solved):
    with open_solution(solved("connect4:4,4")) as solution:
        some = solution.positions(WIN)
        every = rows(some)
        sample = rows([some.sample(200, 7)])
        assert sample == rows([some.sample(200, 7)]) != rows([some.sample(200, 8)])
        assert len(set(sample)) == 200
        assert sample == [row for row in every if row in set(sample)]  # in order
        assert rows([some.sample(len(every) + 1, 1)]) == every
        assert rows([some.sample(0, 1)]) == []
        places = [every.index(row) / len(every) for row in sample]
        assert 0.4 < np.mean(places) < 0.6


def test_frames_of_the_libraries_that_there_are(solved):
    with open_solution(solved("tictactoe")) as solution:
        some = solution.positions(WIN, range(1, 4))
        expected = rows(some)
        arrays = some.to_numpy()
        assert list(arrays) == ["tier", "position", "value", "remoteness"]
        assert list(zip(*(array.tolist() for array in arrays.values()), strict=True)) == expected
        assert [array.dtype for array in arrays.values()] == [np.int64, np.int64, np.uint8, np.int32]
        assert len(solution.positions(DRAW).to_numpy()["position"]) == 0
        with pytest.raises(ValueError, match="no library 'excel' for frames; there are pandas and polars"):
            some.to_frame("excel")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_what_there_is(library, solved):
    module = pytest.importorskip(library)
    with open_solution(solved("tictactoe")) as solution:
        some = solution.positions(WIN)
        expected = rows(some)
        if library == "pyarrow":
            table = module.table(some)  # by __arrow_c_stream__
            assert table.equals(some.to_arrow().read_all())
            columns = table.to_pydict().values()
        else:
            frame = some.to_frame(library)
            columns = [frame[name].to_list() for name in listing.NAMES]
        assert list(zip(*columns, strict=True)) == [(*row[:2], Value(row[2]).name.lower(), row[3]) for row in expected]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_values_of_frames_are_ordered_categories_and_a_draw_has_no_remoteness(library, solved):
    module = pytest.importorskip(library)
    with open_solution(solved("mutorere")) as solution:
        every, draws = solution.where(), solution.where("draw")
        if library == "pandas":
            frame = every.to_frame()
            assert (frame["value"].min(), frame["value"].max()) == ("lose", "win")
            assert frame["remoteness"].isna().sum() == len(draws)
        elif library == "polars":
            frame = every.to_frame("polars").sort("value")
            assert (frame["value"][0], frame["value"][-1]) == ("lose", "win")
            assert frame["remoteness"].null_count() == len(draws)
        else:
            values, remoteness = module.table(every)["value"].combine_chunks(), module.table(every)["remoteness"]
            assert values.dictionary.to_pylist() == ["lose", "draw", "tie", "win"]
            assert values.type.ordered
            assert remoteness.null_count == len(draws)
        assert 0 < len(draws) < len(every)


@pytest.mark.parametrize("variant", thorough_but(["tictactoe", "chess:KRK", "pig:target=10"], "tictactoe"))
def test_the_length_of_a_listing_is_the_number_of_its_positions(variant, solved):
    with open_solution(solved(variant)) as solution:
        tier = rows(solution.positions())[-1][0]
        for wanted in ({}, {"value": "win"}, {"value": "draw"}, {"remoteness": range(1, 5)}, {"tier": tier}):
            some = solution.where(**wanted)
            assert len(some) == sum(len(chunk.positions) for chunk in some) == len(some.to_numpy()["tier"])
            assert len(some) > 0 or wanted == {"value": "draw"} or variant.startswith("pig")


def test_the_old_name_of_remoteness_warns(solved):
    with open_solution(solved("tictactoe")) as solution:
        chunk = next(iter(solution.positions()))
        with pytest.warns(DeprecationWarning, match="remotenesses is now called remoteness"):
            assert chunk.remotenesses is chunk.remoteness


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_library_that_is_not_there_is_named(library, solved, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with open_solution(solved("tictactoe")) as solution:
        some = solution.positions()
        with pytest.raises(RetrogradeError, match=f"{library} is not installed; get it with: pip install {library}"):
            some.to_arrow() if library == "pyarrow" else some.to_frame(library)
