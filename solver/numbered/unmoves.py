"""The parents of the slots of a tier, as the rules give them, held against the children met before."""

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from retrograde.games.game import alternates, is_none
from retrograde.solver.numbered import kernels
from retrograde.solver.numbered.seeds import complain
from retrograde.solver.numbered.table import Tier
from retrograde.solver.outcomes import edges
from retrograde.solver.rules import compiled
from retrograde.solver.rules.active import asked_in, troubles
from retrograde.solver.rules.expansion import compiling
from retrograde.solver.rules.second_look import blame_parents
from retrograde.solver.rules.trouble import Trouble
from retrograde.solver.work.tasks import Remote, room
from retrograde.solver.work.work import Work

Array = np.ndarray[Any, Any]

FRONTIER = 1 << 12
"""Slots in a task of asking for parents..."""
FRONTIER_SENT = 1 << 14
"""...and in one for another process: of fewer the process that solves is done before they are sent."""
ROOM = 1 << 17
"""Parents that are written at once."""


def parents_of(tier: Tier, work: Work, frontier: Array) -> Iterator[Array]:
    """Yield the undecided parents of some slots, each as often as it has distinct children there."""
    size = work.block(len(frontier), FRONTIER_SENT if isinstance(work.executor, Remote) else FRONTIER)
    parts = ((tier, frontier[begin : begin + size]) for begin in range(0, len(frontier), size))
    for parents in work.map(ask_parents, parts):
        yield from parents


def ask_parents(task: tuple[Tier, Array]) -> list[Array]:
    """Return the parents that the rules give, in pieces; raise RuleError where they are not those met before."""
    tier, frontier = task
    table, left, sums = tier.table, tier.left.array, tier.sums.array
    rules = table.rules
    compiled.prepare(rules)
    out, trouble = room("parents", ROOM), troubles(rules, 3)
    pieces = []
    while len(frontier):
        with compiling(table.game, trouble):
            done, count = kernels.parents_of(rules, tier.number, frontier, left, sums, out, trouble)
        if trouble[0] == Trouble.BAD_PARENTS:
            complain_of_parents(tier, asked_in(rules, trouble), edges.place_of(trouble[2], len(left)))
        if trouble[0] != Trouble.FINE or not done:
            complain(table.game, table.numbering, asked_in(rules, trouble))
        pieces.append(out[:count].astype(np.uint32 if len(left) < 1 << 32 and alternates(rules) else np.int64))
        frontier = frontier[done:]
    return pieces


def complain_of_parents(tier: Tier, position: int, missing: int) -> NoReturn:
    """Raise the RuleError due where parents are wrong; *missing* is a slot to suspect, -1 for none."""
    game = tier.table.game
    slots = [missing] * (missing >= 0) + edges.some_of(len(tier.scores.array)).tolist()
    others = (game.unindex(tier.number, slot) for slot in slots)
    blame_parents(game, position, lambda _: True, (other for other in others if not is_none(other)))
