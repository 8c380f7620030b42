"""Games whose positions have several words, solved in a stream: held against lists in memory and slow solvers."""

import os
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrograde.databases import open_database
from retrograde.games import RuleError
from retrograde.solver.engine import solve
from retrograde.solver.estimation.amounts import STREAMED_IN_WORDS, streamed_estimate
from retrograde.solver.estimation.estimate import estimate_from_counts
from retrograde.solver.estimation.sampling import Sampler
from retrograde.solver.methods.streamed import forward, lists, steps
from retrograde.solver.methods.streamed.forward import ForwardSweep, ascend
from retrograde.solver.methods.streamed.forward_tasks import sort_lists
from retrograde.solver.methods.streamed.method import StreamedMethod
from retrograde.solver.methods.streamed.rows import batches
from retrograde.solver.methods.streamed.segments import Segment, list_columns, list_type
from retrograde.solver.runtime.scratch import Frame
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.verification.verify import verify
from tests.helpers import ladder, reference
from tests.helpers.command_line import environment
from tests.helpers.ladder import WideBrokenLadder, WideLadder
from tests.helpers.marks import thorough_but
from tests.helpers.paths import ROOT
from tests.helpers.solving import Stop
from tests.helpers.wide import TieredConnectFour, WideConnectFour, WideTicTacToe

words = st.one_of(st.integers(0, 3), st.integers(0, (1 << 62) - 1), st.integers(0, 40).map(lambda shift: 5 << shift))
SIZES = {"in_memory": 1, "stream_milestone": 1, "stream_positions": 100}


def lists_of_rows(width):
    return st.lists(st.tuples(*[words] * width), min_size=1, unique=True)


def rows_of(positions):
    return np.array(positions, np.int64)


def positions_of(rows):
    return [*map(tuple, rows.tolist())]


def cut(children, **more):
    """Return sizes by which tiers are cut into parts of about so many children."""
    return Sizes(stream_children=children, stream_least_children=children, **SIZES, **more)


# The kernels. The machine code has functions of its own for rows, so these tests are compiled.

each_width = pytest.mark.parametrize("width", thorough_but([2, 3, 4], 3))


@pytest.mark.as_python
@each_width
@settings(max_examples=60, deadline=None)
@given(st.data(), st.booleans())
def test_rows_are_unpacked_as_they_were_packed(width, data, many):
    positions = data.draw(lists_of_rows(width))
    # Many positions have more than one block.
    if many:
        positions = [(*position[:-1], k) for position in positions for k in range(300)]
    rows = rows_of(sorted({*positions}))
    count = len(rows)
    codes = (np.arange(count) % 1000).astype(np.uint16)
    for with_codes in (codes, codes[:0]):
        written = np.zeros((lists.MOST_BYTES + lists.MOST_WORD_BYTES * (width - 1)) * count // 8 + 8, np.int64)
        table = np.zeros((2, list_columns(width)), np.int64)
        # Of two lists, the first of which is empty.
        size = lists.pack_lists(rows, with_codes, np.array([0, count]), written, table)
        about = table.view(list_type(width))[1, 0].tolist()
        assert about[:6] == (0, size, count, 0, tuple(rows[0].tolist()), tuple(rows[-1].tolist()))
        arena = lists.Arena(written, np.array([[0, count, 0, 0, 0, 0, 0]], np.int64))
        found, found_codes = np.empty_like(rows), np.empty(count, np.uint16)
        if len(with_codes):
            assert lists.unpack_steps(arena, 0, found, found_codes, 0) == count
            assert found_codes.tolist() == codes.tolist()
        else:
            lists.unpack_lists(arena, found)
        assert found.tolist() == rows.tolist()


@pytest.mark.as_python
@each_width
@settings(max_examples=100, deadline=None)
@given(st.data())
def test_steps_of_rows_are_found(width, data):
    positions = sorted(data.draw(lists_of_rows(width)))
    asked = [*positions, *data.draw(st.lists(st.tuples(*[words] * width), max_size=20))]
    asked += [(*position[:-1], position[-1] + 1) for position in positions]
    first, last = (-1,) * width, (1 << 62,) * width
    starts = rows_of([first, (5,) * width, last, first, *positions, last])
    spans = np.array([[0, 2, 0, 0, 0], [3, len(starts) - 1, 0, 0, 0]], np.int64)
    loaded = steps.LoadedSteps(starts, np.zeros(len(starts), np.uint16), np.empty(len(starts), np.int32), spans)
    for tier in range(2):
        steps.index_steps(loaded, tier)
    for position in asked:
        assert steps.find_step(loaded, 1, position) == 3 + sum(one <= position for one in positions)


@each_width
@settings(max_examples=60, deadline=None)
@given(st.data(), st.randoms())
def test_lists_of_rows_are_sorted_and_have_no_doubles(width, data, random):
    positions = data.draw(lists_of_rows(width))
    parts = [random.choices(positions, k=random.randrange(7)) for _ in range(3)]
    rows = rows_of([position for part in parts for position in part]).reshape(-1, len(positions[0]))
    ends = np.cumsum([len(part) for part in parts])
    sort_lists(rows, ends)
    found = [positions_of(rows[low:high]) for low, high in zip([0, *ends[:-1]], ends, strict=True)]
    assert found == [sorted({*part}) for part in parts]
    assert ascend(rows_of(sorted(positions * 2)))
    assert ascend(rows_of(positions)) == (positions == sorted(positions))


@pytest.mark.as_python
@each_width
def test_a_tally_has_the_first_position_of_the_first_tier(width):
    chance = Random(width)
    counted = [(chance.randrange(3), tuple(chance.choices(range(3), k=width))) for _ in range(40)]
    tally = np.zeros((1, steps.FIRST_POSITION + width), np.int64)
    for number, (tier, position) in enumerate(counted, 1):
        steps.count_in(tally, 0, tier, position, 2)
        first = min(counted[:number])
        assert tally[0, steps.FIRST_TIER] == first[0]
        assert tuple(tally[0, steps.FIRST_POSITION :].tolist()) == first[1]
        assert (tally[0, steps.STORED], tally[0, steps.POSITIONS]) == (number, 2 * number)


def test_lists_that_overlap_are_merged_together():
    def segments(*ranges):
        return [Segment(Frame("", 0, 0, 0, 0), 0, 0, 1, 0, (0, first), (0, last)) for first, last in ranges]

    found = batches(segments((1, 9), (2, 3), (8, 12), (13, 13), (14, 20), (20, 21)))
    assert [[(one.first[1], one.last[1]) for one in batch] for batch in found] == [
        [(1, 9), (2, 3), (8, 12)], [(13, 13)], [(14, 20), (20, 21)],
    ]  # fmt: skip


# The whole

GAMES = {
    "tictactoe": WideTicTacToe(),
    "connect4": WideConnectFour(4, 3),
    "connect4 by columns": TieredConnectFour(4, 3),
    "ladder": WideLadder(12, 200, 1),
    "long ladder": WideLadder(30, 500, 3),
}
SHORT = WideLadder(6, 40, 1)
SHORTEST = WideLadder(5, 20, 1)
"""Games of 120 and 50 positions, for loops that run as Python."""


@pytest.mark.thorough
@pytest.mark.parametrize("name", GAMES)
def test_a_stream_has_the_bytes_of_lists(name, tmp_path):
    solve_in_both_ways(GAMES[name], tmp_path, 300, 2000)


@pytest.mark.as_python
def test_a_stream_of_a_small_game_has_the_bytes_of_lists(tmp_path):
    solve_in_both_ways(SHORT, tmp_path, 10, 60)


def solve_in_both_ways(game, tmp_path, *children):
    """Expect the same bytes from lists and from streams, whose tiers are whole or cut into parts."""
    wanted = solve(game, tmp_path / "listed.h5", method="listed").read_bytes()
    for number, sizes in enumerate([Sizes(in_memory=1), *map(cut, children)]):
        path = solve(game, tmp_path / f"{number}.h5", method="streamed", sizes=sizes, workers=1 + number)
        assert path.read_bytes() == wanted
    with open_database(path, game=game) as database:
        assert verify(database).ok
    assert sorted(os.listdir(tmp_path)) == ["0.h5", "1.h5", "2.h5", "listed.h5"]


@pytest.mark.as_python
@pytest.mark.parametrize("seed", thorough_but(range(5), 0))
def test_random_games_equal_the_reference(seed, tmp_path, monkeypatch):
    monkeypatch.setattr(reference, "int", lambda position: position, raising=False)
    game = WideLadder(4 + 3 * seed, 30 << seed, seed)
    with open_database(solve(game, tmp_path / "game.h5", method="streamed", sizes=cut(100)), game=game) as database:
        reference.assert_same(database, game)


@pytest.mark.as_python
@pytest.mark.parametrize(
    ("size", "children", "parts"),
    thorough_but([((3, 3), 10, 10), ((4, 4), 2000, 100), ((5, 4), 5000, 100)], ((3, 3), 10, 10)),
)
def test_children_that_ascend_are_read_part_by_part(size, children, parts, tmp_path, monkeypatch):
    asked = []
    child_range = ForwardSweep.child_range
    monkeypatch.setattr(forward, "LEAST_SAMPLES", 1)
    monkeypatch.setattr(ForwardSweep, "child_range", lambda *args: asked.append(child_range(*args)) or asked[-1])
    game = TieredConnectFour(*size)
    path = solve(game, tmp_path / "streamed.h5", method="streamed", sizes=cut(children))
    assert len([ends for ends in asked if ends]) > parts
    assert path.read_bytes() == solve(game, tmp_path / "listed.h5", method="listed").read_bytes()


@pytest.mark.as_python
def test_large_games_are_solved_in_a_stream_unless_play_returns_to_a_tier(tmp_path, monkeypatch):
    solved = []
    attempt = StreamedMethod.attempt
    monkeypatch.setattr(StreamedMethod, "attempt", lambda self, *args: solved.append(1) or attempt(self, *args))
    large = solve(SHORT, tmp_path / "large.h5", method="compiled", sizes=cut(30))
    assert solved
    solved.clear()
    small = solve(SHORT, tmp_path / "small.h5", method="compiled")
    assert not solved
    assert large.read_bytes() == small.read_bytes()


@pytest.mark.thorough
def test_processes_give_the_same_bytes_as_threads(tmp_path):
    wanted = solve(GAMES["ladder"], tmp_path / "threads.h5", method="streamed", sizes=cut(300)).read_bytes()
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        path = solve(GAMES["ladder"], tmp_path / "others.h5", method="streamed", sizes=cut(300), executor=executor)
    assert path.read_bytes() == wanted


@pytest.mark.as_python
@pytest.mark.parametrize("name", thorough_but(["connect4 by columns", "ladder", "shortest ladder"], "shortest ladder"))
def test_a_solve_stopped_anywhere_goes_on_to_the_same_bytes(name, tmp_path, monkeypatch):
    monkeypatch.setattr("retrograde.solver.runtime.progress.Phase.often", 0.0)
    game, path = GAMES.get(name, SHORTEST), tmp_path / "stopped.h5"
    sizes = cut(20 if game is SHORTEST else 500, journal_seconds=0)
    told = []
    wanted = solve(game, tmp_path / "whole.h5", method="streamed", sizes=sizes, listener=told.append).read_bytes()
    stops = 0
    for number in Random(1).sample(range(len(told)), 8):
        steps_left = iter(range(number))

        def listen(progress, steps_left=steps_left):
            if next(steps_left, None) is None:
                raise Stop

        try:
            solve(game, path, method="streamed", listener=listen, sizes=sizes)
        except Stop:
            stops += 1
            if number % 2:  # as if the last entry had been half-written
                journal = tmp_path / "stopped.h5.journal"
                os.truncate(journal, journal.stat().st_size - 3)
        if number % 3 == 0:  # as if the finished positions of some wave had been lost
            for file in [*(tmp_path / "stopped.h5.scratch").glob("finished4*")]:
                file.unlink()
        # As if there were more memory now, or less.
        assert solve(game, path, method="streamed", sizes=cut((100, 2000, 50_000)[stops % 3])).read_bytes() == wanted
        assert not (tmp_path / "stopped.h5.scratch").exists()
        path.unlink()
    assert stops > 3


@pytest.mark.thorough
@pytest.mark.usefixtures("solver_alone")
@pytest.mark.parametrize(
    ("fault", "complaint"),
    [(1, "it is UNDECIDED and has no moves"), (2, "tuples of 3 ints from 0 to 2"), (3, "ints from 0 to 2"),
     (4, "primitive")],
)  # fmt: skip
def test_rules_that_break_the_contract_are_named(fault, complaint, tmp_path):
    game = WideBrokenLadder(12, 200, 1, fault)
    with pytest.raises(RuleError, match=complaint) as caught:
        solve(game, tmp_path / "game.h5", method="streamed", sizes=cut(300))
    position = tuple(map(int, re.search(r"position \((\d+), (\d+), (\d+)\)", str(caught.value)).groups()))
    assert game.faulty(position)
    assert ladder.BrokenLadder(12, 200, 1, fault).faulty(8 << 10 | game.node(position))


def test_estimates_say_that_large_games_are_solved_in_a_stream():
    counts = Sampler(WideConnectFour(4, 3), 30_000, 10_000, 60.0).run()
    options = WideConnectFour(4, 3), counts, 1, 1000, "remoteness", False, lambda game: True
    found = estimate_from_counts(*options)
    assert found.streamed
    assert found.rests_on == [f"ratios of {STREAMED_IN_WORDS.source}"]
    assert streamed_estimate(10**8, 2).scratch == round(STREAMED_IN_WORDS.scratch.likely * 1e8)
    assert not estimate_from_counts(*options[:3], 10**6, *options[4:]).streamed


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is told in other units, or not at all")
def test_memory_is_kept_to_and_changes_no_byte(tmp_path):
    program = (
        "import sys; from pathlib import Path; from retrograde.solver.engine import solve\n"
        "from retrograde.solver.runtime.memory import peak_memory; from retrograde.solver.runtime.sizes import Sizes\n"
        "from tests.helpers.wide import WideConnectFour\n"
        "sizes = Sizes(in_memory=1)\n"
        "solve(WideConnectFour(5, 4), Path(sys.argv[1]), method='streamed', memory=int(sys.argv[2]), sizes=sizes)\n"
        "print(peak_memory())"
    )
    files = []
    for memory in (2000, 350):  # the first run compiles all loops, which takes memory as well
        path = tmp_path / f"{memory}.h5"
        command = [sys.executable, "-c", program, str(path), str(memory * 10**6)]
        run = subprocess.run(command, env=environment(tmp_path), cwd=ROOT, check=True, capture_output=True, text=True)
        assert int(run.stdout.split()[-1]) <= 1e6 * memory
        files.append(path.read_bytes())
    assert files[0] == files[1]
