"""Solving in a stream: the kernels against NumPy, the whole against the solver in memory, kills, damage, and limits."""

import errno
import os
import random
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrograde.databases import CannotWrite, NotInDatabase, database_path, open_database
from retrograde.databases.steps.database import StepsDatabase
from retrograde.games.catalog import load_game
from retrograde.games.catalog import variant as variant_of
from retrograde.games.contract.game import UNDECIDED, RuleError
from retrograde.solver.engine import solve
from retrograde.solver.methods.streamed import lists as list_kernels
from retrograde.solver.methods.streamed import steps
from retrograde.solver.methods.streamed.backward import StreamedStore
from retrograde.solver.methods.streamed.journal import ForwardJournal, ForwardResult, NewSegment, join_parts
from retrograde.solver.methods.streamed.segments import Segment
from retrograde.solver.runtime import scratch
from retrograde.solver.runtime.journal import Log
from retrograde.solver.runtime.scratch import DamagedScratch, Frame, Scratch
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.verification.verify import verify
from tests.helpers import alphabeta, ladder, published, reference
from tests.helpers.command_line import environment
from tests.helpers.marks import thorough_but
from tests.helpers.solving import Stop

PLAIN = "benchmarks/plain_connect4.py:width=4,height=3"
GAMES = ["connect4:4,3,3", PLAIN, "ladder:12,200,1", "ladder:30,500,3"]


def game_of(text):
    name, _, options = text.partition(":")
    return ladder.Ladder(*map(int, options.split(","))) if name == "ladder" else load_game(text)


def sizes_of(children=None, **sizes):
    """Return sizes by which every game is large enough to be solved in a stream; *children* in a task."""
    if children:
        sizes |= {"stream_children": children, "stream_least_children": children}
    return Sizes(in_memory=1, **sizes)


def solve_streamed(game, path, sizes=None, **options):
    """Solve a game in a stream, and see to it that it was."""
    solve(game, path, method="streamed", sizes=sizes or sizes_of(), **options)
    with open_database(path, game=game) as database:
        assert isinstance(database, StepsDatabase)
    return path


# The kernels

positions = st.lists(st.integers(0, (1 << 62) - 1), min_size=1, max_size=200, unique=True)


@pytest.mark.as_python
@given(positions, st.integers(0, 62))
@settings(max_examples=50)
def test_lists_are_unpacked_as_they_were_packed(numbers, shift):
    numbers = np.unique(np.array(numbers, np.int64) >> shift)
    codes = (numbers % 1000).astype(np.uint16)
    mask = int(np.bitwise_or.reduce(numbers ^ numbers[0]))
    words = np.zeros(4 * len(numbers) + 8, np.int64)
    size = list_kernels.pack(numbers, codes, mask, words, 0)
    arena = list_kernels.Arena(words, np.array([[0, len(numbers), mask, 0, 0, 0, 0]], np.int64))
    starts, found = np.empty(len(numbers), np.int64), np.empty(len(numbers), np.uint16)
    assert list_kernels.unpack_steps(arena, 0, starts, found, 0) == len(numbers)
    assert starts.tolist() == numbers.tolist() and found.tolist() == codes.tolist()
    assert size % 8 == 0 and size <= list_kernels.MOST_BYTES * len(numbers) + 24
    made = np.zeros((1, list_kernels.LIST_COLUMNS), np.int64)
    list_kernels.pack_lists(numbers, codes[:0], np.array([len(numbers)]), words, made)
    out = np.empty(len(numbers), np.int64)
    list_kernels.unpack_lists(arena, out)
    assert out.tolist() == numbers.tolist()
    assert made[0, 2:6].tolist() == [len(numbers), mask, numbers[0], numbers[-1]]


@pytest.mark.as_python
@given(st.lists(st.lists(st.integers(0, 50), max_size=20), min_size=1, max_size=4))
@settings(max_examples=100)
def test_lists_have_no_doubles(lists):
    found = np.array([number for some in lists for number in sorted(some)], np.int64)
    ends = np.cumsum([len(some) for some in lists])
    list_kernels.drop_duplicates(found, ends)
    begins = [0, *ends[:-1].tolist()]
    assert [found[low:high].tolist() for low, high in zip(begins, ends.tolist(), strict=True)] == [
        sorted({*some}) for some in lists
    ]


@pytest.mark.as_python
@given(positions, st.lists(st.integers(0, (1 << 62) - 1), max_size=20), st.integers(0, 61))
@settings(max_examples=200)
def test_steps_are_found(numbers, asked, shift):
    """Of two tiers, the second one of which is asked for."""
    numbers = np.unique(np.array(numbers, np.int64) >> shift)
    starts = np.array([-1, 5, 7, 1 << 62, -1, *numbers, 1 << 62], np.int64)
    spans = np.array([[0, 3, 0, 0, 0], [4, len(starts) - 1, 0, 0, 0]], np.int64)
    loaded = steps.LoadedSteps(starts, np.zeros(len(starts), np.uint16), np.empty(len(starts), np.int32), spans)
    for tier in range(2):
        steps.index_steps(loaded, tier)
    for position in [*asked, *numbers.tolist(), *(numbers - 1).tolist(), *(numbers + 1).tolist()]:
        found = steps.find_step(loaded, 1, max(position, 0))
        assert found == 4 + np.searchsorted(starts[4:-1], max(position, 0), "right") - 1


@pytest.mark.as_python
@given(st.integers(0, (1 << 62) - 1), st.integers(0, (1 << 62) - 1), st.integers(0, (1 << 62) - 1))
def test_steps_begin_behind_the_position_before(one, other, mask):
    if one != other:
        low, high = sorted((one, other))
        found = steps.round_down(high, low, mask | low ^ high)
        assert low < found <= high


# The whole


@pytest.mark.parametrize(
    "text",
    [
        *("connect4:3,3,3", "ladder:12,60,1"),
        *(pytest.param(text, marks=pytest.mark.thorough) for text in (GAMES[0], GAMES[2])),
        *(pytest.param(text, marks=pytest.mark.slow) for text in (PLAIN, GAMES[3])),
    ],
)
def test_a_stream_equals_the_reference(text, tmp_path):
    game = game_of(text)
    path = solve_streamed(game, tmp_path / "game.h5")
    with open_database(path, game=game) as database:
        reference.assert_same(database, game)


@pytest.mark.thorough
@pytest.mark.parametrize("variant", ["connect4:4,4,4", "connect4:5,4,4"])
def test_a_stream_equals_published_counts(variant, tmp_path):
    path = solve_streamed(load_game(variant), tmp_path / "game.h5")
    with open_database(path, game=load_game(variant)) as database:
        assert {(row.value, row.remoteness): row.positions for row in database.file.legend} == published.COUNTS[variant]


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["connect4:5,5,4", "connect4:6,4,4", "connect4:5,6,4"])
def test_a_stream_equals_the_counts_of_large_boards(variant, tmp_path):
    path = solve_streamed(load_game(variant), tmp_path / "game.h5")
    with open_database(path, game=load_game(variant)) as database:
        assert {(row.value, row.remoteness): row.positions for row in database.file.legend} == published.COUNTS[variant]


@pytest.mark.thorough
@pytest.mark.parametrize("text", GAMES[:3])
def test_the_bytes_depend_on_the_game_alone(text, tmp_path):
    game = game_of(text)
    bytes_of_one = solve_streamed(game, tmp_path / "one.h5", workers=1).read_bytes()
    assert solve_streamed(game, tmp_path / "three.h5", workers=3).read_bytes() == bytes_of_one
    for children in (300, 2000):  # so that tiers are cut into many parts
        sizes = sizes_of(children, stream_milestone=1, stream_positions=100)
        path = solve_streamed(game, tmp_path / f"{children}.h5", sizes, workers=2)
        assert path.read_bytes() == bytes_of_one
    assert sorted(os.listdir(tmp_path)) == ["2000.h5", "300.h5", "one.h5", "three.h5"]


@pytest.mark.thorough
@pytest.mark.parametrize("text", ["tentozero:target=500", "dodgem", "hareandhounds"])
def test_what_does_not_stream_is_solved_in_memory(text, tmp_path):
    game = load_game(text)
    path = solve(game, tmp_path / "game.h5", method="compiled", sizes=sizes_of())
    with open_database(path, game=game) as database:
        assert not isinstance(database, StepsDatabase)
        assert len(database) == sum(row.positions for row in database.file.legend)


@pytest.mark.thorough
@pytest.mark.parametrize("text", ["connect4:4,3,3", "ladder:30,500,3"])
def test_processes_give_the_same_bytes_as_threads(text, tmp_path):
    game, sizes = game_of(text), sizes_of(2000, stream_positions=100)
    wanted = solve(game, tmp_path / "threads.h5", method="streamed", sizes=sizes).read_bytes()
    with ProcessPoolExecutor(2, get_context("spawn")) as executor:
        path = solve(game, tmp_path / "processes.h5", method="streamed", sizes=sizes, executor=executor)
    assert path.read_bytes() == wanted


@pytest.mark.thorough
def test_an_alpha_beta_search_says_the_same(tmp_path):
    game = load_game("connect4:4,4")
    chance = random.Random(4)
    with open_database(solve_streamed(game, tmp_path / "game.h5"), game=game) as database:
        for _ in range(60):
            position = game.start
            for _ in range(chance.randrange(6, 15)):
                if game.primitive(position) == UNDECIDED:
                    position = game.do_move(position, chance.choice(list(game.generate_moves(position))))
            assert database[position] == alphabeta.search(game, position)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is told in other units, or not at all")
def test_memory_is_kept_to_and_changes_no_byte(tmp_path):
    """Peak resident memory is no more than what was asked for, the interpreter's own included; the file is the same."""
    program = (
        "import sys; from retrograde.cli import main; from retrograde.solver.runtime.memory import peak_memory\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as end: assert not end.code\n"
        "print(peak_memory())"
    )
    files = []
    for memory in (300, 500, 2000):
        home = tmp_path / str(memory)
        command = [sys.executable, "-c", program, "solve", "connect4:5,5", "--memory", f"{memory}M"]
        told = subprocess.run(command, env=environment(home), check=True, capture_output=True, text=True).stdout
        assert int(told.split()[-1]) <= 1e6 * memory
        files.append(database_path("connect4:width=5,height=5", home).read_bytes())
    assert len(set(files)) == 1


@pytest.mark.thorough
def test_too_little_memory_is_refused_before_it_is_taken(tmp_path):
    program = (
        "import sys; from retrograde.cli import main; from retrograde.solver.runtime.memory import peak_memory\n"
        "try: main(sys.argv[1:])\n"
        "finally: print(peak_memory())"
    )
    for variant, memory in (("connect4:4,4", 80), ("chess:KRK", 200), ("tictactoe", 20)):
        command = [sys.executable, "-c", program, "solve", variant, "--memory", f"{memory}M"]
        run = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True)
        assert run.returncode == 1
        assert f"of memory, and the limit is {memory} MB; raise it with --memory" in run.stderr
        if sys.platform == "linux" and variant != "tictactoe":
            assert int(run.stdout.split()[-1]) <= 1e6 * memory
        assert not database_path(variant, tmp_path).exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "plies", "count"),
    [
        ("connect4:5,5", 12, 69_763_700),
        ("connect4:6,5", 16, 2_818_972_642),
        ("connect4:6,6", 18, 69_173_028_785),  # https://tromp.github.io/c4/c4.html has them all
        ("connect4:8,4", 16, 54_233_186_631),
        ("connect4:7,5", 18, 112_829_665_923),
    ],
)
def test_a_large_database_agrees_with_a_search(variant, plies, count):
    """Needs the database in the usual place: some of these take more than an hour to solve."""
    game = load_game(variant)
    if not database_path(variant_of(game)).exists():
        pytest.skip(f"{variant} is not solved; do it with: retrograde solve {variant}")
    chance = random.Random(6)
    with open_database(variant) as database:
        assert len(database) == count
        for _ in range(300):
            position = walked(game, chance.randrange(plies, game.width * game.height - 2), chance)
            assert database[position] == alphabeta.search(game, position), game.write(position)


def walked(game, plies, chance):
    """Return a position so many plies from the start in which the game goes on."""
    while True:
        position = game.start
        for _ in range(plies):
            if game.primitive(position) != UNDECIDED:
                break
            position = game.do_move(position, chance.choice(list(game.generate_moves(position))))
        if game.primitive(position) == UNDECIDED and game.filled(position).bit_count() == plies:
            return position


@pytest.mark.thorough
@pytest.mark.usefixtures("solver_alone")
@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        (1, "it is UNDECIDED and has no moves"),
        (2, r"positions go from 0 to 2\*\*62"),
        pytest.param(3, r"positions go from 0 to 2\*\*62", marks=pytest.mark.slow),
        (4, "primitive"),
    ],
)
def test_rules_that_break_the_contract_are_named(fault, complaint, tmp_path):
    with pytest.raises(RuleError, match=complaint) as caught:
        solve(ladder.BrokenLadder(12, 200, 1, fault), tmp_path / "game.h5", method="streamed", sizes=sizes_of())
    position = int(re.search(r"position (\d+)", str(caught.value))[1])
    assert ladder.BrokenLadder(12, 200, 1, fault).faulty(position)


# Look-up


@pytest.mark.thorough
def test_what_cannot_be_reached_is_not_found_where_that_shows(tmp_path):
    game = load_game("connect4:4,4")
    with open_database(solve_streamed(game, tmp_path / "game.h5"), game=game) as database:
        start = game.start
        assert start in database and database.get(-1) is None and database.get(1 << 61) is None
        with pytest.raises(NotInDatabase):
            database[0]
        values, remotenesses = database.lookup([start, game.do_move(start, 1), -5])
        assert [(v, r) for v, r in zip(values.tolist(), remotenesses.tolist(), strict=True)][:2] == [
            tuple(database[start]), tuple(database[game.do_move(start, 1)]),
        ]  # fmt: skip
        assert values[2] == UNDECIDED and remotenesses[2] == -1
        with pytest.raises(TypeError, match="does not store positions"):
            database.records()


# Kills and damage


@pytest.mark.thorough
@pytest.mark.parametrize("text", ["connect4:4,4,4", PLAIN, "ladder:30,500,3"])
def test_a_solve_stopped_anywhere_goes_on_to_the_same_bytes(text, tmp_path, monkeypatch):
    sizes = sizes_of(2000, stream_positions=100, journal_seconds=0)
    monkeypatch.setattr("retrograde.solver.runtime.progress.Phase.often", 0.0)
    game = game_of(text)
    wanted = solve_streamed(game, tmp_path / "whole.h5", sizes).read_bytes()
    told = []
    solve_streamed(game, tmp_path / "again.h5", sizes, listener=told.append)
    stops = 0
    for number in random.Random(1).sample(range(len(told)), min(8, len(told))):
        path = tmp_path / "stopped.h5"
        left = number

        def listen(progress):
            nonlocal left
            left -= 1
            if left < 0:
                raise Stop

        try:
            solve(game, path, method="streamed", listener=listen, sizes=sizes)
        except Stop:
            stops += 1
            if number % 2:  # as if the last entry had been half-written
                journal = tmp_path / "stopped.h5.journal"
                os.truncate(journal, journal.stat().st_size - 3)
        children = (100, 2000, 50_000)[stops % 3]  # as if there were more memory now, or less
        solve(game, path, method="streamed", sizes=sizes_of(children, stream_positions=100))
        assert path.read_bytes() == wanted
        assert not (tmp_path / "stopped.h5.scratch").exists()
        path.unlink()
    assert stops > 3


def test_parts_of_a_tier_become_one_result_and_the_journal_has_them_in_order():
    def made(tier, part=0, parts=1):
        segment = Segment(Frame("positions3", 0, 8, 8, 0), 0, 8, 5, 31, 10 * part, 10 * part + 9)
        return ForwardResult(
            [NewSegment(tier, segment, (1,), (9,), part, parts)], np.ones((5, steps.TALLIED), np.int64)
        )

    log = Log(None, "positions", [], 0)
    whole = join_parts([made(7, part, 3) for part in (2, 0, 1)])
    ForwardJournal(log).add_result(3, whole)
    (read,) = ForwardJournal(Log(None, "positions", log.unwritten, 0)).waves[3]
    assert [(new.tier, new.segment.first) for new in read.segments] == [(7, 0), (7, 10), (7, 20)]
    assert read.positions == whole.positions == 15 + 3 * 5
    assert join_parts([one := made(6)]) is one


@pytest.mark.parametrize("text", ["connect4:4,4", "ladder:12,60,1"])
def test_what_is_damaged_in_scratch_files_is_noticed(text, tmp_path, monkeypatch):
    game, written = game_of(text), Scratch.write

    def write_wrong(self, name, content):
        frame = written(self, name, content)
        if name == "positions7":
            with open(self.folder / frame.file, "r+b") as file:
                file.seek(frame.offset + frame.packed // 2)
                byte = file.read(1)[0]
                file.seek(-1, os.SEEK_CUR)
                file.write(bytes([byte ^ 16]))
        return frame

    monkeypatch.setattr(Scratch, "write", write_wrong)
    with pytest.raises(DamagedScratch, match="begin anew with --fresh"):
        solve(game, tmp_path / "game.h5", method="streamed", sizes=sizes_of())
    monkeypatch.undo()
    solve_streamed(game, tmp_path / "game.h5", fresh=True)


def test_a_resumed_solve_sees_at_once_that_steps_which_it_needs_are_gone(tmp_path, monkeypatch):
    game, path, waves = load_game("connect4:3,3,3"), tmp_path / "game.h5", []
    sizes = sizes_of(100, stream_positions=10, journal_seconds=0)
    solve_wave = StreamedStore.solve

    def recorded(self, number, phase):
        waves.append(number)
        for done in solve_wave(self, number, phase):
            yield done
            if number == 6:  # wave 7 is solved, and the rest of wave 6 needs its steps
                raise Stop

    monkeypatch.setattr(StreamedStore, "solve", recorded)
    with pytest.raises(Stop):
        solve(game, path, method="streamed", sizes=sizes)
    last = waves[0]
    assert waves == [*range(last, 5, -1)]
    gone = [*(tmp_path / "game.h5.scratch").glob("steps7*")]
    for file in gone:
        file.unlink()
    assert gone
    waves.clear()
    monkeypatch.setattr(StreamedStore, "solve", lambda self, n, phase: waves.append(n) or solve_wave(self, n, phase))
    solve_streamed(game, path, sizes)
    assert waves == [*range(last, -1, -1)]  # all anew, and nothing before


def test_a_full_disk_is_one_line_and_what_is_done_is_kept(tmp_path, monkeypatch):
    game = load_game("connect4:4,4")
    room = 12

    class FullDisk(scratch.FileIO):
        def write(self, content):
            nonlocal room
            room -= 1
            if room < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(content)

    monkeypatch.setattr(scratch, "FileIO", FullDisk)
    with pytest.raises(CannotWrite, match="no space left on device; what is done is kept"):
        solve(game, tmp_path / "game.h5", method="streamed", sizes=sizes_of(journal_seconds=0))
    room = 1 << 30
    told = []
    path = solve_streamed(game, tmp_path / "game.h5", listener=told.append)
    assert max(progress.resumed for progress in told) > 0
    assert path.read_bytes() == solve_streamed(game, tmp_path / "other.h5").read_bytes()


# Verification


@pytest.mark.thorough
@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.parametrize("text", ["connect4:4,3,3", "ladder:30,500,3"])
def test_a_stream_is_verified(text, interpreted, tmp_path):
    game = game_of(text)
    with open_database(solve_streamed(game, tmp_path / "game.h5"), game=game) as database:
        result = verify(database, interpreted=interpreted)
        assert result.ok, result.problems
        assert result.stored == database.file.stored


@pytest.mark.parametrize("interpreted", thorough_but([False, True], False))
def test_wrong_steps_and_counts_are_found(interpreted, tmp_path):
    game = load_game("connect4:3,3,3")
    path = solve_streamed(game, tmp_path / "game.h5")
    with open_database(path, game=game) as database:
        read = database.file.contents.read_block

        def read_wrong(number):
            sums, rows = read(number)
            wrong = np.array(rows)
            wrong[7] = (wrong[7] + 1) % len(database.file.legend)
            return sums, wrong.data

        database.file.contents.read_block = read_wrong
        database._block = lru_cache(read_wrong)
        result = verify(database, interpreted=interpreted)
        assert not result.ok
        assert any("its children make it" in problem.complaint for problem in result.problems)
    with open_database(path, game=game) as database:
        row = database.file.legend[3]
        database.file.legend[3] = row._replace(positions=row.positions + 1)
        problems = verify(database, interpreted=interpreted).problems
        assert problems[0].complaint.startswith("the legend counts")
