"""Men in hand, as people read and write them, in positions of `Placed`.

Above the men on the board is a number. Its lowest bit is the player to move; the rest says how many men are in hand. A
game defines by `hands_text` how people write that rest, and returns "" for no men in hand. The text of a position ends
in it::

    .XO/.X./O../X/4
"""

from retrograde.games.kinds.placed import Placed


class InHand(Placed):
    """Base class for games with men on cells and men in hand."""

    def hands_text(self, position):
        """Return how many men are in hand as text; "" for none."""
        hands = position >> self._bits + 1
        return str(hands) if hands else ""

    def with_hands(self, position):
        """Yield the positions with the same board and player to move, the fewest men in hand first."""
        low = position & (2 << self._bits) - 1
        for number in sorted({section.number >> 1 for section in self.placements.sections}):
            if self.index(low | number << self._bits + 1) >= 0:
                yield low | number << self._bits + 1

    def position_of(self, signs, turn):
        """Return the position with the fewest men in hand."""
        for position in self.with_hands(super().position_of(signs, turn)):
            return position
        raise ValueError("no game comes to so many men")

    def write(self, position):
        """Return the rows, the player to move, and the men in hand if any: `X..../…/X/4`."""
        return "/".join(filter(None, (super().write(position), self.hands_text(position))))

    def read(self, text):
        """Return the position of a text, with the men in hand after its last slash, or else the fewest."""
        rows, _, hands = text.strip().rpartition("/")
        if not hands.replace("-", "").isdecimal():
            return super().read(text)
        for position in self.with_hands(super().read(rows)):
            if self.hands_text(position) == hands:
                return position
        raise ValueError(f"with {hands} men in hand no game comes to so many men")

    def show(self, position):
        hands = self.hands_text(position)
        return super().show(position) + f", {hands} in hand" * bool(hands)
