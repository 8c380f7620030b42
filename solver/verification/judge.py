"""Checks one position with the interpreted rules: its stored outcome against its children and its images.

A stored position stands for its images, so the same outcome must follow at an image, by the image's own moves. Each
child must be among the images of the canonical position that stands for it.

A fault is a phrase that follows the position's text, such as "is stored as WIN in 3, and its children make it TIE in
2".
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from retrograde.databases import Outcome
from retrograde.databases.layout import NOT_FOUND
from retrograde.games import DRAW, LOSE, TIE, UNDECIDED, WIN, Game, Value
from retrograde.games.contract.game import MOST_IMAGES, MOST_MOVES, REMOTENESS, same_mover
from retrograde.games.contract.zeroing import DTC, DTZ, PATIENCE
from retrograde.solver.rules.examine import canonical, checked_int, checked_position, checked_value, key_of

SPREAD = 0x1E3779B97F4A7C15
"""An odd number; the upper bits of its products look random."""
Examined = tuple[Value, list[int], list[int]]
"""What `examine` returns: a position's primitive value, its moves, and their canonical children."""


def derive(value: Value, children: list[Outcome]) -> Outcome:
    """Return the outcome that follows from a primitive value and the children's outcomes, which are the other player's.

    >>> derive(UNDECIDED, [Outcome(WIN, 3), Outcome(LOSE, 4), Outcome(LOSE, 2)])
    Outcome(value=<Value.WIN: 4>, remoteness=3)
    """
    if value != UNDECIDED:
        return Outcome(value, None if value == DRAW else 0)
    plies = {
        kind: [child.remoteness or 0 for child in children if child.value == kind] for kind in (LOSE, TIE, DRAW, WIN)
    }
    if plies[LOSE]:
        return Outcome(WIN, 1 + min(plies[LOSE]))
    if plies[TIE]:
        return Outcome(TIE, 1 + min(plies[TIE]))
    return Outcome(DRAW, None) if plies[DRAW] else Outcome(LOSE, 1 + max(plies[WIN]))


def seen_by_other(game: Game, position: int, child: int, outcome: Outcome) -> Outcome:
    """Return a child's outcome as `derive` needs it: WIN and LOSE change places if the same player moves again."""
    if not same_mover(game, position, child) or outcome.value not in (WIN, LOSE):
        return outcome
    return Outcome(LOSE if outcome.value == WIN else WIN, outcome.remoteness)


def words(outcome: Outcome, measures: Sequence[int] = ()) -> str:
    """Return an outcome in words, with measures of another metric if there are any.

    >>> words(Outcome(WIN, 3)), words(Outcome(DRAW, None)), words(Outcome(WIN, 3), [5])
    ('WIN in 3', 'DRAW', 'WIN in 3 (5)')
    """
    value, remoteness = outcome.value.name, outcome.remoteness
    text = value if remoteness in (None, -1, NOT_FOUND) else f"{value} in {remoteness}"
    return f"{text} ({', '.join(map(str, measures))})" if measures else text


def text_of(game: Game, position: int) -> str:
    """Return a position's text, or its number if the rules cannot write it."""
    try:
        return game.write(position)
    except Exception:  # it may be no position at all
        return str(position)


def images_of(game: Game, position: int) -> list[int]:
    """Return the distinct images of a position, itself first, in the order in which the rules yield them."""
    return list(dict.fromkeys([position, *islice(game.images(position), MOST_IMAGES)]))


def is_image(game: Game, position: int, other: int) -> bool:
    """Return whether a position is among the images of another one; the rest of the images are not computed."""
    return position in islice(game.images(other), MOST_IMAGES)


def chosen_image(game: Game, position: int) -> list[int]:
    """Return a list with one other image of a position, chosen by the position; [] if there is no other."""
    images = images_of(game, position)
    return [images[choose(position, len(images))]] if len(images) > 1 else []


def choose(position: int, count: int) -> int:
    """Return a number from 1 to *count* - 1 that looks random and depends on the position alone."""
    return 1 + (((key_of(position) * SPREAD) >> 33) & 0x7FFFFFFF) % (count - 1)


def children_of(game: Game, position: int) -> Examined:
    """Return the same as `examine`, which is for canonical positions, for any position: tiers may fall along moves."""
    value = checked_value(game.primitive(position))
    moves = (
        [checked_int(move, "generate_moves()") for move in islice(game.generate_moves(position), MOST_MOVES)]
        if not value
        else []
    )
    reached = [checked_position(game, game.do_move(position, move), f"do_move(position, {move})") for move in moves]
    return value, moves, [canonical(game, child) for child in reached]


@dataclass(frozen=True)
class OutcomeJudge:
    """Finds faults in what is stored. *outcome_of* returns the outcome stored for a canonical position, or None.

    *missing* is the phrase for a child that is not stored. If *metric* is dtz or dtc, plies count to progress, and
    start again after a move that makes progress.
    """

    game: Game
    outcome_of: Callable[[int], Outcome | None]
    missing: str = "is not stored"
    metric: str = REMOTENESS

    def fault_in_children(self, position: int, stored: Outcome, examined: Examined) -> str:
        """Return what is wrong with a stored outcome, given the children's outcomes; "" if nothing is."""
        value, moves, children = examined
        outcomes = []
        for move, child in zip(moves, children, strict=True):
            if (outcome := self.outcome_of(child)) is None:
                return f"has a move to {text_of(self.game, child)}, which {self.missing} (move {move})"
            outcomes.append(self.outcome_after(position, move, child, outcome))
        derived = derive(value, outcomes)
        if derived == stored:
            return ""
        why = "the rules make it" if value != UNDECIDED else "its children make it"
        return f"is stored as {words(stored)}, and {why} {words(derived)}"

    def fault_in_images(self, position: int, stored: Outcome, examined: Examined, images: Iterable[int]) -> str:
        """Return what is wrong with images of a canonical position or of its children; "" if nothing is."""
        faults = (self.fault_of_image(position, stored, image) for image in images)
        return self.fault_of_strays(position, examined) or next(filter(None, faults), "")

    def fault_of_image(self, position: int, stored: Outcome, image: int) -> str:
        """Return what is wrong with an image of a canonical position; "" if nothing is."""
        game = self.game
        try:
            if game.canonical(image) != position:
                return f"{self.name_image(image)}, whose images are others"
            examined = value, moves, children = children_of(game, image)
            if value != game.primitive(position):
                return f"{self.name_image(image)}, of which the rules say {value.name}"
            outcomes = []
            for move, child in zip(moves, children, strict=True):
                if not (outcome := self.outcome_of(child)):
                    child_text = text_of(game, child)
                    return f"{self.name_image(image)}, from where a move leads to {child_text}, which is not stored"
                outcomes.append(self.outcome_after(image, move, child, outcome))
            derived = derive(value, outcomes)
            if derived != stored:
                what = f"the children of its image {text_of(self.game, image)} make it {words(derived)}"
                return f"is stored as {words(stored)}, and {what}"
            return self.fault_of_strays(image, examined)
        except Exception as error:  # rules may raise anything if called for something that is no position
            return f"{self.name_image(image)}, of which {error}"

    def name_image(self, image: int) -> str:
        """Return the phrase that names an image."""
        return f"has the image {text_of(self.game, image)}"

    def outcome_after(self, position: int, move: int, child: int, outcome: Outcome) -> Outcome:
        """Return a child's stored outcome as `derive` needs it, after *move* has counted for dtz or dtc."""
        plies = outcome.remoteness
        # More than PATIENCE plies: a win that the fifty-move rule spoils stays spoiled after zeroing.
        if plies is not None and self.metric == DTZ and self.game.zeroes(position, move):
            outcome = outcome._replace(remoteness=PATIENCE if plies > PATIENCE else 0)
        if plies is not None and self.metric == DTC and self.game.tier(child) != self.game.tier(position):
            outcome = outcome._replace(remoteness=0)
        return seen_by_other(self.game, position, child, outcome)

    def fault_of_strays(self, position: int, examined: Examined) -> str:
        """Return in words that a move leads to no image of its child's canonical position; "" if none does."""
        for move, child in zip(*examined[1:], strict=True):
            reached = self.game.do_move(position, move)
            if reached != child and not is_image(self.game, reached, child):
                what = f"which is no image of {text_of(self.game, child)}, and yet has it for one"
                return f"has a move to {text_of(self.game, reached)}, {what}"
        return ""
