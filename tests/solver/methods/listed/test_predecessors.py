"""Predecessor lists, compared with plain dictionaries, in memory and in scratch files."""

from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
import pytest

from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.methods.listed.predecessors import sorting
from retrograde.solver.methods.listed.predecessors.kernels import append_edge
from retrograde.solver.methods.listed.predecessors.lists import PredecessorWriter
from retrograde.solver.methods.listed.predecessors.sorting import BucketLayout, pack_edges
from retrograde.solver.runtime.journal import Journal
from retrograde.solver.runtime.log import EntryLog
from retrograde.solver.runtime.memory import MemoryBudget
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.runtime.work import Work
from tests.helpers import tangle
from tests.helpers.marks import thorough_but
from tests.helpers.solving import Stop


@pytest.fixture
def work(tmp_path, request):
    with ThreadPoolExecutor(2) as executor:
        yield Work(
            executor, 2, MemoryBudget(), None, tmp_path / "scratch", sizes=Sizes(predecessors_in_scratch=request.param)
        )


def random_children(random, count):
    """Return for each position some distinct children, or their complements, of which a few have many parents."""
    children = []
    for _ in range(count):
        own = {random.choice((random.randrange(count), random.randrange(1 + count // 16))) for _ in range(3)}
        children.append([child if random.random() < 0.7 else ~child for child in own if random.random() < 0.8])
    return children


def inverted(work, random, children):
    """Return predecessor lists, and the parents of each position as a plain dictionary says."""
    writer = PredecessorWriter(work, "predecessors", count := len(children))
    parents = defaultdict(list)
    begin = 0
    while begin < count:
        end = min(count, begin + random.randrange(1, 700))
        some = children[begin:end]
        edges = np.array([child for own in some for child in own], np.int32)
        writer.add(pack_edges(writer.layout, edges, np.array([len(own) for own in some], np.int32), begin), end)
        if random.random() < 0.3 and writer.on_disk:
            writer.spill(end)
        begin = end
    for position, own in enumerate(children):
        for child in own:
            parents[max(child, ~child)].append(position if child >= 0 else ~position)
    return writer.invert(), parents


def asked(lists, frontier):
    """Return the sorted parents of a frontier."""
    return sorted(np.concatenate([np.empty(0, np.int64), *lists.parents_of(np.array(frontier, np.int64))]).tolist())


@pytest.fixture
def small(monkeypatch, count):
    """Make buckets and parts small, so that there are several of each."""
    monkeypatch.setattr(sorting, "BUCKET_BITS", 9)
    monkeypatch.setattr(sorting, "READ_BITS", 12 if count < 20_000 else 5)


@pytest.mark.parametrize("work", [False, True], indirect=True, ids=["memory", "scratch"])
@pytest.mark.parametrize("count", thorough_but([1, 2, 5, 64, 1000, 20_000], 1, 5, 64, 1000))
def test_parents_are_those_that_have_the_children(work, count, small):
    random = Random(count)
    lists, parents = inverted(work, random, random_children(random, count))
    for size in (0, 1, count // 3, count):
        frontier = random.sample(range(count), size)
        assert asked(lists, frontier) == sorted(parent for child in frontier for parent in parents[child])
    lists.close()


@pytest.mark.parametrize("work", [True], indirect=True, ids=["scratch"])
@pytest.mark.parametrize("count", thorough_but([1, 2, 5, 64, 1000, 20_000], 1, 5, 64))
def test_what_is_kept_in_memory_is_what_may_still_be_asked_for(work, count, small):
    """That of positions that are undecided, or have a score of which nobody was told, to parents that are undecided."""
    random = Random(count)
    lists, parents = inverted(work, random, random_children(random, count))
    decided, unpropagated = 254, [7, 11]
    left = np.array([random.choice((0, 1, 3, 253, 254, 255)) for _ in range(count)], np.uint8)
    scores = np.array([random.randrange(14) for _ in range(count)], np.uint16)
    lists.load_if_they_fit(scores, left, unpropagated)
    work.scratch.joinpath("predecessors").rename(work.scratch / "gone")
    for size in (1, count // 3, count):
        some = random.sample(range(count), size)
        waiting = {position for position in some if left[position] < decided or scores[position] in unpropagated}
        told = [parent for child in waiting for parent in parents[child] if left[max(parent, ~parent)] < decided]
        assert asked(lists, some) == sorted(told)
    lists.close()


@pytest.mark.parametrize("work", [True], indirect=True, ids=["scratch"])
@pytest.mark.parametrize("count", [3000])
def test_lists_come_to_memory_once_what_has_not_been_asked_for_fits_there(work, count, small, monkeypatch):
    random = Random(count)
    lists, parents = inverted(work, random, random_children(random, count))
    children_of = Counter(max(parent, ~parent) for own in parents.values() for parent in own)
    left = np.array([random.choice((children_of[position], 254, 255)) for position in range(count)], np.uint8)
    scores = np.zeros(count, np.uint16)
    room = 6 * (count - 1000) + 4 * sum(number for number in left.tolist() if number < 254)
    asked(lists, range(1000))
    for spare in (room - 1, room):
        monkeypatch.setattr(MemoryBudget, "free_bytes", lambda _, spare=spare: 2 * spare)
        lists.load_if_they_fit(scores, left, [])
        assert lists.may_load == (spare < room)
    assert sum(part.parents.nbytes for part in lists.blocks) <= room - 6 * (count - 1000)
    lists.close()


def test_buckets_suit_the_memory_and_are_those_of_before(tmp_path, monkeypatch):
    """Those of a solve that was killed stay as they were, whatever memory there is then."""

    def layout_with(left):
        monkeypatch.setattr(MemoryBudget, "free_bytes", lambda _: left)
        journal = Journal(tmp_path / "journal", "a solve")
        with ThreadPoolExecutor(2) as executor:
            work = Work(
                executor, 2, MemoryBudget(), journal, tmp_path / "scratch", sizes=Sizes(predecessors_in_scratch=True)
            )
            return PredecessorWriter(work, "predecessors", 3_000_000).layout

    assert layout_with(60_000_000) == layout_with(8_000_000_000) == BucketLayout(3_000_000, 16, 2)
    (tmp_path / "journal").unlink()
    assert layout_with(8_000_000_000).shift == 21


def test_shapes_cover_all_positions():
    """Whatever the number of positions, buckets follow one another, and their last number fits the bytes."""
    for count in [1, 2, 3, 255, 256, 257, (1 << 21) - 1, 1 << 21, (1 << 21) + 1, 246_803_167]:
        shape = BucketLayout.of(count)
        assert sum(shape.size(bucket) for bucket in range(shape.buckets)) == count
        assert all(shape.size(bucket) - 1 < 256**shape.width for bucket in range(shape.buckets))


def stopping(add, random):
    """Return what notes something in the journal, and sometimes stops the solve then."""

    def added(*args):
        add(*args)
        if random.random() < 0.05:
            raise Stop

    return added


GAMES = {"listed": "mutorere", "numbered": tangle.DenseTangleWithoutParents()}


@pytest.mark.parametrize("way", thorough_but(GAMES, "listed"))
def test_a_tier_that_is_stopped_goes_on_with_the_edges_on_disk(way, tmp_path, monkeypatch):
    """Stopped again and again at any moment, with edges written to disk after every few positions; damaged scratch
    files are found again."""
    game = load_game(GAMES[way]) if way == "listed" else GAMES[way]
    if way == "numbered":
        monkeypatch.setattr(tangle.DenseTangle, "start", tangle.position_of(31, True, 0, 0, 63))
    whole = solve(game, tmp_path / "whole.h5", method="compiled", fresh=True).read_bytes()
    (tmp_path / "whole.h5").unlink()
    monkeypatch.setattr("retrograde.solver.methods.listed.cycles.BLOCK", 4)
    monkeypatch.setattr("retrograde.solver.methods.numbered.seeds.BLOCK", 4)
    monkeypatch.setattr("retrograde.solver.methods.listed.predecessors.lists.BUFFER", 60)
    monkeypatch.setattr(sorting, "BUCKET_BITS", 3)
    resumed = []
    resume = PredecessorWriter.resume

    def spy(writer):
        found = resume(writer)
        resumed.append((writer.done, len(writer.inverted)))
        return found

    monkeypatch.setattr(PredecessorWriter, "resume", spy)
    random = Random(3)
    monkeypatch.setattr(EntryLog, "add", stopping(EntryLog.add, random))
    sizes = Sizes(predecessors_in_scratch=True, journal_seconds=0)
    for number in range(16):
        if number % 5 == 4:
            for file in (tmp_path / "game.h5.scratch").glob("predecessors*/*"):
                file.write_bytes(file.read_bytes()[:-3])
        try:
            solve(game, tmp_path / "game.h5", method="compiled", sizes=sizes)
        except Stop:
            continue
        assert (tmp_path / "game.h5").read_bytes() == whole
        (tmp_path / "game.h5").unlink()
    assert any(done and not inverted for done, inverted in resumed)
    assert any(inverted for done, inverted in resumed)


def test_children_are_listed_once():
    """Lists of up to 40 children, many of them alike, against a dict; earlier children of other positions stay."""
    random = Random(7)
    for count in range(40):
        given = [random.randrange(-count, 2 * count) for _ in range(count)]
        children, end = np.full(3 + count, 5, np.int64), 3
        for child in given:
            end = append_edge(children, 3, end, child)
        assert children[:end].tolist() == [5, 5, 5, *dict.fromkeys(given)]
