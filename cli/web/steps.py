"""Turns in several steps: a move that touches several places is made by picking one place after another.

A button is a move, or a step towards several moves. If no move touches more than two places, each button is a place or
a pair of places. Otherwise each place that may come next is a button. A move whose places are all picked is offered by
its name.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from retrograde.games.contract.game import Game
from retrograde.solver.play.choice import Choice

Places = tuple[int, ...]


class Button(NamedTuple):
    """What people may click: one or two places, or none for a move listed by its name."""

    places: Places
    choices: Sequence[Choice]
    """Best first. If there is only one, the click makes it."""
    picked: Places
    """The picked places after the click, if several moves are left."""


def touched_places(game: Game, position: int, choices: Sequence[Choice], size: int) -> list[tuple[Choice, Places]]:
    """Return each move with the places it touches; with none if some are not on a board of that size."""
    pairs = []
    for choice in choices:
        places = tuple(dict.fromkeys(game.draw_move(position, choice.move)))
        pairs.append((choice, places if all(0 <= place < size for place in places) else ()))
    return pairs


def buttons(pairs: Sequence[tuple[Choice, Places]], picked: Places) -> list[Button]:
    """Return the buttons of a position with some places picked; [] if no move touches them all."""
    if not picked and all(len(places) <= 2 for _, places in pairs):
        return list(at_once(pairs))
    return list(one_by_one([pair for pair in pairs if set(picked) <= set(pair[1])], picked))


def at_once(pairs: Sequence[tuple[Choice, Places]]) -> Iterator[Button]:
    """Yield a button for each place or pair of places, and one by name for each move without places."""
    groups: dict[Places, list[Choice]] = {}
    for choice, places in pairs:
        groups.setdefault(places, []).append(choice)
    for places, choices in groups.items():
        if places:
            yield Button(places, choices, places)
        else:
            yield from (Button((), [choice], ()) for choice in choices)


def one_by_one(pairs: Sequence[tuple[Choice, Places]], picked: Places) -> Iterator[Button]:
    """Yield a button for each place that may be picked next, and one by name for each complete move."""
    yield from (Button((), [choice], ()) for choice, places in pairs if len(places) == len(picked))
    for place in sorted({place for _, places in pairs for place in places} - set(picked)):
        left = [(choice, places) for choice, places in pairs if place in places]
        common = set(left[0][1]).intersection(*(places for _, places in left))
        yield Button((place,), [choice for choice, _ in left], tuple(sorted(common)))
