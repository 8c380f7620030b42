"""The machine code behind the entries of a port: kernels that are compiled for each game, and call one rule.

Most do just what the rule of the same name does; these are made from ENTRIES, as the function of `do_move`::

    def do_move(game, p0, n1):
        return as_position(game.do_move(p0, n1))

They return int64, whatever kind of number a rule gives, and positions as int64 or tuples of it. A kernel for a rule
that yields items skips the first ones, writes the next to a buffer, and returns how many it has written.
"""

from typing import Any

import numpy as np

from retrograde.games.contract.game import LOSE
from retrograde.solver.rules import kernels, positions
from retrograde.solver.rules.port import BUFFER, ENTRIES, store
from retrograde.solver.rules.positions import as_position, whole
from retrograde.solver.runtime.kernel import entry_kernel

VALUES = {"n": "np.int64(whole({}))", "p": "as_position({})"}
"""The code that makes an answer an int64 (n) or a position (p), by the letter of an Entry."""
SINGLE = """
def {name}(game, {arguments}):
    return {value}
"""
ITEMS = """
def {name}(game, {arguments}, skip, buffer):
    count = 0
    for item in game.{name}({arguments}):
        if count >= skip:
            store(buffer, count - skip, {value})
        count += 1
        if count == skip + BUFFER:
            break
    return max(count - skip, 0)
"""


def plain_kernel(name: str) -> Any:
    """Return the compiled kernel of an entry that only calls the rule of its name."""
    entry = ENTRIES[name]
    arguments = ", ".join(f"{letter}{number}" for number, letter in enumerate(entry.arguments))
    value = VALUES[entry.result].format("item" if entry.items else f"game.{name}({arguments})")
    source = (ITEMS if entry.items else SINGLE).format(name=name, arguments=arguments, value=value)
    defined: dict[str, Any] = {}
    exec(compile(source, __file__, "exec"), globals(), defined)  # the file names the cache of the machine code
    return entry_kernel(defined[name])


@entry_kernel
def swapped(game, position):
    """Return the position with the players exchanged, or a negative number."""
    return as_position(positions.swapped(game, position))


@entry_kernel
def least_image(game, position):
    """Return the canonical position and its tier. (`canonical` is the contract's own, since the verifier does not trust
    this one.)"""
    least, tier = kernels.canonical(game, position)
    return as_position(least), np.int64(tier)


@entry_kernel
def address(game, position):
    """Return the tier of a position, and its slot there."""
    return np.int64(whole(game.tier(position))), np.int64(whole(game.index(position)))


@entry_kernel
def children(game, position, skip, buffer):
    """Write each move with its child, and return how many. One call for a position is faster than one for each move."""
    count = 0
    for move in game.generate_moves(position):
        if count >= skip:
            store(buffer, count - skip, (np.int64(whole(move)), as_position(game.do_move(position, move))))
        count += 1
        if count == skip + BUFFER:
            break
    return max(count - skip, 0)


@entry_kernel
def checked_canonical(game, position):
    """Return the canonical position, its tier, and whether *position* is an image of it: false if it has stray bits."""
    least = as_position(game.canonical(position))
    tier = np.int64(whole(game.tier(least)))
    if least == position:
        return least, tier, np.int64(1)
    for image in game.images(least):
        if as_position(image) == position:
            return least, tier, np.int64(1)
    return least, tier, np.int64(0)


@entry_kernel
def wins_at_once(game, position):
    """Return whether a move leads to a position where the opponent has lost."""
    for move in game.generate_moves(position):
        if whole(game.primitive(as_position(game.do_move(position, move)))) == LOSE:
            return np.int64(1)
    return np.int64(0)


OWN = {
    "swapped": swapped, "least_image": least_image, "address": address, "children": children,
    "checked_canonical": checked_canonical, "wins_at_once": wins_at_once,
}  # fmt: skip
KERNELS = {name: OWN.get(name) or plain_kernel(name) for name in ENTRIES}
"""The kernel of each entry of a port."""
