"""A survey visits positions of a game and checks the rules that all other checks depend on.

It calls every rule twice and raises a Fault at the first thing that is wrong. `rule` and `position` then say where.
"""

import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import chain
from operator import index
from random import Random
from typing import Any, NamedTuple

from retrograde.games import UNDECIDED, Game, Value
from retrograde.games.contract.game import MOST_MOVES, POSITION_BITS, POSITION_LIMIT, Traits, is_none
from retrograde.games.contract.raised import optional_member
from retrograde.games.kinds.placed import Placed
from retrograde.solver.methods.numbered.numbering import SlotNumbering
from retrograde.solver.rules.examine import TIER_BITS, Fault, checked_position, checked_value
from retrograde.solver.runtime.progress import Phase

GAMES, PLIES = 100, 1000
"""Random games that are played (GAMES), and the most plies of one (PLIES)."""
LEAST = 10
"""Positions that are visited even if time is over."""
PLACEMENTS = 300
"""Positions taken from slots of a dense numbering; further ones are found by moves from these."""


class RuleAnswers(NamedTuple):
    """What the rules say about one position. The children are not canonical."""

    value: Value
    tier: int
    moves: list[int]
    children: list[int]


class Survey:
    """The positions of a game that were visited, in that order, and how often each rule was checked."""

    def __init__(self, game: Game):
        self.game = game
        self.answers: dict[int, RuleAnswers] = {}
        self.phase = Phase("checking", None)
        """Receives the number of visited positions."""
        self.complete = False
        self.rule = "start"
        self.position: int | None = None
        self.checks: Counter[str] = Counter()
        self.turns_differ = False
        """Whether drawn turns can be checked: they differ between positions, or the game declares how to see them."""
        self.canonical = lru_cache(1 << 16)(game.canonical)
        self.primitive = lru_cache(1 << 16)(game.primitive)
        self.tier = lru_cache(1 << 16)(game.tier)

    def at(self, rule: str, position: int | None) -> None:
        """Record which rule is checked next, and where, and count the check.

        A Fault carries only words, such as "gives 3". The code that catches it adds the rule and position recorded
        here, so call this before anything that may raise one.
        """
        self.rule, self.position = rule, position
        self.checks[rule] += 1

    def explore(self, limit: int, deadline: float) -> None:
        """Visit up to *limit* positions until *deadline*: half of them breadth-first, then random games, then
        breadth-first again. Sets `complete`: whether all that can be reached were visited, never so by numbers.
        """
        if Traits.of(self.game).is_numbered:  # a third of the time is for finding starts among the slots
            starts = self.placements(min(limit, PLACEMENTS), (2 * time.monotonic() + deadline) / 3)
        else:
            starts = self.starts()
        # Breadth-first search finds what is near the start, random games find ends.
        found, known = deque(starts), set(starts)
        halfway = (time.monotonic() + deadline) / 2
        self.explore_breadth_first(found, known, limit // 2, halfway)
        chance = Random(0)
        for _ in range(GAMES if found else 0):
            self.play(chance.choice(starts), limit, deadline, chance)
        self.explore_breadth_first(found, known, limit, deadline)
        self.complete = not found and not Traits.of(self.game).is_numbered

    def explore_breadth_first(self, found: deque[int], known: set[int], limit: int, deadline: float) -> None:
        """Visit positions breadth-first from *found*, until *limit* positions are visited or time is over."""
        while found and len(self.answers) < limit and (len(self.answers) < LEAST or time.monotonic() < deadline):
            new = [child for child in self.visit(found.popleft()).children if child not in known]
            found.extend(dict.fromkeys(new))
            known.update(new)

    def play(self, position: int, limit: int, deadline: float, chance: Random) -> None:
        """Visit the positions of a random game."""
        for _ in range(PLIES):
            if len(self.answers) >= limit or time.monotonic() >= deadline:
                break
            answers = self.visit(position)
            if not answers.children:
                break
            position = chance.choice(answers.children)

    @cached_property
    def classes(self) -> list[int]:
        """Return the canonical positions of those visited, ascending."""
        return sorted({self.canonical(position) for position in self.answers})

    def number(self) -> None:
        """Read the tiers and sizes of the game's numbering."""
        if isinstance(self.game, Placed):
            self.rule, self.position = "placements", None
            optional_member(self.game, "placements")  # reports what is wrong in them; `tiers` reports if there are none
        self.at("tiers", None)
        self.numbering = SlotNumbering.of(self.game)

    def placements(self, count: int, deadline: float) -> list[int]:
        """Return the positions of some slots of a dense numbering: of each tier the first, the last and random others.

        After the deadline, one of each tier.
        """
        self.number()
        self.check_slots_of_starts()
        self.at("parts", None)
        list(self.numbering.parts(self.game))
        share, chance = max(1, count // len(self.numbering.tiers)), Random(0)
        slots = self.slots(share, 10 * count, deadline, chance)
        found = list(dict.fromkeys(position for _, _, position in slots))
        if not found:
            raise Fault("gives no position for any slot that was tried")
        chance.shuffle(found)
        return found

    def slots(self, share: int, tries: int, deadline: float, chance: Random) -> Iterator[tuple[int, int, int]]:
        """Yield (tier, slot, position) for some slots of each tier: the first, the last and random others.

        Up to *share* positions of each tier are found with *tries* tries; after the deadline, one. Slots that stand for
        no position are left out.
        """
        for row, tier in enumerate(self.numbering.tiers.tolist()):
            size, found = self.numbering.size(row), set[int]()
            for slot in chain((0, size - 1), (chance.randrange(size) for _ in range(tries))):
                self.at("unindex", None)
                position = self.game.unindex(tier, slot)
                expect_again(position, self.game.unindex(tier, slot))
                if is_none(position):
                    continue
                found.add(position := checked_position(self.game, position, f"for slot {slot} of tier {tier} it"))
                yield tier, slot, position
                if len(found) == share or time.monotonic() > deadline:
                    break

    def check_slots_of_starts(self) -> None:
        """Raise a Fault unless each start of a numbered game, if there is one, has a slot."""
        self.rule = "start"
        for start in [] if optional_member(self.game, "start") is None else self.starts():
            tier = self.check_tier(start)
            self.rule, row, hint = "start", self.numbering.row(tier), ""
            if isinstance(self.game, Placed):
                hint = "; let it have as many men as placements declare, each on a cell of its own"
            if row < 0:
                raise Fault(f"is {start} and has no slot, for there is no tier {tier}{hint}")
            slot = self.game.index(start)
            if not is_int(slot) or not 0 <= slot < (size := self.numbering.size(row)):
                raise Fault(f"is {start} and has no slot: index() gives {slot}, and size({tier}) is {size}{hint}")
            if (again := self.game.unindex(tier, slot)) != self.canonical(start):
                raise Fault(f"is {start}, and its slot, {slot} of tier {tier}, stands for {again}{hint}")

    # One position

    def starts(self) -> list[int]:
        starts = [self.start()]
        if Traits.of(self.game).has_starts:
            self.at("starts", None)
            starts += [checked_position(self.game, start, "it") for start in self.game.starts]
        return list(dict.fromkeys(starts))

    def start(self) -> int:
        self.at("start", None)
        if (given := optional_member(self.game, "start")) is None:
            raise Fault("is missing; give the class the first position as its start")
        start = checked_position(self.game, given, "it")
        expect_again(start, self.game.start)
        return start

    def visit(self, position: int) -> RuleAnswers:
        """Return what the rules say about a position, checked at the first visit; raise a Fault if it is wrong."""
        if position not in self.answers:
            tier, value = self.check_tier(position), self.check_value(position)
            moves = self.check_moves(position) if value == UNDECIDED else []
            children = [self.check_child(position, move) for move in moves]
            for move, child in zip(moves, children, strict=True):
                if (lower := self.check_tier(child)) < tier:
                    self.position = position  # the fault is the parent's, and check_tier has noted the child
                    raise Fault(f"falls from {tier} to {lower} by the move {move}; it must never fall along a move")
            self.phase.advance(1)
            self.answers[position] = RuleAnswers(value, tier, moves, children)
        return self.answers[position]

    def check_tier(self, position: int) -> int:
        """Return the tier of a position; raise a Fault unless it is an int of 62 bits."""
        self.at("tier", position)
        tier = self.tier(position)
        if not is_int(tier) or not -(1 << TIER_BITS) < tier < 1 << TIER_BITS:
            raise Fault(f"gives {tier!r}; it must give an int below 2**{TIER_BITS}")
        expect_again(tier, self.game.tier(position))
        return tier

    def check_value(self, position: int) -> Value:
        """Return the primitive value of a position; raise a Fault if it is none."""
        self.at("primitive", position)
        value = self.game.primitive(position)
        try:
            checked_value(value)
        except Fault:
            advice = "let it give WIN, LOSE, TIE or DRAW, or UNDECIDED where the game goes on"
            raise Fault(f"gives {value!r}; {advice}") from None
        expect_again(value, self.game.primitive(position))
        return Value(value)

    def check_moves(self, position: int) -> list[int]:
        """Return the moves of a position; raise a Fault unless they are distinct ints in bounds, one at least."""
        self.at("generate_moves", position)
        moves = limited(self.game.generate_moves(position))
        if not moves:
            raise Fault("yields no move where primitive() says UNDECIDED; let that say who has won, or tie it")
        for move in moves:
            if not is_int(move) or not 0 <= move < POSITION_LIMIT:
                raise Fault(f"yields {move!r}; moves must be ints from 0 to 2**{POSITION_BITS} - 1")
        if len(set(moves)) < len(moves):
            raise Fault(f"yields the move {Counter(moves).most_common(1)[0][0]} more than once; yield each once")
        expect_again(moves, limited(self.game.generate_moves(position)))
        return [index(move) for move in moves]

    def check_child(self, position: int, move: int) -> int:
        """Return the child that a move leads to; raise a Fault if it is no position."""
        self.at("do_move", position)
        child = checked_position(self.game, self.game.do_move(position, move), f"for the move {move} it")
        expect_again(child, self.game.do_move(position, move))
        return child


def is_int(number: Any) -> bool:
    """Return whether something can be used as an int."""
    try:
        index(number)
    except TypeError:
        return False
    return True


def limited(items: Iterable[int]) -> list[int]:
    """Return the list of what a rule yields. Raise a Fault if it yields MOST_MOVES items or more."""
    try:
        iterator = iter(items)
    except TypeError:
        raise Fault(f"gives {items!r}; it must yield ints") from None
    listed = [item for item, _ in zip(iterator, range(MOST_MOVES), strict=False)]
    if len(listed) == MOST_MOVES:
        raise Fault(f"yields {MOST_MOVES:,} ints and more; does it end?")
    return listed


def expect_again(first: object, second: object) -> None:
    """Raise a Fault unless a rule answers the same when it is called again."""
    if first != second:
        raise Fault(f"gives {first} and, asked again, {second}; let nothing decide but what it is given")
