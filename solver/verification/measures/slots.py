"""Verifies expectations stored by slot: checks the conditions of `expectation.py` slot by slot.

Positions between slots have no slot of their own. Their bounds are computed exactly as the rules require, rounded down
for lower and up for upper bounds, which only makes the conditions harder to meet. If the players of a position can be
exchanged, both positions are checked, each by its own moves. So nothing rests on the assumption that the two have the
same value.
"""

from typing import Any, NamedTuple

import numpy as np

from retrograde.databases import Database
from retrograde.databases.bounds.read import BoundsReader
from retrograde.databases.database import position_by_slot
from retrograde.games.catalog import variant
from retrograde.games.contract.game import LOSE, TIE, WIN, RuleError, Traits
from retrograde.solver.rules.positions import of_positions
from retrograde.solver.rules.running_kernels import noted_position, trouble_array, watch_kernel
from retrograde.solver.verification.measures import slot_kernels as kernels
from retrograde.solver.verification.measures.slot_kernels import Listed, Stored

Array = np.ndarray[Any, Any]

PIECE = 1 << 16
"""Slots that are checked in one call of the kernel."""
BETWEEN, MOST_BETWEEN = 64, 1 << 16
"""Positions in between that the workspace holds at first (BETWEEN), and at most (MOST_BETWEEN)."""
LINKS = 24
"""Moves from each of these positions, on average, for which the workspace has entries."""
WRONG = {
    kernels.ROUND: "play goes round among positions without a slot",
    kernels.NO_SLOT: "a move leads to a position whose slot there is not",
    kernels.CROWDED: "play goes on and on among positions without a slot",
}


class Faults(NamedTuple):
    """What is wrong: the number of slots, the first positions with complaints, and problems of the whole database."""

    wrong: int
    positions: list[tuple[int, str]]
    whole: list[str]


def wrong_slots(database: Database, most: int) -> Faults:
    """Return what is wrong with a database of bounds, with at most *most* positions listed.

    Raises RuleError if the rules do not fit their numbering.
    """
    contents, game = database.file.contents, database.game
    assert isinstance(contents, BoundsReader)
    tiers, starts = contents.tiers
    low, high = contents.all_bounds(0, contents.length)
    stored = Stored(tiers, starts, low, high, int(database.file.details["scale"]))
    count, found = 0, list[tuple[int, str]]()
    for k in reversed(range(len(tiers))):
        faults = faults_of(game, k, stored)
        count += int(faults.sum())
        for slot in np.flatnonzero(faults)[: most - len(found)].tolist():
            found.append((game.unindex(int(tiers[k]), slot), "is not worth what follows by the rules"))
    return Faults(count, found, wrong_whole(database, stored))


def faults_of(game: Any, k: int, stored: Stored) -> Array:
    """Return for each slot of a tier whether its bounds are not proven, uint8."""
    first, end = (int(place) for place in stored.starts[k : k + 2])
    faults, seen = np.zeros(end - first, np.uint8), np.zeros(3, np.int64)
    size = BETWEEN
    for begin in range(first, end, PIECE):
        stop = min(begin + PIECE, end)
        while True:
            listed = room_for(game, size)
            seen[2] = 0
            with watch_kernel(game, listed.trouble):
                kernels.check(game, k, begin, stop, stored, listed, faults[begin - first : stop - first], seen)
            if seen[2] != kernels.CROWDED or size >= MOST_BETWEEN:
                break
            # The workspace is too small: enlarge it and check the block again.
            size *= 8
        if seen[2]:
            position = noted_position(game, listed.trouble)
            raise RuleError(f"{variant(game)}, position {position}: {WRONG[int(seen[2])]}")
    if seen[0]:
        check_endless(game, k, stored, size, faults, pays=bool(seen[1]))
    return faults


def check_endless(game: Any, k: int, stored: Stored, size: int, faults: Array, pays: bool) -> None:
    """Mark slots from which play can stay in the tier forever and whose bounds could support each other in a circle.

    If moves pay, all slots from which play can stay in the tier forever are marked.
    """
    endless, listed = np.ones(len(stored.low), np.uint8), room_for(game, size)
    endless[: stored.starts[k]] = 0
    endless[stored.starts[k + 1] :] = 0
    with watch_kernel(game, listed.trouble):
        # Begin with all slots of the tier, and remove until nothing changes.
        while kernels.find_endless(game, k, stored, listed, endless) > 0:  # -1: *listed* says what is wrong
            pass
        if pays:
            faults |= endless[stored.starts[k] : stored.starts[k + 1]]
        else:
            kernels.not_strict(game, k, stored, listed, endless, faults)


def room_for(game: Any, size: int) -> Listed:
    """Return a workspace for *size* positions."""

    def of_numbers(kind: type = np.int64) -> Array:
        return np.zeros(size + 1, kind)

    def of_links() -> Array:
        return np.zeros(LINKS * size, np.int64)

    return Listed(
        of_positions(game, size), of_numbers(), of_numbers(np.bool_), of_numbers(), of_numbers(),
        of_numbers(np.bool_), of_links(), of_links(), of_links(), of_links(), of_links(), of_links(),
        np.zeros(4 * size, np.int64), trouble_array(game),
    )  # fmt: skip


def wrong_whole(database: Database, stored: Stored) -> list[str]:
    """Return what is wrong with the start and with the legend."""
    game, file, wrong = database.game, database.file, []
    if file.start is not None:
        low, high = database.measures(file.start).values()
        if file.start_outcome is None or file.start_outcome.measures != (low, high):
            wrong.append("the file says something else about the start elsewhere")
    counted = {value: [0, 0, -1] for value in (LOSE, TIE, WIN)}
    for tier, begin, end in zip(
        stored.tiers.tolist(), stored.starts.tolist(), stored.starts.tolist()[1:], strict=False
    ):
        count_tier(game, tier, begin, stored.low[begin:end], stored.high[begin:end], counted)
    said = {row.value: [row.stored, row.positions, row.example] for row in file.legend}
    there = {value: row for value, row in counted.items() if row[0]}
    for row in there.values() if Traits.of(game).width else ():
        row[2] = position_by_slot(file, game, row[2])
    if said != there:
        wrong.append("the legend counts other positions than there are")
    return wrong


def count_tier(game: Any, tier: int, begin: int, low: Array, high: Array, counted: dict[Any, list[int]]) -> None:
    """Add to *counted* how many slots and positions of a tier have each value, and the first of each."""
    counts, trouble = np.zeros((3, 3), np.int64), trouble_array(game)
    counts[2] = -1
    with watch_kernel(game, trouble):
        kernels.count(game, tier, begin, low, high, counts, of_positions(game, 1 << 10))
    for kind, value in enumerate((LOSE, TIE, WIN)):
        row = counted[value]
        row[0] += int(counts[0, kind])
        row[1] += int(counts[1, kind])
        row[2] = row[2] if row[2] >= 0 else int(counts[2, kind])
