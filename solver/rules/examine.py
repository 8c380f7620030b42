"""Calls the interpreted rules for one position and checks every answer against the contract.

`examine` is the reference: compiled rules must give the same answers, and every message about broken rules comes from
here.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dis import opmap
from itertools import islice
from operator import index
from random import Random
from typing import Any

from retrograde.games import CHANCE, UNDECIDED, Game, RetrogradeError, RuleError, Value
from retrograde.games.catalog import in_short, typed, variant
from retrograde.games.contract.game import MOST_MOVES, POSITION_BITS, POSITION_LIMIT, REPORT, Traits, metric_of
from retrograde.games.contract.raised import given_start

TIER_BITS = 62
MIX = 0x9E3779B97F4A7C15
"""An odd number; the upper bits of its products look random. `key_of` mixes tuples with it."""


def examine(game: Game, position: int) -> tuple[Value, list[int], list[int]]:
    """Return a position's primitive value, moves and canonical children; raise RuleError if the contract is broken.

    >>> from retrograde.games.catalog import load_game
    >>> examine(load_game("nim:heaps=3"), 3)
    (<Value.UNDECIDED: 0>, [67, 35, 3], [2, 1, 0])
    """
    with blame(game, position):
        # Case: the game is over. There are no moves to check.
        value = checked_value(game.primitive(position))
        if Traits.of(game).has_turn and turn_of(game, position) == CHANCE and value != UNDECIDED:
            raise Fault("the game is over, and turn() gives CHANCE; let it give the player whose value that is")
        if value != UNDECIDED:
            return value, [], []
        # Case: the game goes on. Take at most MOST_MOVES moves, since a broken rule may yield moves forever.
        moves = [checked_int(move, "generate_moves()") for move in islice(game.generate_moves(position), MOST_MOVES)]
        if not moves:
            raise Fault("it is UNDECIDED and has no moves; let primitive() say who has won, or tie it")
        if min(moves) < 0:
            raise Fault(f"generate_moves() gives {min(moves)}; moves are numbers from 0 on")
        if len(moves) == MOST_MOVES:
            raise Fault(f"generate_moves() gives {MOST_MOVES:,} moves and more; does it end?")
        tier = tier_of(game, position)
        children = []
        for move in moves:
            child = canonical(game, checked_position(game, game.do_move(position, move), f"do_move(position, {move})"))
            if (lower := tier_of(game, child)) < tier:
                raise Fault(f"move {move} leads from tier {tier} back to tier {lower}; it must never fall")
            children.append(child)
        return value, moves, children


def random_line(game: Game, position: int, random: Random) -> Iterator[int]:
    """Yield a position and, move by random move, those after it, to the end of the game if it has one."""
    yield position
    while game.primitive(position) == UNDECIDED:
        position = game.do_move(position, random.choice(list(game.generate_moves(position))))
        yield position


def turn_of(game: Game, position: int) -> int:
    """Return whose turn it is: a player, or CHANCE. Raise a Fault for anything else."""
    number = checked_int(game.turn(position), "turn()")
    if number != CHANCE and not 0 <= number < game.players:
        raise Fault(f"turn() gives {number}, and players are from 0 to {game.players - 1}")
    return number


def refuse_chance(game: Game, position: int) -> int:
    """Return whose turn it is; raise RuleError if it is chance's, since there is no remoteness with chance."""
    with blame(game, position):
        if (turn := turn_of(game, position)) == CHANCE:
            raise Fault("it is chance's turn, and remoteness is for games without; let metric be 'expectation'")
        return turn


def movers_of(game: Game, positions: Iterable[int]) -> dict[int, int] | None:
    """Return the player to move at each position; None if two players alternate. Raise RuleError at chance's turn."""
    return None if Traits.of(game).alternates else {position: refuse_chance(game, position) for position in positions}


def start_of(game: Game) -> int:
    """Return the canonical start of a game."""
    if (start := given_start(game)) is None:
        raise RuleError(f"{variant(game)} has no start; give its class one")
    return first_position(game, start)


def starts_of(game: Game) -> list[int]:
    """Return the distinct canonical starting positions of a game, `start` first."""
    return list(dict.fromkeys([start_of(game), *(first_position(game, start) for start in game.starts)]))


def is_for_a_stream(game: Game) -> bool:
    """Return whether two players alternate from a single start, as the streamed method requires."""
    return Traits.of(game).alternates and len(starts_of(game)) == 1


def first_position(game: Game, start: Any) -> int:
    """Return the canonical form of a starting position; raise RuleError if it is not valid."""
    with blame(game, start):
        first = canonical(game, checked_position(game, start, "start"))
        tier_of(game, first)
        return first


def tier_of(game: Game, position: int) -> int:
    """Return the tier of a position. Raise a Fault unless it has TIER_BITS bits at most."""
    number = checked_int(game.tier(position), f"tier({position})")
    if not -(1 << TIER_BITS) < number < 1 << TIER_BITS:
        raise Fault(f"tier({position}) gives {number}; it must give an int below 2**{TIER_BITS}")
    return number


def canonical(game: Game, position: int) -> int:
    """Return the canonical form of a position. Raise a Fault if that is no position."""
    return checked_position(game, game.canonical(position), f"images({position})")


class NotForSearch(RetrogradeError, ValueError):
    """A search cannot handle this game: it needs two alternating players."""


def refuse_to_search(game: Game, what: str = "this search") -> None:
    """Raise NotForSearch unless two players alternate. *what* needs that, in the words of the message."""
    traits = Traits.of(game)
    if not traits.alternates:
        why = f"{in_short(game)}: {what} is for two players who alternate"
        if game.players == 2 and metric_of(game) != "expectation":
            why += "; the rules of this game define `turn`, so that a player may move twice"
            if not traits.has_odds and (traits.has_payoffs or traits.has_rewards):
                why += f"; search for its score: retrograde search {typed(game)} --metric score"
        raise NotForSearch(f"{why}; {advice(game)}")


def is_plain_puzzle(game: Game) -> bool:
    """Return whether a game is a puzzle without chance and points, so that a search can find its solutions."""
    return bool(game.players == 1 and not Traits.of(game).has_chance and metric_of(game) != "score")


def advice(game: Game) -> str:
    """Return what a user can do with this game instead, with the command."""
    if is_plain_puzzle(game) or (Traits.of(game).alternates and metric_of(game) == "remoteness"):
        return f"search it: retrograde search {typed(game)}"
    return f"play it: retrograde play {typed(game)}; if it is small, solve it: retrograde solve {typed(game)}"


def not_for_proofs(game: Game) -> str:
    """Return why no certificate can prove the value of a position; "" if one can.

    >>> from retrograde.games.catalog import load_game
    >>> not_for_proofs(load_game("pig")), not_for_proofs(load_game("nim"))
    ('pig has chance, against which no strategy keeps a value', '')
    """
    traits = Traits.of(game)
    name = in_short(game)
    if game.players != 2:
        return f"{name} is for {game.players} player{'s' * (game.players > 1)}, and a certificate is for two"
    if metric_of(game) == "expectation":
        return f"{name} has chance, against which no strategy keeps a value"
    if traits.has_odds:
        return f"the rules of {name} define `odds`, as games of chance do, and no strategy keeps a value against chance"
    if traits.has_rewards:
        return f"in {name} moves pay (`reward`), so that ends do not say who wins"
    return ""


class NotCompilable(RuleError):
    """Rules that cannot be compiled. They still run interpreted, slowly."""


class Fault(Exception):
    """A breach of the contract, in words that follow the name of the game and the position."""


@contextmanager
def blame(game: Game, position: object) -> Iterator[None]:
    """Turn a Fault, or any error of the rules, into a RuleError that names the game and the position."""
    try:
        yield
    except RuleError:
        raise
    except Fault as fault:
        raise RuleError(f"{variant(game)}, position {position}: {fault}") from fault
    except BaseException as error:
        if not raised_by_rules(error):
            raise
        what = f"the rules raise {type(error).__name__}: {error}"
        raise RuleError(f"{variant(game)}, position {position}: {what}") from error


def raised_by_rules(error: BaseException) -> bool:
    """Return whether the rules raised an exception, as opposed to Ctrl-C or a time limit.

    Every Exception and SystemExit counts as the rules'. A KeyboardInterrupt counts only if the innermost frame stopped
    at a `raise` with an argument; Ctrl-C stops at another instruction. All others, such as EndlessRules, do not count.
    """
    if isinstance(error, Exception | SystemExit):
        return True
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    if trace is None or not isinstance(error, KeyboardInterrupt):
        return False
    # Read the bytecode instruction at which the innermost frame stopped. (A bytecode instruction has two bytes.)
    code = trace.tb_frame.f_code.co_code[trace.tb_lasti : trace.tb_lasti + 2]
    return len(code) == 2 and code[0] == opmap["RAISE_VARARGS"] and code[1] > 0  # a bare `raise` (argument 0) re-raises


def checked_value(value: Any) -> Value:
    """Return the answer of primitive() as a Value; raise a Fault for bools, which Python would take for 0 and 1."""
    if value is None or isinstance(value, bool) or value not in tuple(Value):
        raise Fault(f"primitive() gives {value!r}; it must give WIN, LOSE, TIE, DRAW or UNDECIDED")
    return Value(value)


def checked_int(answer: Any, source: str) -> int:
    """Return an answer of the rules as an int; raise a Fault that names the *source* if it is none."""
    try:
        return index(answer)
    except TypeError:
        raise Fault(f"{source} gives {answer!r}, which is no int") from None


def checked_position(game: Game, position: Any, source: str) -> int:
    """Return a position that the rules gave as an int, or as a tuple of ints. Raise a Fault that names the *source*."""
    if isinstance(position, tuple):
        return checked_tuple(game, position, source)  # type: ignore[no-any-return]  # it goes where ints go
    number = checked_int(position, source)
    if not 0 <= number < POSITION_LIMIT:
        raise Fault(f"{source} gives {number}, but positions go from 0 to 2**{POSITION_BITS} - 1")
    return number


def checked_tuple(game: Game, position: tuple[Any, ...], source: str) -> Any:
    """Return a position that the rules gave as a tuple of ints. Raise a Fault if it is no position of this game."""
    if not (width := Traits.of(game).width):
        what = "tuples of such ints, and then all of them, the start too"
        raise Fault(f"{source} gives {position!r:.60}; positions are ints below 2**{POSITION_BITS}, or {what}")
    try:
        numbers = tuple(map(index, position))
    except TypeError:
        numbers = ()
    if len(numbers) != width or not all(0 <= number < POSITION_LIMIT for number in numbers):
        what = f"positions of this game are tuples of {width} ints from 0 to 2**{POSITION_BITS} - 1"
        raise Fault(f"{source} gives {position!r:.60}, and {what}")
    return numbers


def is_position(position: Any) -> bool:
    """Return whether all words of a position are in the range of positions."""
    return all(0 <= word < POSITION_LIMIT for word in (position if isinstance(position, tuple) else (position,)))


def key_of(position: Any) -> int:
    """Return an int position itself; for a tuple, a nonnegative hash that is the same in every process."""
    if not isinstance(position, tuple):
        return position  # type: ignore[no-any-return]  # it is an int
    key = 0
    for number in position:
        key = (((key ^ number) * MIX) & ((1 << 64) - 1)) >> 2  # a product of 64 bits; the upper 62 are kept
        key ^= key >> 31
    return key


def to_list(positions: Any) -> list[Any]:
    """Return an array of positions, int64[n] or int64[n, words], as a list of ints or of tuples."""
    return [*map(tuple, positions.tolist())] if positions.ndim > 1 else list(positions.tolist())


def describe_difference(game: Game, position: int) -> str:
    """Return the message that rules answer differently when interpreted and compiled, or when called twice."""
    return (
        f"{variant(game)}, position {position}: the rules do one thing interpreted and another compiled; do ints "
        f"exceed 64 bits on the way, or does anything but the position decide? {or_a_bug(game)}"
    )


def or_a_bug(game: Game) -> str:
    """Return the sentence on how to distinguish a fault of the rules from a bug of retrograde."""
    return f"If `retrograde check {variant(game)}` finds nothing, it is a bug of retrograde: {REPORT}"
