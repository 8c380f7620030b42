"""Databases: what is written is read back, by us and by others; and what is damaged is never taken for true."""

import errno
import hashlib
import importlib.metadata
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path

import h5py
import numpy as np
import platformdirs
import pytest

from retrograde.databases import (
    CannotWrite,
    CountRow,
    DamagedDatabase,
    DatabaseFile,
    InUse,
    LegendRow,
    NoDatabase,
    NotADatabase,
    NotInDatabase,
    OtherRules,
    Outcome,
    SolvedRecords,
    SolvedSlots,
    SolvedSteps,
    VersionTooNew,
    database_path,
    durable,
    home_folder,
    list_databases,
    open_database,
    write_database,
)
from retrograde.databases.encoding import (
    decode_gaps,
    encode_blocks,
    mask_runs,
    spread,
    squeeze,
    to_planes,
    without_zeros,
)
from retrograde.databases.layout import BLOCK, VERSION, ZSTD
from retrograde.databases.plain import decompress
from retrograde.databases.records.read import RecordsReader
from retrograde.games import DRAW, LOSE, TIE, WIN, Game, RetrogradeError, Value, catalog
from retrograde.games.identity import folders
from retrograde.games.identity.trusted import read_record
from retrograde.games.tictactoe import TicTacToe
from tests.helpers.command_line import HEAP, LATE, Child, retrograde
from tests.helpers.forge import Forged
from tests.helpers.marks import thorough_but
from tests.helpers.reference import solve

TIER_SHIFT, MIRROR = 46, 1 << 45
CORRUPT = (DamagedDatabase, NotADatabase, VersionTooNew)


class Fake(Game):
    """No game: positions of made-up databases, with the tier in the high bits, and a bit that symmetry clears."""

    outcomes: int = 30
    start = 5

    def images(self, position):
        yield position ^ MIRROR

    def tier(self, position):
        return position >> TIER_SHIFT


class Made:
    """A made-up solved game: random sorted positions in tiers of the sizes given, with random skewed outcomes."""

    def __init__(self, sizes, spread_bits=1.5, outcomes=30, seed=0):
        rng = np.random.default_rng(seed)
        self.game = Fake(outcomes)
        self.tiers = np.cumsum(rng.integers(1, 4, len(sizes))) - 1
        pieces = []
        for tier, size in zip(self.tiers.tolist(), sizes, strict=True):
            gaps = rng.geometric(2.0**-spread_bits, size) if spread_bits < 8 else rng.integers(1, 2**spread_bits, size)
            pieces.append((tier << TIER_SHIFT) + np.cumsum(gaps) * 8 + 5)  # the low bits never vary
        self.counts = np.array(sizes, np.int64)
        self.positions = np.concatenate(pieces)
        self.game.__dict__["start"] = int(self.positions[0])
        self.rows = np.minimum(rng.geometric(0.3 if outcomes < 99 else 0.01, len(self.positions)) - 1, outcomes - 1)
        used, first, self.rows = np.unique(self.rows, return_index=True, return_inverse=True)
        stored = np.bincount(self.rows)
        names = [(LOSE, 2 * i) for i in range(outcomes // 2)] + [(DRAW, -1), (TIE, 3)]
        names += [(WIN, 2 * i + 1) for i in range(outcomes - len(names))]
        self.legend = [
            LegendRow(*names[name], 2 * count, count, int(self.positions[at]))
            for name, at, count in zip(used.tolist(), first.tolist(), stored.tolist(), strict=True)
        ]
        self.values = np.array([row.value for row in self.legend], np.uint8)[self.rows]
        self.remotenesses = np.array([row.remoteness for row in self.legend], np.int32)[self.rows]
        self.tier_of_each = np.repeat(self.tiers, self.counts)

    def solved(self, records=None):
        return SolvedRecords(
            self.tiers, self.counts, self.legend, records or (self.positions, self.rows), int(self.positions.max())
        )

    def write(self, path, **options):
        return write_database(path, self.game, self.solved(), **options)

    def outcome(self, i):
        plies = int(self.remotenesses[i])
        return Outcome(Value(self.values[i]), None if plies < 0 else plies)


MADE = {
    "one record": {"sizes": [1]},
    "one block": {"sizes": [3, 1, 100, 7]},
    "exactly a block": {"sizes": [1, BLOCK - 1]},
    "tiers begin with blocks": {"sizes": [BLOCK, 2 * BLOCK, 5]},
    "one long tier": {"sizes": [5 * BLOCK + 17]},
    "many tiny tiers": {"sizes": [1, 2, 3] * 5000},
    "mixed": {"sizes": [1, 2, 20000, 1, 1, 7000, 4096, 300, 4]},
    "sparse, gaps over 32 bits": {"sizes": [7, 30, 6], "spread_bits": 34},
    "sparse, gaps over 16 bits": {"sizes": [7000, 3, 6000], "spread_bits": 20},
    "many outcomes": {"sizes": [9000, 5000], "outcomes": 700},
}


@cache
def made(name):
    return Made(**MADE[name])


@pytest.fixture(params=MADE)
def each(request):
    return made(request.param)


@cache
def tictactoe():
    """Tic-tac-toe solved by definition, as (solved game, solution of canonical positions)."""
    game = TicTacToe()
    solution = solve(game, symmetric=True)
    order = sorted(solution, key=lambda position: (game.tier(position), position))
    names = sorted({(value, plies) for value, plies in solution.values()})
    classes = {position: len({position, *game.images(position)}) for position in order}
    legend = []
    for value, plies in names:
        having = [position for position in order if solution[position] == (value, plies)]
        legend.append(LegendRow(value, plies, sum(classes[p] for p in having), len(having), having[0]))
    tiers, counts = np.unique([game.tier(position) for position in order], return_counts=True)
    rows = np.array([names.index(solution[position]) for position in order], np.uint8)
    return SolvedRecords(tiers, counts, legend, (np.array(order), rows), max(order)), solution


@pytest.fixture
def home(tmp_path):
    write_database(database_path("tictactoe", tmp_path), TicTacToe(), tictactoe()[0])
    return tmp_path


# The digest


def test_the_digest_is_what_the_format_says(home):
    path = home / "tictactoe.h5"
    with h5py.File(path) as file:
        texts = {name: value.decode() if isinstance(value, bytes) else value for name, value in file.attrs.items()}
        digest = texts.pop("digest")
        lines = [f"{name}={texts[name]}" for name in sorted(texts)]
        for name in sorted(file):
            ((chunk,), length) = file[name].chunks, len(file[name])
            frames = [file[name].id.read_direct_chunk((first,))[1] for first in range(0, length, chunk)]
            lines.append(f"{name} {length} {chunk} {hashlib.sha256(b''.join(frames)).hexdigest()}")
            if name != "records":
                assert json.loads(texts["checks"])[name] == zlib.crc32(frames[0])
    assert hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest() == digest
    with DatabaseFile(path) as file:
        assert file.digest == digest
        file.check()


# Round trips


def test_every_record_is_read_back(each, tmp_path):
    with open_database(each.write(tmp_path / "made.h5"), game=each.game) as db:
        pieces = list(db.records())
        assert np.array_equal(np.concatenate([piece[1] for piece in pieces]), each.positions)
        assert np.array_equal(np.repeat([p[0] for p in pieces], [len(p[1]) for p in pieces]), each.tier_of_each)
        assert np.array_equal(np.concatenate([piece[2] for piece in pieces]), each.values)
        assert np.array_equal(np.concatenate([piece[3] for piece in pieces]), each.remotenesses)
        values, remotenesses = db.lookup(each.positions, canonical=True, tiers=each.tier_of_each)
        assert np.array_equal(values, each.values)
        assert np.array_equal(remotenesses, each.remotenesses)


def test_single_look_ups_agree_with_the_records(each, tmp_path):
    rng = np.random.default_rng(1)
    with open_database(each.write(tmp_path / "made.h5"), game=each.game, cache_blocks=2) as db:
        known = set(each.positions.tolist())
        for i in {0, len(each.positions) - 1, *rng.integers(0, len(each.positions), 500).tolist()}:
            position = int(each.positions[i])
            assert db[position] == db[position | MIRROR] == each.outcome(i)
            for near in (position - 8, position + 8, position + 1, position ^ 1 << TIER_SHIFT):
                assert (near in db) == (near in known or near ^ MIRROR in known)


def test_a_real_game_is_read_back_by_its_name(home):
    solution = tictactoe()[1]
    with open_database("tictactoe", home=home) as db:
        assert len(db) == 5478
        assert db.file.stored == 765 == len(solution)
        assert db[db.game.start] == (TIE, 9) == Outcome(TIE, 9)
        for position, outcome in solution.items():
            for image in db.game.images(position):
                assert db[image] == outcome


def test_metadata_says_what_the_file_is(home):
    with DatabaseFile(home / "tictactoe.h5") as file:
        assert (file.variant, file.game_name) == ("tictactoe", "tictactoe")
        assert file.options == {"size": 3, "misere": False}
        assert file.metric == "remoteness in plies"
        assert (file.start, file.start_outcome[:2]) == (0, (TIE, 9))
        assert file.legend == tictactoe()[0].legend
        assert len(file.rules) == 32
        assert file.made_with.startswith("retrograde ")


@pytest.mark.parametrize("mask", [0, 1, 0b1011000110, (1 << 62) - 1, 0x2AAA_AAAA_AAAA_AAAA])
def test_spread_undoes_squeeze(mask):
    rng = np.random.default_rng(2)
    positions = np.concatenate([[0, mask], rng.integers(0, 1 << 62, 1000)]) & mask
    runs = mask_runs(mask)
    assert np.array_equal(spread(squeeze(positions, runs), runs), positions)
    assert [squeeze(int(position), runs) for position in positions] == squeeze(positions, runs).tolist()
    assert squeeze(mask, runs) == (1 << mask.bit_count()) - 1


def test_decode_undoes_encode():
    positions = np.array([8, 24, 56, (1 << 61) + 4, (1 << 61) + 6, 3, 7, 1 << 40])
    begins = np.array([0, 3, 5])
    gaps, (mask,) = encode_blocks(positions, begins, 10)
    mask = int(mask)
    runs = mask_runs(mask)
    planes = without_zeros(to_planes(gaps, 8, 10).tobytes(), 10, 1)
    assert planes.shape == (1, 10)
    sums = decode_gaps(planes, len(positions), begins, mask)
    ranks = sums + np.repeat(squeeze(positions[begins], runs) - sums[begins], [3, 2, 3])
    assert np.array_equal(spread(ranks, runs) | np.repeat(positions[begins] & ~mask, [3, 2, 3]), positions)


class Wild(Game):
    """No game: positions all over the 62 bits, and tiers in which every bit varies."""

    def tier(self, position):
        return position.bit_count() % 8


def test_sums_that_would_overflow_are_made_tier_by_tier(tmp_path):
    dice, game = np.random.default_rng(7), Wild()
    some = np.unique(dice.integers(0, 1 << 62, 2000))
    tiers = np.array([game.tier(position) for position in some.tolist()])
    positions, counts = some[np.argsort(tiers, kind="stable")], np.bincount(tiers)
    rows = dice.integers(0, 2, len(positions))
    legend = [
        LegendRow(value, 1, int(np.sum(rows == row)), int(np.sum(rows == row)), int(positions[rows == row][0]))
        for row, value in enumerate((LOSE, WIN))
    ]
    solved = SolvedRecords(np.arange(8), counts, legend, (positions, rows))
    with open_database(write_database(tmp_path / "wild.h5", game, solved), game=game) as db:
        assert int(db.file.contents.blocks.masks[0]) == (1 << 62) - 1  # eight such tiers may add up to 2**65
        assert np.array_equal(np.concatenate([piece[1] for piece in db.records()]), positions)
        expected = [(LOSE, WIN)[row] for row in rows]
        assert [db[position].value for position in positions.tolist()] == expected
        assert db.lookup(positions)[0].tolist() == expected
        assert not any(position ^ 3 in db for position in positions.tolist())


def test_more_than_256_outcomes_of_a_real_game(tmp_path):
    from retrograde.games.tentozero import TenToZero
    from retrograde.solver.engine import solve as solve_to_file

    game = TenToZero(target=600, steps=(1,))
    path = tmp_path / "long.h5"
    solve_to_file(game, path)
    with open_database(path, game=game) as db:
        assert len(db.file.legend) == 601
        for position, (value, plies) in solve(game).items():
            assert db[position] == Outcome(value, plies)


# The same bytes


@pytest.mark.parametrize(("greatest", "width"), [((1 << 32) - 1, 4), (1 << 32, 8)])
def test_gaps_are_as_wide_as_the_greatest_position_asks(greatest, width, tmp_path):
    solved = replace(tictactoe()[0], greatest=greatest)
    path = write_database(tmp_path / "t.h5", TicTacToe(), solved)
    with h5py.File(path) as file:
        assert file["records"].dtype == np.dtype([("outcome", "u1"), ("gap", f"<u{width}")])
    with open_database(path) as db:
        assert {position: db[position] for position in tictactoe()[1]} == tictactoe()[1]


def test_bytes_depend_on_nothing_but_the_game(each, tmp_path):
    first = each.write(tmp_path / "first.h5").read_bytes()
    with ThreadPoolExecutor(3) as executor:
        second = each.write(tmp_path / "other name.h5", each=executor.map).read_bytes()
    cuts = np.random.default_rng(3).integers(0, len(each.positions), 5)
    pieces = zip(np.split(each.positions, sorted(cuts)), np.split(each.rows, sorted(cuts)), strict=True)
    third = write_database(tmp_path / "third.h5", each.game, each.solved(pieces)).read_bytes()
    assert first == second == third


def pickled(function, items):
    """Do what `map` does, as if another process did it."""
    for item in items:
        task = pickle.loads(pickle.dumps((function, item)))
        yield pickle.loads(pickle.dumps(task[0](task[1])))


def solved_of_each_kind():
    """Return a solved game of each kind, with several groups of blocks."""
    rows = np.random.default_rng(8).integers(0, 2, 150_000).astype(np.uint8)
    legend = [LegendRow(value, 1, 1, 1, 0) for value in (LOSE, WIN)]
    tiers, bounds = np.array([2, 3]), np.array([0, 100_000, 150_000])
    ranks = np.concatenate([np.arange(0, 200_000, 2), np.arange(50_000)])
    return {
        "records": Made([3, 20 * BLOCK]).solved(),
        "slots": SolvedSlots(tiers, bounds, legend, [CountRow(2, 0, 1, 1, 1, 0)], rows),
        "steps": SolvedSteps(
            tiers, np.diff(bounds), np.array([0, 0]), np.array([2**20 - 1] * 2), legend, (ranks, rows)
        ),
    }


@pytest.mark.parametrize("kind", ["records", "slots", "steps"])
def test_another_process_may_encode(kind, tmp_path):
    game, solved = Fake(), solved_of_each_kind()[kind]
    here = write_database(tmp_path / "here.h5", game, solved)
    assert write_database(tmp_path / "there.h5", game, solved, pickled).read_bytes() == here.read_bytes()
    assert kind in h5py.File(here)


@pytest.mark.parametrize(
    ("kind", "most", "changes"),
    [("slots", "MANY_SLOTS", {}), ("slots", "MANY_QUICK_SLOTS", {"quick": True}), ("steps", "MANY_STEPS", {})],
)
def test_large_files_are_compressed_faster_to_the_same_content(kind, most, changes, tmp_path, monkeypatch):
    game, solved = Fake(), replace(solved_of_each_kind()[kind], **changes)
    small = write_database(tmp_path / "small.h5", game, solved)
    monkeypatch.setattr(f"retrograde.databases.layout.{most}", 150_000)
    large = write_database(tmp_path / "large.h5", game, solved)
    with h5py.File(small) as before, h5py.File(large) as now:
        levels = [file[kind].id.get_create_plist().get_filter_by_id(ZSTD)[1] for file in (before, now)]
        chunks = [file[kind].id.read_direct_chunk((0,))[1] for file in (before, now)]
        assert levels[0] > levels[1]
        assert chunks[0] != chunks[1]
        assert decompress(chunks[0]) == decompress(chunks[1])


def test_progress_counts_records_up_to_the_last(tmp_path):
    seen = []
    made("mixed").write(tmp_path / "made.h5", progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == len(made("mixed").positions)


# Readers that are not ours

INDEPENDENT_READER = """
import json, sys
import h5py, hdf5plugin, numpy as np  # hdf5plugin adds the filter to this process alone

with h5py.File(sys.argv[1]) as file:
    assert file.attrs["format"] == b"retrograde" or file.attrs["format"] == "retrograde"
    tiers, blocks, legend, records = file["tiers"][:], file["blocks"][:], file["legend"][:], file["records"]
    outcomes, gaps = records["outcome"], records["gap"]
    size, first_of_tier = records.chunks[0], {int(row["record"]): i for i, row in enumerate(tiers)}
    tier, positions, numbers = -1, [], []
    for record, gap in enumerate(gaps.tolist()):
        if record % size == 0:
            block = blocks[record // size]
            bits = [bit for bit in range(62) if int(block["mask"]) >> bit & 1]
            position = int(block["position"])
        if record in first_of_tier:
            tier = first_of_tier[record]
            position = int(tiers[tier]["position"])
        if record % size == 0 or record in first_of_tier:
            assert gap == 0
            rank = sum((position >> bit & 1) << i for i, bit in enumerate(bits))
            rest = position & ~int(block["mask"])
        rank += gap
        positions.append(rest | sum((rank >> i & 1) << bit for i, bit in enumerate(bits)))
        numbers.append(int(tiers[tier]["tier"]))
    np.savez(sys.argv[2], positions=positions, tiers=numbers, values=legend["value"][outcomes],
             remotenesses=legend["remoteness"][outcomes])
    attributes = {k: v if isinstance(v, str) else v.decode() if isinstance(v, bytes) else v.item()
                  for k, v in file.attrs.items()}
    print(json.dumps(attributes))
"""


@pytest.mark.parametrize(
    ("mode", "options"),
    [
        ("r", {}),
        ("r", {"locking": False}),
        ("r", {"locking": True}),
        ("r", {"locking": "best-effort"}),
        ("r", {"libver": "latest"}),
        ("r+", {}),
    ],
)
def test_a_file_that_h5py_has_open_in_this_process_opens(mode, options, solved, tmp_path):
    """And who closes first leaves the other's alone."""
    path = Path(shutil.copy(solved("tictactoe"), tmp_path / "copy.h5"))
    for ours_first in (True, False):
        other = h5py.File(path, mode, **options)
        database = open_database(path)
        assert database[0] == (TIE, 9)
        if ours_first:
            database.close()
            assert other["legend"].shape == (len(database.file.legend),)
            other.close()
        else:
            other.close()
            assert database.lookup([1, 2])[1].tolist() == [8, 8]
            database.close()


@pytest.mark.parametrize("options", [{}, {"libver": "latest"}])
def test_h5py_opens_a_file_that_is_open_as_a_database(options, solved):
    path = solved("tictactoe")
    with open_database(path) as database:
        with h5py.File(path, **options) as other:
            assert sorted(other) == ["blocks", "legend", "records", "tiers"]
        assert database[1] == (TIE, 8)


@pytest.mark.skipif(sys.platform == "win32", reason="locks are others there")
def test_a_file_that_another_process_has_locked_opens(solved, tmp_path):
    path = Path(shutil.copy(solved("tictactoe"), tmp_path / "copy.h5"))
    code = "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_EX); print('open', flush=True); input()"
    with Child(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "open\n"
        with open_database(path) as database:
            assert database[0] == (TIE, 9)
        process.communicate("\n", timeout=LATE)


@pytest.mark.skipif(os.name != "posix", reason="locks are others there")
@pytest.mark.parametrize("mode", ["r+", "w"])
def test_a_file_that_another_program_has_open_for_writing_is_in_use(mode, solved, tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    path = Path(shutil.copy(solved("tictactoe"), tmp_path / "tictactoe.h5"))
    code = "import h5py, sys; f = h5py.File(*sys.argv[1:], libver='latest'); print('open', flush=True); input()"
    command = [sys.executable, "-c", code, str(path), mode]
    with Child(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "open\n"
        with pytest.raises(InUse, match=r"tictactoe\.h5' is in use: another program has it open for writing"):
            open_database(path)
        for arguments in (["solve", "tictactoe"], ["solve", "tictactoe", "--fresh"], ["info", "tictactoe"]):
            told = retrograde(*arguments, status=1).stderr
            assert told.count("\n") == 1 and told.endswith("for writing; close it there\n")
        other.communicate("\n", timeout=LATE)
    if mode == "r+":
        with open_database(path) as database:
            assert database[0] == (TIE, 9)


@pytest.mark.parametrize(
    "name", thorough_but(["mixed", "one block", "sparse, gaps over 32 bits", "many outcomes"], "mixed")
)
@pytest.mark.long
def test_h5py_with_the_usual_plugin_reads_every_record(name, tmp_path):
    game = made(name)
    path, result = game.write(tmp_path / "made.h5"), tmp_path / "result.npz"
    command = [sys.executable, "-c", INDEPENDENT_READER, str(path), str(result)]
    attributes = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    found = np.load(result)
    assert np.array_equal(found["positions"], game.positions)
    assert np.array_equal(found["tiers"], game.tier_of_each)
    assert np.array_equal(found["values"], game.values)
    assert np.array_equal(found["remotenesses"], game.remotenesses)
    assert attributes["format_version"] == VERSION
    assert attributes["stored"] == len(game.positions)


# Look-ups


def test_lookup_keeps_the_shape_and_marks_what_is_unknown(home):
    with open_database("tictactoe", home=home) as db:
        values, remotenesses = db.lookup([[0, 1, -1], [1 << 61, 1 << 62, 511]])
        assert values.tolist() == [[TIE, TIE, 0], [0, 0, 0]]
        assert remotenesses.tolist() == [[9, 8, -1], [-1, -1, -1]]
        assert (values.dtype, remotenesses.dtype) == (np.uint8, np.int32)
        assert [array.item() for array in db.lookup(np.uint64(2**64 - 1))] == [0, -1]
        assert [array.shape for array in db.lookup([])] == [(0,), (0,)]
        assert [array.shape for array in db.lookup(0)] == [(), ()]
        solution = tictactoe()[1]
        values, remotenesses = db.lookup(list(solution), canonical=True)
        assert list(zip(values.tolist(), remotenesses.tolist(), strict=True)) == list(solution.values())
        with pytest.raises(TypeError, match="whole numbers"):
            db.lookup([0.5])


def test_a_draw_has_no_remoteness(tmp_path):
    game = made("mixed")
    i = int(np.flatnonzero(game.values == DRAW)[0])
    with open_database(game.write(tmp_path / "made.h5"), game=game.game) as db:
        assert db[int(game.positions[i])] == Outcome(DRAW, None)
        assert [array.item() for array in db.lookup(game.positions[i])] == [DRAW, -1]


def test_what_play_never_reaches_is_not_in_the_database(home):
    with open_database("tictactoe", home=home) as db:
        for stranger in (511, -1, 1 << 62, 1 << 200, 1 << 18):
            assert stranger not in db
            assert db.get(stranger) is None
            assert db.get(stranger, "none") == "none"
            with pytest.raises(NotInDatabase) as caught:
                db[stranger]
            assert str(caught.value) == f"position {stranger} of tictactoe cannot be reached from the start"
            assert isinstance(caught.value, KeyError)
        assert db.get(0) == (TIE, 9)


def test_stray_bits_that_symmetry_drops_are_no_position(tmp_path):
    from retrograde.games.connect4 import Connect4

    game = Connect4(3, 3, 3)
    position = game.read("13")
    canonical = game.canonical(position)
    game.__dict__["start"] = canonical
    solved = SolvedRecords(
        np.array([game.tier(canonical)]), np.array([1]), [LegendRow(TIE, 7, 2, 1, canonical)],
        (np.array([canonical]), np.zeros(1, np.uint8)), canonical,
    )  # fmt: skip
    with open_database(write_database(tmp_path / "c4.h5", game, solved), game=game) as db:
        assert db[position] == db[canonical] == (TIE, 7)
        assert position | 1 << 40 not in db
        assert canonical | 1 << 40 not in db


def test_the_cache_keeps_a_few_blocks_and_decodes_each_once(tmp_path, monkeypatch):
    game, decoded = made("one long tier"), []
    read = RecordsReader.read_block
    monkeypatch.setattr(RecordsReader, "read_block", lambda part, number: decoded.append(number) or read(part, number))
    with open_database(game.write(tmp_path / "made.h5"), game=game.game, cache_blocks=2) as db:
        for record in (0, 1, BLOCK, 2, BLOCK + 1, 2 * BLOCK, BLOCK + 2, 3):
            assert db[int(game.positions[record])] == game.outcome(record)
        assert decoded == [0, 1, 2, 0]
        decoded.clear()
        db.lookup(game.positions[::-100], canonical=True)
        assert sorted(decoded) == sorted(set(decoded))


def test_threads_may_share_a_database(tmp_path):
    game, wrong = made("mixed"), []
    with open_database(game.write(tmp_path / "made.h5"), game=game.game, cache_blocks=1) as db:

        def ask(seed):
            for i in np.random.default_rng(seed).integers(0, len(game.positions), 300).tolist():
                if db[int(game.positions[i])] != game.outcome(i):
                    wrong.append(i)

        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_a_closed_database_says_so(home):
    with open_database("tictactoe", home=home) as db:
        pass
    with pytest.raises(ValueError, match=r"tictactoe\.h5' is closed"):
        db[0]


# Where databases are


def test_the_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    assert home_folder() == tmp_path
    assert database_path("connect4:width=5,height=4") == tmp_path / "connect4,width=5,height=4.h5"
    monkeypatch.delenv("RETROGRADE_HOME")
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
        assert home_folder() == tmp_path / "data" / "retrograde"
        monkeypatch.delenv("XDG_DATA_HOME")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert home_folder() == tmp_path / ".local" / "share" / "retrograde"
        monkeypatch.setenv("XDG_DATA_HOME", "relative/path")
        assert home_folder() == tmp_path / ".local" / "share" / "retrograde"


def test_without_a_home_one_line_names_the_variable_and_with_it_all_goes_on(monkeypatch, tmp_path):
    pwd = pytest.importorskip("pwd")  # not on Windows
    for name in ("RETROGRADE_HOME", "HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    monkeypatch.setattr(pwd, "getpwnam", {}.__getitem__)
    for arguments in (["solve", "tictactoe"], ["list"], ["query", "tictactoe"]):
        assert re.fullmatch(
            "retrograde: error: there is no home folder: .*; set RETROGRADE_HOME to a folder for databases\n",
            retrograde(*arguments, status=1).stderr,
        )
    monkeypatch.setenv("RETROGRADE_HOME", "~/databases")
    assert "name it without ~" in retrograde("list", status=1).stderr
    monkeypatch.setenv("RETROGRADE_HOME", str(tmp_path))
    (tmp_path / "heap.py").write_text(HEAP)
    retrograde("solve", tmp_path / "heap.py")
    assert not Path("~").exists()
    assert read_record() == {}


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_the_folder_of_earlier_versions_is_used_where_it_exists(platform, monkeypatch, tmp_path):
    monkeypatch.setattr(folders.sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(platformdirs, "user_data_dir", lambda *_: str(tmp_path / "new"))
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    assert folders.data_folder() == tmp_path / "new"
    earlier = tmp_path / ("AppData/Local" if platform == "win32" else "Library/Application Support") / "retrograde"
    earlier.mkdir(parents=True)
    assert folders.data_folder() == earlier


def test_list_databases_lists_nothing_else(home):
    (home / "tictactoe,misere=yes.h5.partial").write_bytes(b"half")
    (home / "notes.txt").write_text("")
    assert list_databases(home) == [home / "tictactoe.h5"]
    assert list_databases(home / "absent") == []


def test_importing_databases_does_not_import_the_compiler():
    code = "import sys, retrograde.databases; print('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_the_writer_is_imported_when_it_is_asked_for():
    code = """
import sys, retrograde.databases as databases
print("retrograde.databases.write" in sys.modules, databases.write_database.__name__, databases.SolvedRecords.__name__)
print(all(hasattr(databases, name) for name in databases.__all__), hasattr(databases, "absent"))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "False write_database SolvedRecords\nTrue False\n"


# Errors


def test_a_missing_database_says_how_to_make_it(tmp_path):
    for text in ("connect4:width=5,height=4", "connect4:5,4"):
        with pytest.raises(NoDatabase) as caught:
            open_database(text, home=tmp_path)
        made_by = f"make it with: retrograde solve {text}"
        assert str(caught.value) == f"no database for connect4:width=5,height=4; {made_by}"
    assert isinstance(caught.value, FileNotFoundError)
    with pytest.raises(NoDatabase, match=r"absent\.h5"):
        open_database(tmp_path / "absent.h5")


def edited(path, **attributes):
    """Change attributes of a database."""
    with h5py.File(path, "r+") as file:
        for name, value in attributes.items():
            file.attrs[name] = value
    return path


def test_other_rules_are_refused(home):
    path = edited(home / "tictactoe.h5", rules=np.bytes_("0" * 32))
    with pytest.raises(OtherRules, match="--fresh"):
        open_database(path)
    with pytest.raises(OtherRules, match="--fresh"):
        open_database("tictactoe", home=home)
    with DatabaseFile(path) as file:
        assert file.rules == "0" * 32


def test_a_database_of_another_variant_is_refused(home):
    with pytest.raises(OtherRules, match="tictactoe, not of tictactoe:misere=yes"):
        open_database(home / "tictactoe.h5", game=TicTacToe(misere=True))
    (home / "tictactoe.h5").rename(home / "tictactoe,misere=yes.h5")
    with pytest.raises(OtherRules, match="tictactoe, not of tictactoe:misere=yes"):
        open_database("tictactoe:misere", home=home)


def test_a_later_version_is_refused(home):
    with pytest.raises(VersionTooNew, match=f"has format version {VERSION + 1}, .* up to {VERSION}; install a newer"):
        open_database(edited(home / "tictactoe.h5", format_version=VERSION + 1))


def foreign(path, kind):
    if kind == "text":
        path.write_text("value,remoteness\n" * 99)
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "folder":
        path.mkdir()
    else:
        with h5py.File(path, "w", libver=("v110", "v110") if kind == "modern HDF5" else None) as file:
            file["temperatures"] = np.arange(5)
    return path


@pytest.mark.parametrize("kind", ["text", "empty", "folder", "modern HDF5", "old HDF5"])
def test_other_files_are_refused_in_one_line(kind, tmp_path):
    path = foreign(tmp_path / "foreign.h5", kind)
    with pytest.raises((NotADatabase, DamagedDatabase)) as caught:
        open_database(path)
    assert "foreign.h5" in str(caught.value)
    assert "\n" not in str(caught.value)


def everything(path, game=None):
    """Return all that can be learnt from a database."""
    with open_database(path, game=game) as db:
        records = [[part.tolist() if hasattr(part, "tolist") else part for part in piece] for piece in db.records()]
        positions = [position for piece in records for position in piece[1]]
        looked_up = [array.tolist() for array in db.lookup(positions, canonical=True)]
        single = [db.get(position) for position in positions[::50]]
        file = db.file
        facts = (file.variant, file.options, file.legend, file.positions, file.stored, file.start, file.start_outcome)
        return records, looked_up, single, facts


def test_truncated_files_are_refused(home):
    path = home / "tictactoe.h5"
    content = path.read_bytes()
    for length in {*range(1, 64), *range(64, len(content), 41), len(content) - 1}:
        path.write_bytes(content[:length])
        with pytest.raises(CORRUPT) as caught:
            everything(path)
        assert "tictactoe.h5" in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "changes"),
    thorough_but(
        [("tictactoe", 1000), ("tictactoe", 100), ("many tiny tiers", 100)],
        ("tictactoe", 100),
        ("many tiny tiers", 100),
    ),
)
@pytest.mark.long
def test_a_changed_byte_gives_an_error_or_the_right_answer(name, changes, tmp_path, monkeypatch):
    monkeypatch.setattr(catalog, "rules_digest", cache(catalog.rules_digest))  # it takes longer than all the rest
    path, small = tmp_path / "db.h5", Made([1, 2, 9] * 400 + [BLOCK], seed=4)
    game = TicTacToe() if name == "tictactoe" else small.game
    write_database(path, game, tictactoe()[0] if name == "tictactoe" else small.solved())
    content, truth = path.read_bytes(), everything(path, game)
    rng = np.random.default_rng(5)
    messages = []
    for _ in range(changes):
        changed = bytearray(content)
        changed[rng.integers(len(content))] ^= int(rng.integers(1, 256))
        path.write_bytes(changed)
        try:
            assert everything(path, game) == truth
        except CORRUPT as error:
            messages.append(str(error))
    assert messages
    assert all(str(path) in message and "\n" not in message for message in messages)


@pytest.mark.parametrize(
    "change",
    [
        "extra",
        "missing",
        "no checksum",
        "no size",
        "another size",
        "two frames",
        "skipped filter",
        "other content",
    ],
)
def test_frames_that_are_not_as_written_are_refused(change, home):
    import zstandard

    path = home / "tictactoe.h5"
    with h5py.File(path, "r+") as file:
        dataset = file["records"].id
        frame = dataset.read_direct_chunk((0,))[1]
        content = zstandard.ZstdDecompressor().decompress(frame)
        checked = zstandard.ZstdCompressor(write_checksum=True)
        changed = {
            "extra": frame + b"\0",
            "missing": frame[:-1],
            "no checksum": zstandard.ZstdCompressor(write_checksum=False).compress(content),
            "no size": zstandard.ZstdCompressor(write_checksum=True, write_content_size=False).compress(content),
            "another size": checked.compress(content[:-1]),
            "two frames": checked.compress(content[:100]) + checked.compress(content[100:]),
            "skipped filter": content,
            "other content": checked.compress(content[1:] + b"\0"),
        }[change]
        dataset.write_direct_chunk((0,), changed, filter_mask=change == "skipped filter")
    with open_database(path) as db:
        with pytest.raises(DamagedDatabase, match=r"tictactoe\.h5"):
            db[0]
        with pytest.raises(DamagedDatabase):
            db.lookup([0])
        with pytest.raises(DamagedDatabase):
            list(db.records())


def test_what_cannot_be_true_is_found_in_going_through_the_records(home):
    path = home / "tictactoe.h5"
    forged = Forged.read(path)
    content = bytearray(forged.parts["records"].contents[0])
    assert content[765 + 100] > 0
    content[765 + 100] = 0  # the gap before record 100
    forged.parts["records"].contents[0] = bytes(content)
    with open_database(forged.write(path)) as db, pytest.raises(DamagedDatabase, match="gaps that cannot be true"):
        list(db.records())


@pytest.mark.parametrize("change", ["wrong outcome", "wide gap", "far gaps"])
def test_contents_that_cannot_be_true_are_refused_whatever_vouches_for_them(change, home):
    path = home / "tictactoe.h5"
    forged = Forged.read(path)
    content = forged.parts["records"].contents[0]
    forged.parts["records"].contents[0] = {
        "wrong outcome": b"\xff" + content[1:],
        "wide gap": content[:-1] + b"\1",
        "far gaps": content[: 2 * 765] + b"\xff" * 765 + content[3 * 765 :],
    }[change]
    with open_database(forged.write(path)) as db:
        with pytest.raises(DamagedDatabase, match=r"tictactoe\.h5"):
            db[0]
        with pytest.raises(DamagedDatabase):
            list(db.records())


# Writing


class StopHereError(Exception):
    pass


def test_a_failure_midway_leaves_the_old_file_and_no_other(home):
    old = (home / "tictactoe.h5").read_bytes()
    solved, _ = tictactoe()

    def broken_off():
        yield solved.records[0][:500], solved.records[1][:500]
        raise StopHereError

    with pytest.raises(StopHereError):
        write_database(home / "tictactoe.h5", TicTacToe(), replace(solved, records=broken_off()))
    assert (home / "tictactoe.h5").read_bytes() == old
    assert [path.name for path in home.iterdir()] == ["tictactoe.h5"]


@pytest.mark.parametrize("fault", ["too few", "too many", "out of order", "not in the legend", "too great"])
def test_records_that_contradict_the_rest_are_not_written(fault, tmp_path):
    solved, _ = tictactoe()
    positions, rows = solved.records[0].copy(), solved.records[1].copy()
    if fault == "too few":
        positions, rows = positions[:-1], rows[:-1]
    elif fault == "too many":
        positions, rows = np.append(positions, 1 << 50), np.append(rows, 0)
    elif fault == "out of order":
        positions[[300, 301]] = positions[[301, 300]]
    elif fault == "not in the legend":
        rows[7] = len(solved.legend)
    else:
        solved = replace(solved, greatest=solved.greatest - 1)
    with pytest.raises(ValueError, match=r"positions do not ascend|records"):
        write_database(tmp_path / "x.h5", TicTacToe(), replace(solved, records=(positions, rows)))
    assert list(tmp_path.iterdir()) == []


def test_folders_are_made_and_a_place_that_cannot_be_is_one_clear_error(tmp_path):
    assert made("one block").write(tmp_path / "a" / "b" / "made.h5").is_file()
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotWrite, match=r"cannot write .*made\.h5") as caught:
        made("one block").write(tmp_path / "file" / "made.h5")
    assert isinstance(caught.value, OSError)
    assert isinstance(caught.value, RetrogradeError)


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of file sizes")
@pytest.mark.parametrize("limit", [100, 5_000, 30_000])
def test_a_full_disk_is_one_clear_error(limit, tmp_path):
    process = os.fork()
    if process == 0:  # a child, because the limit cannot be lifted again
        import resource
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond the limit then fails, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            made("sparse, gaps over 16 bits").write(tmp_path / "made.h5")
        except CannotWrite as error:
            os._exit(7 if "made.h5" in str(error) and os.strerror(errno.EFBIG).lower() in str(error).lower() else 8)
        except BaseException:
            os._exit(9)
        os._exit(10)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 7
    assert list(Path(tmp_path).iterdir()) == []


def in_use():
    """Return the error of Windows for a file that a program has open."""
    error = PermissionError(13, "Access is denied")
    error.winerror = 5
    return error


@pytest.mark.parametrize(("refusals", "replaced"), [(0, True), (2, True), (9, False)])
def test_a_file_that_is_open_on_windows_is_waited_for_and_named(refusals, replaced, tmp_path, monkeypatch):
    new, old = tmp_path / "new", tmp_path / "old.h5"
    new.write_text("new")
    old.write_text("old")
    errors, replace, waits = [in_use() for _ in range(refusals)], os.replace, []

    def refusing(source, target):
        if errors:
            raise errors.pop()
        replace(source, target)

    monkeypatch.setattr(durable.os, "replace", refusing)
    monkeypatch.setattr(durable.time, "sleep", waits.append)
    if replaced:
        durable.replace_file(new, old)
        assert old.read_text() == "new" and len(waits) == refusals
    else:
        with pytest.raises(CannotWrite, match=r"cannot replace '.*old\.h5': another program has it open"):
            durable.replace_file(new, old)
        assert old.read_text() == "old" and len(waits) == len(durable.WAITS)


def test_what_may_not_be_replaced_at_all_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(durable.time, "sleep", lambda _: pytest.fail("waited"))

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(durable.os, "replace", refuse)
    with pytest.raises(PermissionError):
        durable.replace_file(tmp_path, tmp_path)


def test_a_built_in_game_is_found_without_asking_for_installed_ones(solved, monkeypatch):
    monkeypatch.setattr(importlib.metadata, "entry_points", None)
    with open_database(solved("tictactoe")) as database:
        assert database.game == TicTacToe()
