"""Canonical forms of short games: both players have their own moves, and no play is endless.

The player without a move loses. A game is written {Left's options | Right's options}; its *value* is a game to which
the same can be added as to it without changing who wins. Each value has one canonical form, in which no option is
dominated or reversible. Source: J. H. Conway, *On Numbers and Games*, 1976; means and temperatures by thermographs, as
in E. Berlekamp, J. Conway and R. Guy, *Winning Ways*, 1982.

>>> values = Values()
>>> zero = values.make([], [])
>>> one, star = values.make([zero], []), values.make([zero], [zero])
>>> up = values.make([zero], [star])
>>> [values.name(each) for each in (zero, one, star, up, values.plus(up, up), values.make([one], [zero]))]
['0', '1', '*', '↑', '⇑', '{1|0}']
>>> [values.name(values.make([zero], [one])), values.name(values.plus(up, values.negative(up)))]
['1/2', '0']
"""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cached_property, reduce
from itertools import pairwise

Wall = list[tuple[Fraction, Fraction]]
"""Half of a thermograph: points (temperature, value) with straight lines between them; constant above the last one."""

MOST_UPS = 9
"""The greatest n for which n·↑ has a name."""


class Values:
    """All values met so far. A value is its index in `left` and `right`, in the order in which they were made. Index 0
    is the value 0, which has no options. Other values have the next free index when they are first made."""

    def __init__(self) -> None:
        self.left: list[tuple[int, ...]] = []
        self.right: list[tuple[int, ...]] = []
        """Left's and Right's options in the canonical form of each value: values, ascending by index."""
        self.made: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        """The value that `make` returned for each pair of options, canonical or not."""
        self.compared: dict[tuple[int, int], bool] = {}
        """Results of `is_at_most`."""
        self.sums: dict[tuple[int, int], int] = {}
        """Results of `plus`."""
        self.walls: dict[int, tuple[Wall, Wall]] = {}
        """Results of `thermograph`."""
        self.make([], [])

    def make(self, lefts: Iterable[int], rights: Iterable[int]) -> int:
        """Return the value of the game {lefts | rights}; the options are values."""
        left, right = set(lefts), set(rights)
        options = tuple(sorted(left)), tuple(sorted(right))
        if options in self.made:
            return self.made[options]
        self.bypass_reversible(left, right)
        # Drop dominated options: Left prefers greater values, Right smaller ones.
        best_left = [a for a in left if not any(a != b and self.is_at_most(a, b) for b in left)]
        best_right = [a for a in right if not any(a != b and self.is_at_most(b, a) for b in right)]
        form = tuple(sorted(best_left)), tuple(sorted(best_right))
        if form not in self.made:
            self.made[form] = len(self.left)
            self.left.append(form[0])
            self.right.append(form[1])
        self.made[options] = self.made[form]
        return self.made[form]

    def bypass_reversible(self, left: set[int], right: set[int]) -> None:
        """Replace reversible options, those with an answer that is no worse for the opponent, by the options after that
        answer. G below is the game with these options; it has no number yet."""
        at_most: dict[int, bool] = {}
        at_least: dict[int, bool] = {}

        def is_at_most(value: int) -> bool:
            """Return whether G ≤ value: Left has no option ≥ value, and value no option of Right's that is ≤ G."""
            if value not in at_most:
                at_most[value] = not any(self.is_at_most(value, option) for option in left) and not any(
                    is_at_least(option) for option in self.right[value]
                )
            return at_most[value]

        def is_at_least(value: int) -> bool:
            """Return whether value ≤ G, by the same rule."""
            if value not in at_least:
                at_least[value] = not any(self.is_at_most(option, value) for option in right) and not any(
                    is_at_most(option) for option in self.left[value]
                )
            return at_least[value]

        replace_reversible(left, self.right, is_at_least, self.left)
        replace_reversible(right, self.left, is_at_most, self.right)

    def is_at_most(self, one: int, other: int) -> bool:
        """Return whether one ≤ other: in any sum, Left would exchange *one* for *other*."""
        if one == other:
            return True
        pair = one, other
        if pair not in self.compared:
            self.compared[pair] = not any(self.is_at_most(other, option) for option in self.left[one]) and not any(
                self.is_at_most(option, one) for option in self.right[other]
            )
        return self.compared[pair]

    def plus(self, one: int, other: int) -> int:
        """Return the value of a sum: a player moves in one of the two."""
        pair = min(one, other), max(one, other)
        if pair not in self.sums:
            self.sums[pair] = self.make(
                [self.plus(option, other) for option in self.left[one]]
                + [self.plus(one, option) for option in self.left[other]],
                [self.plus(option, other) for option in self.right[one]]
                + [self.plus(one, option) for option in self.right[other]],
            )
        return self.sums[pair]

    def add(self, values: Iterable[int]) -> int:
        """Return the value of the sum of several values."""
        return reduce(self.plus, values, 0)

    def negative(self, value: int) -> int:
        """Return the value with the players exchanged."""
        return self.make(map(self.negative, self.right[value]), map(self.negative, self.left[value]))

    # Numbers

    def number(self, value: int) -> Fraction | None:
        """Return the number that a value equals, or None. Canonical forms of numbers have at most one option a side."""
        left, right = self.left[value], self.right[value]
        if len(left) > 1 or len(right) > 1:
            return None
        below, above = (self.number(side[0]) if side else None for side in (left, right))
        if not left and not right:
            return Fraction(0)
        if not right:  # {n | } is n + 1
            return None if below is None else below + 1
        if not left:  # { | n} is n - 1
            return None if above is None else above - 1
        return None if below is None or above is None or below >= above else (below + above) / 2

    def of_number(self, number: Fraction) -> int:
        """Return the value of a number whose denominator is a power of two."""
        if number.denominator > 1:
            step = Fraction(1, number.denominator)  # 3/4 is {1/2 | 1}
            return self.make([self.of_number(number - step)], [self.of_number(number + step)])
        value = 0
        for _ in range(abs(int(number))):
            value = self.make([value], []) if number > 0 else self.make([], [value])
        return value

    # Mean and temperature

    def mean_and_temperature(self, value: int) -> tuple[Fraction, Fraction]:
        """Return a value's average worth in a sum of many copies, and how much a move in it gains. The temperature of a
        number is −1 divided by its denominator."""
        number = self.number(value)
        if number is not None:
            return number, Fraction(-1, number.denominator)
        temperature, mean = self.thermograph(value)[0][-1]  # the point at which the walls meet
        return mean, temperature

    def thermograph(self, value: int) -> tuple[Wall, Wall]:
        """Return Left's and Right's wall of a value, from temperature 0 up to where they meet."""
        number = self.number(value)
        if number is not None:
            return [(Fraction(0), number)], [(Fraction(0), number)]
        if value not in self.walls:
            lefts = [self.thermograph(option)[1] for option in self.left[value]]
            rights = [self.thermograph(option)[0] for option in self.right[value]]
            self.walls[value] = walls_of(lefts, rights)
        return self.walls[value]

    # Names

    def name(self, value: int) -> str:
        """Return a value as text: `3/4`, `*2`, `⇑*`, `±1`, `2*`, `{2|-1/2}`."""
        mean, _ = self.mean_and_temperature(value)
        if self.number(value) == mean:
            return str(mean)
        without_mean = self.plus(value, self.of_number(-mean)) if mean else value
        if (short := self.short_name(without_mean)) is not None:
            return f"{mean or ''}{short}"
        left, right = (", ".join(map(self.name, side[value])) for side in (self.left, self.right))
        if self.negative(value) != value:
            return f"{{{left}|{right}}}"
        return f"±{left}" if len(self.left[value]) == 1 else f"±{{{left}}}"

    def short_name(self, value: int) -> str | None:
        """Return the name of a nimber or a sum of ups and a star, such as `*2` and `⇑*`. Return None for others."""
        left, right = self.left[value], self.right[value]
        if left == right and [*left] == sorted(self.nimbers[: len(left)]):  # from *n moves lead to 0, *, … *(n - 1)
            return "*" if len(left) == 1 else f"*{len(left)}"
        return self.ups.get(value)

    @cached_property
    def nimbers(self) -> list[int]:
        """The values of the nimbers 0, *, *2, … *16."""
        nimbers = [0]
        for _ in range(16):
            nimbers.append(self.make(nimbers, nimbers))
        return nimbers

    @cached_property
    def ups(self) -> dict[int, str]:
        """The names of some ups and a star: n·↑ and n·↑*, and their negatives."""
        star = self.nimbers[1]
        up, value, names = self.make([0], [star]), 0, {}
        for number in range(1, MOST_UPS + 1):
            value = self.plus(value, up)
            for arrows, multiple in (("↑⇑", value), ("↓⇓", self.negative(value))):
                name = arrows[number - 1] if number <= 2 else f"{number}·{arrows[0]}"
                names[multiple], names[self.plus(multiple, star)] = name, f"{name}*"
        return names


def replace_reversible(
    options: set[int],
    answers: Sequence[tuple[int, ...]],
    is_no_worse: Callable[[int], bool],
    following: Sequence[tuple[int, ...]],
) -> None:
    """Replace each of a player's options that has an answer which is no worse by the options that follow that answer.

    *answers* has the opponent's options of each value, *following* the player's.
    """
    todo = [*options]
    while todo:
        option = todo.pop()
        reversing = next((answer for answer in answers[option] if is_no_worse(answer)), None)
        if reversing is not None:
            options.remove(option)
            new = set(following[reversing]) - options
            options |= new
            todo += new


# Thermographs


def walls_of(lefts: Sequence[Wall], rights: Sequence[Wall]) -> tuple[Wall, Wall]:
    """Return Left's and Right's wall of a game that is not a number.

    *lefts* are the Right walls of Left's options, *rights* the Left walls of Right's. A move costs as much as the
    temperature t: Left's wall is the greatest of *lefts* minus t, Right's the least of *rights* plus t. Both are
    constant above the temperature at which they meet.
    """

    def left_at(t: Fraction) -> Fraction:
        return max(value_at(wall, t) for wall in lefts) - t

    def right_at(t: Fraction) -> Fraction:
        return min(value_at(wall, t) for wall in rights) + t

    # Step 1: the temperatures at which a wall may bend, and one above at which the walls have met. Above the last
    # corner, the gap between them shrinks by 2 for each unit of t, so a step as long as the gap suffices.
    corners = sorted({t for wall in (*lefts, *rights) for t, _ in wall})
    corners += [corners[-1] + max(Fraction(1), left_at(corners[-1]) - right_at(corners[-1]))]
    pairs = [(one, other) for walls in (lefts, rights) for one in walls for other in walls]
    crossing_temperatures = {t for one, other in pairs for t in crossings(one, other, corners)}
    # Step 2: both walls at each of these, up to where they meet.
    left: Wall = []
    right: Wall = []
    for t in sorted({*corners, *crossing_temperatures}):
        left_value, right_value = left_at(t), right_at(t)
        if left and left_value < right_value:  # they met between t0 and t: replace t by that temperature
            (t0, left0), (_, right0) = left[-1], right[-1]
            share = (left0 - right0) / (left0 - right0 + right_value - left_value)
            t, left_value = t0 + share * (t - t0), left0 + share * (left_value - left0)
            right_value = left_value
        left.append((t, left_value))
        right.append((t, right_value))
        if left_value <= right_value:
            break
    return left, right


def value_at(wall: Wall, t: Fraction) -> Fraction:
    """Return the value of a wall at temperature *t*."""
    for (t0, value0), (t1, value1) in pairwise(wall):
        if t0 <= t <= t1:
            return value0 + (value1 - value0) * (t - t0) / (t1 - t0)
    return wall[-1][1]


def crossings(one: Wall, other: Wall, corners: Sequence[Fraction]) -> Iterable[Fraction]:
    """Yield the temperatures between corners at which two walls cross."""
    for t0, t1 in pairwise(corners):
        before, after = (value_at(one, t) - value_at(other, t) for t in (t0, t1))
        if before * after < 0:
            yield t0 + (t1 - t0) * before / (before - after)
