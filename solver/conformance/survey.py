"""A survey visits positions of a game and checks the rules that all other checks depend on.

It calls every rule twice and raises a Fault at the first thing that is wrong.
"""

import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import chain
from operator import index
from random import Random
from typing import NamedTuple

from retrograde.games import UNDECIDED, Game, Value
from retrograde.games.contract.game import MOST_MOVES, POSITION_BITS, POSITION_LIMIT, Traits, is_none
from retrograde.games.contract.raised import optional_member
from retrograde.games.kinds.placed import Placed
from retrograde.solver.methods.numbered.numbering import SlotNumbering, is_int
from retrograde.solver.rules.examine import TIER_BITS, Fault, checked_position, checked_value
from retrograde.solver.runtime.progress import Phase

GAMES, PLIES = 100, 1000
"""Random games that are played, and the most plies of one."""
LEAST = 10
"""Positions that are visited even if time is over."""
PLACEMENTS = 300
"""Positions taken from slots of a numbering at first; further ones are found by moves from these."""


class RuleAnswers(NamedTuple):
    """The rules' answers about one position. The children are not canonical."""

    value: Value
    tier: int
    moves: list[int]
    children: list[int]


class Survey:
    """The visited positions of a game, in order, and how often each rule was checked."""

    def __init__(self, game: Game):
        self.game = game
        self.answers: dict[int, RuleAnswers] = {}
        self.phase = Phase("checking", None)
        """Receives the number of visited positions."""
        self.with_slot: set[int] = set()
        """Parents whose slots were checked: most are parents of several positions."""
        self.complete = False
        self.rule = "start"
        self.position: int | None = None
        self.checks: Counter[str] = Counter()
        self.turns_differ = False
        """Whether `drawings.check_turns` applies: drawn turns differ between positions, or the rules declare them."""
        self.canonical = lru_cache(1 << 16)(game.canonical)
        self.primitive = lru_cache(1 << 16)(game.primitive)
        self.tier = lru_cache(1 << 16)(game.tier)

    def begin_check(self, rule: str, position: int | None) -> None:
        """Count a check of a rule at a position, and record both for the message of a Fault. Call it before anything
        that may raise one: a Fault itself says only what is wrong, such as "gives 3"."""
        self.rule, self.position = rule, position
        self.checks[rule] += 1

    def explore(self, limit: int, deadline: float) -> None:
        """Visit up to *limit* positions until *deadline* (of `time.monotonic`), but LEAST positions in any case.

        Half of the limit and of the time are for breadth-first search; then come random games, then breadth-first
        search again. Set `complete` if that has met all positions; never for a numbered game.
        """
        if Traits.of(self.game).is_numbered:  # a third of the time is for finding starts among the slots
            starts = self.sample_positions(min(limit, PLACEMENTS), (2 * time.monotonic() + deadline) / 3)
        else:
            starts = self.check_starts()
        # Breadth-first search finds what is near the start, random games find ends.
        todo, seen = deque(starts), set(starts)
        halfway = (time.monotonic() + deadline) / 2
        self.explore_breadth_first(todo, seen, limit // 2, halfway)
        chance = Random(0)
        for _ in range(GAMES if todo else 0):
            self.play_randomly(chance.choice(starts), limit, deadline, chance)
        self.explore_breadth_first(todo, seen, limit, deadline)
        self.complete = not todo and not Traits.of(self.game).is_numbered

    def explore_breadth_first(self, todo: deque[int], seen: set[int], limit: int, deadline: float) -> None:
        """Visit positions breadth-first from *todo* until *limit* are visited or time is over. *seen* are all that have
        been in *todo*."""
        while todo and len(self.answers) < limit and (len(self.answers) < LEAST or time.monotonic() < deadline):
            new = [child for child in self.visit(todo.popleft()).children if child not in seen]
            todo.extend(dict.fromkeys(new))
            seen.update(new)

    def play_randomly(self, position: int, limit: int, deadline: float, chance: Random) -> None:
        """Visit the positions of a random game from *position* on."""
        for _ in range(PLIES):
            if len(self.answers) >= limit or time.monotonic() >= deadline:
                break
            answers = self.visit(position)
            if not answers.children:
                break
            position = chance.choice(answers.children)

    @cached_property
    def canonical_positions(self) -> list[int]:
        """The canonical positions of the visited ones, ascending."""
        return sorted({self.canonical(position) for position in self.answers})

    def read_numbering(self) -> None:
        """Read the game's numbering into `numbering`."""
        if isinstance(self.game, Placed):
            self.rule, self.position = "placements", None
            optional_member(self.game, "placements")  # reports what is wrong in them; `tiers` reports if there are none
        self.begin_check("tiers", None)
        self.numbering = SlotNumbering.of(self.game)

    def sample_positions(self, count: int, deadline: float) -> list[int]:
        """Return about *count* positions of slots in random order, some of each tier. After *deadline*, one of each."""
        self.read_numbering()
        self.check_slots_of_starts()
        self.begin_check("parts", None)
        list(self.numbering.parts(self.game))  # reading them finds what is wrong with them
        share, chance = max(1, count // len(self.numbering.tiers)), Random(0)
        slots = self.sample_slots(share, 10 * count, deadline, chance)
        found = list(dict.fromkeys(position for _, _, position in slots))
        if not found:
            raise Fault("gives no position for any slot that was tried")
        chance.shuffle(found)
        return found

    def sample_slots(self, share: int, tries: int, deadline: float, chance: Random) -> Iterator[tuple[int, int, int]]:
        """Yield (tier, slot, position) for some slots of each tier: the first, the last and random others.

        It makes *tries* random tries for *share* positions of a tier, and stops at the first position after *deadline*.
        Slots without a position are skipped.
        """
        for row, tier in enumerate(self.numbering.tiers.tolist()):
            size, found = self.numbering.size(row), set[int]()
            for slot in chain((0, size - 1), (chance.randrange(size) for _ in range(tries))):
                self.begin_check("unindex", None)
                position = self.game.unindex(tier, slot)
                expect_again(position, self.game.unindex(tier, slot))
                if is_none(position):
                    continue
                found.add(position := checked_position(self.game, position, f"for slot {slot} of tier {tier} it"))
                yield tier, slot, position
                if len(found) == share or time.monotonic() > deadline:
                    break

    def check_slots_of_starts(self) -> None:
        """Raise a Fault if a start of a numbered game has no slot; the game need have no start."""
        self.rule = "start"
        for start in [] if optional_member(self.game, "start") is None else self.check_starts():
            tier = self.check_tier(start)
            row, hint = self.numbering.row(tier), ""
            self.rule = "start"  # check_tier has recorded another
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

    def check_starts(self) -> list[int]:
        """Return the checked first positions: `start`, then those of `starts`."""
        starts = [self.check_start()]
        if Traits.of(self.game).has_starts:
            self.begin_check("starts", None)
            starts += [checked_position(self.game, start, "it") for start in self.game.starts]
        return list(dict.fromkeys(starts))

    def check_start(self) -> int:
        """Return the checked `start`; raise a Fault if it is missing."""
        self.begin_check("start", None)
        if (given := optional_member(self.game, "start")) is None:
            raise Fault("is missing; give the class the first position as its start")
        start = checked_position(self.game, given, "it")
        expect_again(start, self.game.start)
        return start

    def visit(self, position: int) -> RuleAnswers:
        """Return the rules' answers about a position, checked at the first visit; raise a Fault if one is wrong."""
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
        self.begin_check("tier", position)
        tier = self.tier(position)
        if not is_int(tier) or not -(1 << TIER_BITS) < tier < 1 << TIER_BITS:
            raise Fault(f"gives {tier!r}; it must give an int below 2**{TIER_BITS}")
        expect_again(tier, self.game.tier(position))
        return tier

    def check_value(self, position: int) -> Value:
        """Return the primitive value of a position; raise a Fault if it is none."""
        self.begin_check("primitive", position)
        value = self.game.primitive(position)
        try:
            checked_value(value)
        except Fault:
            advice = "let it give WIN, LOSE, TIE or DRAW, or UNDECIDED where the game goes on"
            raise Fault(f"gives {value!r}; {advice}") from None
        expect_again(value, self.game.primitive(position))
        return Value(value)

    def check_moves(self, position: int) -> list[int]:
        """Return the moves of a position; raise a Fault unless they are distinct ints in bounds, at least one."""
        self.begin_check("generate_moves", position)
        moves = list_answers(self.game.generate_moves(position))
        if not moves:
            raise Fault("yields no move where primitive() says UNDECIDED; let that say who has won, or tie it")
        for move in moves:
            if not is_int(move) or not 0 <= move < POSITION_LIMIT:
                raise Fault(f"yields {move!r}; moves must be ints from 0 to 2**{POSITION_BITS} - 1")
        if len(set(moves)) < len(moves):
            raise Fault(f"yields the move {Counter(moves).most_common(1)[0][0]} more than once; yield each once")
        expect_again(moves, list_answers(self.game.generate_moves(position)))
        return [index(move) for move in moves]

    def check_child(self, position: int, move: int) -> int:
        """Return the child after a move; raise a Fault if it is no position."""
        self.begin_check("do_move", position)
        child = checked_position(self.game, self.game.do_move(position, move), f"for the move {move} it")
        expect_again(child, self.game.do_move(position, move))
        return child


def list_answers(items: Iterable[int]) -> list[int]:
    """Return the list of what a rule yields; raise a Fault if it yields MOST_MOVES items or more."""
    try:
        iterator = iter(items)
    except TypeError:
        raise Fault(f"gives {items!r}; it must yield ints") from None
    listed = [item for item, _ in zip(iterator, range(MOST_MOVES), strict=False)]
    if len(listed) == MOST_MOVES:
        raise Fault(f"yields {MOST_MOVES:,} ints and more; does it end?")
    return listed


def expect_again(first: object, second: object) -> None:
    """Raise a Fault if a rule's second answer to the same question differs from the first."""
    if first != second:
        raise Fault(f"gives {first} and, asked again, {second}; let nothing decide but what it is given")
