"""Hypergammon: backgammon with three men a side, without the doubling cube.

All rules are those of backgammon. A player rolls two dice and moves a man down for each, four times for a double. Men
hit single men of the opponent, which must enter again from the bar. A player with all men in the home board bears them
off. Both dice must be used if possible, or else the higher one. The winner gets 1 point, or 2 (a gammon) if the loser
has borne off no man, or 3 (a backgammon) if one of the loser's men is then still on the bar or in the winner's home
board.

Player 0 has won the opening roll, which is no double. With `points` fewer than 24, the home board is a quarter of the
board, and dice have as many faces as it has points. A position is::

    | player 1 bit | roll 5 | men of player 1, 5 bits each | men of player 0 |

A man is the number of its point, counted by its owner from the end: 0 is off, and the bar is one more than all points.
The men of a player are in order, the man nearest to the end in the lowest bits. The roll is 0 before the roll, else the
number of a pair of dice from 1, or OPENING. In the rules, a *board* is the men of the player to move in the lower bits,
and those of the opponent above.
"""

from bisect import bisect
from collections import Counter
from functools import cached_property
from itertools import accumulate, combinations_with_replacement, groupby

from retrograde.games.contract.drawing import Board
from retrograde.games.contract.game import CHANCE, UNDECIDED, WIN, Game

OPENING = 31
"""In place of a roll: the opening roll is to come, which is no double."""
PASS = 0
"""The move that uses no die."""
SIGNS = "XYZ", "OPQ"
"""The signs of one, two and three men on a point, for each player."""


class Hypergammon(Game):
    """Bring three men home and off before the opponent does, with two dice."""

    title = "Hypergammon"
    metric = "expectation"
    example = "1,8"

    men: int = 3
    points: int = 24

    def __post_init__(self):
        if not 1 <= self.men <= 3:
            raise ValueError("men must be from 1 to 3")
        if self.points not in (8, 12, 16, 20, 24):
            raise ValueError("points must be 8, 12, 16, 20 or 24")

    @property
    def home(self):
        """The points of the home board, and the faces of a die."""
        return self.points // 4

    @property
    def bar(self):
        """The number of the bar, one more than all points."""
        return self.points + 1

    @property
    def width(self):
        """The bits of a player's men; `one_side` is their mask."""
        return 5 * self.men

    @property
    def one_side(self):
        return (1 << self.width) - 1

    @property
    def start(self):
        """One man on each of the furthest points."""
        men = sum((self.points - number) << (self.width - 5 * (number + 1)) for number in range(self.men))
        return (((OPENING << self.width) | men) << self.width) | men

    @cached_property
    def pairs(self):
        """All pairs of dice, the higher one first: (1, 1), (2, 1), (2, 2) and so on."""
        return tuple((high, low) for high in range(1, self.home + 1) for low in range(1, high + 1))

    # What a position says

    def player(self, position):
        return position >> (2 * self.width + 5)

    def roll(self, position):
        return (position >> (2 * self.width)) & 31

    def men_of(self, position, player):
        return (position >> (self.width * player)) & self.one_side

    def board_of(self, position):
        """Return the men of the player to move in the lower bits, and the opponent's above."""
        own, other = self.men_of(position, self.player(position)), self.men_of(position, 1 - self.player(position))
        return (other << self.width) | own

    # The rules

    def turn(self, position):
        """Return CHANCE if the dice are to be rolled, else the number of the player."""
        if self.roll(position) in (0, OPENING) and self.primitive(position) == UNDECIDED:
            return CHANCE
        return self.player(position)

    def primitive(self, position):
        return UNDECIDED if self.men_of(position, self.player(position)) else WIN

    def payoff(self, position, player):
        """Return what the winner gets: the player of the position has borne off all men."""
        if player != self.player(position):
            return 0
        other = self.men_of(position, 1 - player)
        if (other & 31) == 0:  # a man is off
            return 1
        # The furthest man, in the highest bits, is on the bar or in the winner's home board.
        return 3 if (other >> (self.width - 5)) > self.points - self.home else 2

    def odds(self, position, pair):
        return 1 if self.pairs[pair][0] == self.pairs[pair][1] else 2

    def generate_moves(self, position):
        """Yield the numbers of rolls, or of plays, which use as many dice as possible."""
        roll = self.roll(position)
        if roll in (0, OPENING):
            for pair in range(len(self.pairs)):
                if roll == 0 or self.pairs[pair][0] != self.pairs[pair][1]:
                    yield pair
        else:
            board, (high, low) = self.board_of(position), self.pairs[roll - 1]
            count, order, end = self.dice_to_use(board, high, low)  # order 0: the higher die is used first
            if count == 0:
                yield PASS
            while order < end:
                first, second = (low, high) if order else (high, low)
                play = self.next_play(board, first, second, count, 0)
                while play >= 0:
                    if high == low or count == 1 or not self.is_repeated(board, high, low, order, play):
                        yield ((2 * count + order) << 7) | play
                    play = self.next_play(board, first, second, count, play + 1)
                order += 1

    def do_move(self, position, move):
        """Return the position after a roll, an index of `pairs`, or a play: 128 × (2 × count of dice + order) + play.

        Order 1 uses the lower die first; `after_play` explains the digits of a play.
        """
        roll, shift = self.roll(position), 2 * self.width
        # A roll: write its number, counted from 1, above the men of both players. Before, 0 or OPENING is there.
        if roll in (0, OPENING):
            return position + ((move + 1 - roll) << shift)
        player, board = self.player(position), self.board_of(position)
        if move != PASS:
            high, low = self.pairs[roll - 1]
            first, second = (low, high) if (move >> 7) & 1 else (high, low)
            board = self.after_play(board, first, second, move >> 8, move & 127)
        # A play: the other player rolls next, unless the player has borne off all men and the game is over. The roll,
        # 5 bits between the men and the player, is 0 again.
        own, other = board & self.one_side, board >> self.width
        men = (own << self.width) | other if player else (other << self.width) | own
        return ((player if own == 0 else 1 - player) << (shift + 5)) | men

    def dice_to_use(self, board, high, low):
        """Return (how many dice a play must use, the first order, the end of the orders: one more than the last).

        Order 0 uses the higher die first, order 1 the lower.
        """
        if high == low:
            count = 0
            play = self.next_play(board, high, high, 1, 0)
            while play >= 0 and count < 4:
                board = self.after_play(board, high, high, 1, play)
                count += 1
                play = self.next_play(board, high, high, 1, 0)
            return count, 0, min(count, 1)
        if self.next_play(board, high, low, 2, 0) >= 0 or self.next_play(board, low, high, 2, 0) >= 0:
            return 2, 0, 2
        if self.next_play(board, high, low, 1, 0) >= 0:
            return 1, 0, 1
        if self.next_play(board, low, high, 1, 0) >= 0:
            return 1, 1, 2
        return 0, 0, 0

    def next_play(self, board, first, second, count, play):
        """Return the least number of a legal play from *play* on, -1 if there is none."""
        end = self.men**count
        while play < end:
            reached = self.after_play(board, first, second, count, play)
            if reached >= 0:
                return play
            play += -reached - play % -reached  # skip all plays that begin with the same illegal step
        return -1

    def after_play(self, board, first, second, count, play):
        """Return the board after *count* steps, or minus how many plays share the first illegal step.

        The digits of *play*, to the base of the number of men, are the men that step; the most significant digit is the
        first step. Digits after the last man is off must be 0. The steps of a double must begin with the furthest man,
        so that only one play leads to each result.
        """
        unit, last = self.men**count, self.points + 1
        for number in range(count):
            if (board & self.one_side) == 0:
                return board if play % unit == 0 else -unit
            unit //= self.men
            man = play // unit % self.men
            point = (board >> (5 * man)) & 31
            board = self.after_step(board, man, first if number == 0 else second)
            if board < 0 or (first == second and point > last):
                return -unit
            last = point
        return board

    def after_step(self, board, man, die):
        """Return the board after a step of a man, or -1 if it is illegal. Of men on a point, the lowest one steps. Men
        on the bar come first."""
        point, furthest = (board >> (5 * man)) & 31, (board >> (self.width - 5)) & 31
        if point == 0 or (man and ((board >> (5 * man - 5)) & 31) == point) or (furthest == self.bar != point):
            return -1
        target, own, other = point - die, board & self.one_side, board >> self.width
        # Case: bear off. A die that is too high takes off only the furthest man.
        if target <= 0:
            if furthest > self.home or (target < 0 and point < furthest):
                return -1
            return (other << self.width) | self.moved(own, man, 0)
        # Case: go to a point, unless two men of the opponent stand there. A single one is hit.
        hit = -1
        for number in range(self.men):  # the opponent counts points from the other end
            if ((other >> (5 * number)) & 31) == self.bar - target:
                if hit >= 0:
                    return -1
                hit = number
        if hit >= 0:
            other = self.moved(other, hit, self.bar)
        return (other << self.width) | self.moved(own, man, target)

    def moved(self, men, man, target):
        """Return the men of a player with man number *man* on point *target*, in order again."""
        rest = ((men >> (5 * man + 5)) << (5 * man)) | (men & ((1 << (5 * man)) - 1))
        at = 0
        while at < self.width - 5 and ((rest >> at) & 31) < target:
            at += 5
        return ((rest >> at) << (at + 5)) | (target << at) | (rest & ((1 << at) - 1))

    def is_repeated(self, board, high, low, order, play):
        """Return whether a play of both (different) dice that comes earlier, by order and then by number, reaches the
        same board. *order* is 0 if the higher die is played first, else 1; *play* is the number of the play."""
        first, second = (low, high) if order else (high, low)
        reached = self.after_play(board, first, second, 2, play)
        for number in range(order + 1):
            first, second = (low, high) if number else (high, low)
            other = self.next_play(board, first, second, 2, 0)
            while other >= 0 and (number < order or other < play):
                if self.after_play(board, first, second, 2, other) == reached:
                    return True
                other = self.next_play(board, first, second, 2, other + 1)
        return False

    def tier(self, position):
        """Return 4 × how many men are off + how many the player with fewer men left has borne off."""
        first, second = self.left(self.men_of(position, 0)), self.left(self.men_of(position, 1))
        return 4 * (2 * self.men - first - second) + self.men - min(first, second)

    def left(self, men):
        """Return how many men of a player are not off."""
        count = 0
        for number in range(self.men):
            count += ((men >> (5 * number)) & 31) > 0
        return count

    def estimate(self, position):
        """Return by how many pips the player to move is ahead; where it is CHANCE's turn, player 0."""
        lead = self.pips(position, 1) - self.pips(position, 0)
        return -lead if self.turn(position) == 1 else lead

    def pips(self, position, player):
        """Return how many points the men of a player must move to be off."""
        men, pips = self.men_of(position, player), 0
        for number in range(self.men):
            pips += (men >> (5 * number)) & 31
        return pips

    # The numbering holds the positions before a roll of player 0. Ways to place a player's men are in *classes* by how
    # many men are left, and how many pips. A *block* has the positions with the same classes of both players' men.
    # Blocks with more pips come first, so that a move without a hit leads to a greater slot.

    def swapped(self, position):
        """Return the position with the two players exchanged. (32 is the player's bit, above the five of the roll.)"""
        men = (self.men_of(position, 0) << self.width) | self.men_of(position, 1)
        return (((position >> (2 * self.width)) ^ 32) << (2 * self.width)) | men

    @cached_property
    def tiers(self):
        return tuple(sorted({tier for tier, _, _ in self.blocks}))

    def size(self, tier):
        return self.block_slots[self.first_blocks[tier + 1]] - self.block_slots[self.first_blocks[tier]]

    def index(self, position):
        """Return a position's slot in its tier; -1 if it has none: dice are rolled, or a player has finished."""
        own, other = self.men_of(position, 0), self.men_of(position, 1)
        if position >> (2 * self.width) or not own or not other:
            return -1
        a, b = self.classes[own], self.classes[other]
        slot = (
            self.block_slots[self.block_of[a * len(self.sizes) + b]]
            + self.ranks[own] * self.sizes[b]
            + self.ranks[other]
        )
        return slot - self.block_slots[self.first_blocks[self.tier(position)]]

    def unindex(self, tier, i):
        """Return the position of a slot, -1 if men of both players would stand on a point."""
        # Bisect for the last block of the tier that begins at this slot or before.
        low, high = self.first_blocks[tier], self.first_blocks[tier + 1]
        i += self.block_slots[low]
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.block_slots[middle] <= i else (low, middle)
        i -= self.block_slots[low]
        a, b = self.block_classes[low] // len(self.sizes), self.block_classes[low] % len(self.sizes)
        own, other = self.placed[self.begins[a] + i // self.sizes[b]], self.placed[self.begins[b] + i % self.sizes[b]]
        # A point has a number for each player, and the two add up to the bar's.
        for first in range(self.men):
            for second in range(self.men):
                point = (own >> (5 * first)) & 31
                if 0 < point < self.bar and point + ((other >> (5 * second)) & 31) == self.bar:
                    return -1
        return (other << self.width) | own

    @cached_property
    def by_class(self):
        """All ways to place a player's men, but for all off: (men left, pips) and the men, in order."""
        ways = combinations_with_replacement(range(self.bar + 1), self.men)
        return sorted((sum(map(bool, way)), sum(way), pack(way)) for way in ways if any(way))

    @cached_property
    def kinds(self):
        """Men left and pips of each class."""
        return tuple(sorted({(left, pips) for left, pips, _ in self.by_class}))

    @cached_property
    def placed(self):
        """The same ways, the men alone."""
        return tuple(men for _, _, men in self.by_class)

    @cached_property
    def sizes(self):
        """How many ways each class has."""
        counts = Counter((left, pips) for left, pips, _ in self.by_class)
        return tuple(counts[kind] for kind in self.kinds)

    @cached_property
    def begins(self):
        """The index of the first way of each class."""
        return tuple(accumulate(self.sizes, initial=0))

    @cached_property
    def classes(self):
        """The class of each way to place a player's men."""
        numbers = {kind: number for number, kind in enumerate(self.kinds)}
        known = {men: numbers[left, pips] for left, pips, men in self.by_class}
        return tuple(known.get(men, 0) for men in range(1 << self.width))

    @cached_property
    def ranks(self):
        """The rank of each way in its class."""
        known = {men: i - self.begins[self.classes[men]] for i, men in enumerate(self.placed)}
        return tuple(known.get(men, 0) for men in range(1 << self.width))

    @cached_property
    def blocks(self):
        """All blocks in order: (tier, minus the pips of both players, both classes as one number)."""
        found = []
        for a, (left, pips) in enumerate(self.kinds):
            for b, (others, other_pips) in enumerate(self.kinds):
                tier = 4 * (2 * self.men - left - others) + self.men - min(left, others)
                found.append((tier, -pips - other_pips, a * len(self.kinds) + b))
        return tuple(sorted(found))

    @cached_property
    def block_classes(self):
        """The classes of both players of each block, as one number."""
        return tuple(both for _, _, both in self.blocks)

    @cached_property
    def block_slots(self):
        """How many slots there are before each block, and in all."""
        sizes = (
            self.sizes[both // len(self.sizes)] * self.sizes[both % len(self.sizes)] for both in self.block_classes
        )
        return tuple(accumulate(sizes, initial=0))

    @cached_property
    def block_of(self):
        """The number of the block of two classes."""
        numbers = {both: number for number, both in enumerate(self.block_classes)}
        return tuple(numbers[both] for both in range(len(numbers)))

    @cached_property
    def first_blocks(self):
        """The number of the first block of each tier or of a later one."""
        return tuple(bisect(self.blocks, (tier,)) for tier in range(8 * self.men + 2))

    # For people

    words = {"X": "White", "O": "Black"}

    def variant_title(self):
        men = ("one man", "two men", "three men")[self.men - 1]
        return f"Hypergammon with {men}{f' on {self.points} points' * (self.points < 24)}"

    def write(self, position):
        """Return the men of both players, the player to move and the roll: `24,23,22/bar,5,off 0 6+5`."""
        both = "/".join(",".join(map(self.point_name, self.men_from_last(position, player))) for player in range(2))
        roll = self.roll(position)
        dice = "" if roll == 0 else " opening" if roll == OPENING else " " + self.pair_name(roll - 1)
        return f"{both} {self.player(position)}{dice}"

    def men_from_last(self, position, player):
        """Return the points of a player's men, the furthest first."""
        return [(self.men_of(position, player) >> (5 * man)) & 31 for man in reversed(range(self.men))]

    def point_name(self, point):
        return "off" if point <= 0 else "bar" if point == self.bar else str(point)

    def pair_name(self, pair):
        return "{}+{}".format(*self.pairs[pair])

    def read(self, text):
        """Return the position of a text as `write` gives it; raise ValueError if there is none."""
        points = {self.point_name(point): point for point in range(self.bar + 1)}
        rolls = {"opening": OPENING, **{self.pair_name(pair): pair + 1 for pair in range(len(self.pairs))}}
        both, *rest = text.split()
        sides = [sorted(points.get(name, -1) for name in side.split(",")) for side in both.split("/")]
        if len(sides) != 2 or not 1 <= len(rest) <= 2 or rest[0] not in ("0", "1"):
            raise ValueError("a position is the men of both players, who is to move, dice: 24,23,22/bar,5,off 0 6+5")
        if any(len(side) != self.men or side[0] < 0 for side in sides):
            raise ValueError(f"each player has {self.men} men, on points from 1 to {self.points}, bar or off")
        if {self.bar - point for point in sides[0]} & {*sides[1]} & {*range(1, self.bar)}:
            raise ValueError("men of both players stand on one point")
        if not any(sides[1 - int(rest[0])]) or (len(rest) == 2 and not any(sides[int(rest[0])])):
            raise ValueError("a player whose men are all off has won and is the one to move, without dice")
        if len(rest) == 2 and rest[1] not in rolls:
            raise ValueError(f"{rest[1]!r} are no dice; write the higher one first, as in 2+1")
        roll = rolls[rest[1]] if len(rest) == 2 else 0
        return ((((32 * int(rest[0]) + roll) << self.width) | pack(sides[1])) << self.width) | pack(sides[0])

    def steps(self, position, play):
        """Return the steps of a play: (from, to, whether it hits), as points of the player."""
        board, (high, low) = self.board_of(position), self.pairs[self.roll(position) - 1]
        steps = []
        for number in range(play >> 8):
            man = (play & 127) // self.men ** ((play >> 8) - 1 - number) % self.men
            # The lower die is the second one in order 0, the first one in order 1.
            point, die = (board >> (5 * man)) & 31, low if (number > 0) != ((play >> 7) & 1) else high
            if point:
                after = self.after_step(board, man, die)
                steps.append((point, max(point - die, 0), after >> self.width != board >> self.width))
                board = after
        return steps

    def move_name(self, position, move):
        """Return a roll, or the steps of a play: `bar/22*,24/21`, `8/6(2)`."""
        if self.turn(position) == CHANCE:
            return self.pair_name(move)
        steps = [f"{self.point_name(a)}/{self.point_name(b)}{'*' * hit}" for a, b, hit in self.steps(position, move)]
        counts = [(step, len([*same])) for step, same in groupby(steps)]
        return ",".join(step + f"({count})" * (count > 1) for step, count in counts) or "pass"

    def show(self, position):
        """Return the points in two rows, as on a board, with the men on each, and below them bar and dice."""
        signs, half = self.draw_pieces(position), self.points // 2
        men = {sign: same[0] * count for same in SIGNS for count, sign in enumerate(same, 1)}
        lines = []
        for row in (range(half + 1, self.points + 1), range(half, 0, -1)):
            lines.append("".join(f"{point:>4}" for point in row))
            lines.append("".join(f"{men.get(signs[point - 1], '.'):>4}" for point in row))
        for player, name in enumerate(("X White", "O Black")):
            places = [*map(self.point_name, self.men_from_last(position, player))]
            lines.append(f"{name}: {places.count('bar')} on the bar, {places.count('off')} off")
        roll = self.roll(position)
        dice = "roll the dice" if roll in (0, OPENING) else f"{self.pair_name(roll - 1)} rolled"
        return "\n".join([*lines, f"{('White', 'Black')[self.player(position)]}: {dice}"])

    # The board: White's points, the bar and the men off of both players, and two dice.

    @cached_property
    def board(self):
        """The places of the points, of the bar and the men off for each player, and of two dice."""
        half = self.points // 2
        columns = [number + (number >= half // 2) for number in range(half)]
        places = [(float(x), 1.0) for x in reversed(columns)] + [(float(x), 0.0) for x in columns]
        labels = [(x, 1.75 if y else -0.75, str(number)) for number, (x, y) in enumerate(places, 1)]
        places += [(half / 2 // 1, 0.0), (half / 2 // 1, 1.0), (half + 1.0, 1.0), (half + 1.0, 0.0)]
        names = [f"{what} of {who}" for what in ("bar", "off") for who in ("White", "Black")]
        looks = {
            sign: f"{colour} disc {count}"
            for colour, signs in zip(("wheat", "lightsteelblue"), SIGNS, strict=True)
            for count, sign in enumerate(signs, 1)
        }
        return Board(
            (*places, (half + 2.5, 0.0), (half + 2.5, 1.0)),
            (*map(str, range(1, self.points + 1)), *names, "die 1", "die 2"),
            {**looks, **{str(face): str(face) for face in range(1, 7)}},
            self.points + 6,
            labels=tuple(labels),
        )

    def place_of(self, point, player):
        """Return the place of the board for a player's point."""
        if 0 < point < self.bar:
            return self.points - point if player else point - 1
        return self.points + player + (0 if point else 2)

    def draw_pieces(self, position):
        """Return a sign for each place of the board: how many men of whom stand there, and the dice."""
        signs = ["."] * (self.points + 6)
        for player in range(2):
            for point, same in groupby(self.men_from_last(position, player)):
                signs[self.place_of(point, player)] = SIGNS[player][len([*same]) - 1]
        roll = self.roll(position)
        if roll not in (0, OPENING):
            signs[-2:] = map(str, self.pairs[roll - 1])
        return "".join(signs)

    def draw_move(self, position, move):
        """Return the places of a play in order: from and to for each step, and the bar for a man that is hit."""
        if self.turn(position) == CHANCE:
            return ()
        player, places = self.player(position), []
        for point, target, hit in self.steps(position, move):
            places += [self.place_of(point, player), self.place_of(target, player)]
            places += [self.place_of(self.bar, 1 - player)] * hit
        return tuple(places)

    def draw_turn(self, position):
        return "XO"[self.player(position)]


def pack(points):
    """Return the men of a player, from their points in order."""
    return sum(point << (5 * man) for man, point in enumerate(points))
