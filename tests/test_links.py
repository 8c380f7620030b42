"""Links turned round: who the parents are, held against what plain dictionaries say; in memory and in scratch."""

from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
import pytest

from retrograde.games.catalog import load_game
from retrograde.solver.engine import solve
from retrograde.solver.methods.listed.predecessors import sorting
from retrograde.solver.methods.listed.predecessors.links import LinkWriter
from retrograde.solver.methods.listed.predecessors.log import LinkLog
from retrograde.solver.methods.listed.predecessors.sorting import Shape, packed
from retrograde.solver.runtime.journal import Journal
from retrograde.solver.runtime.memory import MemoryBudget
from retrograde.solver.runtime.sizes import Sizes
from retrograde.solver.runtime.work import Work

from . import tangle
from .solving import Stop


@pytest.fixture
def work(tmp_path, request):
    with ThreadPoolExecutor(2) as executor:
        yield Work(executor, 2, MemoryBudget(), None, tmp_path / "scratch", sizes=Sizes(links_in_scratch=request.param))


def random_children(random, count):
    """Return for each position some distinct children, or their complements, of which a few have many parents."""
    children = []
    for _ in range(count):
        own = {random.choice((random.randrange(count), random.randrange(1 + count // 16))) for _ in range(3)}
        children.append([child if random.random() < 0.7 else ~child for child in own if random.random() < 0.8])
    return children


def turned_round(work, random, children):
    """Return links, and the parents of each position as a plain dictionary says."""
    writer = LinkWriter(work, "links", count := len(children))
    parents = defaultdict(list)
    begin = 0
    while begin < count:
        end = min(count, begin + random.randrange(1, 700))
        some = children[begin:end]
        links = np.array([child for own in some for child in own], np.int32)
        writer.take(packed(writer.shape, links, np.array([len(own) for own in some], np.int32), begin), end)
        if random.random() < 0.3 and writer.scratch:
            writer.put_all_aside(end)
        begin = end
    for position, own in enumerate(children):
        for child in own:
            parents[max(child, ~child)].append(position if child >= 0 else ~position)
    return writer.turned_round(), parents


def asked(links, frontier):
    """Return the sorted parents of a frontier."""
    return sorted(np.concatenate([np.empty(0, np.int64), *links.parents_of(np.array(frontier, np.int64))]).tolist())


@pytest.fixture
def small(monkeypatch, count):
    """Make buckets and parts small, so that there are several of each."""
    monkeypatch.setattr(sorting, "BUCKET_BITS", 9)
    monkeypatch.setattr(sorting, "PART_BITS", 12 if count < 20_000 else 5)
    monkeypatch.setattr("retrograde.solver.methods.listed.predecessors.links.PART_BITS", 12 if count < 20_000 else 5)


@pytest.mark.parametrize("work", [False, True], indirect=True, ids=["memory", "scratch"])
@pytest.mark.parametrize("count", [1, 2, 5, 64, 1000, 20_000])
def test_parents_are_those_that_have_the_children(work, count, small):
    random = Random(count)
    links, parents = turned_round(work, random, random_children(random, count))
    for size in (0, 1, count // 3, count):
        frontier = random.sample(range(count), size)
        assert asked(links, frontier) == sorted(parent for child in frontier for parent in parents[child])
    links.close()


@pytest.mark.parametrize("work", [True], indirect=True, ids=["scratch"])
@pytest.mark.parametrize("count", [1, 2, 5, 64, 1000, 20_000])
def test_what_is_kept_in_memory_is_what_may_still_be_asked_for(work, count, small):
    """That of positions that are undecided, or have a score of which nobody was told, to parents that are undecided."""
    random = Random(count)
    links, parents = turned_round(work, random, random_children(random, count))
    decided, untold = 254, [7, 11]
    left = np.array([random.choice((0, 1, 3, 253, 254, 255)) for _ in range(count)], np.uint8)
    scores = np.array([random.randrange(14) for _ in range(count)], np.uint16)
    links.keep(scores, left, untold)
    work.scratch.joinpath("links").rename(work.scratch / "gone")
    for size in (1, count // 3, count):
        some = random.sample(range(count), size)
        waiting = {position for position in some if left[position] < decided or scores[position] in untold}
        told = [parent for child in waiting for parent in parents[child] if left[max(parent, ~parent)] < decided]
        assert asked(links, some) == sorted(told)
    links.close()


@pytest.mark.parametrize("work", [True], indirect=True, ids=["scratch"])
@pytest.mark.parametrize("count", [3000])
def test_links_come_to_memory_once_what_has_not_been_asked_for_fits_there(work, count, small, monkeypatch):
    random = Random(count)
    links, parents = turned_round(work, random, random_children(random, count))
    children_of = Counter(max(parent, ~parent) for own in parents.values() for parent in own)
    left = np.array([random.choice((children_of[position], 254, 255)) for position in range(count)], np.uint8)
    scores = np.zeros(count, np.uint16)
    room = 6 * (count - 1000) + 4 * sum(number for number in left.tolist() if number < 254)
    asked(links, range(1000))
    for spare in (room - 1, room):
        monkeypatch.setattr(MemoryBudget, "left", lambda _, spare=spare: 2 * spare)
        links.keep(scores, left, [])
        assert links.may_keep == (spare < room)
    assert sum(part.parents.nbytes for part in links.parts) <= room - 6 * (count - 1000)
    links.close()


def test_buckets_suit_the_memory_and_are_those_of_before(tmp_path, monkeypatch):
    """Those of a solve that was killed stay as they were, whatever memory there is then."""

    def shape_with(left):
        monkeypatch.setattr(MemoryBudget, "left", lambda _: left)
        journal = Journal(tmp_path / "journal", "a solve")
        with ThreadPoolExecutor(2) as executor:
            work = Work(executor, 2, MemoryBudget(), journal, tmp_path / "scratch", sizes=Sizes(links_in_scratch=True))
            return LinkWriter(work, "links", 3_000_000).shape

    assert shape_with(60_000_000) == shape_with(8_000_000_000) == Shape(3_000_000, 16, 2)
    (tmp_path / "journal").unlink()
    assert shape_with(8_000_000_000).shift == 21


def test_shapes_cover_all_positions():
    """Whatever the number of positions, buckets follow one another, and their last number fits the bytes."""
    for count in [1, 2, 3, 255, 256, 257, (1 << 21) - 1, 1 << 21, (1 << 21) + 1, 246_803_167]:
        shape = Shape.of(count)
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


@pytest.mark.parametrize("way", GAMES)
def test_a_tier_that_is_stopped_goes_on_with_the_links_put_aside(way, tmp_path, monkeypatch):
    """Stopped again and again at any moment, with links put aside after every few positions; damaged scratch is found
    again."""
    game = load_game(GAMES[way]) if way == "listed" else GAMES[way]
    if way == "numbered":
        monkeypatch.setattr(tangle.DenseTangle, "start", tangle.position_of(31, True, 0, 0, 63))
    whole = solve(game, tmp_path / "whole.h5", way="compiled", fresh=True).read_bytes()
    (tmp_path / "whole.h5").unlink()
    monkeypatch.setattr("retrograde.solver.methods.listed.cycles.STRETCH", 4)
    monkeypatch.setattr("retrograde.solver.methods.numbered.seeds.BLOCK", 4)
    monkeypatch.setattr("retrograde.solver.methods.listed.predecessors.links.BUFFER", 60)
    monkeypatch.setattr(sorting, "BUCKET_BITS", 3)
    taken_up = []
    read = LinkLog.read

    def spy(log, *args):
        found = read(log, *args)
        taken_up.append((log.done, len(log.turned)))
        return found

    monkeypatch.setattr(LinkLog, "read", spy)
    random = Random(3)
    for name in ("add_put", "add_turned"):
        monkeypatch.setattr(LinkLog, name, stopping(getattr(LinkLog, name), random))
    sizes = Sizes(links_in_scratch=True, journal_seconds=0)
    for number in range(60):
        if number % 20 == 19:
            for file in (tmp_path / "game.h5.scratch").glob("links*/*"):
                file.write_bytes(file.read_bytes()[:-3])
        try:
            solve(game, tmp_path / "game.h5", way="compiled", sizes=sizes)
        except Stop:
            continue
        assert (tmp_path / "game.h5").read_bytes() == whole
        (tmp_path / "game.h5").unlink()
    assert any(done and not turned for done, turned in taken_up)
    assert any(turned for done, turned in taken_up)
