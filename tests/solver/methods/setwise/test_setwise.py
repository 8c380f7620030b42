"""Games solved word by word, against the slow solver, against a stream byte by byte, and left to other ways."""

import os
import random
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrograde.databases import open_database
from retrograde.games import LOSE, TIE, UNDECIDED, WIN, Game
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.methods.listed.method import ListedMethod
from retrograde.solver.methods.setwise import words
from retrograde.solver.methods.setwise.backward import codes_for, planes_for
from retrograde.solver.methods.setwise.backward_kernels import MOST_PLANES
from retrograde.solver.methods.setwise.batches import cut_into
from retrograde.solver.methods.setwise.method import Setwise
from retrograde.solver.methods.setwise.storage import Wave, WaveStorage
from retrograde.solver.methods.streamed.method import StreamedMethod
from retrograde.solver.options import CannotSolve
from retrograde.solver.rules.plain import rules, tier_kernels
from retrograde.solver.rules.plain.screening import may_be_plain
from retrograde.solver.rules.plain.symbols import Circuit, Symbol
from retrograde.solver.runtime.progress import Phase
from retrograde.solver.runtime.scratch import DamagedScratch
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.runtime.work import NotApplicable
from retrograde.solver.values import bits
from retrograde.solver.values.score import LOSE_CLASS, TIE_CLASS, WIN_CLASS
from tests.helpers import reference
from tests.helpers.marks import thorough, thorough_but
from tests.helpers.solving import Stop

SIZES = Sizes(in_memory=1)
WORD = (1 << 64) - 1


def solved_by_words(game, path, sizes=SIZES, **options):
    return solve(game, path, method="setwise", sizes=sizes, **options)


# Symbols


def values_of(circuit, position):
    """Return what each node is for a position, worked out one after another."""
    values = []
    for number, (kind, a, b) in enumerate(circuit.nodes):
        if number == 0:
            values.append(False)
        elif number <= 64:
            values.append(bool(position >> number - 1 & 1))
        else:
            pair = values[a >> 1] ^ bool(a & 1), values[b >> 1] ^ bool(b & 1)
            values.append(all(pair) if kind == 0 else pair[0] != pair[1])
    return values


def number_of(circuit, symbol, position):
    values = values_of(circuit, position)
    number = sum((values[bit >> 1] ^ bool(bit & 1)) << place for place, bit in enumerate(symbol.bits))
    return number - (1 << 64 if number >> 63 else 0)


OPERATIONS = {
    "and": lambda a, b, k: a & b,
    "or": lambda a, b, k: a | b,
    "xor": lambda a, b, k: a ^ b,
    "not": lambda a, b, k: ~a & 0xFFFFF,
    "left": lambda a, b, k: (a << k) & 0xFFFFF,
    "right": lambda a, b, k: a >> k,
    "sum": lambda a, b, k: a + b,
    "difference": lambda a, b, k: a - b,
    "from": lambda a, b, k: 1000 - a,
    "times": lambda a, b, k: a * k,
    "count": lambda a, b, k: (a & 0xFFFFF).bit_count(),
    "equal": lambda a, b, k: (a == b) | ((a != k) << 1),
    "less": lambda a, b, k: (a < b) | ((a <= k) << 1) | ((a > b) << 2) | ((k >= a) << 3),
    "masked": lambda a, b, k: a & 0x3FF | b << 3 & 0xFF,
}


@given(st.lists(st.tuples(st.sampled_from(sorted(OPERATIONS)), st.integers(0, 9)), max_size=5), st.integers(0, 4095))
@settings(max_examples=150)
def test_symbols_are_what_ints_are(steps, position):
    circuit = Circuit()

    def run(p):
        a, b = p & 63, p >> 6 & 63
        for name, k in steps:
            a, b = OPERATIONS[name](a, b, k), a
        return a

    found = run(circuit.position())
    wanted = run(position)
    if isinstance(found, Symbol):
        found = number_of(circuit, found, position)
    assert found == wanted


@pytest.mark.parametrize(
    "rules_of_some",
    [
        lambda p: [1 for _ in count() if p & 1],  # never ends, and asks nothing new
        lambda p: [1 for bit in range(40) if p >> bit & 1],  # has more ways than can be looked at
        lambda p: {p: 1},
        lambda p: p // 3,
    ],
)
def test_rules_that_are_not_for_symbols_are_left_to_others(rules_of_some, monkeypatch):
    monkeypatch.setattr("retrograde.solver.rules.plain.symbols.MOST_WAYS", 100)
    with pytest.raises(NotApplicable):
        Circuit().decisions(rules_of_some)


@pytest.mark.as_python
@pytest.mark.parametrize("text", ["connect4:4,3", "connect4:5,4,3"])
def test_programs_say_what_rules_say(text):
    """With all bits shared by a tier of one position, everything comes to constants."""
    game, dice = load_game(text), random.Random(1)
    told = rules.rules_of(game)
    values = np.empty(len(told.moving.nodes), np.int64)
    cubes, pairs = np.empty((tier_kernels.MOST_CUBES, 2), np.int64), np.empty((4, tier_kernels.IMAGE_PAIRS), np.int64)
    for _ in range(20):
        position = game.start
        while game.primitive(position) == UNDECIDED:
            tier_kernels.evaluate_nodes(told.moving.nodes, position, 0, values)
            leaf = tier_kernels.leaf_of(told.moving.trees, 0, values)
            moves = [told.moves[k] for k in told.sets[leaf] if k >= 0]
            assert moves == list(game.generate_moves(position))
            for k in told.sets[leaf][: len(moves)]:
                row = tier_kernels.leaf_of(told.moving.trees, told.roots[k], values)
                child, mask, tier, plain = tier_kernels.child_of(told.moving.lanes[row], values, 0)
                assert plain and mask == 0
                assert child == game.do_move(position, int(told.moves[k])) and tier == game.tier(child)
            assert tier_kernels.pairs_of(told.imaging, position, 0, values, pairs) == 1
            (image,) = game.images(position)
            first = game.canonical(position) == position
            assert pairs[0, 1] == (
                tier_kernels.SAME if image == position else tier_kernels.LESS if first else tier_kernels.GREATER
            )
            position = game.do_move(position, dice.choice(moves))
            lines, value = tier_kernels.ends_of(told.ending, told.decided, position, 0, values, cubes)
            assert not lines and value == game.primitive(position)


# Words


@given(st.integers(0, WORD), st.integers(0, WORD))
@settings(max_examples=50)
def test_bits_under_a_mask_are_pushed_together_and_spread(word, mask):
    places = [bit for bit in range(64) if mask >> bit & 1]
    together = sum((word >> place & 1) << k for k, place in enumerate(places))
    for pushed in (bits.extract, bits.extract_by_loop):
        assert pushed(np.uint64(word), np.uint64(mask)) == together
    for spread in (bits.deposit, bits.deposit_by_loop):
        assert spread(np.uint64(together), np.uint64(mask)) == word & mask
    moves = np.empty(bits.MOVES, np.uint64)
    bits.find_moves(np.uint64(mask), moves)
    assert bits.extract_by_moves(np.uint64(word), np.uint64(mask), moves) == together
    # Bits of the deposited word beyond the ones of the mask do not count.
    for extra in {0, WORD & ~((1 << len(places)) - 1)}:
        assert bits.deposit_by_moves(np.uint64(together | extra), np.uint64(mask), moves) == word & mask


@pytest.mark.as_python
@given(st.integers(0, WORD), st.integers(0, 5), st.integers(0, 1))
@settings(max_examples=50)
def test_bits_are_put_into_ranks_and_taken_out(word, place, bit):
    inside = {rank for rank in range(64) if word >> rank & 1}
    wanted = {words.insert_bit(rank, place, bit) for rank in inside if rank < 32}
    spread = int(words.spread_word(np.uint64(word & 0xFFFFFFFF), place, bit))
    assert {rank for rank in range(64) if spread >> rank & 1} == wanted
    taken = int(words.gather_word(np.uint64(word), place, bit))
    assert taken == sum(1 << words.remove_bit(rank, place) for rank in inside if rank >> place & 1 == bit)
    if word:
        assert words.lowest(np.uint64(word)) == min(inside)
        assert words.highest(np.uint64(word)) == max(inside)


# The whole


@dataclass(frozen=True)
class Drops(Game):
    """Stones fall into columns; who fills a line with stones of one colour wins, or loses in *misere* play. A *twist*
    spoils what words need."""

    width: int
    height: int
    lines: tuple[int, ...]
    twist: str = ""
    mirror: bool = False
    images_told: int = 1
    misere: bool = False

    # As in Connect Four, a guard lies on each column; cells are bits, O is 1.

    @property
    def start(self):
        return sum(1 << (self.height + 1) * column for column in range(self.width))

    def filled(self, position):
        found = 0
        for column in range(self.width):
            above = False
            for row in reversed(range(self.height + 1)):
                cell = column * (self.height + 1) + row
                if above:
                    found |= 1 << cell
                above = above or bool(position >> cell & 1)
        return found

    def generate_moves(self, position):
        for column in range(self.width):
            free = not position >> (self.height + 1) * column + self.height & 1
            if free and (self.twist != "moves" or column != 1 or position & 15 != 3):
                yield column  # with the twist not the second, where a single O stands in the first

    def do_move(self, position, column):
        filled = self.filled(position)
        cell = (self.height + 1) * column
        while filled >> cell & 1:
            cell += 1
        turn = filled.bit_count() & 1
        if self.twist == "stone" and column == 1:
            turn ^= position & filled & 1
        if self.twist == "clear" and column == 1 and filled & 1:
            position &= ~1  # the first stone is an X from now on, whoever's it was
        return position ^ (3 - turn << cell)

    def primitive(self, position):
        filled = self.filled(position)
        last = filled & (position if filled.bit_count() & 1 == 0 else ~position)
        for line in self.lines:
            if last & line == line and (self.twist != "unless" or filled & position & 1):
                return WIN if self.misere != (self.twist == "either" and line == self.lines[0]) else LOSE
        full = sum((1 << self.height) - 1 << (self.height + 1) * column for column in range(self.width))
        return TIE if filled == full else UNDECIDED

    def images(self, position):
        if self.mirror:
            column = (1 << self.height + 1) - 1
            mirrored = 0
            for k in range(self.width):
                cells = position >> (self.height + 1) * k & column
                mirrored |= cells << (self.height + 1) * (self.width - 1 - k)
            yield from [mirrored] * self.images_told

    def tier(self, position):
        return self.filled(position)

    def write(self, position):
        return str(position)

    def read(self, text):
        return int(text)


def lines_of(width, height, dice, mirror):
    """Return lines of two to four cells anywhere; with each its mirror image."""
    cells = [(column, row) for column in range(width) for row in range(height)]
    found = set()
    for _ in range(dice.randrange(1, 9)):
        line = dice.sample(cells, dice.randrange(2, 5))
        for one in (line, [(width - 1 - column, row) for column, row in line])[: 1 + mirror]:
            found.add(sum(1 << (height + 1) * column + row for column, row in one))
    return tuple(sorted(found))


def expect_reference(game, path):
    """Hold a database against the slow solver: every value, the counts, and the examples."""
    wanted = reference.solve(game)
    with open_database(path, game=game) as database:
        for position, outcome in wanted.items():
            assert database[position] == outcome
        assert {(row.value, row.remoteness): row.positions for row in database.file.legend} == reference.counts(wanted)
        assert database.file.stored == len(reference.explore(game, symmetric=True))
        for row in database.file.legend:
            least = min((game.tier(c), c) for c in map(game.canonical, wanted) if wanted[c] == database[row.example])
            assert (game.tier(row.example), row.example) == least


@pytest.mark.parametrize(
    "seed",
    [1, *map(thorough, (0, 2, 3, 4)), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(5, 12))],
)
def test_random_games_equal_the_reference(seed, tmp_path):
    dice = random.Random(seed)
    width, height = dice.choice([(2, 5), (3, 3), (3, 4), (4, 2), (4, 3), (2, 6)])
    mirror = bool(seed & 1)
    game = Drops(width, height, lines_of(width, height, dice, mirror), mirror=mirror, misere=seed % 4 > 1)
    expect_reference(game, solved_by_words(game, tmp_path / "game.h5", workers=1 + seed % 2))


def solved_with_mirror(game, path, monkeypatch):
    """Solve a game, and return the path, and in how many waves only one of two mirror images was stored."""
    waves = []

    def noted(self, mirror, before):
        drop_mirror_images(self, mirror, before)
        waves.append((self.stored != np.arange(len(self.stored))).any())

    drop_mirror_images = Wave.drop_mirror_images
    monkeypatch.setattr(Wave, "drop_mirror_images", noted)
    return solved_by_words(game, path), sum(waves)


LEFT, RIGHT = 0b11 << 1, 0b11 << 9  # in columns of three cells: two in the first, and in the third


@pytest.mark.parametrize(
    ("lines", "images_told", "waves"),
    [
        ((LEFT, RIGHT), 1, 8),  # all but the first and the last
        thorough(((LEFT, RIGHT), 2, 0)),
        (
            (LEFT, LEFT | 1, RIGHT),
            1,
            4,
        ),  # the same game, but of twins one has a line more, from the fourth on
    ],
)
def test_one_of_two_mirror_images_is_stored_if_the_rules_prove_the_same(
    lines, images_told, waves, tmp_path, monkeypatch
):
    game = Drops(3, 3, lines, mirror=True, images_told=images_told)
    path, found = solved_with_mirror(game, tmp_path / "game.h5", monkeypatch)
    assert found == waves
    expect_reference(game, path)


@pytest.mark.thorough
def test_a_solve_that_went_on_without_a_mirror_goes_on_so_after_a_kill(tmp_path, monkeypatch):
    monkeypatch.setattr(Phase, "often", 0)
    monkeypatch.setattr("retrograde.solver.methods.setwise.forward.BYTES_IN_WAVE", 1 << 50)
    game, path = Drops(3, 3, (LEFT, LEFT | 1, RIGHT), mirror=True), tmp_path / "game.h5"
    sizes = Sizes(in_memory=1, chunk_words=1, journal_seconds=0)

    def stop(progress):
        if progress.phase == "solving" and progress.done:
            raise Stop

    with pytest.raises(Stop):
        solved_by_words(game, path, sizes, listener=stop)
    expect_reference(game, solved_by_words(game, path, sizes))


@pytest.mark.as_python
@given(st.sets(st.integers(0, (1 << 14) - 1), min_size=1, max_size=300))
@settings(max_examples=30)
def test_mirror_images_have_the_images_of_all_positions(ranks):
    """Columns of eight, four and two stones, 2 + 4 + 8 in the mirror."""
    mirror = np.array([*range(20, 30), *range(10, 20), *range(10), *[64] * 34])
    mask, places = (1 << 8) - 1 | 15 << 10 | 3 << 20, [*range(8), *range(10, 14), *range(20, 22)]
    images = {sum((rank >> k & 1) << int(mirror[place]) for k, place in enumerate(places)) for rank in ranks}
    tier, twin = np.zeros((2, tier_kernels.TIER), np.int64)
    tier[[tier_kernels.MASK, tier_kernels.GROUPS]] = mask, 4
    twin[[tier_kernels.NUMBER, tier_kernels.MASK]] = 1, (1 << 2) - 1 | 15 << 10 | 255 << 20
    wave = Wave(0, np.array([tier, twin]), np.empty((0, 0)), np.zeros(3))
    wave.mirror, wave.stored = mirror, np.array([0, 0])
    dense = [sum(1 << rank % 64 for rank in ranks if rank >> 6 == word) for word in range(256)]
    groups = [sum(1 << k for k in range(64) if dense[64 * group + k]) for group in range(4)]
    wave.tiers[0, [tier_kernels.WORDS, tier_kernels.COUNT]] = sum(map(bool, dense)), len(ranks)
    wave.begins.append(0)
    wave.sets.append(np.array([*groups, 0, 0, 0, 0, *filter(None, dense)], np.uint64))
    sets = wave.load_with_images(WaveStorage(None), np.array([0, 1]), "images")
    for row, wanted in ((0, ranks), (1, images)):
        found, (first, word) = set(), sets.tiers[row, [tier_kernels.GROUP, tier_kernels.WORD]].tolist()
        runs = bits.find_runs(sets.tiers[row, tier_kernels.MASK], bits.make_runs_buffer())
        for number in range(256):
            if int(sets.occupied[first + number // 64]) >> number % 64 & 1:
                inside = int(sets.words[word])
                word += 1
                found |= {number * 64 + k for k in range(64) if inside >> k & 1}
        assert found == (wanted if row == 0 else {bits.rank_of(image, runs) for image in wanted})
        assert word == sets.tiers[row, tier_kernels.WORD] + sets.tiers[row, tier_kernels.WORDS]


@pytest.mark.parametrize("twist", ["moves", "stone", "clear", "unless", "either"])
@pytest.mark.parametrize("misere", [thorough(False), True])
def test_what_is_not_plain_is_not_guessed(twist, misere, tmp_path):
    game = Drops(3, 3, lines_of(3, 3, random.Random(5), False), twist, misere=misere)
    try:
        path = solved_by_words(game, tmp_path / "game.h5")
    except CannotSolve:
        return
    assert twist == "unless"  # a longer line, no more
    expect_reference(game, path)


@pytest.mark.parametrize(
    "variant", ["dodgem", "tictactoe", "mutorere", "benchmarks/plain_connect4.py:width=4,height=3"]
)
def test_other_games_are_left_to_other_ways(variant, tmp_path, monkeypatch):
    """At a glance; and proofs would find out what is seen there."""
    game = load_game(variant)
    assert not may_be_plain(game)
    for seen in (may_be_plain, lambda game: True):
        for place in ("selection", "methods.setwise.tiers"):
            monkeypatch.setattr(f"retrograde.solver.{place}.may_be_plain", seen)
        with pytest.raises(CannotSolve, match="cannot be solved by the method that was asked for"):
            solved_by_words(game, tmp_path / "game.h5")


def test_of_rules_that_raise_others_speak():
    class Raising(Drops):
        def do_move(self, position, column):
            if self.filled(position).bit_count() == 2:
                raise LookupError
            return super().do_move(position, column)

    assert may_be_plain(Drops(3, 3, ())) and not may_be_plain(Raising(3, 3, ()))


@pytest.mark.parametrize(
    ("in_memory", "names"),
    [(4_000, ["setwise"]), (100_000, ["setwise", "listed"])],
)
def test_positions_are_not_listed_where_there_are_many_to_be_had_by_words(in_memory, names, tmp_path, monkeypatch):
    """Of Connect Four 4×3, 19,121 positions, tiers have up to twelve bits."""
    tried = []
    for way in (Setwise, ListedMethod, StreamedMethod):

        def noted(self, game, work, way=way, solve=way.solve):
            tried.append(way.name)
            return solve(self, game, work)

        monkeypatch.setattr(way, "solve", noted)
    solve(load_game("connect4:4,3"), tmp_path / "game.h5", sizes=Sizes(in_memory=in_memory, interpreted_seconds=0))
    assert tried == names


@pytest.mark.parametrize(
    "variant",
    thorough_but(
        ["connect4:4,4", "connect4:5,4,3", "tests/helpers/misere4.py:4,4", "tests/helpers/misere4.py:5,3,3"],
        "connect4:4,4",
    ),
)
def test_the_bytes_are_those_of_a_stream(variant, tmp_path, monkeypatch):
    """With planes as words, and packed; with no steps held in memory, some, and all; with children loaded by each task,
    and once for all tasks of a batch."""
    game = load_game(variant)
    wanted = solve(game, tmp_path / "streamed.h5", method="streamed", sizes=SIZES).read_bytes()
    setwise, planned = "retrograde.solver.methods.setwise", set()

    for workers, weight, for_planes, steps, batches in (
        *((1, 1 << 15, 0.5, 0, None), (2, 50, 0.5, 20_000, None)),
        *((2, 50, 0.0, 1 << 28, None), (2, 50, 0.0, 0, 5), (1, 50, 0.0, 0, 1)),
    ):

        def plan(tasks, read, tiers, planes, free, batches=batches):
            planned.add(batches)
            return batches and cut_into(min(batches, len(tasks)), tasks, read, tiers)

        monkeypatch.setattr(f"{setwise}.backward.plan_batches", plan)
        monkeypatch.setattr(f"{setwise}.method.STEPS_CACHED", steps)
        monkeypatch.setattr(f"{setwise}.method.FOR_PLANES", for_planes)
        for name in ("TASK_WORDS", "LEAST_WORDS"):
            monkeypatch.setattr(f"{setwise}.backward.{name}", weight)
        sizes = replace(SIZES, chunk_words=weight)
        path = solved_by_words(game, tmp_path / "words.h5", sizes, workers=workers, fresh=True)
        assert path.read_bytes() == wanted
    assert planned == {None, 1, 5}


def test_positions_are_as_many_as_are_published(tmp_path):
    with open_database(solved_by_words(load_game("connect4:5,4"), tmp_path / "game.h5")) as database:
        assert database.file.positions == 3_945_711  # J. Tromp


def test_a_solve_that_is_stopped_begins_anew(tmp_path):
    game, path = load_game("connect4:4,4"), tmp_path / "game.h5"

    def stop(progress):
        if progress.phase == "solving" and progress.done:
            raise Stop

    with pytest.raises(Stop):
        solved_by_words(game, path, listener=stop)
    again = solved_by_words(game, path).read_bytes()
    assert again == solved_by_words(game, path, fresh=True).read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["game.h5"]


@pytest.fixture
def in_scratch(monkeypatch):
    """Let there be too little memory for all waves, tasks be small, and all be told that is done."""
    monkeypatch.setattr(Phase, "often", 0)
    for name, amount in (("ESTIMATED_AFTER", 0), ("PLENTY", 1 << 50), ("BYTES_A_POSITION", 1 << 50)):
        monkeypatch.setattr(f"retrograde.solver.methods.setwise.forward.{name}", amount)
    for name, least in (("backward.TASK_WORDS", 100), ("backward.LEAST_WORDS", 100)):
        monkeypatch.setattr(f"retrograde.solver.methods.setwise.{name}", least)


@pytest.mark.thorough
@pytest.mark.parametrize(("variant", "for_loaded"), [("connect4:4,4", 0.5), ("connect4:4,4,3", 0.0)])
def test_solves_in_scratch_files_go_on_wherever_they_were_stopped(
    variant, for_loaded, tmp_path, in_scratch, monkeypatch
):
    """With parents and children loaded for many tasks, or by each task."""
    for name in ("forward", "batches"):
        monkeypatch.setattr(f"retrograde.solver.methods.setwise.{name}.FOR_LOADED", for_loaded)
    game, path = load_game(variant), tmp_path / "game.h5"
    wanted = solve(game, tmp_path / "wanted.h5", method="streamed", sizes=SIZES).read_bytes()
    sizes = Sizes(in_memory=1, chunk_words=200, journal_seconds=0)
    told = []

    def listener(progress):
        told.append((progress.phase, progress.done))
        if progress.phase in ("exploring", "solving") and len(told) % 40 == 0:
            raise Stop

    stops = 0
    while not path.exists():
        with suppress(Stop):
            solve(game, path, method="setwise", sizes=sizes, listener=listener)
        stops += 1
    assert stops > 2
    assert [done for phase, done in told if phase == "solving"][-1] > 0
    assert path.read_bytes() == wanted
    assert sorted(file.name for file in tmp_path.iterdir()) == ["game.h5", "wanted.h5"]


@pytest.mark.thorough
@pytest.mark.parametrize("what", ["sets", "planes", "records"])
def test_scratch_files_that_are_damaged_are_made_anew(what, tmp_path, in_scratch):
    game, path = load_game("connect4:4,4,3"), tmp_path / "game.h5"
    wanted = solve(game, tmp_path / "wanted.h5", method="streamed", sizes=SIZES).read_bytes()

    def stop(progress):
        if progress.phase == "solving" and progress.done > 3000:
            raise Stop

    sizes = Sizes(in_memory=1, chunk_words=200, journal_seconds=0)
    with pytest.raises(Stop):
        solve(game, path, method="setwise", sizes=sizes, listener=stop)
    files = [file for file in tmp_path.rglob(f"{what}*-*") if file.stat().st_size > 50]
    assert files
    for file in files:
        file.write_bytes(bytes(byte ^ 0x55 for byte in file.read_bytes()))
    if what == "sets":  # to be stopped once more does no harm either
        with pytest.raises(Stop):
            solve(game, path, method="setwise", sizes=sizes, listener=stop)
    if what == "records":  # which are read only when they are written into the database
        with pytest.raises(DamagedScratch, match="begin anew with --fresh"):
            solve(game, path, method="setwise", sizes=sizes)
    assert solve(game, path, method="setwise", sizes=sizes, fresh=what == "records").read_bytes() == wanted


@pytest.mark.parametrize("plies", [0, 1, 2, 3, 6, 7, 30, 31, 62])
@pytest.mark.parametrize("misere", [False, True])
def test_worths_that_there_may_be_have_codes_of_their_own(plies, misere):
    """So many plies before the end one loses or wins within them, or there is a tie."""
    count = planes_for(plies)
    codes = codes_for(count, plies, misere).tolist()
    for remoteness in range(plies + 1):
        lost, won = remoteness << 2 | LOSE_CLASS, remoteness << 2 | WIN_CLASS
        assert codes.count(won if remoteness % 2 != misere else lost) == 1
    assert codes.count(plies << 2 | TIE_CLASS) == 1
    assert count <= MOST_PLANES < planes_for(63)


AS_PYTHON = """
import sys, warnings
from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.runtime.sizes import Sizes
warnings.simplefilter("ignore")  # of products that wrap
solve(load_game("connect4:3,3,3"), sys.argv[1], method="setwise", workers=1, sizes=Sizes(in_memory=1))
"""


@pytest.mark.thorough
def test_kernels_run_as_python(tmp_path):
    """There every index is looked at."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    subprocess.run([sys.executable, "-c", AS_PYTHON, tmp_path / "python.h5"], check=True, env=environment)
    wanted = solved_by_words(load_game("connect4:3,3,3"), tmp_path / "compiled.h5")
    assert (tmp_path / "python.h5").read_bytes() == wanted.read_bytes()


def test_it_is_one_of_the_ways():
    assert Setwise.name == "setwise"
