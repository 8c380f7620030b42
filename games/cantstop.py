"""Can't Stop, by Sid Sackson (1980): climb columns by the sums of dice, and stop before no sum can be used.

The player rolls four dice and splits them into two pairs. For each pair a marker climbs one square in the column of the
pair's sum. There are three markers. When all are placed, sums of other columns cannot be used. Sums of completed
columns can never be used. If only one sum of a pairing can be used, the player uses that one. If each could be used but
there is a marker left for only one, the player chooses. If no pairing can be used, the turn is over and its progress is
lost. Before each roll the player may stop and keep the progress. The first player to complete `goal` columns ends the
game. The columns in the middle are the longest.

With one player, the aim is few turns: the expectation is minus their number. Two players play for who is first. Small
games are made as by H. Fang, J. Glenn and C. P. Kruskal, *Retrograde approximation algorithms for jeopardy stochastic
games* (ICGA Journal 31, 2008): dice of `sides` faces, and columns of `shortest` squares, two more, and so on up to the
middle. The game in the shops has six faces, and columns from three to thirteen squares. ::

    | player 1 bit | dice 7 | squares in each column, as few bits as it takes: of player 1, of player 0, of who climbs |

The dice are 0 where the player may roll or stop, 1 where they are rolled, else the number of the roll, plus 2.
"""

from functools import cached_property
from itertools import combinations_with_replacement
from math import factorial, prod

from retrograde.games.contract.game import CHANCE, POSITION_BITS, UNDECIDED, WIN, Game

STOP, ROLL = range(2)
BUST = 0
MARKERS = 3
DECIDE, CAST, ROLLED = range(3)


class CantStop(Game):
    """Roll four dice, climb the columns of two sums, and stop before no sum can be used."""

    title = "Can't Stop"
    words = {"A": "Orange", "B": "Blue", "m": "marker", "C": "Orange and Blue"}
    metric = "expectation"
    example = "2,1"

    sides: int = 2
    """The number of faces of a die."""
    shortest: int = 1
    """The length of the outermost columns. Each column further in has two squares more."""
    goal: int = 3
    """The number of columns to complete."""
    players: int = 1  # type: ignore[misc]  # an option, as the contract allows

    def __post_init__(self):
        if not 2 <= self.sides <= 6:
            raise ValueError("sides must be from 2 to 6")
        if not 1 <= self.shortest <= 9:
            raise ValueError("shortest must be from 1 to 9")
        if not 1 <= self.goal <= MARKERS:
            raise ValueError(f"goal must be from 1 to {MARKERS}")
        if self.players not in (1, 2):
            raise ValueError("players must be 1 or 2")
        if self.players == 2 and self.goal > self.sides:
            raise ValueError("goal must be no more than sides where two play, or else nobody might win")
        if self.top + 8 > POSITION_BITS:
            raise ValueError("the columns have too many squares for a position of 62 bits")

    @cached_property
    def columns(self):
        """The number of squares of each column, that of the least sum first."""
        return tuple(self.shortest + 2 * min(i, 2 * self.sides - 2 - i) for i in range(2 * self.sides - 1))

    @cached_property
    def places(self):
        """The lowest bit of each column in a row."""
        return tuple(sum(size.bit_length() for size in self.columns[:i]) for i in range(len(self.columns)))

    @cached_property
    def width(self):
        """The number of bits of a row."""
        return sum(size.bit_length() for size in self.columns)

    @cached_property
    def top(self):
        """The lowest bit of the dice."""
        return self.width * (self.players + 1)

    @cached_property
    def rolls(self):
        """All rolls, each with its dice in ascending order."""
        return tuple(combinations_with_replacement(range(1, self.sides + 1), 4))

    @cached_property
    def ways(self):
        """The number of ways in which each roll can come."""
        return tuple(24 // prod(factorial(roll.count(face)) for face in {*roll}) for roll in self.rolls)

    @cached_property
    def mirrored(self):
        """For each roll, the number of the roll with the faces reversed."""
        reverse = [tuple(sorted(self.sides + 1 - face for face in roll)) for roll in self.rolls]
        return tuple(map(self.rolls.index, reverse))

    @cached_property
    def start(self):
        return CAST << self.top

    # What a position says

    def player(self, position):
        return position >> (self.top + 7)

    def dice(self, position):
        return (position >> self.top) & 127

    def row(self, position, row):
        return (position >> (self.width * row)) & ((1 << self.width) - 1)

    def squares(self, row, column):
        """Return how many squares of a column are climbed in a row."""
        return (row >> self.places[column]) & ((1 << self.columns[column].bit_length()) - 1)

    def completed(self, row):
        """Return how many columns are completed in a row."""
        count = 0
        for column in range(len(self.columns)):
            count += self.squares(row, column) == self.columns[column]
        return count

    def markers(self, position):
        """Return how many markers are placed."""
        climbed, before = self.row(position, 0), self.row(position, 1 + self.player(position))
        count = 0
        for column in range(len(self.columns)):
            count += self.squares(climbed, column) != self.squares(before, column)
        return count

    def usable(self, position, column):
        """Return whether a marker may climb a column."""
        size, climbed = self.columns[column], self.squares(self.row(position, 0), column)
        if climbed == size:
            return False
        # Row 0 is the climbed one, row 1 + p that of player p: with two players, 2 - p is the other player's.
        if self.players == 2 and self.squares(self.row(position, 2 - self.player(position)), column) == size:
            return False
        before = self.squares(self.row(position, 1 + self.player(position)), column)
        return climbed != before or self.markers(position) < MARKERS

    # The rules: a move of a player is 16 × one sum + the other; a sum is its column's number plus 1, or 0 for no sum

    def turn(self, position):
        return CHANCE if self.dice(position) == CAST else self.player(position)

    def primitive(self, position):
        if self.dice(position) == DECIDE and self.completed(self.row(position, 0)) >= self.goal:
            return WIN
        return UNDECIDED

    def payoff(self, position, player):
        if self.players == 1:
            return -1
        return 1 if player == self.player(position) else 0

    def reward(self, position, move, player):
        """Return -1 for the end of a turn in the game for one player, else 0."""
        ends = (self.dice(position) == DECIDE and move == STOP) or (self.dice(position) >= ROLLED and move == BUST)
        return -1 if ends and self.players == 1 else 0

    def odds(self, position, roll):
        return self.ways[roll]

    def generate_moves(self, position):
        """Yield STOP and ROLL, the number of a throw, or the columns to climb: `16 * (first + 1) + second + 1`, or
        BUST."""
        dice = self.dice(position)
        if dice == DECIDE:
            yield STOP
            yield ROLL
        elif dice == CAST:
            yield from range(len(self.rolls))
        else:
            a, b, c, d = self.rolls[dice - ROLLED]
            found = False
            for pairing in range(3):
                if (pairing == 1 and b == c) or (pairing == 2 and (a == b or c == d)):
                    continue  # dice ascend, so this pairing has the sums of an earlier one
                # The columns of the two sums: column 0 has the sum 2.
                first = a + (b, c, d)[pairing] - 2
                second = a + b + c + d - 4 - first
                one, other = self.usable(position, first), self.usable(position, second)
                if one and self.usable(self.climb(position, first), second):
                    found = True
                    yield (first + 1) * 16 + second + 1
                else:
                    if one:
                        found = True
                        yield (first + 1) * 16
                    if other and first != second:
                        found = True
                        yield (second + 1) * 16
            if not found:
                yield BUST

    def climb(self, position, column):
        return position + (1 << self.places[column])

    def do_move(self, position, move):
        """Return the position after a decision, a throw, or the climbing of one or two columns."""
        dice = self.dice(position)
        if dice == DECIDE:
            return position + (CAST << self.top) if move == ROLL else self.handed_over(position, self.row(position, 0))
        if dice == CAST:
            return position + ((ROLLED + move - CAST) << self.top)
        if move == BUST:
            return self.handed_over(position, self.row(position, 1 + self.player(position)))
        position = self.climb(position - (dice << self.top), move // 16 - 1)
        return self.climb(position, move % 16 - 1) if move % 16 else position

    def handed_over(self, position, kept):
        """Return the position after a turn that leaves the player with the row *kept*; the other player rolls."""
        player = self.player(position)
        if self.players == 1:
            return (kept << self.width) | kept | (CAST << self.top)
        other = self.row(position, 2 - player)
        for column in range(len(self.columns)):
            size, field = self.columns[column], (1 << self.columns[column].bit_length()) - 1
            if self.squares(kept, column) == size:
                other &= ~(field << self.places[column])  # the opponent's progress there is now worthless
        rows = (other << (self.width * (2 - player))) | (kept << (self.width * (1 + player)))
        return rows | other | (CAST << self.top) | ((1 - player) << (self.top + 7))

    def images(self, position):
        """Yield the same position with the columns and the faces of the dice reversed."""
        dice = self.dice(position)
        if dice >= ROLLED:
            dice = self.mirrored[dice - ROLLED] + ROLLED
        image = (dice << self.top) | (self.player(position) << (self.top + 7))
        last = len(self.columns) - 1
        for row in range(self.players + 1):
            for column in range(last + 1):
                squares = self.squares(self.row(position, row), column)
                image |= squares << (self.places[last - column] + self.width * row)
        yield image

    def tier(self, position):
        """Return how many squares are climbed for good. A completed column counts for all players."""
        total = 0
        for column in range(len(self.columns)):
            climbed = 0
            for player in range(self.players):
                squares = self.squares(self.row(position, 1 + player), column)
                if squares == self.columns[column]:
                    climbed = self.players * squares
                    break
                climbed += squares
            total += climbed
        return total

    # For people

    def variant_title(self):
        alone = "alone" if self.players == 1 else "for two"
        return f"Can't Stop {alone}, {self.sides}-sided dice, columns from {self.shortest}"

    def write(self, position):
        """Return each player's row of squares climbed by column, the climbed row, and the player to move: `0.1.0/0.3.1
        0 1122`.

        At the end come the dice if they are thrown, ? if they are rolled next, and nothing if the player may roll or
        stop.
        """
        rows = [*range(1, self.players + 1), 0]
        texts = [
            ".".join(str(self.squares(self.row(position, row), i)) for i in range(len(self.columns))) for row in rows
        ]
        dice = self.dice(position)
        thrown = [] if dice == DECIDE else ["?"] if dice == CAST else ["".join(map(str, self.rolls[dice - ROLLED]))]
        return " ".join(["/".join(texts), str(self.player(position)), *thrown])

    def read(self, text):
        """Return the position of a text as `write` gives it; raise ValueError if there is none."""
        board, *rest = text.split() or [""]
        rows = [row.split(".") for row in board.split("/")]
        if [len(row) for row in rows] != [len(self.columns)] * (self.players + 1) or not 1 <= len(rest) <= 2:
            raise ValueError(
                f"a position is rows of squares, the player to move, and ? or dice: {self.write(self.start)}"
            )
        if rest[0] not in map(str, range(self.players)):
            raise ValueError(f"the player to move is a number below {self.players}")
        *kept, climbed = map(self._read_row, rows)
        player, dice = int(rest[0]), self._read_dice(rest[1]) if len(rest) == 2 else DECIDE
        position = climbed | (player << (self.top + 7)) | (dice << self.top)
        position |= sum(row << (self.width * (1 + number)) for number, row in enumerate(kept))
        if any(self.squares(climbed, i) < self.squares(kept[player], i) for i in range(len(self.columns))):
            raise ValueError("nothing that is climbed may be less than what the player has")
        if self.markers(position) > MARKERS:
            raise ValueError(f"there are {MARKERS} markers")
        return position

    def _read_row(self, row):
        """Return the bits of a row of squares, given as texts."""
        if not all(one.isdecimal() and int(one) <= size for one, size in zip(row, self.columns, strict=True)):
            raise ValueError(f"the columns have {', '.join(map(str, self.columns))} squares")
        return sum(int(one) << place for one, place in zip(row, self.places, strict=True))

    def _read_dice(self, text):
        """Return the number of a roll, such as `1223`, or CAST for `?`."""
        if text == "?":
            return CAST
        roll = tuple(sorted(int(face) for face in text if face.isdecimal()))
        if roll not in self.rolls:
            raise ValueError(f"four dice show faces from 1 to {self.sides}, and ? stands for those to be rolled")
        return ROLLED + self.rolls.index(roll)

    def show(self, position):
        """Return the columns, the height of each player and of the climber in each, and who is to do what."""
        *rows, climbed = self.write(position).split()[0].split("/")
        dice = self.dice(position)
        said = "to roll or stop" if dice == DECIDE else "the dice are rolled"
        if dice >= ROLLED:
            said = " ".join(map(str, self.rolls[dice - ROLLED]))
        lines = [("columns", ".".join(map(str, self.columns)))]
        lines += [(f"player {player}", row) for player, row in enumerate(rows)]
        lines += [("climbed", climbed)]
        return "\n".join([*(f"{name:8} {row}" for name, row in lines), f"player {self.player(position)}: {said}"])

    def move_name(self, position, move):
        """Return `roll` or `stop`, the four dice of a roll, the columns to climb, or `bust`."""
        dice = self.dice(position)
        if dice == DECIDE:
            return ("stop", "roll")[move]
        if dice == CAST:
            return "".join(map(str, self.rolls[move]))
        if move == BUST:
            return "bust"
        return f"{move // 16 + 1}+{move % 16 + 1}" if move % 16 else str(move // 16 + 1)

    def draw_board(self):
        """Return the squares of each column, from the bottom up, and the dice below."""
        from retrograde.games.contract.drawing import Board

        high = max(self.columns)
        squares = [(float(i), float(high - 1 - k), f"{i + 2}-{k + 1}") for i, size in enumerate(self.columns)
                   for k in range(size)]  # fmt: skip
        dice = [(len(self.columns) / 2 - 2 + die, high + 0.9, f"die {die + 1}") for die in range(4)]
        xs, ys, names = zip(*squares, *dice, strict=True)
        pieces = {"A": "orange disc", "B": "skyblue disc", "C": "plum disc", "m": "white disc"}
        pieces |= {face: face for face in "?123456"}
        labels = tuple((float(i), high - 0.25, str(i + 2)) for i in range(len(self.columns)))
        return Board(tuple(zip(xs, ys, strict=True)), names, pieces, len(names), labels=labels)

    def draw_pieces(self, position):
        """Return the squares that the players keep, those that the markers reach, and the dice."""
        kept = [self.row(position, 1 + player) for player in range(self.players)]
        text = ""
        for i, size in enumerate(self.columns):
            column = ["."] * size
            for sign, row in zip("AB", kept, strict=False):
                if climbed := self.squares(row, i):
                    column[climbed - 1] = sign if column[climbed - 1] == "." else "C"
            climbed = self.squares(self.row(position, 0), i)
            if climbed != self.squares(kept[self.player(position)], i):
                column[climbed - 1] = "m"
            text += "".join(column)
        dice = self.dice(position)
        return text + ("".join(map(str, self.rolls[dice - ROLLED])) if dice >= ROLLED else ("....", "????")[dice])

    def draw_move(self, position, move):
        """Return the squares that are climbed; the first die for a roll."""
        dice = self.dice(position)
        if dice == DECIDE and move == ROLL:
            return (sum(self.columns),)
        columns = [number - 1 for number in (move // 16, move % 16) if number] if dice >= ROLLED else []
        squares = [sum(self.columns[:i]) + self.squares(self.row(position, 0), i) for i in columns]
        return (squares[0], squares[0] + 1) if len({*columns}) < len(columns) else tuple(squares)

    def draw_steps(self, position, move):
        squares = self.draw_move(position, move)
        return (squares,) if squares else ()

    def draw_reach(self, position, move):
        first = sum(self.columns)
        return tuple(range(first, first + 4)) if self.dice(position) == DECIDE and move == ROLL else ()

    def draw_turn(self, position):
        return "AB"[self.player(position)]
