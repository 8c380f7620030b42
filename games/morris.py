"""Men's morris: put men on the points of a board, then slide them along its lines; three in a line are a mill.

    a1 ------- c1 ------- e1    four to six men: two squares, one in the other; nine to eleven: three. Three men: one
     |    b2 - c2 - d2    |     square, with a point in its middle, and lines from there to all others. Mills are the
    a3 - b3         d3 - e3     sides of squares, and of three squares the lines across; of one all lines.
     |    b4 - c4 - d4    |
    a5 ------- c5 ------- e5

A position is a bit for each point with an X, row by row from the top, then one for each with an O; above them a bit for
who is to move, 0 for X, and above that how many men are in hand. X begins, and men are put down by turns until none is
in hand; then they slide to a point beside, or, if *flying*, those of who has three left go to any empty one. Who closes
a mill takes a man of the other's, one in no mill if there is any. Who has two men, those in hand counted, or cannot
move, has lost. (R. Gasser, "Solving Nine Men's Morris", Games of No Chance, 1996.)
"""

from functools import cached_property
from itertools import pairwise

from retrograde.games.drawing import Board
from retrograde.games.game import LOSE, UNDECIDED
from retrograde.games.in_hand import InHand
from retrograde.games.placed import as_bits, placements
from retrograde.games.sliding import Sliding, joined


class Morris(Sliding, InHand):
    """Close mills, and take the other's men until there are two."""

    title = "Men's morris"
    words = {"X": "White", "O": "Black"}
    example = "3"
    bits = to_move = "XO"

    men: int = 9
    flying: bool = True

    def __post_init__(self):
        if self.men not in (3, 4, 5, 6, 9, 10, 11):
            raise ValueError("each player has three to six men, or nine to eleven")

    @property
    def start(self):
        return 4 * self.men << 2 * self.cells

    # The board

    @property
    def squares(self):
        return 1 if self.men == 3 else 2 if self.men <= 6 else 3

    @cached_property
    def ways(self):
        """The lines of the board, as points one after another: how far right and down from the middle."""
        rings, sides, across = range(1, self.squares + 1), (-1, 1), (-1, 0, 1)
        lines = [[(ring * at, ring * side) for at in across] for ring in rings for side in sides]
        if self.squares == 1:
            lines += [[(at, 0) for at in across], *([(at, at * side) for at in across] for side in sides)]
        else:
            lines += [[(0, ring * side) for ring in rings] for side in sides]
        return lines + [[(y, x) for x, y in line] for line in lines]

    @cached_property
    def points(self):
        """All points, row by row from the top left."""
        return tuple(sorted({point for way in self.ways for point in way}, key=lambda point: point[::-1]))

    @property
    def cells(self):
        return len(self.points)

    @cached_property
    def lines(self):
        """The lines as numbers of points."""
        return tuple({tuple(sorted(map(self.points.index, way))): 0 for way in self.ways})

    @cached_property
    def all_mills(self):
        """The mills, as bits."""
        return tuple(as_bits(line) for line in self.lines if len(line) == 3)

    @cached_property
    def mills(self):
        """For each point, the mills that it is part of, each row as long as the longest."""
        at = [[mill for mill in self.all_mills if mill >> point & 1] for point in range(self.cells)]
        return tuple(tuple((4 * mills)[: max(map(len, at))]) for mills in at)

    @cached_property
    def beside(self):
        """For each point, those beside it, as bits."""
        return joined(self.cells, (pair for line in self.lines for pair in pairwise(line)))

    @cached_property
    def placements(self):
        """By men in hand, then by men on the board; a mirror, a turn, and what is within turned out."""
        mirrored = [(-x, y) for x, y in self.points]
        turned = [(y, x) for x, y in self.points]
        rings = [max(abs(x), abs(y), 1) for x, y in self.points]
        wider = [self.squares + 1 - ring for ring in rings]
        out = [(x // ring * by, y // ring * by) for (x, y), ring, by in zip(self.points, rings, wider, strict=True)]
        symmetries = [[self.points.index(point) for point in points] for points in (mirrored, turned, out)]
        return placements(self.cells, self.sections(), symmetries, swap=(1, 0))

    def sections(self):
        """Return tiers, men of both players, first of the one to move, and what is above: all that may come about.

        While men are in hand each is a tier on three squares, where many may stand; then moves exchange both numbers.
        """
        found = {(2 * self.men, 0, 0)}
        left = list(found)
        while left:
            hand, mine, theirs = left.pop()
            if mine + (hand + 1) // 2 >= 3:
                after = mine + (hand > 0)
                new = {(max(0, hand - 1), theirs - taken, after) for taken in range(1 + (after >= 3 and theirs > 0))}
                left += new - found
                found |= new
        order = {men: (-men[0], -sum(men), min(men[1:]), men[1] * (men[0] > 0)) for men in found}
        if self.squares < 3:
            order |= {men: (-men[0], 0, 0, 0) for men in found if men[0]}
        tiers = {key: tier for tier, key in enumerate(sorted(set(order.values())))}
        return [(tiers[order[men]], men[1:], 2 * men[0]) for men in found]

    # The rules: a move is whence, whither and what is taken, with `cells` for the hand and for nothing

    def generate_moves(self, position):
        mine, theirs = self.sides(position)
        hand = self.in_hand(position >> 2 * self.cells + 1)
        sources = self.sources(mine, hand)
        while sources:
            source = first_of(sources)
            sources &= sources - 1
            left, targets = mine & ~(1 << source), ~(mine | theirs) & self.reach(mine, hand, source)
            while targets:
                target = first_of(targets)
                targets &= targets - 1
                move = (source * (self.cells + 1) + target) * (self.cells + 1)
                free = self.free_to_take(theirs) if self.closes(left, target) else 0
                if not free:
                    yield move + self.cells
                while free:
                    yield move + first_of(free)
                    free &= free - 1

    def do_move(self, position, move):
        turn, hands = position >> 2 * self.cells & 1, position >> 2 * self.cells + 1
        mine, theirs = self.sides(position)
        source, target, taken = self.parts_of(move)
        mine, theirs = mine & ~(1 << source) | 1 << target, theirs & ~(1 << taken)
        number = 2 * self.hands_after(hands, source == self.cells) + 1 - turn
        return number << 2 * self.cells | mine << turn * self.cells | theirs << (1 - turn) * self.cells

    def primitive(self, position):
        mine, _ = self.sides(position)
        if mine.bit_count() + self.in_hand(position >> 2 * self.cells + 1) >= 3:
            for _ in self.generate_moves(position):
                return UNDECIDED
        return LOSE

    def slides(self, men, number):
        """A man of X, unless one must be put down, goes where he may; who has lost moves none."""
        mine, hands = (1 << men[0]) - 1, number >> 1
        hand = self.in_hand(hands)
        reach = tuple(self.reach(mine, hand, point) for point in range(self.cells))
        slide = self.sources(mine, hand) & mine and men[0] + hand >= 3
        return [(0, 2 * self.hands_after(hands, False) + 1, reach)] if slide else []

    def slid(self, position, point):
        """Tell whether a man has closed no mill: else it has taken another."""
        return not self.closes(self.sides(position)[1], point)

    def in_hand(self, hands):
        """Return how many men the player to move has in hand, from what a position says of both."""
        return (hands + 1) // 2

    def hands_after(self, hands, put):
        """Return what the next position says of men in hand, after one is put down or slid."""
        return hands - put

    def sources(self, mine, hand):
        """Return the points from which a man may come, as bits, `cells` for the hand."""
        return 1 << self.cells if hand else mine

    def parts_of(self, move):
        return move // (self.cells + 1) ** 2, move // (self.cells + 1) % (self.cells + 1), move % (self.cells + 1)

    def reach(self, men, hand, point):
        """Return where a man may go from a point, or from the hand, empty or not."""
        flies = point == self.cells or (self.flying and men.bit_count() + hand == 3)
        return (1 << self.cells) - 1 if flies else self.beside[point]

    def closes(self, men, point):
        """Tell whether a man on a point is in a mill with others."""
        closed = False
        for mill in self.mills[point]:
            closed |= (men | 1 << point) & mill == mill
        return closed

    def free_to_take(self, men):
        """Return the men in no mill; all where there are none."""
        free = men
        for mill in self.all_mills:
            if men & mill == mill:
                free &= ~mill
        return free if free else men

    # For people

    @cached_property
    def board(self):
        pairs = {pair for line in self.lines for pair in pairwise(line)}
        names = tuple(f"{'abcdefg'[x + self.squares]}{y + self.squares + 1}" for x, y in self.points)
        return Board(self.points, names, {"X": "white disc", "O": "black disc"}, lines=tuple(sorted(pairs)))

    def draw_move(self, position, move):
        return tuple(point for point in self.parts_of(move) if point < self.cells)

    def move_name(self, position, move):
        """Name a move by points, and a man that is taken behind an x, as in `a1-c1xe5`."""
        source, target, taken = (self.board.names[point] if point < self.cells else "" for point in self.parts_of(move))
        return "-".join(filter(None, (source, target))) + (taken and f"x{taken}")

    def ending(self, position):
        return "two men are left" if self.sides(position)[0].bit_count() < 3 else "no man can move"


def first_of(men):
    """Return the first of some points, given as bits."""
    return (men & -men).bit_length() - 1
