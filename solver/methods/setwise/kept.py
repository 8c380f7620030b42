"""What a solve word by word puts aside of its waves: in memory, or where that does not suffice in scratch files.

Of two tiers that are images of one another one is kept (see twins.py); the other is a row of the table, without groups.
The tiers of a wave are put aside a few at a time, a *chunk*: first the masks of all their groups, then their words; and
of their worths the planes, one plane after another, squeezed to a bit a position. What a task needs is copied into
arrays of its own, as if the wave had these tiers alone. Where there is room for it, all of a wave is *spread* instead
on the way back, in arrays that its tasks have in common: nothing is squeezed then, and nothing copied.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from retrograde.solver.methods.setwise.forward_kernels import FROM, LINK, SHARED, Sets
from retrograde.solver.methods.setwise.kept_kernels import copy_groups, copy_words, squeeze_planes, unsqueeze_planes
from retrograde.solver.methods.setwise.twins import expect_same_links, find_turned_words, find_twins, turn_words
from retrograde.solver.methods.setwise.words import AFTER_TIER, WORD_BITS
from retrograde.solver.rules.plain.rules import NO_MIRROR
from retrograde.solver.rules.plain.tier_kernels import BASE, COUNT, FIRST, GROUP, GROUPS, MASK, NUMBER, WORD, WORDS
from retrograde.solver.runtime.cluster.sheets import read_sheet, write_stretch
from retrograde.solver.runtime.scratch import Frame, Scratch
from retrograde.solver.runtime.tasks import room
from retrograde.solver.runtime.work import TASKS_EACH, Work

Array = np.ndarray[Any, Any]

NO_LINKS, NO_STARTS = np.empty((0, LINK), np.int64), np.zeros(2, np.int64)
"""Of the first wave, and of one that is done with."""
NO_WORDS = np.empty(0, np.uint64)


FEWEST_SENT, MOST_SENT = 1 << 15, 1 << 21
"""Words in a task for another process: where there is little memory, and at most, so that what is done is soon told."""
BYTES_A_WORD = 512
"""Memory that a worker takes for each word of a task: with its planes, and what is read of the wave before or after."""


class Aside(NamedTuple):
    """Where things are put: into scratch files, or else, where there are none, they stay in memory; whether there is
    room for waves to be spread there on the way back, in sheets where there are files; and whether what goes into files
    is plain, because there is room for that."""

    scratch: Scratch | None
    spreads: bool = False
    plain: bool = False

    def put(self, name: str, words: Array) -> Array | Frame:
        """Put some words aside, of which the caller keeps nothing, and return where they are."""
        if self.scratch:
            return self.scratch.write(name, words.view(np.uint8).data, self.plain)
        if words.base is not None:  # a part of the room of a thread
            words = words.copy()
        words.flags.writeable = False  # as what comes from scratch: kernels are compiled for the one or for the other
        return words

    def get(self, where: Array | Frame) -> Array:
        """Return what was put aside; raise DamagedScratch where it cannot be read."""
        if isinstance(where, np.ndarray):
            return where
        assert self.scratch
        return np.frombuffer(self.scratch.read(where), np.uint64)

    def sync(self, frames: Iterable[Frame]) -> None:
        """See to it that what was put aside lasts through a power cut; what is plain need not, for it is soon made
        again."""
        if self.scratch and not self.plain:
            self.scratch.sync(frames)

    def drop(self, name: str) -> None:
        """Forget what was put aside by a name."""
        if self.scratch:
            self.scratch.drop(name)


class Spread(NamedTuple):
    """All of a wave that is kept: its sets, and their planes, uint64[planes, words + 1]."""

    sets: Sets
    planes: Array


class Wave:
    """A wave: its tiers, int64[k, TIER], in which groups, words and positions count from the beginning of the chunk;
    the links into them, int64[n, LINK], those of tier k from `starts[k]` to `starts[k + 1]`; and what is put aside."""

    def __init__(self, number: int, tiers: Array, links: Array, starts: Array):
        self.number, self.tiers, self.links, self.starts = number, tiers, links, starts
        self.begins: list[int] = []
        """The first tier of each chunk."""
        self.sets: list[Any] = []
        self.planes: list[Any] = []
        self.spread: Spread | None = None
        self.sheet: Frame | None = None
        """The file with the planes of all chunks, if they are in one (see sheets.py)."""
        self.mirror = NO_MIRROR
        self.twins = self.kept = np.arange(len(tiers))
        """For each tier the row of its image; and of the one that is kept for it, its own or that."""

    def keep_first_of_twins(self, mirror: Array, before: "Wave") -> None:
        """Keep of two tiers that are images of one another the one with the lower number, as has been done in the wave
        *before*; raise Lopsided where the mirror does not take tiers, and the links into them, to others."""
        self.mirror, self.twins = mirror, find_twins(mirror, self.tiers)
        rows = np.repeat(np.arange(len(self.tiers)), np.diff(self.starts))
        links = np.c_[self.links[:, FROM], rows, self.links[:, SHARED]]
        expect_same_links(mirror, before.twins, self.twins, links)
        numbers = self.tiers[:, NUMBER]
        self.kept = np.where(numbers[self.twins] < numbers, self.twins, self.kept)
        self.tiers[self.kept != np.arange(len(numbers)), GROUPS] = 0
        number_groups(self.tiers)

    def links_to_kept(self) -> Array:
        """Return the links into the tiers that are kept."""
        links: Array = self.links[np.repeat(self.kept == np.arange(len(self.kept)), np.diff(self.starts))]
        return links

    def whole(self) -> Array:
        """Return the table of tiers with what is known of those that are kept for their twins as well."""
        tiers = self.tiers.copy()
        tiers[:, [WORDS, COUNT]] = tiers[self.kept][:, [WORDS, COUNT]]
        return tiers

    def without_links(self) -> "Wave":
        """Return the same wave, as tasks are told of it that do not need its links."""
        wave = Wave(self.number, self.tiers, NO_LINKS, NO_STARTS)
        wave.begins, wave.sets, wave.planes, wave.spread = self.begins, self.sets, self.planes, self.spread
        wave.mirror, wave.kept, wave.sheet = self.mirror, self.kept, self.sheet
        return wave

    def rows_of(self, chunk: int) -> tuple[int, int]:
        """Return from which tier to which a chunk goes."""
        return self.begins[chunk], self.begins[chunk + 1] if chunk + 1 < len(self.begins) else len(self.tiers)

    def words_in(self) -> Array:
        """Return how many words there are in each chunk."""
        return np.add.reduceat(self.tiers[:, WORDS], self.begins)

    def chunks_of(self, rows: Array) -> Iterator[tuple[int, int, int]]:
        """Yield each chunk in which some tiers are, whose rows ascend, and from where to where in these."""
        chunks = np.searchsorted(self.begins, rows, "right") - 1
        cuts = np.flatnonzero(np.diff(chunks, prepend=-1, append=-1))
        for begin, end in pairwise(cuts.tolist()):
            yield int(chunks[begin]), begin, end

    def take(self, aside: Aside, rows: Array, name: str, more: tuple[int, int] = (0, 0)) -> Sets:
        """Return the sets of some tiers that are kept, rows ascending, in arrays of this thread, with room for so many
        *more* groups and words. (Of what is not touched no memory is taken.)"""
        tiers = self.tiers[rows]
        groups, words = groups_of(tiers) + more[0], int(tiers[:, WORDS].sum()) + more[1]
        sets = Sets(
            tiers, room(f"{name} occupied", groups, np.uint64), room(f"{name} before", groups, np.uint32),
            room(f"{name} words", words + 1, np.uint64),
        )  # fmt: skip
        return self.copy(aside, rows, sets)

    def copy(self, aside: Aside, rows: Array, sets: Sets) -> Sets:
        """Fill the *sets* of some tiers, rows ascending, and return them."""
        group = word = 0
        for chunk, begin, end in self.chunks_of(rows):
            head = groups_of(self.tiers[slice(*self.rows_of(chunk))])
            content = aside.get(self.sets[chunk])
            group = copy_groups(content, sets, begin, end, group)
            word = copy_words(content, head, sets, begin, end, word)
        return sets

    def take_worths(self, aside: Aside, rows: Array, count: int, name: str) -> tuple[Sets, Array]:
        """Return the sets of some tiers, rows ascending, and so many planes of these, uint64[count, words + 1]; without
        the words where the planes are in a sheet, in which the tiers' are told to be."""
        if self.sheet:
            assert aside.scratch
            return self.take_groups(aside, rows, name), read_sheet(aside.scratch, self.sheet, count)
        sets = self.take(aside, rows, name)
        planes = room_for_planes(name, count, int(sets.tiers[:, WORDS].sum()))
        for chunk, begin, end in self.chunks_of(rows):
            there, content = self.tiers[rows[begin:end]], aside.get(self.planes[chunk])
            unsqueeze_planes(content, count, there, sets, begin, planes)
        return sets, planes

    def take_groups(self, aside: Aside, rows: Array, name: str) -> Sets:
        """Return the same without the words; these are told to be where all of the wave have them."""
        tiers, words = self.tiers[rows], behind(self.words_in())
        groups = groups_of(tiers)
        sets = Sets(
            tiers, room(f"{name} occupied", groups, np.uint64), room(f"{name} before", groups, np.uint32), NO_WORDS
        )
        group = 0
        for chunk, begin, end in self.chunks_of(rows):
            tiers[begin:end, WORD] += words[chunk]
            group = copy_groups(aside.get(self.sets[chunk]), sets, begin, end, group)
        return sets

    def spread_out(self, aside: Aside, count: int, rooms: tuple[Array, ...]) -> Spread:
        """Spread the wave, with so many planes, into room for it, and forget what was put aside."""
        *own, planes = rooms
        sets = self.copy(aside, np.arange(len(self.tiers)), Sets(self.tiers.copy(), *own))
        words = int(sets.tiers[:, WORDS].sum()) + 1
        self.spread, self.sets = Spread(sets, planes[: count * words].reshape(count, words)), []
        return self.spread

    def take_whole(self, aside: Aside, rows: Array, name: str) -> Sets:
        """Return the sets of some tiers, with twins made of those that are kept."""
        kept, of = np.unique(self.kept[rows], return_inverse=True)
        turned = np.flatnonzero(kept[of] != rows)
        behind_all = self.tiers[kept[of[turned]]]
        most = int(np.minimum(behind_all[:, COUNT], behind_all[:, GROUPS] << WORD_BITS).sum())
        own = self.take(aside, kept, name, (groups_of(behind_all), most))
        if not len(turned):
            return own
        tiers, words = own.tiers[of], int(own.tiers[:, WORDS].sum())
        for column in (NUMBER, BASE, MASK):
            tiers[turned, column] = self.tiers[rows[turned], column]
        tiers[turned, GROUP] = groups_of(own.tiers) + behind(tiers[turned, GROUPS] + AFTER_TIER)
        sets = own._replace(tiers=tiers)
        find_turned_words(self.mirror, own, of, sets, turned)
        tiers[turned, WORD] = words + behind(tiers[turned, WORDS])
        turn_words(self.mirror, own, of, sets, turned)
        return sets

    def put_planes(self, aside: Aside, chunk: int, words: Array, planes: Array, begin: int) -> Array | Frame:
        """Put the planes of a chunk aside, whose words are those from *begin* on."""
        own = self.tiers[slice(*self.rows_of(chunk))]
        end = begin + int(own[:, WORDS].sum())
        if self.sheet:
            assert aside.scratch
            write_stretch(aside.scratch, self.sheet, int(behind(self.words_in())[chunk]), planes[:, begin:end])
            return self.sheet
        count, size = len(planes), len(planes) * words_for(int(own[-1, FIRST] + own[-1, COUNT]))
        out = room("planes aside", size, np.uint64)[:size]
        squeeze_planes(words, planes, begin, end, count, out)
        return aside.put(f"planes{self.number}", out)


def number_groups(tiers: Array) -> None:
    """Say in a table of tiers where the groups of each begin, one tier's behind another's."""
    tiers[:, GROUP] = behind(tiers[:, GROUPS] + AFTER_TIER)


def behind(sizes: Array) -> Array:
    """Return where things of some sizes begin that lie one behind another."""
    begins: Array = np.cumsum(sizes) - sizes
    return begins


def groups_of(tiers: Array) -> int:
    """Return how many groups some tiers have, with those behind each."""
    return int((tiers[:, GROUPS] + AFTER_TIER).sum())


def planes_for(plies: int) -> int:
    """Return how many planes there are so many plies before the last wave."""
    return max(2, ((plies + 1) // 2).bit_length() + 1)


def rooms_to_spread(waves: list[Wave]) -> list[tuple[Array, ...]]:
    """Return room for two waves, one after the other, to be spread. Of what is not touched no memory is taken."""
    groups = max(groups_of(wave.tiers) for wave in waves)
    words = [int(wave.tiers[:, WORDS].sum()) + 1 for wave in waves]
    planes = max(planes_for(len(waves) - 1 - wave.number) * size for wave, size in zip(waves, words, strict=True))
    sizes = (groups, np.uint64), (groups, np.uint32), (max(words), np.uint64), (planes, np.uint64)  # as Spread has them
    return [tuple(np.empty(size, kind) for size, kind in sizes) for _ in range(2)]


def bytes_of_planes(waves: list[Wave]) -> int:
    """Return how many bytes the planes of two waves, one after the other, take as words at most."""
    words = [planes_for(len(waves) - 1 - wave.number) * int(wave.tiers[:, WORDS].sum()) for wave in waves]
    return 8 * max(map(sum, pairwise(words)))


def save_memory(work: Work, aside: Aside) -> None:
    """Keep less of what is read in memory where little is left; raise MemoryLimit where there is none."""
    if aside.scratch:
        if work.budget.left() < 0:
            aside.scratch.cache_at_most(aside.scratch.cached // 2)
        work.budget.check_used("solving word by word")


def words_together(work: Work, words: int, least: int) -> int:
    """Return how many words, of so many in a wave, a task is to have: *least* where tasks cost little; where they are
    sent, as few tasks as keep all workers busy, within their memory, and one alone where that is soon done here."""
    if work.shares_memory:
        return least
    most = max(work.budget.left() // (work.sharing * BYTES_A_WORD), FEWEST_SENT)
    return min(max(words // (TASKS_EACH * work.workers_now), work.sizes.sent_words), MOST_SENT, most)


def words_for(positions: int) -> int:
    """Return in how many words a bit for each of so many positions is kept: with one more to be looked at."""
    return (positions >> 6) + 2


def room_for_planes(name: str, count: int, words: int) -> Array:
    """Return room of this thread for planes of so many words, and one more to be looked at where there is none."""
    return room(f"{name} planes", count * (words + 1), np.uint64)[: count * (words + 1)].reshape(count, -1)
