"""What a streamed solve notes in the journal: which lists are whole, and where; so that a killed one goes on from
there.

An entry begins with its kind and the number of the wave. All else is numbers as well: a table with a row for each
segment, and what belongs to it, one after another.
"""

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from retrograde.solver.streamed.segments import Segment, add_up, segment_of
from retrograde.solver.work.journal import Log
from retrograde.solver.work.scratch import Frame, Scratch

if TYPE_CHECKING:
    from retrograde.solver.streamed.forward import Made

Array = np.ndarray[Any, Any]
Solved = tuple[int, int, Segment, Segment]
"""A tier, the number of a segment of it, its steps, and those for the database."""

FOUND, PARTS, WAVE_FOUND, FORGET, SOLVED, WAVE_SOLVED, FORGET_ALL = range(7)
"""Kinds of entries: segments found; into how many parts a tier is cut; a wave all found; a wave to be begun anew;
segments solved; a wave all solved; all to be begun anew."""


class StreamLog:
    """The log of a streamed solve, and what has been read in it; or where there is none, something that forgets."""

    def __init__(self, log: Log | None):
        self.log = log
        self.clear()
        for (kind, wave, *rest), *arrays in log.resumed if log else ():
            if kind == FOUND:
                self.read_found(int(wave), tuple(arrays))
            elif kind == PARTS:
                self.parts_found[int(wave)][int(rest[0])] = []
                self.parts_wanted[int(wave), int(rest[0])] = int(rest[1])
            elif kind == WAVE_FOUND:
                self.waves_found.add(int(wave))
            elif kind == FORGET:
                self.drop(int(wave))
            elif kind == SOLVED:
                self.solved_by_wave[int(wave)].append(tuple(arrays))
            elif kind == WAVE_SOLVED:
                self.waves_solved.add(int(wave))
            else:
                self.clear()

    def clear(self) -> None:
        """Forget all that has been read."""
        self.found_by_wave: dict[int, list[tuple[Array, ...]]] = defaultdict(list)
        self.parts_found: dict[int, dict[int, list[tuple[Array, ...]]]] = defaultdict(dict)
        """Of tiers not all of whose parts have been found, what has been, by wave and tier."""
        self.parts_wanted: dict[tuple[int, int], int] = {}
        self.waves_found: set[int] = set()
        self.solved_by_wave: dict[int, list[tuple[Array, ...]]] = defaultdict(list)
        self.waves_solved: set[int] = set()

    @property
    def resumed(self) -> bool:
        """Whether anything is known from an earlier solve."""
        return any(self.found_by_wave.values()) or any(self.solved_by_wave.values())

    def believe(self, scratch: Scratch) -> None:
        """Forget what the scratch files no longer hold; raise DamagedScratch where it is too much to go on from.

        While nothing is solved, the waves from the first that is not whole can be found again. Later the lists of the
        last waves have been deleted, and all is needed that there should be.
        """
        for wave in sorted(self.found_by_wave):
            frames = [made.segment.frame for made in self.found(wave) if made.segment]
            if wave not in self.waves_solved and not all(map(scratch.holds, frames)):
                if any(self.solved_by_wave.values()):
                    raise scratch.damaged(frames[0])
                for later in [known for known in self.found_by_wave if known >= wave]:
                    self.forget(later)
                break
        for wave in list(self.solved_by_wave):
            for _, _, steps, records in self.solved(wave):
                needed = (records.frame,) if wave - 1 in self.waves_solved else (records.frame, steps.frame)
                for frame in needed:
                    if not scratch.holds(frame):
                        raise scratch.damaged(frame)

    def write(self) -> None:
        """Write to the journal if it is time."""
        if self.log:
            self.log.write()

    def add(self, kind: int, wave: int, *arrays: Array, more: tuple[int, ...] = ()) -> None:
        """Add an entry."""
        head = np.array([kind, wave, *more], np.int64)
        if self.log:
            self.log.add((head, *arrays))

    # Forward

    def read_found(self, wave: int, arrays: tuple[Array, ...]) -> None:
        """Note an entry of segments found.

        What there is of a tier whose parts have not all been found does not count: whether the children of a list
        ascend, which each part takes for granted, only all of them together have seen.
        """
        tier = int(arrays[0][0])
        parts = self.parts_found[wave].get(tier)
        if parts is None:
            self.found_by_wave[wave].append(arrays)
            return
        parts.append(arrays)
        if len(parts) == self.parts_wanted[wave, tier]:
            self.found_by_wave[wave] += parts

    def found(self, wave: int) -> "list[Made]":
        """Return what an earlier solve has found of a wave."""
        return [made for arrays in self.found_by_wave[wave] for made in made_from(f"positions{wave}", *arrays[:-1])]

    def over(self, wave: int) -> Array:
        """Return what an earlier solve has counted of positions in a wave where the game is over."""
        return total([arrays[-1] for arrays in self.found_by_wave[wave]], 5)

    def is_found(self, wave: int) -> bool:
        """Tell whether an earlier solve has found all of a wave."""
        return wave in self.waves_found

    def add_found(self, wave: int, made: "list[Made]", tally: Array) -> None:
        """Note what has been found."""
        table = np.zeros((len(made), 13), np.int64)
        several: list[tuple[Array, ...]] = [(np.empty(0, np.int64),) * 3]
        for row, one in zip(table, made, strict=True):
            row[:3] = one.tier, one.part, -1
            if one.segment:
                shared = -1 if one.moves is None else len(one.moves)
                milestones = one.segment.milestones
                row[2:] = *one.segment.frame[1:], *one.segment[1:7], shared, len(milestones)
                several.append((np.array(one.moves or (), np.int64), np.array(one.leads, np.int64), milestones))
        moves, leads, milestones = (np.concatenate(column) for column in zip(*several, strict=True))
        self.add(FOUND, wave, table.ravel(), moves, leads, milestones, tally.ravel())

    def was_cut(self, wave: int, tier: int) -> bool:
        """Tell whether an earlier solve has cut a tier into parts, and not found all."""
        return tier in self.parts_found[wave]

    def add_parts(self, wave: int, tier: int, count: int) -> None:
        """Note into how many parts a tier is cut, and that none has been found yet."""
        self.add(PARTS, wave, more=(tier, count))

    def add_wave_found(self, wave: int) -> None:
        """Note that all of a wave has been found."""
        self.add(WAVE_FOUND, wave)

    def forget(self, wave: int) -> None:
        """Note that a wave is begun anew, and see to it that this is known before its lists are dropped."""
        self.drop(wave)
        self.add(FORGET, wave)
        self.settle()

    def forget_all(self) -> None:
        """Note that all is begun anew, and see to it that this is known before any list is dropped."""
        self.clear()
        self.add(FORGET_ALL, 0)
        self.settle()

    def settle(self) -> None:
        """See to it that what is noted stays."""
        if self.log:
            self.log.settle()

    def drop(self, wave: int) -> None:
        self.waves_found.discard(wave)
        self.found_by_wave.pop(wave, None)
        self.parts_found.pop(wave, None)

    # Backward

    def solved(self, wave: int) -> list[Solved]:
        """Return what an earlier solve has solved of a wave."""
        return [one for arrays in self.solved_by_wave[wave] for one in solved_from(f"steps{wave}", arrays[0])]

    def tally(self, wave: int, codes: int) -> Array:
        """Return what an earlier solve has counted of the positions of a wave by their codes."""
        return total([arrays[-1] for arrays in self.solved_by_wave[wave]], codes)

    def is_solved(self, wave: int) -> bool:
        """Tell whether an earlier solve has solved all of a wave."""
        return wave in self.waves_solved

    def add_solved(self, wave: int, solved: list[Solved], tally: Array) -> None:
        """Note what has been solved."""
        table = [
            (tier, k, *steps.frame[1:], *steps[1:7], *records.frame[1:], *records[1:7], *records.ends)
            for tier, k, steps, records in solved
        ]
        self.add(SOLVED, wave, np.array(table, np.int64).ravel(), tally.ravel())

    def add_wave_solved(self, wave: int) -> None:
        """Note that all of a wave has been solved, and see to it that this stays."""
        self.add(WAVE_SOLVED, wave)
        self.settle()


def made_from(file: str, table: Array, moves: Array, leads: Array, milestones: Array) -> "list[Made]":
    """Return what `StreamLog.add_found` has noted."""
    from retrograde.solver.streamed.forward import Made

    made = []
    shared_end = milestones_end = 0
    for tier, part, *rest in table.reshape(-1, 13).tolist():
        if rest[0] < 0:
            made.append(Made(tier, part, None, None, ()))
            continue
        offset, packed, size, *about, shared, count = rest
        part_of = slice(milestones_end, milestones_end + count)
        segment = segment_of(Frame(file, offset, packed, size), about, milestones[part_of])
        milestones_end += count
        if shared < 0:
            made.append(Made(tier, part, segment, None, ()))
            continue
        part_of = slice(shared_end, shared_end + shared)
        made.append(Made(tier, part, segment, tuple(moves[part_of].tolist()), tuple(leads[part_of].tolist())))
        shared_end += shared
    return made


def solved_from(file: str, table: Array) -> list[Solved]:
    """Return what `StreamLog.add_solved` has noted."""
    solved = []
    for tier, k, *rest in table.reshape(-1, 22).tolist():
        steps = segment_of(Frame(file, *rest[:3]), rest[3:9])
        records = segment_of(Frame("records", *rest[9:12]), rest[12:18], ends=rest[18:])
        solved.append((tier, k, steps, records))
    return solved


def total(tallies: list[Array], rows: int) -> Array:
    """Return tallies added up."""
    tally = np.zeros((rows, 4), np.int64)
    for more in tallies:
        add_up(tally, more.reshape(-1, 4))
    return tally
