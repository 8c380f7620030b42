"""Tiers solved shape by shape in ranges: the same bytes as in memory, whatever becomes of the tasks."""

from contextlib import suppress
from random import Random

import numpy as np
import pytest

from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.methods.numbered import by_slots
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.methods.numbered.tier_memory import memory_by_shapes, memory_for_tiers
from retrograde.solver.methods.shapes import ranges
from retrograde.solver.methods.shapes.blocks import Block, TierOutcomes
from retrograde.solver.methods.shapes.fit import NotShaped
from retrograde.solver.methods.shapes.layout import tier_sections
from retrograde.solver.methods.shapes.range_tasks import RowSpan, read_frontiers, split_frontiers, to_bytes
from retrograde.solver.runtime.checkpoint import Checkpoint
from retrograde.solver.runtime.memory import MemoryLimit
from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.runtime.sizes import Sizes
from tests.helpers.elsewhere import Elsewhere, Late
from tests.helpers.marks import thorough_but
from tests.helpers.solving import Stop

pytestmark = pytest.mark.long

SMALL = ["quixo:2", "quixo:3", "teeko:3,2", "teeko:3,3", "morris:3", "morris:3,no", "lasker:3"]
SMALL += ["baghchal:3,2,4,2", "baghchal:3,2,4,2,no"]
RANGED = Sizes(ranged_slots=1, range_bits=6)
TIER_MEMORY = "retrograde.solver.methods.numbered.by_shapes.memory_by_shapes"
IN_MEMORY = "retrograde.solver.methods.shapes.tiers.ShapeTier"


@pytest.fixture
def in_ranges(monkeypatch):
    """Solve in small ranges, some of them in one task, and in no other way."""
    monkeypatch.setattr(ranges, "LEAST_SLOTS", 64)
    monkeypatch.setattr(ranges, "TOGETHER", 20)
    monkeypatch.setattr(IN_MEMORY, lambda *_: pytest.fail("it is solved in memory"))
    monkeypatch.setattr(by_slots, "solve_by_slots", lambda *_: pytest.fail("it is solved slot by slot"))
    monkeypatch.setattr(by_slots, "solve_in_ranges", lambda *_: pytest.fail("it is solved slot by slot"))


def solve_in_memory(game, path):
    """Return the bytes of a database that is solved in memory; the file is deleted, or its tiers would be taken."""
    content = solve(game, path, method="setwise", fresh=True).read_bytes()
    path.unlink()
    return content


@pytest.mark.parametrize("variant", thorough_but(SMALL, "teeko:3,2", "morris:3"))
def test_workers_elsewhere_write_the_same_bytes(variant, tmp_path, request):
    """Tasks that run twice, and too late, do no harm."""
    game = load_game(variant)
    expected = solve_in_memory(game, tmp_path / "memory.h5")
    request.getfixturevalue("in_ranges")
    found = solve(game, tmp_path / "ranges.h5", method="setwise", executor=Late(), sizes=RANGED)
    assert found.read_bytes() == expected
    assert [file.name for file in tmp_path.iterdir()] == ["ranges.h5"]


@pytest.mark.parametrize("variant", thorough_but([*SMALL, "morris:4", "teeko:4,3"], "teeko:3,3", "baghchal:3,2,4,2"))
@pytest.mark.parametrize("share", [8, 1 << 60])
def test_threads_write_the_same_bytes_if_memory_is_short(variant, share, tmp_path, request, monkeypatch):
    """With the larger share, frontiers are read one by one."""
    game = load_game(variant)
    expected = solve_in_memory(game, tmp_path / "memory.h5")
    request.getfixturevalue("in_ranges")
    monkeypatch.setattr(TIER_MEMORY, lambda *_: 1 << 60)
    monkeypatch.setattr(ranges, "FRONTIER_SHARE", share)
    sizes = Sizes(range_bits=10, scores_in_scratch=True)
    found = solve(game, tmp_path / "ranges.h5", method="setwise", workers=2, sizes=sizes)
    assert found.read_bytes() == expected


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.usefixtures("solver_alone")
def test_a_stopped_solve_resumes_from_its_last_checkpoint(elsewhere, tmp_path, request, monkeypatch):
    """Stopped again and again at any checkpoint, before it is saved or after; no remoteness is solved again."""
    game, path = load_game("morris:3"), tmp_path / "game.h5"
    expected = solve_in_memory(game, path)
    request.getfixturevalue("in_ranges")
    monkeypatch.setattr("retrograde.solver.runtime.checkpoint.SHARE", 0)
    monkeypatch.setattr(TIER_MEMORY, lambda *_: 1 << 60)
    sizes = Sizes(ranged_slots=1, range_bits=8, journal_seconds=0, scores_in_scratch=True)
    dice, resumed, saved = Random(7), [], []
    save, propagate = Checkpoint.save, ranges.ShapeRanges.propagate

    def save_and_stop(checkpoint, progress, *args):
        if dice.random() < 0.15:
            raise Stop
        save(checkpoint, progress, *args)
        saved.append((len(progress.ranges), progress.remoteness))
        if dice.random() < 0.2:
            raise Stop

    def begin(solver, report):
        resumed.append(solver.remoteness)
        propagate(solver, report)

    def initialize(solver, report, initialize=ranges.ShapeRanges.initialize):
        if saved:
            assert (len(solver.ranges), solver.remoteness) == saved[-1] or not solver.ranges  # of the next tier
        initialize(solver, report)

    monkeypatch.setattr(Checkpoint, "save", save_and_stop)
    monkeypatch.setattr(ranges.ShapeRanges, "propagate", begin)
    monkeypatch.setattr(ranges.ShapeRanges, "initialize", initialize)
    options = {"executor": Elsewhere()} if elsewhere else {"workers": 2}
    while not path.exists():
        with suppress(Stop):
            solve(game, path, method="setwise", sizes=sizes, **options)
    assert path.read_bytes() == expected
    assert [file.name for file in tmp_path.iterdir()] == ["game.h5"]
    assert max(resumed) > 3, (resumed, saved)


@pytest.mark.usefixtures("in_ranges")
def test_a_tier_begun_in_ranges_stays_in_ranges(tmp_path, monkeypatch):
    """A later run has memory for the whole tier, and yet does nothing twice."""
    game, path = load_game("teeko:3,3"), tmp_path / "game.h5"
    monkeypatch.setattr("retrograde.solver.runtime.checkpoint.SHARE", 0)
    save = Checkpoint.save

    def save_and_stop(checkpoint, progress, *args):
        save(checkpoint, progress, *args)
        if progress.remoteness == 2:
            raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(TIER_MEMORY, lambda *_: 1 << 60)
        patch.setattr(Checkpoint, "save", save_and_stop)
        with pytest.raises(Stop):
            solve(game, path, method="setwise", workers=1, sizes=Sizes(range_bits=8, journal_seconds=0))
    reached = []
    propagate = ranges.ShapeRanges.propagate
    monkeypatch.setattr(
        ranges.ShapeRanges,
        "propagate",
        lambda solver, report: (reached.append(solver.remoteness), propagate(solver, report)),
    )
    with pytest.raises(pytest.fail.Exception, match="in memory"):  # the tiers after it do fit
        solve(game, path, method="setwise", workers=1)
    assert reached == [2]


@pytest.mark.usefixtures("in_ranges")
def test_steps_that_do_not_fit_need_memory_for_all_slots(tmp_path, monkeypatch):
    def initialize_range(*_):
        raise NotShaped("it does not fit")

    monkeypatch.setattr(TIER_MEMORY, lambda *_: 1 << 60)
    monkeypatch.setattr(ranges, "initialize_range", initialize_range)
    with pytest.raises(pytest.fail.Exception, match="slot by slot"):
        solve(load_game("teeko:3,2"), tmp_path / "slots.h5", method="setwise")
    monkeypatch.setattr(
        "retrograde.solver.methods.numbered.by_shapes.memory_by_slots",
        lambda game, count, *_: memory_for_tiers(game, SlotNumbering.of(game), 14, False)._replace(least=1 << 60),
    )
    with pytest.raises(MemoryLimit, match=r"solving \d+ slots of teeko:side=3,men=2 slot by slot needs about"):
        solve(load_game("teeko:3,2"), tmp_path / "slots.h5", method="setwise")


def test_a_range_finds_the_children_that_a_section_has_decided(tmp_path):
    """Frontiers that are read from files, whole or in parts, are those of a section solved as one block."""
    game, scratch = load_game("morris:3"), Scratch(tmp_path, 0)
    numbering, random = SlotNumbering.of(game), np.random.default_rng(1)
    tier = max(game.tiers, key=game.size)
    sections = tier_sections(game, tier, lambda other: int(numbering.starts[numbering.row(other)]), 14)
    for number, arrays in enumerate(sections.arrays):
        rows, ways = len(arrays.shapes), len(arrays.masks)
        scores = random.choice(np.array([5, (1 << 16) - 1 - 5, 7], np.uint16), rows * ways)
        children_left = np.full(rows * ways, 254, np.uint8)
        whole, pieces = Block(sections, number, 0, rows, alone=True), []
        whole.gather(TierOutcomes(scores, children_left, 14), 5)
        for begin in range(0, rows, 3):
            span = RowSpan(number, begin, min(begin + 3, rows))
            block, part = Block(sections, *span, alone=True), slice(begin * ways, (begin + 3) * ways)
            block.gather(TierOutcomes(scores[part], children_left[part], 14), 5)
            counts = [np.diff(one.starts).astype(np.uint32) for one in (block.lost, block.won)]
            content = to_bytes(*counts, block.lost.masks, block.won.masks)
            pieces.append((span, scratch.write("frontier5", content, uncompressed=True)))
        together = read_frontiers(scratch, rows, tuple(pieces))
        for found, expected in zip(together, (whole.lost, whole.won), strict=True):
            assert len(expected.masks)
            assert found.masks.tolist() == expected.masks.tolist()
            assert found.starts.tolist() == expected.starts.tolist()
        halves = read_frontiers(scratch, rows, tuple(pieces[:2])), read_frontiers(scratch, rows, tuple(pieces[2:]))
        for lost_or_won, expected in enumerate((whole.lost, whole.won)):
            masks = [mask for half in halves for mask in half[lost_or_won].masks.tolist()]
            assert masks == expected.masks.tolist()


def test_frontiers_are_parted_by_their_bytes():
    pieces = tuple((RowSpan(0, at, at + 1), Frame("", 1, 0, 0, size)) for at, size in enumerate([3, 4, 9, 2, 2, 2, 1]))
    parts = [[frame.size for _, frame in part] for part in split_frontiers(pieces, 7)]
    assert parts == [[3, 4], [9], [2, 2, 2, 1]]
    assert list(split_frontiers((), 7)) == []


def test_in_ranges_a_fiftieth_of_the_memory_suffices():
    game = load_game("morris:9")
    numbering = SlotNumbering.own(game)
    largest = int(np.diff(numbering.starts).argmax())
    whole = memory_by_shapes(game, int(numbering.tiers[largest]), numbering.size(largest))
    memory = memory_for_tiers(game, numbering, 14, True)
    assert memory.most == whole > 5e9
    assert memory.least < whole / 50
