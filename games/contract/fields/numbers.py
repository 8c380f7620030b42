"""Fields that are numbers: one, several, a flag, and the player to move."""

# mypy: disable-error-code="empty-body"
# Methods with a formula have no body.

from collections.abc import Mapping
from typing import Any

from retrograde.games.contract.fields.field import Field, formula, word_of
from retrograde.games.contract.game import POSITION_BITS


class Number(Field):
    """A whole number from *low* to *high*. Either may be a function of the game."""

    def __init__(self, low: Any, high: Any):
        self.low, self.high = low, high

    count = 1
    bits: int
    """The bits of one number."""

    def sized_for(self, game: Any) -> "Number":
        """Return a copy for a game, with its range; raise ValueError if that is empty or too long."""
        found: Number = super().sized_for(game)
        for name in ("low", "high", "count"):
            value = getattr(self, name)
            setattr(found, name, value(game) if callable(value) else value)
        if not all(isinstance(value, int) for value in (found.low, found.high, found.count)):
            raise ValueError(f"{self.name} holds whole numbers, and not numbers from {found.low!r} to {found.high!r}")
        if found.low > found.high:
            raise ValueError(f"{self.name}: its least number, {found.low}, is above its greatest, {found.high}")
        if found.count < 1:
            raise ValueError(f"{self.name} has {found.count} numbers, and must have at least 1")
        found.bits = (found.high - found.low).bit_length()
        if found.bits > POSITION_BITS:
            raise ValueError(f"{self.name} needs {found.bits} bits, and a number has at most {POSITION_BITS}")
        found.width = found.bits * found.count
        return found

    def prepare_formulas(self, fields: Mapping[str, Field]) -> None:
        self.full = (1 << self.bits) - 1

    @formula("({word} >> {first_bit} & {full}) {low:+}")
    def get(self, position: int) -> int:
        """Return the number."""

    @formula("{word} & ~({full} << {first_bit}) | number - {low} << {first_bit}", writes=True)
    def put(self, position: int, number: int) -> int:
        """Return a position with another number."""

    @formula("{word} + (amount << {first_bit})", writes=True)
    def add(self, position: int, amount: int) -> int:
        """Return a position in which the number is larger by an amount, or smaller by a negative one."""

    def bounds(self, method: str) -> dict[str, tuple[int, int]]:
        return {"number": (self.low, self.high), "index": (0, self.count - 1)}

    def refusal(self, method: str, *arguments: Any) -> str:
        """Return what is wrong with arguments that are within their bounds; "" if nothing is."""
        if method != "add":
            return ""
        position, *index, amount = arguments
        now = self.get(position, *index)
        return "" if self.low <= now + amount <= self.high else self.beyond(now + amount)

    def beyond(self, number: int) -> str:
        """Return the sentence that refuses a number."""
        return f"{number} is not from {self.low} to {self.high}"

    def text(self, position: int) -> str:
        return str(self.get(position))

    def parsed(self, position: int, text: str) -> int:
        return self.put(position, self.number_in(text))

    def number_in(self, text: str) -> int:
        """Return the number that a text stands for; raise ValueError if it is out of range."""
        if not text.removeprefix("-").isdecimal() or not self.low <= int(text) <= self.high:
            raise ValueError(f"{self.name} is a number from {self.low} to {self.high}, not {text!r}")
        return int(text)


class Numbers(Number):
    """Several whole numbers of one range, such as the stones in each player's hand."""

    def __init__(self, count: Any, low: Any, high: Any):
        super().__init__(low, high)
        self.count = count

    def take_bits(self, word_index: int, bit: int) -> tuple[int, int]:
        """Take bits; if no word has enough, take words, each with as many numbers as it holds. Return the next free
        (word, bit)."""
        if not self.is_spread:
            return super().take_bits(word_index, bit)
        self.word_index, self.in_word = word_index + (bit > 0), POSITION_BITS // self.bits
        full_words, last_number = divmod(self.count - 1, self.in_word)
        return self.word_index + full_words, (last_number + 1) * self.bits

    def prepare_formulas(self, fields: Mapping[str, Field]) -> None:
        """Compute the expressions and numbers that formulas use; *fields* are all fields of the game."""
        super().prepare_formulas(fields)
        self.shift = f"{self.first_bit} + {self.bits} * index"
        if self.is_spread:
            self.shift = f"{self.bits} * (index % {self.in_word})"
            self.word = f"position[{self.word_index} + index // {self.in_word}]"

    def masks(self) -> dict[int, int]:
        """Return the bits that the field takes, by index of the word."""
        if not self.is_spread:
            return super().masks()
        counts = [min(self.in_word, self.count - first) for first in range(0, self.count, self.in_word)]  # by word
        return {self.word_index + after: (1 << self.bits * count) - 1 for after, count in enumerate(counts)}

    def changed_words(self, text: str) -> dict[int, str]:
        """Return an expression for each word that a method changes, by the word's index. The formula *text* changes the
        number at `index`."""
        if not self.is_spread:
            return super().changed_words(text)
        found = {}
        for after, word_index in enumerate(self.masks()):
            word = word_of(self.words, word_index)
            changed = text.format_map({**vars(self), "word": word})
            found[word_index] = f"{changed} if index // {self.in_word} == {after} else {word}"
        return found

    @formula("({word} >> {shift} & {full}) {low:+}")
    def get(self, position: int, index: int) -> int:  # type: ignore[override]  # it holds several
        """Return the number at an index."""

    @formula("{word} & ~({full} << {shift}) | number - {low} << {shift}", writes=True)
    def put(self, position: int, index: int, number: int) -> int:  # type: ignore[override]  # as above
        """Return a position with another number at an index."""

    @formula("{word} + (amount << {shift})", writes=True)
    def add(self, position: int, index: int, amount: int) -> int:  # type: ignore[override]  # as above
        """Return a position in which the number at an index is larger by an amount."""

    def text(self, position: int) -> str:
        return ",".join(str(self.get(position, index)) for index in range(self.count))

    def parsed(self, position: int, text: str) -> int:
        numbers = text.split(",")
        if len(numbers) != self.count:
            raise ValueError(f"{self.name} are {self.count} numbers, separated by commas, not {text!r}")
        for index, number in enumerate(numbers):
            position = self.put(position, index, self.number_in(number))
        return position


class Flag(Field):
    """Yes or no."""

    width = 1

    def prepare_formulas(self, fields: Mapping[str, Field]) -> None:
        self.bit = 1 << self.first_bit

    @formula("{word} & {bit} != 0")
    def get(self, position: int) -> bool:
        """Return whether the flag is set."""

    @formula("{word} & ~{bit} | flag << {first_bit}", writes=True)
    def put(self, position: int, flag: bool) -> int:
        """Return a position in which the flag is set, or is not."""

    def bounds(self, method: str) -> dict[str, tuple[int, int]]:
        return {"flag": (0, 1)}

    def text(self, position: int) -> str:
        return "yes" if self.get(position) else "no"

    def parsed(self, position: int, text: str) -> int:
        if text not in ("yes", "no"):
            raise ValueError(f"{self.name} is yes or no, not {text!r}")
        return self.put(position, text == "yes")


class Turn(Field):
    """The player to move, from 0, each with a sign: stored, or *by* the number of filled cells.

    `Turn("XO")` takes a bit; a move passes it by `passed`. `Turn("XO", by="cells")` takes none: players put down one
    sign each in turn.
    """

    def __init__(self, signs: str, by: str = ""):
        self.signs, self.by = signs, by
        self.players = len(signs)

    def sized_for(self, game: Any) -> "Turn":
        """Return a copy for a game, with its players; raise ValueError if two have the same sign."""
        if len({*self.signs}) < max(2, self.players):
            raise ValueError(f"{self.name} has a sign for each player, as in Turn('XO'), and not {self.signs!r}")
        found: Turn = super().sized_for(game)
        # A turn that follows from cells takes no bits, and has no part in a text.
        found.width = 0 if self.by else (self.players - 1).bit_length()
        found.rows = 0 if self.by else 1
        return found

    def prepare_formulas(self, fields: Mapping[str, Field]) -> None:
        """Compute the expression for the player to move: stored bits, or the number of filled cells modulo the
        players."""
        # Step 1: the player to move, `now`; the position with a given `player` to move, and with the next one.
        if self.by:  # follows from the count of a field of cells
            if not hasattr(fields.get(self.by), "count_of"):
                raise ValueError(f"{self.name} follows from {self.by!r}; name a field of cells")
            filled = fields[self.by].expression("count")
            self.now = f"{filled} & 1" if self.players == 2 else f"{filled} % {self.players}"
            self.given = self.after = self.word
        else:
            unit, last, mask = 1 << self.first_bit, self.players - 1, (1 << self.width) - 1
            self.now = f"{self.word} >> {self.first_bit} & {mask}"
            self.given = f"{self.word} & ~{mask << self.first_bit} | player << {self.first_bit}"
            self.after = f"{self.word} ^ {unit}"
            if self.players != 2:
                self.after = f"{self.word} + ({unit} if {self.now} != {last} else {-last << self.first_bit})"
        # Step 2: the number of each player's sign on the cells. If no cells have these signs, they are 1, 2, …
        cells: list[Any] = [one for one in fields.values() if hasattr(one, "count_of") and self.by in ("", one.name)]
        signs = next((one.signs for one in cells if set(self.signs) <= set(one.signs)), self.signs)
        numbers = [1 + signs.index(sign) for sign in self.signs]
        self.mine = pick_expression(numbers, self.now)
        self.theirs = pick_expression(numbers[1:] + numbers[:1], self.now)

    @formula("{now}")
    def get(self, position: int) -> int:
        """Return the player to move."""

    @formula("{mine}")
    def sign(self, position: int) -> int:
        """Return the sign of the player to move, as cells number it."""

    @formula("{theirs}")
    def other(self, position: int) -> int:
        """Return the sign of the next player, as cells number it."""

    @formula("{after}", writes=True)
    def passed(self, position: int) -> int:
        """Return a position in which the next player is to move."""

    @formula("{given}", writes=True)
    def put(self, position: int, player: int) -> int:
        """Return a position in which a player is to move."""

    def bounds(self, method: str) -> dict[str, tuple[int, int]]:
        return {"player": (0, self.players - 1)}

    def text(self, position: int) -> str:
        return self.signs[self.get(position)]

    def parsed(self, position: int, text: str) -> int:
        if len(text) != 1 or text not in self.signs:
            raise ValueError(f"{self.name} is {' or '.join(self.signs)}, not {text!r}")
        return self.put(position, self.signs.index(text))


def pick_expression(numbers: list[int], index: str) -> str:
    """Return an expression for `numbers[index]`; *index* is an expression. For two players it needs no table."""
    if numbers in ([1, 2], [2, 1]):
        return f"1 + ({index})" if numbers == [1, 2] else f"2 - ({index})"
    return f"{(*numbers,)}[{index}]"
