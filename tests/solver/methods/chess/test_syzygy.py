"""Syzygy's tables, written: python-chess reads in them what the databases say, position by position."""

import json
import random
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrograde.cli.commands import compare
from retrograde.databases import database_path, open_database
from retrograde.games import LOSE, WIN
from retrograde.games.chess import men
from retrograde.games.contract.zeroing import PATIENCE, signed_distance
from retrograde.solver.methods.chess.formation import Formation, count_positions
from retrograde.solver.methods.chess.syzygy import cells, kernels, write
from retrograde.solver.methods.chess.syzygy.cells import CellSorter, DistanceCells
from retrograde.solver.methods.chess.syzygy.checksum import checksum
from retrograde.solver.methods.chess.syzygy.compression import ALONE, compress
from retrograde.solver.methods.chess.syzygy.table_order import combinations_of, first_squares, table_name, table_orders
from retrograde.solver.methods.chess.syzygy.write import is_complete, paths_of, write_tables
from retrograde.solver.play.solution import open_solution
from tests.helpers.command_line import retrograde
from tests.helpers.solving import copy_whole

chess = pytest.importorskip("chess")
syzygy = pytest.importorskip("chess.syzygy")

pytestmark = pytest.mark.long

SOLVED = {
    "KPK": ("KNK", "KBK", "KRK", "KQK", "KPK"),
    "KRKN": ("KRKN",),
}
"""Endings that are solved, and those of which tables are made from the databases."""
MORE = {
    "KRKR": ("KRKR",),
    "KNNK": ("KNNK",),
    "KPKP": ("KNKP", "KBKP", "KPKP"),
}
"""Those of thorough tests."""


def make(home, solved, endings):
    """Put databases of endings by distance to zeroing into a folder, and make tables."""
    for name, tables in endings.items():
        with open_database(copy_whole(solved(f"chess:{name}", "dtz"), home)) as database:
            for table in tables:
                write_tables(database, table, home)
    return home


@pytest.fixture(scope="module")
def home(tmp_path_factory, solved):
    """A folder with databases, and with tables."""
    return make(tmp_path_factory.mktemp("home"), solved, SOLVED)


@pytest.fixture(scope="module")
def with_more(home, solved):
    """The same, with the endings of thorough tests."""
    return make(home, solved, MORE)


def winners_at_the_edge(solution, ending):
    """Return the sides that win anywhere in just as many plies as the fifty-move rule allows."""
    found = set()
    for piece in solution.positions(remoteness=PATIENCE, tier=men.tier_of(ending)):
        for position, value in zip(piece.positions.tolist(), piece.values.tolist(), strict=True):
            found.add(chess.Board(solution.game.write(position)).turn == (value == WIN))
    return {chess.WHITE, chess.BLACK} if found and len({*men.sides_of(ending)}) == 1 else found


def differing(home, ending, tables, count=None, wanted=None):
    """Return of how many positions of a database tables of an ending were asked, and those of which they say else."""
    found, asked = [], 0
    with open_solution(database_path(f"chess:{ending}", home, "dtz")) as solution:
        listing = solution.positions(remoteness=wanted, tier=men.tier_of(ending))
        exact = winners_at_the_edge(solution, ending)
        for piece in [listing.sample(count, 1)] if count else listing:
            for position, value, plies in zip(
                piece.positions.tolist(), piece.values.tolist(), piece.remoteness.tolist(), strict=True
            ):
                board = chess.Board(solution.game.write(position))
                try:
                    told = tables.probe_wdl(board), tables.probe_dtz(board)
                except syzygy.MissingTableError:  # of what a pawn may become
                    continue
                asked += 1
                right = {signed_distance(value, max(plies, 1))}
                worth = {WIN: 2, LOSE: -2}.get(value, 0) // (2 if plies > PATIENCE else 1)
                winner = board.turn == (value == WIN)
                if worth and (plies > PATIENCE or winner not in exact):  # told in moves, of the side to move there is
                    is_there = tables.probe_dtz_table(board, worth)[1] >= 0
                    rounded = signed_distance(value, max(plies - (plies - 1) % 2, 1))
                    right = {rounded} if is_there else {*right, signed_distance(value, plies - 1)}
                if told not in {(worth, distance) for distance in right}:
                    found.append((board.fen(), told, worth, right))
    return asked, found


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["KRK", "KQK", "KPK", "KBK"])
def test_tables_say_of_all_positions_what_databases_say(home, ending):
    with syzygy.open_tablebase(str(home)) as tables:
        asked, found = differing(home, ending, tables)
    assert not found
    assert asked > 10_000


@pytest.mark.parametrize(
    "ending", ["KRKN", *(pytest.param(ending, marks=pytest.mark.thorough) for ending in ("KPK", "KRK", "KQK"))]
)
def test_tables_say_what_databases_say(home, ending):
    with syzygy.open_tablebase(str(home)) as tables:
        asked, found = differing(home, ending, tables, 500)
    assert not found
    assert asked > 300


@pytest.mark.thorough
@pytest.mark.parametrize("ending", ["KRKR", "KNNK", "KPKP", "KBKP"])
def test_more_tables_say_it(with_more, ending):
    """With the same men on both sides, like men, and pawns on both sides."""
    test_tables_say_what_databases_say(with_more, ending)


@pytest.mark.thorough
def test_en_passant(with_more):
    """The tables know of no such right: readers look at the capture themselves."""
    with (
        open_solution(database_path("chess:KPKP", with_more, "dtz")) as solution,
        syzygy.open_tablebase(str(with_more)) as tables,
    ):
        for fen in ("8/8/8/8/3Pp3/8/1k6/6K1 b - d3 0 1", "6k1/8/8/8/2pP4/8/8/K7 b - d3 0 1"):
            value, plies = solution.value(solution.game.read(fen))
            assert tables.probe_dtz(chess.Board(fen)) in {
                signed_distance(value, plies),
                signed_distance(value, (plies or 1) - 1),
            }


def test_compare_takes_distances_to_zeroing(home, monkeypatch):
    """Where tables tell moves, distances are alike that are a ply too low."""
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    command = "compare", "chess:KRKN@dtz", home, "--positions", 300
    told = retrograde(*command).stdout
    assert told.splitlines()[0] == f"chess:KRKN@dtz: 300 positions beside the tables in {home}"
    assert told.splitlines()[1] == "Syzygy, distances to zeroing: 300 alike, 0 differ"
    (beside,) = json.loads(retrograde(*command, "--json").stdout)["beside"]
    assert (beside["alike"], beside["differ"]) == (300, []) and beside["rounded"] > 40
    assert told.splitlines()[2:] == [f"  of these {beside['rounded']} are rounded there, by a ply"]
    probe = compare.SyzygyZeroing.probe
    monkeypatch.setattr(compare.SyzygyZeroing, "probe", lambda self, board: probe(self, board) + 2)
    (beside,) = json.loads(retrograde(*command, "--json", status=1).stdout)["beside"]
    assert len(beside["differ"]) == 300 and {"ours", "theirs", "position"} == {*beside["differ"][0]}


@pytest.mark.slow
@pytest.mark.parametrize("side", [chess.WHITE, chess.BLACK], ids=["white", "black"])
def test_a_win_that_takes_too_long(tmp_path, monkeypatch, side):
    """The longest of rook and bishop against rook by this count, 117 plies: a win but for the fifty-move rule.

    Whichever side's distances are there: of those in 101 plies some are won by a zeroing move, and some by a move to
    what is lost in 100.
    """
    monkeypatch.setattr(write, "size_of", lambda part: part.values.header[0] & write.BLACK_TO_MOVE != (not side))
    for name in ("KRKR", "KRKB", "KRBK"):
        make(tmp_path, name, [name, *(["KRK", "KBK"] if name == "KRBK" else [])])
    make(tmp_path, "KRBKR", ["KRBKR"])
    with syzygy.open_tablebase(str(tmp_path)) as tables:
        asked, found = differing(tmp_path, "KRBKR", tables, 600, range(100, 118))
        assert (asked, found) == (600, [])
        board = chess.Board("8/3B4/8/1R6/5r2/8/3K4/5k2 w - - 0 1")
        assert (tables.probe_wdl(board), tables.probe_dtz(board)) in ((1, 116), (1, 117))  # told in moves
        asked, found = differing(tmp_path, "KRBKR", tables, 2_000)
    assert (asked, found) == (2_000, [])


# The order of positions


class Numbers(syzygy.Table):
    """How python-chess numbers the positions of a table."""

    def __init__(self, ending, shape, file):
        super().__init__(f"{table_name(ending)}.rtbw")
        codes = list(shape.codes)
        self.norms, self.factors = [0] * self.num, [0] * syzygy.TBPIECES
        if shape.has_pawns:
            self.set_norm_pawn(self.norms, codes)
            self.count = self.calc_factors_pawn(self.factors, shape.first, shape.second, self.norms, file)
        else:
            self.set_norm_piece(self.norms, codes)
            self.count = self.calc_factors_piece(self.factors, shape.first, self.norms)

    def number_of(self, squares):
        encode = self.encode_pawn if self.has_pawns else self.encode_piece
        return encode(self.norms, squares + [0] * (syzygy.TBPIECES - len(squares)), self.factors)


def squares_of(shape, file, number):
    """Return the squares of the men of a position, slowly."""
    squares = []
    for group, ((product, ways), size) in enumerate(zip(shape.digits(file), shape.sizes, strict=True)):
        digit = number // product % ways
        if group == 0:
            squares += first_squares(size, shape.has_pawns, file)[digit].tolist()
            continue
        pawn = shape.codes[len(squares)] & 7 == 1
        free = [square for square in (range(8, 56) if pawn else range(64)) if square not in squares]
        squares += [free[place] for place in combinations_of(size, len(free))[digit, :size].tolist()]
    return squares


@pytest.mark.parametrize("men_there", [3, 4, 5])
def test_positions_have_the_numbers_that_python_chess_gives_them(men_there):
    chance = random.Random(men_there)
    for ending in (name for name in men.TIERS if len(name) == men_there):
        assert syzygy.normalize_tablename(table_name(ending)) == table_name(ending)
        for shape in chance.sample(table_orders(ending), 2):
            for file in range(shape.files):
                numbers = Numbers(ending, shape, file)
                assert numbers.count == shape.length(file)
                for number in chance.sample(range(numbers.count), 20):
                    assert numbers.number_of(squares_of(shape, file, number)) == number


@pytest.mark.parametrize("ending", ["KPK", "KNNK", pytest.param("KQKR", marks=pytest.mark.thorough), "KPPK"])
def test_a_whole_table_has_the_order_of_its_parts(ending):
    """A whole table is filled along memory, and parts number by number."""
    chance = np.random.default_rng(1)
    formation = Formation(ending)
    cells = chance.integers(0, 1 << 11, count_positions(formation.codes)).astype(np.uint16)
    sorter = CellSorter(formation, cells)
    orders = table_orders(ending)
    for number in chance.choice(len(orders), 3, replace=False):
        order, file = orders[number], int(chance.integers(orders[number].files))
        half = order.length(file) // 2
        parts = [
            sorter.cells_from(order, file, 0, half),
            sorter.cells_from(order, file, half, order.length(file) - half),
        ]
        assert np.array_equal(sorter.cells(order, file), np.concatenate(parts))
        assert len({*parts[0].tolist()}) > 1000


# Compression


class Values(syzygy.WdlTable):
    """What python-chess reads in compressed values."""

    def __init__(self, compressed, count):
        self.variant = chess.Board
        self.size = [0, 0, 0]
        parts = compressed.header, compressed.entries, compressed.sizes
        begins = np.cumsum([0, *map(len, parts)]).tolist()
        self.data = b"".join(parts) + compressed.blocks + bytes(16)
        self.pairs = self.setup_pairs(0, count, 0, True)
        assert self._next == begins[1]
        assert self.size == [*map(len, parts[1:]), len(compressed.blocks)] or compressed.header[0] & ALONE
        self.pairs.indextable, self.pairs.sizetable, self.pairs.data = begins[1:]

    def at(self, number):
        return self.decompress_pairs(self.pairs, number)


runs = st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3000)), min_size=1, max_size=60)


@settings(max_examples=30)
@given(runs, st.integers(1, 40), st.integers(5, 10))
def test_what_is_compressed_is_read_again(runs, times, block_bits):
    values = np.tile(np.repeat(*map(np.array, zip(*runs, strict=True))), times).astype(np.uint8)
    read = Values(compress(values, block_bits), len(values))
    for number in random.Random(1).sample(range(len(values)), min(200, len(values))):
        assert read.at(number) == values[number]
    assert read.at(len(values) - 1) == values[-1]


@pytest.mark.thorough
def test_what_is_hard_to_compress():
    values = np.random.default_rng(1).integers(0, 101, 50_000).astype(np.uint8)
    read = Values(compress(values, 10), len(values))
    assert [read.at(number) for number in range(0, 50_000, 7)] == values[::7].tolist()


# Cells


def test_what_need_not_be_told_is_what_stands_beside_it():
    """A cell at most so good may say less, for who reads it looks at captures, too."""
    win, draw = kernels.WIN << 8 | 7, kernels.DRAWN << 8
    cells = np.array(
        [kernels.ANY, win, draw | kernels.AT_MOST, kernels.ANY, draw, draw, win | kernels.AT_MOST], np.uint16
    )
    counts, values = np.zeros(5, np.int64), np.empty(len(cells), np.uint8)
    kernels.count_worths(cells, counts)
    assert counts.tolist() == [0, 0, 2, 0, 1]
    kernels.fill_worths(cells, counts, values)
    assert values.tolist() == [4, 4, 2, 2, 2, 2, 2]


def test_distances_that_nobody_asks_for_are_left_out():
    """Not those to which a quiet move leads: to mate, and against the fifty-move rule to a loss in 100."""
    worths = [kernels.WIN, kernels.WIN, kernels.CURSED, kernels.CURSED, kernels.CURSED, kernels.DRAWN, kernels.LOSS]
    plies = [1, 1, 101, 101, 102, 0, 1]
    cells = np.zeros(64, np.uint16)
    cells[: len(worths)] = [worth << 8 | number for worth, number in zip(worths, plies, strict=True)]
    before, quiet = cells.copy(), np.array([0b1010], np.uint64)
    kernels.clear_unread(cells, quiet)
    left_out = np.flatnonzero(cells == kernels.ANY).tolist()
    assert left_out == [0, 2, 5]
    assert np.delete(cells, left_out).tolist() == np.delete(before, left_out).tolist()


@pytest.mark.parametrize(
    ("worth", "plies", "in_plies", "in_moves"),
    [
        (kernels.WIN, 1, 0, 0),
        (kernels.WIN, 2, 1, 0),
        (kernels.WIN, 100, 99, 49),
        (kernels.LOSS, 0, 0, 0),
        (kernels.LOSS, 1, 0, 0),
        (kernels.LOSS, 100, 99, 49),
        (kernels.CURSED, 101, 0, 0),
        (kernels.CURSED, 117, 8, 8),
        (kernels.BLESSED, 164, 31, 31),
    ],
)
def test_distances_as_tables_tell_them(worth, plies, in_plies, in_moves):
    cell = np.uint16(worth << 8 | plies)
    assert kernels.stored_distance(cell, write.halved_by(write.WINS_IN_PLIES | write.LOSSES_IN_PLIES)) == in_plies
    assert kernels.stored_distance(cell, write.halved_by(0)) == in_moves
    wins, losses = write.halved_by(write.WINS_IN_PLIES), write.halved_by(write.LOSSES_IN_PLIES)
    assert kernels.stored_distance(cell, wins) == (in_plies if worth == kernels.WIN else in_moves)
    assert kernels.stored_distance(cell, losses) == (in_plies if worth == kernels.LOSS else in_moves)


@pytest.mark.parametrize(
    ("edges", "flags"),
    [
        ([(False, False), (False, False)], [0, 0]),
        ([(True, False), (False, False)], [write.WINS_IN_PLIES, write.LOSSES_IN_PLIES]),
        ([(False, False), (False, True)], [write.WINS_IN_PLIES, write.LOSSES_IN_PLIES]),
        ([(False, True), (False, False)], [write.LOSSES_IN_PLIES, write.WINS_IN_PLIES]),
        ([(True, False), (True, False)], [write.WINS_IN_PLIES | write.LOSSES_IN_PLIES] * 2),
        ([(False, True)], [write.WINS_IN_PLIES | write.LOSSES_IN_PLIES]),  # either side may be White
    ],
)
def test_plies_are_told_of_who_wins_at_the_edge(edges, flags):
    """Of what that side wins, whoever is to move: so readers need know no more than moves where no ply matters."""

    class Edges:
        formation = SimpleNamespace(is_symmetric=len(edges) == 1)

        def reaches_limit(self, side):
            return edges[side]

    assert write.flags_of(Edges()) == flags


def test_the_limit_is_reached_where_a_listing_of_the_database_says(home, monkeypatch):
    """With other limits than the rule's, which some wins or losses of this ending reach."""
    path, found = database_path("chess:KRKN", home, "dtz"), set()
    with open_database(path) as database, open_solution(path) as solution:
        known = DistanceCells(database, Formation("KRKN"))
        for limit in (0, 52, 53, 100):
            monkeypatch.setattr(cells, "PATIENCE", limit)
            there = set()
            for piece in solution.positions(remoteness=limit, tier=men.tier_of("KRKN")):
                for position, value in zip(piece.positions.tolist(), piece.values.tolist(), strict=True):
                    there.add((chess.Board(solution.game.write(position)).turn, value))
            for side, turn in enumerate((chess.WHITE, chess.BLACK)):
                assert known.reaches_limit(side) == ((turn, WIN) in there, (turn, LOSE) in there)
            found.add(frozenset(there))
    assert len(found) > 3


# Checksums


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("length", "step", "wanted"),
    [
        (64, 1, "f205c77251bc04be2e0bfba0a8ead9d8"),
        (64 * 40, 7, "cda8eda977b59d5e18cf6bca6c5e3743"),
        ((1 << 24) + 128, 5, "61913e154ea7c89aaca166bfe20ff1d9"),
        (3 << 24, 11, "a8e82c4a0abdb9f37cff6e9fe5dda87e"),
    ],
)
def test_checksums_are_those_that_tbcheck_finds_right(length, step, wanted):
    """`tbcheck` of github.com/syzygy1/tb printed OK for these."""
    content = (np.arange(length, dtype=np.uint64) * step * 2654435761 >> 13).astype(np.uint8)
    assert checksum(content.tobytes()).hex() == wanted


def test_checksum_of_a_table_of_theirs():
    """KBvK.rtbz as rtbgen makes it."""
    content = bytes.fromhex("d7660ca531000e0603008000") + bytes(52)
    assert checksum(content).hex() == "338f272b119c02ca67b03a450c375b2e"


# Files and the command


def test_files_are_as_readers_want_them(home):
    for path in home.glob("*.rtb?"):
        content = path.read_bytes()
        assert len(content) % 64 == 16
        assert checksum(content[:-16]) == content[-16:]
        assert content[4] >> 4 == len(path.stem) - 1
    assert not list(home.glob("*.partial"))


@pytest.mark.thorough
def test_the_same_bytes_each_time(home, tmp_path):
    with open_database(database_path("chess:KRKN", home, "dtz")) as database:
        write_tables(database, "KRKN", tmp_path)
    for path in paths_of("KRKN", tmp_path):
        assert path.read_bytes() == (home / path.name).read_bytes()


@pytest.mark.thorough
def test_the_command(home, tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    made = retrograde("export", "chess:KRKN", "--syzygy", tmp_path / "new").stdout
    assert [line.split()[0] for line in made.splitlines()] == ["KRvK.rtbw", "KNvK.rtbw", "KRvKN.rtbw"]
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "new").iterdir()}
    assert sorted(before) == sorted(f"{name}.rtb{kind}" for name in ("KRvK", "KNvK", "KRvKN") for kind in "wz")
    facts = json.loads(retrograde("export", "chess:KRKN", "--syzygy", tmp_path / "new", "--json").stdout)["tables"]
    assert [(one["ending"], one["there_before"]) for one in facts] == [("KRK", True), ("KNK", True), ("KRKN", True)]
    assert before == {path.name: path.stat().st_mtime_ns for path in (tmp_path / "new").iterdir()}
    for one in facts:
        assert [file["bytes"] for file in one["files"]] == [
            path.stat().st_size for path in paths_of(one["ending"], home)
        ]


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["tictactoe"], 1, "Syzygy's tables are of chess endings, not of tictactoe"),
        (["chess:KRKN", "--seed", "0"], 2, "--syzygy goes with --database and --json alone"),
        (
            ["chess:KRRK"],
            1,
            "no database for chess:KRRK by dtz; make it with: retrograde solve chess:KRRK --metric dtz",
        ),
        (["chess:KRKN", "--value", "win"], 2, "--syzygy goes with --database and --json alone"),
        (["chess:all=3", "--database", "x.h5"], 2, "a set of 5 variants"),
    ],
)
def test_what_cannot_be_written_is_said(home, tmp_path, monkeypatch, arguments, status, said):
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    assert said in retrograde("export", *arguments, "--syzygy", tmp_path / "new", status=status).stderr


def test_what_is_no_table_is_not_taken_for_one(home, tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    assert all(is_complete(path) for path in home.glob("*.rtb?"))
    content = bytearray((home / "KNvK.rtbw").read_bytes())
    content[20] ^= 1
    (tmp_path / "KNvK.rtbw").write_bytes(content)
    done = retrograde("export", "chess:KRKN", "--syzygy", tmp_path, status=1)
    assert "KNvK.rtbw' is there already, and is no whole table" in done.stderr
    assert (tmp_path / "KNvK.rtbw").read_bytes() == content


def test_too_little_memory_is_said_before(home, tmp_path, monkeypatch):
    monkeypatch.setattr(write.MemoryBudget, "free_bytes", lambda self: 10**8)
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    done = retrograde("export", "chess:KRKN", "--syzygy", tmp_path, status=1)
    assert "to write the tables of KRK takes 100 MB of memory, which is not free" in done.stderr


def test_a_disk_that_is_full_leaves_nothing(home, tmp_path, monkeypatch):
    def full(path, content):
        path.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(write.Path, "write_bytes", full)
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    done = retrograde("export", "chess:KRKN", "--syzygy", tmp_path, status=1)
    assert "No space left on device" in done.stderr
    assert not list(tmp_path.glob("*.rtb*"))


def test_another_metric_is_refused(home, tmp_path, solved):
    done = retrograde("export", solved("chess:KRK"), "--syzygy", tmp_path, status=1)
    assert "has remoteness, and Syzygy's tables have distances to zeroing" in done.stderr
    assert not list(tmp_path.glob("*.rtb*"))


def test_a_folder_that_cannot_be_made(home, tmp_path, monkeypatch):
    monkeypatch.setenv("RETROGRADE_HOME", str(home))
    (tmp_path / "file").write_text("")
    assert "cannot write to" in retrograde("export", "chess:KRKN", "--syzygy", tmp_path / "file" / "x", status=1).stderr
