"""Games of mills, such as men's morris: three in a row take a man of the opponent.

A game declares its board::

    class ThreeMensMorris(Mills):
        bits = to_move = "XO"
        men = 3
        board = grid(3, 3, {"X": "white disc", "O": "black disc"})
        lines = grid(3, 3).in_a_row(3)
        symmetries = grid(3, 3).symmetries

A line is a sequence of points; lines of three points are mills. All rules follow, as `morris.py` states them, and so do
placements, texts and `parents`. `men` and `flying` may be options, as in `men: int = 3`.

A position is a bit for each point with an X, then a bit for each point with an O. Above them are a bit for the player
to move, 0 for X, and above that *hands*: how many men both players together have in hand. A game that needs another
meaning of *hands*, or where men slide sooner, overrides the methods on men in hand, as `lasker.py` does. A move is
source, target and captured man; `cells` stands for the hand as a source, and for no capture.
"""

from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

from retrograde.games.contract.faults import are_points, no_number, no_truth, refuse
from retrograde.games.contract.game import LOSE, POSITION_BITS, UNDECIDED, RuleError
from retrograde.games.kinds.in_hand import InHand
from retrograde.games.kinds.placed import as_bits, placements
from retrograde.games.kinds.sections import reached, tiered
from retrograde.games.kinds.sliding import Sliding, joined
from retrograde.games.kinds.steps import Steps

SMALL = 16
"""On boards of up to this many points all positions with the same men in hand are one tier: there are few of them."""


class Mills(Sliding, InHand):
    """Base class for games that declare `lines` and `symmetries`; the rules follow."""

    men = 9
    """The number of men of each player."""
    flying = True

    lines: ClassVar[Any] = None
    symmetries: ClassVar[Any] = ()

    @cached_property
    def start(self):
        refuse(self._faults())
        return self.hands << 2 * self.cells + 1

    def _faults(self):
        """Yield what is wrong with the declaration."""
        yield from no_number("men", self.men, 3, self.cells // 2)
        yield from no_truth("flying", self.flying)
        for order in self.symmetries:
            if len(order) != self.cells:
                sizes = f"lines have points up to {self.cells - 1}, and a symmetry has {len(order)} points"
                yield f"{sizes}; both must be of one board, whose points are numbered from 0"

    # The board

    @cached_property
    def cells(self):
        """The number of points. Every point is on a line."""
        refuse(no_lines(self.lines))
        return 1 + max(map(max, self.lines))

    @cached_property
    def pairs(self):
        """Pairs of neighbouring points on a line, as a `Board` draws lines."""
        return tuple(sorted({pair for line in self.lines for pair in pairwise(line)}))

    @cached_property
    def beside(self):
        """For each point, its neighbours as bits."""
        return joined(self.cells, self.pairs)

    @cached_property
    def all_mills(self):
        """The mills, as bits."""
        return tuple(as_bits(line) for line in self.lines if len(line) == 3)

    @cached_property
    def mills(self):
        """For each point, the mills through it, padded with -1, which no men fill."""
        if not self.all_mills:
            raise RuleError(f"{type(self).__name__} has no line of three points, which would be a mill")
        at = [[mill for mill in self.all_mills if mill >> point & 1] for point in range(self.cells)]
        most = max(map(len, at))
        return tuple((*mills, *[-1] * (most - len(mills))) for mills in at)

    # Men in hand, and what may come about

    @property
    def hands(self):
        """The value of *hands* at the start."""
        return 2 * self.men

    def in_hand(self, hands):
        """Return how many men the player to move has in hand. If *hands* is odd, the opponent put down the last one."""
        return (hands + 1) // 2

    def hands_after(self, hands, put):
        """Return *hands* as the next player sees it, after a man was put down (*put*) or slid."""
        return hands - put

    def sources(self, mine, hand):
        """Return the points from which a man may move, as bits; bit `cells` is the hand."""
        return 1 << self.cells if hand else mine

    def phase(self, hands, mine, theirs):
        """Return a tuple that never falls along a move. Each different tuple is a tier."""
        if hands and self.cells <= SMALL:
            return (-hands,)
        # Only captures change the sum of the men. Between captures the counts change places, and the lesser one stays.
        return -hands, -mine - theirs, min(mine, theirs), mine * (hands > 0)

    def after(self, section):
        """Yield the sections after a move, as (*hands*, men of the player to move, men of the opponent)."""
        hands, mine, theirs = section
        hand = self.in_hand(hands)
        if mine + hand >= 3:
            men = (1 << mine) - 1
            sources = self.sources(men, hand)
            # A man slides (False) or is put down (True), and may close a mill if the player then has three.
            for put in [False] * (sources & men > 0) + [True] * (sources >> self.cells):
                for taken in range(1 + (mine + put >= 3 and theirs > 0)):
                    yield self.hands_after(hands, put), theirs - taken, mine + put

    def sections(self):
        """Return the sections that play reaches: (tier, (men of the player to move, men of the opponent), extra)."""
        found = reached((self.hands, 0, 0), self.after)
        return tiered((self.phase(*section), section[1:], 2 * section[0]) for section in found)

    @cached_property
    def placements(self):
        refuse(self._faults())
        return placements(self.cells, self.sections(), self.symmetries, swap=(1, 0))

    # The rules

    def generate_moves(self, position):
        """Yield `(source * (cells + 1) + target) * (cells + 1) + taken`; `cells` stands for the hand or no capture."""
        mine, theirs = self.sides(position)
        hand = self.in_hand(position >> 2 * self.cells + 1)
        sources = self.sources(mine, hand)
        while sources:
            source = self.first_of(sources)
            sources &= sources - 1
            left, targets = mine & ~(1 << source), ~(mine | theirs) & self.reach(mine, hand, source)
            while targets:
                target = self.first_of(targets)
                targets &= targets - 1
                move = (source * (self.cells + 1) + target) * (self.cells + 1)
                # A man that closes a mill takes another: one move for each man that may be taken.
                free = self.free_to_take(theirs) if self.closes(left, target) else 0
                if not free:
                    yield move + self.cells
                while free:
                    yield move + self.first_of(free)
                    free &= free - 1

    def do_move(self, position, move):
        """Return the position after a man is put down or moved, and perhaps another taken."""
        turn, hands = position >> 2 * self.cells & 1, position >> 2 * self.cells + 1
        mine, theirs = self.sides(position)
        source, target, taken = self.parts_of(move)
        # For the hand and for no capture, source and taken are `cells`, a bit that no man has.
        mine, theirs = mine & ~(1 << source) | 1 << target, theirs & ~(1 << taken)
        number = 2 * self.hands_after(hands, source == self.cells) + 1 - turn
        return number << 2 * self.cells | mine << turn * self.cells | theirs << (1 - turn) * self.cells

    def primitive(self, position):
        """Return LOSE if the player has fewer than three men or no move, else UNDECIDED."""
        mine, _ = self.sides(position)
        if mine.bit_count() + self.in_hand(position >> 2 * self.cells + 1) >= 3:
            for _ in self.generate_moves(position):
                return UNDECIDED
        return LOSE

    def slides(self, men, number):
        steps = Mills.section_steps(self, men, number)
        return [(0, steps.slid, steps.slides)] if steps.slides else []

    def section_steps(self, men, number):
        """Return the `Steps`: X's men slide as far as they may reach, unless one must be put down first or X has
        lost."""
        mine, hands = (1 << men[0]) - 1, number >> 1  # as many men as in the section; only their number matters
        hand = self.in_hand(hands)
        if men[0] + hand < 3:
            return Steps(lost=True)
        reach = tuple(self.reach(mine, hand, point) for point in range(self.cells))
        return Steps(
            slides=reach if self.sources(mine, hand) & mine else (),
            drops=(1 << self.cells) - 1 if hand else 0,
            slid=2 * self.hands_after(hands, False) + 1,
            put=2 * self.hands_after(hands, True) + 1,
            mills=self.all_mills,
        )

    def slid(self, position, point):
        """Return whether the man on a point, of the player who has just moved, has closed no mill. If it has, it also
        took a man, and did not only slide."""
        return not self.closes(self.sides(position)[1], point)

    def parts_of(self, move):
        """Return (source, target, taken) of a move."""
        return move // (self.cells + 1) ** 2, move // (self.cells + 1) % (self.cells + 1), move % (self.cells + 1)

    def reach(self, men, hand, point):
        """Return the points, as bits, that a man may go to from a point or from the hand, occupied or not. *men* are
        those of the player on the board, *hand* is how many are in hand."""
        flies = point == self.cells or (self.flying and men.bit_count() + hand == 3)
        return (1 << self.cells) - 1 if flies else self.beside[point]

    def closes(self, men, point):
        """Return whether a man on a point is in a mill with other men."""
        closed = False
        for mill in self.mills[point]:
            closed |= (men | 1 << point) & mill == mill
        return closed

    def free_to_take(self, men):
        """Return the men, as bits, that are in no mill; all men if every man is in one."""
        free = men
        for mill in self.all_mills:
            if men & mill == mill:
                free &= ~mill
        return free if free else men

    def first_of(self, men):
        """Return the first of some points, given as bits."""
        return (men & -men).bit_length() - 1

    # Hints

    feature_weights = (100, 20, 10, 5)

    def features(self, position):
        """Return the leads in men on the board, mills, mills that lack one man, and free points beside men."""
        mine, theirs = self.sides(position)
        closed = nearly = moves = 0
        for mill in self.all_mills:
            own, other = (mine & mill).bit_count(), (theirs & mill).bit_count()
            closed += (own == 3) - (other == 3)
            nearly += (own == 2 and not other) - (other == 2 and not own)
        for point in range(self.cells):
            if (mine | theirs) >> point & 1:
                free = (self.beside[point] & ~(mine | theirs)).bit_count()
                moves += free if mine >> point & 1 else -free
        return mine.bit_count() - theirs.bit_count(), closed, nearly, moves

    # For people

    def draw_move(self, position, move):
        return tuple(point for point in self.parts_of(move) if point < self.cells)

    def move_name(self, position, move):
        """Return the points of a move, and a captured man behind an x: `a1-c1xe5`."""
        source, target, taken = (self.board.names[point] if point < self.cells else "" for point in self.parts_of(move))
        return "-".join(filter(None, (source, target))) + (taken and f"x{taken}")

    def ending(self, position):
        return "two men are left" if self.sides(position)[0].bit_count() < 3 else "no man can move"


def no_lines(lines):
    """Yield complaints if *lines* is not a tuple of lines, each a sequence of points."""
    if not isinstance(lines, tuple | list) or not lines:
        yield f"lines is {lines!r}; it must be a tuple of lines, each a tuple of points, as ((0, 1, 2), (3, 4, 5))"
    most = POSITION_BITS // 2
    for line in lines:
        if not are_points(line, most) or len(line) < 2:
            yield f"lines has {line!r}; a line is a tuple of two points or more, from 0 to {most - 1}, each once"
