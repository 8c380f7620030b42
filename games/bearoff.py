"""Bearing off in backgammon: how many rolls it takes to take all men off, or which side is first.

All men stand on the points before the exit. A die moves a man that many points, or takes a man off from the point of
its number. A greater number takes a man off from the highest occupied point. Both dice are used, doubles four times, in
any order.

With one side, each roll pays -1, so the expectation is minus the expected number of rolls: 12.266 for 15 men on the six
point. Every way to place up to that many men is a position; for 15 men on 6 points there are 54,264, the empty board
included. With two `sides`, which take turns, the first to take all men off gets 1. Every way to place the men of both
has a slot, with side 0 to roll: 923 × 923 slots for six men on six points::

    | side 1 bit | die or pair of dice in hand 6 | how many more 3 | men on each point, 4 bits: of side 1, of side 0 |

Without dice in hand it is CHANCE's turn. Pairs are numbered 1 to 21, single dice 22 to 27.
"""

from collections import Counter
from functools import cached_property
from itertools import accumulate, chain, combinations_with_replacement

from retrograde.games.contract.game import CHANCE, UNDECIDED, WIN, Game

PAIRS = tuple((high, low) for high in range(1, 7) for low in range(1, high + 1))
SINGLE = len(PAIRS)
MEN = {
    sign: f"{colour} disc {number}"
    for colour, signs in (("wheat", "abcdefghijklmno"), ("lightsteelblue", "ABCDEFGHIJKLMNO"))
    for number, sign in enumerate(signs, 1)
}
"""The looks of men on a point by their signs: one to fifteen men of side 0, then of side 1."""


class Bearoff(Game):
    """Take all men off in as few rolls as possible, or before the other side does."""

    title = "Bear-off"
    metric = "expectation"
    example = "3,3"

    men: int = 15
    points: int = 6
    sides: int = 1

    def __post_init__(self):
        if not 1 <= self.men <= 15:
            raise ValueError("men must be from 1 to 15")
        if not 1 <= self.points <= 6:
            raise ValueError("points must be from 1 to 6")
        if self.sides not in (1, 2):
            raise ValueError("sides must be 1 or 2")
        if self.width > 52:
            raise ValueError("two sides have room on 6 points at most")

    @property
    def players(self):
        return self.sides

    @property
    def board(self):
        return 4 * self.points

    @property
    def width(self):
        return self.board * self.sides

    @property
    def start(self):
        """All men are on the last point."""
        one = self.men << (self.board - 4)
        return one | (one << self.board) if self.sides == 2 else one

    @cached_property
    def starts(self):
        """The start. With one side, also all other ways to place up to that many men, even if play does not lead
        there."""
        if self.sides == 2:
            return (self.start,)
        placed = combinations_with_replacement(range(self.points + 1), self.men)  # on point 0 a man is off
        boards = {sum(1 << (4 * point - 4) for point in men if point) for men in placed}
        return (self.start, *sorted(boards - {0, self.start}))

    @cached_property
    def pairs(self):
        return PAIRS

    def side(self, position):
        return position >> (self.width + 9)

    def hand(self, position):
        return (position >> (self.width + 3)) & 63

    def own(self, position):
        """Return the men of the side to move."""
        return (position >> (self.board * self.side(position))) & ((1 << self.board) - 1)

    def turn(self, position):
        """Return CHANCE if the dice are to be rolled, else the number of the player."""
        if self.primitive(position) != UNDECIDED:
            return self.side(position)
        return self.side(position) if self.hand(position) else CHANCE

    def primitive(self, position):
        return UNDECIDED if self.own(position) else WIN

    def payoff(self, position, player):
        return 1 if self.sides == 2 and player == self.side(position) else 0

    # The rules: a chance move is a pair, from 0; a player's move is 8 × point + die

    def generate_moves(self, position):
        """Yield the number of each roll, or `8 * point + die` for each man that a die in hand can move."""
        hand = self.hand(position)
        if hand == 0:
            yield from range(SINGLE)
        elif hand > SINGLE:
            yield from self.moves_by(position, hand - SINGLE)
        else:
            high, low = self.pairs[hand - 1]
            yield from self.moves_by(position, high)
            if low != high:
                yield from self.moves_by(position, low)

    def moves_by(self, position, die):
        """Yield `8 * point + die` for each point whose men this die can move: those on the highest point even if the
        die is greater."""
        men = self.own(position)
        highest = 0
        for point in range(1, self.points + 1):
            if (men >> (4 * point - 4)) & 15:
                highest = point
                if point >= die:
                    yield 8 * point + die
        if highest < die:
            yield 8 * highest + die

    def odds(self, position, pair):
        return 1 if self.pairs[pair][0] == self.pairs[pair][1] else 2

    def do_move(self, position, move):
        """Return the position after a roll (its number), or after a move `8 * point + die`."""
        unit = 1 << self.width  # one in the field "how many more"; 8 units are one in the number of the dice above it
        hand = self.hand(position)
        if hand == 0:
            more = 3 if self.pairs[move][0] == self.pairs[move][1] else 0
            return position + (8 * (move + 1) + more) * unit
        point, die = move >> 3, move & 7
        shift = self.board * self.side(position)
        position -= 1 << (shift + 4 * point - 4)
        if point > die:
            position += 1 << (shift + 4 * (point - die) - 4)
        if self.own(position) == 0:  # 511: the nine bits of the dice in hand and of how many more
            return position & ~(511 * unit)
        if hand > SINGLE:
            return self.pass_on(position)
        high, low = self.pairs[hand - 1]
        if high != low:  # the other die stays in hand
            return position + 8 * (SINGLE + high + low - die - hand) * unit
        # A double: one die less. With one more left, it becomes a single die in hand.
        more = (position // unit) & 7
        return position - unit if more > 1 else position + (8 * (SINGLE + high - hand) - 1) * unit

    def pass_on(self, position):
        """Return the position with no dice in hand, and the other side to roll."""
        position &= ~(511 << self.width)
        return position ^ (512 << self.width) if self.sides == 2 else position

    def reward(self, position, move, player):
        return -1 if self.sides == 1 and self.hand(position) == 0 else 0

    def tier(self, position):
        """Return twice the pips already played, plus 1 if there are dice in hand."""
        left = 0
        for place in range(self.points * self.sides):
            left += ((position >> (4 * place)) & 15) * (place % self.points + 1)
        return 2 * (self.men * self.points * self.sides - left) + (1 if self.hand(position) else 0)

    # The numbering of two sides has the positions before a roll of side 0. In a tier, those with fewer pips of side 0
    # come first.

    def swapped(self, position):
        """Return the position with the two sides exchanged; -1 if there is only one side."""
        if self.sides == 1:
            return -1
        first, second = position & ((1 << self.board) - 1), (position >> self.board) & ((1 << self.board) - 1)
        return (((position >> self.width) ^ 512) << self.width) | (first << self.board) | second

    @property
    def most_pips(self):
        return self.men * self.points

    @property
    def tiers(self):
        """All tiers before a roll in which both sides have a pip left; none with one side: `starts` lists its
        positions."""
        return tuple(range(0, 4 * self.most_pips - 2, 2)) if self.sides == 2 else ()

    def size(self, tier):
        return self.slots_before[self.row(tier) + self.most_pips + 1]

    def index(self, position):
        """Return a position's slot in its tier; -1 if it has none: dice are rolled, or a side has finished."""
        if self.sides == 1:
            return -1
        first = self.numbers.get(position & ((1 << self.board) - 1), -1)
        second = self.numbers.get(position >> self.board, -1)
        if first < 0 or second < 0:
            return -1
        own, other = self.pips[first], self.pips[second]
        slot = self.slots_before[self.row(self.tier(position)) + own]
        return slot + (first - self.begins[own]) * self.ways[other] + second - self.begins[other]

    def unindex(self, tier, i):
        """Return the position of slot i of a tier."""
        row, own = self.row(tier), 0
        while self.slots_before[row + own + 1] <= i:
            own += 1
        i -= self.slots_before[row + own]
        other = 2 * self.most_pips - tier // 2 - own
        first, second = self.begins[own] + i // self.ways[other], self.begins[other] + i % self.ways[other]
        return (self.placed[second] << self.board) | self.placed[first]

    def row(self, tier):
        """Return where the row of a tier begins in `slots_before`."""
        return tier // 2 * (self.most_pips + 2)

    @cached_property
    def placed(self):
        """All ways to place a side's men, but for all off, those with fewer pips first."""
        return tuple(sorted(Bearoff(self.men, self.points).starts, key=lambda men: (pips_of(men), men)))

    @cached_property
    def numbers(self):
        """The index in `placed` of each way."""
        return {men: number for number, men in enumerate(self.placed)}

    @cached_property
    def pips(self):
        """The pips of each way."""
        return tuple(map(pips_of, self.placed))

    @cached_property
    def ways(self):
        """How many ways have 0, 1, 2 … pips."""
        return tuple(map(self.pips.count, range(self.most_pips + 1)))

    @cached_property
    def begins(self):
        """The index of the first way with 0, 1, 2 … pips."""
        return tuple(accumulate(self.ways, initial=0))

    @cached_property
    def slots_before(self):
        """A row for each tier: how many slots have fewer than 0, 1, 2 … pips of side 0."""
        ways, most = Counter(self.pips), self.most_pips
        rows = ([ways[own] * ways[both - own] for own in range(most + 1)] for both in range(2 * most, 1, -1))
        return tuple(chain.from_iterable(accumulate(row, initial=0) for row in rows))

    # For people

    def variant_title(self):
        return f"Bear-off of {self.men} men on {self.points} points{' by two sides' * (self.sides == 2)}"

    def write(self, position):
        """Return the men on each point from the first, for each side, and the dice in hand: `0.0.15`, `0.0.15 5+3`."""
        boards = [
            ".".join(str((position >> (self.board * side + 4 * place)) & 15) for place in range(self.points))
            for side in range(self.sides)
        ]
        dice = self.dice(position)
        mover = [str(self.side(position))] if self.sides == 2 else []
        return " ".join(["/".join(boards), *mover, *(["+".join(map(str, dice))] if dice else [])])

    def dice(self, position):
        """Return the dice in hand, the greater first."""
        hand = self.hand(position)
        if hand == 0:
            return ()
        if hand > SINGLE:
            return (hand - SINGLE,)
        high, low = PAIRS[hand - 1]
        return (high, low) if high != low else (high,) * (((position >> self.width) & 7) + 1)

    def read(self, text):
        """Return the position of a text as `write` gives it; raise ValueError if there is none."""
        boards, *rest = text.split()
        mover = rest.pop(0) if self.sides == 2 and rest else "0"
        points = [board.split(".") for board in boards.split("/")]
        numbers = [number for board in points for number in board]
        if len(points) != self.sides or {len(board) for board in points} != {self.points} or len(rest) > 1:
            raise ValueError("a position is the men on each point from the first, as in 0.2.1, and dice, as in 5+3")
        if not all(number.isdecimal() and int(number) <= self.men for number in numbers) or mover not in ("0", "1"):
            raise ValueError(f"on a point there are from 0 to {self.men} men")
        if any(sum(map(int, board)) > self.men for board in points):
            raise ValueError(f"a side has {self.men} men")
        position = sum(int(number) << (4 * place) for place, number in enumerate(numbers))
        position |= int(mover) << (self.width + 9)
        return position | (self.read_dice(rest[0]) << self.width) if rest else position

    def read_dice(self, text):
        """Return the part of a position that holds the dice of a text such as `5+3`."""
        dice = sorted(map(int, text.split("+")), reverse=True) if text.replace("+", "").isdecimal() else []
        if not dice or len(dice) > 4 or not {*dice} <= {*range(1, 7)} or (len(dice) > 2 and len({*dice}) > 1):
            raise ValueError(f"{text!r} are no dice; they are written as 5+3, or 2+2+2+2")
        if len(dice) == 1:
            return 8 * (SINGLE + dice[0])
        if dice[0] == dice[1]:
            return 8 * (PAIRS.index((dice[0], dice[0])) + 1) + len(dice) - 1
        return 8 * (PAIRS.index((dice[0], dice[1])) + 1)

    def show(self, position):
        dice = self.dice(position)
        boards = self.write(position).split()[0].split("/")
        lines = [f"side {side}: {board.replace('.', ' ')}" for side, board in enumerate(boards)]
        return "\n".join([*lines, f"dice {' '.join(map(str, dice))}" if dice else "the dice are rolled"])

    def move_name(self, position, move):
        if not self.hand(position):
            return f"{PAIRS[move][0]}+{PAIRS[move][1]}"
        point, die = move >> 3, move & 7
        return f"{point}-{point - die if point > die else 'off'}{f'-by-{die}' * (point < die)}"

    def draw_board(self):
        """Return a row of points for each side, with the men off at the right, and below them the dice."""
        from retrograde.games.contract.drawing import Board

        rows = [
            (float(x), float(side), f"{self.points - x or 'off'}{' of second' * side}")
            for side in range(self.sides) for x in range(self.points + 1)
        ]  # fmt: skip
        dice = [(float(x), self.sides + 0.5, f"die {x + 1}") for x in range(4)]
        xs, ys, names = zip(*rows, *dice, strict=True)
        pieces = {**MEN, **{str(face): str(face) for face in range(1, 7)}}
        labels = tuple((float(x), -0.75, str(self.points - x or "off")) for x in range(self.points + 1))
        labels += ((-1.2, 0.0, "First"), (-1.2, 1.0, "Second")) if self.sides == 2 else ()
        return Board(tuple(zip(xs, ys, strict=True)), names, pieces, len(names), labels=labels)

    def draw_pieces(self, position):
        """Return a sign for each place: for each side its points and the men off, then four places for dice."""
        signs = [*MEN]
        text = ""
        for side in range(self.sides):
            board = [(position >> (self.board * side + 4 * place)) & 15 for place in range(self.points)]
            row = [self.men - sum(board), *board][::-1]
            text += "".join(signs[number - 1 + 15 * side] if number else "." for number in row)
        return text + "".join(map(str, self.dice(position))).ljust(4, ".")

    def draw_move(self, position, move):
        if not self.hand(position):
            return ()
        point, die = move >> 3, move & 7
        first = (self.points + 1) * self.side(position) + self.points
        return first - point, first - max(point - die, 0)


def pips_of(men):
    """Return how many points the men of a side must move to be off."""
    return sum(((men >> (4 * place)) & 15) * (place + 1) for place in range(6))
