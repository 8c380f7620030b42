"""Which games this package solves, and whether what they declare agrees with their rules."""

from math import comb
from typing import Any, NamedTuple

from retrograde.games.contract.game import LOSE, UNDECIDED
from retrograde.games.kinds.placements import Section, as_bits
from retrograde.games.kinds.steps import Steps

MOST_CELLS = 25
"""The most cells of a board. A colouring has as many bits, and there are tables for half of them."""
EDGE_BYTES = 6
"""Bytes of an edge from a shape to another: where it leads, and the number of the move."""
MOST_PUSHES = 200
"""The most pushes: a counter of children has a byte."""


class NotShaped(Exception):
    """What a game declares does not fit this package."""


def is_shaped(game: Any) -> bool:
    """Return whether a game declares steps, on a board that this package can number. Its class must define
    `section_steps` itself: a class that inherits it may have other rules.

    There must be two kinds of men, one for each player. If players are exchanged, men change their kind, but not their
    cells. Each cell must be a key cell or a side cell.
    """
    if "section_steps" not in vars(type(game)):
        return False
    declared = game.placements
    identity = declared.symmetries[0]
    return (
        declared.kinds == 2
        and declared.swap in ((1, 0), ())
        and declared.swap_order == identity
        and declared.cells <= MOST_CELLS
        and len(declared.key) + len(declared.side) == declared.cells
    )


def bytes_of_edges(game: Any, tier: int) -> int:
    """Return about how many bytes the edges of a tier take, if men stand as if by chance."""
    declared, total = game.placements, 0.0
    sections = [section for section in declared.sections if section.tier == tier]
    for section, (_, slots) in zip(sections, game.parts(tier), strict=True):
        steps, men, cells = game.section_steps(section.men, section.number), sum(section.men), declared.cells
        # How likely it is that one cell is occupied and another is free.
        chance = men * (cells - men) / max(1, cells * (cells - 1))
        moves = chance * sum(reach.bit_count() for reach in steps.slides) + len(steps.pushes) * men / cells
        shapes = slots / comb(men, section.men[0])  # a shape has a slot for each colouring
        total += EDGE_BYTES * moves * shapes
    return int(total)


class After(NamedTuple):
    """The sections that a section leads to, each None if no such move exists.

    `moved`: after a man on the board moves and takes nothing; `taking`: after it moves and takes a man. `put` and
    `putting`: the same after a new man is put down.
    """

    moved: Section | None
    taking: Section | None
    put: Section | None
    putting: Section | None


def sections_after(game: Any, section: Section, steps: Steps) -> After:
    """Return the sections that a section leads to; raise NotShaped if one does not exist or has a lower tier.

    Only a man that moves and takes nothing may stay in the tier. The opponent moves next.
    """
    swap = bool(game.placements.swap)
    own, other = section.men[:: -1 if steps.kind else 1]  # `kind` is that of the mover's men
    moves = bool(own and (any(steps.slides) or steps.pushes))
    puts = bool(steps.drops or steps.pushes) and own + other < game.placements.cells
    sections = {(each.men, each.number): each for each in game.placements.sections}

    def find(possible: bool, movers: int, others: int, number: int) -> Section | None:
        """Return the section after a move of a player who then has *movers* men, and the opponent *others*.

        *number* is the extra after the move. Returns None if the move is not *possible*.
        """
        if not possible:
            return None
        # With swap, sections are as the player to move sees them: the opponent, who moves next, comes first. The lowest
        # bit of the extra is the turn: 1 after the move, 0 in sections.
        men = (others, movers) if swap or steps.kind else (movers, others)
        found: Section | None = sections.get((men, number - swap))
        if (swap and not number & 1) or found is None or found.tier < section.tier:
            raise NotShaped(
                f"section_steps({section.men}, {section.number}) lead to no section of that tier or a later one"
            )
        if game.section_steps(found.men, found.number).kind != (0 if swap else 1 - steps.kind):
            raise NotShaped(f"after section_steps({section.men}, {section.number}) it is not the opponent's turn")
        return found

    closes = bool(steps.mills) and other > 0 and own >= 2  # a mill has three men or more
    leaps = bool(steps.leaps) and other > 0 and own > 0
    after = After(
        find(moves, own, other, steps.slid),
        find(leaps, own, 0 if steps.clears else other - 1, steps.leapt)
        or find(moves and closes and own >= 3, own, other - 1, steps.slid),
        find(puts, own + 1, other, steps.put),
        find(puts and closes, own + 1, other - 1, steps.put),
    )
    if steps.clears and after.taking and not game.section_steps(after.taking.men, after.taking.number).lost:
        raise NotShaped("a leap takes all men of the opponent, who has not lost then")
    if any(later is not None and later.tier == section.tier for later in after[1:]):
        raise NotShaped("a move that changes how many men there are stays in the tier")
    return after


# Against the rules


def children_by_steps(game: Any, position: int, steps: Steps) -> set[int]:
    """Return the positions to which the steps of a section lead. With swap the first player is to move. Slow and
    obvious, for comparison with the rules."""
    cells = range(game.placements.cells)
    # The bits of the mover's men begin at `mine_from`, those of the opponent's at `theirs_from`.
    mine_from, theirs_from = steps.kind * len(cells), (1 - steps.kind) * len(cells)
    mine, theirs = ({cell for cell in cells if (position >> (cell + begin)) & 1} for begin in (mine_from, theirs_from))
    found = set()

    def add(own: set[int], others: set[int], number: int) -> None:
        """Add the position with these men and *number* as its extra."""
        found.add((as_bits(own) << mine_from) | (as_bits(others) << theirs_from) | (number << (2 * len(cells))))

    def add_with_mill(own: set[int], target: int, number: int) -> None:
        """Add the positions after a man joins *own* on *target*; if he closes a mill, a man of the opponent is
        taken."""
        own, bits = own | {target}, as_bits(own | {target})
        closes = any(mill >> target & 1 and mill & ~bits == 0 for mill in steps.mills)
        for taken in free_men(theirs, steps.mills) if closes and theirs else ():
            add(own, theirs - {taken}, number)
        if not (closes and theirs):
            add(own, theirs, number)

    for target in cells:
        if target not in mine | theirs:
            if steps.drops >> target & 1:
                add_with_mill(mine, target, steps.put)
            for source in mine if steps.slides else ():
                if steps.slides[source] >> target & 1:
                    add_with_mill(mine - {source}, target, steps.slid)
    for source, over, target in steps.leaps:
        if source in mine and over in theirs and target not in mine | theirs:
            add(mine - {source} | {target}, set() if steps.clears else theirs - {over}, steps.leapt)
    for source, target, goes in steps.pushes:
        if source not in theirs:
            own = {goes[cell] for cell in mine - {source}} | {target}
            add(own, {goes[cell] for cell in theirs}, steps.slid if source in mine else steps.put)
    return found


def free_men(men: set[int], mills: tuple[int, ...]) -> set[int]:
    """Return the men that are in no mill; all men if every man is in one."""
    bits = as_bits(men)
    free = {cell for cell in men if not any(mill >> cell & 1 and mill & ~bits == 0 for mill in mills)}
    return free or men


def steps_agree(game: Any, position: int, steps: Steps) -> bool:
    """Return whether steps agree with the rules at a position; with swap, the first player must be to move.

    If by the steps the game is over (a line is filled, the player has lost or cannot move), the values must be equal,
    else the children, and the position must be undecided.
    """
    cells = game.placements.cells
    board = (1 << cells) - 1
    by_kind = position & board, (position >> cells) & board
    # Whether the player to move fills a line, and whether the opponent does: the order of `Steps.ends`.
    filled = [any(men & line == line for line in steps.lines) for men in by_kind[:: -1 if steps.kind else 1]]
    children = children_by_steps(game, position, steps)
    value = game.primitive(position)
    if any(filled):
        return bool(value == steps.ends[2 if all(filled) else filled.index(True)])
    if steps.lost or not children:
        return bool(value == LOSE)
    return value == UNDECIDED and {game.do_move(position, move) for move in game.generate_moves(position)} == children
