"""What a solve by ranges is expected to take, beside what one takes whose tasks are watched."""

import pickle
import tracemalloc
from pathlib import Path

import pytest

from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.estimation.estimate import estimate
from retrograde.solver.estimation.ranges import WORKER, add_ranges
from retrograde.solver.methods.listed.ranges.steps import assemble, run_steps
from retrograde.solver.methods.shapes.range_tasks import advance_all
from retrograde.solver.runtime.memory import peak_memory
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.runtime.tasks import inner_function
from tests.helpers.elsewhere import Elsewhere


class Watched(Elsewhere):
    """Counts what is sent of steps, the memory that tasks of ranges take, and what lies in a folder at most."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.sent, self.memory, self.steps, self.disk = 0, 0, 0, 0

    def run(self, task):
        function, args = pickle.loads(task)
        tracemalloc.start()
        try:
            result = pickle.dumps(function(*args))
            taken = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        function = inner_function(function)
        if function in (assemble, run_steps, advance_all):
            self.memory = max(self.memory, taken)
        if function in (run_steps, advance_all):
            self.sent, self.steps = self.sent + len(task) + len(result), self.steps + len(args[0][-1])
        self.disk = max(self.disk, sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file()))
        return pickle.loads(result)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("variant", "way", "least"),
    [("teeko:4,3", "numbered", 20_000), ("teeko:4,3", "setwise", 20_000), ("lgame", "listed", 2_000)],
)
def test_a_solve_takes_what_it_is_expected_to(variant, way, least, tmp_path, monkeypatch):
    for module in ("listed.ranges.tier", "shapes.ranges"):
        monkeypatch.setattr(f"retrograde.solver.methods.{module}.TOGETHER", 1)  # or all would be done here
    monkeypatch.setattr("retrograde.solver.methods.shapes.ranges.LEAST_SLOTS", 1 << 10)
    sizes = Sizes(ranged_slots=least, range_bits=11)
    if way == "numbered":  # slot by slot, as a game without steps
        monkeypatch.setattr("retrograde.solver.estimation.ranges.is_shaped", lambda _: False)
    game, path = load_game(variant), tmp_path / "there" / "game.h5"
    expected = estimate(game, workers=1)
    alone = dict(expected.ranges)
    assert add_ranges(game, expected, workers=1, sharing=1, sizes=sizes)
    assert not any("predecessor lists" in basis for basis in expected.rests_on)  # there are no forward passes
    solve(game, tmp_path / "warm.h5", method=way, executor=Elsewhere(), sizes=sizes)  # what compiles takes more
    watched = Watched(path.parent)
    solve(game, path, method=way, executor=watched, sizes=sizes)
    low, high = expected.ranges["worker"]
    assert low - WORKER.low < 2 * watched.memory and watched.memory < high - WORKER.high
    low, high = expected.ranges["scratch"]
    assert low / 2 < watched.disk < high
    ranges = expected.ranges["wire"][0] / 1000
    low, high = (amount / ranges for amount in expected.ranges["wire"])
    assert low / 2 < watched.sent / watched.steps < high
    assert expected.ranges["memory"][0] < peak_memory()  # here tasks are in it as well
    assert expected.ranges["scratch"][1] > alone["scratch"][1] and expected.seconds > alone["seconds"][0]
    assert any("ranges" in sentence for sentence in expected.rests_on)


def test_where_no_tier_lies_in_ranges_the_estimate_stays():
    for variant in ("connect4:4,4", "chess:KRK", "mutorere"):
        game = load_game(variant)
        expected = estimate(game)
        before = dict(expected.ranges)
        assert not add_ranges(game, expected, workers=2, sharing=2)
        assert expected.ranges == before and "worker" not in before
