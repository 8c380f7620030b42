"""Yahtzee for one player: the greatest expected score, with any of the thirteen categories.

In each turn the player rolls five dice, and may roll any of them again twice. Then she chooses a category that has not
been used; the score of the dice there is paid as a reward. 63 points or more in the upper categories, 1 to 6, earn a
bonus of 35. The other categories are 7 three of a kind, 8 four of a kind, 9 full house, 10 small straight, 11 large
straight, 12 Yahtzee, 13 chance.

Once 50 points were scored for a Yahtzee, each further Yahtzee earns 100. Once category 12 is used, a Yahtzee is a
joker. It must go to its own upper category if that is open, else to a lower one, where it also scores as a straight or
as a full house. With `forced=0` it may go to any category, and scores so once its own upper one is used.

Dice that are rolled come one by one, which changes nothing. So a position after some dice are kept is like any other::

    | used categories 13 | 50 scored for a Yahtzee 1 | upper points, at most 63, 6 | rolls left 2 | dice by face, 3 |

All thirteen categories make 536,448 turns of 1,386 positions each, 743 million in all. Only turns are numbered.
"""

from functools import cached_property

from retrograde.games.contract.game import CHANCE, UNDECIDED, WIN, Game

NAMES = (
    *("ones", "twos", "threes", "fours", "fives", "sixes", "three-of-a-kind", "four-of-a-kind", "full-house"),
    *("small-straight", "large-straight", "yahtzee", "chance"),
)
DICE, FACES = 5, 6
UPPER_GOAL, UPPER_BONUS, YAHTZEE, AGAIN = 63, 35, 50, 100
SIX = 0o777777
"""The bits of the dice: three for each of the six faces."""


class Yahtzee(Game):
    """Roll five dice up to three times and choose a category, until all are used."""

    title = "Yahtzee"
    metric = "expectation"
    players = 1
    start = 2 << 18
    example = "categories=9+12"

    categories: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)
    joker: bool = True
    forced: bool = True

    def __post_init__(self):
        if not self.categories or len({*self.categories}) != len(self.categories):
            raise ValueError("categories must be given, each once, as in 1+2+12")
        if not {*self.categories} <= {*range(1, 14)}:
            raise ValueError("categories are from 1 to 13")

    @cached_property
    def all_categories(self):
        return sum(1 << (category - 1) for category in self.categories)

    # What a position says

    def used(self, position):
        return position >> 27

    def upper(self, position):
        return (position >> 20) & 63

    def rolls(self, position):
        return (position >> 18) & 3

    def face(self, position, face):
        """Return how many dice show a face, counted from 0."""
        return (position >> (3 * face)) & 7

    def dice(self, position):
        """Return how many dice show a face."""
        total = 0
        for face in range(FACES):
            total += self.face(position, face)
        return total

    # The rules: a chance move is a face. A player's move is either the dice to keep, a bit for each die in ascending
    # order, or 64 + category

    def turn(self, position):
        return CHANCE if self.dice(position) < DICE and self.primitive(position) == UNDECIDED else 0

    def primitive(self, position):
        return WIN if self.used(position) == self.all_categories else UNDECIDED

    def payoff(self, position, player):
        return 0

    def generate_moves(self, position):
        """Yield the faces of a thrown die, the dice to keep, or 64 + each category to score in."""
        if self.dice(position) < DICE:
            yield from range(FACES)
        elif self.rolls(position):
            yield from self.keeps(position)
        else:
            yield from self.choices(position)

    def keeps(self, position):
        """Yield the sets of dice to keep, bit n for die number n in ascending order. Of equal dice, the first ones are
        kept."""
        for keep in range(1 << DICE):
            fine = True
            number = 0
            for face in range(FACES):
                for again in range(self.face(position, face)):
                    if again and (keep >> number) & 1 and not (keep >> (number - 1)) & 1:
                        fine = False
                    number += 1
            if fine:
                yield keep

    def choices(self, position):
        """Yield 64 + each category that may be scored now."""
        allowed = self.allowed(position)
        for category in range(13):
            if self.all_categories & ~self.used(position) & allowed & (1 << category):
                yield 64 + category

    def allowed(self, position):
        """Return the categories (bits) that a joker may go to; all 13 (0x1FFF) if the dice are no joker. 0x1FC0 are the
        lower categories, bit 11 is that of a Yahtzee."""
        face = self.same(position)
        if not self.joker or not self.forced or face < 0 or not (self.used(position) >> 11) & 1:
            return 0x1FFF
        open_ones = self.all_categories & ~self.used(position)
        if (open_ones >> face) & 1:
            return 1 << face
        return 0x1FC0 if open_ones & 0x1FC0 else 0x1FFF

    def same(self, position):
        """Return the face that all dice show, or -1."""
        for face in range(FACES):
            if self.face(position, face) == DICE:
                return face
        return -1

    def score(self, position, category):
        """Return what the dice score in a category, counted from 0. *row* and *longest* are runs of faces that occur;
        *closed*: of a Yahtzee, its own upper category is used."""
        total = 0
        most = 0
        pairs = 0
        row = 0
        longest = 0
        closed = True
        for face in range(FACES):
            count = self.face(position, face)
            total += (face + 1) * count
            most = max(most, count)
            pairs += count >= 2
            row = row + 1 if count else 0
            longest = max(longest, row)
            closed &= count < DICE or not ((self.all_categories & ~self.used(position)) >> face) & 1
        joker = self.joker and most == DICE and closed and (self.used(position) >> 11) & 1
        if category < 6:
            return (category + 1) * self.face(position, category)
        if category == 6 or category == 7:
            return total if most >= category - 3 else 0
        if category == 8:
            return 25 if joker or (most == 3 and pairs == 2) else 0
        if category == 9:
            return 30 if joker or longest >= 4 else 0
        if category == 10:
            return 40 if joker or longest >= 5 else 0
        if category == 11:
            return YAHTZEE if most == DICE else 0
        return total

    def do_move(self, position, move):
        """Return the position after a die falls, after others are kept, or after a category is scored."""
        if self.dice(position) < DICE:
            return position + (1 << (3 * move))
        if self.rolls(position):
            return self.keep(position, move)
        category = move - 64
        scored = self.score(position, category)
        upper = min(UPPER_GOAL, self.upper(position) + (scored if category < 6 else 0))
        used = self.used(position) | (1 << category)
        flag = (position >> 26) & 1 or (category == 11 and scored > 0)
        if used == self.all_categories:
            return used << 27
        return (used << 27) | ((1 if flag and self.joker else 0) << 26) | (upper << 20) | (2 << 18)

    def keep(self, position, kept):
        """Return the position after the other dice are picked up. If all dice are kept, no more rolls follow."""
        if kept == (1 << DICE) - 1:
            return position & ~(3 << 18)
        number = 0
        dice = 0
        for face in range(FACES):
            for _ in range(self.face(position, face)):
                dice += ((kept >> number) & 1) << (3 * face)
                number += 1
        return ((position & ~SIX) - (1 << 18)) | dice

    def reward(self, position, move, player):
        """Return the points of a category, with the bonuses for the upper part and for another Yahtzee."""
        if move < 64:
            return 0
        category = move - 64
        paid = self.score(position, category)
        before = self.upper(position)
        if category < 6 and before < UPPER_GOAL <= before + paid:
            paid += UPPER_BONUS
        if (position >> 26) & 1 and self.same(position) >= 0:
            paid += AGAIN
        return paid

    def tier(self, position):
        """Return the turn and how far it has come: the rolls taken, and the dice on the table."""
        if self.primitive(position) != UNDECIDED:
            return 32 * self.used(position).bit_count()
        return 32 * self.used(position).bit_count() + 8 * (2 - self.rolls(position)) + self.dice(position)

    # The numbering: turns before the first roll, by categories used, upper points, and the flag of a scored Yahtzee

    @property
    def tiers(self):
        return tuple(range(0, 32 * len(self.categories), 32))

    def size(self, tier):
        return self.sizes[tier // 32]

    def index(self, position):
        """Return a position's slot before a turn begins; -1 for other positions and the end."""
        used, upper = self.used(position), self.upper(position)
        # A turn begins with two rolls left and no dice.
        if position & 0xFFFFF != 2 << 18 or used == self.all_categories or self.upper_ranks[used % 64 * 64 + upper] < 0:
            return -1
        return self.begins[used] + self.upper_ranks[used % 64 * 64 + upper] * self.flags(used) + ((position >> 26) & 1)

    def unindex(self, tier, i):
        """Return the position of slot i of a tier, before a turn."""
        # A slot's number has the used categories, then the upper points, then the flag of a scored Yahtzee.
        least, most = self.first_masks[tier // 32], self.first_masks[tier // 32 + 1]
        while most - least > 1:
            middle = (least + most) // 2
            if self.begins[self.masks[middle]] <= i:
                least = middle
            else:
                most = middle
        used = self.masks[least]
        i -= self.begins[used]
        upper = self.upper_sums[used % 64 * 64 + i // self.flags(used)]
        return (used << 27) | ((i % self.flags(used)) << 26) | (upper << 20) | (2 << 18)

    def flags(self, used):
        """Return the number of states of the Yahtzee flag: 2 if further Yahtzees may earn more, else 1."""
        return 2 if self.joker and (used >> 11) & 1 else 1

    @cached_property
    def masks(self):
        """All sets of used categories, the smallest first."""
        masks = [used for used in range(1 << 13) if not used & ~self.all_categories]
        return tuple(sorted(masks, key=lambda used: (used.bit_count(), used)))

    @cached_property
    def first_masks(self):
        """For each number of used categories, the index of its first mask; last, the number of masks."""
        counts = [used.bit_count() for used in self.masks]
        return (*(counts.index(number) for number in range(len(self.categories) + 1)), len(counts))

    @cached_property
    def begins(self):
        """For each set of used categories, its first slot in its tier. Behind them, the sizes of the tiers."""
        begins, ends, rows = [0] * (1 << 13), [0] * 14, self.upper_rows
        for used in self.masks:
            begins[used] = ends[used.bit_count()]
            ends[used.bit_count()] += len(rows[used % 64]) * self.flags(used)
        return (*begins, *ends)

    @cached_property
    def sizes(self):
        return self.begins[1 << 13 :]

    @property
    def upper_rows(self):
        """For each set of used upper categories, the possible upper points, ascending."""
        rows = []
        for used in range(64):
            sums = {0}
            for face in range(FACES):
                if (used >> face) & 1:
                    sums = {min(UPPER_GOAL, total + count * (face + 1)) for total in sums for count in range(DICE + 1)}
            rows.append(sorted(sums))
        return rows

    @cached_property
    def upper_sums(self):
        return tuple(number for row in self.upper_rows for number in (row + [-1] * 64)[:64])

    @cached_property
    def upper_ranks(self):
        return tuple(row.index(number) if number in row else -1 for row in self.upper_rows for number in range(64))

    # For people

    def variant_title(self):
        return "Yahtzee" if len(self.categories) == 13 else f"Yahtzee with {len(self.categories)} categories"

    def write(self, position):
        """Return the categories used, the upper points, the rolls left and the dice: `1+9 u3 r2 11466`.

        A star after the points, as in `1+12 u3* r2 11466`, says that 50 were scored for a Yahtzee, so that further ones
        earn 100.
        """
        used = "+".join(str(category + 1) for category in range(13) if (self.used(position) >> category) & 1) or "-"
        dice = "".join(str(face + 1) * self.face(position, face) for face in range(FACES))
        star = "*" * ((position >> 26) & 1)
        return f"{used} u{self.upper(position)}{star} r{self.rolls(position)} {dice or '-'}"

    def read(self, text):
        """Return the position of a text as `write` gives it; raise ValueError if there is none."""
        parts = text.split()
        if len(parts) != 4 or parts[1][:1] != "u" or parts[2] not in ("r0", "r1", "r2"):
            raise ValueError(
                "a position is written as 1+9 u3 r2 11466: categories used, upper points, rolls left, dice"
            )
        used = [] if parts[0] == "-" else parts[0].split("+")
        upper, dice = parts[1][1:].removesuffix("*"), parts[3].replace("-", "")
        if {*dice} - {*"123456"} or len(dice) > DICE or not upper.isdecimal() or int(upper) > UPPER_GOAL:
            raise ValueError(f"there are {DICE} dice, from 1 to {FACES}, and upper points from 0 to {UPPER_GOAL}")
        if not {*used} <= {str(category) for category in self.categories}:
            raise ValueError(f"categories are among {'+'.join(map(str, self.categories))}")
        if len({*used}) < len(used):
            raise ValueError(f"a category is used once, and not as in {parts[0]}")
        mask = sum(1 << (int(category) - 1) for category in used)
        star = parts[1].endswith("*")
        if star and self.flags(mask) == 1:
            raise ValueError("a star after the upper points needs the option joker, and 12 among the categories used")
        thrown = sum(1 << (3 * (int(face) - 1)) for face in dice)
        return (mask << 27) | (star << 26) | (int(upper) << 20) | (int(parts[2][1]) << 18) | thrown

    def move_name(self, position, move):
        if self.dice(position) < DICE:
            return str(move + 1)
        if move >= 64:
            return NAMES[move - 64]
        faces = "".join(str(face + 1) * self.face(position, face) for face in range(FACES))
        return "keep-" + ("".join(sign for number, sign in enumerate(faces) if (move >> number) & 1) or "none")
