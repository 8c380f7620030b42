"""Men in hand, as people read and write them: what a position of `Placed` says above its men and who is to move.

Above the men stands the lowest bit of a number, which is who is to move, and then how many men are in hand. A game says
by `hands_text` what people call that, and nothing where no man is; a text of a position ends in it::

    .XO/.X./O../X/4
"""

from retrograde.games.kinds.placed import Placed


class InHand(Placed):
    """Men on cells, and others that are still in hand."""

    def hands_text(self, position):
        """Return how many men are in hand, nothing for none."""
        hands = position >> self._bits + 1
        return str(hands) if hands else ""

    def with_hands(self, position):
        """Yield the positions that look the same, the fewest men in hand first."""
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
        """Return the rows, who is to move, and how many men are in hand, if any, as in `X..../…/X/4`."""
        return "/".join(filter(None, (super().write(position), self.hands_text(position))))

    def read(self, text):
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
