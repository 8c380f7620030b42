"""The rules of a game asked about one position, interpreted, with every answer held against the contract."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from operator import index
from typing import Any

from retrograde.games.catalog import variant
from retrograde.games.game import POSITION_BITS, UNDECIDED, Game, RuleError, Value

MOST_MOVES = 1 << 16


def examine(game: Game, position: int) -> tuple[Value, list[int], list[int]]:
    """Return a position's primitive value, its moves, and the canonical children they lead to.

    Raises RuleError where the rules break the contract.
    """
    with blame(game, position):
        value = checked_value(game.primitive(position))
        if value != UNDECIDED:
            return value, [], []
        moves = [index(move) for move in islice(game.generate_moves(position), MOST_MOVES)]
        if not moves:
            raise Fault("it is UNDECIDED and has no moves; let primitive() say who has won, or tie it")
        if min(moves) < 0:
            raise Fault(f"generate_moves() gives {min(moves)}; moves are numbers from 0 on")
        if len(moves) == MOST_MOVES:
            raise Fault(f"generate_moves() gives {MOST_MOVES:,} moves and more; does it end?")
        tier = game.tier(position)
        children = []
        for move in moves:
            child = canonical(game, checked_position(game.do_move(position, move), f"do_move(position, {move})"))
            if game.tier(child) < tier:
                raise Fault(f"move {move} leads from tier {tier} back to tier {game.tier(child)}; it must never fall")
            children.append(child)
        return value, moves, children


def start_of(game: Game) -> int:
    """Return the canonical first position of a game."""
    try:
        start = game.start
    except AttributeError:
        raise RuleError(f"{variant(game)} has no start; give its class one") from None
    with blame(game, start):
        return canonical(game, checked_position(start, "start"))


def canonical(game: Game, position: int) -> int:
    """Return the canonical position, if it is one."""
    return checked_position(game.canonical(position), f"images({position})")


class Fault(Exception):
    """What the rules did wrong, in words that follow those about the position."""


@contextmanager
def blame(game: Game, position: object) -> Iterator[None]:
    """Turn a fault, or whatever the rules raise, into a RuleError that names game and position."""
    try:
        yield
    except RuleError:
        raise
    except Fault as fault:
        raise RuleError(f"{variant(game)}, position {position}: {fault}") from fault
    except Exception as error:
        what = f"the rules raise {type(error).__name__}: {error}"
        raise RuleError(f"{variant(game)}, position {position}: {what}") from error


def checked_value(value: Any) -> Value:
    """Return what primitive() gave as a Value."""
    if value is None or value not in tuple(Value):
        raise Fault(f"primitive() gives {value!r}; it must give WIN, LOSE, TIE, DRAW or UNDECIDED")
    return Value(value)


def checked_position(position: object, source: str) -> int:
    """Return a position that the rules gave as an int."""
    try:
        number = index(position)  # type: ignore[arg-type]  # that is what is being tried
    except TypeError:
        raise Fault(f"{source} gives {position!r}, which is no int") from None
    if not 0 <= number < 1 << POSITION_BITS:
        raise Fault(f"{source} gives {number}, and positions go from 0 to 2**{POSITION_BITS} - 1")
    return number
