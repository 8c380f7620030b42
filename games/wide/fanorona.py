"""Fanorona on larger boards, such as the traditional one of 9 × 5 points.

A position has two words: a bit for each point with a white man, and a bit for each point with a black man. Above the
points of the second word is the player to move.

A turn may have more steps than fit one int. So a move is the number of a turn, in the order in which `paths` lists
them. A path has two words, the first steps in the first and the others in the second, four bits for each step as in
`captures.py`, the last one in the lowest bits::

    | 1 | man, six bits | step | step … (13 at most) |     | 1 | step | step … (15 at most) |
"""

from retrograde.games.contract.game import POSITION_BITS, Game
from retrograde.games.fanorona import Fanorona
from retrograde.games.wide.two_words import TwoWords

MOST_STEPS, FULL = 28, 1 << 58
"""The most steps of a path, and the least first word that has no space for another step."""


class WideFanorona(TwoWords, Fanorona):
    """Capture all men of the opponent, by approaching them or by withdrawing from them."""

    name = "fanorona"
    title = "Fanorona"

    # There are too many positions to number.
    tier, images, canonical, multiplicity = Game.tier, Game.images, Game.canonical, Game.multiplicity
    index, unindex, parts = Game.index, Game.unindex, Game.parts

    def __post_init__(self):
        most = min(POSITION_BITS - 1, 2 * MOST_STEPS + 1)
        if min(self.width, self.height) < 3 or self.cells % 2 == 0 or self.cells > most:
            raise ValueError(f"width and height must be odd, three at least, and the board have at most {most} points")

    @property
    def low_bits(self):
        return self.cells

    @property
    def full(self):
        return (1 << self.cells) - 1

    @property
    def start(self):
        return self.split(super().start)

    def sides(self, position):
        white, black = position[0], position[1] & self.full
        return (black, white) if position[1] >> self.cells else (white, black)

    # The rules

    def generate_moves(self, position):
        for move, _ in enumerate(self.paths(position)):
            yield move

    def do_move(self, position, move):
        """Return the position after the path with number *move*."""
        mine, theirs = self.sides(position)
        for number, path in enumerate(self.paths(position)):
            if number == move:
                man, left, been = self.gone(theirs, path)
                mine, theirs = mine & ~been | 1 << man, left
                break
        if position[1] >> self.cells:
            return theirs, mine
        return mine, theirs | 1 << self.cells

    def paths(self, position):
        """Yield all ways in which a man can capture others, or else all single steps."""
        mine, theirs = self.sides(position)
        taking = False
        for man in range(self.cells):
            first, more, step = 64 | man, 1, self.steps  # 64 is the leading 1 above the six bits of the point
            if mine >> man & 1:
                step = self.next_capture(mine, theirs, (first, more), 0)
            while step < self.steps or first >= 128:  # depth-first search of the man's paths; 128: there is a step
                if step < self.steps:
                    taking = True
                    if first < FULL:
                        first = first << 4 | step
                    else:
                        more = more << 4 | step
                    yield first, more
                    step = 0
                elif more > 1:
                    more, step = more >> 4, (more & 15) + 1
                else:
                    first, step = first >> 4, (first & 15) + 1
                step = self.next_capture(mine, theirs, (first, more), step)
        for man in range(0 if taking else self.cells):
            for step in range(self.steps * (mine >> man & 1)):
                to = self.target(man, step)
                if to >= 0 and self.plain(step) and not (mine | theirs) >> to & 1:
                    yield (64 | man) << 4 | step, 1

    def goes_on(self, path, step, to, been):
        last = path[1] if path[1] > 1 else path[0]
        return not been >> to & 1 and (path[0] < 128 or step >> 1 != last >> 1 & 7)

    def gone(self, theirs, path):
        """Return the man's last point, the opponent's men left, and the points visited, after a path of steps."""
        first, more = path
        # The numbers of steps in both words. They are read from the first one on, which is in the highest bits.
        early, late = (first.bit_length() - 7) // 4, (more.bit_length() - 1) // 4
        man = first >> 4 * early & 63
        been = 1 << man
        for at in range(early + late):
            step = (first >> 4 * (early - 1 - at) if at < early else more >> 4 * (early + late - 1 - at)) & 15
            theirs ^= self.taken(theirs, man, step)
            man = self.target(man, step)
            been |= 1 << man
        return man, theirs, been

    # For people

    def signs(self, position):
        return super().signs(self.joined(position))

    def position_of(self, signs, turn):
        return self.split(super().position_of(signs, turn))

    def draw_turn(self, position):
        return super().draw_turn(self.joined(position))

    def way(self, position, move):
        """Return the points that a man visits in a turn, and the numbers of its steps."""
        first, more = list(self.paths(position))[move]
        # Steps are hexadecimal digits, after the man in the first word and after the leading 1 in the second.
        # What the first word has beyond seven bits is its steps, of four bits each.
        digits = f"{first:x}"[-((first.bit_length() - 7) // 4) :] + f"{more:x}"[1:]
        steps, points = [int(digit, 16) for digit in digits], [first >> 4 * ((first.bit_length() - 7) // 4) & 63]
        for step in steps:
            points.append(self.target(points[-1], step))
        return tuple(points), steps

    def draw_move(self, position, move):
        return self.way(position, move)[0]

    def move_name(self, position, move):
        points, steps = self.way(position, move)
        captures = self.taken(self.sides(position)[1], points[0], steps[0])
        letters = ["", *("AW"[step & 1] if captures else "" for step in steps)]
        return "-".join(self.board.names[point] + letter for point, letter in zip(points, letters, strict=True))
